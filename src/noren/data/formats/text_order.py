"""The order of rows by their own text, without the text of every row.

A column has far fewer different cells than rows. Their texts are written once and numbered in order; a row is then a
few small numbers, and numbers take a tenth of the memory that lines take. Sorting by these numbers is sorting by the
line as long as no text of a column, with the delimiter after it, begins another one, as ``a,`` begins ``a,b,``.
That is looked at, and from such a column on the rest of the line is taken as one text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from noren.data.cells import is_interval, is_set
from noren.data.distinct import different
from noren.data.formats.render import cell_text, lines_of
from noren.data.formats.spelling import Spelling
from noren.data.schema import Column

__all__ = ["has_negative_zero", "order_by_text", "packed", "same_rows", "text_numbers"]

_DELIMITER = ","
_MOST = 1 << 62
"""Numbers of columns are put together in one as long as it is smaller."""


def order_by_text(
    frame: pl.DataFrame, columns: Sequence[Column], spelling: Spelling, suppressed: str = "*"
) -> pl.Series:
    """Return the places of rows, from 0, in the order of their comma-separated lines; equal ones as they stand.

    >>> prices = pl.DataFrame({"customer": ["b", "a", "a"], "price": [1.0, 10.0, 2.0]})
    >>> columns = [Column(name="customer"), Column(name="price", type="decimal")]
    >>> order_by_text(prices, columns, Spelling()).to_list()
    [1, 2, 0]
    """
    keys = pl.DataFrame(packed(_line_numbers(frame, columns, spelling, suppressed)))
    if not keys.width:
        return pl.int_range(len(frame), dtype=pl.UInt32, eager=True).alias("row")
    return keys.select(pl.arg_sort_by(keys.columns, maintain_order=True).cast(pl.UInt32).alias("row"))["row"]


def _line_numbers(
    frame: pl.DataFrame, columns: Sequence[Column], spelling: Spelling, suppressed: str
) -> Iterator[pl.Series]:
    """Yield for one column after another the place of each cell's text; where that does not do, of the line's rest."""
    for at, column in enumerate(columns):
        rest = columns[at:]
        cells = _as_spelled(frame, column, spelling, suppressed)
        number, texts = _numbered(cells, column, suppressed, _DELIMITER if len(rest) > 1 else "")
        if len(rest) > 1 and _begins_the_next(texts):
            texts_ = pl.DataFrame(_texts(_as_spelled(frame, c, spelling, suppressed), c, suppressed) for c in rest)
            yield _numbered(lines_of(texts_, _DELIMITER), Column(name="line"), suppressed, "")[0]
            return
        yield number


def _begins_the_next(texts: pl.Series) -> bool:
    """Tell whether one of sorted texts begins another: if so it begins the next one."""
    text = pl.col(texts.name)
    return bool(texts.to_frame().select(text.shift(-1).str.starts_with(text).any()).item())


def text_numbers(cells: pl.Series, column: Column, suppressed: str = "*") -> pl.Series:
    """Return a number for each cell, from 0: equal where canonical texts are, sets being written in order.

    >>> text_numbers(pl.Series(["b", None, "a", "b"]), Column(name="item")).to_list()
    [2, 0, 1, 2]
    """
    return _numbered(cells, column, suppressed, "", in_order=True)[0]


def same_rows(numbers: Sequence[pl.Series], rows: int) -> pl.Series:
    """Return a number ``row`` for each row: equal where all of ``numbers`` are.

    >>> same_rows([pl.Series([0, 1, 0, 0]), pl.Series([5, 5, 5, 6])], 4).n_unique()
    3
    """
    keys = pl.DataFrame(packed(numbers))
    if not keys.width:
        return pl.Series("row", [0], dtype=pl.UInt32).new_from_index(0, rows)
    known = keys.unique().with_row_index("row")
    return keys.join(known, on=keys.columns, how="left", maintain_order="left")["row"]


def packed(numbers: Iterable[pl.Series]) -> list[pl.Series]:
    """Return the fewest keys that are equal, and smaller, where the numbers from the first on are."""
    keys: list[pl.Series] = []
    size = _MOST
    for number in numbers:
        count = int(number.max() or 0) + 1  # type: ignore[arg-type]
        if count == 1:
            continue
        if size * count >= _MOST:
            keys.append(number.cast(pl.UInt64).alias(str(len(keys))))
            size = count
        else:
            keys[-1] = keys[-1] * count + number
            size *= count
    return keys


def _as_spelled(frame: pl.DataFrame, column: Column, spelling: Spelling, suppressed: str) -> pl.Series:
    """Return cells as they are, or their texts where the file spells some of them in its own way."""
    cells = frame[column.name]
    if column.name not in spelling.exceptions:
        return cells
    return spelling.apply(_texts(cells, column, suppressed).to_frame())[column.name]


def _texts(cells: pl.Series, column: Column, suppressed: str) -> pl.Series:
    if cells.dtype == pl.String:
        return cells.fill_null(suppressed)
    text = cell_text(pl.col(cells.name), column, cells.dtype).fill_null(suppressed)
    return cells.to_frame().select(text.alias(cells.name))[cells.name]


def _numbered(
    cells: pl.Series, column: Column, suppressed: str, end: str, *, in_order: bool = False
) -> tuple[pl.Series, pl.Series]:
    """Return the place of each cell's text among the texts there are, and these, each with ``end`` after it, sorted."""
    if has_negative_zero(cells):
        cells = _texts(cells, column, suppressed)
    rows, number = different(cells)
    known = cells.gather(rows)
    said = _sets_in_order(known) if in_order and is_set(known.dtype) else known
    text = _texts(said, column, suppressed) + end
    texts = text.unique().sort()
    if len(texts) == 1:
        return pl.Series([0], dtype=pl.UInt32).new_from_index(0, len(cells)), texts
    places = pl.DataFrame({"text": texts}).with_row_index("number")
    place = pl.DataFrame({"text": text}).join(places, on="text", how="left", maintain_order="left")["number"]
    return place.gather(number), texts


def _sets_in_order(cells: pl.Series) -> pl.Series:
    """Return sets with each value once, in order; sorting lists one by one is slow, and most are in order already."""
    several = pl.DataFrame({"said": cells}).with_row_index("at").filter(_out_of_order(cells))
    if not len(several):
        return cells
    ordered = several.explode("said").unique().sort("at", "said").group_by("at", maintain_order=True).agg("said")
    places = pl.int_range(len(cells), eager=True).scatter(
        ordered["at"], pl.int_range(len(cells), len(cells) + len(ordered), eager=True)
    )
    return pl.concat([cells, ordered["said"].alias(cells.name)]).gather(places)


def _out_of_order(cells: pl.Series) -> pl.Series:
    """Tell which sets list a value that is not above the one before it."""
    size = cells.list.len().fill_null(0)
    listed = cells.drop_nulls().explode(empty_as_null=False).to_physical()
    ends = size.cum_sum()
    fault = (listed <= listed.shift()).fill_null(value=False).scatter((ends - size).filter(size > 0), values=False)
    counted = pl.concat([pl.Series([0], dtype=pl.UInt32), fault.cast(pl.UInt32).cum_sum()])
    return counted.gather(ends) > counted.gather(ends - size)


def has_negative_zero(cells: pl.Series) -> bool:
    """Tell whether a number is the zero that equals zero and is written otherwise."""
    ends = [cells.struct.field(end) for end in ("lo", "hi")] if is_interval(cells.dtype) else [cells]
    return any(bool(((end == 0) & (1 / end < 0)).any()) for end in ends if end.dtype.is_float())
