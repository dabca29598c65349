"""What a worker can do: each kind of job, found by the order's ``kind``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

from noren.progress import Progress

__all__ = ["KINDS", "do"]

KINDS: Final = {
    "read": ("reading", "do"),
    "run": ("running", "do"),
    "report": ("writing", "write_report_of"),
    "reconstruct": ("writing", "reconstruct"),
    "ledger": ("writing", "weigh_or_add"),
}
"""Which function of which module does which kind of job: ``do(order, folder, progress)``."""


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Do what the order says and return what the studio should know of it."""
    module, function = KINDS[order["kind"]]
    answer: dict[str, Any] = getattr(import_module(f"noren.studio.work.{module}"), function)(order, folder, progress)
    return answer
