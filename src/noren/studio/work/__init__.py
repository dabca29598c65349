"""What a worker can do: one module for each kind of job, found by the order's ``kind``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

from noren.progress import Progress

__all__ = ["KINDS", "do"]

KINDS: Final = {
    "read": "reading",
    "run": "running",
    "report": "reporting",
    "reconstruct": "reconstructing",
    "ledger": "keeping",
}
"""Which module does which kind of job; each has ``do(order, folder, progress)``."""


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Do what the order says and return what the studio should know of it."""
    module = import_module(f"noren.studio.work.{KINDS[order['kind']]}")
    answer: dict[str, Any] = module.do(order, folder, progress)
    return answer
