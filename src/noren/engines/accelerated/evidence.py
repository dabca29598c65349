"""What the rows of pseudonyms say of people (:mod:`noren.kernels.linkage.copied_rows`), for many pseudonyms at a time.

Every public row is set beside every known row of its items and periods: a flat list of pairs, cut by pseudonyms into
blocks that memory holds. Weights of pairs are multiplied column by column, added up for each row and person, and their
logarithms for each pseudonym and person. Sums are taken in the order in which the kernel takes them, so both agree to
the last digit but for logarithms, of which libraries differ in the last; ties stay ties.
"""

from __future__ import annotations

import numpy as np

from noren.engines.accelerated.device import Accelerator, Tensor, in_smaller_blocks
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.copied_rows import Beside, Held, Shown

_BYTES_A_PAIR = 200
_LEAST_BLOCK = 1 << 10


def weighed_rows(
    accelerator: Accelerator, known: Held, public: Shown, beside: Beside, odds: float, limit: int, other_periods: bool
) -> tuple[Whole, Whole, Real]:
    """Return where the people of each pseudonym start, the people, and what speaks for each in two halves.

    The arrays are those that the kernel takes (:func:`~noren.kernels.linkage.copied_rows.plain_arrays`).
    """

    def work(block: int) -> tuple[Whole, Whole, Real]:
        """Weigh pseudonyms in blocks of about so many pairs of rows."""
        rows = _Rows(accelerator, known, public, beside, odds, limit, other_periods)
        done = np.concatenate([[0], np.cumsum(rows.length)])[rows.entry_of_unit]  # pairs of rows before each pseudonym
        units = len(done) - 1
        first, people, halves = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, 2))]
        start = used = 0
        while start < units:
            stop = max(int(np.searchsorted(done, done[start] + block, side="right")) - 1, start + 1)
            count, person, evidence = rows.weighed(start, stop)
            first.append(used + np.cumsum(count))
            people.append(person)
            halves.append(evidence)
            start, used = stop, used + len(person)
        return np.concatenate(first), np.concatenate(people), np.concatenate(halves)

    block = max(accelerator.room() // _BYTES_A_PAIR, _LEAST_BLOCK)
    return in_smaller_blocks(accelerator, work, block, least=_LEAST_BLOCK)


class _Rows:
    """All rows, on the device; the places of pairs are worked out on the processor."""

    def __init__(
        self, accelerator: Accelerator, known: Held, public: Shown, beside: Beside, odds: float, most: int, others: bool
    ) -> None:
        self.accelerator, self.odds, self.limit, self.others = accelerator, odds, most, others
        known_first, *held = known
        self.unit_first, begin, end, lo, hi, item_first, item, half = public
        self.person, self.values, self.held = (accelerator.tensor(array) for array in held)
        self.begin, self.end, self.lo, self.hi, self.half = map(accelerator.tensor, (begin, end, lo, hi, half))
        self.reach, self.place, self.ratio, self.weight = map(accelerator.tensor, beside)
        self.people, self.periods = held[2].shape[0], held[2].shape[1] - 1
        # the known rows of each row and item: one range, or the ranges before and after its periods
        row = np.repeat(np.arange(len(begin)), np.diff(item_first))
        base = item * self.periods
        a, b = known_first[base + begin[row]], known_first[base + end[row] + 1]
        if others:
            low, high = known_first[base], known_first[base + self.periods]
            row, part = np.tile(row, 2), np.repeat([0, 1], len(item))
            a, b = np.concatenate([low, b]), np.concatenate([a, high])
            order = np.lexsort((np.tile(np.arange(len(item)), 2), part, row))
            row, a, b = row[order], a[order], b[order]
        self.row, self.start, self.length = row, a, np.maximum(b - a, 0)
        self.entry_of_unit = np.searchsorted(row, self.unit_first)

    def weighed(self, start: int, stop: int) -> tuple[Whole, Whole, Real]:
        """Return of some pseudonyms how many people each has, the people, and what speaks for them."""
        torch = self.accelerator.torch
        a, b = self.entry_of_unit[start], self.entry_of_unit[stop]
        length = self.accelerator.tensor(self.length[a:b])
        row = torch.repeat_interleave(self.accelerator.tensor(self.row[a:b]), length)
        offset = self.accelerator.tensor(self.start[a:b] - np.concatenate([[0], np.cumsum(self.length[a:b])[:-1]]))
        known = torch.arange(len(row), device=self.accelerator.device) + torch.repeat_interleave(offset, length)
        weight = self.weight[known]  # w(r, s) of pairs of rows
        for c in range(self.values.shape[1]):
            x = self.values[known, c]
            far = torch.maximum(self.lo[row, c] - x, x - self.hi[row, c]).clamp_min(0.0)
            level = torch.searchsorted(self.reach[c].contiguous(), far)
            level = torch.where(torch.isnan(x), self.reach.shape[1], level)
            weight = weight * self.ratio[self.place[known, c], level]
        some = weight > 0
        row, person, weight = row[some], self.person[known[some]], weight[some]
        key, weight = self._sums(row * self.people + person, weight)
        row, person = key // self.people, key % self.people
        held = self.held[person, self.end[row] + 1] - self.held[person, self.begin[row]]
        if self.others:
            held = self.held[person, self.periods] - held
        unit = torch.searchsorted(self.accelerator.tensor(self.unit_first[start : stop + 1]), row, right=True) - 1
        evidence = torch.log1p(self.odds * weight / held)
        key, evidence = self._sums((unit * self.people + person) * 2 + self.half[row], evidence)
        pair, place = torch.unique_consecutive(key // 2, return_inverse=True)
        halves = torch.zeros((len(pair), 2), dtype=torch.float64, device=self.accelerator.device)
        halves[place, key % 2] = evidence
        unit, person = pair // self.people, pair % self.people
        # the likeliest people of each pseudonym, in their order; of equals the first
        order = torch.sort(-(halves[:, 0] + halves[:, 1]), stable=True)[1]
        order = order[torch.sort(unit[order], stable=True)[1]]
        many = torch.bincount(unit) if len(unit) else torch.zeros(0, dtype=torch.int64, device=unit.device)
        rank = torch.arange(len(order), device=unit.device) - (torch.cumsum(many, 0) - many)[unit[order]]
        likeliest = torch.sort(order[rank < self.limit])[0]
        unit, person, halves = unit[likeliest], person[likeliest], halves[likeliest]
        count = torch.bincount(unit, minlength=stop - start)
        return count.cpu().numpy(), person.cpu().numpy(), halves.cpu().numpy()

    def _sums(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Return the different keys, rising, and the sum of each one's values, taken in the order they come in."""
        torch = self.accelerator.torch
        key, order = torch.sort(key, stable=True)
        value = value[order]
        key, count = torch.unique_consecutive(key, return_counts=True)
        first = torch.cumsum(count, 0) - count
        total = value[first]
        open_ = torch.arange(len(key), device=self.accelerator.device)
        for at in range(1, int(count.max()) if len(count) else 0):
            open_ = open_[count[open_] > at]
            total[open_] += value[first[open_] + at]
        return key, total
