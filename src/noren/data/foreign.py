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
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from noren.data.arrays import numbers
from noren.data.cells import is_generalised, is_interval, set_dtype
from noren.data.formats.parquet import parquet_blocks
from noren.data.formats.parse import read_values
from noren.data.formats.source import Source, limit_decoded_size
from noren.data.formats.text_files import column_names, text_blocks
from noren.data.formats.workbooks import excel_sheet
from noren.data.frames import Records, frame_of, records_of
from noren.data.guessing.column_words import Hint, says, spelled
from noren.data.hierarchies.levels import date_range, number_range, prefix
from noren.data.schema import Column, Kind, Role, Scale, ValueType
from noren.errors import FileError, SchemaError, listing, suggestion
from noren.i18n import _
from noren.tables import Texts, table_of

say = Texts(__name__)

_BLANKS = ("*", "na", "<na>", "n/a", "nan", "null", "none", ".", "-")
_ADDED = frozenset(table_of(__name__)["added"].split())
"""Words that tools add to the name of a column that they changed."""
_HINTS = {
    Role.CUSTOMER: (Hint.BUYER, Hint.PERSON, Hint.CARD, Hint.HOUSEHOLD),
    Role.DATE: (Hint.DATE,),
    Role.ITEM: (Hint.GOODS,),
    Role.PRICE: (Hint.UNIT_PRICE, Hint.TOTAL),
    Role.QUANTITY: (Hint.QUANTITY,),
}
_SURE, _APART, _LOOKED_AT = 0.75, 0.15, 5_000
_ENDS = re.compile(
    r"^\s*([\[\](]?)\s*([^\s,;\[\](){}][^,;\[\](){}]*?)\s*(?:[,;]|\s-\s|–|\.\.|\bto\b|(?<=\d)-(?=\d+\s*$))\s*"
    r"([^\s,;\[\](){}][^,;\[\](){}]*?)\s*([\])\[]?)\s*$"
)
_SET = re.compile(r"^\s*\{(.*)\}\s*$")


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
    frame = _raw(path) if path is not None else frame_of(data)
    if not len(frame):
        raise FileError(say("no_rows"), file=path)
    known: pl.Series | None = None
    by: Literal["column", "rows", "none"] = "none"
    if truth is not None and truth not in frame.columns and truth != "rows":
        raise SchemaError(say("no_column", name=truth, hint=suggestion(truth, frame.columns)), file=path)
    if truth in frame.columns:
        known, frame, by = frame[truth].cast(pl.String), frame.drop(truth), "column"
    elif truth == "rows":
        if len(frame) != len(original):
            raise SchemaError(say("rows_differ", rows=len(frame), original=len(original)), file=path)
        who = original[Role.CUSTOMER] if original.schema.kind == Kind.HISTORY else pl.int_range(len(frame), eager=True)
        known, by = who.cast(pl.String), "rows"
    rows = None if known is None else _rows_of(known, original)
    texts = pl.DataFrame([_as_texts(frame[name]) for name in frame.columns])
    columns, by_values = _matched(frame, texts, original, mapping or {}, path)
    published, cells, about, unread = [], [], [], {}
    for name in frame.columns:
        mine = columns[name]
        if mine is None:
            own = name if name not in original.schema.names else f"{name}_"
            blank = texts[name].set(_blank(texts[name], None), None)
            published.append(blank.alias(own))
            about.append(Column(name=own, role=Role.OTHER, optional=True))
            continue
        column = original.schema[mine]
        values = original.frame[mine]
        blank = _blank(texts[name], values if column.scale == Scale.NOMINAL else None)
        published.append(texts[name].set(blank, None).alias(mine))
        about.append(Column(name=mine, role=column.role, optional=True, known=column.known))
        beside = None if rows is None else values.gather(rows)
        typed, unread[mine] = _read_column(frame[name].alias(mine), published[-1], column, values, beside)
        cells.append(typed)
    if not cells:
        raise SchemaError(say("nothing_matches", names=listing(original.schema.names)), file=path)
    there = [original.schema[series.name].model_copy(update={"optional": True}) for series in cells]
    plain = original.schema.model_copy(update={"official": None, "guessed": False})
    return ForeignFile(
        records_of(pl.DataFrame(published), plain.model_copy(update={"columns": tuple(about)})),
        records_of(pl.DataFrame(cells), plain.model_copy(update={"columns": tuple(there)})),
        columns,
        by_values,
        {name: count for name, count in unread.items() if count},
        known,
        rows,
        by,
    )


def _rows_of(who: pl.Series, original: Records) -> pl.Series:
    """Return the places of people's rows in a table: by an identifier, or counted from 0; null in a history."""
    if original.schema.kind == Kind.HISTORY:
        return pl.Series([None] * len(who), dtype=pl.UInt32)
    rows = who.cast(pl.UInt32, strict=False)
    for column in original.schema.with_role(Role.IDENTIFIER):
        own = original.frame[column.name].cast(pl.String).to_frame("who").with_row_index("row").unique("who")
        found = who.to_frame("who").join(own, on="who", how="left", maintain_order="left")["row"]
        rows = found if found.null_count() <= rows.null_count() else rows
    return rows.set((rows >= len(original)).fill_null(value=False), None)


def _raw(path: Path) -> pl.DataFrame:
    source = Source.open(path)
    limit_decoded_size(source)
    if source.kind == "excel":
        return excel_sheet(source).frame
    if source.kind == "parquet":
        blocks, names = list(parquet_blocks(source)), None
    else:
        form = source.text_form()
        strip = form.columns > 1 and all((cell or "").startswith(" ") for cell in form.first_line[1:])
        blocks, names = [block for _row, block in text_blocks(source, form, strip=strip)], column_names(form)
    if not blocks:
        raise FileError(say("no_rows"), file=path)
    frame = pl.concat(blocks)
    return frame if names is None else frame.rename(dict(zip(frame.columns, names, strict=True)))


def _as_texts(values: pl.Series) -> pl.Series:
    if is_interval(values.dtype):
        lo, hi = (values.struct.field(end).cast(pl.String) for end in ("lo", "hi"))
        return (pl.Series(["["] * len(values)) + lo + ";" + hi + "]").alias(values.name)
    if isinstance(values.dtype, pl.List):
        return ("{" + values.cast(pl.List(pl.String)).list.join("; ") + "}").alias(values.name)
    return values.cast(pl.String)


def _blank(texts: pl.Series, values: pl.Series | None) -> pl.Series:
    """Tell which cells say nothing; NA is a value where the original has it."""
    plain = texts.str.strip_chars().str.to_lowercase()
    own = [] if values is None else values.cast(pl.String).str.to_lowercase().unique().to_list()
    return (plain.is_in(["", *(word for word in _BLANKS if word not in own)]) | texts.is_null()).fill_null(value=True)


# --- which column is which -------------------------------------------------------------------------------------------


def _matched(
    frame: pl.DataFrame, texts: pl.DataFrame, original: Records, mapping: Mapping[str, str], path: Path | None
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Return the original's column of each column, and those found by their cells."""
    schema, columns = original.schema, dict[str, str | None]()
    for name, mine in mapping.items():
        for word, names in ((name, frame.columns), (mine, list(schema.names))):
            if word not in names and word != "":
                raise SchemaError(say("no_column", name=word, hint=suggestion(word, names)), file=path)
        if mine and mine in columns.values():
            raise SchemaError(_("two columns are named {name!r}; rename one").format(name=mine), file=path)
        columns[name] = mine or None

    def bare(name: str) -> str:
        words = spelled(name).strip("_").split("_")
        return "".join(word for word in words if word not in _ADDED)

    def claim(fits: Any) -> None:
        open_ = [name for name in frame.columns if name not in columns]
        free = [column for column in schema.columns if column.name not in columns.values()]
        pairs = [(name, column.name) for name in open_ for column in free if fits(name, column)]
        for name, mine in pairs:  # a name that could be two columns' is nobody's by its name
            if sum(pair[0] == name or pair[1] == mine for pair in pairs) == 1:
                columns[name] = mine

    claim(lambda name, column: name.strip() == column.name)
    claim(lambda name, column: spelled(name) == spelled(column.name))
    claim(lambda name, column: bare(name) == bare(column.name) != "")
    who = (Role.CUSTOMER, Role.IDENTIFIER)
    claim(lambda name, column: column.role in who and (bare(name) in ("", "id", "pid", "no")))
    if schema.kind == Kind.HISTORY:
        claim(lambda name, column: column.role in _HINTS and says(name, *_HINTS[column.role]))
    by_values = []
    doubtful: dict[str, list[str]] = {}
    for name in (name for name in frame.columns if name not in columns):
        free = [c for c in schema.columns if c.name not in columns.values()]
        scores = {c.name: _alike(frame[name], texts[name], c, original.frame[c.name]) for c in free}
        best = sorted(scores, key=lambda n: -scores[n])
        if not best or scores[best[0]] < _SURE:
            continue
        near = [n for n in best if scores[n] >= max(_SURE, scores[best[0]] - _APART)]
        if len(near) > 1:
            doubtful[name] = near
        else:
            columns[name] = near[0]
            by_values.append(name)
    for name, near in doubtful.items():
        left = [n for n in near if n not in columns.values()]
        if len(left) > 1:
            about = {"candidates": listing(left), "example": f"--map {name}={left[0]}", "none": f"{name}="}
            raise SchemaError(say("several", **about), file=path, column=name)
        columns[name] = left[0] if left else None
        by_values += [name] if left else []
    columns |= {name: None for name in frame.columns if name not in columns}
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
    lo, hi = (numbers(end.drop_nulls()) for end in _ends_of(read))
    first, last = numbers(known.sort())[[0, -1]]
    span = max(last, hi.max()) - min(first, lo.min())
    return float((min(last, hi.max()) - max(first, lo.min())) / span) if span > 0 else 0.0


def _ends_of(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    return (cells.struct.field("lo"), cells.struct.field("hi")) if is_interval(cells.dtype) else (cells, cells)


# --- cells -----------------------------------------------------------------------------------------------------------


def _read_column(
    values: pl.Series, texts: pl.Series, column: Column, own: pl.Series, beside: pl.Series | None = None
) -> tuple[pl.Series, int]:
    """Return what cells mean, null where nothing or nobody can say, and how many nobody can read.

    Where it is known what stood ``beside`` each cell in the original, a label means the values it stands for there.
    """
    if is_generalised(values.dtype):
        values = texts
    values = values.set(texts.is_null(), None)
    typed = read_values(values.to_frame(column.name), [column])[0][column.name]
    if column.scale == Scale.NOMINAL:
        if column.role in (Role.CUSTOMER, Role.IDENTIFIER):
            return typed, 0
        domain = own.drop_nulls().cast(pl.String).unique().sort()
        odd = typed.drop_nulls().unique(maintain_order=True)
        odd = odd.filter(~odd.is_in(domain.implode()))
        meanings = {label: _members(label, domain) for label in odd}
        if beside is not None:
            both = pl.DataFrame({"label": typed, "value": beside.cast(pl.String)}).drop_nulls()
            cover = dict(both.group_by("label").agg(pl.col("value").unique().sort()).iter_rows())
            meanings = {label: cover.get(label) if known is None else known for label, known in meanings.items()}
        if not any(meanings.values()):
            # codes for items are worth an attack; what other labels cover nobody says
            count = int(typed.is_in(odd.implode()).sum())
            renamed = column.role == Role.ITEM or not len(domain)
            return (typed if renamed else typed.set(typed.is_in(odd.implode()), None)), count
        lists = {label: [label] if members is None else members for label, members in meanings.items()}
        lists |= {value: [value] for value in domain}
        if column.role != Role.ITEM:
            lists = {label: members for label, members in lists.items() if label not in meanings or meanings[label]}
        unread = int(typed.is_in([label for label, members in meanings.items() if members is None]).sum())
        meant = pl.DataFrame({"label": list(lists), "set": list(lists.values())})
        cells = typed.to_frame("label").join(meant, on="label", how="left", maintain_order="left")["set"]
        listed = sorted({member for members in lists.values() for member in members})
        return cells.cast(set_dtype(listed)).alias(column.name), unread
    lost = typed.is_null() & texts.is_not_null()
    if not lost.any():
        return typed, 0
    labels = texts.filter(lost).unique(maintain_order=True)
    least, most = own.min(), own.max()
    ranges = [_range(label, column, least, most) for label in labels]
    types: dict[str, Any] = {"label": pl.String, "lo": column.dtype, "hi": column.dtype}
    rows = [(label, *ends) for label, ends in zip(labels, ranges, strict=True) if ends is not None]
    meant = pl.DataFrame(rows, schema=types, orient="row", strict=False)
    both = pl.DataFrame({"label": texts, "own": typed}).join(meant, on="label", how="left", maintain_order="left")
    ends = both.select(pl.coalesce("own", "lo").alias("lo"), pl.coalesce("own", "hi").alias("hi"))
    read = ends.select(pl.when(pl.col("lo").is_not_null()).then(pl.struct("lo", "hi")).alias(column.name))[column.name]
    return read, int((read.is_null() & texts.is_not_null()).sum())


def _members(label: str, domain: pl.Series) -> list[str] | None:
    """Return the values of the original that a label lists or masks; None where nobody can say.

    >>> cities = pl.Series(["13053", "13068", "14850"])
    >>> _members("130**", cities), _members("{13053, 14850}", cities), _members("North", cities)
    (['13053', '13068'], ['13053', '14850'], None)
    >>> _members("[13000, 13060[", cities)
    ['13053']
    """
    if braced := _SET.match(label):
        for sign in (";", ",", "|"):
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


def _range(label: str, column: Column, least: Any, most: Any) -> tuple[Any, Any] | None:
    """Return the ends of what a label allows, both included; open ends stop before, missing ends at the original's.

    >>> age = Column(name="age", type="integer")
    >>> [_range(label, age, 17, 90) for label in ("[20, 30[", "(20,30]", "20-29", ">=30", "3*", "{5, 7}", "old")]
    [(20, 29), (21, 30), (20, 29), (30, 90), (30, 39), (5, 7), None]
    """

    def value(text: str) -> Any:
        return read_values(pl.DataFrame({column.name: [text.strip()]}), [column])[0][column.name][0]

    low: Any = None
    high: Any = None
    open_low = open_high = False
    if braced := _SET.match(label):
        members = [value(part) for part in re.split(r"[;,|]", braced[1])]
        known = [member for member in members if member is not None]
        return (min(known), max(known)) if known and len(known) == len(members) else None
    if column.dtype.is_temporal():
        if days := date_range(label.rstrip("-/.*")):
            low, high = days
            if column.type == ValueType.DATETIME:
                low, high = dt.datetime.combine(low, dt.time()), dt.datetime.combine(high, dt.time.max)
            return low, high
        bounds = None
    else:
        start = prefix(label)
        if start is not None and re.fullmatch(r"\d+", start):
            width = 10 ** (len(label.strip()) - len(start))
            return int(start) * width, (int(start) + 1) * width - 1
        bounds = number_range(label)
    if bounds is not None:
        low, high = (None if math.isinf(end) else end for end in bounds[:2])
        open_low, open_high = bounds.open_low, bounds.open_high
    elif match := _ENDS.match(label):
        low, high = value(match[2]), value(match[3])
        if low is None or high is None:
            return None
        open_low, open_high = match[1] in ("]", "("), match[4] in ("[", ")")
    else:
        return None
    step: Any = None if column.type == ValueType.DECIMAL else 1
    if column.dtype.is_temporal():
        step = dt.timedelta(days=1) if column.type == ValueType.DATE else dt.timedelta(seconds=1)
        step = None if column.type == ValueType.TIME else step
    elif column.type == ValueType.INTEGER:
        open_low, low = open_low and low == math.floor(low), None if low is None else math.ceil(low)
        open_high, high = open_high and high == math.ceil(high), None if high is None else math.floor(high)
    if open_low and low is not None:
        low = low + step if step is not None else np.nextafter(low, math.inf) if isinstance(low, float) else low
    if open_high and high is not None:
        high = high - step if step is not None else np.nextafter(high, -math.inf) if isinstance(high, float) else high
    low = (least if high is None or least is None or least <= high else high) if low is None else low
    high = (most if most is None or most >= low else low) if high is None else high
    return None if low is None or high is None or low > high else (low, high)


def column_fits(cells: pl.Series, values: pl.Series) -> tuple[np.ndarray[Any, Any], ...]:
    """Return numbers of different cells and of different values, and a table: which cell allows which value.

    A cell that says nothing allows every value; a blank value fits such a cell and no other.

    >>> cell, value, fits = column_fits(pl.Series("age", [{"lo": 20, "hi": 29}, None]), pl.Series([23, 31]))
    >>> fits[cell][:, value].tolist()
    [[True, False], [True, True]]
    """
    known = values.unique().sort(nulls_last=True)
    rows = (
        values.to_frame("v")
        .join(known.to_frame("v").with_row_index("at"), on="v", nulls_equal=True, how="left", maintain_order="left")[
            "at"
        ]
        .to_numpy()
    )
    key = cells.cast(pl.List(pl.String)).list.join("\0") if isinstance(cells.dtype, pl.List) else cells
    keyed = key.to_frame("k").with_row_index("row").unique("k", keep="first", maintain_order=True)
    keyed = keyed.with_row_index("at")
    which = key.to_frame("k").join(keyed.drop("row"), on="k", how="left", maintain_order="left", nulls_equal=True)["at"]
    different = cells.gather(keyed["row"])
    silent = different.is_null().to_numpy()
    there = known.is_not_null().to_numpy()
    if isinstance(cells.dtype, pl.List) or not (known.dtype.is_numeric() or known.dtype.is_temporal()):
        listed = different.cast(pl.List(pl.String)) if isinstance(cells.dtype, pl.List) else different.cast(pl.String)
        pairs = pl.DataFrame({"c": range(len(different)), "v": listed})
        pairs = pairs.explode("v") if isinstance(cells.dtype, pl.List) else pairs
        place = known.cast(pl.String).to_frame("v").with_row_index("at").drop_nulls()
        pairs = pairs.drop_nulls().join(place, on="v", how="inner")
        fits = np.zeros((len(different), len(known)), dtype=np.bool_)
        fits[pairs["c"].to_numpy(), pairs["at"].to_numpy()] = True
    else:
        lo, hi = (numbers(end)[:, None] for end in _ends_of(different))
        own = numbers(known)[None, :]
        fits = (lo <= own) & (own <= hi) & there[None, :]
    fits[silent] = True
    return which.to_numpy(), rows, fits
