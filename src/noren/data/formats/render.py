"""Conversion of typed columns to text: canonical spelling, a file's own spelling, and the order of rows by text.

Dates are written ``2010/12/1``, numbers without idle zeros (``2.1``, ``3``), intervals ``[a;b]``, sets ``{a;b}``,
suppressed cells ``*``. A cell that says one value (``[a;a]``, ``{a}``) is written as that value. Files that spell a
value otherwise keep their spelling beside the data (:class:`Spelling`): ``2.1`` and ``2.10`` are one price, ``[3;3]``
and ``3`` one quantity; the columns hold the value, and the spelling holds the few texts that differ from the canonical
one. Writing puts them back, so files round-trip byte for byte, and attacks that compare text (the official ones do) see
what was published.

Rows are put in the order of their own text (:func:`order_by_text`) without the text of every row. A column has far
fewer different cells than rows. Their texts are written once and numbered in order; a row is then a few small numbers,
and numbers take a tenth of the memory that lines take. Sorting by these numbers is sorting by the line as long as no
text of a column, with the delimiter after it, begins another one, as ``a,`` begins ``a,b,``. That is looked at, and
from such a column on the rest of the line is taken as one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from noren.data.cells import cell_ends, different, is_interval, is_set
from noren.data.schema import Column, ValueType
from noren.data.value_formats import decimal_text, moment_text, number_text

_READ_AS = {ValueType.DATE: "%Y/%m/%d", ValueType.TIME: "%H:%M", ValueType.DATETIME: "%Y/%m/%d %H:%M"}
"""Formats that read the canonical spelling."""
_TO_THE_SECOND = {ValueType.TIME: "%-H:%M:%S", ValueType.DATETIME: "%Y/%-m/%-d %-H:%M:%S"}


def value_text(value: pl.Expr, column: Column) -> pl.Expr:
    """Return the canonical text of exact values."""
    match column.type:
        case ValueType.TEXT | ValueType.INTEGER:
            return value.cast(pl.String)
        case ValueType.DECIMAL:
            return decimal_text(value)
        case ValueType.DATE:
            return value.dt.to_string("%Y/%-m/%-d")
        case ValueType.TIME | ValueType.DATETIME:
            # to the minute, and to the second or its fraction where there are any
            minutes = "%-H:%M" if column.type == ValueType.TIME else "%Y/%-m/%-d %-H:%M"
            whole = (value.dt.second() == 0) & (value.dt.nanosecond() == 0)
            exact = value.dt.to_string(f"{minutes}:%S%.f")
            return pl.when(whole).then(value.dt.to_string(minutes)).otherwise(exact)


def file_text(value: pl.Expr, column: Column) -> pl.Expr:
    """Return the text of exact values as the column's spelling reads it back; canonical where that does.

    A guess reads it back as well: times of a column without a format have seconds, all of them or none.
    """
    if column.number is not None:
        return number_text(value, column.number)
    if column.type in _TO_THE_SECOND and column.format is None:
        odd = (value.dt.second() != 0) | (value.dt.nanosecond() != 0)
        full = moment_text(value, column.type, _TO_THE_SECOND[column.type])
        return pl.when(odd.any()).then(full).otherwise(value_text(value, column))
    if column.format is None or column.format == _READ_AS.get(column.type):
        return value_text(value, column)
    return moment_text(value, column.type, column.format)


def cell_text(
    cell: pl.Expr, column: Column, dtype: pl.DataType, spelled: Callable[[pl.Expr, Column], pl.Expr] = value_text
) -> pl.Expr:
    """Return the text of cells, exact or generalised; null where suppressed.

    Values are ``spelled`` canonically, or as the column's own file has them (:func:`file_text`).
    """
    if is_interval(dtype):
        lo = spelled(cell.struct.field("lo"), column)
        hi = spelled(cell.struct.field("hi"), column)
        is_exact = cell.struct.field("lo") == cell.struct.field("hi")
        return pl.when(is_exact).then(lo).otherwise(pl.concat_str(pl.lit("["), lo, pl.lit(";"), hi, pl.lit("]")))
    if is_set(dtype):
        joined = cell.cast(pl.List(pl.String)).list.join(";")
        several = pl.concat_str(pl.lit("{"), joined, pl.lit("}"))
        return pl.when(cell.list.len() == 1).then(joined).otherwise(several)
    return spelled(cell, column)


def lines_of(texts: pl.DataFrame, delimiter: str = ",") -> pl.Series:
    """Join text columns into lines."""
    return texts.select(pl.concat_str(pl.all(), separator=delimiter).alias("line"))["line"]


@dataclass(frozen=True)
class Spelling:
    """Line ends, and the texts that are not canonical: per column a frame of ``row`` (from 0) and ``text``."""

    newline: str = "\n"
    final_newline: bool = True
    exceptions: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: pl.DataFrame, canonical: pl.DataFrame, newline: str, *, final_newline: bool) -> Spelling:
        """Compare texts as given with their canonical form and remember the differences."""
        odd = ((own, own.ne_missing(canonical[own.name]).arg_true()) for own in texts)
        exceptions = {own.name: pl.DataFrame({"row": at, "text": own.gather(at)}) for own, at in odd if len(at)}
        return cls(newline, final_newline, exceptions)

    def apply(self, canonical: pl.DataFrame) -> pl.DataFrame:
        """Return the texts as the file spelled them."""
        return canonical.with_columns(
            canonical[name].clone().scatter(odd["row"], odd["text"]).alias(name)
            for name, odd in self.exceptions.items()
            if name in canonical.columns
        )

    def take(self, rows: pl.Series) -> Spelling:
        """Return the spelling of the rows ``rows`` (positions from 0, in a new order)."""
        if not self.exceptions:
            return Spelling(self.newline, self.final_newline)
        places = pl.DataFrame({"row": rows.cast(pl.UInt32)}).with_row_index("new")
        exceptions = {}
        for name, odd in self.exceptions.items():
            moved = odd.with_columns(pl.col("row").cast(pl.UInt32)).join(places, on="row", how="inner")
            if len(moved):
                exceptions[name] = moved.select(pl.col("new").alias("row"), "text").sort("row")
        return Spelling(self.newline, self.final_newline, exceptions)


_DELIMITER, _SUPPRESSED = ",", "*"
_MOST = 1 << 62
"""Numbers of columns are put together in one as long as it is smaller."""


def order_by_text(frame: pl.DataFrame, columns: Sequence[Column], spelling: Spelling) -> pl.Series:
    """Return the places of rows, from 0, in the order of their comma-separated lines; equal ones as they stand.

    >>> prices = pl.DataFrame({"customer": ["b", "a", "a"], "price": [1.0, 10.0, 2.0]})
    >>> columns = [Column(name="customer"), Column(name="price", type="decimal")]
    >>> order_by_text(prices, columns, Spelling()).to_list()
    [1, 2, 0]
    """
    numbers = []  # for one column after another the place of each text; where that does not do, of the rest of the line
    for at, column in enumerate(columns):
        rest = columns[at:]
        cells = _as_spelled(frame, column, spelling)
        number, texts = _numbered(cells, column, _DELIMITER if len(rest) > 1 else "")
        text = pl.col(texts.name)
        # one of sorted texts that begins another begins the next one
        begins = texts.to_frame().select(text.shift(-1).str.starts_with(text).any()).item()
        if len(rest) > 1 and begins:
            texts_ = pl.DataFrame(_texts(_as_spelled(frame, c, spelling), c) for c in rest)
            numbers.append(_numbered(lines_of(texts_, _DELIMITER), Column(name="line"), "")[0])
            break
        numbers.append(number)
    keys = pl.DataFrame(packed(numbers))
    if not keys.width:
        return pl.int_range(len(frame), dtype=pl.UInt32, eager=True).alias("row")
    return keys.select(pl.arg_sort_by(keys.columns, maintain_order=True).cast(pl.UInt32).alias("row"))["row"]


def text_numbers(cells: pl.Series, column: Column) -> pl.Series:
    """Return a number for each cell, from 0: equal where canonical texts are, sets being written in order.

    >>> text_numbers(pl.Series(["b", None, "a", "b"]), Column(name="item")).to_list()
    [2, 0, 1, 2]
    """
    return _numbered(cells, column, "", in_order=True)[0]


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


def _as_spelled(frame: pl.DataFrame, column: Column, spelling: Spelling) -> pl.Series:
    """Return cells as they are, or their texts where the file spells some of them in its own way."""
    cells = frame[column.name]
    if column.name not in spelling.exceptions:
        return cells
    return spelling.apply(_texts(cells, column).to_frame())[column.name]


def _texts(cells: pl.Series, column: Column) -> pl.Series:
    if cells.dtype == pl.String:
        return cells.fill_null(_SUPPRESSED)
    text = cell_text(pl.col(cells.name), column, cells.dtype).fill_null(_SUPPRESSED)
    return cells.to_frame().select(text.alias(cells.name))[cells.name]


def _numbered(cells: pl.Series, column: Column, end: str, *, in_order: bool = False) -> tuple[pl.Series, pl.Series]:
    """Return the place of each cell's text among the texts there are, and these, each with ``end`` after it, sorted."""
    if has_negative_zero(cells):
        cells = _texts(cells, column)
    rows, number = different(cells)
    known = cells.gather(rows)
    ordered = _sets_in_order(known) if in_order and is_set(known.dtype) else known
    text = _texts(ordered, column) + end
    texts = text.unique().sort()
    if len(texts) == 1:
        return pl.Series([0], dtype=pl.UInt32).new_from_index(0, len(cells)), texts
    places = pl.DataFrame({"text": texts}).with_row_index("number")
    place = pl.DataFrame({"text": text}).join(places, on="text", how="left", maintain_order="left")["number"]
    return place.gather(number), texts


def _sets_in_order(cells: pl.Series) -> pl.Series:
    """Return sets with each value once, in order; sorting lists one by one is slow, and most are in order already."""
    # which sets list a value that is not above the one before it
    size = cells.list.len().fill_null(0)
    listed = cells.drop_nulls().explode(empty_as_null=False).to_physical()
    stops = size.cum_sum()
    fault = (listed <= listed.shift()).fill_null(value=False).scatter((stops - size).filter(size > 0), values=False)
    counted = pl.concat([pl.Series([0], dtype=pl.UInt32), fault.cast(pl.UInt32).cum_sum()])
    out_of_order = counted.gather(stops) > counted.gather(stops - size)
    several = pl.DataFrame({"said": cells}).with_row_index("at").filter(out_of_order)
    if not len(several):
        return cells
    ordered = several.explode("said").unique().sort("at", "said").group_by("at", maintain_order=True).agg("said")
    behind = pl.int_range(len(cells), len(cells) + len(ordered), eager=True)
    places = pl.int_range(len(cells), eager=True).scatter(ordered["at"], behind)
    return pl.concat([cells, ordered["said"].alias(cells.name)]).gather(places)


def has_negative_zero(cells: pl.Series) -> bool:
    """Tell whether a number is the zero that equals zero and is written otherwise."""
    return any(bool(((end == 0) & (1 / end < 0)).any()) for end in cell_ends(cells) if end.dtype.is_float())
