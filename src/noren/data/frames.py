"""Purchase histories and personal tables, and their conversion from and to other data frames.

A :class:`History` has one row per purchase and a customer with many rows; a :class:`Table` has one row per person. Both
are a Polars frame and the schema that says what its columns mean. Columns may hold exact values or generalised cells
(:mod:`noren.data.cells`); the type of the column says which.

Frames of other makes (Polars, pandas, Arrow) come in by :meth:`Records.of` and go out by :meth:`Records.to_polars` and
:meth:`Records.to_pandas`. What comes in becomes a Polars frame, whose columns a schema then types. The index of a
pandas frame is not read: it is a row's place or label, and ``reset_index()`` makes a column of it. pandas is never
imported unless somebody hands one of its frames over or asks for one.

In a notebook data, releases, guesses and scores are one small card of HTML each. A card is bounded (:data:`MOST_ROWS`
rows, :data:`MOST_COLUMNS` columns, :data:`LONGEST` characters a cell), every value in it is escaped, its style is
inside it, and it loads nothing. Colours come from the notebook, so it is as readable on a dark page as on a light one.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import polars as pl
import pyarrow as pa

from noren.data.cells import in_texts, is_generalised, is_interval, set_dtype, with_occurring_domain
from noren.data.formats.parse import parse_cells, parse_column, parse_values
from noren.data.formats.render import Spelling, cell_text, lines_of
from noren.data.schema import Column, Kind, Role, Scale, Schema
from noren.data.schema import reject_missing as reject_missing
from noren.errors import ParameterError, SchemaError, ValueInCellError, listing
from noren.i18n import _, active_language
from noren.tables import Texts

if TYPE_CHECKING:
    from typing import Self

say = Texts(__name__)
Result = TypeVar("Result")

MOST_ROWS = 10
MOST_COLUMNS = 20
LONGEST = 80

_WHOLE: dict[str, Any] = {"tbl_rows": -1, "tbl_cols": -1, "fmt_str_lengths": 200, "tbl_width_chars": 120}
_STYLE = (files("noren.data") / "frames.css").read_text(encoding="utf-8").strip()


def brief(text: object, longest: int = LONGEST) -> str:
    """Return a text on one line: cut where it is long, without signs that steer a terminal or turn a line around.

    >>> brief("a\\nb"), brief("x" * 9, 4)
    ('a�b', 'xxx…')
    """
    whole = str(text)
    cut = whole if len(whole) <= longest else f"{whole[: longest - 1]}…"
    return "".join(c if c.isprintable() or c == "\u3000" else "�" for c in cut)


def number(value: float) -> str:
    """Return a number as a person reads it: four digits that count, thousands apart.

    >>> number(0.123456), number(2), number(38000.0), number(float("nan"))
    ('0.1235', '2', '38,000', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.4g}"


@dataclass(frozen=True)
class PreviewGrid:
    """The first rows of a table, as texts; a heading is a name and a smaller word under it."""

    headings: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    all_rows: int
    all_columns: int

    def html(self) -> str:
        """Return the table, and how much of the whole it is."""
        styles = [' class="noren-number"' if numeric else "" for numeric in self.numeric]
        head = "".join(
            f'<th scope="col"{style}>{_safe(name)}{f"<small>{_safe(under)}</small>" if under else ""}</th>'
            for (name, under), style in zip(self.headings, styles, strict=True)
        )
        cells = [[f"<td{style}>{_safe(cell)}</td>" for cell, style in zip(r, styles, strict=True)] for r in self.rows]
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        rows, columns = _("{first} to {last} of {total}"), _("columns {first} to {last} of {total}")
        counts = ((rows, self.rows, self.all_rows), (columns, self.headings, self.all_columns))
        parts = [text.format(first=1, last=len(p), total=f"{total:,}") for text, p, total in counts if total > len(p)]
        caption = f"<caption>{_safe('; '.join(parts))}</caption>" if parts else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, repr=False)
class Card:
    """A kind of thing, its name, facts about it and perhaps its first rows."""

    kind: str
    name: str
    facts: Sequence[tuple[str, str]]
    grid: PreviewGrid | None = None

    def html(self) -> str:
        """Return the card."""
        facts = "".join(f"<dt>{_safe(label)}</dt><dd>{_safe(value, 300)}</dd>" for label, value in self.facts)
        return (
            f'<div class="noren-card" lang="{active_language()}"><style>{_STYLE}</style>'
            f"<p>{_safe(self.kind)} <strong>{_safe(self.name)}</strong></p><dl>{facts}</dl>"
            f"{self.grid.html() if self.grid is not None else ''}</div>"
        )

    _repr_html_ = html

    def __repr__(self) -> str:
        return "\n".join([f"{self.kind} {self.name}", *(f"{label}: {value}" for label, value in self.facts)])


class ResultSet(dict[str, Result]):
    """ResultSet by name, printed as a table: what ``"all"`` attacks or measures gave, or the components there are.

    ``failed`` names those that broke down, with the reason.
    """

    def __init__(
        self, results: Mapping[str, Result], table: pl.DataFrame, failed: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(results)
        self._table, self.failed = table, failed or {}

    def to_polars(self) -> pl.DataFrame:
        """Return the table, one row for each result; ``to_pandas()`` of it is pandas'."""
        return self._table

    def __repr__(self) -> str:
        with pl.Config(**_WHOLE, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True):
            return "\n".join([str(self._table), *(f"{name} failed: {why}" for name, why in self.failed.items())])

    def _repr_html_(self) -> str:
        table = self._table
        rows = [[number(c) if isinstance(c, int | float) else str(c or "–") for c in r] for r in table.rows()]
        numeric = [dtype.is_numeric() for dtype in table.dtypes]
        grid = PreviewGrid([(name, "") for name in table.columns], rows, numeric, len(table), table.width)
        return Card("", "", [*self.failed.items()], grid).html()


def _safe(text: object, longest: int = LONGEST) -> str:
    return escape(brief(text, longest))


Cells = Literal["text", "typed"]
"""How generalised cells are handed out: as the text that files have, or as intervals and lists."""


# --- in --------------------------------------------------------------------------------------------------------------


def frame_of(data: Any, needed: Iterable[str] = ()) -> pl.DataFrame:
    """Return ``data`` as a Polars frame with the ``needed`` columns: a Polars or pandas frame, an Arrow table, or
    columns by name.

    A lazy frame is collected. Of a pandas frame the columns are taken and the index is not; its missing values (NaN,
    NaT, NA) are nulls.

    >>> frame_of({"age": [31, None]})["age"].to_list()
    [31, None]
    """
    frame: pl.DataFrame | None
    if isinstance(data, pl.LazyFrame):
        try:
            frame = data.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).partition("\n")[0][:200] or type(error).__name__
            raise ParameterError(say("lazy_frame", reason=reason)) from None
    elif _is_pandas(data):
        names = [str(name) for name in data.columns]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise SchemaError(_("two columns are named {name!r}; rename one").format(name=twice))
        columns = []
        for at, name in enumerate(names):  # values that are mixed or foreign stop it, with the name of the column
            values = data.iloc[:, at]
            if str(values.dtype).startswith(("period", "interval")):
                raise SchemaError(say("pandas_type", dtype=values.dtype), column=name)
            try:
                series: Any = pl.from_pandas(values.reset_index(drop=True), nan_to_null=True)
            except (TypeError, ValueError, pl.exceptions.PolarsError, pa.ArrowException):
                raise SchemaError(say("pandas_type", dtype=values.dtype), column=name) from None
            columns.append(pl.Series(name, series))
        frame = pl.DataFrame(columns)
    else:
        try:
            frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            frame = None
    if frame is None or isinstance(data, bytes):
        raise ParameterError(say("not_a_table", kind=type(data).__name__))
    if not frame.width:
        raise ParameterError(_("the data has no columns"))
    reject_missing(needed, frame.columns, index_names(data))
    return frame


def index_names(data: Any) -> list[str]:
    """Return the names that the index of a pandas frame has; they are no columns.

    >>> index_names({"age": [31]})
    []
    """
    return [str(name) for name in data.index.names if name is not None] if _is_pandas(data) else []


def _is_pandas(data: Any) -> bool:
    # whoever holds a frame of pandas has imported it
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


# --- released cells in -----------------------------------------------------------------------------------------------


def released_cells(values: pl.Series, column: Column) -> pl.Series:
    """Type a column of a release that comes as a frame: exact values, or cells as texts, intervals and lists.

    A missing cell is a suppressed one, and a row without any is a deleted one.

    >>> released_cells(pl.Series("age", ["[20;29]", "*"]), Column(name="age", role="quasi", type="integer")).to_list()
    [{'lo': 20, 'hi': 29}, None]
    """
    dtype = values.dtype
    if is_interval(dtype) and column.scale != Scale.NOMINAL:
        name = column.name
        low, high = (parse_column(values.struct.field(end), column) for end in ("lo", "hi"))
        wrong = ((low > high) | (low.is_null() != high.is_null())).fill_null(value=False)
        if wrong.any():
            at = int(wrong.arg_true()[0])
            raise ValueInCellError(say("reversed_range"), row=at + 1, column=name, value=f"[{low[at]};{high[at]}]")
        return pl.select(pl.when(low.is_not_null()).then(pl.struct(lo=low, hi=high)).alias(name))[name]
    if isinstance(dtype, pl.List) and column.scale == Scale.NOMINAL:
        texts = values.cast(pl.List(pl.String))
        return texts.cast(set_dtype(texts.drop_nulls().explode(empty_as_null=False).unique().sort()))
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        texts = values.cast(pl.String)
        texts = texts.set(texts == "", None)
        if column.role == Role.CUSTOMER:
            return parse_column(texts.set(texts == "*", None), column)
        # a text may begin with a bracket, and a range cannot be of texts
        sign = r"^(\*|\{.*\})$" if column.scale == Scale.NOMINAL else r"^[*\[]"
        if texts.str.contains(sign).any():
            return parse_cells(texts.fill_null("*"), column)
        return parse_column(texts, column)
    return parse_column(values, column)


# --- out -------------------------------------------------------------------------------------------------------------


def pandas_frame(frame: pl.DataFrame) -> Any:
    """Return ``frame`` as a ``pandas.DataFrame`` that says the same.

    Days and moments become ``datetime64``, whole numbers ``int64`` (``Int64`` where some are missing), texts pandas'
    own type for them; times of day, intervals (``{"lo": …, "hi": …}``) and lists are objects.
    """
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise ParameterError(say("pandas_not_installed")) from None
    columns: dict[str, Any] = {}
    for name, dtype in frame.schema.items():
        values = in_texts(frame[name])
        if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Enum | pl.Categorical):
            values = values.cast(pl.List(pl.String))
        if dtype.is_nested() or dtype == pl.Time:
            columns[name] = pandas.Series(values.to_list(), dtype=object)
        elif dtype.is_integer() and values.null_count():
            # a float would lose the last digits of a long number
            whole, missing = values.cast(pl.Int64).fill_null(0), values.is_null()
            numbers = whole.to_numpy(writable=True)
            columns[name] = pandas.arrays.IntegerArray(numbers, missing.to_numpy(writable=True))
        else:
            columns[name] = values.to_pandas()
    return pandas.DataFrame(columns, columns=list(columns), index=pandas.RangeIndex(len(frame)))


# --- records ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Records:
    """Rows and what their columns mean; the common ground of histories and tables."""

    frame: pl.DataFrame
    schema: Schema
    spelling: Spelling = field(default_factory=Spelling, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self, History | Table) and isinstance(self, History) != (self.schema.kind == Kind.HISTORY):
            other = Kind.HISTORY if isinstance(self, History) else Kind.TABLE
            raise SchemaError(say("other_kind", schema=self.schema.name, kind=self.schema.kind, other=other))
        reject_missing(self.schema.names, self.frame.columns)

    @classmethod
    def of(cls, data: Any, schema: Schema) -> Self:
        """Make records of a Polars or pandas data frame (or anything Arrow understands), typed by ``schema``.

        The index of a pandas frame is not read; ``reset_index()`` makes a column of it.
        """
        return cls(parse_values(frame_of(data, schema.names), schema), schema)

    @classmethod
    def of_release(cls, data: Any, schema: Schema) -> Self:
        """Make records of a data frame of released rows, typed by ``schema``.

        Cells may be exact, texts (``[a;b]``, ``{a;b}``, ``*``), intervals (``{"lo": a, "hi": b}``) or lists; a missing
        one is suppressed. What :meth:`to_polars` and :meth:`to_pandas` hand out comes back so.
        """
        frame = frame_of(data, schema.names)
        return cls(pl.DataFrame([released_cells(frame[c.name], c) for c in schema.columns]), schema)

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, role: Role | str) -> pl.Series:
        """Return the column with ``role``."""
        return self.frame[self.schema.role(role).name]

    @property
    def generalised(self) -> bool:
        """Whether any column holds generalised cells."""
        dtypes = self.frame.schema
        return any(is_generalised(dtypes[n]) for n in self.schema.names)

    def texts(self, suppressed: str = "*") -> pl.DataFrame:
        """Return every cell as the file spells it."""
        dtypes = self.frame.schema
        canonical = self.frame.select(
            cell_text(pl.col(c.name), c, dtypes[c.name]).fill_null(suppressed).alias(c.name)
            for c in self.schema.columns
        )
        return self.spelling.apply(canonical)

    def lines(self, suppressed: str = "*") -> pl.Series:
        """Return every row as one comma-separated line of text."""
        return lines_of(self.texts(suppressed))

    def to_polars(self, *, cells: Cells = "text") -> pl.DataFrame:
        """Return the columns of the schema as a Polars frame.

        Exact values have their own types and are null where missing. ``cells`` says how a column of intervals or sets
        is handed out: as the ``text`` that files have (``[a;b]``, ``{a;b}``, a value where it is known, ``*`` where
        nothing is), or ``typed``, as structs ``{lo, hi}`` and lists.
        """
        frame = self.frame.select(with_occurring_domain(self.frame[name]) for name in self.schema.names)
        wide = [name for name, dtype in frame.schema.items() if is_generalised(dtype)]
        return frame if cells == "typed" or not wide else frame.with_columns(self.texts().select(wide))

    def to_pandas(self, *, cells: Cells = "text") -> Any:
        """Return the columns of the schema as a pandas data frame, whose index counts the rows; see :meth:`to_polars`.

        Days are ``datetime64``, whole numbers ``int64``, or ``Int64`` where some are missing.
        """
        return pandas_frame(self.to_polars(cells=cells))

    def __repr__(self) -> str:
        # rows of an original are about people, and what is shown so ends in logs
        columns = brief(listing(self.schema.names), 200)
        return f"{type(self).__name__}(rows={len(self)}, schema={self.schema.name!r}, columns={columns!r})"

    def _repr_html_(self) -> str:
        """Return how a notebook shows the data: rows, people, columns with their roles, the first rows."""
        people = [(_("customers"), f"{len(self.customers):,}")] if isinstance(self, History) else []
        facts = [(_("rows"), f"{len(self):,}"), *people, (_("columns"), f"{len(self.schema.columns):,}")]
        return Card(_("history") if people else _("table"), self.schema.name, facts, self.first_rows()).html()

    def first_rows(self, missing: str = "–") -> PreviewGrid:
        """Return the first rows of the first columns as texts."""
        columns = self.schema.columns[:MOST_COLUMNS]
        head, dtypes = self.frame.head(MOST_ROWS), self.frame.schema
        texts = head.select(cell_text(pl.col(c.name), c, dtypes[c.name]).alias(c.name) for c in columns)
        numeric = [c.scale == Scale.RATIO and not is_generalised(dtypes[c.name]) for c in columns]
        headings = [(c.name, str(c.role)) for c in columns]
        return PreviewGrid(headings, texts.fill_null(missing).rows(), numeric, len(self), len(self.schema.columns))

    def take(self, rows: pl.Series) -> Self:
        """Return the rows at positions ``rows``, in that order, spelling included."""
        # a column that says nothing is made anew, for no memory is needed to say it
        frame = self.frame.select(
            values[:1].new_from_index(0, len(rows))
            if len(values) and values.null_count() == len(values)
            else values.gather(rows)
            for values in self.frame
        )
        return replace(self, frame=frame, spelling=self.spelling.take(rows))

    def without(self, names: Iterable[str]) -> Self:
        """Return the records less some columns."""
        gone = set(names)
        if not gone:
            return self
        frame = self.frame.drop(gone & set(self.frame.columns))
        return replace(self, frame=frame, schema=self.schema.without(list(gone)), spelling=self._spelling_without(gone))

    def with_values(self, values: pl.Series) -> Self:
        """Return the records with other values in a column, all in their canonical spelling."""
        return replace(self, frame=self.frame.with_columns(values), spelling=self._spelling_without({values.name}))

    def _spelling_without(self, names: set[str]) -> Spelling:
        odd = {name: texts for name, texts in self.spelling.exceptions.items() if name not in names}
        return replace(self.spelling, exceptions=odd)

    def digest(self) -> str:
        """Return the SHA-256 of the rows as text, each followed by one line feed."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        content = hashlib.sha256()
        for start in range(0, len(self), 1 << 18):
            part = replace(self, frame=self.frame[start : start + (1 << 18)], spelling=Spelling())
            content.update((part.lines().str.join("\n").item() + "\n").encode())
        return content.hexdigest()


@dataclass(frozen=True, repr=False)
class History(Records):
    """Purchases: who, when, what, at what price, how many; with an optional master table of the customers.

    Examples
    --------
    >>> history = History.of({"customer": ["a", "b"], "date": ["2010/12/1"] * 2, "item": ["x", "y"],
    ...                       "price": [1.5, 2.0], "quantity": [1, 2]}, Schema.preset("pwscup2018"))
    >>> history.customers.to_list(), history.lines()[1]
    (['a', 'b'], 'b,2010/12/1,y,2,2')
    """

    master: pl.DataFrame | None = None

    @property
    def customers(self) -> pl.Series:
        """The customers, in order of first appearance."""
        return self[Role.CUSTOMER].drop_nulls().unique(maintain_order=True)

    def measured(self) -> tuple[Column, ...]:
        """Return the columns that a release generalises and U counts (S0): date, item, price, quantity."""
        roles = (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
        return tuple(c for role in roles for c in self.schema.with_role(role))


@dataclass(frozen=True, repr=False)
class Table(Records):
    """People: one row each, with identifying, linking and sensitive columns."""

    def with_role(self, *roles: Role | str) -> pl.DataFrame:
        """Return the columns with any of ``roles``."""
        return self.frame.select(column.name for column in self.schema.with_role(*roles))


def records_of(frame: pl.DataFrame, schema: Schema) -> Records:
    """Return typed rows as what their schema says they are: a history or a table."""
    return History(frame, schema) if schema.kind == Kind.HISTORY else Table(frame, schema)
