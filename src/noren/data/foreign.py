"""Files that other programs call anonymised or synthetic, read beside the original that they were made of.

Columns are matched to the original's by name and, where names tell nothing, by what their cells hold; a match that
could go either way is asked. Cells are read as ARX, sdcMicro, Amnesia and people write them: ``[20, 30[``, ``(20,30]``,
``20-29``, ``>=30``, ``{a, b}``, ``130**``, ``*`` and ``NA``. Open ends are open: ``[20, 30[`` of whole numbers is 20 to
29. A label that nobody can read, such as ``North`` for some cities, stays a value of its own where values are counted.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from noren.data.arrays import numbers
from noren.data.cells import cell_ends, different, is_generalised, is_interval, lift, set_dtype
from noren.data.formats.parquet import parquet_blocks
from noren.data.formats.parse import holds_plain_values, in_calendar, read_values
from noren.data.formats.render import cell_text
from noren.data.formats.source import Source, limit_decoded_size
from noren.data.formats.text_files import column_names, text_blocks
from noren.data.formats.workbooks import excel_sheet
from noren.data.frames import Records, frame_of, records_of
from noren.data.guessing.column_types import guess_type
from noren.data.guessing.column_words import Hint, says, spelled
from noren.data.guessing.roles import name_score
from noren.data.hierarchies.levels import date_range, number_range, prefix
from noren.data.schema import Column, Kind, Role, Scale, TextLayout, ValueType
from noren.errors import FileError, SchemaError, listing, suggestion
from noren.i18n import _
from noren.tables import Texts, table_of

say = Texts(__name__)

_BLANKS = ("na", "<na>", "n/a", "nan", "null", "none", ".", "-")
_ADDED = frozenset(table_of(__name__)["added"].split())
"""Words that tools add to the name of a column that they changed."""
_NAMED = (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
_PEOPLE = (Hint.BUYER, Hint.PERSON, Hint.CARD, Hint.HOUSEHOLD)
_SURE, _APART, _LOOKED_AT = 0.75, 0.15, 5_000
_ENDS = re.compile(r"^\s*([\[\](]?)(.+?)(?:[;–—〜～]|\s-\s|\.\.|\bto\b)(.+?)([\])\[]?)\s*$")
_PAIR = re.compile(r"^\s*([\[\](])([^,]+),([^,]+)([\])\[])\s*$")
_NO_END = ("*", "inf", "+inf", "-inf", "∞", "+∞", "-∞")
_SET = re.compile(r"^\s*\{(.*)\}\s*$")
_LARGEST = 2**63 - 1
_WRITTEN_AS = {
    ValueType.INTEGER: (ValueType.INTEGER,),
    ValueType.DECIMAL: (ValueType.INTEGER, ValueType.DECIMAL),
    ValueType.DATE: (ValueType.DATE, ValueType.DATETIME),
    ValueType.DATETIME: (ValueType.DATE, ValueType.DATETIME),
    ValueType.TIME: (ValueType.TIME,),
}
_STEPS = {ValueType.DATE: dt.timedelta(days=1), ValueType.DATETIME: dt.timedelta(seconds=1)}


@dataclass(frozen=True)
class ForeignFile:
    """A file from elsewhere, its rows in the file's order.

    Attributes
    ----------
    published
        What stands in the cells, as texts, blanks being null: by this rows are counted that look alike.
    cells
        What the cells mean, in columns of the original: values, intervals, sets; null where nothing is said.
    columns
        For each column of the file the original's, or None where it has none; ``by_values`` those matched by cells.
    unread
        For each column how many cells hold a label that is no value of the original and cannot be read.
    truth
        Whose row each is, as the file's own column says: texts; None where nobody knows. ``rows`` are the places of
        these people's rows in the original, of a table.
    """

    published: Records
    cells: Records
    columns: Mapping[str, str | None]
    by_values: tuple[str, ...]
    unread: Mapping[str, int]
    truth: pl.Series | None
    rows: pl.Series | None = None
    truth_by: Literal["column", "rows", "none"] = "none"


def without_spaces(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose texts have no spaces around them."""
    return frame.with_columns(pl.col(pl.String).str.strip_chars())


def read_foreign(
    data: Any, original: Records, *, mapping: Mapping[str, str] | None = None, truth: str | None = None
) -> ForeignFile:
    """Read a file or a data frame from elsewhere beside its original.

    Parameters
    ----------
    mapping
        The original's column for columns of the file, where names do not tell; an empty one means none.
    truth
        The column of the file that says whose row each is; ``rows`` where the file keeps the original's order.
    """
    path = Path(data) if isinstance(data, str | PathLike) else None
    frame = _raw(path, original.schema.names) if path is not None else frame_of(data)
    if not len(frame):
        raise FileError(say("no_rows"), file=path)
    for name, dtype in frame.schema.items():
        if not (holds_plain_values(frame[name]) or is_generalised(dtype)):
            raise SchemaError(say("no_values", dtype=dtype), file=path, column=name)
    frame = without_spaces(frame.with_columns(map(in_calendar, frame)))
    known: pl.Series | None = None
    by: Literal["column", "rows", "none"] = "none"
    if truth in frame.columns:
        who, frame, by = frame[truth], frame.drop(truth), "column"
        known = (who.cast(pl.Int64, strict=False) if who.dtype.is_float() else who).cast(pl.String)
    elif truth == "rows":
        if len(frame) != len(original):
            raise SchemaError(say("rows_differ", rows=len(frame), original=len(original)), file=path)
        who = original[Role.CUSTOMER] if original.schema.kind == Kind.HISTORY else pl.int_range(len(frame), eager=True)
        known, by = who.cast(pl.String), "rows"
    elif truth is not None:
        hint = suggestion(truth, frame.columns)
        raise SchemaError(say("no_truth", name=truth, hint=hint, names=listing(frame.columns)), file=path)
    rows = None if known is None else _rows_of(known, original)
    if known is not None and rows is None:  # of people whom the original does not have it tells nothing
        known, by = None, "none"
    texts = frame.select(cell_text(pl.col(n), Column(name="x"), frame[n].dtype).alias(n) for n in frame.columns)
    columns, by_values = _matched(frame, texts, original, mapping or {}, path)
    published, cells, about, there, unread = [], [], [], [], {}
    taken = {*original.schema.names, *(mine for mine in columns.values() if mine)}
    for name, mine in columns.items():
        own = mine or name
        while not mine and own in taken:
            own += "_"
        taken.add(own)
        column = original.schema[mine] if mine else Column(name=own, role=Role.OTHER)
        values, text, dtype = original.frame[mine] if mine else None, texts[name], frame[name].dtype
        inner = dtype.fields[0].dtype if isinstance(dtype, pl.Struct) else dtype
        both_numeric = inner.is_numeric() and column.dtype.is_numeric()
        if mine and (both_numeric or inner.base_type() == column.dtype.base_type()):
            # typed cells are spelled as the original spells them: by such texts files are sorted
            text = frame.select(cell_text(pl.col(name), column, dtype)).to_series()
        blank = _blank(text, values if column.scale == Scale.NOMINAL else None)
        published.append(text.set(blank, None).alias(own))
        about.append(Column(name=own, role=column.role, optional=True, known=column.known))
        if values is not None:
            others = column.type == ValueType.INTEGER and not dtype.is_integer()
            if others and guess_type(published[-1].drop_nulls(), []).type == ValueType.DECIMAL:
                # fractions of whole numbers, such as means, noise or what a model drew
                column, values = column.model_copy(update={"type": ValueType.DECIMAL}), values.cast(pl.Float64)
            beside = None if rows is None else values.gather(rows)
            typed, unread[own] = _read_column(frame[name].alias(own), published[-1], column, values, beside)
            cells.append(typed)
            there.append(column.model_copy(update={"optional": True}))
    if not cells:
        raise SchemaError(say("nothing_matches", names=listing(original.schema.names)), file=path)
    plain = original.schema.model_copy(update={"official": None, "guessed": False})
    shown = records_of(pl.DataFrame(published), plain.model_copy(update={"columns": tuple(about)}))
    meant = records_of(pl.DataFrame(cells), plain.model_copy(update={"columns": tuple(there)}))
    unread = {name: count for name, count in unread.items() if count}
    return ForeignFile(shown, meant, columns, by_values, unread, known, rows, by)


def _rows_of(who: pl.Series, original: Records) -> pl.Series | None:
    """Return the places of people's rows in a table: by an identifier, or counted from 0; null in a history.

    None where nobody is known.
    """
    if original.schema.kind == Kind.HISTORY:
        known = who.is_in(original[Role.CUSTOMER].cast(pl.String).unique().implode())
        return pl.Series([None] * len(who), dtype=pl.UInt32) if known.any() else None
    rows = who.cast(pl.UInt32, strict=False)
    for column in original.schema.with_role(Role.IDENTIFIER):
        own = original.frame[column.name].cast(pl.String).to_frame("who").with_row_index("row").unique("who")
        found = who.to_frame("who").join(own, on="who", how="left", maintain_order="left")["row"]
        rows = found if found.null_count() <= rows.null_count() else rows
    rows = rows.set((rows >= len(original)).fill_null(value=False), None)
    return rows if rows.is_not_null().any() else None


def _raw(path: Path, names: Iterable[str]) -> pl.DataFrame:
    """Return the cells of a file as they stand; a first line that has a name of the original is a header."""
    source = Source.open(path)
    limit_decoded_size(source)
    if source.kind == "excel":
        return excel_sheet(source).frame
    if source.kind == "parquet":
        blocks = list(parquet_blocks(source))
    else:
        form = source.text_form()
        if not form.header and {spelled(cell) for cell in form.first_line} & {spelled(name) for name in names}:
            form = source.text_form(TextLayout(header=True))
        blocks = [block for _row, block in text_blocks(source, form, strip=True, empty_lines="all")]
        blocks = [block.rename(dict(zip(block.columns, column_names(form), strict=True))) for block in blocks]
        if blocks and blocks[0].width > 1:  # blank lines are rows whose cells are all suppressed, but not the last ones
            filled = pl.any_horizontal(pl.all() != "")
            blocks = [pl.concat(blocks).filter(filled.cum_max(reverse=True))]
    if not blocks:
        raise FileError(say("no_rows"), file=path)
    return pl.concat(blocks)


def _counts_rows(values: pl.Series) -> bool:
    """Tell whether a column numbers the rows of the file: it says nothing that their order does not."""
    if not values.dtype.is_integer() and values.dtype != pl.String:
        return False
    numbers = values.cast(pl.Int64, strict=False)
    return numbers[0] in (0, 1) and bool((numbers.diff()[1:] == 1).all(ignore_nulls=False))


def _blank(texts: pl.Series, values: pl.Series | None) -> pl.Series:
    """Tell which cells say nothing; NA is a value where the original has it."""
    plain = texts.fill_null("").str.strip_chars().str.strip_chars("*").str.to_lowercase()
    own = [] if values is None else values.cast(pl.String).str.to_lowercase().unique().to_list()
    return plain.is_in(["", *(word for word in _BLANKS if word not in own)])


# --- which column is which -------------------------------------------------------------------------------------------


def _matched(
    frame: pl.DataFrame, texts: pl.DataFrame, original: Records, mapping: Mapping[str, str], path: Path | None
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Return the original's column of each column but those of row numbers, and those found by their cells."""
    numbered = [name for name in frame.columns if _counts_rows(frame[name])]
    schema, columns = original.schema, dict[str, str | None]()
    for name, mine in mapping.items():
        for word, names in ((name, frame.columns), (mine, ["", *schema.names])):
            if word not in names:
                raise SchemaError(say("no_column", name=word, hint=suggestion(word, names)), file=path)
        if mine and mine in columns.values():
            raise SchemaError(_("two columns are named {name!r}; rename one").format(name=mine), file=path)
        columns[name] = mine or None

    def bare(name: str) -> str:
        words = spelled(name).strip("_").split("_")
        return "".join(word for word in words if word not in _ADDED)

    who = (Role.CUSTOMER, Role.IDENTIFIER)
    ways: list[Callable[[str, Column], bool]] = [
        lambda name, column: name.strip() == column.name,
        lambda name, column: spelled(name) == spelled(column.name),
        lambda name, column: bare(name) == bare(column.name) != "",
        lambda name, column: column.role in who and name not in numbered and bare(name) in ("", "id", "pid", "no"),
        lambda name, column: column.role == Role.CUSTOMER and says(name, *_PEOPLE),
        lambda name, column: column.role in _NAMED and name_score(column.role, name) > 0,
    ]

    def free() -> list[Column]:
        return [column for column in schema.columns if column.name not in columns.values()]

    for fits in ways:
        pairs = [(n, c.name) for n in frame.columns if n not in columns for c in free() if fits(n, c)]
        for name, mine in pairs:  # a name that could be two columns' is nobody's by its name
            if sum(pair[0] == name or pair[1] == mine for pair in pairs) == 1:
                columns[name] = mine
    names = [name for name in frame.columns if name in columns or name not in numbered]
    by_values = []
    for last in (False, True):  # what could be two columns waits for those that cannot
        for name in [name for name in names if name not in columns]:
            scores = {c.name: _alike(frame[name], texts[name], c, original.frame[c.name]) for c in free()}
            near = [n for n, score in scores.items() if score >= max(_SURE, max(scores.values()) - _APART)]
            if len(near) == 1:
                columns[name] = near[0]
                by_values.append(name)
            elif near and last:
                about = {"candidates": listing(near), "example": f"--map {name}={near[0]}", "none": f"{name}="}
                raise SchemaError(say("several", **about), file=path, column=name)
    columns = {name: columns.get(name) for name in names}
    if schema.kind == Kind.HISTORY and (mine := schema.role(Role.CUSTOMER).name) not in columns.values():
        left = [name for name in frame.columns if columns[name] is None] or frame.columns
        raise SchemaError(say("no_customer", candidates=listing(left), example=f"--map {left[0]}={mine}"), file=path)
    return columns, tuple(by_values)


def _alike(values: pl.Series, texts: pl.Series, column: Column, own: pl.Series) -> float:
    """Return how much a column looks like the original's: shares of values, and of ranges, that both have."""
    shown = pl.Series(texts.filter(~_blank(texts, None)).unique(maintain_order=True)[:_LOOKED_AT])
    if not len(shown) or is_generalised(own.dtype):
        return 0.0
    if column.scale == Scale.NOMINAL:
        both = shown.is_in(own.cast(pl.String).unique().implode())
        return float(both.mean() or 0.0)  # type: ignore[arg-type]
    if values.dtype.is_temporal() != column.dtype.is_temporal() and values.dtype != pl.String:
        return 0.0
    read, _count = _read_column(shown.alias(column.name), shown.alias(column.name), column, own)
    known = own.drop_nulls()
    if read.null_count() > (1 - _SURE) * len(read) or not len(known):
        return 0.0
    lo, hi = (numbers(end.drop_nulls()) for end in cell_ends(read))
    first, last = numbers(known.sort())[[0, -1]]
    span = max(last, hi.max()) - min(first, lo.min())
    return float((min(last, hi.max()) - max(first, lo.min())) / span) if span > 0 else 0.0


# --- cells -----------------------------------------------------------------------------------------------------------


def _read_column(
    values: pl.Series, texts: pl.Series, column: Column, own: pl.Series, beside: pl.Series | None = None
) -> tuple[pl.Series, int]:
    """Return what cells mean, null where nothing or nobody can say, and how many nobody can read.

    Where it is known what stood ``beside`` each cell in the original, a label means the values it stands for there.
    """
    if is_interval(values.dtype) and values.struct.field("lo").dtype == column.dtype:
        return values.set(texts.is_null(), None), 0
    if is_generalised(values.dtype) or values.dtype == pl.Date != column.dtype:
        values = texts
    values = values.set(texts.is_null(), None)
    typed = read_values(values.to_frame(column.name), [column])[0][column.name]
    if typed.dtype.is_float():
        typed = typed.set(~typed.is_finite(), None)
    if column.scale == Scale.NOMINAL:
        if column.role in (Role.CUSTOMER, Role.IDENTIFIER):
            return typed, 0
        domain = own.drop_nulls().cast(pl.String).unique().sort()
        cover: dict[str, list[str]] = {}
        if beside is not None:
            both = pl.DataFrame({"label": typed, "value": beside.cast(pl.String)}).drop_nulls()
            cover = dict(both.group_by("label").agg(pl.col("value").unique().sort()).iter_rows())
        labels = typed.drop_nulls().unique(maintain_order=True)
        odd = labels.filter(~labels.is_in(domain.implode()))
        sets = {label: [label] for label in labels} | {n: _members(n, domain) or cover.get(n, []) for n in odd}
        strange = pl.Series([label for label, members in sets.items() if not members], dtype=pl.String)
        count = int(typed.is_in(strange.implode()).sum())
        if column.role == Role.ITEM or not len(domain):  # codes for items are worth an attack
            sets |= {label: [label] for label in strange}
        else:
            typed = typed.set(typed.is_in(strange.implode()), None)
        if len(strange) == len(odd):
            return typed, count
        meant = pl.DataFrame({"label": list(sets), "set": list(sets.values())})
        cells = typed.to_frame("label").join(meant, on="label", how="left", maintain_order="left")["set"]
        return cells.cast(set_dtype(sorted({*chain(*sets.values())}))).alias(column.name), count
    lost = typed.is_null() & texts.is_not_null()
    if not lost.any():
        return typed, 0
    for pattern, form in table_of(__name__)["days_spelled" if column.type in _STEPS else "numbers_spelled"]:
        texts = texts.str.replace_all(pattern, form)
    labels = texts.drop_nulls().unique(maintain_order=True)
    named, written = _named_in(labels).alias(column.name), column
    filled = named.filter(named.str.contains(r"\d"))
    if read_values(filled.to_frame(), [column])[0][column.name].null_count():
        guess = guess_type(filled, [])  # dates and numbers may be written otherwise than the original's
        written = guess if guess.type in _WRITTEN_AS[column.type] else column
    if written == column:
        labels = texts.filter(lost).unique(maintain_order=True)
        named = _named_in(labels).alias(column.name)
    else:
        typed = typed.clear(len(typed))
    read = read_values(named.to_frame(), [written])[0][column.name].cast(column.dtype, strict=False)
    # of a moment may only the day be known
    whole_day = (written.type, column.type) == (ValueType.DATE, ValueType.DATETIME)
    last = read + dt.timedelta(days=1, microseconds=-1) if whole_day else read
    exact = dict(zip(named, zip(read, last, strict=True), strict=True))
    ranges = [(label, *(_range(label, column, own.min(), own.max(), exact) or (None, None))) for label in labels]
    types: dict[str, Any] = {"label": pl.String, "lo": column.dtype, "hi": column.dtype}
    meant = pl.DataFrame(ranges, schema=types, orient="row", strict=False)
    both = pl.DataFrame({"label": texts, "own": typed}).join(meant, on="label", how="left", maintain_order="left")
    both = both.with_columns(pl.coalesce("own", end).alias(end) for end in ("lo", "hi"))
    count = int((both["lo"].is_null() & texts.is_not_null()).sum())
    if (both["lo"] == both["hi"]).all():
        return both["lo"].alias(column.name), count
    return both.select(
        pl.when(pl.col("lo").is_not_null()).then(pl.struct("lo", "hi")).alias(column.name)
    ).to_series(), count


def _members(label: str, domain: pl.Series) -> list[str] | None:
    """Return the values of the original that a label lists or masks; None where nobody can say.

    >>> cities = pl.Series(["13053", "13068", "14850"])
    >>> _members("130**", cities), _members("{13053, 14850}", cities), _members("North", cities)
    (['13053', '13068'], ['13053', '14850'], None)
    >>> _members("[13000, 13060[", cities)
    ['13053']
    """
    if braced := _SET.match(label):
        for sign in ";,|、":
            members = [part.strip().strip("\"'") for part in braced[1].split(sign)]
            if all(member in domain for member in members):
                return sorted(set(members))
        return None
    if (start := prefix(label)) is not None:
        same = domain.str.len_chars() == len(label.strip())
        return domain.filter(domain.str.starts_with(start) & same).to_list() or None
    if (ends := number_range(label)) and (places := domain.cast(pl.Float64, strict=False)).null_count() == 0:
        above = places > ends.low if ends.open_low else places >= ends.low
        below = places < ends.high if ends.open_high else places <= ends.high
        return domain.filter(above & below).to_list() or None
    return None


def _parts(label: str) -> tuple[list[str], bool, bool]:
    """Return the values that a label lists or lies between, and whether its ends are open.

    >>> _parts("]1,5; 2,5]"), _parts("{5, 7}"), _parts("12,50"), _parts("20-29")
    ((['1,5', '2,5'], True, False), (['5', '7'], False, False), (['12,50'], False, False), ([], False, False))
    """
    if braced := _SET.match(label):
        return [part.strip() for part in re.split(r"[;,|、]", braced[1])], False, False
    if match := _ENDS.match(label) or _PAIR.match(label):
        return [match[2].strip(), match[3].strip()], match[1] in ("]", "("), match[4] in ("[", ")")
    return [] if number_range(label) or prefix(label) or date_range(label) else [label], False, False


def _named_in(labels: pl.Series) -> pl.Series:
    return pl.Series([part for label in labels for part in _parts(label)[0]], dtype=pl.String).unique()


def _range(
    label: str, column: Column, least: Any, most: Any, exact: Mapping[str, tuple[Any, Any]]
) -> tuple[Any, Any] | None:
    """Return the ends of what a label allows, both included; open ends stop before, missing ends at the original's.

    ``exact`` has the first and the last value that each part of a label means.

    >>> age, exact = Column(name="age", type="integer"), {"5": (5, 5), "7": (7, 7), "old": (None, None)}
    >>> [_range(label, age, 17, 90, exact) for label in ("[20, 30[", "(20,30]", "20-29", ">=30", "3*", "{5, 7}", "old")]
    [(20, 29), (21, 30), (20, 29), (30, 90), (30, 39), (5, 7), None]
    """

    def inside(end: Any, sign: int, *, is_open: bool) -> Any:
        if column.type == ValueType.INTEGER:
            whole = sign * (math.floor(sign * end) + 1 if is_open else math.ceil(sign * end))
            return max(-_LARGEST, min(_LARGEST, whole))
        if is_open and column.type == ValueType.DECIMAL:
            return np.nextafter(end, sign * math.inf)
        return end + sign * _STEPS[column.type] if is_open and column.type in _STEPS else end

    start, bounds, days = prefix(label), number_range(label), date_range(label.rstrip("-/.*"))
    if column.dtype.is_temporal() and days:
        whole = days if column.type == ValueType.DATE else [*map(dt.datetime.combine, days, (dt.time.min, dt.time.max))]
        return whole[0], whole[1]
    open_low = open_high = False
    if column.dtype.is_numeric() and start is not None and start.isdecimal():
        width = 10 ** (len(label.strip()) - len(start))
        low, high = int(start) * width, (int(start) + 1) * width - 1
    elif column.dtype.is_numeric() and bounds is not None:
        low, high = (None if math.isinf(end) else end for end in bounds[:2])
        open_low, open_high = bounds.open_low, bounds.open_high
    else:
        parts, open_low, open_high = _parts(label)
        ends = {part: exact[part] for part in parts if part.lower() not in _NO_END}
        if not ends or any(None in both for both in ends.values()):
            return None
        if _SET.match(label):
            return min(first for first, _last in ends.values()), max(last for _first, last in ends.values())
        low = ends.get(parts[0], (None, None))[open_low]
        high = ends.get(parts[-1], (None, None))[not open_high]
    low = least if low is None else inside(low, 1, is_open=open_low)
    high = most if high is None else inside(high, -1, is_open=open_high)
    return None if low is None or high is None or low > high else (low, high)


def column_fits(cells: pl.Series, values: pl.Series) -> tuple[np.ndarray[Any, Any], ...]:
    """Return numbers of different cells and of different values, and a table: which cell allows which value.

    A cell that says nothing allows every value; a blank value fits such a cell and no other.

    >>> cell, value, fits = column_fits(pl.Series("age", [{"lo": 20, "hi": 29}, None]), pl.Series([23, 31]))
    >>> fits[cell][:, value].tolist()
    [[True, False], [True, True]]
    """
    (first, cell), (own, value) = different(cells), different(values)
    kinds, known = cells.gather(first), values.gather(own)
    if isinstance(cells.dtype, pl.List) or not (known.dtype.is_numeric() or known.dtype.is_temporal()):
        sets = lift(kinds, Column(name="v")).cast(pl.List(pl.String)).alias("v").to_frame().with_row_index("cell")
        pairs = sets.explode("v").drop_nulls().join(known.cast(pl.String).to_frame("v").with_row_index("at"), on="v")
        fits = np.zeros((len(kinds), len(known)), dtype=np.bool_)
        fits[pairs["cell"].to_numpy(), pairs["at"].to_numpy()] = True
    else:
        lo, hi = (numbers(end)[:, None] for end in cell_ends(kinds))
        fits = (lo <= numbers(known)) & (numbers(known) <= hi) & known.is_not_null().to_numpy()
    fits[kinds.is_null().to_numpy()] = True
    return cell.to_numpy(), value.to_numpy(), fits
