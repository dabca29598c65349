"""Estimates against explicit matrices and against tables whose answer is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from noren.kernels.reconstruction.estimates import (
    em_path,
    em_step,
    expectation_maximisation,
    independent,
    latent_path,
    log_likelihood,
    margin,
    maximum_likelihood,
    pairs,
    product,
)
from noren.kernels.reconstruction.pairs import whole_cells
from noren.kernels.reconstruction.retention import Channel, laplace, mixed

CHANNELS: list[Channel] = [0.5, laplace(4, 0.3), 0.7]
SIZES = (3, 4, 2)


def table(seed: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).integers(0, 40, SIZES).astype(np.float64)


def joint_matrix() -> NDArray[np.float64]:
    full = [
        c if isinstance(c, np.ndarray) else c * np.eye(m) + (1 - c) / m for c, m in zip(CHANNELS, SIZES, strict=True)
    ]
    return np.kron(np.kron(full[0], full[1]), full[2])


def test_a_step_is_the_papers_formula() -> None:
    y, x, matrix = table(), table(4) + 1, joint_matrix()
    by_hand = x.ravel() * (matrix @ (y.ravel() / (x.ravel() @ matrix)))
    assert em_step(x, y, CHANNELS).ravel() == pytest.approx(by_hand)
    assert em_step(x, y, CHANNELS).sum() == pytest.approx(y.sum())


def test_the_papers_estimate_stops_where_steps_get_small() -> None:
    y = table()
    x, steps = expectation_maximisation(y, CHANNELS, 1e-3)
    before = next(em_path(y, CHANNELS, y, [steps - 1]))
    assert np.abs(em_step(before, y, CHANNELS) - x).sum() < 1e-6 * y.sum()
    assert np.abs(x - before).sum() / y.sum() < 1e-3
    assert expectation_maximisation(y, CHANNELS, 0.0, most=3)[1] == 3


def test_maximum_likelihood_is_reached_sooner() -> None:
    y = mixed(table(), CHANNELS)  # exactly what the table leads to, so the table itself is the maximum
    x, steps = maximum_likelihood(y, CHANNELS, tolerance=1e-8)
    assert x == pytest.approx(table(), abs=0.05)
    plain = next(em_path(y, CHANNELS, np.ones_like(y), [steps]))
    assert log_likelihood(y, x, CHANNELS) > log_likelihood(y, plain, CHANNELS)
    assert maximum_likelihood(y, CHANNELS, tolerance=0.0, most=7)[1] <= 9


def test_two_way_models_have_no_higher_interaction() -> None:
    y = np.random.default_rng(1).integers(1, 60, (2, 2, 2)).astype(np.float64)
    x = next(em_path(y, [0.6] * 3, np.ones_like(y), [50], pairs(3)))
    odds = x[..., 0] / x[..., 1]
    assert odds[0, 0] * odds[1, 1] / (odds[0, 1] * odds[1, 0]) == pytest.approx(1, abs=1e-6)


def test_a_two_way_table_is_found() -> None:
    draws = np.random.default_rng(2)
    terms = (draws.normal(0, 0.7, (3, 4, 1)), draws.normal(0, 0.7, (3, 1, 2)), draws.normal(0, 0.7, (1, 4, 2)))
    truth = np.exp(sum(terms))
    found = next(em_path(mixed(truth, CHANNELS), CHANNELS, np.ones(SIZES), [2000], pairs(3)))
    assert found == pytest.approx(truth, rel=1e-3)
    # the pairs of one attribute alone miss what the others have in common
    part = next(em_path(mixed(truth, CHANNELS), CHANNELS, np.ones(SIZES), [2000], [(0, 1), (0, 2)]))
    assert np.abs(part - truth).max() > 0.1


def test_independence_is_a_product() -> None:
    own = [np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2])]
    y = 1000 * mixed(product(own), [0.4, 0.6])
    assert independent(y, [0.4, 0.6], 3000) == pytest.approx(1000 * product(own), abs=1e-3)


def test_several_tables_at_once_are_each_as_alone() -> None:
    both = np.stack([table(1), table(2)])
    for path in (
        lambda y: em_path(y, CHANNELS, np.ones_like(y), [5]),
        lambda y: em_path(y, CHANNELS, independent(y, CHANNELS), [5], pairs(3)),
        lambda y: latent_path(y, CHANNELS, 3, [5], np.random.default_rng(7), [margin(y, a, 3) / 100 for a in range(3)]),
    ):
        together = next(path(both))
        for at in range(2):
            assert together[at] == pytest.approx(next(path(both[at])))


def test_latent_classes_are_steps_of_expectation_maximisation() -> None:
    y = table()
    own = [margin(y, a, 3) / y.sum() for a in range(3)]
    found = list(latent_path(y, CHANNELS, 4, range(1, 30), np.random.default_rng(1), own))
    likely = [log_likelihood(y, x, CHANNELS) for x in found]
    assert (np.diff(likely) > -1e-9).all()
    assert found[-1].sum() == pytest.approx(y.sum())
    # one class is the product of the attributes
    alone = next(latent_path(y, CHANNELS, 1, [3000], np.random.default_rng(1), own))
    assert alone == pytest.approx(independent(y, CHANNELS, 3000), abs=1e-3)


def test_whole_cells_add_up() -> None:
    x = np.random.default_rng(5).dirichlet(np.full(50, 0.3)).reshape(5, 10) * 1234
    found = whole_cells(x)
    assert found.sum() == 1234
    assert np.abs(found - x).max() < 1
    assert (found >= 0).all()
