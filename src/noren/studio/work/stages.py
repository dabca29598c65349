"""What happens at which part of a job: the shares that each part takes, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["STAGES", "end_of", "stage_of"]

STAGES: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "run": (("protect", 0.45), ("attack", 0.69), ("measure", 0.85), ("show", 1.0)),
    "read": (("read", 0.6), ("write", 0.75), ("show", 1.0)),
}
"""Of each kind of job its stages in order, each with the share of the whole at which it ends."""


def end_of(kind: str, stage: str) -> float:
    """Return the share of a job that is done when a stage is.

    >>> end_of("run", "attack")
    0.69
    """
    return dict(STAGES[kind])[stage]


def stage_of(kind: str, done: float) -> str:
    """Return the stage a job is in; empty for kinds without stages.

    >>> stage_of("run", 0.0), stage_of("run", 0.5), stage_of("run", 1.0), stage_of("report", 0.5)
    ('protect', 'attack', 'show', '')
    """
    stages = STAGES.get(kind, ())
    return next((name for name, end in stages if done < end), stages[-1][0] if stages else "")
