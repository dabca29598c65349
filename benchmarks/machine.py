"""What a measurement was made on, and how it was made: shared by every benchmark here.

Nothing heavy is imported. Linux counts the memory of the parent, at the moment it starts a child, towards the child's
peak; so a script that measures peaks must stay small itself and do all work in children.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noren.reproduce import machine

RESULTS = Path(__file__).parent / "results"
REPEATS = 3
LOAD = os.getloadavg()[0]  # before we add our own


def facts(*packages: str) -> str:
    """Return the line that goes under every table: date, processor, memory, versions, load; no names, no paths."""
    return f"Measured on {machine.facts(*packages)}. Load of the machine before: {LOAD:.1f}."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, first column left, the others right."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def report(name: str, title: str, *paragraphs: str) -> None:
    """Keep the results in ``results/<name>.md`` and print them."""
    text = "\n\n".join((f"# {title}", *paragraphs)) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)


@dataclass(frozen=True)
class Times:
    """Some runs of one piece of work in this process: wall and processor seconds of each."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return statistics.median(self.wall)

    @property
    def processor_seconds(self) -> float:
        return statistics.median(self.processor)

    @property
    def spread(self) -> float:
        """The slowest run over the fastest: near 1 on a quiet machine."""
        return max(self.wall) / min(self.wall)


def in_turns(works: Sequence[Callable[[], object]], repeats: int = REPEATS) -> list[Times]:
    """Run each work in turn, some rounds: what else the machine does then slows all of them, not one.

    What a run returns is dropped before the next starts.
    """
    spent: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(repeats):
        for work, times in zip(works, spent, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            result = work()
            times.append((time.perf_counter() - wall, time.process_time() - processor))
            del result
    return [Times(*zip(*times, strict=True)) for times in spent]


@dataclass(frozen=True)
class Run:
    """One child process: what it took, and what it said."""

    seconds: float
    processor_seconds: float
    peak_bytes: int
    code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.code == 0


def run(*command: str, environment: dict[str, str] | None = None) -> Run:
    """Run a command to its end and return its wall time, processor time and peak resident memory."""
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    ) as child:
        output = child.stdout.read() if child.stdout else ""
        _pid, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, child.returncode, output)


def runs_in_turns(starts: Sequence[Callable[[], Run]], repeats: int = REPEATS) -> list[Run]:
    """Run each in turn, some rounds; return of each the run of median wall time, with the highest peak of all.

    A run that failed stands for all of its rounds.
    """
    rounds = [[start() for start in starts] for _ in range(repeats)]
    return [_median(runs) for runs in zip(*rounds, strict=True)]


def _median(runs: Sequence[Run]) -> Run:
    for done in runs:
        if not done.ok:
            return done
    middle = sorted(runs, key=lambda done: done.seconds)[len(runs) // 2]
    return replace(middle, peak_bytes=max(done.peak_bytes for done in runs))


def run_python(code: str, *arguments: str, environment: dict[str, str] | None = None) -> Run:
    """Run a few lines of Python in a child."""
    return run(sys.executable, "-c", code, *arguments, environment=environment)


def run_part(script: str, part: str, *arguments: object) -> tuple[Run, dict[str, Any]]:
    """Run a part of a script in a child (``--part``), and return it with the JSON that its last line is."""
    done = run(sys.executable, script, "--part", part, *map(str, arguments))
    if not done.ok:
        sys.exit(f"{part} ended with {done.code}: {done.output.strip()[-2000:]}")
    return done, json.loads(done.output.splitlines()[-1])


if __name__ == "__main__":
    print(facts("noren", "polars", "pyarrow", "pandas", "numpy"))
