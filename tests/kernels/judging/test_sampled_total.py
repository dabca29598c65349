"""A total from some of its blocks: exact with all, right in the mean, and inside the interval as often as promised."""

import numpy as np
import pytest

from noren.kernels.judging.statistics import sampled_total


def test_all_blocks_need_no_estimate() -> None:
    whole = sampled_total(np.array([1.0, 5.0, 3.0]), np.array([2.0, 6.0, 4.0]), 12.0, 3)
    assert (whole.value, whole.low, whole.high, whole.sampled) == (9.0, 9.0, 9.0, 3)


def test_by_hand() -> None:
    """Values 1 and 3 of sizes 2 and 4: ratio 2/3, differences -1/3 and 1/3, t(1) = 12.706."""
    some = sampled_total(np.array([1.0, 3.0]), np.array([2.0, 4.0]), 60.0, 20)
    assert some.value == pytest.approx(40.0)
    reach = 12.7062047 * 20 * np.sqrt((1 - 0.1) * (2 / 9) / 2)
    assert some.low == pytest.approx(max(40 - reach, 0), abs=1e-4)
    assert some.high == pytest.approx(60.0)


def test_the_interval_covers_the_total_nineteen_times_in_twenty() -> None:
    generator = np.random.default_rng(1)
    inside, values = [], []
    for _ in range(600):
        sizes = generator.lognormal(5, 0.5, 60)
        bounds = sizes * generator.normal(0.85, 0.02, 60)
        at = generator.choice(60, 12, replace=False)
        some = sampled_total(bounds[at], sizes[at], float(sizes.sum()), 60)
        inside.append(some.low <= bounds.sum() <= some.high)
        values.append(some.value / bounds.sum())
    assert 0.91 < np.mean(inside) < 0.985
    assert np.mean(values) == pytest.approx(1, abs=0.002)
