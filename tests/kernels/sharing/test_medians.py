"""Shared rows of medians and modes: their cost against all values that could be said, the bound against all groups."""

import itertools

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import bounded, histories, partitions, row_cost

from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.joining import aligned_histories, join, settled, worth_keeping
from noren.kernels.sharing.pairing import PairTable, pair_tariff
from noren.kernels.sharing.shared_histories import Budget, Effort, share_histories

NOTHING = None
SHORT = Effort(rounds=6, starts=2, tries=6, heat=0.06)


def with_medians(rows: RowArrays) -> RowArrays:
    return rows._replace(medians=True)


def column_errors(known: list[float], said: float | None) -> list[float]:
    """S0's error of each value, in standard deviations, where one exact value is said, or nothing."""
    if said is NOTHING:
        return [0.0 if x > 1e29 else 1.0 for x in known]
    return [1.0 if x > 1e29 else abs(x - said) for x in known]


def cheapest_row(rows: RowArrays, together: list[int], *, suppress: bool) -> float:
    """What rows cost that become one, by trying every value there is for each cell, and nothing; or all deleted."""
    total = 0.0
    for c in range(3):
        known = rows.point[c, together].tolist()
        there = [x for x in rows.point[c].tolist() if x < 1e29]
        between = [(x + y) / 2 for x in known for y in known if max(x, y) < 1e29]
        nothing = [NOTHING] if suppress or max(known) > 1e29 else []
        total += min(sum(column_errors(known, said)) for said in [*there, *between, *nothing])
    item = rows.item[together].tolist()
    total += min(sum(said != mine for mine in item) for said in {*rows.item.tolist(), -1})
    return min(total, float(rows.worth[together].sum()))


def table_cost(rows: RowArrays, members: list[int], table: np.ndarray, *, suppress: bool) -> float:
    everything = np.concatenate([np.arange(rows.start[u], rows.start[u + 1]) for u in members])
    gone = np.setdiff1d(everything, table.ravel())
    return float(rows.worth[gone].sum()) + sum(cheapest_row(rows, c.tolist(), suppress=suppress) for c in table.T)


def cheapest_group(rows: RowArrays, members: list[int], *, suppress: bool) -> float:
    """The least cost of a group over all alignments and all values that could be said."""
    lists = [list(range(rows.start[u], rows.start[u + 1])) for u in members]
    shortest, *others = sorted(lists, key=len)
    worth = sum(float(rows.worth[r]) for rows_of in lists for r in rows_of)
    saved = {
        key: cheapest_row(rows, list(key), suppress=suppress) - float(rows.worth[list(key)].sum())
        for key in itertools.product(shortest, *others)
    }
    choices = itertools.product(*(itertools.permutations(other, len(shortest)) for other in others))
    return worth + min(sum(saved[key] for key in zip(shortest, *choice, strict=True)) for choice in choices)


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(("one", "other"), [(1, 1), (1, 4), (4, 1), (2, 2), (2, 3), (5, 4)])
def test_no_said_value_is_cheaper(one: int, other: int, missing: float, suppress: bool) -> None:
    """Two tables of single columns, however many members each has: the joined value is the cost by definition."""
    for seed in range(6):
        rows = with_medians(histories([1] * (one + other), seed, missing=missing))
        places = np.arange(one + other).reshape(-1, 1)
        value, table = join(rows, suppress, places[:one].copy(), places[one:].copy())
        assert table[:, 0].tolist() == list(range(one + other))
        expected = cheapest_row(rows, list(range(one + other)), suppress=suppress)
        assert rows.worth.sum() + value == pytest.approx(expected, abs=1e-9)
        keeps = worth_keeping(rows, suppress, table)[0]
        assert keeps == (expected < rows.worth.sum() - 1e-12)


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_settled_table_costs_what_it_says_and_no_more_than_hulls(missing: float, suppress: bool) -> None:
    for seed in range(6):
        hulls = histories([4, 7, 5, 6], seed, missing=missing)
        members = np.arange(4)
        table = aligned_histories(hulls, suppress, members)
        settled(hulls, suppress, members, table, 10)
        intervals = sum(row_cost(hulls, c.tolist(), suppress=suppress) for c in table.T)
        assert sum(cheapest_row(hulls, c.tolist(), suppress=suppress) for c in table.T) <= intervals + 1e-9
        rows = with_medians(hulls)
        before = table_cost(rows, [0, 1, 2, 3], table, suppress=suppress)
        value = settled(rows, suppress, members, table, 10)
        after = table_cost(rows, [0, 1, 2, 3], table, suppress=suppress)
        assert rows.worth.sum() + value == pytest.approx(after, abs=1e-9)
        assert after <= before + 1e-9


def test_rows_by_hand() -> None:
    """Dates 0, 4 and 10 in units of 2: the median 4 costs 2 and 3, in sum 5; suppressed 3. Two items of three agree."""
    rows = row_arrays(np.array([0, 1, 2, 3]), [np.array([0.0, 4.0, 10.0])], [2.0], [1.0], np.array([7, 8, 7]))
    rows = with_medians(rows)
    places = np.arange(3).reshape(-1, 1)
    assert rows.worth.sum() == 6.0
    assert join(rows, True, places[:1].copy(), places[1:].copy())[0] == pytest.approx(3 + 1 - 6)
    assert join(rows, False, places[:1].copy(), places[1:].copy())[0] == 0.0  # 5 + 1 is no less than the rows' worth


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_pairs_cost_what_intervals_cost(missing: float) -> None:
    assert pair_tariff(2, suppress=True, medians=True) == pair_tariff(2, suppress=True)
    for seed in range(8):
        rows = histories([3, 4], seed, missing=missing)
        one, other = np.arange(3).reshape(1, 3), np.arange(3, 7).reshape(1, 4)
        assert join(with_medians(rows), True, one, other)[0] == pytest.approx(join(rows, True, one, other)[0], abs=1e-9)


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize(("k", "missing"), [(3, 0.0), (3, 0.3), (4, 0.0), (4, 0.3)])
def test_pair_weights_of_a_group_add_up_to_no_more_than_its_cost(k: int, missing: float, suppress: bool) -> None:
    """The lower bound's lemma, for k members and, of one more, for the mean over all choices of k."""
    for seed in range(6):
        rows = with_medians(histories([2] * (k + 1), seed, missing=missing))
        table = PairTable(rows, pair_tariff(k, suppress=suppress or missing > 0, medians=True))
        pairs = np.argwhere(np.triu(np.ones((k + 1, k + 1), dtype=bool), 1))
        assert table.ask(pairs, np.full(len(pairs), 1e200)).all()
        weight = np.where(np.eye(k + 1, dtype=bool), 0.0, table.bound)
        group = cheapest_group(rows, list(range(k)), suppress=suppress)
        assert weight[:k, :k].sum() / 2 <= group + 1e-9
        larger = cheapest_group(rows, list(range(k + 1)), suppress=suppress)
        assert (k - 1) / k * weight.sum() / 2 <= larger + 1e-9


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_search_against_all_groups_and_alignments(missing: float) -> None:
    excess = []
    for seed in range(5):
        rows = with_medians(histories(np.random.default_rng(seed).integers(1, 3, 6).tolist(), seed, missing=missing))
        ways = partitions(list(range(6)), 3)
        costs: dict[tuple[int, ...], float] = {
            g: cheapest_group(rows, list(g), suppress=True) for g in itertools.combinations(range(6), 3)
        }
        best = min(sum(costs[tuple(g)] for g in way) for way in ways)
        generator = np.random.Generator(np.random.Philox(seed))
        found = share_histories(rows, 3, SHORT, suppress=True, generator=generator, budget=Budget())
        found = bounded(found, rows, 3)
        assert found.bound is not None
        assert found.bound - 1e-7 <= best <= found.cost + 1e-7
        excess.append(found.cost / best - 1)
        said = sum(table_cost(rows, g.members.tolist(), g.table, suppress=True) for g in found.groups)
        assert found.cost == pytest.approx(said, abs=1e-9)
    assert np.mean(excess) < 0.01
