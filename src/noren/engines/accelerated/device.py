"""Which device there is, how much it holds, and what to do when that is too little."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from noren.engines.choice import EngineChoice
from noren.errors import ParameterError
from noren.tables import Texts

say = Texts(__name__)

Tensor = Any
"""A tensor of Torch, which has no types of ours."""
Result = TypeVar("Result")

_KEPT_FREE = 0.1
"""The share of a device's free memory that is left alone: for libraries' own workspaces."""


@dataclass(frozen=True)
class Accelerator:
    """Torch, and one of its devices."""

    torch: Any
    """The library."""
    device: str
    """``cuda``, or ``cpu`` for tensors of the processor."""
    memory: int | None = None
    """How many bytes work may take at a time; by default, what the device has free."""

    @property
    def fused(self) -> bool:
        """Whether kernels of Triton run there."""
        return self.device == "cuda" and importlib.util.find_spec("triton") is not None

    def room(self) -> int:
        """Return how many bytes work may take now."""
        if self.memory is not None:
            return self.memory
        if self.device != "cuda":
            return 1 << 30
        return int((1 - _KEPT_FREE) * self.torch.cuda.mem_get_info()[0])

    def tensor(self, values: Any, dtype: Any = None) -> Tensor:
        """Return an array as a tensor on the device."""
        return self.torch.as_tensor(np.require(values, requirements=["C", "W"]), dtype=dtype, device=self.device)


def processor(memory: int | None = None) -> Accelerator:
    """Return Torch on the processor: for tests, and to try what a device would do."""
    import torch

    return Accelerator(torch, "cpu", memory)


def find_accelerator() -> Accelerator | None:
    """Return the graphics processor, or None where there is none or Torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return Accelerator(torch, "cuda") if torch.cuda.is_available() else None


def accelerator_for(engine: EngineChoice, *, pays: bool) -> Accelerator | None:
    """Return what an engine does a piece of work on, None being this machine's processors.

    ``auto`` takes the graphics processor where there is one and the caller says that it ``pays``; ``gpu`` insists, and
    stops where there is none.
    """
    if engine.kind != "gpu":
        return find_accelerator() if engine.kind == "auto" and pays else None
    if importlib.util.find_spec("torch") is None:
        raise ParameterError(say("no_torch"))
    accelerator = find_accelerator()
    if accelerator is None:
        import torch

        raise ParameterError(say("no_device", version=torch.__version__))
    return accelerator


def in_smaller_blocks(accelerator: Accelerator, work: Callable[[int], Result], block: int, *, least: int = 1) -> Result:
    """Return ``work(block)``; where memory is short, the work is done again in blocks of half the size, and so on.

    Stops with one line where even ``least`` is too much.
    """
    while True:
        try:
            return work(block)
        except accelerator.torch.OutOfMemoryError:
            if block <= least:
                raise ParameterError(say("no_memory", free=accelerator.room() / 1e9)) from None
        # outside of the handler, whose error would hold the tensors of the work that failed
        if accelerator.device == "cuda":
            accelerator.torch.cuda.empty_cache()
        block = max(block // 2, least)
