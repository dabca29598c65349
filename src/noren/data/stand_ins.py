"""Columns that a history may lack, as something to work with, and what is said of those that are not there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import polars as pl

from noren.data.frames import History
from noren.data.schema import Column, Role

__all__ = ["columns_not_there", "of_one_item", "rows_without_customer"]

_THE_ITEM = "one"


def of_one_item(*histories: History) -> tuple[History, ...]:
    """Return histories with a column of items where the first has none: every row is of one item.

    What looks rows up by item then looks at all of them, and what weighs items finds that they tell nothing.

    >>> from noren.data.schema import Schema
    >>> paid = Schema.of({"columns": {"customer": {"role": "customer"}, "price": {"role": "price"}}})
    >>> (history,) = of_one_item(History.of({"customer": ["ann", "bob"], "price": [1.0, 2.0]}, paid))
    >>> history["item"].to_list()
    ['one', 'one']
    """
    if histories[0].schema.with_role(Role.ITEM):
        return histories
    name = "item"
    while any(name in history.frame.columns for history in histories):
        name += "_"
    column = Column(name=name, role=Role.ITEM)
    return tuple(
        replace(
            history,
            frame=history.frame.with_columns(pl.lit(_THE_ITEM).alias(name)),
            schema=history.schema.model_copy(update={"columns": (*history.schema.columns, column)}),
        )
        for history in histories
    )


def columns_not_there(history: History, roles: Iterable[Role]) -> dict[str, Any]:
    """Return what a statement or a score notes of the columns it would use and the history does not have.

    >>> from noren.data.schema import Schema
    >>> paid = Schema.of({"columns": {"customer": {"role": "customer"}, "price": {"role": "price"}}})
    >>> columns_not_there(History.of({"customer": ["ann"], "price": [1.0]}, paid), [Role.PRICE, Role.ITEM])
    {'columns_not_there': ['item']}
    """
    absent = [str(role) for role in roles if not history.schema.with_role(role)]
    return {"columns_not_there": absent} if absent else {}


def rows_without_customer(history: History) -> dict[str, Any]:
    """Return what a statement notes of rows that nobody owns: a release leaves them out, and says how many."""
    count = history[Role.CUSTOMER].null_count()
    return {"rows_without_customer": count} if count else {}
