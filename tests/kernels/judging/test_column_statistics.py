"""Statistics of a column by hand."""

import numpy as np
import pytest

from noren.kernels.judging.statistics import STATISTICS, column_statistics


def test_by_hand() -> None:
    said = dict(zip(STATISTICS, column_statistics(np.array([2.0, 4.0, 4.0, 10.0])).tolist(), strict=True))
    assert said == {
        "sum": 20, "mean": 5, "variance": 9, "sd": 3, "max": 10, "min": 2, "median": 4,
    }  # fmt: skip


def test_the_median_lies_between_the_two_middle_values() -> None:
    assert column_statistics(np.array([1.0, 9.0]))[-1] == 5


@pytest.mark.parametrize("values", [[], [7.0]])
def test_few_values(values: list[float]) -> None:
    one = values[0] if values else 0.0
    assert column_statistics(np.array(values)).tolist() == [one, one, 0, 0, one, one, one]
