"""Population uniques: by hand, and in the mean over populations of which the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numba import njit
from scipy.stats import t as student

from noren.kernels.arrays import Whole
from noren.kernels.population import ClassCounts, class_counts, pitman_uniques, snb_uniques, zayatz_uniques

PEOPLE = 8_000


@njit(nogil=True)
def _pitman_classes(people: int, theta: float, alpha: float, seed: int) -> Whole:
    """Draw whom each person is alike to, one after another: Pitman's urn."""
    np.random.seed(seed)
    label, size, classes = np.empty(people, np.int64), np.zeros(people, np.int64), 0
    for i in range(people):
        if np.random.random() * (theta + i) < theta + classes * alpha:
            label[i] = classes
            classes += 1
        else:
            while True:
                label[i] = label[np.random.randint(i)]
                if np.random.random() * size[label[i]] < size[label[i]] - alpha:
                    break
        size[label[i]] += 1
    return label


def pitman_population(seed: int) -> Whole:
    return _pitman_classes(PEOPLE, 50.0, 0.5, seed)


def snb_population(seed: int) -> Whole:
    sizes = 1 + np.random.default_rng(seed).negative_binomial(0.5, 0.2, size=3_000)
    return np.repeat(np.arange(3_000), sizes)


def sampled(labels: Whole, fraction: float, seed: int) -> ClassCounts:
    chosen = np.random.default_rng(seed).choice(labels, round(fraction * len(labels)), replace=False)
    sizes = np.bincount(chosen)
    return class_counts(sizes[sizes > 0])


def errors(
    estimate: Callable[[ClassCounts, float], float | None], draw: Callable[[int], Whole], fraction: float, seeds: int
) -> tuple[float, float, float]:
    """Return the mean error over seeds, the half of its interval of 99.9 %, and the mean truth."""
    found, true = [], []
    for seed in range(seeds):
        labels = draw(seed)
        answer = estimate(sampled(labels, fraction, seed), len(labels))
        assert answer is not None
        found.append(answer)
        true.append(float((np.bincount(labels) == 1).sum()))
    off = np.subtract(found, true)
    half = student.ppf(0.9995, seeds - 1) * off.std(ddof=1) / np.sqrt(seeds)
    return float(off.mean()), float(half), float(np.mean(true))


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_pitman_is_right_in_the_mean_where_its_model_holds(fraction: float) -> None:
    mean, half, true = errors(pitman_uniques, pitman_population, fraction, 16)
    assert abs(mean) < half
    assert half < 0.25 * true


def test_snb_is_right_in_the_mean_where_its_model_holds() -> None:
    mean, half, true = errors(snb_uniques, snb_population, 0.5, 16)
    assert abs(mean) < half + 0.05 * true  # the number of classes is itself an estimate
    assert half < 0.2 * true


def test_zayatz_by_every_sample() -> None:
    """``h(i)``, the chance that a class of i shows one row, counted over every sample of 3 of 7 people."""
    counts = class_counts(np.array([1, 2]))
    samples = list(combinations(range(7), 3))
    shows_one = [np.mean([len(set(range(i)) & set(one)) == 1 for one in samples]) for i in (1, 2)]
    expected = 1 * shows_one[0] / (shows_one[0] + shows_one[1]) * 7 / 3
    assert zayatz_uniques(counts, 7) == pytest.approx(expected)


def test_a_whole_population_needs_no_estimate() -> None:
    counts = class_counts(np.array([1, 1, 1, 2, 2, 3]))
    assert zayatz_uniques(counts, 10) == pytest.approx(3.0)
    assert snb_uniques(counts, 10) == 3.0


def test_where_everybody_is_alone_only_zayatz_answers() -> None:
    """As in ARX's own test of the rule of Dankar et al.: a share of 1 for a sample of a tenth."""
    counts = class_counts(np.ones(30, dtype=np.int64))
    assert (pitman_uniques(counts, 300), snb_uniques(counts, 300)) == (None, None)
    assert zayatz_uniques(counts, 300) == pytest.approx(300.0)


def test_where_nobody_is_alone_all_say_nobody() -> None:
    counts = class_counts(np.array([2, 3]))
    assert [rule(counts, 100) for rule in (pitman_uniques, zayatz_uniques, snb_uniques)] == [0.0, 0.0, 0.0]


def test_few_rows_and_large_populations_give_a_number_or_none() -> None:
    for sizes in ([1], [1, 1], [1, 2], [5], [1, 900], [1] * 999 + [2]):
        counts = class_counts(np.array(sizes))
        for people in (counts.rows, 3e8):
            for rule in (pitman_uniques, zayatz_uniques, snb_uniques):
                found = rule(counts, people)
                assert found is None or 0 <= found <= people * (1 + 1e-9)
