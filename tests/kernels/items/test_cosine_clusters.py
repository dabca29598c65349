"""K-means under cosine similarity keeps every cluster alive, and filling up moves what the rule says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from noren.kernels.items.pseudo_records import cosine_clusters, filled_up, unit_rows


def random_rows(people: int, items: int, seed: int) -> csr_array:
    generator = np.random.default_rng(seed)
    return unit_rows(csr_array(generator.random((people, items)) * (generator.random((people, items)) < 0.4)))


def test_blocks_without_a_common_item_are_found() -> None:
    # each block's rows are one row over again, so no start but one of every block has a chance
    rows = np.zeros((60, 18))
    for u in range(60):
        rows[u, 3 * (u % 6) : 3 * (u % 6) + 3] = [1.0, 2.0, 3.0]
    for seed in range(20):
        found = cosine_clusters(unit_rows(csr_array(rows)), 6, np.random.default_rng(seed))
        assert len({(u % 6, int(x)) for u, x in enumerate(found)}) == 6


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6), st.data())
def test_every_cluster_has_a_row(people: int, items: int, seed: int, data: st.DataObject) -> None:
    rows = random_rows(people, items, seed)
    if data.draw(st.booleans()):  # copies, of which k-means can tell nothing
        rows = rows[np.zeros(people, dtype=np.int64)]
    count = data.draw(st.integers(1, people))
    found = cosine_clusters(rows, count, np.random.default_rng(seed))
    assert sorted(set(found.tolist())) == list(range(count))


def test_rows_are_nearest_to_their_own_centre() -> None:
    rows = random_rows(80, 12, 5)
    found = cosine_clusters(rows, 7, np.random.default_rng(5))
    dense = rows.toarray()
    centres = np.array([dense[found == x].sum(axis=0) for x in range(7)])
    likeness = dense @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T
    assert likeness[np.arange(80), found] == pytest.approx(likeness.max(axis=1), abs=1e-9)


def filled_slowly(rows: csr_array, cluster: list[int], least: int) -> list[int]:
    """The rule in plain words: mean cosine, best pair of a row of the largest cluster and a small cluster."""
    dense = rows.toarray()
    cluster = list(cluster)
    count = max(cluster) + 1
    while True:
        members = [[u for u, x in enumerate(cluster) if x == y] for y in range(count)]
        small = [y for y in range(count) if len(members[y]) < least]
        if not small:
            return cluster
        largest = max(range(count), key=lambda y: len(members[y]))
        pairs = [(u, y) for u in members[largest] for y in small]
        u, y = max(pairs, key=lambda p: float(np.mean([dense[p[0]] @ dense[v] for v in members[p[1]]])))
        cluster[u] = y


@given(st.integers(0, 10**6))
def test_filling_up_follows_the_rule(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = random_rows(20, 9, seed)
    cluster = np.concatenate([np.arange(5), generator.choice(5, 15, p=[0.7, 0.1, 0.1, 0.05, 0.05])])
    before = cluster.copy()
    for least in (2, 3, 4):
        found = filled_up(rows, cluster, least)
        assert found.tolist() == filled_slowly(rows, cluster.tolist(), least)
        assert np.bincount(found).min() >= least
    assert (cluster == before).all()
