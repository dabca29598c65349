"""Data sets that a release may stand for, drawn uniformly (S0 §6.3.1).

A release says intervals, sets and nothing; an analyst wants plain rows. So draw them: a date, price or quantity
uniformly from the grid of its interval, an item uniformly from its set. A suppressed date, price or quantity is drawn
from all between the least and the greatest of the original, a suppressed item from all items of the original; a deleted
row stays deleted. A blank cell of exact values, in a column where the original has blanks, stays blank: nothing was
suppressed there. What an analysis gives on such draws, and how much it moves between them, is what the release is
good for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from noren.data.arrays import MICROSECONDS_PER_DAY, exact_values, numbers
from noren.data.cells import cell_ends, is_generalised, is_set, lift
from noren.data.formats.files import writing_file
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import from_grid, from_sets, uniforms_at
from noren.progress import Progress, silent
from noren.tables import Texts

say = Texts(__name__)

_BLOCK_ROWS = 1 << 20
_Categories = Mapping[str, Sequence[str]]
_Drawer = Callable[[slice, Real], pl.Series]
"""Draws a column's values at some rows, from a uniform number for each."""


class Draws:
    """The data sets that the public part of a release may stand for.

    Suppressed cells are drawn from the ranges and items of the ``original``. Draw i depends on the seed and on i alone,
    whatever the number of draws. Where a release speaks of ``categories``, a set of them stands for all their items,
    each equally likely. ``places`` are where the rows stand in the whole public part, if they are some of its rows:
    they are drawn as they are there. ``only`` are the roles of the columns to draw, all that are measured by default.

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
        categories: _Categories | None = None,
        places: Whole | None = None,
        only: Collection[Role] | None = None,
    ) -> None:
        self.public = public
        self.places = places
        self.seed = seed
        self._columns: dict[int, _Drawer] = {}
        for stream, column in enumerate(original.measured()):
            if only is not None and column.role not in only:
                continue
            values, cells = exact_values(original, column), public.frame[column.name]
            # empty cells are blank as the original's are, if it has any, rather than suppressed
            keeps_blanks = bool(values.null_count()) and not is_generalised(cells.dtype)
            if column.scale == Scale.NOMINAL:
                known = categories if column.role == Role.ITEM else None
                self._columns[stream] = _from_choices(values, cells, column, known, keeps_blanks=keeps_blanks)
            else:
                self._columns[stream] = _from_intervals(values, cells, column, keeps_blanks=keeps_blanks)

    def __getitem__(self, draw: int) -> History:
        """Return draw number ``draw``, counted from 0: the public rows with exact values."""
        exact = []
        for stream, column in self._columns.items():
            blocks = []  # some rows after another: what is made on the way takes several times a column's memory
            for start in range(0, max(len(self.public), 1), _BLOCK_ROWS):
                stop = min(start + _BLOCK_ROWS, len(self.public))
                places = np.arange(start, stop) if self.places is None else self.places[start:stop]
                uniform = uniforms_at(places, seed=self.seed, draw=draw, stream=stream)
                blocks.append(column(slice(start, stop), uniform))
            exact.append(pl.concat(blocks))
        return replace(self.public, frame=self.public.frame.with_columns(exact), spelling=Spelling())

    def first(self, count: int) -> Iterator[History]:
        """Return the first ``count`` draws, one at a time."""
        if count < 1:
            raise ParameterError.out_of_range("draws", count, "draws >= 1")
        return (self[draw] for draw in range(count))


class DataSets(Protocol):
    """Data sets that a release may stand for."""

    def first(self, count: int) -> Iterator[History]:
        """Return the first ``count``."""


def write_draws(draws: DataSets, count: int, path: str | Path, *, progress: Progress = silent) -> Path:
    """Write the first ``count`` draws to one Parquet file, a row group each, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise ParameterError(say("parquet_only", count=count), file=path)
    with writing_file(path) as aside, ExitStack() as stack:
        writer: pq.ParquetWriter | None = None
        for i, draw in enumerate(draws.first(count)):
            progress(i / count, _("draw {number} of {count}").format(number=i + 1, count=count))
            if "draw" in draw.frame.columns:
                raise SchemaError(say("draw_column_exists", name="draw"), column="draw")
            number = pl.lit(i, dtype=pl.UInt32).alias("draw")
            table = draw.frame.select(number, *draw.schema.names).to_arrow()
            writer = writer or stack.enter_context(pq.ParquetWriter(aside, table.schema, compression="zstd"))
            writer.write_table(table)
    return path


def _from_intervals(values: pl.Series, cells: pl.Series, column: Column, *, keeps_blanks: bool) -> _Drawer:
    """Return what draws a column of numbers or dates."""
    ends, known = cell_ends(cells), numbers(values.drop_nulls())
    # an original without any value leaves suppressed cells empty: there is nothing to draw from
    span = (known.min(), known.max()) if len(known) else (np.nan, np.nan)

    def draw(rows: slice, uniform: Real) -> pl.Series:
        suppressed = cells[rows].is_null().to_numpy() & (not keeps_blanks)
        lo, hi = (np.where(suppressed, bound, numbers(end[rows])) for end, bound in zip(ends, span, strict=True))
        return typed_values(from_grid(lo, hi, column.grid, uniform), column)

    return draw


def typed_values(drawn: Real, column: Column) -> pl.Series:
    """Return numbers as values of a column: the inverse of :func:`noren.data.arrays.numbers`."""
    values = pl.Series(column.name, drawn, nan_to_null=True)
    if isinstance(column.dtype, pl.Datetime):
        return (values * MICROSECONDS_PER_DAY).round().cast(pl.Int64).cast(pl.Datetime("us")).cast(column.dtype)
    if column.dtype == pl.Date:
        return values.round().cast(pl.Int32).cast(pl.Date)
    return (values.round() if column.dtype.is_integer() else values).cast(column.dtype)


def _from_choices(
    values: pl.Series, cells: pl.Series, column: Column, categories: _Categories | None, *, keeps_blanks: bool
) -> _Drawer:
    """Return what draws a column of names: one of the set, of the set's categories, or of all there are."""
    everything = values.drop_nulls().unique().cast(pl.String).sort()
    listed = lift(cells.cast(pl.String), column) if not is_set(cells.dtype) else cells
    elements = listed.drop_nulls().explode(empty_as_null=False).unique().cast(pl.String).sort()
    numbered = listed.cast(pl.List(pl.Enum(elements)))
    # All items that can be drawn on one shelf. An element is an item, which stands for itself, or a category, which
    # stands for its items; starts and lengths tell where. The original's items come last, all of them.
    runs = [list((categories or {}).get(element, [element])) for element in elements]
    lengths = np.array([len(run) for run in runs], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    shelf = pl.concat([pl.Series([item for run in runs for item in run], dtype=pl.String), everything])
    name = cells.name

    def draw(rows: slice, uniform: Real) -> pl.Series:
        some = numbered[rows]
        sizes = some.list.len().fill_null(0).cast(pl.Int64).to_numpy()
        listed = some.drop_nulls().explode(empty_as_null=False).to_physical().to_numpy()
        # elements: those the cells say, row by row, and behind them one that stands for all items, for suppressed cells
        stop = np.cumsum(sizes)
        start = stop - sizes
        suppressed = sizes == 0
        if not len(everything) and suppressed.any():
            return pl.Series(name, [None] * len(suppressed), dtype=pl.String)
        start[suppressed], stop[suppressed] = len(listed), len(listed) + 1
        element, value = from_sets(start, stop, np.append(lengths[listed], len(everything)), uniform)
        places = np.append(starts[listed], len(shelf) - len(everything))
        chosen = shelf.gather(places[element] + value).alias(name)
        return chosen.set(cells[rows].is_null(), None) if keeps_blanks else chosen

    return draw
