"""Generalise the histories of customers with similar numbers of rows (S1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from noren.data.arrays import exact_values, numbers, people
from noren.data.categories import public_name
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale, Schema
from noren.i18n import N_, _
from noren.kernels.sharing.rows import groups_by_count, rows_laid_together
from noren.methods.pseudonymize import pseudonymous
from noren.methods.shared_values import (
    SHARING,
    SHARING_HELP,
    CategoryFile,
    MostRows,
    Sharing,
    SuppressCells,
    measured_values,
    require_enough_customers,
    share_values,
    without_long_histories,
)
from noren.progress import Progress, silent
from noren.protocols import ALIKE, Method, Strength, in_form


class GeneralizeByCount(Method):
    """Give every customer the same whole history as at least k - 1 others.

    Customers stand by number of rows, longest first, ties by first appearance; every k neighbours make a group and what
    is left over joins the last one. Inside a group each customer's rows stand by price, then quantity, both descending.
    The j-th rows of all members become one row: dates, prices and quantities the interval that holds them all, items
    the set of them. Rows beyond the shortest member are deleted, names become pseudonyms.

    Anyone who knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. What all k have in common stays visible. Columns that are neither date, item, price nor
    quantity (invoice, time, description, country) would tell members apart and are suppressed; rows without a customer
    are deleted. Of date, item, price and quantity those are generalised that there are. A blank cell is a value of its
    own: where one member has none the cell is suppressed for all. With ``categories`` items become sets of categories
    in place of sets of items; the release says which items each category holds.

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

    name = "generalize-by-count"
    summary = N_("Each public history is shared by at least k customers with similar numbers of rows.")
    source = "S1"
    strength = Strength("k", "2..6")
    promises = ALIKE
    prominence = 3
    good_for = N_("Fast even for large data: customers with similar numbers of rows form a group.")
    wrong_for = N_("You can wait a minute: generalize keeps more utility. Or rows must stay exact.")
    generalises = True

    k: Sharing = Field(
        title=SHARING, description=SHARING_HELP, json_schema_extra=in_form(main=True, start="3", minimum=2)
    )
    suppress_cells: SuppressCells = False
    categories: CategoryFile = None
    most_rows: MostRows = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return self.model_dump(mode="json", exclude={"most_rows"} if self.most_rows is None else None)

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Make the histories of ``original`` alike, k by k; the seed decides the pseudonyms alone."""
        progress(0.0, _("grouping customers by their number of purchases"))
        codes, customers = without_long_histories(people(original[Role.CUSTOMER])[0], self.most_rows)
        names = pseudonymous(original[Role.CUSTOMER], seed)
        require_enough_customers(self.k, customers)
        values, meaning = measured_values(original, self.categories)
        group = groups_by_count(np.bincount(codes[codes >= 0]), self.k)
        row = rows_laid_together(codes, group, [numbers(exact_values(original, c)) for c in sorted_by(original.schema)])
        progress(0.2, _("generalising rows"))
        aligned, notes = share_values(original, values, row, names, suppress_cells=self.suppress_cells)
        progress(0.6, _("sorting rows"))
        return Release.of_aligned(original, aligned, self.statement(meaning | notes), seed=seed)

    def statement(self, notes: dict[str, Any]) -> Statement:
        """Return the statement of a release."""
        parameters = self.parameters() | public_name(self.categories)
        promise = N_("each public history is shared by at least k customers")
        return Statement(method=self.name, parameters=parameters, promise=promise, notes=notes)


def sorted_by(schema: Schema) -> list[Column]:
    """Return what rows are sorted by: price, then quantity, as far as the schema has them."""
    return [c for role in (Role.PRICE, Role.QUANTITY) for c in schema.with_role(role) if c.scale != Scale.NOMINAL]
