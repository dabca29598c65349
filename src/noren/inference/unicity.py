"""Unicity: the share of customers whom a few known purchases single out.

An attacker knows p purchases of a customer, drawn at random: their days and articles, say, or weeks and about what they
cost. A purchase as far as it is known is a *point*; a customer is a set of different points, so buying the same
thing twice on a day is one point. Anyone who has all p points is a candidate. *Unicity* is the share of customers of
whom one candidate is left, the customer (de Montjoye et al., Science 347, 2015).

In a release a candidate is a pseudonym with, for each known point, a public row that allows it: its date in the row's
interval, its item in the row's set. What is known is true, what is released may not be: then none is left, and it is
told as well what somebody finds who passes over a known purchase that no candidate left can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noren.data.arrays import NOBODY, exact_values, people
from noren.data.categories import Categories, category_of_item, in_categories, read_categories, release_categories
from noren.data.compatibility import comparison_arrays
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.reading import SchemaLike, as_records, as_release, checked_seed
from noren.data.release import Release
from noren.data.schema import Role
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.inference.coarseness import CATEGORY, EXACT, KnownColumn, coarse_cells, coarse_values, known_columns
from noren.kernels.arrays import Flags, Whole
from noren.kernels.judging.shares import share_interval
from noren.kernels.linkage.known_points import Holders, equal_histories, fitting_holders, narrowed
from noren.kernels.random_draws import uniforms
from noren.progress import Progress, part_of, silent
from noren.tables import Texts

say = Texts(__name__)

KNOWN = "1-20"
SAMPLE = 2_000
_MOST_KNOWN = 1_000


def unicity(
    data: Any,
    release: Any = None,
    *,
    schema: SchemaLike | None = None,
    known: str | Sequence[int] = KNOWN,
    columns: Sequence[str] | None = None,
    date: str | None = None,
    time: str | None = None,
    item: str | None = None,
    price: str | None = None,
    quantity: str | None = None,
    categories: Categories | str | Path | None = None,
    sample: int | None = SAMPLE,
    seed: int = 0,
    progress: Progress = silent,
) -> Unicity:
    """Return which share of customers a few known purchases single out, in the original and in a release of it.

    Parameters
    ----------
    release
        A release, its folder, or released rows in the original's order.
    known
        How many purchases are known: numbers, or a text such as ``1-20`` or ``1,2,4``. A customer with fewer different
        ones is left out there; ``tried`` says how many were not.
    columns
        Names or roles of the columns that are known; left out: date and item, or what else there is.
    date, time, item, price, quantity
        How exactly they are known, and that they are: ``exact``, ``unknown``; of dates ``day`` (if not said), ``week``,
        ``month``, ``quarter``, ``year``; of times ``hour``; of items ``category`` and ``prefix:2``; of numbers
        ``round:10`` (to the nearest) and ``digits:2`` (cut after the first digits).
    categories
        The categories of items, or a file of them (``noren categorize`` writes one).
    sample
        How many customers to ask about, drawn by lot; None for all of them.

    Examples
    --------
    Ann and Bob both bought a cup on the first; only Ann bought a lamp.

    >>> rows = {"customer": ["ann", "ann", "bob"], "date": "2010/12/1", "item": ["cup", "lamp", "cup"],
    ...         "price": 1.0, "quantity": 1}
    >>> found = unicity(rows, schema="pwscup2018", known=[2])
    >>> found.original.steps[0].tried, found.original.steps[0].unique
    (1, 1.0)
    """
    history = _purchases(as_records(data, schema))
    seed, numbers = checked_seed(seed), numbers_of(known)
    words = {"date": date, "time": time, "item": item, "price": price, "quantity": quantity}
    known_as = known_columns(history.schema, columns, {role: word for role, word in words.items() if word is not None})
    released = None if release is None else as_release(release, history)
    groups = _groups(categories, known_as, released)
    progress(0.0, _("preparing rows"))
    sampled = _drawn(history, known_as, groups, sample, seed, max(numbers))
    progress(0.2, _("comparing rows"))
    remaining = _left(sampled, *_holders(sampled), part_of(progress, 0.3, 0.5 if released else 1.0))
    original = curve_of(remaining[0], None, numbers, sampled.customers, released=False)
    curve = None
    if released is not None:
        holders, own, among = _released_holders(history, released, sampled, groups)
        left, right = _left(sampled, holders, own, part_of(progress, 0.8, 1.0))
        curve = curve_of(left, right if released.has_secret else None, numbers, among, released=True)
    if not original.steps:
        raise ParameterError(say("too_many_known", count=min(numbers), most=sampled.most))
    return Unicity(
        original=original,
        release=curve,
        columns={column.name: column.precision for column in known_as},
        customers=sampled.customers,
        sampled=len(sampled.who),
        most=sampled.most,
        beyond=next((p for p in numbers if p > sampled.most), None),
        seed=seed,
    )


def numbers_of(known: str | Sequence[int]) -> tuple[int, ...]:
    """Return how many purchases are known, in order.

    >>> numbers_of("1-3,8"), numbers_of([4, 2])
    ((1, 2, 3, 8), (2, 4))
    """
    try:
        if isinstance(known, str):
            spans = [part.partition("-") for part in known.split(",")]
            ends = [(int(first), int(last if dash else first)) for first, dash, last in spans]
            numbers = [number for low, high in ends for number in range(low, min(high, _MOST_KNOWN + 1) + 1)]
        else:
            numbers = [int(number) for number in known]
    except (ValueError, TypeError):
        numbers = []
    if not numbers or min(numbers) < 1 or max(numbers) > _MOST_KNOWN:
        raise ParameterError(say("not_numbers", known=known, most=_MOST_KNOWN))
    return tuple(sorted(set(numbers)))


def _purchases(records: Any) -> History:
    if isinstance(records, History):
        return records
    raise SchemaError(say("not_a_history"))


# --- the original ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _KnownPeople:
    """The sampled customers and their known purchases.

    ``point[first[i]:first[i + 1]]`` are the points of customer ``who[i]``, in the order in which they become known;
    ``points`` says what they are. ``names`` are the customers that numbers stand for, ``rows`` all purchases of which
    something is known, by number of customer.
    """

    rows: pl.DataFrame
    who: Whole
    first: Whole
    point: Whole
    points: pl.DataFrame
    names: pl.Series
    customers: int
    most: int
    columns: tuple[KnownColumn, ...]


_WHO, _POINT = "\0who", "\0point"
"""Columns of ours, beside known ones."""


def _drawn(
    history: History,
    known_as: tuple[KnownColumn, ...],
    categories: Categories | None,
    sample: int | None,
    seed: int,
    most: int,
) -> _KnownPeople:
    """Draw customers, and for each one order of all their points; the first ones become known first."""
    number, names = people(history[Role.CUSTOMER])
    known = [coarse_values(exact_values(history, c.column), c, categories).alias(c.name) for c in known_as]
    columns = [column.name for column in known_as]
    blank = pl.all_horizontal(pl.col(name).is_null() for name in columns)
    rows = pl.DataFrame([pl.Series(_WHO, number), *known]).filter((pl.col(_WHO) != NOBODY) & ~blank)
    there = np.flatnonzero(np.bincount(rows[_WHO].to_numpy(), minlength=len(names)))
    if len(there) < 2:
        raise ParameterError(say("few_customers", count=len(there)))
    if sample is not None and sample < 1:
        raise ParameterError.out_of_range("sample", sample, "sample >= 1")
    size = len(there) if sample is None else min(sample, len(there))
    who = np.sort(there[np.argsort(uniforms(len(there), seed=seed, draw=0, stream=0), kind="stable")[:size]])
    chosen = np.zeros(len(names), dtype=np.bool_)
    chosen[who] = True
    own = rows.filter(pl.Series(chosen[rows[_WHO].to_numpy()])).unique(maintain_order=True)
    order = np.lexsort((uniforms(len(own), seed=seed, draw=0, stream=1), own[_WHO].to_numpy()))
    own = own[order]
    counts = np.bincount(np.searchsorted(who, own[_WHO].to_numpy()), minlength=len(who))
    place = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
    own = own.filter(pl.Series(place < most))
    points = own.select(columns).unique(maintain_order=True)
    numbered = points.with_row_index(_POINT)
    point = own.join(numbered, on=columns, how="left", nulls_equal=True, maintain_order="left")[_POINT].cast(pl.Int64)
    first = np.concatenate(([0], np.cumsum(np.minimum(counts, most)))).astype(np.int64)
    longest = int(counts.max(initial=0))
    return _KnownPeople(rows, who, first, point.to_numpy(), points, names, len(there), longest, known_as)


def _holders(sampled: _KnownPeople) -> tuple[Holders, Whole]:
    """Return the customers who have each point that is known of anybody, and the history of each who is asked about."""
    columns, numbered = [column.name for column in sampled.columns], sampled.points.with_row_index(_POINT)
    pairs = sampled.rows.join(numbered, on=columns, how="inner", nulls_equal=True).select(_POINT, _WHO).unique()
    pairs = pairs.sort(_POINT, _WHO)
    point, person = pairs[_POINT].cast(pl.Int64).to_numpy(), pairs[_WHO].to_numpy()
    number, who = equal_histories(point, person, len(sampled.names), len(sampled.points))
    once = who[number[person]] == person
    sharing = np.bincount(number, minlength=len(who))
    history = number[person[once]]
    order = np.lexsort((history, point[once]))
    return Holders.of(point[once][order], history[order], len(sampled.points), sharing), number[sampled.who]


def _left(sampled: _KnownPeople, holders: Holders, own: Whole, progress: Progress) -> tuple[Whole, Flags]:
    """Return how many are left of each customer after each known point, and whether they are found."""
    lefts, rights = [], []
    for done, left, right in narrowed(sampled.first, sampled.point, own, holders):
        progress(done, _("comparing rows"))
        lefts.append(left)
        rights.append(right)
    return np.concatenate(lefts), np.concatenate(rights)


# --- a release -------------------------------------------------------------------------------------------------------


def changes_pseudonyms(release: Release) -> bool:
    """Tell whether a customer has another pseudonym in another period."""
    monthly = any(step.method == "monthly-pseudonyms" for step in release.statement.steps)
    return monthly or "period" in release.secret.pseudonyms.columns


def _released_holders(
    history: History, release: Release, sampled: _KnownPeople, categories: Categories | None
) -> tuple[Holders, Whole, int]:
    """Return the public histories that allow each point, each customer's own, and how many pseudonyms there are."""
    if changes_pseudonyms(release):
        raise ParameterError(say("changing_pseudonyms"))
    public, names = _purchases(release.public), [column.name for column in sampled.columns]
    groups = release_categories(release.statement)
    # the points as rows, each under a name of its own and so in their order, in the words of the release
    customer = history.schema.role(Role.CUSTOMER).name
    rows = sampled.points.with_columns(pl.int_range(len(sampled.points), eager=True).cast(pl.String).alias(customer))
    for column in sampled.columns:
        if groups is not None and column.column.role == Role.ITEM and column.precision == EXACT:
            rows = rows.with_columns(in_categories(rows[column.name], category_of_item(groups)).alias(column.name))
    others = [column.name for column in history.schema.columns if column.name not in (customer, *names)]
    points = replace(history, frame=rows, schema=history.schema.without(others), spelling=Spelling())
    customer = public.schema.role(Role.CUSTOMER).name
    for name in names:
        if name not in public.frame.columns:
            raise SchemaError(say("column_not_released", name=name))
    cells = [
        public.frame[column.name]
        if groups is not None and column.column.role == Role.ITEM
        else coarse_cells(public.frame[column.name], column, categories)
        for column in sampled.columns
    ]
    frame = pl.DataFrame([public.frame[customer].cast(pl.String), *cells])
    others = [column.name for column in public.schema.columns if column.name not in (customer, *names)]
    sides = comparison_arrays(points, History(frame, public.schema.without(others)))
    sharing = np.bincount(sides.history, minlength=len(sides.public.counts))
    holders = fitting_holders(sides.known.values, sides.public, sharing)
    # the public history of each customer who is asked about, below 0 where nobody can say
    known = release.secret.pseudonyms.select(pl.col("customer", "pseudonym").cast(pl.String)).unique(
        "customer", keep="first", maintain_order=True
    )
    pseudonym_histories = pl.DataFrame({"pseudonym": sides.pseudonyms.cast(pl.String), "history": sides.history})
    wanted = pl.DataFrame({"customer": sampled.names.gather(sampled.who).cast(pl.String)})
    own_histories = wanted.join(known, on="customer", how="left", maintain_order="left").join(
        pseudonym_histories, on="pseudonym", how="left", maintain_order="left"
    )
    return holders, own_histories["history"].fill_null(NOBODY).to_numpy(), len(sides.pseudonyms)


def _groups(
    categories: Categories | str | Path | None, columns: Sequence[KnownColumn], release: Release | None
) -> Categories | None:
    """Return the categories that items are known by; those of the release where it speaks of its own."""
    word = next((column.precision for column in columns if column.column.role == Role.ITEM), None)
    own = None if release is None else release_categories(release.statement)
    if own is not None and (categories is not None or (word or "").startswith("prefix")):
        raise ParameterError(say("own_categories"))
    if word == CATEGORY and categories is None and own is None:
        raise ParameterError(say("categories_unknown"))
    if categories is not None and word != CATEGORY:
        raise ParameterError(say("not_by_category"))
    if own is not None:
        return Categories(category_of_item(own))
    return categories if categories is None or isinstance(categories, Categories) else read_categories(categories)


# --- What is said of unicity: for each number of known purchases, how many customers are left alone -------------------


_HEADLINE = 4
"""de Montjoye et al. (2015): four purchases single out 90 % of 1.1 million people."""


@dataclass(frozen=True)
class UnicityStep:
    """The result for one number of known purchases."""

    known: int
    """How many different purchases are known."""
    tried: int
    """How many customers were asked about: those of the sample who have so many. The shares are shares of them."""
    unique: float
    low: float
    high: float
    """``unique``, ``low``, ``high``: the share with one candidate left; its 95 % interval (Clopper and Pearson)."""
    candidates: float
    median: float
    """``candidates``, ``median``: how many candidates are left, in the mean and in the middle."""
    none: float | None = None
    """On a release: the share for whom no candidate is left, because what is released is not what happened."""
    right: float | None = None
    right_low: float | None = None
    right_high: float | None = None
    """``right``, ``right_low``, ``right_high``: with a secret part, the share whose one candidate is right."""
    forgiving: float | None = None
    forgiving_low: float | None = None
    forgiving_high: float | None = None
    """``forgiving``, ``forgiving_low``, ``forgiving_high``: the same for anyone who passes over a known purchase that
    nobody left can have: more knowledge never harms them.
    """


@dataclass(frozen=True)
class Curve:
    """Unicity over the number of known purchases."""

    steps: tuple[UnicityStep, ...]
    """One for each number of known purchases that anybody asked about has."""
    among: int
    """How many people could be meant: customers, or pseudonyms of a release."""

    def headline(self) -> UnicityStep:
        """Return the step to tell first: four known purchases, or the nearest below, or the first there is."""
        below = [step for step in self.steps if step.known <= _HEADLINE]
        return below[-1] if below else self.steps[0]

    def as_list(self) -> list[dict[str, Any]]:
        """Return what is known of the steps as plain data."""
        return [{name: value for name, value in vars(step).items() if value is not None} for step in self.steps]


@dataclass(frozen=True)
class Unicity:
    """How much knowledge singles customers out, in the original and, where there is one, in a release."""

    original: Curve
    release: Curve | None
    """``original``, ``release``: the curves; both ask about the same purchases of the same customers."""
    columns: dict[str, str]
    """Which columns were known, and how exactly."""
    customers: int
    sampled: int
    """``customers``, ``sampled``: who have a purchase that could be known, and how many of them were asked about."""
    most: int
    """The most different purchases that anybody asked about has."""
    beyond: int | None
    """The first number of known purchases that was asked for and that nobody has; None where all are had."""
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data: ``curve`` is the original's, ``release`` the release's."""
        return {
            "curve": self.original.as_list(),
            "release": None if self.release is None else self.release.as_list(),
            "columns": self.columns,
            "customers": self.customers,
            "pseudonyms": None if self.release is None else self.release.among,
            "sampled": self.sampled,
            "most": self.most,
            "seed": self.seed,
        }


def curve_of(left: Whole, right: Flags | None, known: Sequence[int], among: int, *, released: bool) -> Curve:
    """Return the curve of how many are left of each customer (lines) after each known purchase (columns).

    A number below 0 was not asked for; ``right`` tells whether somebody who passes over contradictions has found them.

    >>> step = curve_of(np.array([[3, 1], [2, -1]]), None, [1, 2], 3, released=False).steps[1]
    >>> step.tried, step.unique, step.candidates
    (1, 1.0, 1.0)
    """
    steps = []
    for p in known:
        has_enough = left[:, p - 1] >= 0 if p <= left.shape[1] else np.zeros(len(left), dtype=np.bool_)
        tried = int(has_enough.sum())
        if not tried:
            continue
        sizes = left[has_enough, p - 1]
        unique = int((sizes == 1).sum())
        low, high = share_interval(unique, tried)
        more: dict[str, float] = {"none": float((sizes == 0).mean())} if released else {}
        if right is not None:
            recognised = right[has_enough, p - 1]
            more |= _share("right", int((recognised & (sizes == 1)).sum()), tried)
            more |= _share("forgiving", int(recognised.sum()), tried)
        mean, median = float(sizes.mean()), float(np.median(sizes))
        steps.append(UnicityStep(p, tried, unique / tried, low, high, mean, median, **more))
    return Curve(tuple(steps), among)


def _share(name: str, hits: int, tried: int) -> dict[str, float]:
    low, high = share_interval(hits, tried)
    return {name: hits / tried, f"{name}_low": low, f"{name}_high": high}
