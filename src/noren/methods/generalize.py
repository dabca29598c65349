"""Generalise histories so that k customers share each, with a search for the smallest error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from noren.data.arrays import numbers, people
from noren.data.categories import public_name
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError, SchemaError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.judging.cell_error import counted, counted_sd
from noren.kernels.judging.statistics import SampledTotal, sampled_total
from noren.kernels.judging.survival import best_plan
from noren.kernels.judging.threshold import Bound
from noren.kernels.sharing.alignment import COLUMNS, RowArrays, blocks_of, customer_features, row_arrays
from noren.kernels.sharing.joining import worth_keeping
from noren.kernels.sharing.pairing import Spread
from noren.kernels.sharing.partitioning import Mixture, mixtures
from noren.kernels.sharing.rows import DELETED
from noren.kernels.sharing.shared_histories import Budget, Effort, Report, SharedGroups, least_cost, share_histories
from noren.methods.pseudonymize import pseudonymous
from noren.methods.shared_values import (
    EFFORT,
    EFFORT_WORDS,
    SHARING,
    SHARING_HELP,
    CategoryFile,
    MostRows,
    Sharing,
    SuppressCells,
    measured_values,
    not_below,
    out_of_range,
    require_enough_customers,
    share_values,
    without_long_histories,
)
from noren.progress import Enough, Progress, silent
from noren.protocols import ALIKE, Method, Runtime, Strength, in_form
from noren.tables import Texts

say = Texts(__name__)

EFFORTS = {
    "quick": Effort(rounds=4, starts=4, tries=6, heat=0.03, steps=0),
    "normal": Effort(rounds=10, starts=8, tries=8, heat=0.08, steps=6),
    "thorough": Effort(rounds=40, starts=16, tries=12, heat=0.12, steps=12),
}
_WHOLE_UP_TO = 1500
"""Customers searched in one block where the user does not say; beyond, blocks of two thirds of that."""
_SAMPLED = 12
"""Blocks whose lower bounds are computed where one is estimated."""
_MOST_CELLS = 150_000_000
"""The largest matrix of rows by rows: 1.2 GB on each of two cores."""
NO_ITEM = -1
"""In place of an item's code: nothing is said of an item, and it costs nothing."""
_MIXTURES = 3
"""How many mixtures of class sizes are tried."""


@dataclass(frozen=True)
class _SearchRows:
    """The original as rows for the search, and the position of each in the original."""

    rows: RowArrays
    place: Whole
    cells: int
    """All cells of the original that count."""
    nobody: float
    """Those whose row has no customer: they are deleted, whatever the groups."""


_Shares = tuple[float, float, float, float]
"""Of the search: what is done, what a block adds to that, what it has to lose, and what all costs without it."""


@dataclass
class _Search:
    """The groups of every block with the block's rows, and the progress of the search."""

    groups: list[tuple[SharedGroups, Whole]]
    blocks: list[Whole]
    stopped: bool = False
    reached: float = 0.0


# --- what it costs ---------------------------------------------------------------------------------------------------


class Generalize(Method):
    """Give every customer the same whole history as at least k - 1 others, at the smallest error.

    Members of a group share one history: their rows are laid on one another, one row of each member to a generalised
    row, which says the interval of dates, prices and quantities and the set of items; rows without counterpart are
    deleted, names become pseudonyms. Who goes with whom, and which row with which, is chosen so that U, the mean error
    of a cell, is least. With ``suppress_cells`` an interval that costs more than a suppressed cell is suppressed.

    A customer is deleted whole where that loses less than company: fewer than k are, nothing public comes from them,
    and U counts all their cells.

    For k = 2 the result is the optimum of all pairs, one of an odd number of customers deleted, and proved to be; or
    better, where a group of three is. For larger k the problem is NP-hard; the search goes on for as long as ``effort``
    says, and Ctrl-C or :class:`~noren.progress.Enough` ends it with the best so far. With ``lower_bound`` a bound
    beside U says how much better any truthful release could be at most.

    With ``survival`` in place of k, class sizes are chosen: as small as they may be for a number of the best attackers
    to fail with that probability (see the measure of that name). The longest histories, which lose most, go into the
    smallest classes, never below ``min_class``; all others into classes of one larger size.

    Anyone who knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. What all k have in common stays visible. Columns that are neither date, item, price nor
    quantity (invoice, time, description, country) would tell members apart and are suppressed; rows without a customer
    are deleted. Of date, item, price and quantity those are laid on one another that there are. A blank cell is a value
    of its own: where one member has none the cell is suppressed for all, which costs the others what suppression costs.

    References
    ----------
    S0 for U and the teams that came near it; ``docs/theory/generalization.md`` for the proofs.

    Examples
    --------
    Ann's lamp of 9 meets Bob's lamp of 7, though it is not the dearest thing he has. Their rugs are more than two
    standard deviations (2.69) apart in price, so that price is better left unsaid.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/2", "2010/12/1", "2010/12/2"],
    ...         "item": ["lamp", "rug", "lamp", "rug"], "price": [9.0, 2.0, 7.0, 8.0], "quantity": [1, 1, 1, 1]}
    >>> release = Generalize(k=2).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> print(*release.public.lines(), sep="\\n")
    10,2010/12/1,lamp,[7;9],1
    10,2010/12/2,rug,*,1
    11,2010/12/1,lamp,[7;9],1
    11,2010/12/2,rug,*,1
    >>> release.statement.notes["proved_optimal"]
    True
    """

    name = "generalize"
    summary = N_("Each public history is shared by at least k customers, chosen for the least error.")
    source = "S0"
    runtime = Runtime.MINUTES
    strength = Strength("k", "2..6", instead=("survival",))
    promises = ALIKE
    offered_next = 2
    prominence = 4
    good_for = N_("Keeps the most utility for this promise: it searches for the best groups.")
    wrong_for = N_("You have many thousands of customers and little time, or rows must stay exact.")
    best_so_far = N_("best so far (lower is more useful)")
    generalises = True
    medians: ClassVar[bool] = False
    """Whether shared rows say the median and the mode, not an interval and a set."""
    promise_of_k: ClassVar[str] = N_("each public history is shared by at least k customers")
    promise_of_survival: ClassVar[str] = N_(
        "each public history is shared by at least min_class customers, enough to outlive the attackers"
    )

    k: Sharing | None = Field(
        default=None,
        title=SHARING,
        description=SHARING_HELP,
        json_schema_extra=in_form(main=True, start="3", minimum=2),
    )
    effort: Literal["quick", "normal", "thorough"] | float = Field(
        default="normal",
        title=EFFORT,
        description=N_("how long to search: quick, normal, thorough (same seed, same result), or a number of seconds"),
        json_schema_extra=in_form(main=True, words=EFFORT_WORDS, number=N_("Seconds")),
    )
    suppress_cells: SuppressCells = True
    categories: CategoryFile = None
    within: tuple[Literal["month", "week", "category"], ...] = Field(
        default=(),
        title=N_("What no date interval and no item set may cross: month, week, category"),
        description=N_("date intervals stay within a month or week, item sets within a category; dates stay"),
    )
    most_rows: MostRows = None
    block: Annotated[int | None, not_below(2)] = Field(
        default=None, title=N_("Customers searched together (default: all up to 1500, otherwise 1000 at a time)")
    )
    lower_bound: Literal["none", "estimate", "exact"] = Field(
        default="none",
        title=N_("Lower bound of the error"),
        description=N_(
            "smallest error that any such release could have; an estimate uses some blocks of customers and has an "
            "interval; either takes many times as long as a quick search"
        ),
        json_schema_extra=in_form(words={"none": N_("none"), "estimate": N_("estimate"), "exact": N_("exact")}),
    )
    survival: float | None = Field(
        default=None, gt=0, lt=1, title=N_("Instead of k: the probability of surviving all attackers, such as 0.9")
    )
    min_class: Sharing = Field(default=2, title=N_("With survival: minimum size of a group"))
    attackers: int = Field(default=13, ge=1, title=N_("Number of independent attackers"))
    bound: Bound = Field(
        default="sharp",
        title=N_("Rule for an effective attack: that of the paper, or the sharp one, which needs fewer hits"),
    )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data; those of survival, and of the lower bound, only where it is the aim."""
        idle = {"survival", "min_class", "attackers", "bound"} if self.survival is None else {"k"}
        idle |= {"lower_bound"} if self.lower_bound == "none" else set()
        idle |= {"most_rows"} if self.most_rows is None else set()
        idle |= set() if self.within else {"within"}
        return {name: value for name, value in super().parameters().items() if name not in idle}

    @model_validator(mode="after")
    def _one_aim(self) -> Generalize:
        if (self.k is None) == (self.survival is None):
            raise ValueError(_("give either {one} or {other}").format(one="k", other="survival"))
        if self.survival is not None and self.lower_bound != "none":
            raise ValueError(_("there is no lower bound with survival; omit lower_bound, or give k"))
        return self

    @field_validator("effort")
    @classmethod
    def _some_time(cls, effort: str | float) -> str | float:
        if isinstance(effort, float) and effort <= 0:
            raise out_of_range("effort", effort, "effort > 0")
        return effort

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Make the histories of ``original`` alike; the seed decides the pseudonyms and the way of the search."""
        progress(0.0, _("aligning histories"))
        codes, customers = without_long_histories(people(original[Role.CUSTOMER])[0], self.most_rows)
        names = pseudonymous(original[Role.CUSTOMER], seed)
        require_enough_customers(self.k or self.min_class, customers)
        values, notes = measured_values(original, self.categories)
        rows_to_search = self._rows_to_search(original, values, codes)
        search = self._searched(rows_to_search, seed, progress)
        try:
            least = self._least(rows_to_search, search, seed, progress)
        except Enough:  # the groups are there; who will not wait for their bound gets them without
            least, progress = None, silent
        progress = silent if search.stopped else progress  # who said enough need not be told more

        progress(0.95, _("generalising rows"))
        row = np.full(len(codes), DELETED, dtype=np.int64)
        first = 0
        for groups, of in search.groups:
            for group in groups.groups:
                table = self.rows_worth_keeping(rows_to_search.rows, of[group.table])
                row[rows_to_search.place[table]] = first + np.arange(table.shape[1])
                first += table.shape[1]
        aligned, left_out = share_values(
            original,
            values,
            row,
            names,
            suppress_cells=self.suppress_cells,
            medians=self.medians,
            unsuppressed=self._kept_dates(original),
        )
        block_groups = [groups for groups, _of in search.groups]
        sizes = [len(group.members) for block in block_groups for group in block.groups]
        notes |= self.notes_of(
            block_groups,
            rows_to_search.cells,
            rows_to_search.nobody,
            least,
            alone=len(rows_to_search.rows.counts) - sum(sizes),
        )
        if self.survival is not None:
            alive = (1 - best_plan(sizes, self.bound).chance) ** self.attackers
            notes |= {"survival": alive, "classes": {str(size): sizes.count(size) for size in sorted(set(sizes))}}
        if search.stopped:
            notes |= {"stopped": True, "searched": search.reached}
        if not isinstance(self.effort, str):
            notes["by_the_clock"] = True
        notes |= left_out
        progress(0.98, _("sorting rows"))
        return Release.of_aligned(original, aligned, self.statement(notes), seed=seed)

    def statement(self, notes: dict[str, Any]) -> Statement:
        """Return the statement of a release."""
        parameters = self.parameters() | public_name(self.categories)
        promise = self.promise_of_survival if self.k is None else self.promise_of_k
        return Statement(method=self.name, parameters=parameters, promise=promise, notes=notes)

    # --- the search ------------------------------------------------------------------------------------------------

    def _rows_to_search(self, original: History, values: dict[str, pl.Series], codes: Whole) -> _SearchRows:
        """Return the rows that have a customer, sorted by customer, in units of the whole columns' deviations."""
        measured = original.measured()
        ordered, nominal = self.searched_columns(measured)
        place = np.argsort(codes, kind="stable")
        place = place[codes[place] >= 0]
        start = np.concatenate([[0], np.cumsum(np.bincount(codes[place]))])
        sizes = [numbers(values[c.name]) for c in ordered]
        item = np.full(len(codes), NO_ITEM)
        for column in nominal:
            item = values[column.name].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        rows = row_arrays(
            start,
            [size[place] for size in sizes],
            [counted_sd(*counted(size)) for size in sizes],
            [c.grid for c in ordered],
            item[place],
        )._replace(medians=self.medians)
        if self.within:
            dates = self._kept_dates(original)
            rows = rows._replace(
                stratum=self._strata(original, values)[place],
                unsuppressed=-1 if dates is None else ordered.index(dates),
            )
        self.reject_if_too_long(rows.counts)
        known = sum(len(original) - original.frame[c.name].null_count() for c in measured)
        return _SearchRows(rows, place, max(len(original) * len(measured), 1), float(known - rows.worth.sum()))

    def _kept_dates(self, original: History) -> Column | None:
        """Return the column of dates where the release must say of every row which month or week it is of."""
        parts = [part for part in self.within if part != "category"]
        if not parts:
            return None
        for column in original.schema.with_role(Role.DATE):
            if column.scale == Scale.INTERVAL:
                return column
        raise SchemaError(say("within_lacks", part=parts[0], role=Role.DATE))

    def _strata(self, original: History, values: dict[str, pl.Series]) -> Whole:
        """Return the code of each row's month, week and category, as far as rows may not cross them; blanks are one."""
        if "category" in self.within and self.categories is None:
            raise ParameterError(say("within_categories"))
        dates = self._kept_dates(original)
        code = np.zeros(len(original), dtype=np.int64)
        for part in dict.fromkeys(self.within):
            if part == "category":
                label = values[original.schema.role(Role.ITEM).name]
            else:
                day = original.frame[dates.name].dt  # type: ignore[union-attr]
                label = day.year() * 12 + day.month() if part == "month" else day.iso_year() * 53 + day.week()
            own = label.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
            code = np.unique(code * (int(own.max(initial=0)) + 1) + own, return_inverse=True)[1].astype(np.int64)
        return code

    def searched_columns(self, measured: Iterable[Column]) -> tuple[list[Column], list[Column]]:
        """Return the ordered columns and the one of names, if any; stop where there are more than the search takes."""
        measured = tuple(measured)
        ordered = [c for c in measured if c.scale != Scale.NOMINAL]
        nominal = [c for c in measured if c.scale == Scale.NOMINAL]
        if len(nominal) > 1 or len(ordered) > COLUMNS:
            raise SchemaError(say("too_many_columns", method=self.name))
        return ordered, nominal

    def reject_if_too_long(self, counts: Whole) -> None:
        """Stop where two customers have too many rows to lay all of them on one another."""
        longest = np.sort(counts)[-2:]
        whole = (self.k or self.min_class) == 2 or self.medians or self.lower_bound != "none"  # all rows by all rows
        if whole and np.prod(longest.astype(np.float64)) > _MOST_CELLS:
            raise ParameterError(say("histories_too_long", one=int(longest[1]), other=int(longest[0])))

    def rows_worth_keeping(self, rows: RowArrays, table: Whole) -> Whole:
        """Return the generalised rows of a group that are worth keeping."""
        if self.suppress_cells and not self.within:  # a row with suppressed cells is never dearer than a deleted one
            return table
        worth: Whole = table[:, worth_keeping(rows, self.suppress_cells, table)]
        return worth

    def _effort(self) -> Effort:
        if isinstance(self.effort, str):
            return EFFORTS[self.effort]
        return replace(EFFORTS["normal"], seconds=self.effort, steps=12)

    def block_size(self, customers: int) -> int:
        """Return how many customers are searched together, of so many; no fewer than these: all in one block."""
        return self.block or (customers if customers <= _WHOLE_UP_TO else _WHOLE_UP_TO * 2 // 3)

    def blocks(self, features: Real) -> list[Whole]:
        """Return who is searched with whom: customers' numbers, block by block.

        Parameters
        ----------
        features
            What :func:`~noren.kernels.sharing.alignment.customer_features` says of each customer, in the order of their
            first appearance. With ``survival`` the row count alone decides, so that the longest histories are together.
        """
        size = self.block_size(len(features))
        if size >= len(features):
            return [np.arange(len(features))]
        return blocks_of(features if self.k else features[:, :1], self.k or self.min_class, size)

    def search_block(
        self,
        rows: RowArrays,
        at: int,
        seed: int,
        *,
        aim: tuple[int, Sequence[Sequence[int]]] | None = None,
        budget: Budget | None = None,
        report: Report | None = None,
        spread: Spread = map_blocks,
    ) -> SharedGroups:
        """Return the groups of one block: a function of its rows, its number and the seed, whatever machine it is on.

        Parameters
        ----------
        rows
            The rows of the block's customers, one customer after another in the order of the block, those of a
            customer in the order of the original, in units of the whole columns.
        at
            The number of the block, from 0: with the seed it makes the random stream.
        aim
            The size of groups, and those of other sizes (``survival``); k and none unless given.
        budget
            The time there is; as long as the effort says unless given.
        """
        k, heads = aim or (self.k or self.min_class, ((),))
        return share_histories(
            rows,
            k,
            self._effort(),
            heads=heads,
            suppress=self.suppress_cells,
            generator=np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, at]))),
            budget=budget or Budget(self._effort().seconds),
            spread=spread,
            report=report,
        )

    def _searched(self, rows_to_search: _SearchRows, seed: int, progress: Progress) -> _Search:
        """Return the groups of every block; enough said from the first groups on ends the search with the best."""
        rows = rows_to_search.rows
        tried = [Mixture((), self.k)] if self.k else self._mixtures(rows, progress)
        k, heads = tried[0].k, [mixture.head for mixture in tried]
        effort = self._effort()
        whole = Budget(effort.seconds)
        search = _Search([], self.blocks(customer_features(rows)))
        done = 0.0
        all_worth = float(rows.worth.sum())
        cells = max(all_worth, 1.0)
        dearest = rows_to_search.nobody + all_worth  # what the groups found cost, and all that is not in one deleted
        for at, block in enumerate(search.blocks):
            mine = rows.of(block)
            longest = at == len(search.blocks) - 1  # where the small classes are worth most
            worth = float(mine.worth.sum())
            share = worth / cells
            rest = None if effort.seconds is None else max(effort.seconds * (1 - whole.spent()), 0.0)
            budget = Budget(None if rest is None else rest * share / max(1 - done, share), whole.stopped)

            def report_progress(part: float, cost: float, now: _Shares = (done, share, worth, dearest)) -> None:
                done, share, worth, dearest = now
                nothing = np.isnan(cost)
                u = (dearest if nothing else dearest - worth + cost) / rows_to_search.cells
                words = _("comparing histories") if nothing else f"U = {u:.4f}"
                search.reached = done + share * part
                reached = 0.02 + (0.9 if self.lower_bound == "none" else 0.3) * search.reached
                progress(reached, words, u if search.groups or not nothing else None)

            aim = (k, heads if longest else ((),))
            try:
                groups = self.search_block(mine, at, seed, aim=aim, budget=budget, report=report_progress)
            except Enough:
                if not search.groups:
                    raise
                budget.stopped = True  # of this block and those after it, the first groups that come to hand
                groups = self.search_block(mine, at, seed, aim=aim, budget=budget)
            counts = rows.counts[block]
            of = np.arange(mine.start[-1]) + np.repeat(rows.start[block] - mine.start[:-1], counts)
            search.groups.append((groups, of))
            whole.stopped = search.stopped = budget.stopped
            done += share
            dearest -= worth - groups.cost
        return search

    def _least(
        self, rows_to_search: _SearchRows, search: _Search, seed: int, progress: Progress
    ) -> SampledTotal | None:
        """Return the lower bound that was asked for, in cells: of all blocks, or estimated from some.

        Blocks are drawn by the seed, and what is estimated is their bounds' share of what their groups cost.
        """
        if self.k is None or self.lower_bound == "none" or search.stopped:
            return None
        count = len(search.blocks)
        chosen = np.arange(count)
        if self.lower_bound == "estimate" and count > _SAMPLED:
            generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, count, _SAMPLED])))
            chosen = np.sort(generator.choice(count, _SAMPLED, replace=False))
        k, single = self.k, count == 1

        def report_progress(done: float = 0.0) -> None:
            progress(0.33 + 0.6 * done, _("computing the lower bound"))

        def bound(at: int) -> float:
            rows = rows_to_search.rows.of(search.blocks[at])
            # one block: all cores on its pairs; several: one block to a core
            spread = map_blocks if single else map
            return least_cost(
                rows, k, suppress=self.suppress_cells, spread=spread, report=report_progress if single else lambda: None
            )

        bounds = []
        for least in map_blocks(bound, chosen.tolist(), workers=1 if single else None):
            bounds.append(least)
            report_progress(len(bounds) / len(chosen))
        costs = np.array([groups.cost for groups, _of in search.groups])
        return sampled_total(np.array(bounds), costs[chosen], float(costs.sum()), count)

    def _mixtures(self, rows: RowArrays, progress: Progress) -> list[Mixture]:
        """Return class sizes that outlive the attackers: a few mixtures of one common size, the likeliest first."""
        progress(0.01, _("searching"))
        allowed = 1 - float(self.survival or 0) ** (1 / self.attackers)
        worth = rows.losses

        def chance(sizes: tuple[int, ...]) -> float:
            return best_plan(sizes, self.bound).chance

        candidates = list(islice(mixtures(worth, self.min_class, allowed, chance), 2 * _MIXTURES))
        if not candidates:
            raise ParameterError(
                say("no_class_sizes", count=len(rows.counts), attackers=self.attackers, survival=self.survival)
            )
        return [mixture for mixture in candidates if mixture.k == candidates[0].k][:_MIXTURES]

    def notes_of(
        self,
        block_groups: Sequence[SharedGroups],
        cells: int,
        nobody: float,
        least: SampledTotal | None = None,
        *,
        alone: int,
    ) -> dict[str, Any]:
        """Return what the statement says of the blocks: U, a lower bound of U where there is one, and how far it is.

        Parameters
        ----------
        cells, nobody
            All cells of the original that count, and those whose row has no customer.
        alone
            How many customers are in no group.
        """
        u = float(sum(f.cost for f in block_groups) + nobody) / cells
        notes: dict[str, Any] = {"U": u, "proved_optimal": False} | ({"truthful": False} if self.medians else {})

        def in_u(cost: float) -> float:
            return float(cost + nobody) / cells

        if len(block_groups) > 1:
            notes["blocks"] = len(block_groups)
            if least is not None:
                notes["lower_bound_within_blocks"] = in_u(least.value)
                notes["lower_bound_blocks"] = least.sampled
                if least.sampled < len(block_groups):
                    notes["lower_bound_interval"] = [in_u(least.low), in_u(least.high)]
        elif block_groups[0].bound is not None:
            bound = in_u(block_groups[0].bound)
            notes |= {"lower_bound": bound, "gap": max(u - bound, 0.0), "proved_optimal": block_groups[0].proved}
            anything = None if self.within else block_groups[0].anything  # others need not keep within
            if anything is not None and anything < block_groups[0].bound:
                notes["lower_bound_any"] = in_u(anything)
        elif least is not None:
            bound = in_u(least.value)
            proved = block_groups[0].cost - least.value <= 1e-7 * max(block_groups[0].cost, 1.0)
            notes |= {"lower_bound": bound, "gap": max(u - bound, 0.0), "proved_optimal": proved}
        elif block_groups[0].proved:
            notes["proved_optimal"] = True
        if alone:
            notes["deleted_customers"] = alone
        return notes
