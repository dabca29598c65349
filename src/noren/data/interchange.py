"""Data frames of other makes, in and out: Polars, pandas, Arrow.

What comes in becomes a Polars frame, whose columns a schema then types. The index of a pandas frame is not read: it is
a row's place or label, and ``reset_index()`` makes a column of it. pandas is never imported unless somebody hands one
of its frames over or asks for one.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import polars as pl
import pyarrow as pa

from noren.data.cells import is_interval, set_dtype
from noren.data.formats.parse import parse_cells, parse_column
from noren.data.schema import Column, Role, Scale, Schema
from noren.errors import ParameterError, SchemaError, ValueInCellError, listing
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

Cells = Literal["text", "typed"]
"""How generalised cells are handed out: as the text that files have, or as intervals and lists."""


# --- in --------------------------------------------------------------------------------------------------------------


def frame_of(data: Any) -> pl.DataFrame:
    """Return ``data`` as a Polars frame: a Polars or pandas frame, an Arrow table, or columns by name.

    A lazy frame is collected. Of a pandas frame the columns are taken and the index is not; its missing values (NaN,
    NaT, NA) are nulls.

    >>> frame_of({"age": [31, None]})["age"].to_list()
    [31, None]
    """
    cure = _("give a Polars or pandas data frame, an Arrow table, columns by name, or the path of a file")
    frame: pl.DataFrame | None
    if isinstance(data, pl.LazyFrame):
        try:
            frame = data.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ParameterError(*say.problem("lazy_frame_cannot_collected", reason=_first_line(error))) from None
    elif _is_pandas(data):
        frame = _from_pandas(data)
    else:
        try:
            frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            frame = None
    if frame is None or isinstance(data, bytes):
        raise ParameterError(_("{kind} is not a table of data").format(kind=type(data).__name__), cure)
    if not frame.width:
        raise ParameterError(_("the data have no columns"), cure)
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


def _from_pandas(data: Any) -> pl.DataFrame:
    """Return a frame of pandas; stop at a column of mixed or foreign values, naming it."""
    names = [str(name) for name in data.columns]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise SchemaError(_("two columns are called {name!r}; give each a name of its own").format(name=twice))
    columns = []
    for at, name in enumerate(names):
        values = data.iloc[:, at]
        if str(values.dtype).startswith(("period", "interval")):
            raise SchemaError(*say.problem("values_pandas_type_not", dtype=values.dtype), column=name)
        try:
            series: Any = pl.from_pandas(values.reset_index(drop=True), nan_to_null=True)
        except (TypeError, ValueError, pl.exceptions.PolarsError, pa.ArrowException) as error:
            raise SchemaError(
                *say.problem("values_pandas_type_cannot", dtype=values.dtype, reason=_first_line(error)), column=name
            ) from None
        columns.append(pl.Series(name, series))
    return pl.DataFrame(columns)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


# --- released cells in -----------------------------------------------------------------------------------------------


def released_values(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Type the columns of a release that comes as a frame: exact values, or cells as texts, intervals and lists.

    A missing cell is a suppressed one, and a row without any is a deleted one.

    >>> released_values(pl.DataFrame({"age": ["[20;29]", "*"]}), Schema.of(
    ...     {"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}}))["age"].to_list()
    [{'lo': 20, 'hi': 29}, None]
    """
    return pl.DataFrame([_released(frame[column.name], column) for column in schema.columns])


def _released(values: pl.Series, column: Column) -> pl.Series:
    dtype = values.dtype
    if is_interval(dtype) and column.scale != Scale.NOMINAL:
        name = column.name
        low, high = (parse_column(values.struct.field(end), column) for end in ("lo", "hi"))
        wrong = ((low > high) | (low.is_null() != high.is_null())).fill_null(value=False)
        if wrong.any():
            at = int(wrong.arg_true()[0])
            words = say.problem("range_ends_before_starts")
            raise ValueInCellError(*words, row=at + 1, column=name, value=f"[{low[at]};{high[at]}]")
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
        raise ParameterError(*say.problem("pandas_not_installed")) from None
    columns = {name: _pandas_column(frame[name], pandas) for name in frame.columns}
    return pandas.DataFrame(columns, columns=list(columns), index=pandas.RangeIndex(len(frame)))


def _pandas_column(values: pl.Series, pandas: Any) -> Any:
    dtype = values.dtype
    if isinstance(dtype, pl.Enum | pl.Categorical):
        values = values.cast(pl.String)
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Enum | pl.Categorical):
        values = values.cast(pl.List(pl.String))
    if dtype.is_nested() or dtype == pl.Time:
        return pandas.Series(values.to_list(), dtype=object)
    if dtype.is_integer() and values.null_count():
        # a float would lose the last digits of a long number
        whole = values.cast(pl.Int64)
        return pandas.arrays.IntegerArray(
            whole.fill_null(0).to_numpy(writable=True), whole.is_null().to_numpy(writable=True)
        )
    return values.to_pandas()


def missing_column(name: str, columns: Sequence[str], index: Sequence[str]) -> SchemaError:
    """Return the error that a frame lacks a column of its schema; the cure tells of an index that has the name."""
    cure = _("their columns are {names}").format(names=listing(columns))
    if name in index:
        cure = _("it is the index of the pandas frame, which is not read; call reset_index() to make it a column")
    return SchemaError(_("the data have no column {name!r}").format(name=name), cure)
