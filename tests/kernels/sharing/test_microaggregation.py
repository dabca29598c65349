"""Groups of points: published losses of MDAV, the optimum of small instances by trying all, cuts of a line, sizes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing import microaggregation
from noren.kernels.sharing.microaggregation import cut_line, mdav, small_groups, squared_error
from noren.progress import Enough

PUBLISHED = {"tarragona": {3: 16.933, 5: 22.462, 10: 33.193}, "casc_census": {3: 5.692, 5: 9.088, 10: 14.156}}
"""100 · SSE / SST of MDAV on standardised columns."""


def standardised(path: Path) -> Real:
    columns = pl.read_csv(path).cast(pl.Float64).to_numpy()
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def groupings(left: list[int], k: int) -> Iterator[list[list[int]]]:
    """Yield every way to put points into groups of at least k."""
    if not left:
        yield []
        return
    for mask in range(1 << (len(left) - 1)):
        group = [left[0], *(point for at, point in enumerate(left[1:]) if mask >> at & 1)]
        if len(group) >= k:
            rest = [point for point in left if point not in group]
            yield from ([group, *others] for others in groupings(rest, k))


def optimum(points: Real, k: int) -> float:
    def error(groups: list[list[int]]) -> float:
        return sum(float(((points[g] - points[g].mean(axis=0)) ** 2).sum()) for g in groups)

    return min(error(groups) for groups in groupings(list(range(len(points))), k))


def searched(points: Real, k: int, tries: int = 30, seed: int = 1) -> Whole:
    return small_groups(points, k, tries, np.random.default_rng(seed))[0]


@pytest.mark.parametrize("name", PUBLISHED)
def test_mdav_loses_what_is_published_and_the_search_less(shared: Path, name: str) -> None:
    points = standardised(shared / f"data/{name}.csv")
    total = float((points**2).sum())
    for k, published in PUBLISHED[name].items():
        assert round(100 * squared_error(points, mdav(points, k)) / total, 3) == published
        group = searched(points, k)
        assert np.bincount(group).min() >= k
        assert 100 * squared_error(points, group) / total < 0.95 * published


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_found_and_never_beaten(seed: int) -> None:
    dice = np.random.default_rng(seed)
    count, k = int(dice.integers(6, 10)), int(dice.integers(2, 4))
    points = dice.normal(size=(count, 2)).round(1)  # with ties
    least = optimum(points, k)
    assert squared_error(points, mdav(points, k)) >= least - 1e-9
    assert squared_error(points, searched(points, k)) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_line_is_cut_at_the_optimum(seed: int) -> None:
    line = np.random.default_rng(seed).integers(0, 20, 9).astype(float)
    for k in (2, 3, 4):
        group = cut_line(line, k)
        assert squared_error(line[:, None], group) == pytest.approx(optimum(line[:, None], k))
        assert searched(line[:, None], k).tolist() == group.tolist()


@pytest.mark.parametrize("count", [3, 5, 6, 7, 8, 9, 10, 11, 50, 301])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_sizes(count: int, k: int) -> None:
    points = np.random.default_rng(count).integers(0, 4, (count, 3)).astype(float)
    for group in (mdav(points, k), searched(points, k)):
        sizes = np.bincount(group)
        assert sizes.sum() == count
        assert len(sizes) == 1 if count < 2 * k else k <= sizes.min() <= sizes.max() < 2 * k


def test_points_that_are_all_the_same() -> None:
    assert np.bincount(searched(np.ones((20, 2)), 4)).tolist() == [4] * 5


def test_the_same_seed_gives_the_same_groups_and_never_more_than_mdav(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).normal(size=(400, 4))
    one, other = searched(points, 3, tries=3), searched(points, 3, tries=3)
    assert one.tolist() == other.tolist()
    assert squared_error(points, one) < squared_error(points, mdav(points, 3))
    monkeypatch.setattr(microaggregation, "BLOCK", 100)
    blocks = searched(points, 3)
    assert np.bincount(blocks).min() >= 3
    assert squared_error(points, blocks) < 1.1 * squared_error(points, mdav(points, 3))
    monkeypatch.setattr(microaggregation, "_POOL", 5)  # groups too large to be taken apart
    assert squared_error(points[:90], searched(points[:90], 3)) == squared_error(points[:90], mdav(points[:90], 3))


def test_a_search_that_is_stopped_returns_what_there_is() -> None:
    points = np.random.default_rng(3).normal(size=(200, 3))
    errors: list[float] = []

    def pace(done: float, error: float) -> float:
        errors.append(error)
        if len(errors) > 20:
            raise Enough
        return done

    group, whole = small_groups(points, 3, 50, np.random.default_rng(1), pace)
    assert not whole
    assert np.bincount(group).min() >= 3
    assert squared_error(points, group) == pytest.approx(errors[-1])
    assert errors[-1] < errors[0] == pytest.approx(squared_error(points, mdav(points, 3)))
