"""Customers made alike at the least error, block by block, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from noren.data.arrays import must_be_exact
from noren.data.schema import Column, Role
from noren.errors import ParameterError
from noren.execution.edits import behind, nobodys_rows, renamed
from noren.execution.frames import ROW, ClusterRecords, map_groups, polars_of
from noren.execution.methods.generalize_by_count import alike, in_words
from noren.execution.names import CODE, CUSTOMER, customers_of, named
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.sides import rowless
from noren.execution.values import as_number, small_frame
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.judging.cell_error import counted_median, counted_sd
from noren.kernels.sharing.alignment import FEATURES, LaidRows, customer_features, laid_rows
from noren.kernels.sharing.pairing import in_turn
from noren.kernels.sharing.shared_histories import Found
from noren.methods.alike import stop_if_too_few, suppressed_columns
from noren.methods.generalize import NO_ITEM, Generalize
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["protect"]

_ROWS_OF_A_PART = 200_000
_BLOCK, _SEAT, _NUMBER, _ITEM = "noren_block", "noren_seat", "noren_number", "noren_item"
_TOLD = {
    "cost": pl.Float64(),
    "inside": pl.Int64(),
    "bound": pl.Float64(),
    "proved": pl.Boolean(),
    "anything": pl.Float64(),
}


class _Units(NamedTuple):
    """What values of the ordered columns are counted in: the middle, the deviation and the grid of whole columns."""

    origins: list[float]
    sds: list[float]
    widths: list[float]

    def laid(self, rows: pl.DataFrame, by: str) -> LaidRows:
        """Return rows, sorted by customer and place, for the search."""
        counts = rows.group_by(by, maintain_order=True).len()["len"].to_numpy()
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns = [_known(rows[f"n{at}"]) for at in range(len(self.sds))]
        item = np.full(len(rows), NO_ITEM)
        if _ITEM in rows.columns:
            item = rows[_ITEM].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        return laid_rows(start, columns, self.sds, self.widths, item, self.origins)


def _known(values: pl.Series) -> Real:
    return values.fill_null(float("nan")).to_numpy()


@plan(
    Generalize,
    driver=N_(
        "five numbers for each customer, to choose who is searched with whom; every different date, price and quantity"
        " with its count; four numbers for each block. A worker holds the rows of one block at a time"
    ),
)
def protect(method: Generalize, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Search blocks of customers on the workers, each as one machine searches it."""
    from pyspark import StorageLevel

    _stop_at_what_one_machine_does(method)
    progress(0.0, _("laying histories side by side"))
    nothing = rowless(original)
    measured = nothing.measured()
    must_be_exact(nothing, measured)
    ordered, nominal = method.searched_columns(measured)
    customers, count = customers_of(original)
    stop_if_too_few(method.k or 2, count)
    words, meaning = in_words(original, method.categories)
    units = _units(original, ordered)
    rows = _rows(words, customers, ordered, nominal)
    features = _features(rows, units, original.rows)
    method.stop_if_too_long(features[:, 0].astype(np.int64))
    blocks = method.blocks(features)
    progress(0.1, _("comparing histories"))
    found = _searched(method, rows, blocks, units, seed).persist(StorageLevel.DISK_ONLY)
    told = sorted(found.filter(f"{ROW} IS NULL").select(_BLOCK, *_TOLD).collect())
    groups = [Found([], row["cost"], row["bound"], row["proved"], 0, row["anything"]) for row in told]
    progress(0.9, _("generalising rows"))
    names = named(customers, count, seed)
    kept = found.filter(f"{ROW} IS NOT NULL").select(ROW, _BLOCK, _NUMBER)
    laid = renamed(words, names).frame.join(kept, ROW)
    public = alike(original, words, laid, [_BLOCK, _NUMBER], suppress_cells=method.suppress_cells)
    alone = count - sum(row["inside"] for row in told)
    notes = meaning | method.notes_of(groups, *_cells(original, list(measured)), alone=alone)
    notes |= suppressed_columns(nothing) | nobodys_rows(original)
    return ClusterRelease(original, public, behind(names, public), method.statement(notes), seed, original.rows)


def _stop_at_what_one_machine_does(method: Generalize) -> None:
    """Stop where blocks depend on one another or on the clock, or all are bounded from below."""
    asked = {
        "survival": method.survival is not None,
        "lower_bound": method.lower_bound != "none",
        "effort": not isinstance(method.effort, str),
    }
    names = [name for name, wanted in asked.items() if wanted]
    if names:
        raise ParameterError(
            _("generalize does not run on a cluster with {names}").format(names=", ".join(names)),
            _("use --engine local, or k and an effort in words alone"),
        )


def _units(original: ClusterRecords, ordered: list[Column]) -> _Units:
    """Return the units of whole columns, from how often each value is there."""
    from pyspark.sql import functions as f

    owned = original.column(Role.CUSTOMER).isNotNull()
    values = [f.struct(f.lit(at).alias("at"), as_number(original, c).alias("value")) for at, c in enumerate(ordered)]
    if not values:
        return _Units([], [], [])
    cells = original.frame.select(owned.cast("long").alias("owned"), f.explode(f.array(*values)).alias("cell"))
    counts = cells.groupBy("cell.at", "cell.value").agg(f.count(f.lit(1)).alias("all"), f.sum("owned").alias("owned"))
    table = polars_of(counts.toArrow()).drop_nulls("value").sort("at", "value")
    of = [table.filter(pl.col("at") == at) for at in range(len(ordered))]
    value = [one["value"].to_numpy() for one in of]
    return _Units(
        [counted_median(v, one["owned"].to_numpy()) for v, one in zip(value, of, strict=True)],
        [counted_sd(v, one["all"].to_numpy()) for v, one in zip(value, of, strict=True)],
        [column.grid for column in ordered],
    )


def _rows(words: ClusterRecords, customers: DataFrame, ordered: list[Column], nominal: list[Column]) -> DataFrame:
    """Return what the search looks at: rows that somebody owns, their customers' numbers, values and items."""
    from pyspark.sql import functions as f

    known = customers.select(CUSTOMER, CODE)
    joined = words.frame.join(known, words.column(Role.CUSTOMER) == f.col(CUSTOMER))
    values = [as_number(words, column).alias(f"n{at}") for at, column in enumerate(ordered)]
    return joined.select(ROW, CODE, *values, *(words.column(column).alias(_ITEM) for column in nominal))


def _features(rows: DataFrame, units: _Units, count: int) -> Real:
    """Return the features of every customer, in the order of their numbers; customers are laid in parts."""
    from pyspark.sql import functions as f

    parts = max(count // _ROWS_OF_A_PART, 1)
    names = [f"f{at}" for at in range(FEATURES)]
    into = {CODE: pl.Int64()} | dict.fromkeys(names, pl.Float64())

    def kernel(part: pl.DataFrame) -> pl.DataFrame:
        part = part.sort(CODE, ROW)
        found = customer_features(units.laid(part, CODE))
        return pl.DataFrame(found, schema=names).with_columns(part[CODE].unique(maintain_order=True))

    spread = rows.withColumn("part", f.pmod(f.col(CODE), f.lit(parts)))
    told = polars_of(map_groups(spread, ["part"], kernel, into).toArrow()).sort(CODE)
    return told.select(names).to_numpy()


def _searched(method: Generalize, rows: DataFrame, blocks: list[Whole], units: _Units, seed: int) -> DataFrame:
    """Return the generalised row of every row that stays, and in a line without a row what each block costs."""
    sizes = np.array([len(block) for block in blocks])
    seats = pl.DataFrame(
        {
            CODE: np.concatenate(blocks).astype(np.int64),
            _BLOCK: np.repeat(np.arange(len(blocks)), sizes),
            _SEAT: np.concatenate([np.arange(size) for size in sizes]),
        }
    )
    into = {ROW: pl.Int64(), _BLOCK: pl.Int64(), _NUMBER: pl.Int64()} | _TOLD

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        block, at = block.sort(_SEAT, ROW), int(block[_BLOCK][0])
        laid = units.laid(block, _SEAT)
        found = method.search_block(laid, at, seed, spread=in_turn)
        number = np.full(len(block), -1, dtype=np.int64)
        first = 0
        for group in found.groups:
            table = method.kept(laid, group.table)
            number[table] = first + np.arange(table.shape[1])
            first += table.shape[1]
        kept = block.select(ROW, _BLOCK, pl.Series(_NUMBER, number)).filter(pl.col(_NUMBER) >= 0)
        inside = sum(len(group.members) for group in found.groups)
        told = pl.DataFrame(
            [[at], [found.cost], [inside], [found.bound], [found.proved], [found.anything]],
            schema={_BLOCK: pl.Int64(), **_TOLD},
        )
        return pl.concat([kept, told], how="diagonal")

    return map_groups(rows.join(small_frame(rows.sparkSession, seats), CODE), [_BLOCK], kernel, into)


def _cells(original: ClusterRecords, measured: list[Column]) -> tuple[int, float]:
    """Return how many cells count, and how many known ones are in rows that nobody owns."""
    from pyspark.sql import functions as f

    nobodys = original.frame.filter(original.column(Role.CUSTOMER).isNull())
    known = nobodys.agg(*(f.count(original.column(column)) for column in measured)).first() or ()
    return max(original.rows * len(measured), 1), float(sum(known))
