"""Replace customers' names by pseudonyms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from noren.data.arrays import people
from noren.data.compatibility import rows_without_customer
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.random_draws import pseudonyms
from noren.progress import Progress, silent
from noren.protocols import NAMES, Method


def pseudonymous(customer: pl.Series, seed: int) -> pl.Series:
    """Return a pseudonym in place of every customer; rows without a customer stay without."""
    codes, customers = people(customer)
    names = pl.Series(customer.name, pseudonyms(len(customers), seed)).cast(pl.String)
    return names.gather(pl.Series(codes, dtype=pl.Int64).replace(-1, None))


class HistoryMethod(Method):
    """A method for histories whose promise is one sentence, whatever its parameters."""

    promise: ClassVar[str]
    """What the statement of a release promises."""

    def statement(self, notes: dict[str, Any]) -> Statement:
        """Return the statement of a release."""
        return Statement(method=self.name, parameters=self.parameters(), promise=self.promise, notes=notes)


class Pseudonymize(HistoryMethod):
    """Replace every customer's name by a random number, and change nothing else.

    The promise is small: names are hidden, histories are not. Anyone who knows some of a person's purchases finds the
    person's pseudonym and with it all the rest. It is the floor that other methods are compared with, and the honest
    name for what is often called anonymous. Rows without a customer have nobody to stand for and are left out.

    Examples
    --------
    Four rows of two customers get two new names; dates, items, prices and quantities stay, so the error is 0.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "ann", "bob"], "date": "2010/12/1", "item": ["a", "b", "c", "d"],
    ...         "price": [1.0, 2.0, 3.0, 4.0], "quantity": [1, 1, 1, 1]}
    >>> release = Pseudonymize().protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> release.aligned().frame["customer"].to_list()
    ['10', '11', '10', '11']
    """

    name = "pseudonymize"
    summary = N_("Pseudonyms only: an attacker who knows some of a person's purchases re-identifies the person.")
    source = "S0"
    promises = NAMES
    promise = N_("names are hidden, histories are not: an attacker who knows some purchases finds the customer")
    good_for = N_("A baseline for comparison, or a release to recipients bound by contract.")
    wrong_for = N_("Outsiders may see it: a few known purchases identify a person.")

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Replace the customers of ``original`` by pseudonyms; the same seed gives the same ones."""
        progress(0.0, _("choosing pseudonyms"))
        aligned = edited(original, [pseudonymous(original[Role.CUSTOMER], seed)])
        progress(0.5, _("sorting rows"))
        return Release.of_aligned(original, aligned, self.statement(rows_without_customer(original)), seed=seed)


def edited(original: History, columns: Iterable[pl.Series]) -> History:
    """Return ``original`` with ``columns`` in place of those of the same name, and nothing that the schema leaves out.

    A frame may carry other columns, and the master names people: neither goes into a release; nor do rows that nobody
    owns, for there is no pseudonym to put them under. A column that changed forgets how the file spelled it.
    """
    changed = {column.name: column for column in columns}
    frame = original.frame.select(original.schema.names).with_columns(changed.values())
    owned = original[Role.CUSTOMER].is_not_null()
    if not owned.all():
        frame = frame.select(pl.when(owned).then(pl.col(name)).alias(name) for name in frame.columns)
    odd = {name: texts for name, texts in original.spelling.exceptions.items() if name not in changed}
    return replace(original, frame=frame, spelling=replace(original.spelling, exceptions=odd), master=None)
