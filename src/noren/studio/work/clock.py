"""How long a run will still take, told while it runs.

Before it begins, each part is expected to take what experience says of a processor of its own. Then three things
correct that: how much more of a processor the parts before took than was expected of them, what share of a processor
the run got in the last seconds, and what share of itself the part under way says is done.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from noren.cost_law import Shape
from noren.progress import Progress
from noren.studio.experience import LEAST_SHARE, START, Expected, Experience, Timing, keep_timings, processor_share
from noren.sweeps.cost import Part

__all__ = ["Clocked", "RunClock"]

_SURE_AFTER = 0.5
"""Seconds of a processor after which a run's own pace counts as much as experience."""
_FURTHEST = 4.0
"""No run is thought to be slower or faster than expected by more than this factor."""
_WINDOW = 10.0
"""Seconds over which the share of a processor is measured."""
_SAMPLED_EVERY, _LEAST_WINDOW = 0.5, 1.0
_OVERDUE = 0.25
"""A part that takes longer than expected is expected to take this much of it again."""
_ENOUGH_DONE = 0.05


@runtime_checkable
class Clocked(Protocol):
    """A progress that has a clock."""

    clock: RunClock


@dataclass
class RunClock:
    """The clock of one run; ``began`` is when its process did, where it has one of its own."""

    began: float | None = None
    share: float = 1.0
    """Of a processor, what the process is thought to get at first."""
    _expected: dict[Part, float] = field(default_factory=dict)
    """What the parts that are not over will take by the clock of an idle machine, in order."""
    _laws: Mapping[Part, Expected] = field(default_factory=dict)
    _shape: Shape | None = None
    _under_way: Part | None = None
    _since: float = 0.0
    _processor: float = 0.0
    _done: float = 0.0
    _took: float = 0.0
    _was_expected: float = 0.0
    _timings: list[Timing] = field(default_factory=list)
    _samples: deque[tuple[float, float]] = field(default_factory=deque)

    def plan(self, parts: Mapping[Part, Expected], shape: Shape, experience: Experience) -> None:
        """Take the parts of the run, which has started and read its data: the first of them is over."""
        self._laws, self._shape = parts, shape
        corrected = experience.corrected(parts, shape, 1.0)
        self._expected = {part: cost.seconds for part, cost in corrected.items() if cost.seconds is not None}
        del self._expected[START]
        if self.began is not None:
            now = processor_share(time.perf_counter() - self.began)
            self.share = math.sqrt(
                now * (experience.share or now)
            )  # work waits for disks, too, which starting does not
            self._timings.append(self.start_took(time.process_time()))

    @contextmanager
    def doing(self, does: str, name: str = "") -> Iterator[None]:
        """Say which part is under way; those planned before it are over, or were not needed."""
        part = (does, name)
        names = list(self._expected)
        for earlier in names[: names.index(part)] if part in names else ():
            del self._expected[earlier]
        self._since, self._processor = time.perf_counter(), time.process_time()
        self._under_way, self._done = part, 0.0
        try:
            yield
        except BaseException:
            self.says_nothing()
            raise
        if self._under_way == part:
            self._over(part, time.process_time() - self._processor)
        self._under_way = None

    def says_nothing(self) -> None:
        """Say that what the part under way took tells nothing of others: it was done before, or not at all."""
        if self._under_way is not None:
            self._expected.pop(self._under_way, None)
        self._under_way = None

    def hearing(self, progress: Progress) -> Progress:
        """Return a progress of the part under way that the clock hears, too."""

        def told(done: float, words: str = "", best: float | None = None) -> None:
            self._done = min(max(done, 0.0), 1.0)
            progress(done, words, best)

        return told

    def left(self) -> float | None:
        """Return how many seconds it will still take; None before anything was planned, or where nobody knows."""
        if not self._laws or any(law.processor is None for law in self._laws.values()):
            return None
        pace = (self._took + _SURE_AFTER) / (self._was_expected + _SURE_AFTER)
        slower = min(max(pace, 1 / _FURTHEST), _FURTHEST) / self._share_now()
        expected = list(self._expected.items())  # others may change it meanwhile
        rest = sum(self._by_clock(part, seconds, slower) for part, seconds in expected if part != self._under_way)
        return rest + self._left_of_part(slower)

    def _by_clock(self, part: Part, seconds: float, slower: float) -> float:
        """Return what a part takes here; what a search takes by the clock, no machine makes longer."""
        fixed = self._laws[part].fixed
        return max(seconds - fixed, 0.0) * slower + fixed

    def _left_of_part(self, slower: float) -> float:
        if self._under_way is None:
            return 0.0
        part, spent = self._under_way, time.perf_counter() - self._since
        whole = self._by_clock(part, self._expected[part], slower) if part in self._expected else 0.0
        by_law = max(whole - spent, _OVERDUE * spent)
        if self._done < _ENOUGH_DONE:
            return by_law
        trust = min(2 * self._done, 1.0)
        return trust * spent * (1 - self._done) / self._done + (1 - trust) * by_law

    def _share_now(self) -> float:
        """Return the share of a processor that the run got in the last seconds; at first, while it started."""
        now, processor = time.perf_counter(), time.process_time()
        if not self._samples or now - self._samples[-1][0] >= _SAMPLED_EVERY:
            self._samples.append((now, processor))
        while len(self._samples) > 1 and now - self._samples[1][0] >= _WINDOW:
            self._samples.popleft()
        since, before = self._samples[0]
        if now - since < _LEAST_WINDOW:
            return self.share
        return min(max((processor - before) / (now - since), LEAST_SHARE), 1.0)

    def _over(self, part: Part, processor: float) -> None:
        expected, law = self._expected.pop(part, None), self._laws.get(part)
        if expected is None or law is None or law.processor is None or law.fixed:
            return
        self._took += processor
        self._was_expected += expected * law.processor / max(law.cost.seconds or 0.0, 1e-6)
        self._timings.append(self._timing(part, law.processor, processor))

    def _timing(self, part: Part, expected: float, processor: float) -> Timing:
        if self._shape is None:
            raise ValueError("nothing was planned")
        kind, rows = str(self._shape.kind), self._shape.rows
        return Timing(*part, kind, rows, round(expected, 5), round(processor, 5), round(self.share, 3))

    def keep(self, folder: Path) -> None:
        """Keep what the parts took in the folder of the job, for the runs that come."""
        if self._timings and self.began is not None:
            share = round(processor_share(time.perf_counter() - self.began), 3)
            keep_timings(folder, [replace(timing, share=share) for timing in self._timings])

    def start_took(self, processor: float) -> Timing:
        """Return what it took to start, for a run in a process that had started before."""
        return self._timing(START, self._laws[START].processor or 0.0, processor)

    @property
    def timings(self) -> tuple[Timing, ...]:
        """What the parts that are over took."""
        return tuple(self._timings)
