"""The cheapest pairs of all: against brute force, against a blossom algorithm on the complete graph, and bounds that
hold for groups of any size."""

import itertools

import numpy as np
import pytest
import rustworkx
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.laid_examples import cheapest_group, histories, partitions, row_cost

from noren.kernels.pair_bounds import PairTable, item_overlap, pair_tariff, share_of_distances, work_blocks
from noren.kernels.pairing import cheapest_factor, violated_odd_sets


def all_costs(table: PairTable) -> np.ndarray:
    pairs = np.array(list(itertools.combinations(range(len(table.bound)), 2)))
    assert table.ask(pairs, np.full(len(pairs), 1e200)).all()
    return table.bound.copy()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_cheapest_matching_by_brute_force(missing: float) -> None:
    for seed in range(12):
        counts = np.random.default_rng(seed).integers(1, 4, 6).tolist()
        rows = histories(counts, seed, missing=missing)
        expected = min(
            sum(cheapest_group(rows, pair, suppress=True) for pair in way) for way in partitions(list(range(6)), 2)
        )
        found = cheapest_factor(PairTable(rows, pair_tariff(2, suppress=True)), 1, matching=True)
        assert found.whole
        assert sorted(found.pairs.ravel().tolist()) == list(range(6))
        assert found.bound == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_matching_of_the_complete_graph(seed: int) -> None:
    counts = np.random.default_rng(seed).geometric(0.12, 60).tolist()
    rows = histories(counts, seed, items=30)
    table = PairTable(rows, pair_tariff(2, suppress=True))
    found = cheapest_factor(table, 1, matching=True)
    assert 30 <= table.exact.sum() / 2 < 60 * 59 / 4, "most pairs are never aligned"
    cost = all_costs(table)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from([(u, v, round(cost[u, v] * 1e7)) for u, v in itertools.combinations(range(60), 2)])
    best = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=lambda c: 10**11 - c)
    expected = sum(cost[u, v] for u, v in best)
    assert cost[found.pairs[:, 0], found.pairs[:, 1]].sum() == pytest.approx(expected, abs=1e-5)
    assert found.bound == pytest.approx(expected, abs=1e-5)


def test_first_bounds_hold() -> None:
    for seed, missing in itertools.product(range(6), (0.0, 0.3)):
        rows = histories([3, 9, 5, 1, 12, 7], seed, missing=missing)
        for k, suppress in itertools.product((2, 3, 5), (True, False)):
            table = PairTable(rows, pair_tariff(k, suppress=suppress))
            first = table.bound.copy()
            assert np.all(first <= all_costs(table) + 1e-9)


def test_overlap_counts_equal_items_with_their_number() -> None:
    rows = histories([40, 30, 1], 8)
    mine, other = (np.bincount(rows.item[rows.start[u] : rows.start[u + 1]], minlength=4) for u in (0, 1))
    overlap = item_overlap(rows)
    assert overlap[0, 1] == np.minimum(mine, other).sum()
    assert np.diag(overlap).tolist() == [40, 30, 1]


def test_an_early_end_leaves_a_bound_that_holds() -> None:
    rows = histories(np.random.default_rng(1).geometric(0.1, 40).tolist(), 1)
    best = cheapest_factor(PairTable(rows, pair_tariff(2, suppress=True)), 1, matching=True).bound
    early = cheapest_factor(PairTable(rows, pair_tariff(2, suppress=True)), 1, matching=True, stop=lambda: True)
    assert not early.whole
    assert early.bound <= best + 1e-9


# --- odd sets --------------------------------------------------------------------------------------------------------

PRISM = np.array([[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5], [0, 3], [1, 4], [2, 5]])


def test_an_odd_set_inside_an_even_component() -> None:
    weight = np.array([0.45] * 6 + [0.1] * 3)
    found = [np.flatnonzero(s).tolist() for s in violated_odd_sets(PRISM, weight, 6)]
    assert any(s in ([0, 1, 2], [3, 4, 5]) for s in found)
    for s in found:
        inside = np.isin(PRISM, s).all(axis=1)
        assert weight[inside].sum() > (len(s) - 1) / 2


def test_no_odd_set_in_the_polytope() -> None:
    assert violated_odd_sets(PRISM, np.full(9, 1 / 3), 6) == []
    assert violated_odd_sets(PRISM[6:], np.ones(3), 6) == []


# --- bounds for larger groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 6, 10])
def test_the_share_of_distances_is_the_largest(k: int) -> None:
    share = share_of_distances(k)
    d = 2 * np.arange(1, k + 1) - k - 1
    x = np.clip((1 + share * d) / 2, 0, 1)
    # attained there, so no larger share would do
    assert np.sum(x * x - x + 0.5) == pytest.approx(share * np.sum(d * x), abs=1e-9)
    points = np.sort(np.random.default_rng(k).random((20_000, k)), axis=1)
    assert np.all(np.sum(points**2 - points + 0.5, axis=1) >= share * points @ d - 1e-9)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
)
def test_pair_costs_add_up_to_no_more_than_a_row(k: int, seed: int, missing: float, suppress: bool) -> None:
    rows = histories([1] * k, seed, missing=missing, items=3)
    table = PairTable(rows, pair_tariff(k, suppress=suppress))
    cost = all_costs(table)
    group = row_cost(rows, list(range(k)), suppress=suppress)
    assert cost[np.triu_indices(k, 1)].sum() <= group + 1e-9
    if k == 2:
        assert cost[0, 1] == pytest.approx(group, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_for_groups_of_three_and_one_of_four(seed: int) -> None:
    people = 6 + seed % 2
    rows = histories(np.random.default_rng(seed).integers(1, 3, people).tolist(), seed)
    ways = []
    for size in {3, people - 3}:
        for some in itertools.combinations(range(people), size):
            rest = [p for p in range(people) if p not in some]
            ways.append(sum(cheapest_group(rows, list(g), suppress=True) for g in (some, rest)))
    bound = cheapest_factor(PairTable(rows, pair_tariff(3, suppress=True)), 2).bound
    assert 0 < bound <= min(ways) + 1e-9


def test_blocks_of_like_work() -> None:
    work = np.random.default_rng(1).pareto(1.0, 500)
    blocks = work_blocks(work, 20)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(500))
    assert max(work[b].sum() for b in blocks) <= work.max() + work.sum() / 20
    assert work_blocks(np.empty(0)) == []
