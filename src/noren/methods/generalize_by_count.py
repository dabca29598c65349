"""Customers of like length made alike (S1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from noren.data.arrays import exact_values, numbers, people
from noren.data.categories import in_categories, public_name, read_categories
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.cell_error import interval_error, population_sd
from noren.kernels.count_groups import groups_by_count, rows_laid_together
from noren.methods.pseudonymize import pseudonymous
from noren.progress import Progress, silent
from noren.protocols import Method

__all__ = ["GeneralizeByCount"]


class GeneralizeByCount(Method):
    """Make every customer's whole history the same as that of at least k - 1 others.

    Customers stand by number of rows, longest first, ties by first appearance; every k neighbours make a group and what
    is left over joins the last one. Inside a group each customer's rows stand by price, then quantity, both descending.
    The j-th rows of all members become one row: dates, prices and quantities the interval that holds them all, items
    the set of them. Rows beyond the shortest member are deleted, names become pseudonyms.

    Whoever knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. What all k have in common stays visible. Columns that are neither date, item, price nor
    quantity (invoice, time, description, country) would tell members apart and are suppressed; rows without a customer
    are deleted. With ``categories`` items become sets of categories in place of sets of items; the release says which
    items each category holds.

    References
    ----------
    S1 (Nakamura): k-anonymising purchase histories; its table of U for k = 2 … 20 is reproduced.

    Examples
    --------
    Ann's dearer row meets Bob's dearer row, her cheaper one his cheaper one.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/2", "2010/12/3", "2010/12/4"],
    ...         "item": ["a", "b", "c", "b"], "price": [9.0, 2.0, 1.0, 7.0], "quantity": [1, 1, 5, 1]}
    >>> release = GeneralizeByCount(k=2).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.public.lines(), sep="\\n")
    10,[2010/12/1;2010/12/4],{a;b},[7;9],1
    10,[2010/12/2;2010/12/3],{b;c},[1;2],[1;5]
    11,[2010/12/1;2010/12/4],{a;b},[7;9],1
    11,[2010/12/2;2010/12/3],{b;c},[1;2],[1;5]
    """

    name: ClassVar[str] = "generalize-by-count"
    summary: ClassVar[str] = N_("Each public history is shared by at least k customers of like length.")
    source: ClassVar[str] = "S1"

    k: int = Field(
        description=N_("how many customers share each public history, at least; 2 or more"),
        json_schema_extra={"minimum": 2},
    )
    suppress_cells: bool = Field(
        default=False,
        description=N_("suppress an interval where it costs more than a suppressed cell; the error falls, k stays"),
    )
    categories: Path | None = Field(
        default=None,
        description=N_("a CSV file item,category (noren categorize writes one): item sets become sets of categories"),
    )

    @field_validator("k")
    @classmethod
    def _hides_somebody(cls, k: int) -> int:
        if k < 2:
            raise ValueError(_("k={k} protects nobody; use k >= 2").format(k=k))
        return k

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Make the histories of ``original`` alike, k by k; the seed decides the pseudonyms alone."""
        progress(0.0, _("grouping customers by their number of purchases"))
        customer = original[Role.CUSTOMER]
        codes, customers = people(customer)
        if self.k > len(customers):
            raise ParameterError(
                _("k={k} is more than the {count:,} customers there are").format(k=self.k, count=len(customers)),
                _("use a smaller k, or a history of at least {k} customers").format(k=self.k),
            )
        group = groups_by_count(np.bincount(codes[codes >= 0]), self.k)
        laid = rows_laid_together(codes, group, [numbers(exact_values(original, c)) for c in _sorted_by(original)])

        notes: dict[str, Any] = {}
        categories = None if self.categories is None else read_categories(self.categories)

        progress(0.2, _("generalising rows"))
        row = pl.Series(laid).replace(-1, None)
        columns = {customer.name: pseudonymous(customer, seed).set(row.is_null(), None)}
        for column in original.measured():
            values = exact_values(original, column)
            if categories is not None and column.role == Role.ITEM:
                notes["categories"] = categories.groups_of(values)
                values = in_categories(values, categories.of_item)
            columns[column.name] = self._generalised(values, column, row)
        suppressed = [c for c in original.schema.columns if c.name not in columns]
        columns |= {c.name: pl.Series(c.name, [None], dtype=c.dtype).new_from_index(0, len(row)) for c in suppressed}

        aligned = History(pl.DataFrame([columns[name] for name in original.schema.names]), original.schema)
        if suppressed:
            notes["suppressed_columns"] = [c.name for c in suppressed]
        statement = Statement(
            method=self.name,
            parameters=self.parameters() | public_name(self.categories),
            promise=N_("each public history is shared by at least k customers"),
            notes=notes,
        )
        progress(0.6, _("putting the rows in an order that tells nothing"))
        return Release.of_aligned(original, aligned, statement, seed=seed)

    def _generalised(self, values: pl.Series, column: Column, row: pl.Series) -> pl.Series:
        """Return what every row's generalised row says; null where the row is deleted or nothing is known."""
        value = pl.col("value")
        if column.scale == Scale.NOMINAL:
            domain = pl.Enum(values.drop_nulls().unique().sort())
            values = values.cast(domain)
            said = value.unique().sort()
        else:
            said = pl.struct(lo=value.min(), hi=value.max())
        known = pl.DataFrame({"row": row, "value": values}).drop_nulls()
        cells = known.group_by("row").agg(said.alias(column.name))
        if self.suppress_cells and column.scale != Scale.NOMINAL:
            cells = cells.join(_too_costly(known, cells, column, population_sd(numbers(values))), on="row", how="anti")
        return row.to_frame("row").join(cells, on="row", how="left", maintain_order="left")[column.name]


def _sorted_by(history: History) -> list[Column]:
    """Return what rows are sorted by: price, then quantity, as far as the schema has them."""
    schema = history.schema
    return [c for role in (Role.PRICE, Role.QUANTITY) for c in schema.with_role(role) if c.scale != Scale.NOMINAL]


def _too_costly(known: pl.DataFrame, cells: pl.DataFrame, column: Column, sd: float) -> pl.DataFrame:
    """Return the generalised rows whose interval costs their members more in sum than 1 each, a suppressed cell's cost.

    An interval's error has no ceiling (S0), so the widest are worth less than nothing said at all.
    """
    both = known.join(cells, on="row", how="left", maintain_order="left")
    lo, hi = (numbers(both[column.name].struct.field(end)) for end in ("lo", "hi"))
    error = interval_error(numbers(both["value"]), lo, hi, width=column.grid, sd=sd)
    row = both["row"].to_numpy()
    # at a tie, which rounding must not decide, an interval says more than nothing
    costly = np.flatnonzero(np.bincount(row, weights=error) > np.bincount(row) * (1 + 1e-12))
    return pl.DataFrame({"row": costly}, schema=known.select("row").schema)
