"""Two ways to look at a table, and their mean."""

import numpy as np
import pytest

from noren.kernels.reconstruction.held_out import candidates, random_folds, weighed
from noren.kernels.reconstruction.pairs import TREE, automatic

RHOS = [0.45, 0.45, 0.45]


def seen_of(truth: np.ndarray, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of a distribution of three attributes, and what is seen of them."""
    draws = np.random.default_rng(seed)
    codes = np.unravel_index(draws.choice(truth.size, rows, p=truth.ravel()), truth.shape)
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows))
        for c, m, rho in zip(codes, truth.shape, RHOS, strict=True)
    ]
    tables = []
    for one in (codes, seen):
        table = np.zeros(truth.shape)
        np.add.at(table, tuple(one), 1.0)
        tables.append(table)
    return tables[0], tables[1]


def precision(x: np.ndarray, y: np.ndarray) -> float:
    return 1 - float(np.abs(x - y).sum()) / (2 * float(x.sum()))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.reconstruction.held_out._LATENT_STEPS", (25, 100))
    monkeypatch.setattr("noren.kernels.reconstruction.held_out._CLASSES", (2, 3))


def test_both_ways_have_a_share_where_they_foretell_alike() -> None:
    first = np.array([0.5, 0.3, 0.2])
    link = 0.7 * np.eye(3) + 0.1
    truth = first[:, None, None] * link[:, :, None] * link[:, None, :] / (link.sum(axis=1) ** 2)[:, None, None]
    x, y = seen_of(truth / truth.sum(), 20_000, 1)
    found = automatic(y, RHOS, np.random.default_rng(1))
    assert 0.15 < found.weights[TREE] < 0.6
    assert found.table.sum() == pytest.approx(20_000)
    assert list(found.weights.values()) == sorted(found.weights.values(), reverse=True)
    assert sum(found.weights.values()) <= 1 + 1e-9
    assert precision(x, found.table) > 0.93


def test_the_tree_steps_back_where_three_attributes_matter_at_once() -> None:
    # the third is the exclusive or of the others: no pair shows anything
    truth = np.zeros((2, 2, 2))
    for a in range(2):
        for b in range(2):
            truth[a, b, a ^ b] = 0.25
    x, y = seen_of(truth, 20_000, 1)
    found = automatic(y, RHOS, np.random.default_rng(1))
    assert found.weights.get(TREE, 0.0) < 0.01
    assert precision(x, found.table) > 0.9


def test_one_attribute_has_no_pairs() -> None:
    y = np.array([700.0, 200.0, 100.0])
    one = automatic(y, [0.5], np.random.default_rng(1))
    generator = np.random.default_rng(1)
    assert (one.table == weighed(candidates(random_folds(y, generator), [0.5], generator)).table).all()
    assert TREE not in one.weights


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_hardly_any_records(rows: int) -> None:
    y = np.zeros((2, 3))
    y[0, 0] = rows
    found = automatic(y, [0.5, 0.5], np.random.default_rng(1)).table
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(rows)


def test_the_same_seed_gives_the_same_table() -> None:
    _x, y = seen_of(np.full((2, 2, 3), 1 / 12), 300, 1)
    one, two, other = (automatic(y, RHOS, np.random.default_rng(s)).table for s in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()
