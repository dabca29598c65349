"""Schemas: the role, type, grid and domain of each column.

A schema is a TOML file. Scales say which arithmetic is allowed (S0 §2): *nominal* values are equal or not, *interval*
values (dates, times) have differences, *ratio* values (prices, quantities) have a zero as well. The grid ``width`` is
the smallest step (1 day, 0.01, 1 piece); it decides what a generalised interval costs. Roles say what the column is
for: who bought (``customer``), what (``item``), when, at what price, how many; or, in a personal table, what
identifies, what links (``quasi``) and what is ``sensitive``. What each column of a table is for must be said by
somebody: nothing is "other" by default.
"""

from __future__ import annotations

import datetime as dt
import importlib
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import tomli_w
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from noren.data.value_formats import NUMBER_FORMATS, format_reads_back
from noren.errors import FileError, SchemaError, UnknownNameError, listing, suggestion
from noren.i18n import _, translated
from noren.tables import Texts

say = Texts(__name__)

LONGEST_NAME = 200
PRESETS = ("pwscup2016", "pwscup2017", "pwscup2018", "online-retail", "adult", "sample", "people")


class Scale(StrEnum):
    """Which arithmetic a column's values allow."""

    NOMINAL = "nominal"
    INTERVAL = "interval"
    RATIO = "ratio"


class Role(StrEnum):
    """What a column is for."""

    CUSTOMER = "customer"
    INVOICE = "invoice"
    DATE = "date"
    TIME = "time"
    ITEM = "item"
    PRICE = "price"
    QUANTITY = "quantity"
    DESCRIPTION = "description"
    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Kind(StrEnum):
    """Whether rows are purchases or people."""

    HISTORY = "history"
    TABLE = "table"


class ValueType(StrEnum):
    """How a column's values are held in memory."""

    TEXT = "text"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    INTEGER = "integer"
    DECIMAL = "decimal"


_TYPES: Mapping[ValueType, tuple[Scale, pl.DataType, type, str]] = {
    ValueType.TEXT: (Scale.NOMINAL, pl.String(), str, ""),
    ValueType.DATE: (Scale.INTERVAL, pl.Date(), dt.date, "2010-12-01"),
    ValueType.TIME: (Scale.INTERVAL, pl.Time(), dt.time, "08:00:00"),
    ValueType.DATETIME: (Scale.INTERVAL, pl.Datetime("us"), dt.datetime, "2010-12-01T08:00:00"),
    ValueType.INTEGER: (Scale.RATIO, pl.Int64(), float, "0"),
    ValueType.DECIMAL: (Scale.RATIO, pl.Float64(), float, "0.01"),
}
"""Of each type its scale, its type in memory, and what a bound is, with an example."""
_HISTORY_ROLES: dict[Role, ValueType] = {
    **{role: ValueType.TEXT for role in Role if role not in (Role.QUASI, Role.SENSITIVE)},
    Role.DATE: ValueType.DATE,
    Role.TIME: ValueType.TIME,
    Role.PRICE: ValueType.DECIMAL,
    Role.QUANTITY: ValueType.INTEGER,
}
_TABLE_ROLES = {Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER}
ONLY_IN_HISTORIES = frozenset(_HISTORY_ROLES) - _TABLE_ROLES
"""The roles that rows which are people do not have."""
_SOMETHING_BOUGHT = (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
_ONCE_IN_HISTORY = tuple(role for role in _HISTORY_ROLES if role not in (Role.IDENTIFIER, Role.OTHER))

_GUESSED_NOTE = (
    "# Nobody has confirmed this schema: its domains, widths, types and empty cells widen to hold every row.\n"
    "# Take the next line out, and rows that do not fit are refused.\n"
)

Bound = float | dt.datetime | dt.date | dt.time | None


def _role(value: object) -> object:
    """Answer an unknown role with the roles there are."""
    if isinstance(value, str) and value not in set(Role):
        about = {"value": value, "hint": suggestion(value, [*map(str, Role)]), "names": ", ".join(Role)}
        raise ValueError(say("unknown_value", setting="role", **about))
    return value


def name_problem(name: str) -> str | None:
    """Return what is wrong with a column's name, or None."""
    if not 1 <= len(name) <= LONGEST_NAME:
        return _("a column name has 1 to {most} characters; rename the column").format(most=LONGEST_NAME)
    if name == "*" or (name[0] == "^" and name[-1] == "$"):
        return _("{name!r} is a pattern for several columns; rename the column").format(name=name)
    return None


def _name(value: object) -> object:
    problem = name_problem(value) if isinstance(value, str) else None
    if problem:
        raise ValueError(problem)
    return value


class Column(BaseModel):
    """One column: what its values are and what they are for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, BeforeValidator(_name)]
    role: Annotated[Role, BeforeValidator(_role)] = Role.OTHER
    type: ValueType = ValueType.TEXT
    width: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    format: str | None = None
    number: str | None = None
    domain: tuple[str, ...] | None = None
    minimum: Bound = None
    maximum: Bound = None
    optional: bool = False
    known: bool = True
    """Of a column of role other: whether an attacker is taken to know its values; a verdict lists those he is not."""
    keep: bool = False
    """Whether the column is released although it looks like one that identifies people."""

    @model_validator(mode="before")
    @classmethod
    def _fill_type(cls, settings: Any) -> Any:
        """Let the role decide the type, and the scale stand for it, where the file does not say."""
        if not isinstance(settings, Mapping):
            return settings
        filled = dict(settings)
        scale = filled.pop("scale", None)
        if "type" not in filled:
            role = filled.get("role", Role.OTHER)
            filled["type"] = _HISTORY_ROLES.get(Role(role), ValueType.TEXT) if role in list(Role) else ValueType.TEXT
            if filled["type"] == ValueType.TEXT:
                usual: dict[str, ValueType] = {Scale.RATIO: ValueType.DECIMAL, Scale.INTERVAL: ValueType.DATE}
                filled["type"] = usual.get(str(scale), ValueType.TEXT)
        if scale is not None:
            if scale not in list(Scale):
                raise ValueError(say("unknown_value", setting="scale", value=scale, hint="", names=", ".join(Scale)))
            if filled["type"] not in [kind for kind, about in _TYPES.items() if about[0] == scale]:
                raise ValueError(say("not_for_type", setting=f"scale = {scale}", type=filled["type"]))
        return filled

    @model_validator(mode="after")
    def _consistent(self) -> Column:
        misplaced = {
            "domain": self.domain is not None and self.type != ValueType.TEXT,
            "minimum, maximum": self.type == ValueType.TEXT and not self.minimum is self.maximum is None,
            "format": bool(self.format) and self.scale != Scale.INTERVAL,
            "number": self.number is not None and self.scale != Scale.RATIO,
        }
        for setting in (name for name, wrong in misplaced.items() if wrong):
            raise ValueError(say("not_for_type", setting=setting, type=self.type))
        if self.domain is not None and (not self.domain or len(set(self.domain)) != len(self.domain)):
            raise ValueError(_("a domain needs at least one value, without duplicates"))
        for bound in (self.minimum, self.maximum):
            _scale, _dtype, kind, example = _TYPES[self.type]
            endless = isinstance(bound, float) and not math.isfinite(bound)
            # type(), for a datetime is a date too
            if bound is not None and (type(bound) is not kind or getattr(bound, "tzinfo", None) or endless):
                raise ValueError(say("bad_bounds", type=self.type, example=example))
        if not self.known and self.role != Role.OTHER:
            raise ValueError(_("only a column of role other can be declared unknown (known = false)"))
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:  # type: ignore[operator]
            raise ValueError(_("the minimum is above the maximum"))
        if self.number is not None and self.number not in NUMBER_FORMATS:
            about = {"value": self.number, "hint": "", "names": ", ".join(NUMBER_FORMATS)}
            raise ValueError(say("unknown_value", setting="number", **about))
        if self.format and not format_reads_back(self.format, self.type):
            example = "%Y/%m/%d, %H:%M, %Y-%m-%d %H:%M:%S"
            raise ValueError(say("bad_format", format=self.format, type=self.type, example=example))
        return self

    @property
    def scale(self) -> Scale:
        """The column's scale."""
        return _TYPES[self.type][0]

    @property
    def dtype(self) -> pl.DataType:
        """The Polars type of an exact value."""
        return _TYPES[self.type][1]

    @property
    def grid(self) -> float:
        """The width of one step: as declared, else 1 day, 1 piece or 0.01."""
        if self.width is not None:
            return self.width
        return 0.01 if self.type == ValueType.DECIMAL else 1.0


def _delimiter(value: object) -> object:
    """Refuse delimiters that no file can use."""
    if isinstance(value, str) and (not value.isascii() or value in ('"', "\r", "\n", "\0")):
        raise ValueError(say("bad_delimiter", delimiter=value))
    return value


class TextLayout(BaseModel):
    """How a text file or a workbook is laid out, where it is not left to detection."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: Annotated[str | None, BeforeValidator(_delimiter)] = Field(default=None, min_length=1, max_length=1)
    header: bool | None = None
    encoding: str | None = None
    strip: bool = False
    comment: str | None = Field(default=None, min_length=1, max_length=1)
    sheet: str | None = Field(default=None, min_length=1, max_length=200)
    """The sheet of a workbook to read."""


class Schema(BaseModel):
    """The columns of a history or a table, in file order.

    Examples
    --------
    >>> Schema.preset("pwscup2018").names
    ('customer', 'date', 'item', 'price', 'quantity')
    >>> Schema.preset("pwscup2018")["price"].grid
    0.01
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: str = Field(default="custom", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    title: str = ""
    kind: Kind = Kind.HISTORY
    official: Literal["pwscup2016", "pwscup2017", "pwscup2018"] | None = None
    guessed: bool = False
    """Whether nobody has confirmed it yet: what a guess says of grids, domains and empty cells widens to hold the data
    and never rejects a row."""
    untyped: tuple[str, ...] = ()
    """Columns of which only the role was declared; their types are read off the data."""
    text: TextLayout = TextLayout()
    columns: tuple[Column, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _columns_by_name(cls, settings: Any) -> Any:
        if isinstance(settings, Mapping) and isinstance(settings.get("columns"), Mapping):
            named = []
            for name, about in settings["columns"].items():
                if not isinstance(about, Mapping):
                    raise ValueError(_('column {name!r} needs a table, e.g. {{ role = "quasi" }}').format(name=name))
                named.append({**about, "name": name})
            return {**settings, "columns": named}
        return settings

    @model_validator(mode="after")
    def _consistent(self) -> Schema:
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise ValueError(_("two columns are named {name!r}; rename one").format(name=twice[0]))
        allowed = set(_HISTORY_ROLES) if self.kind == Kind.HISTORY else _TABLE_ROLES
        for column in self.columns:
            if column.role not in allowed:
                about = {"name": column.name, "role": column.role, "kind": self.kind}
                raise ValueError(say("role_of_other_kind", **about, roles=", ".join(sorted(allowed))))
        if self.kind == Kind.HISTORY:
            roles = [c.role for c in self.columns]
            if Role.CUSTOMER not in roles:
                raise ValueError(say("no_column_has_role", role=Role.CUSTOMER))
            if not set(_SOMETHING_BOUGHT) & set(roles):
                raise ValueError(say("no_purchase_column", roles=", ".join(_SOMETHING_BOUGHT)))
            for role in _ONCE_IN_HISTORY:
                if roles.count(role) > 1:
                    raise ValueError(_("two columns have the role {role}; keep one").format(role=role))
        return self

    # --- finding columns ---------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in file order."""
        return tuple(c.name for c in self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        about = {"schema": self.name, "name": name, "hint": suggestion(name, self.names)}
        raise SchemaError(say("schema_no_column", **about, names=listing(self.names)))

    def role(self, role: Role | str) -> Column:
        """Return the one column with ``role``."""
        columns = self.with_role(role)
        if not columns:
            raise SchemaError(say("no_column_has_role", role=role))
        return columns[0]

    def with_role(self, *roles: Role | str) -> tuple[Column, ...]:
        """Return all columns with any of ``roles``, in file order."""
        return tuple(c for c in self.columns if c.role in roles)

    # --- coming and going --------------------------------------------------------------------------------------

    @classmethod
    def preset(cls, name: str) -> Schema:
        """Return the schema that ships with Noren under ``name``."""
        if name not in PRESETS:
            about = {"value": name, "hint": suggestion(name, PRESETS), "names": ", ".join(PRESETS)}
            raise UnknownNameError(say("unknown_value", setting="schema", **about))
        text = (Path(__file__).parent / "presets" / f"{name}.toml").read_text(encoding="utf-8")
        return cls.from_toml(text)

    @classmethod
    def load(cls, where: str | Path | Schema | Mapping[str, Any]) -> Schema:
        """Return a preset by name, the schema in a TOML file or of plain data (:meth:`of`); a schema as it is."""
        if isinstance(where, Schema):
            return where
        if isinstance(where, Mapping):
            return cls.of(where)
        if not isinstance(where, str | PathLike):
            raise SchemaError(say("no_schema", type=type(where).__name__))
        if str(where) in PRESETS:
            return cls.preset(str(where))
        path = Path(where)
        try:
            if path.suffix != ".toml" and not path.exists():
                return cls.preset(str(where))
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise FileError(say("no_such_file"), file=path) from None
        except (OSError, ValueError) as error:
            raise FileError(say("schema_cannot_read", reason=type(error).__name__), file=path) from None
        return cls.from_toml(text, file=path)

    @classmethod
    def from_toml(cls, text: str, *, file: str | Path | None = None) -> Schema:
        """Return the schema written in ``text``."""
        try:
            settings = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of more than 4,300 digits
            raise SchemaError(say("not_toml", reason=str(error)[:200]), file=file) from None
        return cls.of(settings, file=file)

    @classmethod
    def of(cls, settings: Mapping[str, Any], *, file: str | Path | None = None) -> Schema:
        """Return the schema that plain data describe: what a TOML file holds, or the role of each column by its name.

        Where only roles are declared, reading data finds the types. Purchases have a customer, an item, a date …

        >>> Schema.of({"client_id": "customer", "bought": "date", "sku": "item"}).kind
        <Kind.HISTORY: 'history'>
        >>> Schema.of({"age": "quasi", "salary": {"role": "sensitive", "type": "integer"}}).untyped
        ('age',)
        """
        if file is None and "columns" not in settings and settings.get("kind", Role.OTHER) in set(Role):
            named = {str(n): dict(a) if isinstance(a, Mapping) else {"role": a} for n, a in settings.items()}
            bought = any(about.get("role") in ONLY_IN_HISTORIES for about in named.values())
            untyped = tuple(name for name, about in named.items() if "type" not in about)
            kind = Kind.HISTORY if bought else Kind.TABLE
            settings = {"kind": kind, "untyped": untyped, "columns": named}
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = [str(p) for p in first["loc"]]
            column = None
            if len(place) >= 2 and place[0] == "columns" and place[1].isdigit():
                own = [*settings["columns"]][int(place[1])]
                if not isinstance(settings["columns"], Mapping):
                    own = str(own.get("name")) if isinstance(own, Mapping) else ""
                column, place = own, place[2:]
            key = f"{'.'.join(place)}: " if place else ""
            rule = key + translated(re.sub(r"^(Value error|Assertion failed), ", "", first["msg"]))
            raise SchemaError(rule, _("correct the schema"), file=file, column=column) from None

    @classmethod
    def guess(cls, data: Any, *, kind: Kind | str | None = None, **roles: str | Sequence[str]) -> Schema:
        """Return the schema that a data frame, columns by name or a file suggests; see :func:`noren.read`.

        >>> Schema.guess({"client": ["a", "a", "b"], "sku": ["x", "y", "x"]}, customer="client").role("item").name
        'sku'
        """
        # guesses are made of schemas, so their package is loaded when one is wanted
        reading = importlib.import_module("noren.data.reading")
        schema: Schema = reading.guess_of(data, kind=kind, roles=reading.roles_by_column(roles)).schema
        return schema

    def decisions(self) -> dict[str, Any]:
        """Return the kind and the roles, for a guess of the types."""
        return {"kind": self.kind, "roles": {column.name: column.role for column in self.columns}}

    def typed_by(self, guess: Schema) -> Schema:
        """Return the schema with the types of ``guess`` where only roles were declared; it holds as a guess then."""
        if not self.untyped:
            return self
        columns = tuple(
            guess[c.name].model_copy(update={"role": c.role}) if c.name in self.untyped else c for c in self.columns
        )
        return self.model_copy(update={"columns": columns, "untyped": (), "guessed": True, "text": guess.text})

    def to_toml(self) -> str:
        """Return the schema as TOML, leaving out what is the default."""
        layout = self.text.model_dump(exclude_defaults=True)
        about: dict[str, Any] = {"title": self.title, "kind": str(self.kind), "official": self.official}
        about |= {"guessed": self.guessed, "untyped": list(self.untyped), "text": layout}
        head = {"name": self.name} | {key: value for key, value in about.items() if value}
        columns: dict[str, Any] = {}
        for column in self.columns:
            kind = {"role": str(column.role), "scale": str(column.scale), "type": str(column.type)}
            others = column.model_dump(mode="python", exclude_defaults=True, exclude={"name", "role", "type"})
            columns[column.name] = kind | others
        top = tomli_w.dumps(head)
        if self.guessed:
            # not translated: the text of a schema is digested
            top = top.replace("guessed = true\n", f"{_GUESSED_NOTE}guessed = true\n", 1)
        return top + "\n" + tomli_w.dumps({"columns": columns})

    def without(self, names: Sequence[str]) -> Schema:
        """Return the schema less some columns."""
        return self.model_copy(update={"columns": tuple(c for c in self.columns if c.name not in names)})


def reject_missing(
    names: Iterable[str], columns: Sequence[str], index: Sequence[str] = (), file: str | Path | None = None
) -> None:
    """Stop where data lack a column of one of these names; the cure tells of an index of pandas that has the name."""
    there = set(columns)
    for name in (name for name in names if name not in there):
        rule = "is_index" if name in index else "data_no_column"
        raise SchemaError(say(rule, name=name, hint="", names=listing(columns)), file=file)


def reject_unclassified(schema: Schema) -> None:
    """Stop with a question where a column of a table has no role.

    A column that nobody thought about may be the one that gives people away, so it does not pass as ``other``.

    >>> reject_unclassified(Schema.preset("adult"))
    """
    if schema.kind != Kind.TABLE:
        return
    open_ = [column.name for column in schema.columns if "role" not in column.model_fields_set]
    if open_:
        raise SchemaError(say("role_missing", columns=listing(open_), example=open_[0]), column=open_[0])
