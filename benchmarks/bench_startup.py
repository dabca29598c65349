"""How long a person waits before anything happens: ``import noren`` and ``noren --help`` in fresh processes, and what a
first ``noren demo`` compiles.

python benchmarks/bench_startup.py [--before FOLDER]   # the sources (src) of an earlier version, for comparison
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections import Counter
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
        output = run(command[0], "-X", "importtime", *command[1:]).output
        imports = [(match[3], int(match[1])) for match in LINE.finditer(output)]
        runs.append(sorted(imports, key=lambda module: -module[1]))
    return sorted(runs, key=lambda modules: sum(spent for _name, spent in modules))[TRACED // 2]


def of_packages(modules: list[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """Sum modules up by their package: name, how many modules, microseconds."""
    sums: dict[str, tuple[int, int]] = {}
    for name, spent in modules:
        count, total = sums.get(name.split(".")[0], (0, 0))
        sums[name.split(".")[0]] = count + 1, total + spent
    return sorted(((name, count, total) for name, (count, total) in sums.items()), key=lambda package: -package[2])


# --- compiling -------------------------------------------------------------------------------------------------------

SOURCES = Path(__file__).parent.parent / "src"
LISTENING = """
import json, sys, time
from numba.core import event

class Compiling(event.Listener):
    open, spent = [], []
    def on_start(self, event):
        self.open.append([time.thread_time(), 0.0])
    def on_end(self, event):
        start, below = self.open.pop()
        took = time.thread_time() - start
        if self.open:
            self.open[-1][1] += took
        function = event.data["dispatcher"].py_func
        self.spent.append((function.__module__, function.__qualname__, took - below))

event.register("numba:compile", Compiling())
from noren.cli import main
sys.argv = ["noren", "demo", "--customers", "60", "--rows", "2000", "--out", sys.argv[1]]
try:
    main()
finally:
    with open(sys.argv[-1] + ".json", "w") as file:
        json.dump(Compiling.spent, file)
"""


Spent = list[tuple[str, str, float]]


def two_demos(sources: Path, *, ahead: bool) -> tuple[Run, Run, Spent]:
    """Return a demo without and one with kernels kept, and of the first what its own process compiled.

    Those that come with the sources count as ``ahead``; otherwise they are left aside.
    """
    with tempfile.TemporaryDirectory() as place:
        environment = {"PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": f"{place}/kernels"}
        environment |= {} if ahead else {"NOREN_KERNELS": f"{place}/objects"}
        first, second = (
            run(sys.executable, "-c", LISTENING, f"{place}/{name}", environment=environment)
            for name in ("first", "second")
        )
        if not (first.ok and second.ok):
            raise SystemExit(first.output + second.output)
        return first, second, [tuple(one) for one in json.loads(Path(f"{place}/first.json").read_text())]


def compiling(before: Path | None) -> list[str]:
    """Return the paragraphs on what a first demo compiles, also of an earlier version."""
    rows, spent = [], []
    made = run(sys.executable, "-m", "noren.compile_ahead", environment={"PYTHONPATH": str(SOURCES)})
    if not made.ok:
        raise SystemExit(made.output)
    for name, sources, ahead in (
        ("before", before, False),
        ("compiled ahead", SOURCES, True),
        ("nothing compiled ahead", SOURCES, False),
    ):
        if sources is None:
            continue
        first, second, spent = two_demos(sources, ahead=ahead)
        more = first.processor_seconds - second.processor_seconds
        seconds = (first.processor_seconds, second.processor_seconds, more, sum(took for *_of, took in spent))
        rows.append([name, *(f"{x:.1f}" for x in seconds), str(len(spent))])
    by = Counter[str]()
    many = Counter[str]()
    for module, function, seconds in spent:
        of = f"{module.removeprefix('noren.kernels.')}.{function}" if module.startswith("noren.") else "Numba's own"
        by[of] += seconds
        many[of] += 1
    kernels = [[f"`{of}`" if "." in of else of, str(many[of]), f"{seconds:.2f}"] for of, seconds in by.most_common()]
    return [
        "## What a first `noren demo` compiles",
        "Processor seconds, children included: a demo of 60 customers and 2,000 rows with nothing kept by Numba, the"
        " next one, and the difference; then what the first spent on compiling, and how many functions. Runs of one"
        " table follow one another on one machine; a busy machine makes all of them dearer. *Compiled ahead* is what"
        " `make setup` makes once (`python -m noren.compile_ahead`) and what a wheel brings along.",
        table(["", "first demo, s", "second demo, s", "difference, s", "compiling, s", "functions"], rows),
        "Function by function, without what each calls, where nothing is compiled ahead:"
        f" {len(spent)} compiled, {sum(by.values()):.1f} s.",
        table(["function", "signatures", "s"], kernels),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the sources of an earlier version")
    before = parser.parse_args().before
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
    paragraphs += compiling(before)
    report("startup", "Starting", *paragraphs, facts("noren", "typer", "pydantic", "numba"))


if __name__ == "__main__":
    main()
