"""Histories made alike at the least loss there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, field_validator

from noren.data.arrays import exact_values, numbers, people
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Column, Role, Scale
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError, SchemaError
from noren.i18n import N_, _
from noren.kernels.alignment import COLUMNS, LaidRows, laid_rows
from noren.kernels.cell_error import interval_error, population_sd
from noren.kernels.count_groups import DELETED
from noren.kernels.joining import worth_keeping
from noren.kernels.shared_histories import Budget, Effort, Found, blocks_by_count, share_histories
from noren.methods.pseudonymize import pseudonymous
from noren.progress import Progress, silent
from noren.protocols import Method

__all__ = ["Generalize"]

Whole = NDArray[np.int64]

EFFORTS = {
    "quick": Effort(rounds=6, starts=4, tries=6, heat=0.03),
    "normal": Effort(rounds=30, starts=8, tries=8, heat=0.08),
    "thorough": Effort(rounds=100, starts=16, tries=12, heat=0.12),
}
_WHOLE_UP_TO = 4000
"""Customers searched in one block where the user does not say; beyond, blocks of a quarter of that."""
_MOST_CELLS = 150_000_000
"""The largest matrix of rows by rows: 1.2 GB on each of two cores."""


@dataclass(frozen=True)
class _Laid:
    """The original as rows for the search: where each laid row stands in the original."""

    rows: LaidRows
    place: Whole


class Generalize(Method):
    """Make every customer's whole history the same as that of at least k - 1 others, at the least error.

    Members of a group share one history: their rows are laid on one another, one row of each member to a generalised
    row, which says the interval of dates, prices and quantities and the set of items; rows without counterpart are
    deleted, names become pseudonyms. Who goes with whom, and which row with which, is chosen so that U, the mean error
    of a cell, is least. With ``suppress_cells`` an interval that costs more than a suppressed cell is suppressed.

    For k = 2 and an even number of customers the result is the optimum, and proved to be: no release by pairs has a
    lower U. For larger k the problem is NP-hard; the search goes on for as long as ``effort`` says, Ctrl-C ends it with
    the best so far, and a lower bound beside U says how much better any other could be at most.

    Whoever knows everything about a person is left with k customers whose public histories are equal, so a guess is
    right one time in k. What all k have in common stays visible. Columns that are neither date, item, price nor
    quantity (invoice, time, description, country) would tell members apart and are suppressed; rows without a customer
    are deleted.

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

    k: int = Field(
        description=N_("how many customers share each public history, at least; 2 or more"),
        json_schema_extra={"minimum": 2},
    )
    effort: Literal["quick", "normal", "thorough"] | float = Field(
        default="normal",
        description=N_("how long to search: quick, normal, thorough (same seed, same bytes), or seconds by the clock"),
    )
    suppress_cells: bool = Field(
        default=True,
        description=N_("suppress an interval where it costs more than a suppressed cell; the error falls, k stays"),
    )
    block: int | None = Field(
        default=None,
        description=N_("customers searched together; by default all up to 4000, beyond that 1000 at a time"),
    )
    _item_codes: pl.Series | None = PrivateAttr(default=None)
    """Other codes for the items of the original's rows, such as categories, to be made alike in their stead."""

    @field_validator("k")
    @classmethod
    def _hides_somebody(cls, k: int) -> int:
        if k < 2:
            raise ValueError(_("k={k} protects nobody; use k >= 2").format(k=k))
        return k

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
        customer = original[Role.CUSTOMER]
        codes, customers = people(customer)
        if self.k > len(customers):
            raise ParameterError(
                _("k={k} is more than the {count:,} customers there are").format(k=self.k, count=len(customers)),
                _("use a smaller k, or a history of at least {k} customers").format(k=self.k),
            )
        names = pseudonymous(customer, seed)
        laid = self._laid(original, codes)
        found, budget = self._found(laid.rows, seed, progress)

        progress(0.95, _("generalising rows"))
        row = np.full(len(codes), DELETED, dtype=np.int64)
        first = 0
        for groups, of in found:
            for group in groups.groups:
                table = of[group.table]
                if not self.suppress_cells:  # a row with suppressed cells is never dearer than a deleted one
                    table = table[:, worth_keeping(laid.rows, self.suppress_cells, table)]
                row[laid.place[table]] = first + np.arange(table.shape[1])
                first += table.shape[1]
        columns = {customer.name: names.set(pl.Series(row == DELETED), None)}
        for column in original.measured():
            columns[column.name] = self._generalised(self._values(original, column), column, row)
        suppressed = [c for c in original.schema.columns if c.name not in columns]
        columns |= {c.name: pl.Series(c.name, [None], dtype=c.dtype).new_from_index(0, len(row)) for c in suppressed}
        aligned = History(pl.DataFrame([columns[name] for name in original.schema.names]), original.schema)

        notes = self._notes(original, laid, [groups for groups, _of in found], budget)
        if suppressed:
            notes["suppressed_columns"] = [c.name for c in suppressed]
        statement = Statement(
            method=self.name,
            parameters=self.parameters(),
            promise=N_("each public history is shared by at least k customers"),
            notes=notes,
        )
        progress(0.98, _("putting the rows in an order that tells nothing"))
        return Release.of_aligned(original, aligned, statement, seed=seed)

    # --- the search ------------------------------------------------------------------------------------------------

    def _values(self, original: History, column: Column) -> pl.Series:
        values = exact_values(original, column)
        if column.role == Role.ITEM and self._item_codes is not None:
            return self._item_codes.alias(column.name)
        return values

    def _laid(self, original: History, codes: Whole) -> _Laid:
        """Return the rows that have a customer, sorted by customer, in units of the whole columns' deviations."""
        measured = original.measured()
        ordered = [c for c in measured if c.scale != Scale.NOMINAL]
        nominal = [c for c in measured if c.scale == Scale.NOMINAL]
        if len(nominal) != 1 or len(ordered) > COLUMNS:
            raise SchemaError(
                _("generalize works on one column of names, the item, and up to three of dates and numbers"),
                _("give date, price and quantity types that can be ordered"),
            )
        place = np.argsort(codes, kind="stable")
        place = place[codes[place] >= 0]
        start = np.concatenate([[0], np.cumsum(np.bincount(codes[place]))])
        values = [numbers(exact_values(original, c)) for c in ordered]
        item = self._values(original, nominal[0]).rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        rows = laid_rows(
            start,
            [v[place] for v in values],
            [population_sd(v) for v in values],
            [c.grid for c in ordered],
            item[place],
        )
        longest = np.sort(rows.counts)[-2:]
        if np.prod(longest.astype(np.float64)) > _MOST_CELLS:
            raise ParameterError(
                _("two customers have {one:,} and {other:,} rows, too many to lay on one another").format(
                    one=int(longest[1]), other=int(longest[0])
                ),
                _("use generalize-by-count, or protect the longest histories apart"),
            )
        return _Laid(rows, place)

    def _effort(self) -> Effort:
        if isinstance(self.effort, str):
            return EFFORTS[self.effort]
        normal = EFFORTS["normal"]
        return Effort(normal.rounds, normal.starts, normal.tries, normal.heat, self.effort)

    def _found(self, rows: LaidRows, seed: int, progress: Progress) -> tuple[list[tuple[Found, Whole]], Budget]:
        """Return the groups of every block, and for each block which rows its rows are."""
        count = len(rows.counts)
        size = self.block or (count if count <= _WHOLE_UP_TO else _WHOLE_UP_TO // 4)
        effort = self._effort()
        whole = Budget(effort.seconds)
        found = []
        done = 0.0
        cells = max(float(rows.worth.sum()), 1.0)
        for at, block in enumerate(blocks_by_count(rows, self.k, size) if size < count else [np.arange(count)]):
            mine = rows.of(block)
            share = mine.worth.sum() / cells
            rest = None if effort.seconds is None else max(effort.seconds * (1 - whole.spent()), 0.0)
            budget = Budget(None if rest is None else rest * share / max(1 - done, share), whole.stopped)

            def told(
                part: float, cost: float, done: float = done, share: float = share, worth: float = mine.worth.sum()
            ) -> None:
                words = _("comparing histories") if np.isnan(cost) else _("U = {u:.4f}").format(u=cost / max(worth, 1))
                progress(0.02 + 0.9 * (done + share * part), words)

            generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, at])))
            groups = share_histories(
                mine,
                self.k,
                effort,
                suppress=self.suppress_cells,
                generator=generator,
                budget=budget,
                spread=map_blocks,
                report=told,
            )
            counts = rows.counts[block]
            of = np.arange(mine.start[-1]) + np.repeat(rows.start[block] - mine.start[:-1], counts)
            found.append((groups, of))
            whole.stopped = budget.stopped
            done += share
        return found, whole

    def _notes(self, original: History, laid: _Laid, found: list[Found], budget: Budget) -> dict[str, Any]:
        """Return what the statement says of the search: U, a lower bound of U for any groups, and how far they are."""
        columns = original.measured()
        known = sum(len(original) - original.frame[c.name].null_count() for c in columns)
        cells = max(len(original) * len(columns), 1)
        nobody = known - laid.rows.worth.sum()  # rows without a customer are deleted, whatever the groups
        u = float(sum(f.cost for f in found) + nobody) / cells
        one = len(found) == 1
        bound = float(found[0].bound + nobody) / cells if one else 0.0
        notes: dict[str, Any] = {"U": u}
        if one:
            notes |= {"lower_bound": bound, "gap": max(u - bound, 0.0), "proved_optimal": found[0].proved}
        else:
            notes |= {"blocks": len(found), "proved_optimal": False}
        if budget.stopped:
            notes["interrupted"] = True
        if not isinstance(self.effort, str):
            notes["by_the_clock"] = True
        return notes

    # --- the cells -------------------------------------------------------------------------------------------------

    def _generalised(self, values: pl.Series, column: Column, row: Whole) -> pl.Series:
        """Return what every row's generalised row says; null where the row is deleted or nothing is known."""
        nominal = column.scale == Scale.NOMINAL
        if nominal:
            values = values.cast(pl.Enum(values.drop_nulls().unique().sort()))
        value = pl.col("value")
        said = value.unique().sort() if nominal else pl.struct(lo=value.min(), hi=value.max())
        every = pl.DataFrame({"row": row, "value": values}).filter(pl.col("row") != DELETED)
        known = every.drop_nulls("value")
        cells = known.group_by("row", maintain_order=True).agg(said.alias(column.name))
        if self.suppress_cells:
            error = self._errors(known, cells, column, values)
            at = known["row"].to_numpy()
            size = int(row.max(initial=-1)) + 1
            count = np.bincount(at, minlength=size)
            blank = np.bincount(every["row"].to_numpy(), minlength=size) - count
            # at a tie, which rounding must not decide, a cell says more than nothing
            costly = np.bincount(at, weights=error, minlength=size) + blank > count * (1 + 1e-12)
            cells = cells.filter(~pl.Series(costly).gather(cells["row"]))
        placed = pl.DataFrame({"row": row}).join(cells, on="row", how="left", maintain_order="left")
        return placed[column.name]

    @staticmethod
    def _errors(known: pl.DataFrame, cells: pl.DataFrame, column: Column, values: pl.Series) -> NDArray[np.float64]:
        both = known.join(cells, on="row", how="left", maintain_order="left")
        if column.scale == Scale.NOMINAL:
            return 1 - 1 / both[column.name].list.len().cast(pl.Float64).to_numpy()
        lo, hi = (numbers(both[column.name].struct.field(end)) for end in ("lo", "hi"))
        sd = population_sd(numbers(values))
        return interval_error(numbers(both["value"]), lo, hi, width=column.grid, sd=sd)
