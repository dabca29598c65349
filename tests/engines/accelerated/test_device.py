"""Which device is taken, what is said where there is none, and blocks that shrink when memory is short."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

from noren.engines.accelerated.device import Accelerator, accelerator_for, find_accelerator, in_smaller_blocks
from noren.engines.choice import LOCAL, EngineChoice
from noren.errors import ParameterError


def short_of(memory: int, asked: list[int]) -> Callable[[int], int]:
    """Return work that needs as many bytes as its block is long."""

    def work(block: int) -> int:
        asked.append(block)
        if block > memory:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return block

    return work


def test_blocks_are_halved_until_they_fit(device: Accelerator) -> None:
    asked: list[int] = []
    assert in_smaller_blocks(device, short_of(30, asked), 100) == 25
    assert asked == [100, 50, 25]


def test_the_smallest_block_that_does_not_fit_is_one_line(device: Accelerator) -> None:
    asked: list[int] = []
    with pytest.raises(ParameterError, match=r"too little free memory \(.* GB\).*--engine local") as error:
        in_smaller_blocks(device, short_of(3, asked), 20, least=8)
    assert asked == [20, 10, 8]
    assert "\n" not in str(error.value)


def test_other_errors_are_not_taken_for_shortage(device: Accelerator) -> None:
    with pytest.raises(ZeroDivisionError):
        in_smaller_blocks(device, lambda block: 1 // (block - block), 4)


def test_without_torch_gpu_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else real(name))
    with pytest.raises(ParameterError, match=r"pip install 'noren\[gpu\]'"):
        accelerator_for(EngineChoice("gpu"), pays=False)
    assert accelerator_for(EngineChoice("auto"), pays=True) is None


def test_without_a_device_gpu_stops_and_auto_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ParameterError, match=r"found no graphics processor.*--engine local"):
        accelerator_for(EngineChoice("gpu"), pays=False)
    assert find_accelerator() is None
    assert accelerator_for(EngineChoice("auto"), pays=True) is None
    assert accelerator_for(EngineChoice("auto"), pays=False) is None


def test_auto_takes_a_device_where_it_pays(as_gpu: Accelerator) -> None:
    assert accelerator_for(EngineChoice("auto"), pays=True) is as_gpu
    assert accelerator_for(EngineChoice("auto"), pays=False) is None
    assert accelerator_for(EngineChoice("gpu"), pays=False) is as_gpu
    assert accelerator_for(LOCAL, pays=True) is None
    assert accelerator_for(EngineChoice("spark", "local[2]"), pays=True) is None


def test_room_is_what_is_free_less_a_tenth() -> None:
    torch_like = SimpleNamespace(cuda=SimpleNamespace(mem_get_info=lambda: (1_000, 2_000)))
    assert Accelerator(torch_like, "cuda").room() == 900
    assert Accelerator(torch_like, "cuda", memory=77).room() == 77


def test_torch_is_loaded_by_work_alone() -> None:
    script = (
        "import sys, noren, noren.attacks, noren.methods, noren.api; "
        "from noren.engines.accelerated import alignments, evidence, sets, tables; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
