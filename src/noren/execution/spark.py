"""Protect, attack, measure and count on a Spark cluster: from folders to folders, by the plans of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from noren.attacks.by_period import with_period_metadata
from noren.data.categories import as_released, release_categories
from noren.data.cells import is_generalised
from noren.data.formats.files import require_free_path
from noren.data.guessing.identifying import Identifying
from noren.data.public_part import identifying_in
from noren.data.reading import SchemaLike, checked_seed
from noren.data.release import RELEASE, Secret
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import ParameterError, SchemaError
from noren.execution.candidates import histories_of
from noren.execution.engine import Engine, OriginalInput, ProtectResult, ReleaseCounts, ReleaseInput
from noren.execution.files import (
    ClusterPath,
    guessed_schema,
    is_local,
    local_path,
    read,
    reject_repeated_people,
    settled_schema,
    written_whole,
)
from noren.execution.frames import PLACE, ClusterRecords, on_cluster, to_driver
from noren.execution.plans import has_plan, plan_of
from noren.execution.plans.safety import audit as audit_classes
from noren.execution.plans.safety import rows_in_classes
from noren.execution.plans.utility import seen_on_cluster
from noren.execution.release import ClusterEvidence, ClusterGuess, ClusterRelease, digest_of, load_public, load_release
from noren.execution.session import cluster_session
from noren.execution.spark_functions import f
from noren.i18n import _
from noren.measures.evidence import available_evidence, require_evidence
from noren.methods.chain import Chain
from noren.progress import Progress, silent
from noren.protocols import Attack, Component, Guess, Measure, Method, Score, require_kind
from noren.retention.reconstruction import reconstruct_observed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from noren.data.frames import Records
    from noren.retention.perturbation import Perturbation
    from noren.retention.reconstructed import Reconstruction


class SparkEngine(Engine):
    """A Spark cluster: ``spark://host:port``, or ``local[n]`` for threads of this machine.

    Data must be where workers can read them. The driver holds guesses and, for a verdict, one line per person; each
    plan says what else it holds.
    """

    def __init__(self, address: str) -> None:
        self.address, self.flag = address, f" --engine {address}"

    def runs(self, component: Component | type[Component]) -> bool:
        """Tell whether a component has a plan for a cluster; a chain has one where each of its steps has."""
        steps = component.steps if isinstance(component, Chain) else ()
        return has_plan(component) and all(self.runs(step) for step in steps)

    def read(self, path: str | Path, schema: SchemaLike | None = None, **how: Any) -> OriginalInput:
        """Open an original by its schema; a guessed one is settled on the cluster."""
        self._refuse(master=how.pop("master", None))
        declared = None if schema is None else Schema.load(schema)
        if declared is not None and not declared.untyped:
            return OriginalInput(declared, path)
        stop_at = how.pop("stop_at", None)
        how = how if declared is None else declared.decisions()
        with cluster_session(self.address) as (spark, _report):
            guess = guessed_schema(spark, path, **how)
            if stop_at is not None:
                stop_at(guess.questions)
            for question in guess.questions:
                if question.stops:
                    raise SchemaError(str(question), _("name a schema with --schema"), file=path)
            opened = guess.schema if declared is None else declared.typed_by(guess.schema)
            return OriginalInput(settled_schema(spark, path, opened), path, None, guess.notes, guess.questions)

    def load(self, path: str | Path, original: OriginalInput, *, in_order: bool = False) -> ReleaseInput:
        """Open a release folder."""
        with cluster_session(self.address) as (spark, _report):
            release = load_release(spark, path)
        return ReleaseInput(release.statement, release.has_secret, path, opened=release)

    def limits(self, original: OriginalInput, **limits: Any) -> dict[str, Any]:
        """Refuse limits: on a cluster an attacker knows everything."""
        self._refuse(
            known=limits.get("known"), knowledge=limits.get("knowledge", 1) != 1, item_prefix=limits.get("item_prefix")
        )
        return {"seed": limits.get("seed", 0)}

    def protect(
        self,
        original: OriginalInput,
        method: Method,
        out: str | Path,
        *,
        seed: int,
        audit: bool = True,
        force: bool = False,
        progress: Progress = silent,
        **options: Any,
    ) -> ProtectResult:
        """Protect what lies in Parquet and write the release folder, whole or not at all.

        A release that claims k is audited before it takes its place. That of a chain of a table is not: what its last
        step was given lies nowhere. Its statement then says so, and the verdict takes it into account.
        """
        self._refuse(**options)
        plan, seed = plan_of(method), checked_seed(seed)
        if is_local(out):
            require_free_path(local_path(out), replace=force and RELEASE)
        with cluster_session(self.address, progress) as (spark, report):
            report(0.0, _("reading"))
            data = self._records(spark, original)
            require_kind(method, data.schema)
            reject_repeated_people(data)
            release: ClusterRelease = plan.run(method, data, seed=seed, progress=report)
            last = method.steps[-1] if isinstance(method, Chain) else method
            claims = audit and release.statement.claims_k and not last.perturbs
            failure: str | None = None
            audited = claims and (last is method or release.last_input is not None)
            if claims and not audited:
                notes = {**release.statement.notes, "audit": "not run"}
                release = replace(release, statement=replace(release.statement, notes=notes))
                failure = _(
                    "the claim of the chain's last step was not audited, because Spark audits no chain of a table; "
                    "do not publish the release yet"
                )

            def check(place: ClusterPath) -> None:
                if audited:
                    report(0.9, _("counting candidates"))
                    claimed = replace(load_release(spark, place.address), statement=release.statement.steps[-1])
                    known = data if release.last_input is None else release.last_input
                    sensitive = release.statement.parameters.get("sensitive")
                    audit_classes(ClusterEvidence(known, claimed), sensitive, progress=report)

            counts = release.save(out, replace_existing=force, progress=report, check=check)
        rows = data.rows, counts["public"], counts["deleted"], counts["inserted"]
        left_out = [column.name for column in original.schema.with_role("identifier")]
        more = {"engine": self.address, "audited": bool(audited)}
        return ProtectResult(release.statement, *rows, audited if claims else None, failure, left_out, more)

    def attack(
        self, original: OriginalInput, release: ReleaseInput, attack: Attack, *, progress: Progress = silent, **how: Any
    ) -> Guess:
        """Attack the public part of a release folder; the guess comes to the driver, the surest answers first."""
        plan = plan_of(attack)
        with cluster_session(self.address, progress) as (spark, report):
            report(0.0, _("reading"))
            data, target = self._records(spark, original), self._release(spark, release)
            report(0.0, attack.name)
            require_kind(attack, data.schema)
            statement = target.statement
            informed = with_period_metadata(attack, statement).with_public_metadata(statement)
            if release_categories(statement) is not None:  # the original in the words of the release
                types = {**data.types, data.schema.role(Role.ITEM).name: pl.String()}
                data = data.edited(lambda block, _rows: as_released(block, statement).frame, types=types)
            guess: ClusterGuess = plan.run(informed, data, target.public, seed=how.get("seed", 0), progress=report)
            return Guess(attack.name, to_driver(guess.in_order()), guess.notes)

    def measure(
        self,
        original: OriginalInput,
        release: ReleaseInput,
        measure: Measure,
        *,
        guesses: Mapping[str, Any] | None = None,
        progress: Progress = silent,
    ) -> Score:
        """Measure a release folder; guesses are what :meth:`attack` or :meth:`guesses` gave."""
        with cluster_session(self.address, progress) as (spark, report):
            report(0.0, _("reading"))
            data, target = self._records(spark, original), self._release(spark, release)
            report(0.0, measure.name)
            lying = {name: _guess_on_cluster(spark, name, guess) for name, guess in (guesses or {}).items()}
            require_kind(measure, data.schema)
            there = available_evidence(target, lying)
            require_evidence(measure, there, made_of=target.original_rows, rows=data.rows)
            score: Score = plan_of(measure).run(measure, ClusterEvidence(data, target, lying), progress=report)
        return replace(score, measure=measure.name, goal=measure.goal)

    def guesses(self, path: str | Path, original: OriginalInput, *, parquet: bool = True) -> Mapping[str, Any]:
        """Return where the guesses of a folder lie: Parquet files that :meth:`write_guess` wrote."""
        with cluster_session(self.address) as (spark, _report):
            names = [name for name in ClusterPath(spark, path).names() if name.endswith(".parquet")]
        return {name.removesuffix(".parquet"): f"{path}/{name}" for name in names}

    def write_guess(
        self, guess: Guess, out: str | Path, original: OriginalInput, release: ReleaseInput, *, parquet: bool = True
    ) -> dict[str, str]:
        """Write a guess as Parquet."""
        if is_local(out):
            return super().write_guess(guess, local_path(out), original, release, parquet=True)
        with cluster_session(self.address) as (spark, _report):
            place = ClusterPath(spark, out) / f"{guess.attack}.parquet"
            with written_whole(spark, place.address) as aside:
                _guess_on_cluster(spark, guess.attack, guess).in_order().write.parquet(aside.address)
        return {"file": place.address}

    def counts(self, original: OriginalInput, release: ReleaseInput) -> SparkCounts:
        """Count on the cluster."""
        with cluster_session(self.address) as (spark, _report):
            return SparkCounts(self.address, self._records(spark, original), self._release(spark, release))

    def stream(self, path: Path, method: Method, out: Path, schema: Schema, **how: Any) -> NoReturn:
        """Refuse: partitions are blocks already."""
        self._refuse(stream=True)
        raise AssertionError

    def reconstruct(
        self, release: str | Path, *, progress: Progress = silent, **options: Any
    ) -> tuple[Reconstruction, Schema]:
        """Estimate the table before perturbation: counted on the cluster, estimated on the driver.

        The driver holds the different records and how often each occurs: of a table that is worked out whole at most
        its cells, 16,777,216, of a larger one at most 10,000,000.
        """
        with cluster_session(self.address, progress) as (spark, report):
            public, statement = load_public(spark, release)
            seen = partial(seen_on_cluster, public, statement)
            how: dict[str, Any] = {"model": None, **options, "progress": report}
            return reconstruct_observed(public.schema, statement, seen, **how), public.schema

    def digest(self, folder: str | Path, *, progress: Progress = silent) -> tuple[str, int]:
        """Return the digest of a release's public rows, and how many they are."""
        with cluster_session(self.address, progress) as (spark, _report):
            public = load_release(spark, folder).public
            return digest_of(public), public.rows

    @staticmethod
    def _refuse(**options: Any) -> None:
        for name, value in options.items():
            if value:
                message = _("{flag} does not work on Spark; leave it out, or use --engine local")
                raise ParameterError(message.format(flag=f"--{name.replace('_', '-')}"))

    @staticmethod
    def _records(spark: SparkSession, original: OriginalInput) -> ClusterRecords:
        """Return the rows of an original, which is looked at once."""
        if original.path is None:
            raise TypeError("these rows lie in no file")
        if original.opened is None or original.opened.frame.sparkSession is not spark:
            original.opened = read(spark, original.path, original.schema)
        rows: ClusterRecords = original.opened
        return rows

    @staticmethod
    def _release(spark: SparkSession, release: ReleaseInput) -> ClusterRelease:
        if release.path is None:
            raise TypeError("this release lies in no folder")
        if release.opened is None or release.opened.public.frame.sparkSession is not spark:
            release.opened = load_release(spark, release.path)
        opened: ClusterRelease = release.opened
        return opened


def _guess_on_cluster(spark: SparkSession, name: str, guess: Guess | str) -> ClusterGuess:
    """Return a guess on the cluster: one of the driver, or one that lies in files."""
    if isinstance(guess, str):
        return ClusterGuess(name, ClusterPath(spark, guess).read())
    return ClusterGuess(name, on_cluster(spark, guess.pairs), guess.notes)


# --- what a verdict counts -------------------------------------------------------------------------------------------


class SparkCounts(ReleaseCounts):
    """A release that lies on a cluster beside its original.

    Pseudonyms and their classes come to the driver, one line for each.
    """

    def __init__(self, address: str, original: ClusterRecords, release: ClusterRelease) -> None:
        self._address, self._known, self._released = address, original, release.public
        self.schema, self.statement, self.rows = release.public.schema, release.statement, release.public.rows
        self.has_secret, nothing = release.has_secret, Secret.empty()
        named = release.pseudonyms if self.schema.kind == Kind.HISTORY else None
        pseudonyms = nothing.pseudonyms if named is None else to_driver(named).cast(pl.String)
        self.secret = Secret(pseudonyms, nothing.origin, release.original_rows, release.seed)

    def people(self) -> int:
        """Return how many people the original is about."""
        with cluster_session(self._address):
            return self._known.people()

    def nonempty_columns(self) -> list[Column]:
        """Return the columns with at least one value."""
        with cluster_session(self._address):
            names = [f.count(self._released.column(c)) for c in self.schema.columns]
            filled = self._released.frame.agg(*names).first() or ()
        return [column for column, count in zip(self.schema.columns, filled, strict=True) if count]

    def identifying(self) -> Mapping[str, Identifying]:
        """Return the columns that identify people; of very many rows some are looked at."""
        with cluster_session(self._address):
            return identifying_in(self._released.some())

    def alone(self, column: Column) -> float:
        """Return the share of pseudonyms with a value that no other has."""
        if is_generalised(self._released.types[column.name]):
            return 0.0
        who, what = self._released.at(Role.CUSTOMER), self._released.at(column)
        with cluster_session(self._address):
            pairs = self._released.frame.select(who, what).dropna().distinct()
            own = pairs.groupBy(what).agg(f.count(f.lit(1)).alias("many"), f.min(who).alias("who")).filter("many = 1")
            people = self._released.frame.select(who).dropna().distinct().count()
            return own.select("who").distinct().count() / people if people > 1 else 0.0

    def are_drawn_by(self, noise: Perturbation) -> bool:
        """Tell whether the rows of each block can be what a perturbation made; they are not drawn anew."""

        def fits(block: Records, beside: pl.DataFrame) -> pl.DataFrame:
            as_published = beside[PLACE].arg_sort()  # a join deals rows to blocks in any order
            return pl.DataFrame({"fits": noise.fits(replace(block, frame=block.frame[as_published]))})

        with cluster_session(self._address):
            return self._released.map(fits, {"fits": pl.Boolean()}, also=[PLACE]).filter("NOT fits").isEmpty()

    def history_classes(self) -> pl.DataFrame:
        """Return the classes of equal histories."""
        with cluster_session(self._address):
            digests = to_driver(histories_of(self._released).select("pseudonym", "history"))
        classes = (pl.col("history").rank("dense") - 1).cast(pl.Int64).alias("class")
        return digests.select(pl.col("pseudonym").cast(pl.String), classes)

    def spent(self) -> pl.DataFrame | None:
        """Return what customers bought and spent."""
        rows = self._known
        if rows.schema.kind != Kind.HISTORY:
            return None
        numbers = rows.schema.with_role(Role.PRICE, Role.QUANTITY)
        sums = [f.sum(rows.column(c).cast("double")).alias(f"sum{at}") for at, c in enumerate(numbers)]
        with cluster_session(self._address):
            by = rows.frame.groupBy(rows.column(Role.CUSTOMER).cast("string").alias("customer"))
            return to_driver(by.agg(f.count(f.lit(1)).alias("rows"), *sums))

    def smallest_class(self, known: Sequence[str], sensitive: Sequence[str]) -> tuple[int | None, list[str]]:
        """Return the smallest class, and what classes tell."""
        with cluster_session(self._address):
            values = [self._released.column(name).alias(f"s{at}") for at, name in enumerate(sensitive)]
            rows, keys = rows_in_classes(self._released, [self.schema[name] for name in known], *values)
            size = f.count(f.lit(1))
            uniform = [
                ((f.count_distinct(f"s{at}") == 1) & (f.count(f"s{at}") == size)).alias(f"s{at}")
                for at in range(len(sensitive))
            ]
            classes = rows.groupBy(*keys).agg(size.alias("size"), *uniform)
            worst = classes.agg(f.min("size"), *(f.max(f"s{at}") for at in range(len(sensitive)))).first()
        least, *disclosed = worst or (None, *(False for _name in sensitive))
        return least, [name for name, tells in zip(sensitive, disclosed, strict=True) if tells]

    def different(self, names: Sequence[str]) -> int:
        """Return how many classes there are."""
        with cluster_session(self._address):
            rows, keys = rows_in_classes(self._released, [self.schema[name] for name in names])
            return rows.select(*keys).distinct().count()
