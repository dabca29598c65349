"""Protect, attack and measure on a cluster: from folders to folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.attacks.by_period import told_periods
from noren.data.formats.parquet import parquet_rows
from noren.data.formats.source import Source
from noren.data.guessing.questions import Question
from noren.data.guessing.schema_guess import guess_schema
from noren.data.inputs import checked_seed
from noren.data.reading import settled
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.execution.at_work import at_work
from noren.execution.guess import ClusterEvidence, ClusterGuess
from noren.execution.measures.classes import audit as audit_classes
from noren.execution.people_count import stop_at_repeated_people
from noren.execution.places import Place, is_local, local_path
from noren.execution.plans import plan_of
from noren.execution.reading import read
from noren.execution.release import ClusterRelease, digest_of, load_release
from noren.execution.sides import in_released_words
from noren.i18n import _
from noren.measures.evidence import must_have
from noren.methods.chain import Chain
from noren.progress import Progress, silent
from noren.protocols import Attack, Measure, Method, Score, must_accept

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Protected", "attack", "digest", "measure", "protect", "schema_for"]

MOST_GUESSED = 5_000_000
"""Rows up to which a schema may be guessed: somebody must look at all of them, and that is the driver."""


@dataclass(frozen=True)
class Protected:
    """What was written: the statement, and how many rows there were, are, are gone and are new."""

    statement: Any
    original_rows: int
    public_rows: int
    deleted_rows: int
    inserted_rows: int
    audited: bool | None


def schema_for(
    address: str | Path, schema: Schema | str | Path | None, **said: Any
) -> tuple[Schema, Sequence[Question]]:
    """Return the schema that rows are read by: the named one, else a guess that holds for every row."""
    if isinstance(schema, Schema):
        return schema, ()
    if schema is not None:
        return Schema.load(schema), ()
    if not is_local(address):
        raise SchemaError(_("what is not on this machine is not guessed"), _("name a schema with --schema"))
    source = Source.open(local_path(address))
    if parquet_rows(source) > MOST_GUESSED:
        raise SchemaError(
            _("the data have more than {most:,} rows, too many to guess a schema").format(most=MOST_GUESSED),
            _("guess it from one of the files with noren schema guess, and name it with --schema"),
            file=source.path,
        )
    guess = guess_schema(source, **said)
    for question in guess.questions:
        if question.stops:
            raise SchemaError(str(question), _("name a schema with --schema"), file=source.path)
    return settled(source, guess.schema), guess.questions


def protect(
    original: str | Path,
    method: Method,
    *,
    engine: str,
    out: str | Path,
    schema: Schema,
    seed: int,
    audit: bool = True,
    force: bool = False,
    progress: Progress = silent,
) -> Protected:
    """Protect what lies in Parquet on the cluster ``engine`` and write the release folder, whole or not at all.

    A release that claims k is audited before it takes its place. That of a chain of a table is not: what its last step
    was given lies nowhere. Its statement then says so, and whoever judges it knows.
    """
    plan = plan_of(method)
    seed = checked_seed(seed)
    with at_work(engine, progress) as (spark, told):
        told(0.0, _("reading"))
        data = read(spark, original, schema)
        must_accept(method, data.schema)
        stop_at_repeated_people(data)
        release: ClusterRelease = plan.run(method, data, seed=seed, progress=told)
        parameters = release.statement.parameters
        last = method.steps[-1] if isinstance(method, Chain) else method
        claims = audit and release.statement.claims_k and not last.perturbs
        audited = claims and (last is method or release.given is not None)
        if claims and not audited:
            notes = {**release.statement.notes, "audit": "not run"}
            release = replace(release, statement=replace(release.statement, notes=notes))

        def check(place: Place) -> None:
            if audited:
                told(0.9, _("counting who fits"))
                written = load_release(spark, place.address)
                claimed = replace(written, statement=release.statement.steps[-1])
                known = data if release.given is None else release.given
                audit_classes(ClusterEvidence(known, claimed), parameters.get("sensitive"), progress=told)

        counts = release.save(out, replace_existing=force, progress=told, check=check)
    verdict = audited if claims else None
    return Protected(release.statement, data.rows, counts["public"], counts["deleted"], counts["inserted"], verdict)


def attack(
    original: str | Path,
    release: str | Path,
    attacks: Sequence[Attack],
    *,
    engine: str,
    schema: Schema,
    out: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, dict[str, Any]]:
    """Attack the public part of a release folder, and return what each attack found; guesses are written to ``out``."""
    ready = [(one, plan_of(one)) for one in attacks]
    found: dict[str, dict[str, Any]] = {}
    with at_work(engine, progress) as (spark, told):
        told(0.0, _("reading"))
        data, target = read(spark, original, schema), load_release(spark, release)
        for at, (one, plan) in enumerate(ready):
            must_accept(one, data.schema)
            told(at / len(ready), one.name)
            informed = told_periods(one, target.statement).told(target.statement)
            known = in_released_words(data, target.statement)
            guess: ClusterGuess = plan.run(informed, known, target.public, seed=seed, progress=told)
            about: dict[str, Any] = {"parameters": one.parameters(), **guess.notes}
            if out is not None:
                file = Place(spark, out) / f"{one.name}.parquet"
                guess.save(file.address)
                guess = replace(guess, pairs=file.read())
                about["file"] = str(local_path(out) / f"{one.name}.parquet" if is_local(out) else file.address)
            about["named"] = guess.answers().count()
            found[one.name] = about
    return found


def measure(
    original: str | Path,
    release: str | Path,
    measures: Sequence[Measure],
    *,
    engine: str,
    schema: Schema,
    guesses: str | Path | None = None,
    progress: Progress = silent,
) -> dict[str, Score]:
    """Measure a release folder on the cluster ``engine``; measures of attacks look at the ``guesses`` of a folder."""
    scores: dict[str, Score] = {}
    with at_work(engine, progress) as (spark, told):
        told(0.0, _("reading"))
        data, target = read(spark, original, schema), load_release(spark, release)
        evidence = ClusterEvidence(data, target, _guesses(spark, guesses))
        for at, one in enumerate(measures):
            must_accept(one, data.schema)
            must_have(
                one,
                guesses=bool(evidence.guesses),
                secret=target.has_secret,
                generalised=target.public.generalised,
                made_of=target.original_rows,
                rows=data.rows,
            )
            told(at / len(measures), one.name)
            scores[one.name] = _score(one, evidence, told)
    return scores


def digest(folder: str | Path, *, engine: str, progress: Progress = silent) -> tuple[str, int]:
    """Return the digest of a release's public rows, and how many they are."""
    with at_work(engine, progress) as (spark, _told):
        public = load_release(spark, folder).public
        return digest_of(public), public.rows


def _score(measure: Measure, evidence: ClusterEvidence, progress: Progress) -> Score:
    score: Score = plan_of(measure).run(measure, evidence, progress=progress)
    return replace(score, measure=measure.name, goal=measure.goal)


def _guesses(spark: SparkSession, folder: str | Path | None) -> Mapping[str, ClusterGuess]:
    """Return the guesses that :func:`attack` wrote to a folder."""
    if folder is None:
        return {}
    found = Place(spark, folder)
    names = [name.removesuffix(".parquet") for name in found.names() if name.endswith(".parquet")]
    return {name: ClusterGuess(name, (found / f"{name}.parquet").read()) for name in names}
