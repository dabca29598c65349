"""Groups of any size: exact costs, a search that never loses, and brute force on small cases."""

import itertools

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import bounded, cheapest_group, histories, partitions, row_cost

from noren.engines.blocks import map_blocks
from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.grouping import GroupSearch, group_sizes, groups_by_pairs
from noren.kernels.sharing.joining import aligned_histories, join, join_costs, settled, without_members, worth_keeping
from noren.kernels.sharing.pairing import PairTable, pair_tariff
from noren.kernels.sharing.shared_histories import Budget, Effort, least_cost, share_histories

SHORT = Effort(rounds=6, starts=2, tries=6, heat=0.06)


def table_cost(rows: RowArrays, members: np.ndarray, table: np.ndarray, *, suppress: bool) -> float:
    """What a group costs by the definition."""
    everything = np.concatenate([np.arange(rows.start[u], rows.start[u + 1]) for u in members])
    gone = np.setdiff1d(everything, table.ravel())
    assert len(gone) + table.size == len(everything)
    return float(rows.worth[gone].sum()) + sum(row_cost(rows, c.tolist(), suppress=suppress) for c in table.T)


def found(rows: RowArrays, k: int, effort: Effort = SHORT, *, suppress: bool = True, seed: int = 1, spread=map_blocks):
    generator = np.random.Generator(np.random.Philox(seed))
    return share_histories(
        rows, k, effort, suppress=suppress, generator=generator, budget=Budget(effort.seconds), spread=spread
    )


# --- exact costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_value_of_a_table_is_its_cost_by_definition(missing: float, suppress: bool) -> None:
    for seed in range(8):
        rows = histories([4, 7, 5, 6], seed, missing=missing)
        members = np.arange(4)
        table = aligned_histories(rows, suppress, members)
        assert table.shape == (4, 4)
        before = table_cost(rows, members, table, suppress=suppress)
        value = settled(rows, suppress, members, table, 10)
        after = table_cost(rows, members, table, suppress=suppress)
        assert rows.worth.sum() + value == pytest.approx(after, abs=1e-9)
        assert after <= before + 1e-9
        kept = worth_keeping(rows, suppress, table)
        assert kept.all() or not suppress or missing


def test_two_joined_as_cheaply_as_can_be() -> None:
    for seed in range(10):
        rows = histories([3, 4], seed)
        one, other = np.arange(3).reshape(1, 3), np.arange(3, 7).reshape(1, 4)
        value, table = join(rows, True, one, other)
        assert rows.worth.sum() + value == pytest.approx(cheapest_group(rows, [0, 1], suppress=True), abs=1e-9)
        turned = join(rows, True, other, one)
        assert turned[0] == pytest.approx(value, abs=1e-9)
        assert turned[1].shape == table.shape == (2, 3)


def test_many_joins_at_once_and_their_limits() -> None:
    rows = histories([5, 6, 7], 2)
    tables = [np.arange(rows.start[u], rows.start[u + 1]).reshape(1, -1) for u in range(3)]
    pool = np.concatenate([t.ravel() for t in tables])
    shapes = np.array([(0, 1, 5), (5, 1, 6), (11, 1, 7)])
    pairs = np.array([[0, 1], [1, 2], [2, 0]])
    exact = [join(rows, True, tables[a], tables[b])[0] for a, b in pairs]
    values = join_costs(rows, True, pool, shapes, pairs, np.full(3, 1e200))
    assert values == pytest.approx(exact, abs=1e-12)
    values = join_costs(rows, True, pool, shapes, pairs, np.array(exact) - 0.5)
    assert np.all((values > np.array(exact) - 0.5) & (values <= np.array(exact) + 1e-9))


def test_rows_come_back_when_the_shortest_member_leaves() -> None:
    rows = histories([2, 5, 6], 4)
    members = np.arange(3)
    table = aligned_histories(rows, True, members)
    rest = without_members(rows, True, members, table, np.array([False, True, True]))
    assert rest.shape == (2, 5)
    assert sorted(rest[0].tolist()) == list(range(2, 7))
    assert len(set(rest[1].tolist())) == 5
    assert rest[:, :2].tolist() == table[1:].tolist()
    assert without_members(rows, True, members, table, np.array([True, False, True])).shape == (2, 2)


# --- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_close_to_the_optimum_of_six_customers(k: int) -> None:
    excess = []
    for seed in range(8):
        rows = histories(np.random.default_rng(seed).integers(1, 4, 6).tolist(), seed)
        ways = partitions(list(range(6)), k)
        costs = {g: cheapest_group(rows, list(g), suppress=True) for g in itertools.combinations(range(6), k)}
        best = min(sum(costs[tuple(g)] for g in way) for way in ways)
        answer = bounded(found(rows, k), rows, k)
        assert answer.bound is not None
        assert answer.bound - 1e-7 <= best <= answer.cost + 1e-7
        assert answer.proved or k == 3
        excess.append(answer.cost / best - 1)
    assert np.mean(excess) < (1e-7 if k == 2 else 0.02)


@pytest.mark.parametrize(("people", "k"), [(40, 3), (41, 3), (41, 2), (23, 5), (7, 4), (4, 4), (5, 3)])
def test_everybody_is_in_one_group_of_at_least_k_or_deleted(people: int, k: int) -> None:
    rows = histories(np.random.default_rng(people).geometric(0.15, people).tolist(), people)
    answer = bounded(found(rows, k), rows, k)
    inside = np.concatenate([g.members for g in answer.groups])
    assert len(set(inside.tolist())) == len(inside) > people - k
    assert min(len(g.members) for g in answer.groups) >= k
    gone = np.setdiff1d(np.arange(people), inside)
    lost = rows.losses[gone].sum()
    assert answer.cost == pytest.approx(sum(g.cost for g in answer.groups) + lost, abs=1e-9)
    for group in answer.groups:
        assert group.table.shape == (len(group.members), rows.counts[group.members].min())
        assert group.cost == pytest.approx(table_cost(rows, group.members, group.table, suppress=True), abs=1e-9)
    assert answer.bound is not None
    assert 0 <= answer.bound <= answer.cost


def test_rounds_without_heat_never_lose_and_mostly_win() -> None:
    rows = histories(np.random.default_rng(5).geometric(0.1, 60).tolist(), 5, items=20)
    table = PairTable(rows, pair_tariff(4, suppress=True))
    generator = np.random.default_rng(1)
    near = np.where(np.isinf(table.bound), 0.0, table.bound)
    groups = groups_by_pairs(near, rows.counts, group_sizes(len(rows.counts), 4), 1, generator)
    search = GroupSearch(rows, groups, suppress=True, affinity=table.bound, generator=generator)
    costs = [search.cost]
    for at in range(12):
        gain = search.round([1, 2][at % 2], 8, 0.15)
        costs.append(search.cost)
        assert costs[-2] - costs[-1] == pytest.approx(gain, abs=1e-6)
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(costs))
    assert costs[-1] < 0.99 * costs[0]


def test_the_same_seed_gives_the_same_groups_on_one_core_and_on_many() -> None:
    rows = histories(np.random.default_rng(7).geometric(0.1, 45).tolist(), 7, items=20)
    one, two, other = found(rows, 3), found(rows, 3, spread=lambda f, b: map(f, b)), found(rows, 3, seed=2)
    assert [g.table.tolist() for g in one.groups] == [g.table.tolist() for g in two.groups]
    assert [g.table.tolist() for g in one.groups] != [g.table.tolist() for g in other.groups]


def test_more_rounds_lower_the_cost() -> None:
    rows = histories(np.random.default_rng(9).geometric(0.1, 60).tolist(), 9, items=20)
    none = found(rows, 3, Effort(0, 1, 6, 0.0, steps=0))
    some = found(rows, 3, Effort(12, 1, 6, 0.06, steps=0))
    assert none.rounds == 0
    assert some.rounds == 36
    assert least_cost(rows, 3, suppress=True) <= some.cost < none.cost


def test_an_interruption_leaves_the_best_so_far() -> None:
    rows = histories(np.random.default_rng(3).geometric(0.1, 40).tolist(), 3, items=20)
    seen: list[float] = []

    def report(done: float, cost: float) -> None:
        if not np.isnan(cost):
            seen.append(cost)
        if len(seen) == 5:
            raise KeyboardInterrupt

    budget = Budget()
    generator = np.random.default_rng(1)
    answer = share_histories(rows, 3, SHORT, suppress=True, generator=generator, budget=budget, report=report)
    assert budget.stopped
    assert answer.cost == min(seen)
    assert answer.rounds == 3  # reports before and after groups are resized, then one a round


def test_an_interruption_before_there_are_groups_leaves_groups_by_count() -> None:
    def report(done: float, cost: float) -> None:
        if np.isnan(cost):
            raise KeyboardInterrupt

    rows = histories([5, 1, 1, 5], 3)
    budget, generator = Budget(), np.random.default_rng(1)
    answer = share_histories(rows, 2, SHORT, suppress=True, generator=generator, budget=budget, report=report)
    assert sorted(sorted(g.members.tolist()) for g in answer.groups) == [[0, 3], [1, 2]]
    assert answer.bound == 0.0
    assert not answer.proved


def test_no_time_leaves_groups_by_count_and_little_time_better_ones() -> None:
    rows = histories(np.random.default_rng(4).geometric(0.1, 30).tolist(), 4, items=20)
    hurried = found(rows, 3, Effort(9, 1, 6, 0.0, seconds=1e-9))
    assert len(hurried.groups) == 10
    timely = found(rows, 3, Effort(9, 1, 6, 0.0, seconds=0.3))
    assert least_cost(rows, 3, suppress=True) <= timely.cost <= hurried.cost


def test_groups_by_pairs_beat_the_order_they_start_from() -> None:
    generator = np.random.default_rng(2)
    place = generator.random(31)
    cost = np.abs(np.subtract.outer(place, place))
    groups = groups_by_pairs(cost, generator.integers(1, 9, 31), group_sizes(31, 3), 4, generator)
    assert sorted(len(g) for g in groups) == [3] * 9 + [4]
    inside = sum(cost[np.ix_(g, g)].sum() / 2 for g in groups)
    in_order = np.array_split(np.argsort(place), 10)
    assert inside <= 1.3 * sum(cost[np.ix_(g, g)].sum() / 2 for g in in_order)


def test_groups_of_equal_rows_cost_nothing_whatever_rounding_leaves() -> None:
    """Groups of equal rows may cost a hair less than nothing: no root of that is taken."""
    generator = np.random.default_rng(7)
    price, many = generator.choice([11.77, 12.0, 77.0], 24), generator.integers(1, 3, 24).astype(float)
    sds = [float(price.std()), float(many.std())]
    rows = row_arrays(np.arange(25), [price, many], sds, [0.01, 1.0], np.full(24, -1))
    effort = Effort(rounds=6, starts=4, tries=6, heat=0.03)
    found = share_histories(rows, 3, effort, suppress=True, generator=np.random.default_rng(1), budget=Budget(None))
    together = [row_cost(rows, table.tolist(), suppress=True) for group in found.groups for table in group.table.T]
    assert found.cost == pytest.approx(sum(together), abs=1e-9)


@pytest.mark.parametrize("k", [3, 4])
def test_customers_who_are_alike_cost_nothing(k: int) -> None:
    # ten sixes of equal one-row histories: groups cost 0, which rounding may leave just below it
    rows = row_arrays(np.arange(61), [np.repeat(np.arange(1.0, 11.0), 6)], [2.872], [0.01], np.zeros(60, dtype=int))
    answer = found(rows, k, Effort(rounds=10, starts=2, tries=6, heat=0.2))
    assert 0 <= answer.cost < 1e-12 if k == 3 else answer.cost > 0.1
    assert sorted(len(g.members) for g in answer.groups) == [k] * (60 // k)
