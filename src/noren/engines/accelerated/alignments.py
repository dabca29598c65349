"""What pairs of customers cost (:mod:`noren.kernels.sharing.alignment`), thousands of pairs at a time.

Every pair is a linear assignment of its own. All of them take the steps of
:func:`noren.kernels.linkage.assignment.assign` side by side, each at its own place in them: the same bids, the same
paths, the same order of additions, nothing fused. So the costs, and the lower bounds of pairs given up beyond their
limit, are those of the kernel to the last bit, and a release made with them is the same.

In Triton each pair is worked out by a block of threads of its own
(:mod:`~noren.engines.accelerated.alignment_kernels`); here all pairs of a block take one step after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from noren.engines.accelerated.device import Accelerator, Tensor, accelerator_for, in_smaller_blocks
from noren.engines.choice import EngineChoice
from noren.kernels.arrays import Real, Whole

if TYPE_CHECKING:
    from noren.kernels.sharing.alignment import AlignmentCosts, RowArrays

FAR = 1e290
LONGEST = 512
"""Rows of the longer history up to which pairs are worked out here."""
_NOT_A_DISTANCE = 1e29
_OUTSIDE = 1e299
_STRICTLY = 1e-12
_LEAST_BLOCK = 1
_PAYS = 2_000
"""Pairs from which handing them to a device is worth it."""
_one_at_a_time = Lock()


@contextmanager
def pair_costs_by(engine: EngineChoice) -> Iterator[None]:
    """Let an engine work out what pairs of customers cost, wherever within they are asked for.

    Few pairs stay with the kernel, and so do histories longer than :data:`LONGEST`: the costs are the same.
    """
    if engine.kind not in ("gpu", "auto"):
        yield
        return
    from noren.kernels.sharing.alignment import pair_costs
    from noren.kernels.sharing.pairing import costs_elsewhere

    def costs(rows: RowArrays, tariff: AlignmentCosts, pairs: Whole, limits: Real) -> Real | None:
        plain = rows.unsuppressed < 0 and not len(rows.stratum)  # all rows may meet, and all cells be suppressed
        accelerator = accelerator_for(engine, pays=True) if plain and len(pairs) >= _PAYS else None
        if accelerator is None:
            return None
        with _one_at_a_time:
            values, long = pair_costs_on(accelerator, rows, tariff, pairs, limits)
        values[long] = pair_costs(rows, tariff, pairs[long], limits[long])
        return values

    before = costs_elsewhere.set(costs)
    try:
        yield
    finally:
        costs_elsewhere.reset(before)


def pair_costs_on(
    accelerator: Accelerator, rows: RowArrays, tariff: AlignmentCosts, pairs: Whole, limits: Real
) -> tuple[Real, Whole]:
    """Return what pairs of customers cost, up to their limits; and which pairs are too long to be worked out here."""
    values, counts = np.zeros(len(pairs)), rows.counts
    if not len(rows.item):
        return values, np.zeros(0, np.int64)
    swap = counts[pairs[:, 0]] > counts[pairs[:, 1]]
    few, many = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
    # pairs of like size together, so that little of what a block holds is empty
    size = 1 << np.ceil(np.log2(np.maximum(counts[many], 8))).astype(np.int64)
    on_device = _DeviceRows(accelerator, rows, tariff)
    for columns in np.unique(size[counts[many] <= LONGEST]).tolist():
        at = np.flatnonzero(size == columns)
        at = at[np.argsort(counts[few[at]], kind="stable")]
        if accelerator.fused:
            from noren.engines.accelerated import alignment_kernels

            values[at] = alignment_kernels.costs(on_device, few[at], many[at], limits[at], columns)
            continue
        block = max(accelerator.room() // (24 * columns * columns), _LEAST_BLOCK)

        def work(block: int, at: Whole = at) -> Real:
            parts = [at[start : start + block] for start in range(0, len(at), block)]
            return np.concatenate([on_device.costs(few[part], many[part], limits[part]) for part in parts])

        values[at] = in_smaller_blocks(accelerator, work, min(block, len(at)), least=_LEAST_BLOCK)
    return values, np.flatnonzero(counts[many] > LONGEST)


class _DeviceRows:
    """All customers' rows on the device."""

    def __init__(self, accelerator: Accelerator, rows: RowArrays, tariff: AlignmentCosts) -> None:
        self.accelerator, self.tariff = accelerator, tariff
        self.start = accelerator.tensor(rows.start)
        self.point, self.item, self.worth = map(accelerator.tensor, (rows.point, rows.item, rows.worth))

    def costs(self, few: Whole, many: Whole, limits: Real) -> Real:
        """Return what pairs cost, the shorter history of each first."""
        torch, tariff, device = self.accelerator.torch, self.tariff, self.accelerator.device
        a, b = self.accelerator.tensor(few), self.accelerator.tensor(many)
        rows, columns = self.start[a + 1] - self.start[a], self.start[b + 1] - self.start[b]
        most = max(len(self.worth) - 1, 0)
        i = torch.arange(int(rows.max()), device=device)
        j = torch.arange(max(int(columns.max()), 1), device=device)
        mine = (self.start[a][:, None] + i).clamp(0, most)
        theirs = (self.start[b][:, None] + j).clamp(0, most)
        inside = j < columns[:, None]
        # what each row of the shorter history adds with each of the longer
        cost = torch.zeros((len(a), len(i), len(j)), dtype=torch.float64, device=device)
        for c in range(self.point.shape[0]):
            far = (self.point[c][theirs][:, None, :] - self.point[c][mine][:, :, None]).abs()
            near = (tariff.slope * far).clamp_max(tariff.ceiling)
            cost += torch.where(far < _NOT_A_DISTANCE, near, tariff.half_missing)
        item, other = self.item[mine][:, :, None], self.item[theirs][:, None, :]
        both = (item >= 0) & (other >= 0)
        # as numbers of 64 bits from the start: of two plain numbers Torch makes one of 32
        unlike = torch.tensor([tariff.half_missing, tariff.item], dtype=torch.float64, device=device)
        cost += torch.where(item == other, 0.0, unlike[both.long()])
        alone = (self.worth[theirs] * tariff.deletion)[:, None, :]
        apart = (self.worth[mine] * tariff.deletion)[:, :, None]
        cost = torch.minimum(cost, apart + alone) - alone
        cost.masked_fill_(~inside[:, None, :], _OUTSIDE)
        left = torch.where(inside, self.worth[theirs], 0.0).sum(1) * tariff.deletion  # what the longer costs alone
        limit = self.accelerator.tensor(limits) - left
        values: Real = (left + _Assignments(self.accelerator, cost, rows, columns, limit).least()).cpu().numpy()
        return values


class _Assignments:
    """Linear assignments side by side: a line of every array for each.

    ``row_of`` and ``column_of`` are -1 where there is none, as in the kernel.
    """

    def __init__(self, accelerator: Accelerator, cost: Tensor, rows: Tensor, columns: Tensor, limit: Tensor) -> None:
        torch = accelerator.torch
        self.torch, self.cost, self.rows, self.columns, self.limit = torch, cost, rows, columns, limit
        many, self.height, self.width = cost.shape
        at = cost.device
        self.line = torch.arange(many, device=at)
        self.j = torch.arange(self.width, device=at)
        self.row_of = torch.full((many, self.width), -1, device=at)
        self.column_of = torch.full((many, self.height), -1, device=at)
        self.price = torch.zeros((many, self.width), dtype=torch.float64, device=at)
        self.value = torch.zeros(many, dtype=torch.float64, device=at)
        self.alive = torch.ones(many, dtype=torch.bool, device=at)

    def least(self) -> Tensor:
        """Return the least total of each; a bound above the limit where it is above."""
        self._stop(self._row_minima(0.0 * self.value, self.cost))
        self._auction()
        bound = 0.0 * self.value
        for j in range(self.width):
            bound = bound + self.price[:, j]
        bound = self._row_minima(bound, self.cost - self.price[:, None, :])
        self._stop(bound)
        for start in range(self.height):
            bound = self._path(start, bound)
        total = 0.0 * self.value
        for i in range(self.height):
            taken = self.cost[:, i].gather(1, self.column_of[:, i : i + 1].clamp_min(0))[:, 0]
            total = total + self.torch.where(i < self.rows, taken, 0.0)
        return self.torch.where(self.alive, total, self.value)

    def _row_minima(self, bound: Tensor, reduced: Tensor) -> Tensor:
        """Add each row's least entry to ``bound``, in the order of rows."""
        least = reduced.amin(2)
        for i in range(self.height):
            bound = bound + self.torch.where(i < self.rows, least[:, i], 0.0)
        return bound

    def _stop(self, bound: Tensor) -> None:
        """Let those end whose bound is above the limit."""
        over = self.alive & (bound > self.limit)
        self.value = self.torch.where(over, bound, self.value)
        self.alive = self.alive & ~over

    def _first(self, there: Tensor) -> Tensor:
        return self.torch.where(there, self.j, self.width - 1).amin(1)

    def _put(self, to: Tensor, at: Tensor, what: Any, where: Tensor) -> None:
        """Write ``what`` into one place of each line, where ``where`` says so."""
        at = at.clamp_min(0)[:, None]
        values = what if isinstance(what, int | float) else what[:, None]
        to.scatter_(1, at, self.torch.where(where[:, None], values, to.gather(1, at)))

    def _auction(self) -> None:
        """Let free rows bid for columns, two rounds."""
        torch = self.torch
        free = torch.arange(self.height, device=self.j.device).repeat(len(self.line), 1)
        waiting = self.rows.clone()
        for _round in range(2):
            k, ahead, waiting = torch.zeros_like(waiting), waiting, torch.zeros_like(waiting)
            bids = torch.zeros_like(waiting)
            while bool((act := self.alive & (k < ahead)).any()):
                i = free.gather(1, k.clamp_max(self.height - 1)[:, None])[:, 0]
                k = k + act
                bids = bids + act
                reduced = self.cost[self.line, i] - self.price
                least = reduced.amin(1)
                j1 = self._first(reduced == least[:, None])
                reduced.scatter_(1, j1[:, None], torch.inf)
                second = reduced.amin(1)
                j2 = self._first(reduced == second[:, None])
                single = self.columns == 1
                second = torch.where(single, least, second)
                gap = second - least
                strictly = gap > _STRICTLY
                loser = self.row_of.gather(1, j1[:, None])[:, 0]
                self._put(self.price, j1, self.price.gather(1, j1[:, None])[:, 0] - gap, act & strictly)
                other = ~strictly & (loser >= 0) & ~single
                j1 = torch.where(other, j2, j1)
                loser = self.row_of.gather(1, j1[:, None])[:, 0]
                self._put(self.row_of, j1, i, act)
                self._put(self.column_of, i, j1, act)
                lost = act & (loser >= 0)
                self._put(self.column_of, loser, -1, lost)
                again = lost & strictly & (bids < 4 * self.rows + 16)
                k = k - again.long()
                self._put(free, torch.where(again, k, waiting), loser, lost)
                waiting = waiting + (lost & ~again)

    def _path(self, start: int, bound: Tensor) -> Tensor:
        """Give a free row a column by the shortest augmenting path; return the bounds."""
        torch = self.torch
        act = self.alive & (start < self.rows) & (self.column_of[:, start] < 0)
        if not bool(act.any()):
            return bound
        reach, open_price = self.cost[:, start] - self.price, self.price.clone()
        before = torch.full_like(self.row_of, start)
        shortest = reach.amin(1)
        begin = shortest
        length, scanned = torch.zeros_like(reach), torch.zeros_like(reach, dtype=torch.bool)
        end = torch.zeros_like(self.line)
        searching = act
        while bool(searching.any()):
            near = reach <= shortest[:, None]
            open_ = near & (self.row_of < 0)
            arrived = open_.any(1)
            sink = torch.where(arrived, self._first(open_), torch.where(near, self.j, 0).amax(1))
            end = torch.where(searching & arrived, sink, end)
            searching = searching & ~arrived
            self._put(scanned, sink, torch.ones_like(searching), searching)
            self._put(length, sink, shortest, searching)
            i = self.row_of.gather(1, sink[:, None])[:, 0].clamp_min(0)
            line = self.cost[self.line, i]
            there = sink[:, None]
            offset = line.gather(1, there)[:, 0] - self.price.gather(1, there)[:, 0] - shortest
            self._put(reach, sink, FAR, searching)
            self._put(open_price, sink, -FAR, searching)
            through = line - open_price - offset[:, None]
            closer = (through < reach) & searching[:, None]
            reach = torch.where(closer, through, reach)
            before = torch.where(closer, i[:, None], before)
            shortest = torch.where(searching, reach.amin(1), shortest)
        bound = torch.where(act, bound + (shortest - begin), bound)
        self._stop(torch.where(act, bound, -torch.inf))
        go = act & self.alive
        shifted = self.price + (length - shortest[:, None])
        self.price = torch.where(scanned & go[:, None], shifted, self.price)
        while bool(go.any()):
            i = before.gather(1, end.clamp_min(0)[:, None])[:, 0]
            self._put(self.row_of, end, i, go)
            previous = self.column_of.gather(1, i[:, None])[:, 0]
            self._put(self.column_of, i, end, go)
            end = torch.where(go, previous, end)
            go = go & (i != start)
        return bound
