"""Guesses beside F, the true pseudonym of each customer and period: the ground of UM, MM and EMM (S3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values
from noren.data.contest_files import listed_customers
from noren.data.frames import History
from noren.data.periods import in_order, of_one_kind, periods_of
from noren.data.release import Release
from noren.data.schema import Role, Schema
from noren.data.statement import Statement
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Flags, Real, Whole
from noren.measures.evidence import guesses_of, original_history, public_history, secret_of
from noren.protocols import Evidence, Guess, Measure

UNLISTED = "unlisted"
"""The note of a guess that was read from a file: customers it has no line for."""

_NONE, _OTHER = -1, -2


class MatchingMeasure(Measure):
    """What UM, MM and EMM have in common."""

    source = "S3"
    roles = (Role.DATE,)
    goal = "lower"
    bounds = (0.0, 1.0)
    side = "safety"
    needs = frozenset({"original", "secret", "guess"})


def two_months() -> Evidence:
    """Return an example: Ann is p in December and r in January, Bob q and s; a guess finds all but s.

    >>> two_months().guesses["hand"].pairs.rows()
    [('p', 'ann', '2010/12'), ('q', 'bob', '2010/12'), ('r', 'ann', '2011/1')]
    """
    rows: dict[str, Any] = {"customer": ["ann", "bob"] * 2, "date": ["2010/12/1"] * 2 + ["2011/1/1"] * 2}
    rows |= {"item": "x", "price": 1.0, "quantity": 1}
    original = History.of(rows, Schema.preset("pwscup2018"))
    renamed = History.of(rows | {"customer": ["p", "q", "r", "s"]}, Schema.preset("pwscup2018"))
    release = Release.of_aligned(original, renamed, Statement("hand"), periods=periods_of(original["date"]))
    return Evidence(original, release, {"hand": Guess("hand", release.secret.pseudonyms[:3])})


@dataclass(frozen=True)
class Matched:
    """Every guess against the truth."""

    customers: pl.Series
    """The customers, the rows of every table: the master's, else the original's."""
    periods: tuple[str, ...]
    """The periods, the columns of every table, in order of time."""
    live: Flags
    """Where the truth has a pseudonym. A customer without a released row in a period has none there (``DEL``)."""
    match: Mapping[str, Flags]
    """Of each guess, where it agrees with the truth; no pseudonym agrees with none."""
    pseudonyms: Whole
    """How many pseudonyms each period has."""
    changing: bool
    """Whether the release changes pseudonyms with time."""
    all_pseudonyms: int
    """How many pseudonyms there are."""
    truth: Whole
    named: Mapping[str, Whole]
    names: pl.Series
    """``truth``, ``named``, ``names``: the pseudonym of each cell, by the truth and by each guess, as a place in
    ``names``; below 0 where there is none or an unknown one.
    """

    def hit_chances(self, classes: Whole) -> dict[str, Real]:
        """Return, of each guess, the chance that a cell agrees once pseudonyms are dealt anew inside their classes.

        ``classes`` has the class of each of ``names``. A pseudonym of a class of c customers is each of them with the
        chance 1/c; cells without a pseudonym stay as they are.
        """
        sizes = np.bincount(classes, minlength=1)
        own = classes[np.maximum(self.truth, 0)] if len(classes) else np.zeros_like(self.truth)
        chances = {}
        for name, named in self.named.items():
            inside = (named >= 0) & (classes[np.maximum(named, 0)] == own) if len(classes) else np.zeros_like(self.live)
            chances[name] = np.where(self.live, inside / np.maximum(sizes[own], 1), named == _NONE)
        return chances

    def chance_of_users(self) -> float:
        """Return UM in the mean of one who draws so: all draws must hit; where pseudonyms stay, one from all of them.

        He knows who bought when; see :meth:`MatchedPeriods.chance_curve`.
        """
        draws = self.pseudonyms if self.changing else np.full_like(self.pseudonyms, self.all_pseudonyms)
        hit = np.where(self.live, 1 / np.maximum(draws, 1), 1.0)
        each = hit.prod(axis=1) if self.changing else hit.min(axis=1, initial=1.0)
        return float(each.mean()) if len(each) else 0.0

    def by_period(self) -> MatchedPeriods:
        """Return the counts of each period."""
        dead = (~self.live).sum(axis=0, dtype=np.float64)
        gain = {name: match.sum(axis=0, dtype=np.float64) - dead for name, match in self.match.items()}
        live = self.live.sum(axis=0, dtype=np.float64)
        return MatchedPeriods(len(self.customers), self.periods, live, gain, self.pseudonyms)


@dataclass(frozen=True)
class MatchedPeriods:
    """Every guess against the truth, period by period: all that MM and EMM are made of."""

    customers: int
    periods: tuple[str, ...]
    """``customers``, ``periods``: how many customers there are, and the periods in order of time."""
    live: Real
    """How many cells of each period have a pseudonym."""
    gain: Mapping[str, Real]
    """Of each guess, the cells of each period that it names rightly, less those that it names and that have none."""
    pseudonyms: Whole
    """How many pseudonyms each period has."""

    def chance_curve(self) -> list[float]:
        """Return the mean MM^(1), MM^(2), … of one who knows who bought when, and draws from a period's pseudonyms."""
        right = np.cumsum(self.live / np.maximum(self.pseudonyms, 1))
        return [float(hits / many) if many else 0.0 for hits, many in zip(right, np.cumsum(self.live), strict=True)]


def matched(evidence: Evidence) -> Matched:
    """Lay the guesses beside the truth.

    Where a customer has several pseudonyms in a period, the one that was new last counts (A, B, A gives B), as the
    judges' program has it. A release whose pseudonyms do not change with time is judged month by month, the month being
    that of the original's date. A guess that does not tell periods, or tells periods of another kind (months where
    pseudonyms change every week), speaks of every period that has its pseudonym; one that names a customer twice in a
    period is taken at its first and surest word.
    """
    original, secret = original_history(evidence), secret_of(evidence)
    pseudonyms, customers = secret.pseudonyms, listed_customers(original)
    dates = exact_values(original, original.schema.role(Role.DATE))
    changing = "period" in pseudonyms.columns
    if not changing:
        # rows may have changed hands, so a pseudonym's months are those of the rows that stand under it
        public = public_history(evidence.release)
        rows = {"pseudonym": public[Role.CUSTOMER], "period": periods_of(dates).gather(secret.origin)}
        periods_seen = pl.DataFrame(rows).drop_nulls().unique(maintain_order=True)
        pseudonyms = periods_seen.join(pseudonyms, on="pseudonym", how="inner", maintain_order="left")
    # pseudonym, customer and period, in order of first appearance
    true = pseudonyms.select(pl.col("pseudonym", "customer", "period").cast(pl.String))
    true = true.drop_nulls().unique(maintain_order=True).filter(pl.col("customer").is_in(customers.implode()))
    guessed = {name: _guessed_customers(guess, name, true, customers) for name, guess in guesses_of(evidence).items()}
    named = [true["period"], *(pairs["period"] for pairs in guessed.values())]
    months = periods_of(dates).drop_nulls().unique()
    # a month whose rows were all deleted is a period too
    known = [months] if of_one_kind(months, true["period"].unique()) else []
    periods = in_order(name for column in (*named, *known) for name in column.unique())
    names = true["pseudonym"].unique()
    known_names: dict[str, pl.Series | list[str]] = {"customer": customers, "period": periods, "pseudonym": names}
    cell = ["customer", "period"]
    truth = _table(true.unique(cell, keep="last", maintain_order=True), known_names)
    tables = {name: _table(pairs.unique(cell, keep="first"), known_names) for name, pairs in guessed.items()}
    counts = dict(true.group_by("period").agg(pl.col("pseudonym").n_unique()).iter_rows())
    return Matched(
        customers,
        tuple(periods),
        truth != _NONE,
        {name: table == truth for name, table in tables.items()},
        np.array([counts.get(period, 0) for period in periods], np.int64),
        changing,
        len(names),
        truth,
        tables,
        names,
    )


def _guessed_customers(guess: Guess, name: str, true: pl.DataFrame, customers: pl.Series) -> pl.DataFrame:
    """Return pseudonym, customer and period of a guess, surest first."""
    # an attack that finds nobody may leave its columns without a type
    both = ["pseudonym", "customer"]
    pairs = guess.answers.with_columns(pl.col(both).cast(pl.String)).drop_nulls(both)
    unknown = pairs.filter(~pl.col("customer").is_in(customers.implode()))
    if len(unknown):
        message = _(
            "the guess {name} names the customer {customer}, who is not in the original; give the "
            "guess about this original, and its master where it has one"
        )
        raise ParameterError(message.format(name=name, customer=unknown["customer"][0]))
    if "period" in pairs.columns and not of_one_kind(*(side["period"].drop_nulls().unique() for side in (pairs, true))):
        pairs = pairs.drop("period")
    if "period" not in pairs.columns:
        where = true.select("pseudonym", "period").unique(maintain_order=True)
        pairs = pairs.join(where, on="pseudonym", how="inner", maintain_order="left")
    return pairs.select("pseudonym", "customer", pl.col("period").cast(pl.String)).drop_nulls()


def _table(pairs: pl.DataFrame, names: Mapping[str, pl.Series | list[str]]) -> Whole:
    """Return the pseudonym of each customer (row) and period (column), as places in ``names``; one pair per cell."""
    row, column, pseudonym = (
        pairs[name].cast(pl.Enum(known), strict=False).to_physical().cast(pl.Int64).fill_null(_OTHER).to_numpy()
        for name, known in names.items()
    )
    table = np.full((len(names["customer"]), len(names["period"])), _NONE, np.int64)
    table[row, column] = pseudonym
    return table
