"""Engines: where work runs, on this machine's processors, on its graphics processor, or on a Spark cluster.

Callers use an :class:`Engine` and need not know which one. The same seed gives the same public rows on each of them. An
engine refuses what it cannot do.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren import api
from noren.data.arrays import people
from noren.data.compatibility import history_classes
from noren.data.contest_files import read_guesses, write_candidates, write_guess
from noren.data.formats.files import require_free_path
from noren.data.frames import History, Records, Table
from noren.data.guessing import Question
from noren.data.guessing.identifying import Identifying
from noren.data.public_part import identifying_in
from noren.data.reading import SchemaLike, read, read_any_release, read_public, read_release
from noren.data.release import RELEASE, Release, public_digest
from noren.data.schema import Column, Role, Schema
from noren.data.statement import Statement
from noren.engines import choice
from noren.engines.accelerated.device import accelerator_for
from noren.engines.blocks import run_interruptibly
from noren.errors import AuditUnfinishedError, CheckFailedError, ParameterError
from noren.i18n import _
from noren.measures.evidence import available_evidence
from noren.measures.losses import Losses, OriginalSummary
from noren.measures.safety.matching import UNLISTED
from noren.measures.safety.table_classes import table_classes
from noren.methods.retention import Retention, protect_file
from noren.progress import Progress, silent
from noren.protocols import Attack, Component, Guess, Measure, Method, Need, Score

if TYPE_CHECKING:
    from noren.retention.perturbation import Perturbation
    from noren.retention.reconstructed import Reconstruction


@dataclass
class OriginalInput:
    """An original as engines take it: this machine needs its rows, a cluster the address of its files.

    ``remarks`` say what was chosen when it was read, ``questions`` what was left open.
    """

    schema: Schema
    path: str | Path | None = None
    records: Records | None = None
    remarks: Sequence[str] = ()
    questions: Sequence[Question] = ()
    opened: Any = field(default=None, repr=False)

    @property
    def rows(self) -> Records:
        """The rows in memory."""
        if self.records is None:
            raise TypeError("these rows are not in memory")
        return self.records

    def take(self) -> Records:
        """Return the rows and let go of them: who protects them last frees their memory."""
        rows, self.records = self.rows, None
        return rows


@dataclass
class ReleaseInput:
    """A release as engines take it: in memory, in a folder, or both.

    ``public`` is what an attacker sees of a file that is not a release folder.
    """

    statement: Statement
    has_secret: bool
    path: str | Path | None = None
    release: Release | None = None
    public: Records | None = None
    opened: Any = field(default=None, repr=False)

    @property
    def whole(self) -> Release:
        """The release in memory."""
        if self.release is None:
            raise TypeError("this release is not in memory")
        return self.release

    def available_evidence(self, guesses: Mapping[str, Any]) -> set[Need]:
        """Return what measures can look at beside the guesses."""
        return available_evidence(self.release if self.release is not None else self.opened, guesses)

    @classmethod
    def of(cls, release: Release, path: str | Path | None = None, public: Records | None = None) -> ReleaseInput:
        """Return a release in memory."""
        return cls(release.statement, release.has_secret, path, release, public)


@dataclass(frozen=True)
class ProtectResult:
    """What was written: the statement, and how many rows there were, are, are gone and are new.

    ``audited`` tells whether the claim was checked, None where there is none; ``failure`` why it was not;
    ``left_out`` names the columns that were left out because they identify people, ``more`` what an engine adds,
    ``losses`` says what was lost, where the engine knows the rows; it is secret.
    """

    statement: Statement
    original_rows: int
    public_rows: int
    deleted_rows: int
    inserted_rows: int
    audited: bool | None
    failure: AuditUnfinishedError | str | None = None
    left_out: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    losses: Losses | None = field(default=None, repr=False)


class Engine:
    """Where work runs: this machine's processors or its graphics processor; other engines override what they can do.

    Besides protect, attack and measure, an engine opens what these work on.
    """

    flag = ""
    """What a command line adds to run there again."""

    def __init__(self, chosen: choice.EngineChoice = choice.LOCAL) -> None:
        self._chosen = chosen

    def runs(self, component: Component | type[Component]) -> bool:
        """Tell whether a component runs there."""
        return True

    def read(self, path: str | Path, schema: SchemaLike | None = None, **how: Any) -> OriginalInput:
        """Open an original; ``how`` is as in :func:`noren.data.reading.read`."""
        answer = read(path, schema, **how)
        return OriginalInput(answer.data.schema, path, answer.data, answer.notes, answer.questions)

    def load(self, path: str | Path, original: OriginalInput, *, in_order: bool = False) -> ReleaseInput:
        """Open a release: a folder or a published file, which may stand ``in_order``, row for row as the original."""
        if in_order or Path(path).is_dir():
            return ReleaseInput.of(read_release(path, original.rows), path)
        public = read_public(path, original.rows)
        return ReleaseInput.of(read_any_release(path, original.rows), path, public)

    def limits(self, original: OriginalInput, **limits: Any) -> dict[str, Any]:
        """Return what limits an attacker (known, knowledge, item_prefix, seed), checked, for :meth:`attack`."""
        known = limits.get("known")
        checked = limits | {"known": None if known is None else read(known, original.schema).data}
        api.attackers_knowledge(original.rows, **checked)
        return checked

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
        """Protect an original and write the release folder ``out``, audited where it claims k, whole or not at all.

        A release whose audit broke down is written, and says so. ``options`` are ``keep`` (columns), ``official``.
        With ``auditing`` among them the release is written before its audit, which runs within that context: a
        caller that is stopped in between keeps the release, and must remember that it was not checked.
        """
        official, auditing = options.pop("official", False), options.pop("auditing", None)
        require_free_path(out, replace=force and RELEASE)
        naming = [column.name for column in original.schema.with_role("identifier")]
        summary = OriginalSummary.of(original.rows)
        with choice.using(self._chosen):
            release, check = run_interruptibly(
                api.protect_unaudited, original.take, method, seed=seed, progress=progress, **options
            )
            if auditing is not None:
                release.save(out, replace_existing=force)
            failure: AuditUnfinishedError | None = None
            if audit and check is not None:
                with nullcontext() if auditing is None else auditing():
                    try:
                        check()
                    except AuditUnfinishedError as error:
                        release, failure = error.release, error
                    except CheckFailedError:
                        if auditing is not None:
                            shutil.rmtree(out)
                        raise
        if auditing is None or failure is not None:
            release.save(out, official=official, replace_existing=force or auditing is not None)
        rows = (release.secret.original_rows, len(release.public), release.deleted_rows, release.inserted_rows)
        left_out = [name for name in naming if name not in release.public.schema.names]
        audited = None if check is None or not audit else failure is None
        lost = summary.losses(release)
        return ProtectResult(release.statement, *rows, audited, failure, left_out, losses=lost)

    def attack(
        self, original: OriginalInput, release: ReleaseInput, attack: Attack, *, progress: Progress = silent, **how: Any
    ) -> Guess:
        """Attack the public part of a release; ``how`` is as in :func:`noren.api.attack`."""
        target = release.release if release.public is None else release.public
        with choice.using(self._chosen):
            return api.attack(original.rows, target, attack, progress=progress, **how)

    def measure(
        self,
        original: OriginalInput,
        release: ReleaseInput,
        measure: Measure,
        *,
        guesses: Mapping[str, Any] | None = None,
        progress: Progress = silent,
    ) -> Score:
        """Measure a release; measures of attacks look at ``guesses``."""
        with choice.using(self._chosen):
            return api.measure(original.rows, release.release, measure, guesses=guesses or {}, progress=progress)

    def guesses(self, path: str | Path, original: OriginalInput, *, parquet: bool = False) -> Mapping[str, Any]:
        """Return the guesses in a file or a folder, for :meth:`measure`."""
        if parquet:
            files = sorted(Path(path).glob("*.parquet"))
            return {file.stem: Guess(file.stem, pl.read_parquet(file)) for file in files}
        files_by_name = read_guesses(path, original.rows)
        return {name: Guess(name, file.pairs, {UNLISTED: file.unlisted}) for name, file in files_by_name.items()}

    def write_guess(
        self, guess: Guess, out: str | Path, original: OriginalInput, release: ReleaseInput, *, parquet: bool = False
    ) -> dict[str, str]:
        """Write a guess into the folder ``out`` in the contest's format or as Parquet; return which files it is."""
        files, folder = {}, Path(out)
        if parquet:
            guess.pairs.write_parquet(folder / f"{guess.attack}.parquet")
            return {"file": str(folder / f"{guess.attack}.parquet")}
        if guess.answers is not guess.pairs:
            listed = folder / f"{guess.attack}.candidates.parquet"
            files["candidates_file"] = str(write_candidates(guess.pairs, listed))
        public = release.whole.public if release.public is None else release.public
        files["file"] = str(write_guess(guess.answers, folder / f"{guess.attack}.csv", original.rows, public))
        return files

    def counts(self, original: OriginalInput, release: ReleaseInput) -> ReleaseCounts:
        """Return what a verdict needs to know of a release."""
        return ReleaseCounts(release.whole, original.records)

    def stream(self, path: Path, method: Method, out: Path, schema: Schema, **how: Any) -> Statement:
        """Protect a file of any size block by block, by retention; ``how`` is as in ``protect_file``."""
        if not isinstance(method, Retention):
            raise ParameterError(_("--stream works with retention only; leave it out, or use --method retention"))
        return protect_file(path, out, method, schema, **how)

    def reconstruct(
        self, release: str | Path, *, progress: Progress = silent, **options: Any
    ) -> tuple[Reconstruction, Schema]:
        """Estimate the table before perturbation; return it with the schema of the public part."""
        loaded = Release.load(release)
        with choice.using(self._chosen):
            return api.reconstruct(loaded, progress=progress, **options), loaded.public.schema

    def digest(self, folder: str | Path, *, progress: Progress = silent) -> tuple[str, int]:
        """Return the digest of a release's public rows, and how many they are; one block is held at a time."""
        return public_digest(folder, progress=progress)


def get_engine(text: str) -> Engine:
    """Return the engine that ``--engine`` names: ``local``, ``gpu``, ``auto``, ``local[n]`` or ``spark://host:port``.

    >>> get_engine("local").flag, get_engine("local[2]").flag
    ('', ' --engine local[2]')
    """
    chosen = choice.parse_engine(text)
    accelerator_for(chosen, pays=False)  # stops before any work where there is no graphics processor
    if chosen.address is None:
        return Engine(chosen)
    from noren.execution.spark import SparkEngine

    return SparkEngine(chosen.address)


class ServerEngine(Engine):
    """This machine, with a cluster that does what has a plan there: what a server works with.

    Releases and answers are those of one machine, in its form and order. ``ran`` is told for each component where it
    ran, where a cluster was asked for.
    """

    def __init__(self, text: str, ran: Callable[[str, str], None] = lambda component, engine: None) -> None:
        chosen = choice.parse_engine(text)
        super().__init__(choice.LOCAL if chosen.address else chosen)
        self._cluster = None if chosen.address is None else get_engine(text)
        self._name, self._ran = text, ran

    def _place_of(self, component: Component, progress: Progress = silent, **_how: Any) -> Engine:
        """Return the cluster where a component runs on it, else this machine, and tell where it runs."""
        here = Engine(self._chosen)
        if self._cluster is None:
            return here
        fits = self._cluster.runs(component)
        self._ran(component.name, self._name if fits else "local")
        if fits:
            return self._cluster
        progress(0.0, _("{component}: on this machine (not available on Spark)").format(component=component.name))
        return here

    def protect(self, original: OriginalInput, method: Method, out: str | Path, **how: Any) -> ProtectResult:
        """Protect where the method runs; the folder has the form that one machine writes."""
        cluster = self._place_of(method, **how)
        if cluster is not self._cluster:
            return cluster.protect(original, method, out, **how)
        how.pop("auditing", None)
        with TemporaryDirectory(dir=Path(out).parent, prefix="cluster-") as place:
            made = Path(place) / "release"
            done = cluster.protect(original, method, made, **how)
            Release.load(made).save(out, replace_existing=how.get("force", False))
        return done

    def attack(self, original: OriginalInput, release: ReleaseInput, attack: Attack, **how: Any) -> Guess:
        """Attack where the attack runs."""
        return self._place_of(attack, **how).attack(original, release, attack, **how)

    def measure(self, original: OriginalInput, release: ReleaseInput, measure: Measure, **how: Any) -> Score:
        """Measure where the measure runs."""
        return self._place_of(measure, **how).measure(original, release, measure, **how)


# --- what a verdict counts; on a cluster see :class:`noren.execution.spark.SparkCounts` ------------------------------


def people_in(original: Records) -> int:
    """Return how many people the original is about."""
    return len(original.customers) if isinstance(original, History) else len(original)


class ReleaseCounts:
    """A release of which a verdict asks a few numbers, in memory, with the original where it is at hand.

    ``schema``, ``statement`` and ``rows`` are those of the public part. ``secret`` tells who is behind each pseudonym;
    nobody where the secret part is not at hand.
    """

    def __init__(self, release: Release, original: Records | None = None) -> None:
        self._public, self._original = release.public, original
        self.schema, self.statement, self.rows = release.public.schema, release.statement, len(release.public)
        self.secret, self.has_secret = release.secret, release.has_secret

    def people(self) -> int:
        """Return how many people the original is about: counted, or by the secret part."""
        if self._original is not None:
            return people_in(self._original)
        if isinstance(self._public, Table):
            return self.secret.original_rows if self.has_secret else self.rows
        return int(self.secret.pseudonyms["customer"].n_unique()) if self.has_secret else 0

    def nonempty_columns(self) -> list[Column]:
        """Return the columns with at least one value."""
        return [c for c in self.schema.columns if self._public.frame[c.name].null_count() < self.rows]

    def identifying(self) -> Mapping[str, Identifying]:
        """Return the columns that identify people."""
        return identifying_in(self._public)

    def alone(self, column: Column) -> float:
        """Return the share of pseudonyms with a value that no other has; sets and intervals are nobody's own."""
        customer, frame = self.schema.role(Role.CUSTOMER).name, self._public.frame
        people = frame[customer].n_unique()
        if frame[column.name].dtype.is_nested() or people < 2:
            return 0.0
        pairs = frame.select(customer, value=pl.col(column.name)).drop_nulls().unique()
        own = pairs.filter(pl.len().over("value") == 1)
        return own[customer].n_unique() / people if len(own) else 0.0

    def history_classes(self) -> pl.DataFrame:
        """Return each ``pseudonym`` with its ``class`` of equal histories, counted from 0."""
        classes = history_classes(self._public) if isinstance(self._public, History) else pl.DataFrame()
        return classes.with_columns(pl.col("pseudonym").cast(pl.String))

    def spent(self) -> pl.DataFrame | None:
        """Return by ``customer`` the rows and sums of numbers of the original; None where it is not at hand."""
        if not isinstance(self._original, History):
            return None
        # each row's customer as a number, from 1: grouping rows takes several times the memory
        who, customers = people(self._original[Role.CUSTOMER])
        who, most = who + 1, len(customers) + 1
        columns: dict[str, Any] = {"customer": customers.cast(pl.String), "rows": np.bincount(who, minlength=most)[1:]}
        for column in self._original.schema.with_role(Role.PRICE, Role.QUANTITY):
            values = self._original.frame[column.name].cast(pl.Float64, strict=False).fill_null(0.0)
            columns[f"sum of {column.name}"] = np.bincount(who, values.to_numpy(), most)[1:]
        return pl.DataFrame(columns)

    def are_drawn_by(self, noise: Perturbation) -> bool:
        """Tell whether the rows can be what a perturbation made.

        Where the original and the seed are at hand, they must be the rows that the seed draws.
        """
        seed, original = self.secret.seed, self._original
        if not noise.fits(self._public):
            return False
        if seed is None or original is None or original.digest() != self.secret.digest:
            return True
        drawn = noise.frame(noise.perturbed(noise.codes(original.frame), seed=seed)).sort(pl.all())
        return drawn.equals(self._public.frame.select(drawn.columns).sort(pl.all()))

    def smallest_class(self, known: Sequence[str], sensitive: Sequence[str]) -> tuple[int | None, list[str]]:
        """Return the smallest class of rows alike in ``known``, and the sensitive columns that some class tells."""
        classes = table_classes(self._table, list(known))
        least = None if classes.sizes.is_empty() else int(classes.sizes.min())  # type: ignore[arg-type]
        rows = self._table.frame.select(*sensitive, classes.class_of.alias("\0class")).drop_nulls("\0class")
        uniform = rows.group_by("\0class").agg((pl.all().n_unique() == 1) & (pl.all().null_count() == 0))
        return least, [name for name in sensitive if uniform[name].any()]

    def different(self, names: Sequence[str]) -> int:
        """Return how many classes of rows there are that are alike in these columns."""
        return len(table_classes(self._table, list(names)).sizes)

    @property
    def _table(self) -> Table:
        if not isinstance(self._public, Table):
            raise TypeError("histories have no classes of rows")
        return self._public
