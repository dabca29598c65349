"""Noise on dates, prices and quantities."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from noren.data.arrays import exact_values, numbers
from noren.data.compatibility import missing_columns, rows_without_customer, with_item_column
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Column, Role, Schema
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import uniforms_at
from noren.kernels.reconstruction.retention import day_shifts, moved_by_packs, scaled_prices
from noren.methods.by_period import MethodByPeriod
from noren.methods.pseudonymize import edited, pseudonymous
from noren.progress import Progress, silent
from noren.protocols import HARDER, in_form

# draw 0 chooses the pseudonyms
_DRAW = 1
_DATE, _PRICE, _QUANTITY = range(3)
MOVED = (Role.DATE, Role.PRICE, Role.QUANTITY)
"""What the noise moves, as far as it is there."""


class Perturb(MethodByPeriod):
    """Move dates inside their period, prices by a small factor and quantities by whole packs; hide names.

    Anyone who looks for a purchase by its date, price or quantity no longer finds it to the letter. What the noise
    keeps: a row never leaves its period, a price stays within a factor of 1 + ``price``, a quantity within ``packs``
    packs and at its mean. Of date, price and quantity those move that there are, and a blank stays blank; without items
    the pack is the most common quantity of all. This is noise and no guarantee: items stay, and an attacker who asks
    for the nearest history instead of the same row often finds it.

    References
    ----------
    S3 (the utility of PWS Cup 2017 counts days moved and prices changed).

    Examples
    --------
    Three days at most, and never out of December; a quantity of 24 moves by one dozen, the item's most common quantity.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "cho", "ann"],
    ...         "date": ["2010/12/1", "2010/12/15", "2010/12/31", "2010/12/31"], "item": "a",
    ...         "price": [1.0, 2.0, 4.0, 0.01], "quantity": [12, 12, 24, 1]}
    >>> release = Perturb(days=3, price=0.1).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.aligned().lines(), sep="\\n")
    12,2010/12/2,a,1.04,12
    10,2010/12/18,a,2.05,12
    11,2010/12/30,a,3.87,36
    12,2010/12/31,a,0.01,1
    """

    name = "perturb"
    summary = N_("Moves dates inside their period, prices by a factor, quantities by packs; hides names.")
    source = "S3"
    promises = HARDER
    promise = N_(
        "names are hidden; dates moved inside their period, prices by a small factor, quantities by whole packs;"
        " items stay, and the nearest history may still be the right one"
    )
    prominence = 4
    good_for = N_("Monthly sums must stay close to the original.")
    wrong_for = N_("An attacker may compare whole histories: over many rows the noise averages out.")

    days: int = Field(
        default=3,
        ge=0,
        title=N_("Maximum number of days by which a date moves within its period"),
        json_schema_extra=in_form(main=True),
    )
    whole_baskets: bool = Field(default=False, title=N_("Move purchases of one day (and invoice) together"))
    price: float = Field(
        default=0.05,
        ge=0,
        title=N_("Price noise x: prices are multiplied by a factor between 1/(1 + x) and 1 + x"),
        json_schema_extra=in_form(main=True),
    )
    packs: int = Field(
        default=1,
        ge=0,
        title=N_("Maximum number of packs by which a quantity moves (pack: an item's most common quantity)"),
        json_schema_extra=in_form(main=True),
    )

    @classmethod
    def fits(cls, schema: Schema) -> bool:
        """Tell whether there is a date, a price or a quantity to move."""
        return super().fits(schema) and bool(schema.with_role(*MOVED))

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Perturb the rows of ``original``; the same seed gives the same noise."""
        self.reject_if_nothing_moves(original.schema)
        progress(0.1, _("perturbing"))
        days = self.days_of(original) if self.moves_dates(original.schema) else None
        basket = None
        if days is not None and self.whole_baskets:
            # the first row of each row's basket: same customer, same day, same invoice where there is one
            invoice = [original.frame[c.name].alias("invoice") for c in original.schema.with_role(Role.INVOICE)]
            rows = pl.DataFrame([original[Role.CUSTOMER].alias("customer"), days.alias("day"), *invoice])
            first = pl.col("row").min().over(rows.columns)
            basket = rows.with_row_index("row").select(first).to_series().cast(pl.Int64).to_numpy()
        (sold,) = with_item_column(original)
        packs = {
            column.name: usual_packs(exact_values(sold, sold.schema.role(Role.ITEM)), exact_values(original, column))
            for column in self.moved_by_packs(original.schema)
        }
        columns = [pseudonymous(original[Role.CUSTOMER], seed)]
        columns += self.moved(original, np.arange(len(original)), seed, packs=packs, basket=basket)
        notes = missing_columns(original, MOVED) | rows_without_customer(original)
        progress(0.6, _("sorting rows"))
        return Release.of_aligned(original, edited(original, columns), self.statement(notes), seed=seed)

    @staticmethod
    def reject_if_nothing_moves(schema: Schema) -> None:
        """Stop where there is neither date, price nor quantity."""
        if not schema.with_role(*MOVED):
            raise ParameterError(
                _(
                    "perturb changes dates, prices and quantities, but these purchases have none; use another "
                    "method, such as swap or thin"
                )
            )

    def moves_dates(self, schema: Schema) -> bool:
        """Tell whether dates are moved."""
        return bool(self.days and schema.with_role(Role.DATE))

    def moved_by_packs(self, schema: Schema) -> tuple[Column, ...]:
        """Return the columns that are moved by packs."""
        return schema.with_role(Role.QUANTITY) if self.packs else ()

    def moved(
        self,
        rows: History,
        places: Whole,
        seed: int,
        *,
        packs: Mapping[str, Real],
        basket: Whole | None = None,
        last_day: dt.date | None = None,
    ) -> list[pl.Series]:
        """Return the columns of rows, all or a part of the original, that the noise changes.

        Parameters
        ----------
        places
            Where the rows stand in the original.
        packs
            The pack of each row's item, for each column of quantities.
        basket
            Where the first row of each row's basket stands; left out, dates move one by one.
        last_day
            The last day of the original, where ``rows`` are a part of it.
        """
        columns = []
        if self.moves_dates(rows.schema):
            column = rows.schema.role(Role.DATE)
            # the days that a row may move between, cut to the column's own bounds
            first, last = self.spans(rows, last_day)
            earliest, latest = (b.date() if isinstance(b, dt.datetime) else b for b in (column.minimum, column.maximum))
            ends = pl.DataFrame({"first": first, "last": last}).select(
                first=pl.max_horizontal("first", pl.lit(earliest, dtype=pl.Date)),
                last=pl.min_horizontal("last", pl.lit(latest, dtype=pl.Date)),
            )
            days, begin, end = (
                dates_of.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
                for dates_of in (self.days_of(rows), ends["first"], ends["last"])
            )
            uniform = _uniform(places if basket is None else basket, seed, _DATE)
            dates = rows.frame[column.name]
            moved = pl.DataFrame({"value": dates, "shift": day_shifts(days, begin, end, self.days, uniform)})
            moved = moved.select((pl.col("value") + pl.duration(days="shift")).alias(column.name))
            columns.append(moved[column.name].cast(dates.dtype))
        if self.price:
            uniform = _uniform(places, seed, _PRICE)
            for column in rows.schema.with_role(Role.PRICE):
                values = exact_values(rows, column)
                scaled = scaled_prices(numbers(values), self.price, column.grid, *_bounds(column), uniform)
                columns.append(pl.Series(values.name, scaled).fill_nan(None).cast(values.dtype))
        for column in self.moved_by_packs(rows.schema):
            values = exact_values(rows, column)
            least, _most = _bounds(column)
            uniform = _uniform(places, seed, _QUANTITY)
            packed = moved_by_packs(numbers(values), packs[column.name], self.packs, least, uniform)
            columns.append(pl.Series(values.name, packed).fill_nan(None).cast(values.dtype))
        return columns


def _uniform(places: Whole, seed: int, stream: int) -> Real:
    return uniforms_at(places, seed=seed, draw=_DRAW, stream=stream)


def usual_packs(item: pl.Series, quantity: pl.Series) -> NDArray[np.float64]:
    """Return for each row the pack of its item: its most common quantity, the smaller of two equally common ones.

    >>> usual_packs(pl.Series(["a", "a", "a", "b", "b"]), pl.Series([12, 12, 24, 6, -3])).tolist()
    [12.0, 12.0, 12.0, 3.0, 3.0]
    """
    rows = pl.DataFrame({"item": item, "size": quantity.abs()})
    counted = rows.filter(pl.col("size") > 0).group_by("item", "size").len()
    usual = counted.sort("item", "len", "size", descending=[False, True, False]).unique("item", keep="first")
    placed = rows.select("item").join(
        usual.select("item", pack="size"), on="item", how="left", nulls_equal=True, maintain_order="left"
    )
    return placed["pack"].cast(pl.Float64).fill_null(1.0).to_numpy()


def _bounds(column: Column) -> tuple[float, float]:
    """Return what a column's sizes lie between: its own bounds, else from one step of its grid on."""
    least = column.minimum if isinstance(column.minimum, float) and column.minimum > 0 else column.grid
    return least, column.maximum if isinstance(column.maximum, float) else np.inf
