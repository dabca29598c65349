"""Intervals of reconstructed cells: what they hold, how often, and how much of a dependence is left to see."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from noren.kernels.arrays import Real
from noren.kernels.reconstruction.estimates import cell_intervals, independent, seen_again
from noren.kernels.reconstruction.retention import mixed


def drawn(seed: int, shape: tuple[int, ...] = (4, 12), rows: int = 1_000) -> Real:
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(int(np.prod(shape)), 0.5))
    return generator.multinomial(rows, shares).reshape(shape).astype(np.float64)


def test_a_wrong_model_is_within_and_the_truth_is_covered() -> None:
    channels, covered = [0.39, 0.39], []
    for seed in range(30):
        truth, generator = drawn(seed), np.random.default_rng(seed)
        y = seen_again(truth, channels, generator)
        estimate = independent(y, channels)  # leaves out what the table is made of
        within = cell_intervals(y, channels, estimate, generator, 12)
        assert ((within.low <= estimate) & (estimate <= within.high)).all()
        assert (within.low >= 0).all()
        assert (within.high <= 1_000).all()
        covered.append(((within.low <= truth) & (truth <= within.high)).mean())
    mean, error = float(np.mean(covered)), float(np.std(covered)) / sqrt(len(covered))
    assert mean + 4 * error >= 0.95, (mean, error)
    assert mean >= 0.93, (mean, error)
    assert np.mean(covered) < 1  # intervals that hold everything say nothing


def test_without_perturbation_nothing_is_uncertain_but_the_sample() -> None:
    y = np.array([[30.0, 0.0], [10.0, 60.0]])
    within = cell_intervals(y, [1.0, 1.0], y, np.random.default_rng(1), 400)
    # a count of 30 of 100 has the error sqrt(100·0.3·0.7) = 4.58
    assert (within.high - within.low)[0, 0] / 2 / 1.966 == pytest.approx(4.58, rel=0.12)
    assert within.high[0, 1] == 0


def test_an_empty_table_has_empty_intervals() -> None:
    none = np.zeros((2, 3))
    within = cell_intervals(none, [0.5, 0.5], none, np.random.default_rng(1), 2)
    assert not within.low.any()
    assert not within.high.any()


@pytest.mark.parametrize("rho", [0.065, 0.3, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_how_much_of_a_dependence_shows(rho: float, seed: int) -> None:
    joint = np.random.default_rng(seed).dirichlet(np.full(42, 0.2)).reshape(7, 6)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    after, chance = mixed(joint, [rho, rho]), mixed(apart, [rho, rho])
    np.testing.assert_allclose(after - chance, rho**2 * (joint - apart), atol=1e-15)
    shows = float((after * np.log(after / chance)).sum())
    most = rho**4 * float(((joint - apart) ** 2 / chance).sum())
    assert 0 <= shows <= log(1 + most) <= most
