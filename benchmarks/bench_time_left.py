"""How right the studio's time left is: at the start of a run, a quarter and half way, against what it really took.

    python benchmarks/bench_time_left.py

The machine is measured as at the first start of a studio. Then workers do runs on made-up data of a few sizes, each by
a process of its own as in a studio; the first run of each kind of data rests on the measured machine alone, later ones
know those before. A ratio is seconds predicted over seconds taken, both from that moment on: 1 is right, 0.5 to 2 is
within a factor of two. It writes ``benchmarks/results/time-left.md``; about two minutes of a processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import facts, report, run, table

from noren.api import sample
from noren.cost_law import Shape
from noren.data.frames import Records
from noren.data.reading import write
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.reports.profile import profile
from noren.studio.experience import Experience, expected_parts
from noren.studio.folders import Folders, read_json, write_json
from noren.studio.work.project_files import method_of

BY_COUNT: dict[str, Any] = {"method": "generalize-by-count", "parameters": {"k": 3}}
MONDRIAN: dict[str, Any] = {"method": "mondrian", "parameters": {"k": 5}}
RUNS: list[tuple[str, dict[str, int], dict[str, Any]]] = [
    ("history", {"customers": 200, "rows": 6_000, "items": 500}, BY_COUNT),
    ("history", {"customers": 200, "rows": 6_000, "items": 500}, {"method": "pseudonymize"}),
    ("history", {"customers": 400, "rows": 20_000, "items": 1_500}, BY_COUNT),
    ("history", {"customers": 400, "rows": 20_000, "items": 1_500}, {"method": "thin"}),
    ("table", {"rows": 4_000}, MONDRIAN),
    ("table", {"rows": 40_000}, MONDRIAN),
    ("table", {"rows": 40_000}, {"method": "mondrian", "parameters": {"k": 20}}),
]


@dataclass(frozen=True)
class Watched:
    """A run: what was expected of it before it began, what it said while it ran, and what it took."""

    expected: float
    expected_processor: float
    said: list[tuple[float, float]]
    """When, and how many seconds were left by then."""
    took: float
    processor: float

    def ratio(self, share: float) -> float:
        """Return predicted over taken from a share of the run on: by the last word until then, or before it began."""
        at = share * self.took
        when, left = max([(0.0, self.expected), *((when, left) for when, left in self.said if when <= at)])
        return max(left - (at - when), 0.0) / (self.took - at)


def lay(root: Path, kind: str, size: dict[str, int]) -> str:
    """Make a project of made-up data."""
    records: Records
    if kind == "history":
        records = sample(customers=size["customers"], rows=size["rows"], items=size["items"], seed=3)
    else:
        records = sample_people(rows=size["rows"], seed=3)
    project = f"{kind[:5]}{size['rows']:07d}"
    folders = Folders(root)
    if not folders.project(project).exists():
        folders.project(project).mkdir(parents=True)
        write(records, folders.data(project))
        folders.schema(project).write_text(records.schema.to_toml(), encoding="utf-8")
        write_json(folders.profile(project), profile(records))
    return project


def watch(root: Path, project: str, step: dict[str, Any], name: str) -> Watched:
    """Do a run by a worker and hear it."""
    folders = Folders(root)
    folder = folders.job(project, name)
    folder.mkdir(parents=True)
    order = {"kind": "run", "project": project, "root": str(root), "language": "en", "steps": [step], "seed": 5}
    write_json(folder / "order.json", order)
    by_clock, by_processor = expected_seconds(root, project, step)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "noren.studio.worker", str(folder)]
    said: list[tuple[float, float]] = []
    before = sum(os.times()[2:4])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        for line in worker.stdout or ():
            left = json_left(line)
            if left is not None:
                said.append((time.perf_counter() - begin, left))
        took = time.perf_counter() - begin
        if worker.stdin is not None:
            worker.stdin.close()
    return Watched(by_clock, by_processor, said, took, sum(os.times()[2:4]) - before)


def expected_seconds(root: Path, project: str, step: dict[str, Any]) -> tuple[float, float]:
    """Return what a studio expects of a run before it begins: seconds by the clock, and of a processor."""
    folders, known = Folders(root), Experience.of(root)
    shape = Shape.of_profile(read_json(folders.profile(project)))
    schema = Schema.from_toml(folders.schema(project).read_text(encoding="utf-8"))
    parts = expected_parts(method_of([step], folders.project(project)), shape, schema)
    by_clock = known.corrected(parts, shape, known.share or 1.0)
    by_processor = (
        (one.processor or 0.0) * known.factor(part, str(shape.kind), shape.rows) for part, one in parts.items()
    )
    return sum(cost.seconds or 0.0 for cost in by_clock.values()), sum(by_processor)


def json_left(line: str) -> float | None:
    """Return the time left that a line of a worker tells."""
    left: float | None = json.loads(line).get("left")
    return left


def main() -> None:
    """Run, and write what was found."""
    rows, ratios = [], []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        measured = run(sys.executable, "-m", "noren.studio.calibration", str(root))
        for at, (kind, size, step) in enumerate(RUNS):
            seen = watch(root, lay(root, kind, size), step, f"run{at:09d}")
            found = [seen.ratio(share) for share in (0.0, 0.25, 0.5)]
            found.insert(0, seen.expected_processor / seen.processor)
            ratios.append(found)
            shown = [f"{one:.2f}" for one in found]
            people = size.get("customers", size["rows"])
            rows.append([step["method"], f"{size['rows']:,}", f"{people:,}", f"{seen.took:.1f}", *shown])
            print(*rows[-1], sep="\t", flush=True)
    within = [f"{sum(0.5 <= one <= 2 for one in column)} of {len(column)}" for column in zip(*ratios, strict=True)]
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    report(
        "time-left",
        "Time left on runs",
        "Seconds predicted over seconds taken, from that moment on; 1 is right, 0.5 to 2 is within a factor of two. "
        "*Processor*: the same for seconds of a processor, at the start. The first run of a kind rests on the measured "
        "machine alone, later ones on the runs before them too.",
        table(
            ["method", "rows", "people", "took, s", "processor", "at the start", "a quarter through", "half way"], rows
        ),
        f"Within a factor of two: {within[0]} of the processor, which other work on the machine does not change; by "
        f"the clock {within[1]} at the start, {within[2]} a quarter through, {within[3]} half way.",
        f"Measuring the machine took {measured.processor_seconds:.1f} s of a processor ({measured.seconds:.0f} s by "
        f"the clock, at low priority). The machine was busy with other work meanwhile: load averages {load} on "
        f"{os.cpu_count()} processors at the end. A load that changes between a prediction and the end of a run shows "
        "in these ratios.",
        facts(),
    )


if __name__ == "__main__":
    main()
