"""The local engine: in order, bounded, the same on any number of cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from noren.engines import blocks
from noren.engines.blocks import cores, map_blocks
from noren.engines.choice import EngineChoice, chosen_engine, using


@pytest.mark.parametrize("workers", [1, 2, 5, None])
def test_results_come_in_the_order_of_the_blocks(workers: int | None) -> None:
    later = threading.Event()

    def kernel(block: int) -> int:
        if block == 0 and workers not in (1, None):
            assert later.wait(30)  # the first block is done last
        elif block == 1:
            later.set()
        return block * block

    assert list(map_blocks(kernel, range(20), workers=workers)) == [block * block for block in range(20)]


@pytest.mark.parametrize(("workers", "ahead", "most"), [(1, 1, 1), (2, 1, 3), (3, 4, 7)])
def test_no_more_blocks_are_held_than_promised(workers: int, ahead: int, most: int) -> None:
    taken = 0

    def source() -> Iterator[int]:
        nonlocal taken
        for block in range(50):
            taken += 1
            yield block

    for given, _result in enumerate(map_blocks(lambda block: block, source(), workers=workers, ahead=ahead), start=1):
        assert taken - given < most
    assert taken == 50


@pytest.mark.parametrize("workers", [1, 4])
def test_the_first_error_is_the_one_raised(workers: int) -> None:
    def kernel(block: int) -> int:
        if block in (3, 5):
            raise ValueError(f"block {block}")
        return block

    seen: list[int] = []
    with pytest.raises(ValueError, match="block 3"):
        seen.extend(map_blocks(kernel, range(20), workers=workers))
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("workers", [1, 4])
def test_an_error_of_the_source_waits_for_the_blocks_before_it(workers: int) -> None:
    def source(last: int) -> Iterator[int]:
        yield from range(last)
        raise OSError("the source broke")

    seen: list[int] = []
    with pytest.raises(OSError, match="the source broke"):
        seen.extend(map_blocks(lambda block: block, source(3), workers=workers))
    assert seen == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        list(map_blocks(lambda block: 1 // (block - 2), source(3), workers=workers))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_reader_may_stop_early(workers: int) -> None:
    results = map_blocks(lambda block: block, iter(range(1000)), workers=workers)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert list(results) == []


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 3, 5}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
    assert blocks.cores is cores


def test_threads_see_the_engine_that_was_chosen_here() -> None:
    with using(EngineChoice("gpu")):
        assert set(map_blocks(lambda _block: str(chosen_engine()), range(4), workers=2)) == {"gpu"}
