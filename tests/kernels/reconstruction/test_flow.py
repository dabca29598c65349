"""The flow does what many steps of expectation-maximisation do, in few, and holds the attributes' own tables."""

import numpy as np
import pytest

from noren.kernels.reconstruction.estimates import (
    em_path,
    fitted,
    flow_path,
    log_likelihood,
    margin,
    product,
    second_correlation,
)
from noren.kernels.reconstruction.retention import Channel, laplace, mixed


def matrix(channel: Channel, size: int) -> np.ndarray:
    return channel if isinstance(channel, np.ndarray) else channel * np.eye(size) + (1 - channel) / size


@pytest.mark.parametrize(("channel", "size"), [(0.3, 2), (0.1, 7), (laplace(6, 0.7), 6), (0.0, 3)])
def test_second_correlation_is_the_second_singular_value(channel: Channel, size: int) -> None:
    own = np.random.default_rng(size).dirichlet(np.ones(size))
    full = matrix(channel, size)
    normalised = np.sqrt(own)[:, None] * full / np.sqrt(own @ full)
    by_hand = np.linalg.svd(normalised, compute_uv=False)[1] ** 2
    assert second_correlation(own, channel, 500) == pytest.approx(by_hand, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("rho", [0.1, 0.6])
def test_the_flow_reaches_what_was_perturbed(rho: float) -> None:
    truth = 1e6 * (0.6 * np.diag([0.5, 0.3, 0.2]) + 0.4 * np.outer([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]))
    channels: list[Channel] = [rho, rho]
    own = [margin(truth, a, 2)[None] / 1e6 for a in range(2)]
    strongest = float(np.prod([second_correlation(one[0], rho) for one in own]))
    start, marks = product(own) * 1e6, [0.1 / strongest, 400 / strongest]
    path = flow_path(mixed(truth, channels)[None], channels, start, own, marks, strongest)
    early, late = (table[0] for table in path)
    assert late == pytest.approx(truth, rel=0.02)
    assert np.abs(early - truth).sum() > 0.3 * np.abs(late - product(own)[0] * 1e6).sum()
    for a in range(2):
        assert margin(early, a, 2) == pytest.approx(margin(truth, a, 2), rel=1e-3)


def test_the_flow_goes_where_steps_go() -> None:
    # weak perturbation and own tables that are the likeliest ones, so that plain steps keep them too
    rho, y = 0.3, np.array([[130.0, 70.0, 40.0], [60.0, 90.0, 50.0]])
    channels: list[Channel] = [rho, rho]
    own = []
    for a in range(2):
        alone = next(em_path(margin(y, a, 2), [rho], np.ones(y.shape[a]), [3000]))
        own.append(alone[None] / y.sum())
    strongest = float(np.prod([second_correlation(one[0], rho) for one in own]))
    start = product(own) * y.sum()
    for steps in (10, 60):
        flown = next(flow_path(y[None], channels, start, own, [steps], strongest))[0]
        stepped = next(em_path(y, channels, start[0], [steps]))
        moved = np.abs(stepped - start[0]).sum()
        assert np.abs(flown - stepped).sum() < 0.1 * moved


def test_records_get_likelier_all_the_way() -> None:
    y = np.random.default_rng(1).integers(0, 30, (2, 4, 5)).astype(np.float64)
    channels: list[Channel] = [0.2, laplace(5, 0.8)]
    own = [margin(y, a, 2) / y.sum(axis=(1, 2))[:, None] for a in range(2)]
    start = product(own) * y.sum(axis=(1, 2), keepdims=True)
    found = [start, *flow_path(y, channels, start, own, [1, 5, 25, 125, 10_000], 0.01)]
    likely = [sum(log_likelihood(y[t], x[t], channels) for t in range(2)) for x in found]
    assert (np.diff(likely) > -1e-6).all()
    assert likely[-1] > likely[0] + 1


def test_fitted_tables_have_the_wanted_distributions() -> None:
    tables = np.random.default_rng(2).random((3, 2, 4, 3)) + 0.1
    own = [np.random.default_rng(a).dirichlet(np.ones(m), 3) for a, m in enumerate((2, 4, 3))]
    found = fitted(tables, own, 40)
    for a in range(3):
        now = margin(found, a, 3)
        assert now / now.sum(axis=1, keepdims=True) == pytest.approx(own[a], rel=1e-6)
