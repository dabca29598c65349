"""Products of matrices against the search: the same customers, the same floats, whatever the blocks."""

import numpy as np
import pytest
import torch
from tests.kernels.linkage.set_examples import laid, made_up, sure

from noren.engines.accelerated import sets
from noren.engines.accelerated.device import Accelerator, processor
from noren.engines.accelerated.sets import NOBODY, most_similar_sets, pairs_pay
from noren.kernels.items.packed_sets import ItemSets, item_sets
from noren.kernels.linkage.jaccard import index_of, most_similar


def searched(known: ItemSets, released: ItemSets, items: int, candidates: int) -> tuple[np.ndarray, np.ndarray]:
    return most_similar(index_of(known, items), released, np.arange(len(released.total)), candidates)


def same(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("candidates", [1, 4])
@pytest.mark.parametrize("memory", [None, 1, 64 << 20])
def test_the_same_answer_whatever_the_blocks(
    device: Accelerator, memory: int | None, candidates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "_LEAST_BLOCK", 3)
    known, released = made_up(150, 40, 0.5, seed=2)
    found = most_similar_sets(processor(memory), known, released, 40, candidates)
    assert same(found, searched(known, released, 40, candidates))


@pytest.mark.parametrize("candidates", [1, 3])
def test_items_that_are_one_of_several(device: Accelerator, candidates: int) -> None:
    draw = np.random.default_rng(3)
    known, _released = made_up(60, 20, 0.5, seed=4)
    weight = 720_720 // draw.integers(1, 7, 200)
    released = item_sets(draw.integers(0, 50, 200), draw.integers(0, 24, 200), 50, 20, weight)
    found = most_similar_sets(device, known, released, 20, candidates)
    assert same(found, searched(known, released, 20, candidates))


def test_of_equals_the_first_across_blocks(device: Accelerator) -> None:
    known = laid([sure(5), sure(0, 1), sure(0, 1, 2, 3), sure(0, 1)], 9, sure=True)
    released = laid([sure(0, 1), sure(1), sure(7), {}, sure(10)], 9, sure=True)
    for rows in (1, 2, 100):
        who, how = sets._in_blocks(device, known, released, 9, 1, rows, lambda _done: None)
        assert who[:, 0].tolist() == [1, 1, NOBODY, NOBODY, NOBODY]
        assert how[:, 0].tolist() == [1.0, 0.5, 0.0, 0.0, 0.0]


def test_floats_that_32_bits_cannot_tell_apart(device: Accelerator) -> None:
    # 4500/9001 is less than 4501/9003 by 1/(9001·9003)
    assert np.float32(4_500) / np.float32(9_001) == np.float32(4_501) / np.float32(9_003)
    known = laid([sure(*range(4_500)), sure(*range(4_501), 9_001, 9_002)], 9_003, sure=True)
    released = laid([sure(*range(9_001))], 9_003, sure=True)
    assert same(most_similar_sets(device, known, released, 9_003), (np.array([[1]]), np.array([[4_501 / 9_003]])))


def test_nobody_on_either_side(device: Accelerator) -> None:
    nobody, some = laid([], 3, sure=True), laid([sure(0)], 3, sure=True)
    assert most_similar_sets(device, nobody, some, 3)[0].tolist() == [[NOBODY]]
    assert most_similar_sets(device, some, nobody, 3)[0].shape == (0, 1)


def test_blocks_shrink_when_memory_is_short(device: Accelerator, monkeypatch: pytest.MonkeyPatch) -> None:
    real, tried = sets._matrix, []

    def matrix(accelerator: Accelerator, one: ItemSets, start: int, stop: int, *more: object) -> object:
        tried.append(stop - start)
        if stop - start > 32:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(accelerator, one, start, stop, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(sets, "_matrix", matrix)
    monkeypatch.setattr(sets, "_LEAST_BLOCK", 2)
    known, released = made_up(100, 30, 0.4, seed=6)
    assert same(most_similar_sets(device, known, released, 30), searched(known, released, 30, 1))
    assert max(tried) > 32 >= tried[-1]


def test_ranges_hold_whoever_may_be_as_similar() -> None:
    size = np.array([1, 2, 5, 8, 10, 20, 40])
    # J = 1/2 of a set of 10: nobody under 5 or above 20 items can reach it
    found = [torch.tensor([5.0]), torch.tensor([15.0])]
    low, high = sets._ranges(found, np.array([10]), size)
    assert size[low[0] : high[0]].tolist() == [5, 8, 10, 20]


def test_what_pays() -> None:
    assert pairs_pay(100_000, 100_000)
    assert not pairs_pay(20_000, 20_000)
