"""A tree of pairs against the table of all attributes, written out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.reconstruction.pairs import heaviest_tree, implied, information, tree_records, tree_table


def chain(seed: int) -> tuple[np.ndarray, list[np.ndarray], dict[tuple[int, int], np.ndarray]]:
    """A table of four attributes that is a tree 1-0, 0-3, 3-2: itself, its attributes and its links."""
    draws = np.random.default_rng(seed)
    first = draws.dirichlet(np.ones(3))
    to_1, to_3 = draws.dirichlet(np.ones(2), 3), draws.dirichlet(np.ones(4), 3)
    to_2 = draws.dirichlet(np.ones(2), 4)
    table = np.einsum("a,ab,ad,dc->abcd", first, to_1, to_3, to_2)
    own = [table.sum(axis=tuple(b for b in range(4) if b != a)) for a in range(4)]
    links = {(a, b): table.sum(axis=tuple(c for c in range(4) if c not in (a, b))) for a, b in ((0, 1), (0, 3), (2, 3))}
    return table, own, links


@pytest.mark.parametrize("seed", range(3))
def test_pairs_follow_from_the_links(seed: int) -> None:
    table, own, links = chain(seed)
    said = implied(own, links)
    assert sorted(said) == list(combinations(range(4), 2))
    for pair, found in said.items():
        assert found == pytest.approx(table.sum(axis=tuple(c for c in range(4) if c not in pair)))
    assert tree_table(own, links) == pytest.approx(table)
    # several trees at once
    both = implied([np.stack([one, one]) for one in own], {p: np.stack([t, t]) for p, t in links.items()})
    assert both[1, 2][1] == pytest.approx(said[1, 2])


def test_the_heaviest_tree_is_heaviest() -> None:
    draws = np.random.default_rng(3)
    weights = {pair: float(draws.random()) for pair in combinations(range(5), 2)}
    found = heaviest_tree(weights, 5)
    best = 0.0
    for links in combinations(weights, 4):
        group = list(range(5))
        for a, b in links:
            group = [group[a] if g == group[b] else g for g in group]
        if len(set(group)) == 1:
            best = max(best, sum(weights[link] for link in links))
    assert sum(weights[link] for link in found) == pytest.approx(best)


def test_information_is_that_of_the_textbook() -> None:
    pair = np.array([[0.3, 0.1], [0.2, 0.4]])
    by_hand = sum(
        pair[i, j] * np.log(pair[i, j] / (pair[i].sum() * pair[:, j].sum())) for i in range(2) for j in range(2)
    )
    assert information(pair) == pytest.approx(by_hand)
    assert information(np.outer([0.2, 0.8], [0.5, 0.5])) == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 200), st.integers(0, 5))
def test_records_have_the_links_tables(rows: int, seed: int) -> None:
    _table, own, links = chain(seed)
    codes = tree_records(own, links, rows, np.random.default_rng(1))
    assert [len(c) for c in codes] == [rows] * 4
    for a, one in enumerate(own):
        counts = np.bincount(codes[a], minlength=len(one))
        assert np.abs(counts - rows * one).max() < 3
    for (a, b), link in links.items():
        counts = np.zeros_like(link)
        np.add.at(counts, (codes[a], codes[b]), 1)
        assert np.abs(counts - rows * link).max() < 4


def test_records_are_drawn_again_under_the_same_seed_alone() -> None:
    _table, own, links = chain(1)
    one, two, other = (tree_records(own, links, 500, np.random.default_rng(s)) for s in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))
    # what is not linked is independent given what lies between: no order betrays the link it was dealt along
    assert abs(np.corrcoef(np.arange(500), one[1])[0, 1]) < 0.15
