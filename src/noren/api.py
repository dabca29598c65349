"""Protect, attack, measure: the whole of Noren in a few functions.

Data may be a :class:`~noren.data.frames.History` or :class:`~noren.data.frames.Table`, a Polars frame (eager or lazy),
a pandas data frame (its index is not read), an Arrow table, columns by name, or the path of a file; with the schema
that explains it. Without one it is guessed as ``noren schema guess`` does, and what could go either way stops with a
question (:func:`~noren.data.reading.as_records`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from noren.attacks import attacks
from noren.attacks.by_period import with_period_metadata
from noren.data.categories import as_released
from noren.data.compatibility import partial, partial_table
from noren.data.frames import History, Records, Table, frame_of, index_names, reject_missing
from noren.data.guessing.people import reject_repeated_people
from noren.data.public_part import with_kept_columns
from noren.data.reading import SchemaLike, as_public, as_release, checked_seed, open_release
from noren.data.reading import as_records as as_records
from noren.data.release import Release
from noren.data.schema import Column, Role, Schema
from noren.data.statement import Statement
from noren.engines.accelerated.alignments import pair_costs_by
from noren.engines.blocks import run_interruptibly
from noren.engines.choice import chosen_engine
from noren.errors import AuditUnfinishedError, CheckFailedError, ParameterError
from noren.measures import measures
from noren.measures.evidence import available_evidence, require_evidence
from noren.methods import methods
from noren.methods.chain import Chain
from noren.progress import Progress, silent
from noren.protocols import Attack, Evidence, Guess, Measure, Method, Score, require_kind
from noren.tables import Texts

if TYPE_CHECKING:
    from noren.data.checks.report import Report
    from noren.retention.reconstruction import Model, Reconstruction

say = Texts(__name__)


def draw_seed() -> int:
    """Return a seed nobody can guess.

    Who holds the original and the seed can rerun a method and read off the pseudonyms; a default such as 0 would hand
    the map to everybody.
    """
    return secrets.randbits(63)


def protect(
    original: Any,
    method: str | Method | Sequence[str | Method | Mapping[str, Any]],
    *,
    schema: SchemaLike | None = None,
    seed: int | None = None,
    audit: bool = True,
    keep: Sequence[str] = (),
    progress: Progress = silent,
    **parameters: Any,
) -> Release:
    """Protect ``original`` by ``method``; see :func:`noren.protect`.

    ``original`` may be a function that returns the data. A chain then lets go of them after its first step, where
    nobody else holds them: as much memory as they take is free for the steps to come. A chain claims what its last step
    claims, of what the steps before it left: its audit knows those data, each row under its customer's name.
    """
    release, claimed = protect_unaudited(
        original, method, schema=schema, seed=seed, keep=keep, progress=progress, **parameters
    )
    if audit and claimed is not None:
        claimed()
    return release


def protect_unaudited(
    original: Any,
    method: str | Method | Sequence[str | Method | Mapping[str, Any]],
    *,
    schema: SchemaLike | None = None,
    seed: int | None = None,
    keep: Sequence[str] = (),
    progress: Progress = silent,
    **parameters: Any,
) -> tuple[Release, Callable[[], None] | None]:
    """Return what :func:`protect` does before its audit, and the audit: for whoever keeps the one before the other.

    The audit is None where the release claims no k.
    """
    data = with_kept_columns(as_records(original() if callable(original) else original, schema), keep)
    chosen = method_of(method, parameters)
    require_kind(chosen, data.schema)
    reject_repeated_people(data)
    seed = draw_seed() if seed is None else checked_seed(seed)
    known: Records | Release = data
    with pair_costs_by(chosen_engine()):
        if isinstance(chosen, Chain):
            stages = chosen.stages(data, seed=seed, progress=progress)
            if len(chosen.steps) > 1:
                del data, known  # and the stages let go of them after the first
                # as one, so that no more than two steps are held at a time
                known = Chain.whole(islice(stages, len(chosen.steps) - 1), seed=seed)
            last = next(stages)
            release = Chain.whole([known, last] if isinstance(known, Release) else [last], seed=seed)
        else:
            release = last = chosen.protect(data, seed=seed, progress=progress)
    if not last.statement.claims_k:
        return release, None
    if not isinstance(known, Release):
        known = _seen_by_audit(known, last.public)

    def audit() -> None:
        from noren.measures.safety.classes import audit as count_candidates

        try:
            run_interruptibly(count_candidates, known.by_name() if isinstance(known, Release) else known, last)
        except CheckFailedError:
            raise
        except Exception as error:
            # of what kind the error was; its words may hold a value of the original, and the statement is public
            notes = {**release.statement.notes, "audit": f"failed: {type(error).__name__}"}
            unaudited = replace(release, statement=replace(release.statement, notes=notes))
            raise AuditUnfinishedError(unaudited, error) from error

    return release, audit


def _seen_by_audit(original: Records, public: Records) -> Records:
    """Return the columns of the original that an audit of ``public`` looks at: the others need not be held meanwhile.

    Of a history those of which some public row says something; of a table those that are not quasi in the release.
    """
    there, rows = {c.name: c for c in public.schema.columns}, len(public)

    def looked_at(column: Column) -> bool:
        if column.name not in there:
            return False
        if isinstance(original, History):
            return column.role in (Role.CUSTOMER, Role.ITEM) or public.frame[column.name].null_count() < rows
        return there[column.name].role != Role.QUASI

    kept = [column.name for column in original.schema.columns if looked_at(column)] or original.schema.names[:1]
    return original.without(name for name in original.schema.names if name not in kept)


def method_of(
    method: str | Method | Sequence[str | Method | Mapping[str, Any]], parameters: Mapping[str, Any]
) -> Method:
    """Return the method that a name with its parameters, a ready one, or a list of them for a chain, means."""
    if isinstance(method, str):
        return methods.create(method, **parameters)
    if parameters:
        raise ParameterError(say("parameter_of_no_method", name=next(iter(parameters))))
    return method if isinstance(method, Method) else Chain(steps=method)


def attack(
    original: Any,
    release: Any,
    attack: str | Attack,
    *,
    schema: SchemaLike | None = None,
    known: Any = None,
    knowledge: float = 1.0,
    item_prefix: int | None = None,
    other_guesses: Mapping[str, Guess] | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> Guess:
    """Attack the public part of ``release``, knowing ``original``; see :func:`noren.attack`."""
    seed = checked_seed(seed)
    data = as_records(original, schema)
    release = open_release(release)
    public = as_public(release, data)
    statement = release.statement if isinstance(release, Release) else None
    data = attackers_knowledge(data, statement, known=known, knowledge=knowledge, item_prefix=item_prefix, seed=seed)
    chosen = attacks.create(attack, **parameters) if isinstance(attack, str) else attack
    require_kind(chosen, data.schema)
    if isinstance(release, Release):
        chosen = with_period_metadata(chosen, release.statement).with_public_metadata(release.statement)
    ready = chosen.with_other_guesses(other_guesses or {})
    return run_interruptibly(ready.attack, data, public, seed=seed, progress=progress)


def attackers_knowledge(
    original: Records,
    statement: Statement | None = None,
    *,
    known: Any = None,
    knowledge: float = 1.0,
    item_prefix: int | None = None,
    seed: int = 0,
) -> Records:
    """Return what an attacker knows of ``original``, by the limits that :func:`attack` takes."""
    data = original
    if known is not None:
        data = as_records(known, original.schema)
        if isinstance(original, History) and isinstance(data, History):
            unknown = data.customers.filter(~data.customers.is_in(original.customers.implode()))
            if len(unknown):
                raise ParameterError(say("unknown_customers", count=len(unknown), customer=unknown[0]))
        elif len(data) != len(original):
            raise ParameterError(say("knowledge_rows", known=len(data), rows=len(original)))
    if statement is not None and isinstance(data, History):
        data = as_released(data, statement)  # what categories mean is public
    if isinstance(data, History) and (known is not None or knowledge != 1 or item_prefix is not None):
        return partial(data, knowledge, seed, item_prefix=item_prefix)
    if isinstance(data, Table) and (knowledge != 1 or item_prefix is not None):
        return partial_table(data, knowledge, seed, item_prefix=item_prefix)
    return data


def measure(
    original: Any,
    release: Any,
    measure: str | Measure,
    *,
    guesses: Iterable[Guess] | Mapping[str, Any] = (),
    schema: SchemaLike | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Score:
    """Measure ``release``; see :func:`noren.measure`."""
    data = as_records(original, schema)
    release = as_release(release, data)
    chosen = measures.create(measure, **parameters) if isinstance(measure, str) else measure
    require_kind(chosen, data.schema)
    named = guesses_by_name(guesses)
    there = available_evidence(release, named)
    require_evidence(chosen, there, made_of=release.secret.original_rows, rows=len(data))
    score = run_interruptibly(chosen.measure, Evidence(data, release, named), progress=progress)
    return replace(score, measure=chosen.name, goal=chosen.goal)


def guesses_by_name(guesses: Iterable[Guess] | Mapping[str, Any]) -> dict[str, Guess]:
    """Return guesses by name; a data frame of pairs becomes one whose pairs are equally sure."""
    if not isinstance(guesses, Mapping):
        return {guess.attack: guess for guess in guesses}
    named: dict[str, Guess] = {}
    for name, guess in guesses.items():
        if isinstance(guess, Guess):
            named[name] = guess
            continue
        pairs = frame_of(guess)
        reject_missing(("pseudonym", "customer"), pairs.columns, index_names(guess))
        pairs = pairs.with_columns(pl.col("pseudonym", "customer").cast(pl.String))
        named[name] = Guess(name, pairs if "score" in pairs.columns else pairs.with_columns(score=pl.lit(1.0)))
    return named


def reconstruct(
    release: Release | str | Path,
    model: Model | None = None,
    *,
    attributes: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Reconstruction:
    """Estimate what a table perturbed by retention was before, from the public part of its release alone.

    ``release`` is a release or its folder. See :func:`noren.retention.reconstruction.reconstruct`.
    """
    from noren.retention.reconstruction import reconstruct as run

    seed = checked_seed(seed)
    release = open_release(release)
    if not isinstance(release, Release):
        raise ParameterError(say("rows_alone"))
    return run(
        release.public,
        release.statement,
        model,
        attributes=attributes,
        interactions=interactions,
        bootstrap=bootstrap,
        seed=seed,
        progress=progress,
    )


def check(original: Any, release: Any = None, *, schema: str, guess: Any = None, limit: int = 20) -> Report:
    """Check a release or a guess against a contest's rules, as its official checker does, and list every problem.

    The checkers read files. Data, releases and guesses of other makes are checked as the files that they would be
    written to.
    """
    from noren.data.reading import check_contest

    if release is None and guess is None:
        raise ParameterError(say("nothing_to_check"))
    if guess is not None and not isinstance(guess, str | PathLike):
        guess = guesses_by_name({"guess": guess})["guess"].answers
    return check_contest(original, release, guess, schema, limit)


def sample(
    customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0, schema: Schema | str = "sample"
) -> History:
    """Return a generated purchase history, calibrated to a real wholesaler's."""
    from noren.data.samples.generator import sample_history

    return sample_history(schema, customers=customers, rows=rows, items=items, seed=checked_seed(seed))
