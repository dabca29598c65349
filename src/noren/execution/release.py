"""Releases, guesses and evidence of measures on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.data.cells import generalised_dtype, is_generalised
from noren.data.public_part import published_schema, published_statement, scanned
from noren.data.release import LANES, RELEASE, SCHEMA_FILE, RowDigest, schema_in
from noren.data.schema import Kind, Role, Schema
from noren.data.statement import Statement
from noren.errors import FileError, SchemaError
from noren.execution.files import ClusterPath, is_local, local_path, numbered, written_whole
from noren.execution.frames import PLACE, ROW, ClusterRecords, as_records, frame_types, map_blocks, persisted
from noren.execution.spark_functions import StorageLevel, f
from noren.i18n import _
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LINE = "line"
"""The column of :func:`with_row_text` that holds a row's text."""
_ROWS_OF_A_FILE = 2_000_000


@dataclass(frozen=True)
class ClusterRelease:
    """Public rows, who is behind them, and a statement; nothing is done before it is saved.

    ``public.frame`` holds the released rows alone (no deleted ones) with :data:`~noren.execution.frames.ROW`, the
    original row each stands for, null for an inserted one. ``pseudonyms`` has ``pseudonym``, ``customer`` (and
    ``period``); None for tables. ``last_input`` is the input of the last step of a chain of a history, under the
    customers' own names: what that step claims is about it.
    """

    original: ClusterRecords | None
    public: ClusterRecords
    pseudonyms: DataFrame | None
    statement: Statement
    seed: int | None = None
    original_rows: int = 0
    last_input: ClusterRecords | None = None

    def __repr__(self) -> str:
        return f"ClusterRelease({self.statement.method}; secret withheld)"

    @property
    def has_secret(self) -> bool:
        """Whether the secret part is available."""
        return self.original_rows > 0

    def save(
        self,
        folder: str | Path,
        *,
        replace_existing: bool = False,
        progress: Progress = silent,
        check: Callable[[ClusterPath], None] | None = None,
    ) -> dict[str, int]:
        """Write the release, whole or not at all, and return how many rows it has, lost and gained.

        As on one machine, identifiers of a history are left out, and a public part that identifies people is refused;
        of very many rows some are looked at.

        Rows are put in the order of their text once, and written aside; public part and origins are read from there, so
        that they stand side by side. ``check`` may look at what is written before it takes its place, and raise.
        """
        session, released = self.public.frame.sparkSession, self.public
        if released.schema.kind == Kind.HISTORY:
            released = released.without([column.name for column in released.schema.with_role(Role.IDENTIFIER)])
        with written_whole(session, folder, replace=replace_existing and RELEASE) as aside:
            progress(0.5, _("sorting rows"))
            staged = aside / "_sorted"
            files = max(1, -(-released.rows // _ROWS_OF_A_FILE))
            by_text = with_row_text(released)
            if files > 1:  # Spark looks at them twice: where to cut, and where each goes
                by_text = by_text.persist(StorageLevel.DISK_ONLY)
            names = released.schema.names
            cells = [f"c{at}" for at in range(len(names))]
            in_order = by_text.repartitionByRange(files, LINE).sortWithinPartitions(LINE).select(*cells, ROW)
            in_order.write.parquet(staged.address, compression="snappy")  # read at once, and removed
            by_text.unpersist()
            laid = staged.read()
            statement = scanned(released.with_frame(laid).some(), self.statement)
            public = laid.select(*(f.col(c).alias(n) for c, n in zip(cells, names, strict=True)))
            public.write.parquet((aside / "public.parquet").address)
            public_values: dict[str, list[str]] = {}  # of each declared domain, the values that occur
            for cell, column in zip(map(f.col, cells), released.schema.columns, strict=True):
                if column.domain is not None and column.role not in (Role.CUSTOMER, Role.IDENTIFIER):
                    values = f.explode(cell) if is_generalised(released.types[column.name]) else cell
                    distinct = laid.select(values.alias("value")).distinct().dropna().collect()
                    public_values[column.name] = [str(row["value"]) for row in distinct]
            longest = max(map(len, public_values.values()), default=0)
            padded = {name: [*values, *[None] * (longest - len(values))] for name, values in public_values.items()}
            frame = pl.DataFrame(padded, schema=dict.fromkeys(padded, pl.String))
            schema = published_schema(released.schema, self.statement, frame)
            (aside / "public.parquet" / SCHEMA_FILE).write_text(schema.to_toml())
            progress(0.8)
            secret = aside / "secret"
            secret.make_private()
            laid.select(f.col(ROW).alias("row")).write.parquet((secret / "origin.parquet").address)
            behind = self.pseudonyms
            if behind is None:
                behind = session.createDataFrame([], "pseudonym string, customer string")
            behind.write.parquet((secret / "pseudonyms.parquet").address)
            counts = laid.select(f.count(f.lit(1)), f.count(ROW), f.count_distinct(ROW)).first()
            digest = None if self.original is None else digest_of(self.original)
            staged.remove()
            run = {"seed": self.seed, "digest": digest, "rows": self.original_rows}
            (secret / "run.json").write_text(run)
            (aside / "statement.json").write_text(published_statement(statement))
            if check is not None:
                check(aside)
        rows, of_original, different = counts or (0, 0, 0)
        return {"public": rows, "deleted": self.original_rows - different, "inserted": rows - of_original}


def with_row_text(records: ClusterRecords) -> DataFrame:
    """Return the cells and :data:`ROW` with every row's text beside them."""
    schema, types = records.schema, records.types
    cells = frame_types(schema, types)
    return map_blocks(
        records.frame.select(*cells),
        lambda block: block.with_columns(as_records(block, schema, types).lines().alias(LINE)),
        cells | {LINE: pl.String()},
    )


def digest_of(records: ClusterRecords) -> str:
    """Return the digest of the rows, whatever their order: what :class:`~noren.data.release.RowDigest` tells."""
    lanes = [f"l{at}" for at in range(LANES)]
    schema, types = records.schema, records.types

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        part = RowDigest.of(as_records(block, schema, types).lines())
        # halves of 32 bits: their sums over many blocks fit into signed numbers
        halves = [int(lane) >> shift & 0xFFFFFFFF for lane in part.lanes for shift in (0, 32)]
        return pl.DataFrame([[part.rows], *([half] for half in halves)], schema=list(into), orient="col")

    into = {"rows": pl.Int64()} | {f"{lane}_{half}": pl.Int64() for lane in lanes for half in ("low", "high")}
    sums = map_blocks(records.frame, kernel, into).agg(*(f.sum(name).alias(name) for name in into)).first()
    if sums is None or sums["rows"] is None:
        return RowDigest().text(schema.names)
    values = [(int(sums[f"{lane}_low"]) + (int(sums[f"{lane}_high"]) << 32)) % 2**64 for lane in lanes]
    return RowDigest(int(sums["rows"]), np.array(values, dtype=np.uint64)).text(schema.names)


def load_public(session: SparkSession, folder: str | Path) -> tuple[ClusterRecords, Statement]:
    """Read the public part of a release folder, its rows numbered as they stand there, and its statement."""
    place = ClusterPath(session, folder)
    statement_fields = json.loads((place / "statement.json").read_text() or "null")
    # the schema lies beside the parts, or in the file's own notes
    text = (place / "public.parquet" / SCHEMA_FILE).read_text()
    if text is None and is_local(place.address):
        path = local_path(place.address) / "public.parquet"
        text = schema_in(path) if path.is_file() else None
    if statement_fields is None or text is None:
        raise FileError(_("this is not a release; name a folder that noren protect wrote"), file=str(folder))
    schema = Schema.from_toml(text, file=str(folder))
    raw, rows = numbered(session, (place / "public.parquet").address)
    kinds = {column.name: raw.schema[column.name].dataType.typeName() for column in schema.columns}
    types = {
        c.name: {"array": pl.List(pl.String), "struct": generalised_dtype(c)}.get(kinds[c.name], c.dtype)
        for c in schema.columns
    }
    cells = raw.select(*(raw[f"`{name}`"].alias(f"c{at}") for at, name in enumerate(schema.names)), ROW)
    known = ("method", "parameters", "promise", "noren", "notes")
    statement = Statement(**{key: statement_fields[key] for key in known if key in statement_fields})
    return ClusterRecords(cells, schema, rows, types), statement


def load_release(session: SparkSession, folder: str | Path) -> ClusterRelease:
    """Read a release folder, of a cluster or of one machine; a published one has no secret."""
    place = ClusterPath(session, folder)
    public, statement = load_public(session, folder)
    run = json.loads((place / "secret" / "run.json").read_text() or "null")
    if run is None:
        return ClusterRelease(None, public.with_frame(public.frame.withColumn(PLACE, f.col(ROW))), None, statement)
    origin, _count = numbered(session, (place / "secret" / "origin.parquet").address)
    behind = origin.select(f.col(ROW).alias(PLACE), f.col("row").cast("long").alias("origin"))
    joined = public.frame.join(behind, f.col(ROW) == f.col(PLACE))
    public = public.with_frame(joined.drop(ROW).withColumnRenamed("origin", ROW))
    pseudonyms = (place / "secret" / "pseudonyms.parquet").read()
    return ClusterRelease(None, public, pseudonyms, statement, run.get("seed"), int(run["rows"]))


# --- what an attack found, and what a measure looks at there ---------------------------------------------------------


_COLUMNS = ("pseudonym", "customer", "score", "rank", "period")


@dataclass(frozen=True)
class ClusterGuess:
    """Who an attacker thinks is behind each pseudonym: ``pseudonym``, ``customer``, ``score``, perhaps ``rank``,
    ``period``; see :class:`noren.protocols.Guess`.

    ``ties`` names the columns that order pairs of one rank and score as one machine orders them; those that are no part
    of a guess are left out where it is written.
    """

    attack: str
    pairs: DataFrame
    notes: Mapping[str, Any] = field(default_factory=dict)
    ties: tuple[str, ...] = ()

    def in_order(self) -> DataFrame:
        """Return the pairs in the order of one machine, the surest first."""
        there = self.pairs.columns
        order = [f.col("rank")] if "rank" in there else []
        order += [f.desc("score")] if "score" in there else []
        columns = [name for name in _COLUMNS if name in there]
        return self.pairs.orderBy(*order, *self.ties).select(*columns)


@dataclass(frozen=True)
class ClusterEvidence:
    """What a measure may look at on a cluster."""

    original: ClusterRecords
    release: ClusterRelease
    guesses: Mapping[str, ClusterGuess] = field(default_factory=dict)

    def histories(self) -> tuple[ClusterRecords, ClusterRecords]:
        """Return the original and the public rows, both of which must be histories."""
        if self.original.schema.kind != Kind.HISTORY:
            raise SchemaError(_("the original is a table; this measure judges purchase histories"))
        if self.release.public.schema.kind != Kind.HISTORY:
            raise SchemaError(_("the release is a table; this measure judges purchase histories"))
        return self.original, self.release.public


# --- the original and a release side by side: what attacks and measures look at --------------------------------------


Keep = Callable[["DataFrame"], "DataFrame"]
IS_PUBLIC = "noren_is_public"
"""Whether a row of :func:`both_sides` has a public one."""


def both_sides(evidence: ClusterEvidence) -> DataFrame:
    """Return every original row beside the public row that stands for it.

    Columns are those of the original (``c0``, …), those of the release (``p0``, …), null where the row was deleted, and
    :data:`IS_PUBLIC`. Inserted rows are left out.
    """
    original, public = evidence.histories()
    known = [f"c{at}" for at in range(len(original.schema.names))]
    public_cells = [f.col(f"c{at}").alias(f"p{at}") for at in range(len(public.schema.names))]
    released = public.frame.filter(f.col(ROW).isNotNull()).select(
        *public_cells, f.col(ROW).alias("noren_origin"), f.lit(True).alias(IS_PUBLIC)
    )
    joined = original.frame.select(*known, ROW).join(released, f.col(ROW) == f.col("noren_origin"), "left")
    return joined.drop("noren_origin")


def in_release_order(public: ClusterRecords) -> ClusterRecords:
    """Return public rows with :data:`~noren.execution.frames.PLACE` beside them, what they are ordered by.

    That is where they stand in the files, or, of a release that is not written yet, their text: it is written in that
    order.
    """
    if PLACE in public.frame.columns:
        return public
    return public.with_frame(with_row_text(public).withColumnRenamed(LINE, PLACE))


def place_type(public: ClusterRecords) -> pl.DataType:
    """Return the type of :data:`~noren.execution.frames.PLACE`: a number, or a text."""
    return pl.String() if dict(public.frame.dtypes)[PLACE] == "string" else pl.Int64()


@contextmanager
def persisting() -> Iterator[Keep]:
    """Yield a function that keeps a frame on the workers' disks until the block ends."""
    held: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        held.append(frame)
        return persisted(frame)

    try:
        yield keep
    finally:
        for frame in held:
            frame.unpersist()
