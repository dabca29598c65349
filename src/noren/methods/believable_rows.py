"""Rows that nobody bought but might have: a real purchase of the item, on an invoice of the customer's own."""

from __future__ import annotations

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale, Schema
from noren.kernels.arrays import Real, Whole
from noren.kernels.draws import uniforms
from noren.kernels.sharing.rows import near_in_time, one_of_each

OF_THE_ITEM = (Role.ITEM, Role.PRICE, Role.QUANTITY, Role.DESCRIPTION)
OF_THE_VISIT = (Role.CUSTOMER, Role.INVOICE, Role.DATE, Role.TIME)


def believable_rows(
    released: History, customer: Whole, item: Whole, who: Whole, what: Whole, *, seed: int
) -> pl.DataFrame:
    """Return a row for each customer ``who`` and item ``what``, all columns filled.

    A row of that item is drawn from the history, all alike, and gives the price, the quantity and the description: the
    added rows then have the prices and quantities that the item's own rows have, in the same proportions and together,
    so no value of theirs tells them. The rest (invoice, date, time, name) is that of one of the customer's rows, of the
    nearest moment to the drawn purchase: what was sold then, at what price, is likely there. A column of another role
    follows whichever it depends on, the item or the visit to the shop.

    Parameters
    ----------
    released
        The history as it is released, under pseudonyms.
    customer, item
        The customer and the item of each of its rows, as codes; below 0 where a row has none.

    Examples
    --------
    Bob never bought tea. Ann's tea of 2 goes on the invoice of his that is nearest in time to hers.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/3", "2010/12/9"],
    ...         "item": ["tea", "jam", "jam"], "price": [2.0, 5.0, 5.0], "quantity": [6, 1, 1]}
    >>> released = History.of(rows, Schema.preset("pwscup2018"))
    >>> codes = np.array([0, 1, 1]), np.array([1, 0, 0])
    >>> believable_rows(released, *codes, np.array([1]), np.array([1]), seed=1).row(0)
    ('bob', datetime.date(2010, 12, 3), 'tea', 2.0, 6)
    """
    like, place = draws_of_added(len(who), seed)
    bought = one_of_each(np.where(customer >= 0, item, -1), what, like)
    moment = np.zeros(len(released))  # when each row was bought, in days; 0 where that is not known
    for column, unit in parts_of_a_moment(released.schema):
        moment += np.nan_to_num(numbers(exact_values(released, column))) * unit
    visit = near_in_time(customer, moment, who, moment[bought], place)
    from_item = {
        c.name for c in released.schema.columns if c.role in OF_THE_ITEM or _follows_item(released, c.name, c.role)
    }
    return pl.DataFrame(
        [
            released.frame[name].gather(pl.Series(bought if name in from_item else visit))
            for name in released.schema.names
        ]
    )


def draws_of_added(rows: int, seed: int) -> tuple[Real, Real]:
    """Return the numbers that choose each added row's purchase and its visit; the pseudonyms use another stream."""
    like, place = (uniforms(rows, seed=seed, draw=1, stream=stream) for stream in (0, 1))
    return like, place


def parts_of_a_moment(schema: Schema) -> list[tuple[Column, float]]:
    """Return the columns that say when a row was bought, and what a step of each is in days."""
    parts = ((Role.DATE, 1.0), (Role.TIME, 1.0 / 1440))
    return [(c, unit) for role, unit in parts for c in schema.with_role(role) if c.scale != Scale.NOMINAL]


def _follows_item(history: History, name: str, role: Role) -> bool:
    """Tell whether a column has fewer values beside its first for an item than for a visit, as a category has."""
    if role in OF_THE_VISIT:
        return False

    def further(keys: list[str]) -> int:
        return history.frame.n_unique([*keys, name]) - history.frame.n_unique(keys)

    visit = [c.name for c in history.schema.with_role(*OF_THE_VISIT)]
    return further([history.schema.role(Role.ITEM).name]) < further(visit)
