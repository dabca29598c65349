"""What a worker can do: each kind of job, found by the order's ``kind``; and how far a job is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from noren.progress import Progress

KINDS: Final = {
    "read": ("reading", "do"),
    "run": ("running", "do"),
    "report": ("running", "write_report_of"),
    "reconstruct": ("running", "reconstruct"),
    "ledger": ("running", "weigh_or_add"),
    "judge": ("running", "judge_file"),
}
"""Which function of which module does which kind of job: ``do(order, folder, progress)``."""


def do(order: dict[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Do what the order says and return what the studio should know of it."""
    module, function = KINDS[order["kind"]]
    return dict(getattr(import_module(f"noren.studio.work.{module}"), function)(order, folder, progress))


_ENOUGH_DONE: Final = 0.05
"""The share of a job from which on the time left is shown."""

STAGES: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "run": (("protect", 0.45), ("attack", 0.69), ("measure", 0.85), ("show", 1.0)),
    "read": (("read", 0.6), ("write", 0.75), ("show", 1.0)),
}
"""Of each kind of job its stages in order, each with the share of the whole at which it ends."""


def stage_of(kind: str, done: float) -> str:
    """Return the stage a job is in; empty for kinds without stages.

    >>> stage_of("run", 0.0), stage_of("run", 0.5), stage_of("run", 1.0), stage_of("report", 0.5)
    ('protect', 'attack', 'show', '')
    """
    stages = STAGES.get(kind, ())
    return next((name for name, end in stages if done < end), stages[-1][0] if stages else "")


def time_left(elapsed: float, done: float) -> int | None:
    """Return about how many seconds a job needs for the rest, at the pace so far, in steps that are worth showing.

    Too early to tell, it is None.

    >>> [time_left(elapsed, 0.5) for elapsed in (0.2, 7.4, 33, 128, 4000)], time_left(1.0, 0.25), time_left(9.0, 0.04)
    ([1, 8, 35, 140, 4020], 3, None)
    """
    if done < _ENOUGH_DONE:
        return None
    seconds = elapsed * (1 - done) / done
    step = 1 if seconds < 10 else 5 if seconds < 60 else 20 if seconds < 600 else 60
    return max(step * math.ceil(seconds / step), 1)
