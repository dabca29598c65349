"""Union clusters: additions counted by hand, the optimum where it can be listed, and a state that stays true."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import rustworkx
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.items import union_clusters as module
from noren.kernels.items.packed_sets import ItemSets, item_sets
from noren.kernels.items.union_clusters import added_records, missing_items, union_clusters


def random_sets(people: int, items: int, seed: int) -> ItemSets:
    generator = np.random.default_rng(seed)
    sizes = generator.geometric(0.25, people).clip(0, items) - (generator.random(people) < 0.1)
    owner = np.repeat(np.arange(people), sizes)
    return item_sets(owner, generator.integers(0, items, len(owner)), people, items)


def as_sets(sets: ItemSets) -> list[set[int]]:
    return [set(sets.item[a:b].tolist()) for a, b in itertools.pairwise(sets.first)]


def counted(sets: ItemSets, cluster: list[int]) -> int:
    own = as_sets(sets)
    unions = {x: set().union(*(own[u] for u, y in enumerate(cluster) if y == x)) for x in cluster}
    return sum(len(unions[x] - own[u]) for u, x in enumerate(cluster))


def partitions(people: int, count: int, least: int) -> Iterator[list[int]]:
    """Every way to put people into unnamed clusters."""

    def grow(cluster: list[int], used: int) -> Iterator[list[int]]:
        if len(cluster) == people:
            if used == count and min(np.bincount(cluster)) >= least:
                yield cluster
            return
        for x in range(min(used + 1, count)):
            yield from grow([*cluster, x], max(used, x + 1))

    return grow([], 0)


@given(st.integers(1, 9), st.integers(1, 8), st.integers(0, 10**6), st.integers(1, 4))
def test_what_is_missing_is_counted_and_listed(people: int, items: int, seed: int, clusters: int) -> None:
    sets = random_sets(people, items, seed)
    cluster = np.random.default_rng(seed).integers(0, clusters, people)
    own = as_sets(sets)
    lacking = [
        (u, i)
        for u in range(people)
        for i in sorted(set().union(*(own[v] for v in range(people) if cluster[v] == cluster[u])) - own[u])
    ]
    who, what = missing_items(sets, cluster)
    assert list(zip(who.tolist(), what.tolist(), strict=True)) == lacking
    assert added_records(sets, cluster) == len(lacking) == counted(sets, cluster.tolist())


@pytest.mark.parametrize(("count", "least"), [(2, 1), (2, 2), (3, 2), (3, 1), (4, 2), (2, 4)])
def test_the_best_of_all_partitions_is_found(count: int, least: int) -> None:
    for seed in range(4):
        sets = random_sets(8, 10, seed)
        best = min(counted(sets, cluster) for cluster in partitions(8, count, least))
        found = union_clusters(sets, 10, count, least, steps=2_000, seed=seed)
        assert found.added == counted(sets, found.cluster.tolist()) == best
        assert len(np.bincount(found.cluster)) == count
        assert np.bincount(found.cluster).min() >= least


def test_pairs_are_nearly_a_cheapest_matching() -> None:
    sets = random_sets(60, 40, 7)
    own = as_sets(sets)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from([(u, v, len(own[u] ^ own[v])) for u, v in itertools.combinations(range(60), 2)])
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=lambda cost: 1000 - cost)
    optimum = sum(len(own[u] ^ own[v]) for u, v in pairs)
    found = union_clusters(sets, 40, 30, 2, steps=5_000, seed=1)
    assert np.bincount(found.cluster).tolist() == [2] * 30
    assert optimum <= found.added <= 1.02 * optimum


@pytest.mark.parametrize("count", [1, 12])
def test_one_cluster_or_a_cluster_for_each(count: int) -> None:
    sets = random_sets(12, 9, 2)
    found = union_clusters(sets, 9, count, 1, steps=100, seed=1)
    assert sorted(np.bincount(found.cluster).tolist()) == [12 // count] * count
    assert found.added == (counted(sets, [0] * 12) if count == 1 else 0)


def test_free_sizes_beat_equal_ones() -> None:
    # eight buy one thing and nothing else; two buy many, much of it in common
    rows = [(u, 0) for u in range(8)] + [(u, i) for u in (8, 9) for i in range(1, 21) if (u + i) % 10]
    owner, item = np.array(rows).T
    sets = item_sets(owner, item, 10, 21)
    found = union_clusters(sets, 21, 2, 2, steps=500, seed=1)
    assert sorted(np.bincount(found.cluster).tolist()) == [2, 8]
    assert found.added == counted(sets, [0] * 8 + [1] * 2)


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.0, 0.5, 5.0]))
def test_the_tables_stay_true_step_by_step(seed: int, least: int, heat: float) -> None:
    sets = random_sets(15, 12, seed)
    dice = np.array([seed], dtype=np.uint64)
    _sets, state = module._state(sets, 12, np.arange(15), np.arange(15) * 4 // 15, 4, dice)
    cost = int((state.size * state.union).sum())
    order = np.argsort(sets.item, kind="stable")
    buyers = np.repeat(np.arange(15, dtype=np.int32), sets.sizes)[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(sets.item, minlength=12))])
    for steps in (1, 2, 40, 400):
        cost += module._anneal(sets.first, sets.item, first, buyers, state, least, steps, heat, heat)
        assert cost == counted(sets, state.cluster.tolist()) + sets.sizes.sum()
        assert (state.size == np.bincount(state.cluster, minlength=4)).all()
        assert state.size.min() >= least
        own = as_sets(sets)
        holders = [[sum(i in own[u] for u in np.flatnonzero(state.cluster == x)) for i in range(12)] for x in range(4)]
        assert state.holders.tolist() == holders
        assert state.union.tolist() == [sum(h > 0 for h in row) for row in holders]
        for u in range(15):  # the ring of a cluster passes all its members and nobody else
            ring, at = {u}, int(state.after[u])
            assert state.before[at] == u
            while at != u:
                ring.add(at)
                at = int(state.after[at])
            assert ring == set(np.flatnonzero(state.cluster == state.cluster[u]).tolist())


def test_in_groups_everything_holds_and_little_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = random_sets(300, 60, 4)
    whole = union_clusters(sets, 60, 60, 2, steps=2_000, seed=1)
    monkeypatch.setattr(module, "_TOGETHER", 50)
    monkeypatch.setattr(module, "_FEWEST", 10)
    heard: list[tuple[float, int]] = []
    found = union_clusters(sets, 60, 60, 2, steps=2_000, seed=1, report=lambda *said: heard.append(said))
    assert found.added == heard[-1][1] == added_records(sets, found.cluster)
    assert found.searched == heard[-1][0] == 1
    assert np.bincount(found.cluster, minlength=60).min() >= 2
    assert found.added < 1.05 * whole.added
    again = union_clusters(sets, 60, 60, 2, steps=2_000, seed=1)
    assert (again.cluster == found.cluster).all()


def test_a_stopped_search_keeps_the_best_so_far() -> None:
    sets = random_sets(300, 60, 4)
    heard: list[tuple[float, int]] = []

    def report(done: float, added: int) -> None:
        heard.append((done, added))
        if len(heard) == 3:
            raise KeyboardInterrupt

    found = union_clusters(sets, 60, 60, 2, steps=2_000, seed=1, report=report)
    assert 0 < found.searched == heard[-1][0] < 1
    assert found.added == heard[-1][1] == added_records(sets, found.cluster)
    assert np.bincount(found.cluster, minlength=60).min() >= 2
    whole = union_clusters(sets, 60, 60, 2, steps=2_000, seed=1)
    assert whole.searched == 1
    assert whole.added < found.added


def test_reports_rise_to_the_end_and_the_best_never_gets_worse() -> None:
    heard: list[tuple[float, int]] = []
    sets = random_sets(200, 50, 4)
    found = union_clusters(sets, 50, 40, 2, steps=2_000, seed=1, report=lambda done, added: heard.append((done, added)))
    assert [done for done, _a in heard] == sorted({done for done, _a in heard})
    assert heard[-1] == (1.0, found.added)
    assert [added for _d, added in heard] == sorted((added for _d, added in heard), reverse=True)


def test_the_seed_alone_decides() -> None:
    sets = random_sets(100, 50, 4)
    runs = [union_clusters(sets, 50, 25, 2, steps=200, seed=seed).cluster.tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_more_customers_than_a_short_count_holds() -> None:
    people = 140_000
    everyone = np.arange(people)
    sets = item_sets(everyone, np.where(everyone < people // 2, 0, 1), people, 2)
    found = union_clusters(sets, 2, 2, 2, steps=1, seed=1)
    assert found.added == 0
    assert np.bincount(found.cluster).tolist() == [people // 2, people // 2]
