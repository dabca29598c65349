"""Torch on the processor, in one thread: what a graphics processor would do."""

from collections.abc import Iterator

import pytest
import torch

from noren.engines.accelerated.device import Accelerator, processor


@pytest.fixture
def device() -> Iterator[Accelerator]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield processor()
    torch.set_num_threads(threads)


@pytest.fixture
def as_gpu(device: Accelerator, monkeypatch: pytest.MonkeyPatch) -> Accelerator:
    """Let the processor's tensors be the graphics processor that ``--engine gpu`` finds."""
    monkeypatch.setattr("noren.engines.accelerated.device.find_accelerator", lambda: device)
    return device
