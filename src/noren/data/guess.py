"""A first schema for a file nobody has described, to be read and mended by a person.

Types come from the values (what every value of the sample can be read as), roles from column names in English and
Japanese and from the values' shape. Every choice is said; one that could go either way is said as a question.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from noren.data.formats.binary_files import excel_frame, is_excel, is_parquet, parquet_head
from noren.data.formats.files import readable
from noren.data.formats.parse import DATE_FORMATS, INTEGER, NUMBER, TIME_FORMATS
from noren.data.formats.scan import scan_text
from noren.data.formats.text_files import column_names, text_blocks
from noren.data.schema import Column, Kind, Role, Scale, Schema, ValueType, name_problem
from noren.errors import SchemaError
from noren.i18n import _
from noren.naming import listing

__all__ = ["Guess", "guess_columns", "guess_schema"]

SAMPLE_ROWS = 50_000
_FEW_VALUES = 100
_COMPACT_DATE = r"^(19|20)[0-9]{6}$"

_ROLE_NAMES = {
    Role.CUSTOMER: r"customer|client|member|user|buyer|card|顧客|会員|購入者",
    Role.INVOICE: r"invoice|order|receipt|basket|transaction|伝票|注文|レシート",
    Role.DATE: r"date|day|日付|購買日|購入日|年月日",
    Role.TIME: r"time|時刻|時間",
    Role.DESCRIPTION: r"desc|product.?name|item.?name|商品名|品名",
    Role.ITEM: r"item|stock|product|article|sku|goods|商品|品目",
    Role.PRICE: r"price|amount|cost|単価|価格|金額",
    Role.QUANTITY: r"quantity|qty|count|units|数量|個数|点数",
}
_IDENTIFIER = re.compile(r"(^|[_\W])(id|name|e-?mail|phone|ssn|address)($|[_\W])|氏名|電話|住所", re.IGNORECASE)
_SENSITIVE = re.compile(r"salary|income|disease|diagnos|religion|年収|病|疾患|宗教", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """A guessed schema, what was chosen and why, and what a person should look at."""

    schema: Schema
    said: tuple[str, ...]
    questions: tuple[str, ...]


def guess_schema(path: str | Path) -> Guess:
    """Guess the schema of a CSV, Parquet or Excel file."""
    path = readable(path)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name.split(".")[0]).strip("-._") or "custom"
    if is_parquet(path):
        head, total = parquet_head(path, SAMPLE_ROWS)
        said = _("read as Parquet, {columns} columns, {rows:,} rows").format(columns=head.width, rows=total)
        return guess_columns(head, name, said=said, file=path)
    if is_excel(path):
        frame = excel_frame(path)
        said = _("read as Excel, first sheet, {columns} columns, {rows:,} rows").format(
            columns=frame.width, rows=len(frame)
        )
        return guess_columns(frame[:SAMPLE_ROWS], name, said=said, file=path)
    form = scan_text(path)
    names = column_names(path, form)
    head_blocks: list[pl.DataFrame] = []
    strip = _spaced(form.first_line)
    for _row, block in text_blocks(path, form, strip=strip):
        head_blocks.append(block)
        if sum(map(len, head_blocks)) >= SAMPLE_ROWS:
            break
    if head_blocks:
        head = pl.concat(head_blocks)[:SAMPLE_ROWS]
        head = head.rename(dict(zip(head.columns, names, strict=True)))
    else:
        head = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    guess = guess_columns(head, name, said=form.sentence(), file=path)
    layout = guess.schema.text.model_copy(
        update={"delimiter": form.delimiter, "header": form.header, "encoding": form.encoding, "strip": strip}
    )
    return Guess(guess.schema.model_copy(update={"text": layout}), guess.said, guess.questions)


def _spaced(cells: tuple[str, ...]) -> bool:
    """Tell whether the file writes a space after each delimiter, as UCI's files do."""
    return len(cells) > 1 and all(cell.startswith(" ") for cell in cells[1:])


def guess_columns(head: pl.DataFrame, name: str = "custom", *, said: str = "", file: str | Path | None = None) -> Guess:
    """Guess the schema of a data frame from its first rows."""
    for given in head.columns:
        problem = name_problem(given)
        if problem:
            raise SchemaError(problem, _("rename the column"), file=file, value=given)
    questions: list[str] = []
    columns = [_column(head[n], questions) for n in head.columns]
    history, needed_questions = _as_history(columns, head)
    if history is not None:
        kind, columns = Kind.HISTORY, history
    else:
        kind, columns = Kind.TABLE, [_as_attribute(c, head[c.name]) for c in columns]
        questions += needed_questions
    schema = Schema(name=name[:100], kind=kind, columns=tuple(columns))
    told = [said] if said else []
    told.append(
        _("guessed a {kind}: {roles}").format(
            kind=_("history") if kind == Kind.HISTORY else _("table"),
            roles=listing([f"{c.name} = {c.role}" for c in columns]),
        )
    )
    return Guess(schema, tuple(told), tuple(questions))


# --- types -----------------------------------------------------------------------------------------------------------


def _column(values: pl.Series, questions: list[str]) -> Column:
    """Guess the type, format and grid of one column."""
    dtype = values.dtype
    missing = bool(values.is_null().any()) or (dtype == pl.String and bool((values == "").any()))
    about: dict[str, object] = {"name": values.name, "optional": missing}
    if dtype == pl.String:
        about |= _text_type(values, questions)
    elif dtype == pl.Date:
        about |= {"type": ValueType.DATE, "width": 1.0}
    elif dtype == pl.Time:
        about |= {"type": ValueType.TIME, "width": 1.0}
    elif isinstance(dtype, pl.Datetime):
        # Excel knows no days but at midnight
        days = bool((values.dt.time() == dt.time()).all())
        about |= {"type": ValueType.DATE if days else ValueType.DATETIME, "width": 1.0}
    elif dtype.is_integer():
        about |= {"type": ValueType.INTEGER, "width": 1.0}
    elif dtype.is_float() or dtype.is_decimal():
        numbers = values.cast(pl.Float64)
        about |= _number_type(numbers)
        known = numbers.fill_nan(None)
        if bool(((known.abs() < 10**18) & (known == known.round())).all()):
            # Excel, and pandas where some are missing, hold whole numbers so
            about |= {"type": ValueType.INTEGER, "optional": missing or bool(numbers.is_nan().any())}
    else:
        about |= {"type": ValueType.TEXT}
    return Column.model_validate(about)


def _text_type(values: pl.Series, questions: list[str]) -> dict[str, object]:
    filled = values.filter((values != "") & values.is_not_null())
    if len(filled) == 0:
        return {"type": ValueType.TEXT}
    if filled.str.contains(_COMPACT_DATE).all() and _reads(filled, pl.Date(), "%Y%m%d"):
        return {"type": ValueType.DATE, "format": "%Y%m%d", "width": 1.0}
    # numbers that a number type would not give back as written are names: 007, or a serial number of 20 digits
    names = bool(filled.str.contains(r"^[+-]?0[0-9]|^[+-]?[0-9]{19,}$").any())
    if filled.str.contains(INTEGER).all():
        return {"type": ValueType.TEXT} if names else {"type": ValueType.INTEGER, "width": 1.0}
    if filled.str.contains(NUMBER).all():
        return {"type": ValueType.TEXT} if names else _number_type(filled.cast(pl.Float64))
    dates = [f for f in DATE_FORMATS if f != "%Y%m%d" and _reads(filled, pl.Date(), f)]
    if dates:
        if {"%d/%m/%Y", "%m/%d/%Y"} <= set(dates):
            questions.append(
                _("{column}: day first or month first? every value fits both; {format} was chosen").format(
                    column=values.name, format=dates[0]
                )
            )
        return {"type": ValueType.DATE, "format": dates[0], "width": 1.0}
    times = [f for f in TIME_FORMATS if _reads(filled, pl.Time(), f)]
    if times:
        return {"type": ValueType.TIME, "format": times[0], "width": 1.0}
    for date in DATE_FORMATS:
        for gap in (" ", "T"):
            for time in TIME_FORMATS:
                if _reads(filled, pl.Datetime("us"), f"{date}{gap}{time}"):
                    return {"type": ValueType.DATETIME, "format": f"{date}{gap}{time}", "width": 1.0}
    return {"type": ValueType.TEXT}


def _reads(values: pl.Series, dtype: pl.Date | pl.Time | pl.Datetime, pattern: str) -> bool:
    first = values[:50].str.strptime(dtype, pattern, strict=False, exact=True)
    if first.is_null().any():
        return False
    return not values.str.strptime(dtype, pattern, strict=False, exact=True).is_null().any()


def _number_type(values: pl.Series) -> dict[str, object]:
    """Choose the widest of 1, 0.1, 0.01, 0.001, 0.0001 whose grid holds every value."""
    finite = values.filter(values.is_finite())
    for width in (1.0, 0.1, 0.01, 0.001, 0.0001):
        steps = finite / width
        if ((steps - steps.round()).abs() < 1e-6 * steps.abs().clip(1.0)).all():
            # prices seldom keep to whole tenths for long: money has hundredths
            return {"type": ValueType.DECIMAL, "width": min(width, 0.01) if width < 1 else 1.0}
    return {"type": ValueType.DECIMAL}


# --- roles -----------------------------------------------------------------------------------------------------------


def _as_history(columns: list[Column], head: pl.DataFrame) -> tuple[list[Column] | None, list[str]]:
    """Give history roles by name; None where customer, item or date cannot be found."""
    chosen: dict[str, Role] = {}
    for role, pattern in _ROLE_NAMES.items():
        for column in columns:
            if column.name in chosen or not re.search(pattern, column.name, re.IGNORECASE):
                continue
            if _fits(role, column):
                chosen[column.name] = role
                break
    if all(re.fullmatch(r"column\d+", c.name) for c in columns):
        chosen = _by_position(columns, head)
    found = set(chosen.values())
    lacking = [str(r) for r in (Role.CUSTOMER, Role.DATE, Role.ITEM) if r not in found]
    if lacking:
        near = len(lacking) < 3
        return None, [
            _("no column looks like {roles}, so this was taken as a table; is it a history?").format(
                roles=", ".join(lacking)
            )
        ] if near else []
    described = []
    for column in columns:
        role = chosen.get(column.name, Role.OTHER)
        update: dict[str, object] = {"role": role}
        if role in (Role.CUSTOMER, Role.INVOICE, Role.ITEM, Role.DESCRIPTION):
            # numbers that name something are names: customers 007 and 7 are different people
            update |= {"type": ValueType.TEXT, "width": None, "format": None}
        if role == Role.QUANTITY and _whole(head[column.name]):
            update["type"] = ValueType.INTEGER
        if role == Role.PRICE and column.type == ValueType.INTEGER:
            update |= {"type": ValueType.DECIMAL, "width": 1.0}
        described.append(column.model_copy(update=update))
    return described, []


def _whole(values: pl.Series) -> bool:
    """Tell whether every number is written as a whole one, if only as 12.0; 1e3 is not."""
    if values.dtype != pl.String:
        return True
    return bool(values.filter(values != "").str.replace(r"\.0+$", "").str.contains(INTEGER).all())


def _fits(role: Role, column: Column) -> bool:
    """Tell whether a column's values can play ``role``."""
    match role:
        case Role.DATE:
            return column.type in (ValueType.DATE, ValueType.DATETIME)
        case Role.TIME:
            return column.type == ValueType.TIME
        case Role.PRICE:
            return column.scale == Scale.RATIO
        case Role.QUANTITY:
            return column.scale == Scale.RATIO and column.width == 1.0
        case _:
            return column.type in (ValueType.TEXT, ValueType.INTEGER)


def _by_position(columns: list[Column], head: pl.DataFrame) -> dict[str, Role]:
    """Recognise the contests' headerless orders: customer, (invoice,) date, (time,) item, price, quantity."""
    orders = (
        (Role.CUSTOMER, Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY),
        (Role.CUSTOMER, Role.INVOICE, Role.DATE, Role.TIME, Role.ITEM, Role.PRICE, Role.QUANTITY),
    )
    for order in orders:
        if len(order) != len(columns):
            continue
        if all(_fits(r, c) for r, c in zip(order, columns, strict=True)):
            return {c.name: r for r, c in zip(order, columns, strict=True)}
    return {}


def _as_attribute(column: Column, values: pl.Series) -> Column:
    """Give a table role: identifier when every value differs, sensitive by name, else quasi."""
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        return column.model_copy(update={"role": Role.OTHER})
    distinct = values.n_unique()
    role = Role.QUASI
    if _SENSITIVE.search(column.name):
        role = Role.SENSITIVE
    elif len(values) > 1 and (
        (distinct == len(values) and column.type in (ValueType.TEXT, ValueType.INTEGER))
        or (_IDENTIFIER.search(column.name) and distinct > len(values) / 2)
    ):
        role = Role.IDENTIFIER
    update: dict[str, object] = {"role": role}
    if column.type == ValueType.TEXT and values.dtype == pl.String and distinct <= _FEW_VALUES:
        filled = values.filter((values != "") & values.is_not_null())
        if len(filled):
            update["domain"] = tuple(filled.unique().sort().to_list())
    return column.model_copy(update=update)
