"""Histories made alike at the least loss that is found, and for pairs at the least there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from noren.cost_law import CostLaw, Shape, mean_square
from noren.data.arrays import numbers, people
from noren.data.categories import public_name
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Role, Scale
from noren.descriptions import ALIKE, PromiseKind, Strength, in_form
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError, SchemaError
from noren.i18n import N_, _
from noren.kernels.judging.cell_error import population_sd
from noren.kernels.judging.survival import best_plan
from noren.kernels.judging.threshold import Bound
from noren.kernels.sharing.alignment import COLUMNS, LaidRows, laid_rows
from noren.kernels.sharing.class_mixtures import Mixture, mixtures
from noren.kernels.sharing.count_groups import DELETED
from noren.kernels.sharing.joining import worth_keeping
from noren.kernels.sharing.shared_histories import Budget, Effort, Found, blocks_by_count, share_histories
from noren.methods.alike import (
    EFFORT,
    EFFORT_HELP,
    EFFORT_WORDS,
    SHARING,
    SHARING_HELP,
    SUPPRESSED,
    CategoryFile,
    Sharing,
    alike,
    in_words,
    stop_if_too_few,
)
from noren.methods.pseudonymize import pseudonymous
from noren.progress import Enough, Progress, silent
from noren.protocols import Method

__all__ = ["Generalize"]

Whole = NDArray[np.int64]

EFFORTS = {
    "quick": Effort(rounds=6, starts=4, tries=6, heat=0.03, steps=0),
    "normal": Effort(rounds=30, starts=8, tries=8, heat=0.08, steps=8),
    "thorough": Effort(rounds=100, starts=16, tries=12, heat=0.12, steps=24),
}
_WHOLE_UP_TO = 4000
"""Customers searched in one block where the user does not say; beyond, blocks of a quarter of that."""
_MOST_CELLS = 150_000_000
"""The largest matrix of rows by rows: 1.2 GB on each of two cores."""
NO_ITEM = -1
"""In place of an item's code: nothing is said of an item, and it costs nothing."""
_MIXTURES = 3
"""How many mixtures of class sizes are tried."""


@dataclass(frozen=True)
class _Laid:
    """The original as rows for the search: where each laid row stands in the original."""

    rows: LaidRows
    place: Whole
    cells: int
    """All cells of the original that count."""
    nobody: float
    """Those whose row has no customer: they are deleted, whatever the groups."""


@dataclass
class _Search:
    """The groups of every block, with the rows that the block's rows are; and how far the search came."""

    found: list[tuple[Found, Whole]]
    stopped: bool = False
    reached: float = 0.0


# --- what it costs ---------------------------------------------------------------------------------------------------


def _together(shape: Shape, parameters: Mapping[str, Any]) -> int:
    """Return how many customers are searched together."""
    whole = shape.people if shape.people <= _WHOLE_UP_TO else _WHOLE_UP_TO // 4
    return min(int(parameters.get("block") or whole), shape.people)


def _people_together(shape: Shape, parameters: Mapping[str, Any]) -> float:
    return float(shape.people) * _together(shape, parameters)


def _size(parameters: Mapping[str, Any]) -> int:
    return int(parameters.get("k") or 4)  # the common size that survival ends up with is about that


def _looks_at_pairs(shape: Shape, parameters: Mapping[str, Any]) -> float:
    near = min(12 * _size(parameters) + 12, _together(shape, parameters))
    return shape.people * near * mean_square(shape)


def _rounds(shape: Shape, parameters: Mapping[str, Any]) -> float:
    effort = parameters.get("effort", "normal")
    paired = _size(parameters) == 2 and shape.people % 2 == 0 and not parameters.get("survival")
    if effort not in EFFORTS or paired:
        return 0.0
    return EFFORTS[effort].rounds * EFFORTS[effort].tries * shape.people * mean_square(shape)


class Generalize(Method):
    """Make every customer's whole history the same as that of at least k - 1 others, at the least error.

    Members of a group share one history: their rows are laid on one another, one row of each member to a generalised
    row, which says the interval of dates, prices and quantities and the set of items; rows without counterpart are
    deleted, names become pseudonyms. Who goes with whom, and which row with which, is chosen so that U, the mean error
    of a cell, is least. With ``suppress_cells`` an interval that costs more than a suppressed cell is suppressed.

    A customer is deleted whole where that loses less than company: fewer than k are, nothing public comes from them,
    and U counts all their cells.

    For k = 2 the result is the optimum of all pairs, one of an odd number of customers deleted, and proved to be; or
    better, where a group of three is. For larger k the problem is NP-hard; the search goes on for as long as ``effort``
    says, Ctrl-C or :class:`~noren.progress.Enough` ends it with the best so far, and a lower bound beside U says how
    much better any truthful release could be at most.

    With ``survival`` in place of k, class sizes are chosen: as small as they may be for a number of the best attackers
    to fail with that probability (see the measure of that name). The longest histories, which lose most, go into the
    smallest classes, never below ``min_class``; all others into classes of one larger size.

    Whoever knows everything about a person is left with k customers whose public histories are equal, so a guess is
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

    name: ClassVar[str] = "generalize"
    summary: ClassVar[str] = N_("Each public history is shared by at least k customers, chosen for the least error.")
    source: ClassVar[str] = "S0"
    cost: ClassVar[CostLaw | None] = CostLaw(
        ("once", "rows", "people together", "looks at pairs", "rounds"),
        own={"people together": _people_together, "looks at pairs": _looks_at_pairs, "rounds": _rounds},
    )
    strength: ClassVar[Strength | None] = Strength("k", "2..6", instead=("survival",))
    promises: ClassVar[PromiseKind] = ALIKE
    offered_next: ClassVar[int] = 2
    prominence: ClassVar[int] = 4
    good_for: ClassVar[str] = N_("Keeps the most use for this promise: it searches for who goes best with whom.")
    wrong_for: ClassVar[str] = N_("You need it at once and have many thousands of customers, or rows must stay exact.")
    best_so_far: ClassVar[str] = N_("best U so far, the mean error of a cell (lower is more useful)")
    generalises: ClassVar[bool] = True
    medians: ClassVar[bool] = False
    """Whether shared rows say the median and the mode, not an interval and a set."""

    k: Sharing | None = Field(
        default=None,
        title=SHARING,
        description=N_("how many customers share each public history, at least; 2 or more; or give survival"),
        json_schema_extra=in_form(help=SHARING_HELP, main=True, start="3", minimum=2),
    )
    effort: Literal["quick", "normal", "thorough"] | float = Field(
        default="normal",
        title=EFFORT,
        description=N_("how long to search: quick, normal, thorough (same seed, same bytes), or seconds by the clock"),
        json_schema_extra=in_form(help=EFFORT_HELP, main=True, words=EFFORT_WORDS, number=N_("seconds by the clock")),
    )
    suppress_cells: bool = Field(
        default=True,
        title=SUPPRESSED,
        description=N_("suppress an interval where it costs more than a suppressed cell; the error falls, k stays"),
    )
    categories: CategoryFile = None
    block: int | None = Field(
        default=None,
        title=N_("Customers searched together"),
        description=N_("customers searched together; by default all up to 4000, beyond that 1000 at a time"),
    )
    survival: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        title=N_("In place of k: the chance to withstand all attackers"),
        description=N_("in place of k: the least error such that the release outlives the best attackers so surely"),
        json_schema_extra=in_form(help=N_("a probability such as 0.9; leave k empty then")),
    )
    min_class: Sharing = Field(
        default=2,
        title=N_("Smallest group, with that chance"),
        description=N_("with survival: no public history is shared by fewer customers than these"),
    )
    attackers: int = Field(
        default=13,
        ge=1,
        title=N_("Attackers, with that chance"),
        description=N_("with survival: how many attackers try, independently of each other"),
    )
    bound: Bound = Field(
        default="sharp",
        title=N_("Rule for an effective attack, with that chance"),
        description=N_("with survival: how many hits make an attack effective, by which rule"),
        json_schema_extra=in_form(
            words={"paper": N_("the contest's rule"), "sharp": N_("the sharp rule, which is stricter")}
        ),
    )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data; those of survival only where it is the aim."""
        idle = {"survival", "min_class", "attackers", "bound"} if self.survival is None else {"k"}
        return {name: value for name, value in super().parameters().items() if name not in idle}

    @model_validator(mode="after")
    def _one_aim(self) -> Generalize:
        if (self.k is None) == (self.survival is None):
            raise ValueError(_("give k, or survival in its place: one of the two"))
        return self

    @field_validator("effort")
    @classmethod
    def _some_time(cls, effort: str | float) -> str | float:
        if isinstance(effort, float) and effort <= 0:
            raise ValueError(_("effort={effort} leaves no time to search; give seconds above 0").format(effort=effort))
        return effort

    @field_validator("block")
    @classmethod
    def _some_customers(cls, block: int | None) -> int | None:
        if block is not None and block < 2:
            raise ValueError(_("block={block} holds no group; use at least k").format(block=block))
        return block

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Make the histories of ``original`` alike; the seed decides the pseudonyms and the way of the search."""
        progress(0.0, _("laying histories side by side"))
        codes, customers = people(original[Role.CUSTOMER])
        names = pseudonymous(original[Role.CUSTOMER], seed)
        stop_if_too_few(self.k or self.min_class, len(customers))
        words, notes = in_words(original, self.categories)
        laid = self._laid(original, words, codes)
        search = self._found(laid, seed, progress)
        progress = silent if search.stopped else progress  # who said enough need not be told more

        progress(0.95, _("generalising rows"))
        row = np.full(len(codes), DELETED, dtype=np.int64)
        first = 0
        for groups, of in search.found:
            for group in groups.groups:
                table = of[group.table]
                if not self.suppress_cells:  # a row with suppressed cells is never dearer than a deleted one
                    table = table[:, worth_keeping(laid.rows, self.suppress_cells, table)]
                row[laid.place[table]] = first + np.arange(table.shape[1])
                first += table.shape[1]
        aligned, left_out = alike(original, words, row, names, suppress_cells=self.suppress_cells, medians=self.medians)
        notes |= self._notes(laid, search) | left_out
        statement = Statement(
            method=self.name,
            parameters=self.parameters() | public_name(self.categories),
            promise=self._promise(),
            notes=notes,
        )
        progress(0.98, _("putting the rows in an order that tells nothing"))
        return Release.of_aligned(original, aligned, statement, seed=seed)

    def _promise(self) -> str:
        """Return what the statement promises."""
        if self.k is None:
            return N_("each public history is shared by at least min_class customers, enough to outlive the attackers")
        return N_("each public history is shared by at least k customers")

    # --- the search ------------------------------------------------------------------------------------------------

    def _laid(self, original: History, words: dict[str, pl.Series], codes: Whole) -> _Laid:
        """Return the rows that have a customer, sorted by customer, in units of the whole columns' deviations."""
        measured = original.measured()
        ordered = [c for c in measured if c.scale != Scale.NOMINAL]
        nominal = [c for c in measured if c.scale == Scale.NOMINAL]
        if len(nominal) > 1 or len(ordered) > COLUMNS:
            raise SchemaError(
                _("{method} works on one column of names, the item, and up to three of dates and numbers").format(
                    method=self.name
                ),
                _("give date, price and quantity types that can be ordered"),
            )
        place = np.argsort(codes, kind="stable")
        place = place[codes[place] >= 0]
        start = np.concatenate([[0], np.cumsum(np.bincount(codes[place]))])
        values = [numbers(words[c.name]) for c in ordered]
        item = np.full(len(codes), NO_ITEM)
        for column in nominal:
            item = words[column.name].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        rows = laid_rows(
            start,
            [v[place] for v in values],
            [population_sd(v) for v in values],
            [c.grid for c in ordered],
            item[place],
        )._replace(medians=self.medians)
        longest = np.sort(rows.counts)[-2:]
        if np.prod(longest.astype(np.float64)) > _MOST_CELLS:
            raise ParameterError(
                _("two customers have {one:,} and {other:,} rows, too many to lay on one another").format(
                    one=int(longest[1]), other=int(longest[0])
                ),
                _("use generalize-by-count, or protect the longest histories apart"),
            )
        known = sum(len(original) - original.frame[c.name].null_count() for c in measured)
        return _Laid(rows, place, max(len(original) * len(measured), 1), float(known - rows.worth.sum()))

    def _effort(self) -> Effort:
        if isinstance(self.effort, str):
            return EFFORTS[self.effort]
        normal = EFFORTS["normal"]
        return Effort(normal.rounds, normal.starts, normal.tries, normal.heat, self.effort)

    def _found(self, laid: _Laid, seed: int, progress: Progress) -> _Search:
        """Return the groups of every block; enough said from the first groups on ends the search with the best."""
        rows = laid.rows
        count = len(rows.counts)
        tried = [Mixture((), self.k)] if self.k else self._mixtures(rows, progress)
        k, heads = tried[0].k, [mixture.head for mixture in tried]
        size = self.block or (count if count <= _WHOLE_UP_TO else _WHOLE_UP_TO // 4)
        effort = self._effort()
        whole = Budget(effort.seconds)
        search = _Search([])
        done = 0.0
        all_worth = float(rows.worth.sum())
        cells = max(all_worth, 1.0)
        dearest = laid.nobody + all_worth  # what the groups found cost, and all that is not in one deleted
        blocks = blocks_by_count(rows, k, size) if size < count else [np.arange(count)]
        for at, block in enumerate(blocks):
            mine = rows.of(block)
            longest = at == len(blocks) - 1  # where the small classes are worth most
            worth = float(mine.worth.sum())
            share = worth / cells
            rest = None if effort.seconds is None else max(effort.seconds * (1 - whole.spent()), 0.0)
            budget = Budget(None if rest is None else rest * share / max(1 - done, share), whole.stopped)

            def told(
                part: float,
                cost: float,
                done: float = done,
                share: float = share,
                worth: float = worth,
                dearest: float = dearest,
            ) -> None:
                nothing = np.isnan(cost)
                u = (dearest if nothing else dearest - worth + cost) / laid.cells
                words = _("comparing histories") if nothing else _("U = {u:.4f}").format(u=u)
                search.reached = done + share * part
                progress(0.02 + 0.9 * search.reached, words, u if search.found or not nothing else None)

            share_block = partial(
                share_histories,
                mine,
                k,
                effort,
                heads=heads if longest else ((),),
                suppress=self.suppress_cells,
                generator=np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, at]))),
                budget=budget,
                spread=map_blocks,
            )
            try:
                groups = share_block(report=told)
            except Enough:
                if not search.found:
                    raise
                budget.stop()
                groups = share_block()  # of this block and those after it, the first groups that come to hand
            counts = rows.counts[block]
            of = np.arange(mine.start[-1]) + np.repeat(rows.start[block] - mine.start[:-1], counts)
            search.found.append((groups, of))
            whole.stopped = search.stopped = budget.stopped
            done += share
            dearest -= worth - groups.cost
        return search

    def _mixtures(self, rows: LaidRows, progress: Progress) -> list[Mixture]:
        """Return class sizes that outlive the attackers: a few mixtures of one common size, the likeliest first."""
        progress(0.01, _("looking for class sizes that survive"))
        allowed = 1 - float(self.survival or 0) ** (1 / self.attackers)
        worth = rows.losses

        def chance(sizes: tuple[int, ...]) -> float:
            return best_plan(sizes, self.bound).chance

        found = list(islice(mixtures(worth, self.min_class, allowed, chance), 2 * _MIXTURES))
        if not found:
            raise ParameterError(
                _("no class sizes of these {count:,} customers outlive {attackers} attackers with {survival}").format(
                    count=len(rows.counts), attackers=self.attackers, survival=self.survival
                ),
                _("ask for a lower survival, or protect more customers at once"),
            )
        return [mixture for mixture in found if mixture.k == found[0].k][:_MIXTURES]

    def _notes(self, laid: _Laid, search: _Search) -> dict[str, Any]:
        """Return what the statement says of the search: U, a lower bound of U for any groups, and how far they are."""
        found = [groups for groups, _of in search.found]
        u = float(sum(f.cost for f in found) + laid.nobody) / laid.cells
        notes: dict[str, Any] = {"U": u, "proved_optimal": False} | ({"truthful": False} if self.medians else {})
        if len(found) > 1:
            notes["blocks"] = len(found)
        elif found[0].bound is not None:
            bound = float(found[0].bound + laid.nobody) / laid.cells
            notes |= {"lower_bound": bound, "gap": max(u - bound, 0.0), "proved_optimal": found[0].proved}
            if found[0].anything is not None and found[0].anything < found[0].bound:
                notes["lower_bound_any"] = float(found[0].anything + laid.nobody) / laid.cells
        inside = sum(len(group.members) for one in found for group in one.groups)
        if inside < len(laid.rows.counts):
            notes["deleted_customers"] = len(laid.rows.counts) - inside
        if self.survival is not None:
            sizes = [len(group.members) for one in found for group in one.groups]
            alive = (1 - best_plan(sizes, self.bound).chance) ** self.attackers
            kinds = sorted(set(sizes))
            notes |= {"survival": alive, "classes": {str(size): sizes.count(size) for size in kinds}}
        if search.stopped:
            notes |= {"stopped": True, "searched": search.reached}
        if not isinstance(self.effort, str):
            notes["by_the_clock"] = True
        return notes
