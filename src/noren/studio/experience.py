"""How long the parts of a run take here: what the shipped laws say, corrected by what really happened.

The laws (:mod:`noren.sweeps.cost`) know how work grows with data; how fast this machine does it, they guess from a
short piece of work. So a studio measures its machine once (:mod:`noren.studio.calibration`), and every run keeps what
its parts took. The correction of a part is a factor: the weighted geometric mean of *took / expected* over what is
known of the same part on the same kind of data, runs of like size and recent runs counting most, drawn towards the
mean over all parts.

What parts took is counted in seconds of a processor, so that what was measured in a busy hour serves in a quiet one. A
busy machine gives a process a share of a processor only: what runs got of late is kept with them, what a run gets is
measured while it starts and works, and what is expected of the processor is divided by it.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Final

from noren.cost_law import Shape
from noren.data.schema import Kind, Schema
from noren.methods.chain import Chain
from noren.protocols import Method
from noren.studio.folders import read_json, write_json
from noren.sweeps.cost import Cost, Part, estimate_parts, this_machine

__all__ = [
    "LEAST_SHARE", "MACHINE_FILE", "SHOW", "START", "STUDIO_PARTS", "Expected", "Experience", "Timing",
    "expected_parts", "keep_timings", "processor_share",
]  # fmt: skip

MACHINE_FILE: Final = "machine.json"
"""What was measured of the machine, in the studio's folder."""
_TIMINGS: Final = "timings.json"
START: Final[Part] = ("start", "")
"""A process starts, loads and reads the data."""
SHOW: Final[Part] = ("show", "")
"""What the pages show is prepared."""
_END: Final[Part] = ("end", "")
"""What is between the parts, and the end of the process."""
STUDIO_PARTS: Final = frozenset({START, SHOW, _END})
"""The parts that no component does."""
_START_ONCE, _START_CELL = 2.2, 1e-7
_END_ONCE: Final = 0.5
_SHOW_ONCE, _SHOW_CELL = 0.1, {Kind.HISTORY: 1.5e-6, Kind.TABLE: 6e-6}
"""Seconds of a processor, at once and for each cell of the data (benchmarks/results/time-left.md)."""
_SPREAD: Final = 1.5
_KEEPING: Final = 0.02
"""Seconds that keeping what a part found takes, however quick the part is."""
_FURTHEST: Final = 20.0
"""No correction is beyond this factor."""
_MOST_RUNS: Final = 200
_HALF_LIFE: Final = 8
"""After so many later runs, one counts half."""
_PRIOR: Final = 0.3
LEAST_SHARE: Final = 0.02


@dataclass(frozen=True)
class Expected:
    """What the laws expect of a part: by the clock of an idle machine, and of a processor.

    ``fixed`` is what a search takes by the clock however fast the machine is, which is in both.
    """

    cost: Cost
    processor: float | None
    fixed: float = 0.0


@dataclass(frozen=True)
class Timing:
    """What a part of a run took, in seconds of a processor, and what the laws had expected."""

    does: str
    name: str
    kind: str
    rows: int
    expected: float
    took: float
    share: float
    """Of a processor, what the whole run got."""

    @property
    def factor(self) -> float:
        """How much longer than expected it took.

        >>> Timing("attack", "jaccard", "history", 100, expected=0.98, took=1.98, share=0.5).factor
        2.0
        """
        return min(max((self.took + _KEEPING) / (self.expected + _KEEPING), 1 / _FURTHEST), _FURTHEST)


class Experience:
    """What is known of earlier runs, the latest first.

    >>> slow = Timing("attack", "jaccard", "history", 1000, expected=0.98, took=1.98, share=1.0)
    >>> round(Experience([slow] * 20).factor(("attack", "jaccard"), "history", 1000), 2)
    2.0
    >>> Experience([]).factor(("attack", "jaccard"), "history", 1000)
    1.0
    """

    def __init__(self, timings: Sequence[Timing]) -> None:
        self._shares = list(dict.fromkeys(timing.share for timing in timings))  # each run has one
        self._logs: dict[str, list[float]] = defaultdict(list)
        self._same: dict[tuple[Part, str], list[tuple[int, float]]] = defaultdict(list)
        for timing in timings:
            log = math.log(timing.factor)
            self._logs[timing.kind].append(log)
            self._same[(timing.does, timing.name), timing.kind].append((timing.rows, log))

    @classmethod
    def of(cls, root: Path) -> Experience:
        """Return what the folder of a studio knows: of its machine, and of the latest runs that are kept."""
        kept = sorted(
            root.glob(f"projects/*/jobs/*/{_TIMINGS}"), key=lambda path: path.stat().st_mtime_ns, reverse=True
        )
        files = [*kept[:_MOST_RUNS], root / MACHINE_FILE]
        return cls([timing for path in files for timing in _timings_in(path)])

    @property
    def share(self) -> float | None:
        """The share of a processor that runs got of late; None where there were none."""
        return median(self._shares[:5]) if self._shares else None

    def factor(self, part: Part, kind: str, rows: int) -> float:
        """Return how much longer a part takes than the laws expect, on a processor of its own."""
        logs, same = self._logs.get(kind, []), self._same.get((part, kind), [])
        general = sum(logs) / (len(logs) + 3)
        weights = [
            0.5 ** (age / _HALF_LIFE + abs(math.log10((rows + 1) / (then + 1))))
            for age, (then, _log) in enumerate(same)
        ]
        total = sum(weight * log for weight, (_rows, log) in zip(weights, same, strict=True))
        return math.exp((total + _PRIOR * general) / (sum(weights) + _PRIOR))

    def corrected(self, parts: Mapping[Part, Expected], shape: Shape, share: float) -> dict[Part, Cost]:
        """Return what parts will take by the clock, for a process that gets a share of a processor."""
        kind, rows = str(shape.kind), shape.rows
        return {
            part: _corrected(expected, self.factor(part, kind, rows) / max(share, LEAST_SHARE))
            for part, expected in parts.items()
        }


def _corrected(expected: Expected, factor: float) -> Cost:
    cost, fixed = expected.cost, expected.fixed
    if cost.seconds is None or cost.high is None:
        return cost
    seconds, low, high = (
        (max(one - fixed, 0.0) + _KEEPING) * factor + fixed for one in (cost.seconds, cost.low, cost.high)
    )
    return replace(cost, seconds=seconds, low=low, high=high)


def expected_parts(
    method: Method,
    shape: Shape,
    schema: Schema,
    *,
    attacks: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
) -> dict[Part, Expected]:
    """Return what the laws expect of the parts of a run in a studio: a worker starts, works, and prepares the pages."""
    here = this_machine()
    by_clock, by_processor = (
        estimate_parts(method, shape, schema, attacks=attacks, measures=measures, machine=machine)
        for machine in (here, replace(here, cores=1))
    )
    steps = method.steps if isinstance(method, Chain) else (method,)
    efforts = [effort for step in steps if isinstance(effort := step.parameters().get("effort"), float)]
    cells = shape.rows * max(shape.columns, 1)
    return {
        START: _own(_START_ONCE + _START_CELL * cells),
        **{
            part: Expected(cost, by_processor[part].seconds, sum(efforts) if part[0] == "protect" else 0.0)
            for part, cost in by_clock.items()
        },
        SHOW: _own(_SHOW_ONCE + _SHOW_CELL[shape.kind] * cells),
        _END: _own(_END_ONCE),
    }


def _own(seconds: float) -> Expected:
    return Expected(Cost(seconds, seconds / _SPREAD, seconds * _SPREAD, 0, "measured"), seconds)


def keep_timings(path: Path, timings: Sequence[Timing], **about: Any) -> None:
    """Write what parts took: of a machine with ``about`` it, else into the folder of a job."""
    write_json(path / _TIMINGS if path.is_dir() else path, about | {"timings": [asdict(one) for one in timings]})


def _timings_in(path: Path) -> tuple[Timing, ...]:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return ()


@lru_cache(maxsize=2 * _MOST_RUNS)
def _read(path: Path, _written: int) -> tuple[Timing, ...]:
    """Return what a file holds; it is read again once it was written again."""
    kept = read_json(path) or {}
    return tuple(Timing(**one) for one in kept.get("timings", ()))


def processor_share(seconds: float) -> float:
    """Return the share of a processor that this process got since it began, so many seconds ago."""
    return min(max(time.process_time() / max(seconds, 1e-3), LEAST_SHARE), 1.0)
