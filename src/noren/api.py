"""Protect, attack, measure: the whole of Noren in a few functions.

Originals may be a :class:`~noren.data.frames.History` or :class:`~noren.data.frames.Table`, or a Polars or pandas data
frame with the schema that explains it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.attacks import attacks
from noren.data.categories import as_released
from noren.data.frames import History, Records, Table
from noren.data.guess import guess_columns
from noren.data.knowledge import partial
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Schema
from noren.errors import ParameterError
from noren.i18n import _
from noren.measures import measures
from noren.methods import methods
from noren.methods.chain import Chain
from noren.progress import Progress, silent
from noren.protocols import Attack, Component, Evidence, Guess, Measure, Method, Score
from noren.registry import build

if TYPE_CHECKING:
    from noren.data.checks.report import Report
    from noren.data.reconstruction import Model, Reconstruction

__all__ = ["as_records", "attack", "check", "draw_seed", "measure", "protect", "reconstruct", "sample"]


def draw_seed() -> int:
    """Return a seed nobody can guess.

    Who holds the original and the seed can rerun a method and read off the pseudonyms; a default such as 0 would hand
    the map to everybody.
    """
    return secrets.randbits(63)


def as_records(data: Any, schema: Schema | str | None = None) -> Records:
    """Return ``data`` as records, typed by ``schema`` (guessed where left out)."""
    if isinstance(data, Records):
        return data
    import polars as pl

    frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
    if schema is None:
        schema = guess_columns(frame).schema
    elif not isinstance(schema, Schema):
        schema = Schema.load(schema)
    return History.of(frame, schema) if schema.kind == Kind.HISTORY else Table.of(frame, schema)


def protect(
    original: Any,
    method: str | Method | Sequence[str | Method | Mapping[str, Any]],
    *,
    schema: Schema | str | None = None,
    seed: int | None = None,
    audit: bool = True,
    progress: Progress = silent,
    **parameters: Any,
) -> Release:
    """Protect ``original`` by ``method``: a name and its parameters, a ready one, or a list of them for a chain.

    A release that claims k is audited before it is returned: from the original and the public part alone, how many
    customers fit each pseudonym, how many rows of a table are alike? A claim that does not hold raises
    :class:`~noren.errors.CheckFailedError`. A chain claims what its last step claims, of what the steps before it left:
    its audit knows those data, each row under its customer's name.
    """
    data = as_records(original, schema)
    chosen = _method(method, parameters)
    _must_accept(chosen, data)
    seed = draw_seed() if seed is None else seed
    steps = chosen.stages(data, seed=seed, progress=progress) if isinstance(chosen, Chain) else []
    release = Chain.whole(steps, seed=seed) if steps else chosen.protect(data, seed=seed, progress=progress)
    last = steps[-1] if steps else release
    if audit and {"k", "min_class"} & last.statement.parameters.keys():
        from noren.measures.safety.classes import audit as count_candidates

        known = Chain.whole(steps[:-1], seed=seed).by_name() if len(steps) > 1 else data
        count_candidates(known, last)
    return release


def _method(method: str | Method | Sequence[str | Method | Mapping[str, Any]], parameters: Mapping[str, Any]) -> Method:
    if isinstance(method, str):
        return methods.create(method, **parameters)
    if parameters:
        raise ParameterError(
            _("{name} has no method to go to").format(name=next(iter(parameters))),
            _("give each method its parameters where it is named"),
        )
    return method if isinstance(method, Method) else Chain(steps=method)


def attack(
    original: Any,
    release: Release | Records,
    attack: str | Attack,
    *,
    schema: Schema | str | None = None,
    known: Any = None,
    knowledge: float = 1.0,
    item_prefix: int | None = None,
    heard: Mapping[str, Guess] | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> Guess:
    """Attack the public part of ``release``, knowing ``original``; the secret part is not handed over.

    Parameters
    ----------
    known
        What the attacker knows in place of all of ``original``: rows of the same customers and columns, such as the
        partial knowledge of PWS Cup 2017. Rows without a customer are not known.
    knowledge, item_prefix
        Let the attacker know a random share of these rows, the seed choosing which, and of items the first characters.
    heard
        What other attacks found with the same knowledge; the ensemble need not run those again.
    """
    data = as_records(original, schema)
    public = release.public if isinstance(release, Release) else release
    if known is not None:
        data = _knowledge_of(data, as_records(known, data.schema))
    if isinstance(release, Release) and isinstance(data, History):
        data = as_released(data, release.statement)  # what categories mean is public
    if isinstance(data, History) and (known is not None or knowledge != 1 or item_prefix is not None):
        data = partial(data, knowledge, seed, item_prefix=item_prefix)
    chosen = attacks.create(attack, **parameters) if isinstance(attack, str) else attack
    _must_accept(chosen, data)
    if isinstance(release, Release):
        chosen = _told_periods(chosen, release.statement)
    return chosen.after(heard or {}).attack(data, public, seed=seed, progress=progress)


def _knowledge_of(original: Records, known: Records) -> Records:
    """Return ``known``; stop where it is not about the original's customers."""
    if isinstance(original, History) and isinstance(known, History):
        people = original.customers
        strangers = known.customers.filter(~known.customers.is_in(people.implode()))
        if len(strangers):
            raise ParameterError(
                _(
                    "the knowledge is about {count:,} customers who are not in the original, the first is {customer}"
                ).format(count=len(strangers), customer=strangers[0]),
                _("give knowledge of this original"),
            )
    return known


def _told_periods(attack: Attack, statement: Statement) -> Attack:
    """Tell the attack when pseudonyms change, which is public, unless it was told already."""
    period = {"period", "starts"}
    told = [step.parameters for step in statement.steps if step.method == "monthly-pseudonyms"]
    if not told or not period <= set(type(attack).model_fields) or period & attack.model_fields_set:
        return attack
    said = {name: value for name, value in told[-1].items() if name in period}
    return build(type(attack), attack.parameters() | said)


def measure(
    original: Any,
    release: Release,
    measure: str | Measure,
    *,
    guesses: Iterable[Guess] | Mapping[str, Guess] = (),
    schema: Schema | str | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Score:
    """Judge ``release`` by ``measure``; measures of attacks need ``guesses``."""
    data = as_records(original, schema)
    chosen = measures.create(measure, **parameters) if isinstance(measure, str) else measure
    _must_accept(chosen, data)
    named = dict(guesses) if isinstance(guesses, Mapping) else {g.attack: g for g in guesses}
    if "guess" in chosen.needs and not named:
        raise ParameterError(
            _("{measure} judges attacks, and there is no guess").format(measure=chosen.name),
            _("run an attack first and hand its guess over (--guess)"),
        )
    if "secret" in chosen.needs and not release.has_secret:
        raise ParameterError(
            _("{measure} needs the secret part of the release").format(measure=chosen.name),
            _("name the folder that noren protect wrote, not the published one"),
        )
    if "exact" in chosen.needs and release.public.generalised:
        raise ParameterError(
            _("{measure} compares exact values, and the release has sets or intervals").format(measure=chosen.name),
            _("use cell-error or item-similarity, or draw exact data from it (noren draw)"),
        )
    if "secret" in chosen.needs and release.secret.original_rows != len(data):
        raise ParameterError(
            _("the release was made of {made:,} rows, the original has {rows:,}").format(
                made=release.secret.original_rows, rows=len(data)
            ),
            _("name the original that was protected"),
        )
    return chosen.measure(Evidence(data, release, named), progress=progress)


def reconstruct(
    release: Release,
    model: Model | None = None,
    *,
    attributes: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Reconstruction:
    """Estimate what a table perturbed by retention was before, from the public part of its release alone.

    See :func:`noren.data.reconstruction.reconstruct`.
    """
    from noren.data.reconstruction import reconstruct as run

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


def check(
    original: str | Path,
    release: str | Path | None = None,
    *,
    schema: str,
    guess: str | Path | None = None,
    limit: int = 20,
) -> Report:
    """Check a release or a guess against a contest's rules, as its official checker does, and list every problem."""
    from noren.data.checks import check_guess, check_release

    if guess is not None:
        published = None if release is None else Path(release)
        return check_guess(schema, Path(original), Path(guess), published=published, limit=limit)
    if release is None:
        raise ParameterError(_("there is nothing to check"), _("name a release, or a guess with --guess"))
    return check_release(schema, Path(original), Path(release), limit=limit)


def sample(
    customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0, schema: Schema | str = "sample"
) -> History:
    """Return a generated purchase history, calibrated to a real wholesaler's."""
    from noren.data.samples.by_schema import sample_history

    return sample_history(schema, customers=customers, rows=rows, items=items, seed=seed)


def _must_accept(component: Component, data: Records) -> None:
    if data.schema.kind not in component.accepts:
        raise ParameterError(
            _("{component} works on a {wanted}, and this is a {given}").format(
                component=component.name, wanted="/".join(sorted(component.accepts)), given=data.schema.kind
            ),
            _("choose another component, or another schema"),
        )
