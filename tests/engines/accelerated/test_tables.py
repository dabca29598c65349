"""Steps on a whole table of which few cells are seen, against the plain step on all of its cells."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.engines.accelerated.device import Accelerator, processor
from noren.engines.accelerated.tables import AxisPlan, ObservedTable, axis_plan, bytes_needed
from noren.kernels.reconstruction.estimates import em_step, log_likelihood


def drawn(sizes: list[int], records: int, seed: int) -> tuple[list[float], tuple, np.ndarray, np.ndarray]:
    """Return rhos, the seen cells, how many records each has, and all cells."""
    draws = np.random.default_rng(seed)
    codes = [draws.integers(0, m, records) for m in sizes]
    flat, counts = np.unique(np.ravel_multi_index(tuple(codes), sizes), return_counts=True)
    y = np.zeros(sizes)
    y.ravel()[flat] = counts
    return draws.uniform(0.05, 0.9, len(sizes)).tolist(), np.unravel_index(flat, sizes), counts, y


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    tile=st.sampled_from([1, 4, 16, 4_096]),
    seed=st.integers(0, 99),
)
def test_a_step_is_the_plain_step(sizes: list[int], tile: int, seed: int) -> None:
    rhos, at, counts, y = drawn(sizes, 20, seed)
    found = ObservedTable(processor(), sizes, rhos, at, counts, double=True, plan=axis_plan(sizes, tile))
    x = np.full(sizes, 20 / np.prod(sizes))
    for _step in range(3):
        found.step()
        x = em_step(x, y, rhos)
    every = tuple(range(len(sizes)))
    np.testing.assert_allclose(found.margin(every), x, rtol=1e-11)
    assert found.likelihood() == pytest.approx(log_likelihood(y, x, rhos), rel=1e-11)


def test_single_precision_stays_near_double(device: Accelerator) -> None:
    sizes = [5, 9, 4, 7, 3, 2]
    rhos, at, counts, _y = drawn(sizes, 400, 1)
    short, long = (ObservedTable(device, sizes, rhos, at, counts, double=d) for d in (False, True))
    for _step in range(10):
        short.step()
        long.step()
    assert short.x.dtype == torch.float32
    assert float((short.x - long.x).norm() / long.x.norm()) < 2e-6


def test_margins_add_up_in_the_order_asked_for(device: Accelerator) -> None:
    rhos, at, counts, _y = drawn([3, 4, 5], 30, 2)
    found = ObservedTable(device, [3, 4, 5], rhos, at, counts, double=True)
    found.step()
    whole = found.margin((0, 1, 2))
    np.testing.assert_allclose(found.margin((2, 0)), whole.sum(axis=1).T, rtol=1e-12)
    assert whole.sum() == pytest.approx(30)


def test_a_plan_puts_every_axis_somewhere_once() -> None:
    plan = axis_plan([15, 9, 16, 7, 15, 6, 5, 2, 42])
    assert plan == AxisPlan(first=(1, 5, 6), two=(8, 0), rows=(3, 4, 7, 2))
    assert sorted(plan.order) == list(range(9))
    assert axis_plan([7]).order == (0,)
    assert bytes_needed([10, 10]) == 1_000
