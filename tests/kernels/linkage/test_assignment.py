"""Assignment: the least total, against another implementation; and a limit that is a true lower bound."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from noren.kernels.linkage.assignment import assign


def solved(cost: np.ndarray, limit: float = 1e200) -> tuple[float, np.ndarray]:
    column_of = np.empty(len(cost), dtype=np.int64)
    rows, columns = cost.shape
    return assign(cost, rows, columns, limit, column_of), column_of


def matrices(rows: int, columns: int) -> list[np.ndarray]:
    generator = np.random.default_rng(rows * 100 + columns)
    plane = np.abs(generator.normal(size=(rows, 2))[:, None] - generator.normal(size=(columns, 2))).sum(axis=2)
    ties = generator.integers(0, 3, (rows, columns)).astype(float)
    return [plane, np.minimum(plane, 1.0) - 0.5, ties, np.zeros((rows, columns)), -plane]


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 2), (3, 7), (20, 20), (35, 40), (60, 61)])
def test_the_least_total(shape: tuple[int, int]) -> None:
    for cost in matrices(*shape):
        total, column_of = solved(cost)
        rows, columns = linear_sum_assignment(cost)
        assert total == pytest.approx(cost[rows, columns].sum(), abs=1e-9)
        assert len(set(column_of.tolist())) == len(cost)
        assert cost[np.arange(len(cost)), column_of].sum() == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("shape", [(2, 2), (20, 20), (35, 40)])
def test_beyond_the_limit_a_lower_bound_that_exceeds_it(shape: tuple[int, int]) -> None:
    for cost in matrices(*shape)[:3]:
        least = solved(cost)[0]
        for limit in least - np.array([0.01, 0.1, 1.0, 5.0, 1e9]):
            bound = solved(cost, limit)[0]
            assert limit < bound <= least + 1e-9
        assert solved(cost, least + 1e-6)[0] == pytest.approx(least, abs=1e-9)


def test_no_rows_cost_nothing() -> None:
    assert solved(np.empty((0, 3)))[0] == 0.0
