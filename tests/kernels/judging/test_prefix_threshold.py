"""A number of answers chosen afterwards: no release that satisfies H0 is called unsafe more often than alpha."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from noren.kernels.judging.survival import LONGEST_PREFIX, crossing_bound, prefix_correction, prefix_thresholds
from noren.kernels.judging.threshold import ALPHA, Bound, threshold, thresholds

THIRD = Fraction(1, 3)


def crossed(line: list[int], p: float) -> float:
    """The chance that hits, each with chance p by itself, cross a line anywhere: step by step, exactly."""
    below, gone = np.ones(1), 0.0
    for n in range(1, len(line)):
        below = np.convolve(below, [1 - p, p])
        gone += float(below[line[n] :].sum())
        below = below[: line[n]]
    return gone


@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("last", [7, 35, 99, 400, 2000])
def test_hits_by_luck_cross_nowhere(last: int, bound: Bound) -> None:
    assert crossed(prefix_thresholds(last, bound), 1 / 3) <= float(ALPHA)


def test_the_line_for_one_number_is_crossed_far_too_often() -> None:
    assert crossed(thresholds(400, "sharp"), 1 / 3) > 3 * float(ALPHA)
    assert prefix_thresholds(400, "sharp")[35] > threshold(35, "sharp")


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 20), Fraction(1, 100)])
@pytest.mark.parametrize("last", [2, 4, 6, 8])
@pytest.mark.parametrize("p", [THIRD, Fraction(1, 2)])
def test_nothing_that_h0_allows_crosses_more_often(last: int, p: Fraction, alpha: Fraction) -> None:
    """The most that any dependence between answers can do, over all distributions, by linear programming."""
    line = prefix_thresholds(last, "sharp", p, alpha)
    outcomes = np.array(list(itertools.product([0, 1], repeat=last)))
    over = (np.cumsum(outcomes, axis=1) >= np.array(line[1:])).any(axis=1)
    sets = [s for size in range(1, last + 1) for s in itertools.combinations(range(last), size)]
    all_right = np.array([outcomes[:, s].all(axis=1) for s in sets], dtype=float)
    most = np.array([float(p) ** len(s) for s in sets])
    worst = linprog(-over.astype(float), A_ub=all_right, b_ub=most, A_eq=np.ones((1, len(outcomes))), b_eq=[1.0])
    assert -worst.fun <= float(alpha) + 1e-9


@pytest.mark.parametrize("last", [3, 5, 7])
def test_the_bound_holds_for_any_line(last: int) -> None:
    generator = np.random.default_rng(last)
    outcomes = np.array(list(itertools.product([0, 1], repeat=last)))
    sets = [s for size in range(1, last + 1) for s in itertools.combinations(range(last), size)]
    all_right = np.array([outcomes[:, s].all(axis=1) for s in sets], dtype=float)
    most = np.array([3.0 ** -len(s) for s in sets])
    for _ in range(8):
        line = np.sort(generator.integers(1, last + 2, last + 1))
        over = (np.cumsum(outcomes, axis=1) >= line[1:]).any(axis=1)
        worst = linprog(-over.astype(float), A_ub=all_right, b_ub=most, A_eq=np.ones((1, len(outcomes))), b_eq=[1.0])
        assert -worst.fun <= crossing_bound(line) + 1e-9


@pytest.mark.parametrize("last", [0, 1, 6, 7, 20, 99, 1000])
def test_the_contests_own_rule_stays_for_all_answers(last: int) -> None:
    paper, sharp = prefix_thresholds(last), prefix_thresholds(last, "sharp")
    assert paper[last] == threshold(last)
    assert all(a <= b for a, b in zip(sharp, paper, strict=True))
    assert all(a >= b for a, b in zip(sharp, thresholds(last, "sharp"), strict=True))


def test_the_correction_is_small() -> None:
    # adding up over all n would need 99, 2,000 and 10,000
    assert [prefix_correction(last) for last in (0, 6)] == [1, 1]
    assert [prefix_correction(last) for last in (7, 35, 99, 2000)] == [1, 10, 28, 248]


def test_very_long_lists() -> None:
    needed = prefix_thresholds(LONGEST_PREFIX + 5, "sharp")
    assert needed[LONGEST_PREFIX] < LONGEST_PREFIX < needed[LONGEST_PREFIX + 1]
    assert needed[-1] == threshold(LONGEST_PREFIX + 5)
