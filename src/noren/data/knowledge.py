"""What an attacker knows of an original: some of its rows, and items perhaps in part.

The attacker of maximum knowledge holds everything. PWS Cup 2017 also handed out partial knowledge: a random quarter,
half or three quarters of the rows, items cut to their first two characters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from noren.data.arrays import exact_values
from noren.data.formats.render import Spelling
from noren.data.frames import History, Table
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import _


def partial(original: History, share: float = 1.0, seed: int = 0, *, item_prefix: int | None = None) -> History:
    """Return a random ``share`` of the rows, in their order, items cut to their first ``item_prefix`` characters.

    The rows are ``share`` of all, rounded, drawn without replacement; with the same seed, who knows more knows all that
    one who knows less knows. What is not known is left out. The master, which is public, stays.

    Examples
    --------
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["a", "b", "c", "d"], "date": ["2010/12/1"] * 4, "item": ["22423", "85123A", "7", "22086"],
    ...         "price": [1.0] * 4, "quantity": [1] * 4}
    >>> known = partial(History.of(rows, Schema.preset("pwscup2018")), 0.5, seed=1, item_prefix=2)
    >>> len(known), sorted(set(known["item"]) - {"22", "85", "7"})
    (2, [])
    """
    _stop_at_no_share(share)
    if item_prefix is not None and item_prefix < 1:
        raise ParameterError(
            _("items cut to {count} characters tell nothing").format(count=item_prefix), _("keep one or more")
        )
    known = known_rows(original)
    if share < 1:
        known = known.take(_drawn(len(known), share, seed))
    if item_prefix is None:
        return known
    column = original.schema.role(Role.ITEM)
    cut = exact_values(known, column).cast(pl.String).str.slice(0, item_prefix)
    return known.with_values(cut.alias(column.name))


def partial_table(original: Table, share: float = 1.0, seed: int = 0, *, item_prefix: int | None = None) -> Table:
    """Return a table of which a random ``share`` of the people is known: the rows of the others are empty.

    A person is the place of a row, so rows that are not known stay where they are.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> partial_table(Table.of({"age": [20, 30, 40, 50]}, schema), 0.5, seed=1).frame["age"].null_count()
    2
    """
    _stop_at_no_share(share)
    if item_prefix is not None:
        raise ParameterError(_("a table has no items to cut"), _("leave --item-prefix out"))
    unknown = np.ones(len(original), dtype=np.bool_)
    unknown[_drawn(len(original), share, seed).to_numpy()] = False
    kept = pl.when(~pl.Series(unknown)).then(pl.all()).name.keep()
    return replace(original, frame=original.frame.select(kept), spelling=Spelling())


def _drawn(rows: int, share: float, seed: int) -> pl.Series:
    # the raw stream is what numpy promises to keep
    order = np.argsort(np.random.Philox(key=seed).random_raw(rows), kind="stable")
    return pl.Series(np.sort(order[: round(share * rows)]))


def _stop_at_no_share(share: float) -> None:
    if not 0 < share <= 1:
        raise ParameterError(
            _("knowledge = {share} is no share of the rows").format(share=share),
            _("use a number above 0 and up to 1, such as 0.5"),
        )


def known_rows(knowledge: History) -> History:
    """Return knowledge without the rows that are not known (``DEL`` in the contest's files)."""
    there = knowledge[Role.CUSTOMER].is_not_null()
    return knowledge if there.all() else knowledge.take(there.arg_true())
