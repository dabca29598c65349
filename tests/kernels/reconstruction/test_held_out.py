"""The choice of a reconstruction looks at perturbed records alone, and is good where the answer is known."""

from typing import Any

import numpy as np
import pytest

from noren.kernels.reconstruction.estimates import expectation_maximisation, maximum_likelihood
from noren.kernels.reconstruction.held_out import Chosen, candidates, kept_share, random_folds, weighed
from noren.kernels.reconstruction.retention import laplace, mixed


def drawn(truth: np.ndarray, rhos: list[float], rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of a distribution, and what is seen of them."""
    draws = np.random.default_rng(seed)
    cells = draws.choice(truth.size, rows, p=truth.ravel())
    codes = np.unravel_index(cells, truth.shape)
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows))
        for c, m, rho in zip(codes, truth.shape, rhos, strict=True)
    ]
    tables = []
    for one in (codes, seen):
        flat = np.ravel_multi_index(tuple(one), truth.shape)
        tables.append(np.bincount(flat, minlength=truth.size).reshape(truth.shape).astype(np.float64))
    return tables[0], tables[1]


def held_out_choice(y: np.ndarray, channels: list[Any], generator: np.random.Generator) -> Chosen:
    return weighed(candidates(random_folds(y, generator), channels, generator))


def precision(x: np.ndarray, y: np.ndarray) -> float:
    return 1 - float(np.abs(x - y).sum()) / (2 * float(x.sum()))


def test_every_record_is_dealt_once() -> None:
    y = np.random.default_rng(1).integers(0, 9, (3, 4)).astype(np.float64)
    parts = random_folds(y, np.random.default_rng(2), 4)
    assert len(parts) == 4
    assert sum(parts) == pytest.approx(y)


def test_few_records_without_dependence() -> None:
    # S4's hardest: 1,000 rows of blood type and month, all alike; plain EM gets a third of the records wrong
    truth = np.full((4, 12), 1 / 48)
    rhos = [0.393, 0.393]
    for seed in range(2):
        x, y = drawn(truth, rhos, 1000, seed)
        auto = held_out_choice(y, rhos, np.random.default_rng(seed)).table
        paper = expectation_maximisation(y, rhos, 2e-3)[0]
        assert precision(x, auto) > precision(x, paper) + 0.08
        assert precision(x, auto) > 0.85


def test_dependence_is_found_where_it_is() -> None:
    truth = 0.9 * np.diag([0.4, 0.3, 0.2, 0.1]) + 0.1 / 16
    rhos = [0.4, 0.4]
    x, y = drawn(truth, rhos, 20_000, 1)
    found = held_out_choice(y, rhos, np.random.default_rng(1))
    assert precision(x, found.table) > 0.93
    assert "independent" not in found.weights
    assert sum(found.weights.values()) <= 1 + 1e-9
    assert found.table.sum() == pytest.approx(20_000)
    assert precision(x, found.table) > precision(x, maximum_likelihood(y, rhos)[0])


def test_the_same_seed_gives_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.reconstruction.held_out._LATENT_STEPS", (5, 20))
    _x, y = drawn(np.full((3, 4), 1 / 12), [0.5, 0.5], 300, 1)
    one, two, other = (held_out_choice(y, [0.5, 0.5], np.random.default_rng(s)).table for s in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()


def test_one_attribute_and_hardly_any_records() -> None:
    alone = held_out_choice(np.array([700.0, 200.0, 100.0]), [0.5], np.random.default_rng(1))
    assert alone.table == pytest.approx([1000 * s for s in (16 / 15, 1 / 15, -2 / 15)], abs=180)
    for y in (np.zeros((2, 3)), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])):
        found = held_out_choice(y, [0.5, 0.5], np.random.default_rng(1)).table
        assert np.isfinite(found).all()
        assert found.sum() == pytest.approx(y.sum())


def test_noise_on_a_grid_is_reconstructed_too() -> None:
    channel = laplace(9, 0.5)
    truth = np.array([0.4, 0, 0, 0, 0.3, 0, 0, 0, 0.3])
    y = np.rint(20_000 * mixed(truth, [channel]))
    found = held_out_choice(y, [channel], np.random.default_rng(1)).table
    assert precision(20_000 * truth, found) > precision(20_000 * truth, y) + 0.2
    assert kept_share(0.3, 9) == 0.3


def test_three_attributes_have_log_linear_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.reconstruction.held_out._LATENT_STEPS", (5, 20))
    _x, y = drawn(np.full((2, 2, 3), 1 / 12), [0.5] * 3, 500, 1)
    parts = random_folds(y, np.random.default_rng(1), 3)
    names = {one.name.rpartition(",")[0] for one in candidates(parts, [0.5] * 3, np.random.default_rng(1))}
    assert {"em", "two-way", "two-way about 2", "4 latent classes, start 1"} <= names
