"""Components at sizes and shapes that nobody would choose: seconds, peak memory, and the result or why there is none.

python benchmarks/bench_shapes.py [--seconds 60] [--sizes 3 2001 20000]
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from machine import facts, report, table

CHILD = """
import resource, sys, time
from noren import api
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import NorenError
kind, name, shape, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
bought = {"equal": lambda i: (0, 0), "different": lambda i: (i, i), "ties": lambda i: (i % 7, i % 11)}[shape]
pairs = [bought(i) for i in range(size)]
original = History.of({"customer": [f"c{i}" for i in range(size)], "date": ["2010/12/1"] * size,
    "item": [f"i{a}" for a, _b in pairs], "price": [1.0 + b for _a, b in pairs], "quantity": [1] * size},
    Schema.preset("pwscup2018"))
begin = time.process_time()
try:
    if kind == "method":
        release = api.protect(original, name, k=3, seed=1)
        said = f"{len(release.public):,} rows"
    else:
        release = api.protect(original, "generalize-by-count", k=3, seed=1, audit=False)
        begin = time.process_time()
        if kind == "attack":
            said = f"{len(api.attack(original, release, name, seed=1)):,} named"
        else:
            said = f"{api.measure(original, release, name).value:.4g}"
except NorenError as error:
    said = str(error)
print(f"{time.process_time() - begin:.1f}|{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}|{said}")
"""

COMPONENTS = (
    ("method", "generalize-by-count"),
    ("measure", "classes"),
    ("measure", "survival"),
    ("attack", "consistency"),
    ("attack", "unique-rows"),
    ("attack", "jaccard"),
    ("attack", "linkage"),
    ("attack", "nearest"),
    ("attack", "s1"),
)
SHAPES = ("equal", "different", "ties")


def measured(kind: str, name: str, shape: str, size: int, seconds: float) -> tuple[str, str, str]:
    """Return the processor's seconds, peak memory in MB and the result of one run in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, kind, name, shape, str(size)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"> {seconds:.0f} (wall)", "", "unfinished"
    if done.returncode:
        return "", "", (done.stderr.strip().splitlines() or ["ended without a word"])[-1]
    spent, memory, output = done.stdout.strip().splitlines()[-1].split("|", 2)
    return spent, memory, output


def main() -> None:
    """Measure every component at every size and shape."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 2001, 20_000])
    options = parser.parse_args()
    rows = []
    for kind, name in COMPONENTS:
        for size in options.sizes:
            for shape in SHAPES:
                rows.append((name, shape, f"{size:,}", *measured(kind, name, shape, size, options.seconds)))
                print(*rows[-1], flush=True)
    head = ("component", "histories", "customers", "processor, s", "peak memory, MB", "result")
    report(
        "shapes",
        "Any size, any shape",
        "One purchase of each customer: all equal, all different, or 77 kinds. Attacks and measures on a release by"
        " `generalize-by-count`, k = 3; methods are audited. Each run in a process of its own, compiled kernels kept.",
        table(head, rows),
        facts("numpy", "numba", "polars", "scipy"),
    )


if __name__ == "__main__":
    main()
