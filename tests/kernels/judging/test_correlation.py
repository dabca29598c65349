"""Pearson's correlation, and S0's rejection limit and Table 6's last line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.kernels.judging.statistics import correlation_interval, pearson, rejection_limit, spearman

# S0, Table 6: U, frequent itemsets, RFM, similarity wholesale, retail, top; team by team.
TABLE_6 = np.array([
    [0.193, 0.208, 0.086, 0.655, 0.759, 0.212], [0.206, 0.216, 0.085, 0.726, 0.785, 0.221],
    [0.206, 0.214, 0.085, 0.726, 0.785, 0.220], [0.206, 0.217, 0.085, 0.725, 0.785, 0.220],
    [0.209, 0.219, 0.089, 0.773, 0.796, 0.225], [0.255, 0.202, 0.116, 0.723, 0.782, 0.223],
    [0.262, 0.209, 0.119, 0.763, 0.802, 0.239], [0.277, 0.206, 0.100, 0.794, 0.820, 0.238],
    [0.294, 0.243, 0.087, 0.805, 0.818, 0.248], [0.365, 0.367, 0.104, 0.896, 0.885, 0.261],
    [0.430, 0.255, 0.097, 0.865, 0.882, 0.271], [0.457, 0.231, 0.108, 0.864, 0.879, 0.295],
    [0.476, 0.600, 0.253, 0.864, 0.885, 0.207],
]).T  # fmt: skip


@pytest.mark.parametrize(("column", "printed"), [(1, 0.654), (2, 0.612), (3, 0.877), (4, 0.949), (5, 0.594)])
def test_the_correlations_of_s0(column: int, printed: float) -> None:
    assert pearson(TABLE_6[0], TABLE_6[column]) == pytest.approx(printed, abs=0.004), "from values of three digits"


def test_the_limit_of_s0() -> None:
    assert 0.552 < rejection_limit(13) < 0.553


# Critical values of Pearson's r, two-sided, as printed in statistical tables.
@pytest.mark.parametrize(
    ("samples", "alpha", "printed"),
    [(3, 0.05, 0.997), (5, 0.05, 0.878), (10, 0.05, 0.632), (20, 0.05, 0.444), (13, 0.01, 0.684), (102, 0.05, 0.195)],
)
def test_the_limit_in_tables(samples: int, alpha: float, printed: float) -> None:
    assert rejection_limit(samples, alpha) == pytest.approx(printed, abs=0.0006)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=3, max_size=20))
def test_against_numpy(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = pearson(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="a correlation of 2 releases says nothing; compare at least 3"):
        rejection_limit(2)
    with pytest.raises(ParameterError, match="alpha = 0 is out of range; use 0 < alpha < 1"):
        rejection_limit(5, 0)


def test_spearman_by_hand() -> None:
    """Without ties 1 - 6·Σd²/(n(n²-1)): ranks 1..5 against 2 1 4 3 5 differ by 1 four times, so 1 - 24/120 = 0.8."""
    assert spearman(np.arange(1.0, 6.0), np.array([20.0, 10.0, 40.0, 30.0, 50.0])) == pytest.approx(0.8)
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([5.0, 5.0, 5.0])) is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import rankdata

    x, y = np.array(pairs, float).T
    ours, theirs = spearman(x, y), pearson(rankdata(x), rankdata(y))
    assert ours == (theirs if theirs is None else pytest.approx(theirs))


def test_the_interval_of_a_rank_correlation() -> None:
    """Fisher's z by hand: atanh(0.31) = 0.3205, its error √(1.04805/18) = 0.2413, times 1.96 = 0.4729."""
    low, high = correlation_interval(0.31, 21)
    assert low == pytest.approx(np.tanh(0.3205 - 0.4729), abs=2e-4)
    assert high == pytest.approx(np.tanh(0.3205 + 0.4729), abs=2e-4)
    assert correlation_interval(0.5, 3) == (-1.0, 1.0)
    assert correlation_interval(-1.0, 9) == (-1.0, -1.0)
