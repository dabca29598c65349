"""Retention over files of any size: block by block, in memory that does not grow with the rows.

Row i is perturbed by the i-th numbers of counting generators, so the answer is the same for blocks of any size and on
any number of cores. Perturbed rows must not stand in the original's order, which would tell whose they are. They are
therefore sorted by their own values: counted, where the cross tabulation fits memory, else sorted in pieces on disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.formats.files import writing_folder
from noren.data.formats.parquet import parquet_blocks
from noren.data.formats.source import Source, readable
from noren.data.frames import Table
from noren.data.guessing.people import PeopleSeen
from noren.data.public_part import published_schema, published_statement, scanned
from noren.data.reading import read_blocks, settled
from noren.data.release import RELEASE
from noren.data.schema import Kind, Schema
from noren.data.statement import Statement
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.arrays import Whole
from noren.methods.retention import Retention
from noren.progress import Progress, silent
from noren.retention.perturbation import LARGEST_TABLE, Perturbation

_PIECES = 256
_ROWS_AT_ONCE = 1 << 18


def protect_file(
    source: str | Path,
    target: str | Path,
    method: Retention,
    schema: Schema,
    *,
    seed: int,
    replace: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Statement:
    """Perturb a file into a published release: the public part and the statement; no secret part is kept.

    The file is read twice, first to count its rows, on which ρ depends. The released rows are those that
    :meth:`Retention.protect` releases under the same seed.
    """
    if schema.kind != Kind.TABLE:
        raise SchemaError(_("the data are a history"), _("retention protects tables"))
    if method.domains == "data":
        raise ParameterError(_("a stream cannot take domains from the data"), _("declare the domains in the schema"))
    method.released_names(schema)  # a question is asked before the rows are counted
    file = Source.open(readable(source))
    schema = settled(file, schema)
    known = schema.model_copy(update={"guessed": False})  # what holds for every row needs no second look
    people = PeopleSeen(schema)
    rows = _rows(file, known, progress, people)
    people.stop_at_repeated_people()
    plan = method.plan(schema, rows)
    if plan.cells >= 1 << 62:
        raise ParameterError(_("the attributes have too many values together"), _("choose fewer attributes"))
    needed = schema.without([name for name in schema.names if name not in plan.names])
    some = next(iter(read_blocks(file, known)))
    statement = scanned(Table(some.select(needed.names), needed), method.statement(plan, rows))

    def kernel(numbered: tuple[int, pl.DataFrame]) -> Whole:
        first, block = numbered
        codes = plan.perturbed(plan.codes(block, first + 1), seed=seed, first=first)
        return np.ravel_multi_index(tuple(codes), plan.sizes).astype(np.int64)

    def keys() -> Iterator[Whole]:
        done = 0
        for found in map_blocks(kernel, _numbered(read_blocks(file, known), needed.names), workers=workers):
            done += len(found)
            progress(0.1 + 0.8 * done / rows, _("perturbing"))
            yield found

    with writing_folder(target, replace=replace and RELEASE) as aside, TemporaryDirectory(dir=aside) as scratch:
        ordered = _counted(keys(), plan) if plan.cells <= LARGEST_TABLE else _sorted(keys(), plan, Path(scratch))
        released = published_schema(plan.released_schema(schema), statement)
        empty = pl.DataFrame(schema={c.name: c.dtype for c in released.columns}).to_arrow().schema
        told = empty.with_metadata({b"noren.schema": released.to_toml().encode()})
        with pq.ParquetWriter(aside / "public.parquet", told, compression="zstd") as writer:
            for found in ordered:
                codes = [np.asarray(c, dtype=np.int64) for c in np.unravel_index(found, plan.sizes)]
                block: pa.Table = plan.frame(codes).to_arrow().cast(empty)
                writer.write_table(block.replace_schema_metadata(told.metadata))
        said = json.dumps(published_statement(statement), ensure_ascii=False, indent=2, sort_keys=True)
        (aside / "statement.json").write_text(said + "\n", encoding="utf-8")
    return statement


def _rows(source: Source, schema: Schema, progress: Progress, people: PeopleSeen) -> int:
    """Count the rows, and the people that they say they are about."""
    progress(0.0, _("counting rows"))
    if source.kind == "parquet":
        if people.names and set(schema.names) <= set(pq.read_schema(source.path).names):
            for block in parquet_blocks(source, columns=people.names):
                people.add(block)
        return int(pq.ParquetFile(source.path).metadata.num_rows)
    rows = 0
    for block in read_blocks(source, schema):
        people.add(block)
        rows += len(block)
    return rows


def _numbered(blocks: Iterable[pl.DataFrame], names: Iterable[str]) -> Iterator[tuple[int, pl.DataFrame]]:
    first, kept = 0, list(names)
    for block in blocks:
        yield first, block.select(kept)
        first += len(block)


def _counted(keys: Iterable[Whole], plan: Perturbation) -> Iterator[Whole]:
    """Yield all keys in order, from how often each occurs."""
    counts = np.zeros(plan.cells, dtype=np.int64)
    for found in keys:
        counts += np.bincount(found, minlength=plan.cells)
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), _ROWS_AT_ONCE):
        places = np.arange(start, min(start + _ROWS_AT_ONCE, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right")


def _sorted(keys: Iterable[Whole], plan: Perturbation, scratch: Path) -> Iterator[Whole]:
    """Yield all keys in order: put aside by their range, then each range sorted by itself."""
    width = -(-plan.cells // _PIECES)
    paths = [scratch / f"{piece}" for piece in range(_PIECES)]
    for found in keys:
        ordered = np.sort(found)
        cuts = np.searchsorted(ordered, width * np.arange(1, _PIECES))
        for path, part in zip(paths, np.split(ordered, cuts), strict=True):
            if len(part):
                with path.open("ab") as file:
                    file.write(part.tobytes())
    for path in paths:
        if path.exists():
            ordered = np.sort(np.fromfile(path, dtype=np.int64))
            path.unlink()
            yield from np.array_split(ordered, max(1, len(ordered) // _ROWS_AT_ONCE))
