"""Base of attacks on repeated releases: the periods, and rows by item and period.

Known and public rows become the arrays that :mod:`noren.kernels.linkage.copied_rows` works on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from noren.data.arrays import exact_values, numbers
from noren.data.cells import cell_ends, is_interval, is_set
from noren.data.compatibility import compared_columns
from noren.data.frames import History
from noren.data.periods import Calendar, in_order, periods_of
from noren.data.schema import Column, Role, Scale, ValueType
from noren.data.statement import Statement
from noren.errors import SchemaError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.copied_rows import Copies
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, PublicLayout, background
from noren.protocols import Attack
from noren.registry import build


class AttackByPeriod(Attack):
    """An attack that names a pseudonym for each customer and period.

    Of a release that says when it changes pseudonyms, :func:`noren.attack` tells the attack the periods, unless they
    are given here.
    """

    period: Literal["month", "week", "quarter", "custom"] = Field(
        default="month", description=N_("length of a period; custom periods begin on the days in starts")
    )
    starts: tuple[date, ...] = Field(default=(), title=N_("First day of each custom period, such as 2010-12-01"))

    @model_validator(mode="after")
    def _starts_are_for_custom(self) -> AttackByPeriod:
        if (self.period == "custom") != bool(self.starts):
            raise ValueError(_("period=custom needs starts, and no other period takes it"))
        return self

    def periods(self, dates: pl.Series) -> pl.Series:
        """Return the name of the period each date falls in; null for none, and before the first custom period."""
        by: Calendar | Sequence[date] = self.starts if self.period == "custom" else self.period
        days = dates.cast(pl.Date)
        return periods_of(days.set(days < min(self.starts), None) if self.starts else days, by)

    def shown_periods(self, dates: pl.Series) -> pl.Series:
        """Return the name of the period each public date or interval falls in, null where it does not tell one."""
        if not is_interval(dates.dtype):
            return self.periods(dates)
        first, last = (self.periods(dates.struct.field(end)) for end in ("lo", "hi"))
        return first.set(first.ne_missing(last), None)


def with_period_metadata(attack: Attack, statement: Statement) -> Attack:
    """Give an attack the public periods in which pseudonyms change, unless it has them already.

    >>> from noren.attacks.signatures import S1
    >>> with_period_metadata(S1(), Statement("monthly-pseudonyms", {"period": "quarter"})).parameters()["period"]
    'quarter'
    """
    period = {"period", "starts"}
    steps = [step.parameters for step in statement.steps if step.method == "monthly-pseudonyms"]
    if not steps or not period <= set(type(attack).model_fields) or period & attack.model_fields_set:
        return attack
    period_parameters = {name: value for name, value in steps[-1].items() if name in period}
    return build(type(attack), attack.parameters() | period_parameters)


def require_columns(public: History, columns: Iterable[Column]) -> None:
    """Stop where a release lacks one of these columns."""
    for column in columns:
        if column.name not in public.frame.columns:
            message = _("the release has no column {name!r}; give a release of this original")
            raise SchemaError(message.format(name=column.name))


# --- known rows and public rows as arrays ----------------------------------------------------------------------------


ALWAYS = "always"
"""The one period of a release whose dates do not tell periods."""

_EXACT = 1e-9
_DAYS = (_EXACT, 0.05, 0.5, 1, 2, 3, 5, 8, 15)
_MINUTES = (_EXACT, 1, 5, 15, 60, 180)
_SIZES = (_EXACT, 0.02, 0.06, 0.12, 0.25, 0.5, 1, 2)
_SAME = (0.5,)
_LEVELS = 1 + max(len(_DAYS), len(_MINUTES), len(_SIZES))
"""How far apart cells are, level by level: dates in days, times in minutes, sizes by logarithm, names the same or not;
the last level is all that is farther.
"""


@dataclass(frozen=True)
class PeriodSides:
    """The two sides of a comparison."""

    customers: pl.Series
    pseudonyms: pl.Series
    periods: tuple[str, ...]
    """``customers``, ``pseudonyms``, ``periods``: what numbers stand for. A pseudonym has an entry per period."""
    period: Whole
    """The period of each pseudonym's entry, rising."""
    row: Whole
    """The place of each row of ``public`` in the release."""
    known: KnownLayout
    public: PublicLayout
    beside: Backgrounds
    """``known``, ``public``, ``beside``: the rows, and what is usual beside each known row."""
    columns: tuple[Column, ...]
    """The columns that rows are compared by, the item aside."""

    @property
    def by_time(self) -> bool:
        """Whether the public rows tell their periods."""
        return self.periods != (ALWAYS,)


def period_sides(original: History, public: History, by: AttackByPeriod | None) -> PeriodSides:
    """Lay out both sides, by period or all as one; rows without a customer, a date or an item are left out.

    A public row belongs to the period of its public date. Where most rows do not tell one, as in a release of
    intervals, or there are no dates at all, everything counts as one period, rows without a date included. Where there
    are no items, all rows are of one (:func:`~noren.data.stand_ins.of_one_item`). Known items may be cut to their first
    characters: public ones are cut to the length of the longest that is known.
    """
    require_columns(public, original.schema.with_role(Role.DATE))
    item, *columns = compared_columns(original, public)
    columns = [c for c in columns if not is_set(public.frame.schema[c.name])]
    dates = _dates(original)
    cells = {
        "customer": original[Role.CUSTOMER].cast(pl.String),
        "period": (dates.cast(pl.String) if by is None else by.periods(dates)).set(dates.is_null(), ALWAYS),
        "item": exact_values(original, item).cast(pl.String),
    }
    known = pl.DataFrame(cells).with_row_index("row").drop_nulls()
    seen = rows_by_period(public, by)
    if len(seen) and seen["period"][0] == ALWAYS:
        known = known.with_columns(period=pl.lit(ALWAYS))
    else:
        known = known.filter(pl.col("period") != ALWAYS)
    periods = in_order([*known["period"].unique(), *seen["period"].unique()])
    seen = seen.with_columns(pl.Series("period", _codes(seen["period"], periods))).sort("period", "pseudonym", "row")
    longest = known.select(pl.col("item").str.len_chars().max()).item() or 0
    public_items = listed_items(public.frame[item.name], seen["row"]).with_columns(pl.col("item").str.slice(0, longest))
    public_items = public_items.unique(maintain_order=True)
    items = pl.concat([known["item"], public_items["item"]]).unique().sort()
    customers = known["customer"].unique().sort()
    values, lo, hi = _measured(original, public, columns, known["row"], seen["row"])
    rows, _order = KnownLayout.of(
        _codes(known["item"], items),
        _codes(known["period"], periods),
        _codes(known["customer"], customers),
        values,
        np.ones(len(known)),
        (len(items), max(len(periods), 1), len(customers)),
    )
    period = seen["period"].to_numpy()
    counts = np.bincount(seen.select(pl.struct("period", "pseudonym").rle_id()).to_series().to_numpy())
    listed = np.bincount(public_items["at"].to_numpy(), minlength=len(seen))
    first, item_first = (np.concatenate([[0], np.cumsum(many)]).astype(np.int64) for many in (counts, listed))
    half = (np.arange(len(seen)) - np.repeat(first[:-1], counts)) % 2
    public_layout = PublicLayout(first, period, period, lo, hi, item_first, _codes(public_items["item"], items), half)
    # what is usual beside each known row: of amounts for its item, of all else in its period
    place = np.repeat(np.arange(len(rows.first) - 1), np.diff(rows.first))
    of_item, of_period = (place // rows.periods, public_layout.item), (place % rows.periods, period)
    single = bool((listed == 1).all())
    contexts = [of_item if single and c.scale == Scale.RATIO else of_period for c in columns]
    units = seen.select("period", "pseudonym").unique(maintain_order=True)
    return PeriodSides(
        customers,
        units["pseudonym"],
        tuple(periods),
        units["period"].to_numpy(),
        seen["row"].cast(pl.Int64).to_numpy(),
        rows,
        public_layout,
        background(rows, item_shares(rows, public_layout), public_layout, contexts, levels_of(columns)),
        tuple(columns),
    )


# --- frames ------------------------------------------------------------------------------------------------


def rows_by_period(public: History, by: AttackByPeriod | None) -> pl.DataFrame:
    """Return pseudonym, period and place (``row``) of the public rows that tell their period.

    Where most do not tell it, there are no dates, or nobody asks, all rows are of one period, :data:`ALWAYS`.
    """
    frame = pl.DataFrame({"pseudonym": public[Role.CUSTOMER].cast(pl.String)}).with_row_index("row")
    shown = pl.lit(None, pl.String) if by is None else by.shown_periods(_dates(public))
    frame = frame.with_columns(shown.alias("period")).drop_nulls("pseudonym")
    with_period = frame.drop_nulls("period")
    return with_period if 2 * len(with_period) > len(frame) else frame.with_columns(period=pl.lit(ALWAYS))


def _dates(history: History) -> pl.Series:
    """Return the dates, or none where there is no such column."""
    column = history.schema.with_role(Role.DATE)
    return history.frame[column[0].name] if column else pl.Series([None], dtype=pl.Date).new_from_index(0, len(history))


def listed_items(cells: pl.Series, rows: pl.Series) -> pl.DataFrame:
    """Return the items (``item``) of each of these rows (``at``, counted from 0); none for a suppressed cell."""
    chosen = cells.gather(rows)
    frame = pl.DataFrame({"item": chosen}).with_row_index("at")
    if is_set(chosen.dtype):
        frame = frame.explode("item")
    return frame.with_columns(pl.col("item").cast(pl.String)).drop_nulls("item")


def _codes(names: pl.Series, known: pl.Series | list[str]) -> Whole:
    """Return the place of each name among those that are known."""
    return names.cast(pl.Enum(known)).to_physical().cast(pl.Int64).to_numpy()


# --- arrays ------------------------------------------------------------------------------------------------


def _measured(
    original: History, public: History, columns: list[Column], known: pl.Series, seen: pl.Series
) -> tuple[Real, Real, Real]:
    """Return known values and the ends of public cells as numbers whose distances mean what levels say."""
    values = np.empty((len(known), len(columns)))
    lo = np.full((len(seen), len(columns)), -np.inf)
    hi = np.full((len(seen), len(columns)), np.inf)
    for c, column in enumerate(columns):
        ours, cells = exact_values(original, column).gather(known), public.frame[column.name].gather(seen)
        there = cells.is_not_null().to_numpy()
        if column.scale == Scale.NOMINAL:
            texts = pl.concat([ours.cast(pl.String), cells.cast(pl.String)]).rank("dense").cast(pl.Float64)
            code = texts.fill_null(np.nan).to_numpy()
            values[:, c] = code[: len(ours)]
            lo[there, c] = hi[there, c] = code[len(ours) :][there]
            continue
        plain = [numbers(side) for side in (ours, *cell_ends(cells))]
        if column.scale == Scale.RATIO:  # by logarithm: a price twice as high is as far away whatever the price
            plain = [np.asarray(np.sign(side) * np.log1p(np.abs(side) / column.grid)) for side in plain]
        values[:, c], first, last = plain
        lo[there, c], hi[there, c] = first[there], last[there]
    return values, lo, hi


def item_shares(known: KnownLayout, public: PublicLayout) -> Real:
    """Return for each known row the share of public rows of its period that have its item."""
    periods = known.periods
    row = np.repeat(np.arange(len(public.begin)), np.diff(public.item_first))
    counts = np.bincount(public.item * periods + public.begin[row], minlength=len(known.first) - 1)
    rows = np.bincount(public.begin, minlength=periods)
    share = counts / np.maximum(rows, 1)[np.arange(len(counts)) % periods]
    return np.repeat(np.maximum(share, 1e-12), np.diff(known.first))


def levels_of(columns: list[Column]) -> Real:
    """Return how far each level of each column reaches."""
    reach = np.full((len(columns), _LEVELS), np.inf)
    of_scale: dict[Scale, tuple[float, ...]] = {Scale.NOMINAL: _SAME, Scale.RATIO: _SIZES}
    for c, column in enumerate(columns):
        ends = of_scale.get(column.scale, _MINUTES if column.type == ValueType.TIME else _DAYS)
        reach[c, : len(ends)] = ends
    return reach


def first_belief(reach: Real, share: float) -> Copies:
    """Return what is believed before anything is seen: near is likelier than far, each level half of the one before."""
    farthest = np.isfinite(reach).sum(axis=1, keepdims=True)
    at = np.arange(reach.shape[1])
    chance = np.where(at <= farthest, 0.5**at, 0.0)
    return Copies(share, np.asarray(chance / chance.sum(axis=1, keepdims=True)))
