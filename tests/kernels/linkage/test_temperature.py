"""Temperatures from halves that agree and halves that do not."""

import numpy as np
import pytest

from noren.kernels.linkage.row_owners import TEMPERATURES, agreement, posterior, temperature


def halves(draw: np.random.Generator, people: int, units: int, strength: float) -> np.ndarray:
    """Return evidence of two halves whose truth is drawn by what it says, ``strength`` times too loud."""
    truth = draw.integers(0, people, units)
    plain = draw.normal(0, 1, (units, people, 2))
    # a normal shift of 1 is worth log-likelihood x - 1/2
    plain[np.arange(units), truth] += 1.0
    return np.asarray(strength * (plain - 0.5).reshape(units * people, 2))


@pytest.mark.parametrize("strength", [1.0, 3.0, 5.0])
def test_evidence_that_shouts_is_cooled(strength: float) -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    people, units = 10, 2000
    first = np.arange(units + 1) * people
    prior = np.full(units * people, 1 / people)
    found = temperature(first, halves(draw, people, units, strength), prior, np.zeros(units))
    near = TEMPERATURES[np.abs(np.log(TEMPERATURES / strength)).argmin()]
    assert found == pytest.approx(near, rel=0.5)


def test_chances_sum_to_one_with_the_rest() -> None:
    first, value, prior = np.array([0, 2, 2, 3]), np.array([800.0, 0.0, -1.0]), np.array([0.1, 0.2, 0.5])
    chance = posterior(first, value, prior, np.array([0.7, 1.0, 0.5]))
    assert chance == pytest.approx([1.0, 0.0, np.exp(-1) / (np.exp(-1) + 1)])


def test_nothing_tells() -> None:
    assert temperature(np.array([0, 0]), np.zeros((0, 2)), np.zeros(0), np.ones(1)) == 1.0
    assert temperature(np.array([0, 1]), np.zeros((1, 2)), np.array([0.5]), np.array([0.5])) == 1.0


def test_agreement_by_hand() -> None:
    # both halves: three to one for the first of two; (3/4·3/4 + 1/4·1/4)/(1/2)
    value = np.log(np.array([[3.0, 3.0], [1.0, 1.0]]))
    found = agreement(np.array([0, 2]), value, np.array([0.5, 0.5]), np.array([0.0]), 1.0)
    assert found == pytest.approx(np.log((9 / 16 + 1 / 16) / 0.5))
