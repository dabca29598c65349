"""Rows weighed side by side against the kernel: the same people, the same sums."""

import numpy as np
import pytest
import torch
from tests.kernels.linkage.copied_examples import case

from noren.engines.accelerated import evidence as accelerated
from noren.engines.accelerated.device import Accelerator
from noren.engines.accelerated.evidence import weighed_rows
from noren.kernels.linkage.copied_rows import evidence, odds_of, plain_arrays


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_people_and_sums(device: Accelerator, seed: int, limit: int, others: bool) -> None:
    sides = case(seed, known_rows=40, public_rows=30, units=6)
    given = sides.known, sides.public, sides.beside, sides.copies
    by_kernel = evidence(*given, limit=limit, other_periods=others)
    first, person, halves = weighed_rows(device, *plain_arrays(*given), odds_of(sides.copies), limit, others)
    assert first.tolist() == by_kernel.first.tolist()
    assert person.tolist() == by_kernel.person.tolist()
    np.testing.assert_allclose(halves, by_kernel.halves, rtol=1e-14)


def test_blocks_shrink_when_memory_is_short(device: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = case(9, known_rows=40, public_rows=30, units=6)
    arrays = plain_arrays(sides.known, sides.public, sides.beside, sides.copies)
    whole = weighed_rows(device, *arrays, 2.0, 4, False)
    real, blocks = accelerated._Rows.weighed, []

    def short(rows: accelerated._Rows, start: int, stop: int) -> object:
        blocks.append(stop - start)
        pairs = rows.length[rows.entry_of_unit[start] : rows.entry_of_unit[stop]].sum()
        if stop - start > 1 and pairs > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(rows, start, stop)

    monkeypatch.setattr(accelerated._Rows, "weighed", short)
    monkeypatch.setattr(accelerated, "_LEAST_BLOCK", 4)
    again = weighed_rows(device, *arrays, 2.0, 4, False)
    assert all(np.array_equal(a, b) for a, b in zip(whole, again, strict=True))
    assert blocks[0] == 6
    assert max(blocks[-2:]) < 6


def test_no_rows(device: Accelerator) -> None:
    sides = case(1, known_rows=3, public_rows=0, units=2)
    arrays = plain_arrays(sides.known, sides.public, sides.beside, sides.copies)
    first, person, halves = weighed_rows(device, *arrays, 2.0, 4, False)
    assert (first.tolist(), person.tolist(), halves.shape) == ([0, 0, 0], [], (0, 2))
