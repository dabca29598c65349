"""Row distances against the same sum in plain numpy, cell by cell."""

import numpy as np
import pytest

from noren.kernels.judging.cell_error import interval_error
from noren.kernels.linkage.feasibility import Candidates, KnownRows, PublicRows
from noren.kernels.linkage.row_distance import distance_blocks, least_cost


def made(seed: int) -> tuple[KnownRows, PublicRows]:
    draw = np.random.Generator(np.random.PCG64(seed))
    values = np.column_stack([draw.integers(0, 4, 40), draw.integers(0, 9, 40), draw.integers(0, 3, 40)]).astype(float)
    values[draw.random(values.shape) < 0.05] = np.nan
    known = KnownRows.of(values, draw.integers(0, 6, 40), 7, 4)  # customer 6 has no rows
    lo = np.column_stack([np.zeros(20), draw.integers(0, 5, 20), draw.integers(0, 3, 20)]).astype(float)
    hi = lo + np.column_stack([np.zeros(20), draw.integers(0, 4, 20), np.zeros(20)])
    sets = [np.unique(draw.integers(0, 4, draw.integers(1, 4))).astype(float) for _ in range(20)]
    first, stop = np.zeros((20, 3), dtype=np.int64), np.zeros((20, 3), dtype=np.int64)
    stop[:, 0] = np.cumsum([len(s) for s in sets])
    first[:, 0] = stop[:, 0] - [len(s) for s in sets]
    lo[:, 0], hi[:, 0] = [s[0] for s in sets], [s[-1] for s in sets]
    hidden = draw.random(lo.shape) < 0.15
    lo[hidden], hi[hidden] = -np.inf, np.inf
    stop[hidden] = first[hidden]
    return known, PublicRows.of(lo, hi, first, stop, np.concatenate(sets), draw.integers(0, 5, 20), 5, known)


SD, WIDTH, NOMINAL = np.array([0.0, 2.5, 0.0]), np.array([1.0, 1.0, 1.0]), np.array([True, False, False])


def plain_cost(known: KnownRows, public: PublicRows, said: int, row: int) -> float:
    total = 0.0
    for at in range(3):
        lo, hi, x = public.lo[said, at], public.hi[said, at], known.values[row, at]
        if lo == -np.inf or np.isnan(x):
            total += 1.0
        elif at == 0:
            listed = public.members[public.set_first[said, 0] : public.set_stop[said, 0]]
            total += 1 - 1 / len(listed) if x in listed else 1.0
        else:
            ends = (np.array([end]) for end in (x, lo, hi))
            total += float(interval_error(*ends, width=1.0, sd=SD[at])[0])
    return total


@pytest.mark.parametrize("seed", range(4))
def test_against_plain_sums(seed: int) -> None:
    known, public = made(seed)
    found = np.concatenate([block for _done, block in distance_blocks(known, public, SD, WIDTH, NOMINAL, shortlist=7)])
    for pseudonym in range(5):
        rows = range(public.first[pseudonym], public.first[pseudonym + 1])
        for customer in range(7):
            mine = range(known.first[customer], known.first[customer + 1])
            unmatched = 3 * abs(len(rows) - len(mine))
            nearest = [min((plain_cost(known, public, said, row) for row in mine), default=3.0) for said in rows]
            assert found[pseudonym, customer] == pytest.approx(unmatched + sum(nearest))


def test_listed_customers_are_as_far_as_among_all() -> None:
    known, public = made(1)
    every = np.concatenate([b for _done, b in distance_blocks(known, public, SD, WIDTH, NOMINAL, shortlist=7)])
    listed = Candidates(np.array([0, 2, 2, 5, 6, 8]), np.array([6, 0, 3, 1, 2, 5, 4, 0]), 7)
    found = np.concatenate([b for _done, b in distance_blocks(known, public, SD, WIDTH, NOMINAL, listed=listed)])
    assert found == pytest.approx(every[listed.pseudonym, listed.customer])


def test_the_shortlist_keeps_the_nearest_and_gives_the_others_up() -> None:
    known, public = made(1)
    every = np.concatenate([b for _done, b in distance_blocks(known, public, SD, WIDTH, NOMINAL, shortlist=7)])
    one = np.concatenate(
        [b for _done, b in distance_blocks(known, public, SD, WIDTH, NOMINAL, shortlist=1, telling=99)]
    )
    assert (one.min(axis=1) == every.min(axis=1)).all()
    given_up = 3.0 * (np.abs(public.counts[:, None] - known.counts[None, :]) + public.counts[:, None])
    assert ((one == every) | (one == given_up)).all()


def test_no_cell_costs_less_than_its_least() -> None:
    known, public = made(2)
    least = least_cost(public, SD, WIDTH, NOMINAL).sum(axis=1)
    costs = [[plain_cost(known, public, said, row) for row in range(40)] for said in range(20)]
    assert (np.min(costs, axis=1) >= least - 1e-12).all()
