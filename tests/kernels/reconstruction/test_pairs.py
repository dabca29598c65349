"""Tables of one and two attributes, worked out together: they agree, find what is there and invent nothing."""

from itertools import combinations

import numpy as np
import pytest

from noren.kernels.reconstruction.estimates import margin
from noren.kernels.reconstruction.pairs import FOLDS, Margins, implied, margins

SIZES = (3, 4, 2, 3)


def people(rows: int, rho: float, *, linked: bool, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Records of four attributes, the first three in a chain where linked, and what is seen of them."""
    draws = np.random.default_rng(seed)
    first = draws.choice(3, rows, p=[0.5, 0.3, 0.2])
    second = np.where(draws.random(rows) < 0.8 * linked, first, draws.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]))
    third = np.where(draws.random(rows) < 0.9 * linked, second > 0, draws.random(rows) < 0.6).astype(np.int64)
    codes = [first, second, third, draws.choice(3, rows, p=[0.7, 0.2, 0.1])]
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows)) for c, m in zip(codes, SIZES, strict=True)
    ]
    return codes, seen


def worked_out(seen: list[np.ndarray], rho: float) -> Margins:
    fold = np.random.default_rng(1).integers(0, FOLDS, len(seen[0]))

    def tabulated(some: tuple[int, ...]) -> np.ndarray:
        shape = (FOLDS, *(SIZES[a] for a in some))
        flat = np.ravel_multi_index((fold, *(seen[a] for a in some)), shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)

    found = margins(tabulated, [rho] * 4, SIZES)
    assert found.tree.shape == (FOLDS + 1, *SIZES)
    assert found.tree[-1].sum() == pytest.approx(1)
    own, pairs = [one[-1] for one in found.own], {pair: table[-1] for pair, table in found.pairs.items()}
    return Margins(own, pairs, found.links, found.dependence)


def share(codes: list[np.ndarray], pair: tuple[int, int]) -> np.ndarray:
    found = np.zeros([SIZES[a] for a in pair])
    np.add.at(found, (codes[pair[0]], codes[pair[1]]), 1 / len(codes[0]))
    return found


def test_all_tables_agree_about_every_attribute() -> None:
    for linked in (True, False):
        _codes, seen = people(20_000, 0.3, linked=linked, seed=1)
        found = worked_out(seen, 0.3)
        assert sorted(found.pairs) == list(combinations(range(4), 2))
        for pair, table in found.pairs.items():
            assert table.min() >= 0
            for axis, a in enumerate(pair):
                assert margin(table, axis, 2) == pytest.approx(found.own[a], abs=1e-6)
        assert len(found.links) == 3


def test_dependence_is_found_and_not_invented() -> None:
    codes, seen = people(20_000, 0.3, linked=True, seed=1)
    found = worked_out(seen, 0.3)
    assert {(0, 1), (1, 2)} <= set(found.links)
    assert min(found.dependence[pair] for pair in ((0, 1), (1, 2))) > 0.99
    assert max(share_ for pair, share_ in found.dependence.items() if 3 in pair) < 0.2
    for pair, table in found.pairs.items():
        assert np.abs(table - share(codes, pair)).sum() / 2 < 0.1
    _codes, seen = people(20_000, 0.3, linked=False, seed=2)
    apart = worked_out(seen, 0.3)
    assert max(apart.dependence.values()) < 0.2
    for (a, b), table in apart.pairs.items():
        assert np.abs(table - np.outer(apart.own[a], apart.own[b])).sum() / 2 < 0.02


def test_what_is_barely_seen_follows_from_the_tree() -> None:
    # the first and the third attribute depend on each other through the second; it shows in few records
    gains = []
    for seed in range(4):
        codes, seen = people(6_000, 0.3, linked=True, seed=seed)
        found = worked_out(seen, 0.3)
        truth = share(codes, (0, 2))
        apart = np.outer(found.own[0], found.own[2])
        gains.append(np.abs(apart - truth).sum() / 2 - np.abs(found.pairs[0, 2] - truth).sum() / 2)
    assert np.mean(gains) > 0.05


def test_nobody_and_hardly_anybody() -> None:
    for rows in (0, 1, 2):
        found = worked_out([np.zeros(rows, dtype=np.int64)] * 4, 0.3)
        for pair, table in found.pairs.items():
            assert np.isfinite(table).all(), pair
            assert table.sum() == pytest.approx(1)


def test_a_pair_with_very_many_cells_is_left_to_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.reconstruction.pairs._LARGEST_PAIR", 8)
    _codes, seen = people(5_000, 0.5, linked=True, seed=1)
    found = worked_out(seen, 0.5)
    assert found.dependence[0, 1] == 0
    assert found.dependence[1, 2] > 0.9
    assert (0, 1) not in found.links
    said = implied(found.own, {link: found.pairs[link] for link in found.links})
    assert found.pairs[0, 1] == pytest.approx(said[0, 1])
