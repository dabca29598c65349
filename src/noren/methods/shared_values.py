"""Shared parts of methods that generalise histories: parameters, categories of items, cells of aligned rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field, ValidationInfo

from noren.data.arrays import exact_values, numbers
from noren.data.categories import in_categories, read_categories
from noren.data.compatibility import rows_without_customer
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.kernels.judging.cell_error import interval_error, population_sd
from noren.kernels.sharing.rows import DELETED

SHARING = N_("Minimum size of a group (k)")
SHARING_HELP = N_("minimum number of customers who share each public history; 3 or more are recommended")
EFFORT = N_("How long to search")
EFFORT_WORDS = {"quick": N_("quick"), "normal": N_("normal"), "thorough": N_("thorough")}
"""Labels and help of parameters that several methods have."""


def out_of_range(name: str, value: object, allowed: str) -> ValueError:
    """Return the error for a parameter's value outside the ``allowed`` range, such as ``k >= 2``."""
    return ValueError(str(ParameterError.out_of_range(name, value, allowed)))


def not_below(least: int) -> AfterValidator:
    """Return a validator of a parameter: a number, if there is one, is at least ``least``."""

    def checked(value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value < least:
            raise out_of_range(str(info.field_name), value, f"{info.field_name} >= {least}")
        return value

    return AfterValidator(checked)


AT_LEAST_2 = not_below(2)
Sharing = Annotated[int, AT_LEAST_2, Field(json_schema_extra={"minimum": 2})]
"""How many share a history: 2 or more."""

SuppressCells = Annotated[
    bool, Field(title=N_("Suppress cells where that loses less than generalising them; k stays the same"))
]

CategoryFile = Annotated[
    Path | None,
    Field(
        description=N_("a CSV file item,category (noren categorize writes one): item sets become sets of categories")
    ),
]

MostRows = Annotated[
    int | None,
    not_below(1),
    Field(
        title=N_("Leave out customers with more rows than this (default: none)"),
        description=N_("leave out customers with more rows: nothing public comes from them, and the limit is public"),
    ),
]


def without_long_histories(codes: Whole, most_rows: int | None) -> tuple[Whole, int]:
    """Return the codes of customers without those of more than ``most_rows`` rows, and how many customers are left.

    Rows of those have the code of nobody, so that they are deleted. Row counts alone decide, before groups are made:
    the others share their histories with k - 1 others as if the long histories had never been in the data.

    >>> without_long_histories(np.array([0, 0, 1, 0, 2, -1]), 2)
    (array([-1, -1,  0, -1,  1, -1]), 2)
    """
    counts = np.bincount(codes[codes >= 0])
    stays = counts <= (np.inf if most_rows is None else most_rows)
    renumbered = np.append(np.where(stays, np.cumsum(stays) - 1, DELETED), DELETED)
    return renumbered[codes], int(stays.sum())


def require_enough_customers(k: int, customers: int) -> None:
    """Raise where there are fewer than k customers."""
    if k > customers:
        raise too_large("k", k, customers)


def too_large(name: str, value: int, customers: int) -> ParameterError:
    """Return the error for a parameter that needs more customers than there are."""
    message = _("{name} = {value} needs at least {value} customers, but there are {count:,}; use a smaller value")
    return ParameterError(message.format(name=name, value=value, count=customers))


def measured_values(original: History, categories: Path | None) -> tuple[dict[str, pl.Series], dict[str, Any]]:
    """Return the exact values of the measured columns, with items as categories if a file gives them, and notes.

    The note lists the items of every category that occurs: the release speaks of categories, and anyone who reads it
    must know what they mean.
    """
    values = {c.name: exact_values(original, c) for c in original.measured()}
    if categories is None:
        return values, {}
    known = read_categories(categories)
    item = original.schema.role(Role.ITEM).name
    notes = {"categories": known.groups_of(values[item])}
    return values | {item: in_categories(values[item], known.of_item)}, notes


def share_values(
    original: History,
    values: dict[str, pl.Series],
    row: Whole,
    names: pl.Series,
    *,
    suppress_cells: bool,
    medians: bool = False,
    unsuppressed: Column | None = None,
) -> tuple[History, dict[str, Any]]:
    """Return the history in which rows with the same number have the same cells, and notes for the statement.

    Parameters
    ----------
    values
        The values of the measured columns.
    row
        The generalised row that every row becomes; :data:`DELETED` for none.
    names
        The pseudonym of every row's customer.
    suppress_cells
        Whether a cell that costs its rows more than a suppressed one is suppressed.
    medians
        Whether cells say the median and the mode, not an interval and a set.
    unsuppressed
        The column whose cells are never suppressed, if any.

    Columns that are not measured would tell the members of a group apart and are suppressed.
    """
    columns = {names.name: names.set(pl.Series(row == DELETED), None)}
    cells_of = middle_values if medians else generalised
    for column in original.measured():
        suppress = suppress_cells and column != unsuppressed
        columns[column.name] = cells_of(values[column.name], column, row, suppress_cells=suppress)
    suppressed = not_measured(original)
    columns |= {c.name: pl.Series(c.name, [None], dtype=c.dtype).new_from_index(0, len(row)) for c in suppressed}
    notes = suppressed_columns(original) | rows_without_customer(original)
    return History(pl.DataFrame([columns[name] for name in original.schema.names]), original.schema), notes


def not_measured(history: History) -> list[Column]:
    """Return the columns that would tell members of a group apart."""
    measured = {*(column.name for column in history.measured()), history.schema.role(Role.CUSTOMER).name}
    return [column for column in history.schema.columns if column.name not in measured]


def suppressed_columns(history: History) -> dict[str, Any]:
    """Return the statement's note about columns that would distinguish members of a group."""
    suppressed = [column.name for column in not_measured(history)]
    return {"suppressed_columns": suppressed} if suppressed else {}


def generalised(values: pl.Series, column: Column, row: Whole, *, suppress_cells: bool = False) -> pl.Series:
    """Return the generalised cell of every row; null if the row is deleted or its group has a blank.

    A blank is a value of its own. Beside it an interval or a set would be untrue of the blank row, and anyone who knows
    that the cell is blank would see that its row is not behind the generalised one; so the cell is suppressed for all.
    That costs every known value of it what suppression costs, and the blanks nothing: a suppressed cell where the
    original was blank tells nobody anything wrong.
    """
    nominal = column.scale == Scale.NOMINAL
    if nominal:
        values = values.cast(pl.Enum(values.drop_nulls().unique().sort()))
    value = pl.col("value")
    cell = value.unique().sort() if nominal else pl.struct(lo=value.min(), hi=value.max())
    every = pl.DataFrame({"row": row, "value": values}).filter(pl.col("row") != DELETED)
    known = every.filter(pl.col("value").is_not_null().all().over("row")) if values.null_count() else every
    cells = known.group_by("row", maintain_order=True).agg(cell.alias(column.name))
    if suppress_cells:  # what each known value's cell costs it; an interval's error has no ceiling (S0)
        both = known.join(cells, on="row", how="left", maintain_order="left")
        if nominal:
            error = 1 - 1 / both[column.name].list.len().cast(pl.Float64).to_numpy()
        else:
            lo, hi = (numbers(both[column.name].struct.field(end)) for end in ("lo", "hi"))
            sd = population_sd(numbers(values))
            error = interval_error(numbers(both["value"]), lo, hi, width=column.grid, sd=sd)
        at = known["row"].to_numpy()
        size = int(row.max(initial=-1)) + 1
        count = np.bincount(at, minlength=size)
        # at a tie, which rounding must not decide, a cell says more than nothing
        costly = np.bincount(at, weights=error, minlength=size) > count * (1 + 1e-12)
        cells = cells.filter(~pl.Series(costly).gather(cells["row"]))
    placed = pl.DataFrame({"row": row}).join(cells, on="row", how="left", maintain_order="left")
    return placed[column.name]


# --- What rows that have become one say where one exact value stands for all: the median, or the mode -----------------


def middle_values(values: pl.Series, column: Column, row: Whole, *, suppress_cells: bool) -> pl.Series:
    """Return the median or mode for every row; null if the row is deleted or a suppressed cell costs less.

    Of names the most frequent one is said, of several the first by text; of dates and numbers the lower median, so what
    is said stands in the column, with its decimals. No other value has a lower error in sum. A blank is a value of its
    own: it is what is said where it is the most frequent name, or where the known values are further from one another
    than from nothing. At a tie a cell says more than nothing.

    >>> quantity = Column(name="quantity", role="quantity")
    >>> values, row = pl.Series("quantity", [9, 1, 2, 5, 6]), np.array([0, 0, 0, 1, 1])
    >>> middle_values(values, quantity, row, suppress_cells=True).to_list()
    [2, 2, 2, 5, 5]
    """
    every = pl.DataFrame({"row": row, "value": values}).filter(pl.col("row") != DELETED)
    if column.scale == Scale.NOMINAL:  # of several equally frequent ones the first by text, a blank the last
        counted = every.group_by("row", "value").len("times").with_columns(text=pl.col("value").cast(pl.String))
        order = counted.sort("row", "times", "text", descending=[False, True, False], nulls_last=True)
        cells = order.unique("row", keep="first", maintain_order=True).select("row", "value")
    else:  # the lower median of each shared row's known values, where saying it costs no more than saying nothing
        known = every.drop_nulls("value").sort("row", "value")
        counts = known.group_by("row", maintain_order=True).len("known")
        begin = counts["known"].cast(pl.Int64).cum_sum() - counts["known"]
        middle = known[begin + (counts["known"].cast(pl.Int64) - 1) // 2]
        size = int(every["row"].max() or 0) + 1  # type: ignore[arg-type]
        at, there = known["row"].to_numpy(), middle["row"].to_numpy()
        medians = np.zeros(size)
        medians[there] = numbers(middle["value"])
        blank = np.bincount(every.filter(pl.col("value").is_null())["row"].to_numpy(), minlength=size)
        error = np.abs(numbers(known["value"]) - medians[at]) / (population_sd(numbers(values)) or 1.0)
        saying = np.bincount(at, weights=error, minlength=size) + blank
        nothing = np.bincount(at, minlength=size) * (1 + 1e-12)
        unsaid = (saying > nothing) & (suppress_cells | (blank > 0))
        cells = middle.filter(pl.Series(~unsaid[there]))
    placed = pl.DataFrame({"row": row}).join(cells, on="row", how="left", maintain_order="left")
    return placed["value"].alias(column.name)
