"""Data sets that a release may stand for, drawn uniformly (S0 §6.3.1).

A release says intervals, sets and nothing; an analyst wants plain rows. So draw them: a date, price or quantity
uniformly from the grid of its interval, an item uniformly from its set. A suppressed date, price or quantity is drawn
from all between the least and the greatest of the original, a suppressed item from all items of the original; a deleted
row stays deleted. A blank cell of exact values, in a column where the original has blanks, stays blank: nothing was
suppressed there. What an analysis gives on such draws, and how much it moves between them, is what the release is
good for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from noren.data.arrays import exact_values, numbers
from noren.data.cells import is_generalised, is_interval, is_set
from noren.data.formats.files import writing_file
from noren.data.formats.spelling import Spelling
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.draws import from_grid, from_sets
from noren.kernels.philox import uniforms_at
from noren.progress import Progress, silent

__all__ = ["Draws", "drawn", "write_draws"]

_MICROSECONDS_PER_DAY = 86_400_000_000


class Draws:
    """The data sets that the public part of a release may stand for.

    Parameters
    ----------
    original
        What was protected; it gives the ranges and the items that suppressed cells are drawn from.
    public
        The public part of the release: rows in any order, deleted ones absent.
    seed
        Draw i depends on the seed and on i alone, whatever the number of draws.
    categories
        The items of each category, where the release speaks of categories: a set of categories stands for all their
        items, each equally likely.
    places
        Where the rows stand in the whole public part, if they are some of its rows: they are drawn as they are there.

    Examples
    --------
    >>> from noren.data.schema import Schema
    >>> schema = Schema.preset("pwscup2018")
    >>> rows = {"customer": ["1", "2"], "date": ["2010/12/1", "2010/12/3"], "item": ["a", "b"], "price": [1.0, 2.0],
    ...         "quantity": [1, 5]}
    >>> original = History.of(rows, schema)
    >>> price = pl.Series("price", [{"lo": 1.0, "hi": 1.01}, {"lo": 2.0, "hi": 2.0}])
    >>> public = History(original.frame.with_columns(price, pl.lit(None, pl.Int64).alias("quantity")), schema)
    >>> for draw in Draws(original, public, seed=1).first(2):
    ...     print(*draw.lines(), sep="  ")
    1,2010/12/1,a,1,1  2,2010/12/3,b,2,4
    1,2010/12/1,a,1,2  2,2010/12/3,b,2,1
    """

    def __init__(
        self,
        original: History,
        public: History,
        *,
        seed: int,
        categories: Mapping[str, Sequence[str]] | None = None,
        places: Whole | None = None,
    ) -> None:
        self.public = public
        self.places = np.arange(len(public)) if places is None else places
        self.seed = seed
        self._columns: list[Callable[[Real], pl.Series]] = []
        for column in original.measured():
            values, cells = exact_values(original, column), public.frame[column.name]
            if column.scale == Scale.NOMINAL:
                known = categories if column.role == Role.ITEM else None
                self._columns.append(_from_choices(values, cells, known))
            else:
                self._columns.append(_from_intervals(values, cells, column))

    def __getitem__(self, draw: int) -> History:
        """Return draw number ``draw``, counted from 0: the public rows with exact values."""
        exact = [
            column(uniforms_at(self.places, seed=self.seed, draw=draw, stream=stream))
            for stream, column in enumerate(self._columns)
        ]
        return replace(self.public, frame=self.public.frame.with_columns(exact), spelling=Spelling())

    def first(self, count: int) -> Iterator[History]:
        """Return the first ``count`` draws, one at a time."""
        if count < 1:
            raise ParameterError(_("{count} draws say nothing").format(count=count), _("make at least 1"))
        return (self[draw] for draw in range(count))


def drawn(draws: Draws, count: int) -> pl.DataFrame:
    """Return the first ``count`` draws in one frame, with the number of the draw as its column ``draw``."""
    return pl.concat(_numbered(draw, i) for i, draw in enumerate(draws.first(count)))


def write_draws(draws: Draws, count: int, path: str | Path, *, progress: Progress = silent) -> Path:
    """Write the first ``count`` draws to one Parquet file, a row group each, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise ParameterError(
            _("{count:,} draws are written as Parquet").format(count=count),
            _("let the name end in .parquet"),
            file=path,
        )
    with writing_file(path) as aside:
        writer: pq.ParquetWriter | None = None
        try:
            for i, draw in enumerate(draws.first(count)):
                progress(i / count, _("draw {number} of {count}").format(number=i + 1, count=count))
                table = _numbered(draw, i).to_arrow()
                if writer is None:
                    writer = pq.ParquetWriter(aside, table.schema, compression="zstd")
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
    return path


def _numbered(draw: History, number: int) -> pl.DataFrame:
    if "draw" in draw.frame.columns:
        raise SchemaError(_("a column is called draw already"), _("give it another name"), column="draw")
    return draw.frame.select(pl.lit(number, dtype=pl.UInt32).alias("draw"), *draw.schema.names)


def _from_intervals(values: pl.Series, cells: pl.Series, column: Column) -> Callable[[Real], pl.Series]:
    """Return what draws a column of numbers or dates."""
    ends = [cells.struct.field(end) for end in ("lo", "hi")] if is_interval(cells.dtype) else [cells, cells]
    known = numbers(values.drop_nulls())
    # an original without any value leaves suppressed cells empty: there is nothing to draw from
    span = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
    suppressed = cells.is_null().to_numpy() & ~_blank(values, cells)
    lo, hi = (np.where(suppressed, bound, numbers(end)) for end, bound in zip(ends, span, strict=True))

    def draw(uniform: Real) -> pl.Series:
        return _typed(from_grid(lo, hi, column.grid, uniform), column)

    return draw


def _blank(values: pl.Series, cells: pl.Series) -> NDArray[np.bool_]:
    """Return which cells are blank as the original's are, rather than suppressed."""
    if is_generalised(cells.dtype) or not values.null_count():
        return np.zeros(len(cells), dtype=np.bool_)
    return cells.is_null().to_numpy()


def _typed(values: Real, column: Column) -> pl.Series:
    """Return drawn numbers in the column's own type; the inverse of :func:`noren.data.arrays.numbers`."""
    said = pl.Series(column.name, values, nan_to_null=True)
    if isinstance(column.dtype, pl.Datetime):
        return (said * _MICROSECONDS_PER_DAY).round().cast(pl.Int64).cast(pl.Datetime("us")).cast(column.dtype)
    if column.dtype == pl.Date:
        return said.round().cast(pl.Int32).cast(pl.Date)
    return said.round().cast(column.dtype) if column.dtype.is_integer() else said.cast(column.dtype)


def _from_choices(
    values: pl.Series, cells: pl.Series, categories: Mapping[str, Sequence[str]] | None
) -> Callable[[Real], pl.Series]:
    """Return what draws a column of names: one of the set, of the set's categories, or of all there are."""
    everything = values.drop_nulls().unique().cast(pl.String).sort()
    listed = cells.cast(pl.List(pl.String)) if is_set(cells.dtype) else _alone(cells)
    sizes = listed.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    said = listed.filter(pl.Series(sizes > 0)).explode()
    # elements: those the cells say, row by row, and behind them one that stands for all items, for suppressed cells
    stop = np.cumsum(sizes)
    start = stop - sizes
    suppressed = sizes == 0
    start[suppressed], stop[suppressed] = len(said), len(said) + 1
    groups = {c: list(items) for c, items in (categories or {}).items()}
    shelf, first = _shelf(said, groups, everything)
    weight = np.append(first[1], len(everything))
    places = np.append(first[0], len(shelf) - len(everything))
    name, blank = cells.name, pl.Series(_blank(values, cells))

    def draw(uniform: Real) -> pl.Series:
        if not len(everything) and suppressed.any():
            return pl.Series(name, [None] * len(suppressed), dtype=pl.String)
        element, value = from_sets(start, stop, weight, uniform)
        chosen = shelf.gather(places[element] + value).alias(name)
        return chosen.set(blank, None) if blank.any() else chosen

    return draw


def _alone(cells: pl.Series) -> pl.Series:
    one = pl.concat_list(pl.col(cells.name).cast(pl.String))
    return cells.to_frame().select(pl.when(pl.col(cells.name).is_not_null()).then(one))[cells.name]


def _shelf(
    said: pl.Series, groups: Mapping[str, Sequence[str]], everything: pl.Series
) -> tuple[pl.Series, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Lay out all items that can be drawn, and say where each element's items start and how many they are.

    An element is an item, which stands for itself, or a category, which stands for its items. The original's items
    come last, all of them.
    """
    elements = said.unique().sort()
    runs = [list(groups.get(e, [e])) for e in elements.to_list()]
    lengths = np.array([len(run) for run in runs], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    shelf = pl.concat([pl.Series([item for run in runs for item in run], dtype=pl.String), everything])
    place = pl.DataFrame({"said": elements, "start": starts, "length": lengths})
    found = said.to_frame("said").join(place, on="said", how="left", maintain_order="left")
    return shelf, (found["start"].to_numpy(), found["length"].to_numpy())
