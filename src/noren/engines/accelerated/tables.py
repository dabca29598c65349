"""Expectation-maximisation on a whole cross tabulation, of which few cells are seen.

A step is ``x ← x ∗ A(y / xA)`` (:mod:`noren.kernels.reconstruction.estimates`), where A is along each axis
``ρ·x + κ·sum(x)`` with ``κ = (1-ρ)/M``. Axis by axis that is two passes over all cells for each attribute. But y is
nothing save in the n cells that were seen, so xA is needed there alone, and y / xA starts with n entries. Axes go into
three parts, which makes every product of matrices and nearly every pass over the cells go away:

- *rows*: as many axes as fit into the registers of one block of threads; a row is read once, and all of its axes are
  done before it is written;
- *two* axes c and d: ``(ρ_c + κ_c Σ_c)(ρ_d + κ_d Σ_d)`` is four terms: the table itself at the seen places, its sums
  over d, over c and over both. The sums are small tables, the first is looked up;
- *first*: the axes left over. In the places seen, one matrix on as many columns as there are different seen places of
  the other axes.

So a step reads x twice (once as xA's rows, once to multiply) and writes it once, and a table of the same size is
written twice and read twice more. Which axes go where does not change what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from noren.engines.accelerated.device import Accelerator, Tensor
from noren.kernels.arrays import Real, Whole

_TILE = 4_096
"""Cells that a block of threads holds in registers, axes rounded up to powers of two."""
_ROW_AXES = 5
_LONGEST_AXIS = 64
"""Values that an axis beside the rows may have for the fused passes, which hold it in registers, too."""
_LEAST = 1e-30


@dataclass(frozen=True)
class AxisPlan:
    """Which axes go where; c and d are missing (None) in a table of fewer axes."""

    first: tuple[int, ...]
    two: tuple[int | None, int | None]
    rows: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """All axes, in the order in which the tensor has them."""
        return (*self.first, *(a for a in self.two if a is not None), *self.rows)


def _padded(size: int) -> int:
    """Return the power of two that a size is rounded up to.

    >>> [_padded(m) for m in (1, 2, 15, 16, 42)]
    [1, 2, 16, 16, 64]
    """
    return 1 << (size - 1).bit_length()


def axis_plan(sizes: Sequence[int], tile: int = _TILE) -> AxisPlan:
    """Return a plan: the two longest axes aside, rows as long as a tile holds, then the rest.

    >>> axis_plan([15, 9, 16, 7, 15, 6, 5, 2, 42])
    AxisPlan(first=(1, 5, 6), two=(8, 0), rows=(3, 4, 7, 2))
    """
    # cells that lie side by side are read best in whole groups of 16, or of 4
    side_by_side = max(range(len(sizes)), key=lambda a: (sizes[a] % 16 == 0, sizes[a] % 4 == 0, -sizes[a]))
    longest = sorted((a for a in range(len(sizes)) if a != side_by_side), key=lambda a: -sizes[a])
    aside = longest[:2]
    left = [a for a in range(len(sizes)) if a not in aside]
    fitting = [
        some
        for count in range(1, min(_ROW_AXES, len(left)) + 1)
        for some in combinations(left, count)
        if prod(_padded(sizes[a]) for a in some) <= tile
    ]
    rows = max(fitting, key=lambda some: prod(sizes[a] for a in some), default=(left[0],))
    inner = max(rows, key=lambda a: (sizes[a] % 16 == 0, sizes[a] % 4 == 0, sizes[a]))
    two = (*aside, None, None)[:2]
    return AxisPlan(
        tuple(a for a in left if a not in rows), (two[0], two[1]), (*(a for a in rows if a != inner), inner)
    )


def bytes_needed(sizes: Sequence[int]) -> int:
    """Return the memory that a table of so many cells takes on the device, in single precision: two of its size,
    and the sums."""
    return int(2.5 * 4 * prod(sizes))


class ObservedTable:
    """An estimate of a whole table, on a device, that steps of expectation-maximisation improve.

    ``sizes`` and ``rhos`` are those of the attributes; ``codes`` the cells that were seen, each once, a line for each
    attribute, ``counts`` their records. ``double``: compute in double precision.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        sizes: Sequence[int],
        rhos: Sequence[float],
        codes: Sequence[Whole],
        counts: Whole | Real,
        *,
        double: bool = False,
        plan: AxisPlan | None = None,
    ) -> None:
        self.accelerator, self.sizes, self.plan = accelerator, tuple(sizes), plan or axis_plan(sizes)
        torch = accelerator.torch
        self._dtype = torch.float64 if double else torch.float32
        chosen = self.plan
        two = tuple(1 if a is None else sizes[a] for a in chosen.two)
        self._shape = (prod(sizes[a] for a in chosen.first), *two, prod(sizes[a] for a in chosen.rows))
        self._row_sizes = tuple(sizes[a] for a in chosen.rows)
        self._row_rhos = tuple(float(rhos[a]) for a in chosen.rows)
        keep = [1.0 if a is None else float(rhos[a]) for a in chosen.two]
        (keep_c, keep_d), (lose_c, lose_d) = keep, [(1 - r) / m for r, m in zip(keep, two, strict=True)]
        small = max(two) <= _LONGEST_AXIS and prod(_padded(m) for m in self._row_sizes) <= 2 * _TILE
        self._fused = accelerator.fused and not double and small
        self._terms = (lose_c * lose_d, keep_c * lose_d, lose_c * keep_d, keep_c * keep_d)
        first = _kronecker([(sizes[a], float(rhos[a])) for a in chosen.first])
        self._first, self._counts = accelerator.tensor(first, self._dtype), accelerator.tensor(counts, self._dtype)
        self._place(codes)
        self.records = float(np.sum(counts))
        self.x = torch.full(self._shape, self.records / prod(sizes), dtype=self._dtype, device=accelerator.device)
        # with odds of 1 in every cell a step changes nothing, and leaves the rows of xA behind
        self._other = torch.ones(self._shape, dtype=self._dtype, device=accelerator.device)
        self._rows()

    def _place(self, codes: Sequence[Whole]) -> None:
        """Work out where the seen cells lie: their first axes, and the different places of all others."""
        _ab, _c_size, d_size, length = self._shape
        none = np.zeros(len(codes[0]), dtype=np.int64)

        def flat(axes: Sequence[int | None]) -> Whole:
            place = none
            for a in axes:
                place = place if a is None else place * self.sizes[a] + codes[a]
            return place

        c, d, r = flat(self.plan.two[:1]), flat(self.plan.two[1:]), flat(self.plan.rows)
        column, which = np.unique((c * d_size + d) * length + r, return_inverse=True)
        c, d, r = column // (d_size * length), column // length % d_size, column % length
        whole = self.accelerator.tensor
        self._seen = whole(flat(self.plan.first)), whole(which.reshape(-1))
        self._columns = whole(column)
        self._sums_at = whole(r), whole(c * length + r), whole(d * length + r)

    def step(self) -> None:
        """Replace the estimate by the next one."""
        torch = self.accelerator.torch
        odds = self._counts / self.expected().clamp_min(_LEAST)
        seen = torch.zeros((self._shape[0], len(self._columns)), dtype=self._dtype, device=self.accelerator.device)
        seen[self._seen] = odds
        seen = self._first @ seen
        sums = [
            torch.zeros(shape, dtype=self._dtype, device=self.accelerator.device).index_add_(1, at, seen)
            for shape, at in zip(self._sum_shapes, self._sums_at, strict=True)
        ]
        self._spread(sums)
        self._other.view(self._shape[0], -1).index_add_(1, self._columns, seen, alpha=self._terms[3])
        self._rows()

    def expected(self) -> Tensor:
        """Return how many records the estimate lets expect in each seen cell."""
        expected = self._other.view(self._shape[0], -1).index_select(1, self._columns) * self._terms[3]
        for term, table, at in zip(self._terms, self._sums(), self._sums_at, strict=False):
            expected += term * table.index_select(1, at)
        return (self._first @ expected)[self._seen]

    def likelihood(self) -> float:
        """Return the logarithm of the chance of what was seen, but for a constant."""
        log_share = self.accelerator.torch.log(self.expected().double().clamp_min(_LEAST) / self.records)
        return float((self._counts.double() * log_share).sum())

    def margin(self, axes: Sequence[int]) -> Real:
        """Return the table of some attributes, in that order."""
        order = self.plan.order
        whole = self.x.view([self.sizes[a] for a in order])
        left = [at for at, a in enumerate(order) if a not in axes]
        table = whole.sum(left, dtype=self.accelerator.torch.float64) if left else whole.double()
        remaining = [a for a in order if a in axes]
        margin: Real = table.permute([remaining.index(a) for a in axes]).cpu().numpy()
        return margin

    # --- the three passes over all cells, each with its twin in Triton ---------------------------------------

    @property
    def _sum_shapes(self) -> tuple[tuple[int, int], ...]:
        ab, c, d, length = self._shape
        return (ab, length), (ab, c * length), (ab, d * length)

    def _rows(self) -> None:
        """Multiply x by all row axes' answer to the other table, and leave there that of the new x."""
        if self._fused:
            from noren.engines.accelerated import table_kernels

            table_kernels.rows(self.x, self._other, self._row_sizes, self._row_rhos)
            return
        self.x *= self._mixed(self._other)
        self._other.copy_(self._mixed(self.x))

    def _mixed(self, table: Tensor) -> Tensor:
        table = table.view(-1, *self._row_sizes)
        for axis, (size, rho) in enumerate(zip(self._row_sizes, self._row_rhos, strict=True), start=1):
            table = rho * table + (1 - rho) / size * table.sum(axis, keepdim=True)
        return table.view(self._shape)

    def _sums(self) -> list[Tensor]:
        """Return the other table's sums over both c and d, over d, and over c."""
        if self._fused:
            from noren.engines.accelerated import table_kernels

            return table_kernels.sums(self._other)
        over_d, over_c = self._other.sum(2), self._other.sum(1)
        return [t.view(s) for t, s in zip((over_d.sum(1), over_d, over_c), self._sum_shapes, strict=True)]

    def _spread(self, sums: Sequence[Tensor]) -> None:
        """Write into the other table what the sums say of each cell."""
        ab, c, d, length = self._shape
        both, of_c, of_d = sums
        if self._fused:
            from noren.engines.accelerated import table_kernels

            table_kernels.spread(self._other, both, of_c, of_d, self._terms[:3])
            return
        torch = self.accelerator.torch
        torch.add(
            (self._terms[0] * both).view(ab, 1, 1, length) + (self._terms[1] * of_c).view(ab, c, 1, length),
            (self._terms[2] * of_d).view(ab, 1, d, length),
            out=self._other,
        )


def _kronecker(axes: Sequence[tuple[int, float]]) -> Real:
    """Return the matrix of several axes at once.

    >>> _kronecker([(2, 0.5)]).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    whole: Real = np.ones((1, 1))
    for size, rho in axes:
        whole = np.kron(whole, rho * np.eye(size) + (1 - rho) / size).astype(np.float64)
    return whole
