"""A history as the arrays that measures of usefulness count with, and data drawn from a release the same way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.arrays import exact_values, numbered, numbers
from noren.data.categories import release_categories
from noren.data.compatibility import missing_columns, with_item_column
from noren.data.draws import Draws
from noren.data.frames import History
from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.measures.evidence import original_history, public_history
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score

MEASURED = (Role.ITEM, Role.DATE, Role.PRICE, Role.QUANTITY)


DAY_ZERO = 14_610.0
"""S0 counts days from 2010/1/1, which is so many days after 1970/1/1."""


@dataclass(frozen=True)
class Purchases:
    """The rows of a history that say who bought what, when, for how much and how many, as far as anybody asks.

    A column that the history lacks says the same of all rows: one item, day 0, a price of 1, one piece.
    """

    rows: int
    """How many rows there are, those that leave something out (and are in no array below) included."""
    customer: Whole
    customers: int
    """``customer``, ``customers``: each row's customer, coded 0, 1, …, and how many there are."""
    item: Whole
    items: pl.Series
    """``item``, ``items``: each row's item, coded in the order of ``items``."""
    day: Real
    """The date in days from 2010/1/1, with the time of day as a part where it is known."""
    price: Real
    quantity: Real
    """``price``, ``quantity``: the price in steps of its grid (pence), so that sums are exact; the number of pieces."""
    there: frozenset[Role]
    """Which columns the history has."""

    @property
    def basket(self) -> Whole:
        """Each row's invoice: what one customer bought on one day (S0 §6.3.1.2)."""
        day = np.floor(self.day).astype(np.int64)
        first = int(day.min(initial=0))
        return self.customer * (int(day.max(initial=0)) - first + 1) + day - first


def purchases(history: History, items: pl.Series | None = None, roles: tuple[Role, ...] = MEASURED) -> Purchases:
    """Return a history as arrays; with ``items``, in their coding, items that are not among them behind.

    ``roles`` are the columns that a measure looks at. Rows that miss a value of those, or whose customer is unknown,
    are counted in ``rows`` alone.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["b", "a", "b"], "date": ["2010/1/2", "2010/1/2", "2010/1/1"], "item": ["y", "x", "y"],
    ...         "price": [1.5, 2.0, 0.1], "quantity": [1, 2, 3]}
    >>> bought = purchases(History.of(rows, Schema.preset("pwscup2018")))
    >>> bought.customer.tolist(), bought.item.tolist(), bought.day.tolist(), bought.price.tolist()
    ([0, 1, 0], [1, 0, 1], [1.0, 1.0, 0.0], [150.0, 200.0, 10.0])
    """
    whole = purchase_rows(history, roles)
    item, seen = _items(whole["item"])
    if items is not None:
        seen, own = pl.concat([items, seen.filter(~seen.is_in(items.implode()))]), seen
        item = own.cast(pl.Enum(seen)).to_physical().cast(pl.Int64).to_numpy()[item]
    return _bought(history, roles, whole, item, seen)


def purchases_alike(histories: Sequence[History], roles: tuple[Role, ...] = MEASURED) -> list[Purchases]:
    """Return histories as arrays with one coding of all their items, in the order of their text."""
    wholes = [purchase_rows(history, roles) for history in histories]
    item, items = _items(pl.concat([whole["item"] for whole in wholes]))
    parts = np.split(item, np.cumsum([len(whole) for whole in wholes])[:-1])
    each = zip(histories, wholes, parts, strict=True)
    return [_bought(history, roles, whole, part, items) for history, whole, part in each]


def _items(texts: pl.Series) -> tuple[Whole, pl.Series]:
    """Return each row's item as a code, and the items, in the order of their text."""
    number, first = numbered(texts)
    names = texts.gather(first)
    order = names.arg_sort()
    code = np.empty(len(names), np.int64)
    code[order.to_numpy()] = np.arange(len(names))
    return code[number], names.gather(order)


def _bought(history: History, roles: tuple[Role, ...], whole: pl.DataFrame, item: Whole, items: pl.Series) -> Purchases:
    customer, people = numbered(whole["customer"])
    return Purchases(
        rows=len(history),
        customer=customer,
        customers=len(people),
        item=item,
        items=items,
        day=whole["day"].to_numpy(),
        price=whole["price"].to_numpy(),
        quantity=whole["quantity"].to_numpy(),
        there=columns_there(history.schema, roles),
    )


def columns_there(schema: Schema, roles: tuple[Role, ...] = MEASURED) -> frozenset[Role]:
    """Return which columns purchases are told by; the item is always one of them, if all rows are of one."""
    return frozenset(c.role for c in schema.with_role(Role.CUSTOMER, *roles)) | {Role.ITEM}


def purchase_rows(history: History, roles: tuple[Role, ...] = MEASURED) -> pl.DataFrame:
    """Return the rows that miss nothing as customer, item, day, price and quantity; see :class:`Purchases`."""
    (history,) = with_item_column(history)
    columns = {c.role: c for c in history.schema.with_role(Role.CUSTOMER, Role.ITEM, *roles)}
    whole = pl.DataFrame({str(role): exact_values(history, column) for role, column in columns.items()})
    needed = [str(role) for role in columns if role in (Role.CUSTOMER, *roles)]
    if any(whole[name].null_count() for name in needed):
        whole = whole.drop_nulls(needed)
    ones, item = np.ones(len(whole)), whole["item"].cast(pl.String)
    return pl.DataFrame(
        {
            "customer": whole["customer"].cast(pl.String),
            "item": item.fill_null("") if item.null_count() else item,
            "day": numbers(whole["date"]) - DAY_ZERO if Role.DATE in columns else np.zeros(len(whole)),
            "price": np.round(numbers(whole["price"]) / columns[Role.PRICE].grid) if Role.PRICE in columns else ones,
            "quantity": numbers(whole["quantity"]) if Role.QUANTITY in columns else ones,
        }
    )


# --- What measures of usefulness have in common: they judge data sets drawn from the release (S0 §6.3) ----------------


Compare = Callable[[Purchases], Mapping[str, float]]
"""What a data set drawn from the release loses against the original, part by part; ``value`` alone if it has none."""


SPREAD = {"spread": N_("spread between draws")}
"""What the part is called that every measure on draws has."""


class OnDraws(Measure):
    """A measure that is the mean over data sets drawn from the public part of the release.

    Every part of the score is a mean over the draws; ``spread`` is the standard deviation of the value between draws,
    and ``notes["spread"]`` that of every part. The secret part is not looked at.
    """

    source = "S0"
    goal = "lower"
    needs = frozenset({"original", "public"})
    side = "utility"
    part_names = SPREAD
    compared_roles: ClassVar[tuple[Role, ...]] = MEASURED
    """The columns that it looks at, as far as there are; rows that miss a value of them do not count."""

    main_part: ClassVar[str] = "value"
    """The part that stands for all, unless :meth:`value_of` puts them together."""

    draws: int = Field(default=20, ge=1, le=100_000, description=N_("data sets drawn from the release; S0 draws 100"))
    seed: int = Field(default=1, ge=0, description=N_("the same seed gives the same result"))

    @abstractmethod
    def against(self, original: Purchases) -> Compare:
        """Prepare the original once; return what compares a drawn data set with it."""

    def value_of(self, parts: Mapping[str, float]) -> float:
        """Return the one number that stands for the parts."""
        return parts[self.main_part]

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the mean over the draws, and its parts."""
        original, public = original_history(evidence), public_history(evidence.release)
        bought = purchases(original, roles=self.compared_roles)
        if not len(bought.customer):
            raise self.nothing_to_compare(original.schema)
        compare, items = self.against(bought), bought.items
        del bought
        categories = release_categories(evidence.release.statement)
        sets = Draws(original, public, seed=self.seed, categories=categories, only=(Role.ITEM, *self.compared_roles))
        parts_by_draw = []
        for i, drawn in enumerate(sets.first(self.draws)):
            progress(i / self.draws, _("draw {number} of {count}").format(number=i + 1, count=self.draws))
            parts_by_draw.append(compare(purchases(drawn, items, self.compared_roles)))
        return self.score_of(parts_by_draw, missing_columns(original, self.compared_roles))

    def nothing_to_compare(self, schema: Schema) -> ParameterError:
        """Return the error for an original in which no row has a value in every compared column."""
        there = ", ".join(role for role in self.compared_roles if schema.with_role(role))
        message = _("no row of the original has values in all of {roles}; fill in the blank cells, or use cell-error")
        return ParameterError(message.format(roles=there))

    def score_of(self, parts_by_draw: list[Mapping[str, float]], absent: Mapping[str, Any] | None = None) -> Score:
        """Return the score of drawn data sets that were compared one by one; ``absent`` notes the missing columns."""
        table = {part: np.array([parts[part] for parts in parts_by_draw]) for part in parts_by_draw[0]}
        values = np.array([self.value_of(parts) for parts in parts_by_draw])
        means = {part: float(column.mean()) for part, column in table.items() if part != "value"}
        spread = {part: float(column.std()) for part, column in table.items() if part != "value"}
        notes = {"draws": len(parts_by_draw), "spread": spread, **(absent or {})}
        return Score(float(values.mean()), means | {"spread": float(values.std())}, notes)
