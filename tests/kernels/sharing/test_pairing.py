"""The cheapest pairs of all: against brute force, against a blossom algorithm on the complete graph, and bounds that
hold for groups of any size."""

import itertools

import numpy as np
import pytest
import rustworkx
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples
from tests.kernels.sharing.laid_examples import cheapest_group, histories, partitions, row_cost

from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.pairing import (
    PairTable,
    blossom_pairs,
    cheapest_factor,
    closed_pairs,
    item_overlap,
    pair_tariff,
    share_of_distances,
    violated_odd_sets,
    work_blocks,
)
from noren.kernels.sharing.shared_histories import Budget, Effort, SharedGroups, share_histories


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


@examples(150)
@given(st.integers(2, 6), st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.booleans())
def test_pair_costs_add_up_to_no_more_than_a_row(k: int, seed: int, missing: float, suppress: bool) -> None:
    rows = histories([1] * k, seed, missing=missing, items=3)
    # beside a blank also a cell that is never suppressed for its price is, and costs no more than that
    table = PairTable(rows, pair_tariff(k, suppress=suppress or (k > 2 and rows.has_blanks)))
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


# --- ties ------------------------------------------------------------------------------------------------------------


def tied(count: int, seed: int, values: int, *, rows: int = 1, missing: bool = False) -> RowArrays:
    """Short histories of few values, so that many are equal and many pairs cost the same."""
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, rows + 1, count)
    total = int(counts.sum())
    columns = [generator.integers(0, values, total).astype(float) for _ in range(3)]
    if missing:
        columns[1][generator.random(total) < 0.3] = np.nan
    start = np.concatenate(([0], np.cumsum(counts)))
    return row_arrays(start, columns, [1.0] * 3, [0.5] * 3, generator.integers(0, 2, total))


def cheapest_of_all(rows: RowArrays) -> float:
    """The cheapest matching of the complete graph, by a blossom algorithm."""
    count = len(rows.counts)
    cost = all_costs(PairTable(rows, pair_tariff(2, suppress=True)))
    pairs = np.array(list(itertools.combinations(range(count), 2)))
    best = blossom_pairs(pairs, cost[pairs[:, 0], pairs[:, 1]], count, 10**10)
    return float(sum(cost[u, v] for u, v in best))


def shared(rows: RowArrays, *, suppress: bool = True) -> SharedGroups:
    effort = Effort(rounds=0, starts=1, tries=1, heat=0.0)
    return share_histories(
        rows, 2, effort, suppress=suppress, generator=np.random.default_rng(1), budget=Budget(), spread=map
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("values", "rows"), [(2, 1), (3, 3), (6, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_ties_are_paired_at_the_least_cost(seed: int, values: int, rows: int, missing: bool) -> None:
    laid = tied(60, seed, values, rows=rows, missing=missing)
    found = shared(laid)
    assert found.proved
    assert sorted(np.concatenate([g.members for g in found.groups]).tolist()) == list(range(60))
    assert found.cost == pytest.approx(cheapest_of_all(laid), abs=1e-6)
    assert found.bound == pytest.approx(found.cost, abs=1e-6)


def test_equal_histories_cost_nothing_and_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.sharing.shared_histories.cheapest_factor", None)
    rows = row_arrays(np.arange(301), [np.repeat(np.arange(50.0), 6)], [1.0], [1.0], np.zeros(300, dtype=int))
    found = shared(rows)
    assert (found.cost, found.bound, found.proved, len(found.groups)) == (0.0, 0.0, True, 150)
    assert all(rows.point[0, u] == rows.point[0, v] for g in found.groups for u, v in g.table.T)


def test_a_crowd_of_equal_costs_is_closed_by_a_blossom_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    # all distinct, on a grid: so many pairs are as near as one another that odd sets would never end
    place = np.array(list(itertools.product(range(6), range(5), range(4))), dtype=float)[:118]
    rows = row_arrays(np.arange(119), list(place.T), [1.0] * 3, [1.0] * 3, np.zeros(118, dtype=int))
    monkeypatch.setattr("noren.kernels.sharing.pairing._CROWDED", 1)
    found = shared(rows)
    assert found.proved
    assert found.cost == 59.0  # a neighbour for everybody


@pytest.mark.parametrize("seed", range(8))
def test_closing_finds_the_optimum(seed: int) -> None:
    rows = histories(np.random.default_rng(seed).integers(1, 4, 40).tolist(), seed, items=3)
    table = PairTable(rows, pair_tariff(2, suppress=True))
    relaxed = cheapest_factor(table, 1)  # without odd sets
    any_pairs = np.arange(40).reshape(-1, 2)
    found = closed_pairs(table, relaxed, any_pairs)
    assert found is not None
    assert found.whole
    assert table.bound[found.pairs[:, 0], found.pairs[:, 1]].sum() == pytest.approx(cheapest_of_all(rows), abs=1e-6)
    assert relaxed.bound - 1e-9 <= found.bound <= cheapest_of_all(rows) + 1e-9


def test_what_would_take_long_is_not_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.sharing.pairing._MOST_CLOSED", 10)
    rows = histories([1, 2, 3, 4], 1)
    table = PairTable(rows, pair_tariff(2, suppress=True))
    assert closed_pairs(table, cheapest_factor(table, 1), np.array([[0, 1], [2, 3]])) is None


@examples(100)
@given(st.integers(0, 10**6), st.booleans())
def test_pair_costs_are_a_distance(seed: int, missing: bool) -> None:
    cost = all_costs(PairTable(tied(5, seed, 5, rows=3, missing=missing), pair_tariff(2, suppress=True)))
    np.fill_diagonal(cost, 0.0)
    assert np.all(cost[:, None, :] <= cost[:, :, None] + cost.T[None, :, :] + 1e-9)


def test_a_table_that_is_known_already_gives_the_same_bound() -> None:
    rows = histories(np.random.default_rng(3).geometric(0.12, 50).tolist(), 3, items=30)
    fresh, known = (PairTable(rows, pair_tariff(2, suppress=True)) for _ in range(2))
    all_costs(known)
    assert cheapest_factor(known, 1).bound == pytest.approx(cheapest_factor(fresh, 1).bound, abs=1e-6)
