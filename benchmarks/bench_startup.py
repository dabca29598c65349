"""How long a person waits before anything happens: ``import noren`` and ``noren --help`` in fresh processes.

python benchmarks/bench_startup.py
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

from machine import Run, facts, report, run, table

TIMES = 10
TRACED = 5
TOP = 10
LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| *(\S+)")

NOTHING = (sys.executable, "-c", "pass")
IMPORT = (sys.executable, "-c", "import noren")
COMMAND = (sys.executable, "-m", "noren", "--help")
INSTALLED = (str(Path(sys.executable).parent / "noren"), "--help")
READING = (sys.executable, "-c", "import noren; noren.read")


def started(command: tuple[str, ...]) -> list[Run] | str:
    """Return the runs, or why there are none."""
    if not Path(command[0]).exists():
        return "not there yet"
    runs = []
    for _ in range(TIMES):
        done = run(*command)
        if not done.ok:
            return "not there yet"
        runs.append(done)
    return runs


def importing(command: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the modules that a command imports with the microseconds each takes itself, the slowest first.

    Of some runs, the one whose imports take the median time.
    """
    runs = []
    for _ in range(TRACED):
        said = run(command[0], "-X", "importtime", *command[1:]).said
        found = [(match[3], int(match[1])) for match in LINE.finditer(said)]
        runs.append(sorted(found, key=lambda module: -module[1]))
    return sorted(runs, key=lambda modules: sum(spent for _name, spent in modules))[TRACED // 2]


def of_packages(modules: list[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """Sum modules up by their package: name, how many modules, microseconds."""
    sums: dict[str, tuple[int, int]] = {}
    for name, spent in modules:
        count, total = sums.get(name.split(".")[0], (0, 0))
        sums[name.split(".")[0]] = count + 1, total + spent
    return sorted(((name, count, total) for name, (count, total) in sums.items()), key=lambda package: -package[2])


def main() -> None:
    rows = []
    base: float | None = None
    for name, command in (
        ("`python -c pass`", NOTHING),
        ("`import noren`", IMPORT),
        ("`python -m noren --help`", COMMAND),
        ("`noren --help`", INSTALLED),
        ("`import noren; noren.read` (loads Polars and PyArrow)", READING),
    ):
        runs = started(command)
        if isinstance(runs, str):
            rows.append([name, runs, "", "", "", ""])
            continue
        seconds = [done.seconds for done in runs]
        middle = statistics.median(seconds)
        base = middle if base is None else base
        rows.append(
            [
                name,
                f"{1e3 * middle:.0f}",
                f"{1e3 * (middle - base):+.0f}",
                f"{1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f}",
                f"{1e3 * statistics.median(done.processor_seconds for done in runs):.0f}",
                f"{max(done.peak_bytes for done in runs) / 1e6:.0f}",
            ]
        )
    paragraphs = [
        f"Wall time of a fresh process, median of {TIMES}.",
        table(["", "ms", "more than nothing, ms", "from to, ms", "processor, ms", "peak memory, MB"], rows),
    ]
    plain = {name for name, _ in importing(NOTHING)}
    for name, command in (("import noren", IMPORT), ("noren --help", COMMAND)):
        if not run(*command).ok:
            continue
        added = [module for module in importing(command) if module[0] not in plain]
        paragraphs += [
            f"## What `{name}` imports",
            f"{len(added)} modules more than a bare Python, {sum(spent for _, spent in added) / 1e3:.0f} ms of imports"
            f" in all (the median of {TRACED} runs, measured with `-X importtime`, which itself slows them down).",
        ]
        if added:
            slow = [[f"`{module}`", f"{spent / 1e3:.1f}"] for module, spent in added[:TOP]]
            packages = [[f"`{p}`", str(count), f"{spent / 1e3:.1f}"] for p, count, spent in of_packages(added)[:TOP]]
            paragraphs += [table(["package", "modules", "ms"], packages), table(["slowest modules", "ms"], slow)]
    report("startup", "Starting", *paragraphs, facts("noren", "typer", "pydantic"))


if __name__ == "__main__":
    main()
