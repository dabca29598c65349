"""rho and k as the paper has them, and the posterior bound checked over every way to give people rows."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.kernels.reconstruction.retention import (
    Channel,
    back,
    decay_of,
    k_of,
    k_of_ratios,
    keep_probabilities,
    laplace,
    least_ratio,
    mixed,
    moved,
    replaced,
    rows_needed,
)

PAPER = [
    ((5, 2, 42), 32_561, (0.350, 0.280, 0.240)),
    ((15, 6, 7), 32_561, (0.350, 0.287, 0.252)),
    ((15, 9, 16), 32_561, (0.264, 0.213, 0.182)),
    ((4, 12), 1_000, (0.393, 0.291, 0.236)),
    ((4, 12), 10_000, (0.561, 0.463, 0.400)),
]


def matrix(channel: Channel, size: int) -> NDArray[np.float64]:
    if isinstance(channel, np.ndarray):
        return channel
    return channel * np.eye(size) + (1 - channel) / size


def posterior(values: NDArray[np.int64], seen: NDArray[np.int64], matrices: list[NDArray[np.float64]]) -> float:
    """The highest probability with which any seen row can be said to be anybody's, all bijections being as likely."""
    rows = len(values)
    chance = np.ones((rows, rows))
    for a, one in enumerate(matrices):
        chance *= one[values[:, a]][:, seen[:, a]]
    owner = np.zeros((rows, rows))
    for way in permutations(range(rows)):
        owner[range(rows), list(way)] += np.prod(chance[range(rows), list(way)])
    return float((owner / owner.sum(axis=0)).max())


@pytest.mark.parametrize(("domains", "rows", "rhos"), PAPER)
def test_rho_is_the_papers(domains: tuple[int, ...], rows: int, rhos: tuple[float, ...]) -> None:
    for k, rho in zip((2, 5, 10), rhos, strict=True):
        found = keep_probabilities(k, domains, rows)
        assert found == pytest.approx([rho] * len(domains), abs=0.002)
        assert k_of(found, domains, rows) == pytest.approx(k, rel=1e-9)


@given(st.floats(1.01, 50), st.lists(st.integers(2, 40), min_size=1, max_size=4), st.integers(60, 10**8), st.data())
def test_rho_and_k_are_inverse(k: float, domains: list[int], rows: int, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.1, 5), min_size=len(domains), max_size=len(domains)))
    for given_weights in (None, weights):
        rhos = keep_probabilities(k, domains, rows, given_weights)
        assert all(0 <= rho < 1 for rho in rhos)
        assert k_of(rhos, domains, rows) == pytest.approx(k, rel=1e-6)


@given(st.floats(1.5, 20), st.floats(0.01, 0.9), st.lists(st.integers(2, 9), min_size=1, max_size=3))
def test_rows_needed_are_enough_and_no_more(k: float, rho: float, domains: list[int]) -> None:
    rows = rows_needed(k, rho, domains)
    assert k_of([rho] * len(domains), domains, rows) >= k * (1 - 1e-9)
    assert k_of([rho] * len(domains), domains, rows - 1) < k * (1 + 1e-9)


def test_impossible_wishes() -> None:
    with pytest.raises(ParameterError, match="k = 6 is out of range; use 1 <= k <= 5"):
        keep_probabilities(6, [2], 5)
    with pytest.raises(ParameterError, match="weights do not match the attributes"):
        keep_probabilities(2, [2, 3], 5, [1.0])
    with pytest.raises(ParameterError, match="no number of rows"):
        rows_needed(2, 1.0, [3])
    assert keep_probabilities(1, [2, 3], 5) == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(12))
def test_nobody_is_told_with_more_than_one_over_k(seed: int) -> None:
    draws = np.random.default_rng(seed)
    rows, sizes = int(draws.integers(2, 7)), (3, 4)
    ratios = [float(b) for b in draws.uniform(0.2, 0.9, 2)]
    rho = (1 - ratios[0]) / (1 + (sizes[0] - 1) * ratios[0])
    channels: list[Channel] = [rho, laplace(sizes[1], decay_of(ratios[1], sizes[1]))]
    matrices = [matrix(c, m) for c, m in zip(channels, sizes, strict=True)]
    k = k_of_ratios(ratios, rows)
    for _trial in range(20):
        values, seen = (np.stack([draws.integers(0, m, rows) for m in sizes], axis=1) for _ in range(2))
        assert posterior(values, seen, matrices) <= 1 / k + 1e-12


def test_the_bound_is_attained() -> None:
    # one person at one end and the others at the other, each seen where it is: two people are enough
    for channel, ratio in ((0.4, least_ratio(0.4, 3)), (laplace(3, 0.6), 0.36)):
        values = np.array([[0], [2]])
        assert posterior(values, values, [matrix(channel, 3)]) == pytest.approx(1 / k_of_ratios([ratio], 2))


@pytest.mark.parametrize(("points", "decay"), [(2, 0.3), (7, 0.5), (30, 0.9), (5, 1.0), (4, 0.0)])
def test_noise_is_drawn_as_its_matrix_says(points: int, decay: float) -> None:
    even = (np.arange(40_000) + 0.5) / 40_000
    for value in {0, points // 2, points - 1}:
        found = moved(np.full(len(even), value), points, decay, even)
        share = np.bincount(found, minlength=points) / len(even)
        assert share == pytest.approx(laplace(points, decay)[value], abs=1e-4)


def test_operators_are_the_matrices() -> None:
    draws = np.random.default_rng(1)
    table = draws.random((2, 3, 4, 5))  # two tables of three attributes
    channels: list[Channel] = [0.3, laplace(4, 0.4), 0.8]
    full = [matrix(c, m) for c, m in zip(channels, (3, 4, 5), strict=True)]
    assert mixed(table, channels) == pytest.approx(np.einsum("tabc,ax,by,cz->txyz", table, *full))
    assert back(table, channels) == pytest.approx(np.einsum("txyz,ax,by,cz->tabc", table, *full))


def test_replacement_draws_every_value_alike() -> None:
    even = (np.arange(30_000) + 0.5) / 30_000
    found = replaced(np.zeros(30_000, dtype=np.int64), 3, 0.0, np.ones(30_000), even)
    assert np.bincount(found).tolist() == [10_000] * 3
