"""Generalised cells as typed columns.

A released cell says one value (*exact*), a range (*interval*), a choice (*set*) or nothing (*suppressed*). In memory:

======================  =====================================================================
column of values        ``x``
column of intervals     struct ``{lo, hi}`` of the value's own type; exact where ``lo == hi``
column of sets          list of codes into the column's domain; exact where it holds one
suppressed cell         null
deleted row             every cell null, the pseudonym too
======================  =====================================================================

The text forms ``[a;b]``, ``{a;b}`` and ``*`` exist in readers and writers alone.

:func:`different` tells the different cells of a column, and which of them each row has: a few bytes a row, and little
more on the way.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from noren.data.schema import Column, Scale

KINDS = pl.Enum(["exact", "interval", "set", "suppressed"])


def is_interval(dtype: pl.DataType) -> bool:
    """Tell whether a column holds intervals."""
    return isinstance(dtype, pl.Struct) and [f.name for f in dtype.fields] == ["lo", "hi"]


def is_set(dtype: pl.DataType) -> bool:
    """Tell whether a column holds sets."""
    return isinstance(dtype, pl.List)


def is_generalised(dtype: pl.DataType) -> bool:
    """Tell whether a column holds generalised cells."""
    return is_interval(dtype) or is_set(dtype)


def cell_ends(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the lower and the upper end of each cell; of exact values both are the value."""
    return (cells.struct.field("lo"), cells.struct.field("hi")) if is_interval(cells.dtype) else (cells, cells)


def set_dtype(domain: Iterable[str]) -> pl.List:
    """Return the type of a column of sets over ``domain`` (its values in a fixed order)."""
    return pl.List(pl.Enum(list(domain)))


def generalised_dtype(column: Column) -> pl.DataType:
    """Return the type that generalised cells of ``column`` have; sets over no domain yet."""
    if column.scale == Scale.NOMINAL:
        return set_dtype(())
    return pl.Struct({"lo": column.dtype, "hi": column.dtype})


def lift(values: pl.Series, column: Column) -> pl.Series:
    """Turn exact values into generalised cells that say the same.

    >>> lift(pl.Series("quantity", [3, None]), Column(name="quantity", role="quantity")).to_list()
    [{'lo': 3, 'hi': 3}, None]
    """
    if is_generalised(values.dtype):
        return values
    name = values.name
    if column.scale == Scale.NOMINAL:
        lifted = pl.concat_list(pl.col(name).cast(pl.Enum(sorted(values.drop_nulls().unique().to_list()))))
    else:
        lifted = pl.struct(lo=pl.col(name), hi=pl.col(name))
    return values.to_frame().select(pl.when(pl.col(name).is_not_null()).then(lifted).alias(name))[name]


def kind(cells: pl.Series) -> pl.Series:
    """Return what each cell is: exact, interval, set or suppressed."""
    name = cells.name
    cell = pl.col(name)
    if is_interval(cells.dtype):
        several, word = cell.struct.field("lo") != cell.struct.field("hi"), "interval"
    elif is_set(cells.dtype):
        several, word = cell.list.len() != 1, "set"
    else:
        several, word = pl.lit(value=False), "set"
    live = pl.when(several).then(pl.lit(word)).otherwise(pl.lit("exact"))
    kinds = pl.when(cell.is_null()).then(pl.lit("suppressed")).otherwise(live)
    return cells.to_frame().select(kinds.cast(KINDS).alias(name))[name]


def kind_counts(cells: pl.Series) -> dict[str, int]:
    """Return how many cells are of each kind.

    >>> kind_counts(pl.Series([[1, 2], [3], None], dtype=pl.List(pl.Int8)))
    {'exact': 1, 'interval': 0, 'set': 1, 'suppressed': 1}
    """
    return dict.fromkeys(KINDS.categories, 0) | dict(kind(cells).cast(pl.String).value_counts().iter_rows())


def median_extent(cells: pl.Series) -> float | None:
    """Return the median width of ranges (days of dates, minutes of times) or size of sets, of cells that are one.

    >>> median_extent(pl.Series([{"lo": 1, "hi": 4}, {"lo": 2, "hi": 2}, None]))
    3.0
    """
    extents = cells.list.len() if is_set(cells.dtype) else pl.Series(dtype=pl.Float64)
    if is_interval(cells.dtype):
        ends = cells.drop_nulls().struct.unnest()
        if ends["lo"].dtype == pl.Time:
            ends = ends.select(pl.all().dt.minute().cast(pl.Int64) + 60 * pl.all().dt.hour().cast(pl.Int64))
        extents = ends["hi"] - ends["lo"]
        if isinstance(extents.dtype, pl.Duration):
            extents = extents.dt.total_seconds() / 86_400
    median = extents.filter(extents > is_set(cells.dtype)).median()
    return float(median) if isinstance(median, int | float) else None


def contains(cells: pl.Series, values: pl.Series) -> pl.Series:
    """Tell, row by row, whether a cell allows a value; a suppressed cell allows every value."""
    both = pl.DataFrame({"cell": cells, "value": values})
    cell, value = pl.col("cell"), pl.col("value")
    if is_interval(cells.dtype):
        fits = (cell.struct.field("lo") <= value) & (value <= cell.struct.field("hi"))
    elif is_set(cells.dtype):
        fits = cell.cast(pl.List(pl.String)).list.contains(value)
    else:
        fits = cell == value
    return both.select((cell.is_null() | fits.fill_null(value=False)).alias(cells.name))[cells.name]


def in_texts(values: pl.Series) -> pl.Series:
    """Return texts that are numbered as texts, and other values as they are."""
    return values.cast(pl.String) if isinstance(values.dtype, pl.Enum | pl.Categorical) else values


def with_occurring_domain(values: pl.Series) -> pl.Series:
    """Return values whose type names only texts that some cell says; a domain would tell what was taken out.

    >>> with_occurring_domain(pl.Series([["a"]], dtype=set_dtype(["a", "b"]))).dtype.inner.categories.to_list()
    ['a']
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Enum | pl.Categorical):
        return in_texts(values)
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Enum | pl.Categorical):
        listed = values.drop_nulls().explode(empty_as_null=False)
        occurring = set_dtype(listed.unique().cast(pl.String).sort())
        return values if occurring == dtype else values.cast(pl.List(pl.String)).cast(occurring)
    return values


_BLOCK_ROWS = 1 << 20


def different(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the first row of each different cell, in the rows' order, and for each row which of these its cell is.

    A cell that says nothing is one of them.

    >>> rows, number = different(pl.Series(["b", None, "a", "b"]))
    >>> rows.to_list(), number.to_list()
    ([0, 1, 2], [0, 1, 2, 0])
    """
    if cells.dtype.is_integer() or cells.dtype.is_temporal() or isinstance(cells.dtype, pl.Enum | pl.Categorical):
        return _by_mark(cells.to_physical())
    # told apart by a hash, which takes less memory than cells do, and then compared with what it says
    rows, number = _by_mark(cells.hash())
    known = cells.gather(rows)
    for start in range(0, len(cells), _BLOCK_ROWS):
        block = cells[start : start + _BLOCK_ROWS]
        if not block.eq_missing(known.gather(number[start : start + _BLOCK_ROWS])).all():  # two cells have one hash
            numbered = pl.DataFrame({"cell": cells}).with_row_index("row")
            first = numbered.unique("cell", keep="first", maintain_order=True).with_row_index("number")
            joined = numbered.join(first.drop("row"), on="cell", how="left", maintain_order="left", nulls_equal=True)
            return first["row"], joined["number"]
    return rows, number


def _by_mark(marks: pl.Series) -> tuple[pl.Series, pl.Series]:
    rows = marks.arg_unique()
    known = marks.gather(rows).to_frame("mark").with_row_index("number")
    # block by block, for a join writes its rows anew; each time it reads all that is known
    step = _BLOCK_ROWS if len(known) < _BLOCK_ROWS else max(len(marks), 1)
    blocks = [marks[start : start + step].to_frame("mark") for start in range(0, max(len(marks), 1), step)]
    numbers = [b.join(known, on="mark", how="left", maintain_order="left", nulls_equal=True)["number"] for b in blocks]
    return rows, pl.concat(numbers)
