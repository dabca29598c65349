"""All nine Adult attributes at once (571,536,000 cells): the tables of one and of two attributes, on a processor.

python benchmarks/bench_nine_attributes.py [--data adult.data] [--seeds 3] [--drawn 1000000]

L1 precision in per cent, mean over attributes or pairs and over seeds, of the perturbed tables, of each table
reconstructed alone (`noren reconstruct --attributes …`), and of all of them together (`noren reconstruct`). Time and
memory are those of the command. With more rows more is seen: the last line draws rows of Adult with replacement.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from machine import facts, report, run, run_python, table

WORK = """
import sys, json
from itertools import combinations
import numpy as np
from noren.api import protect, reconstruct
from noren.data.frames import Table
from noren.retention.perturbation import perturbation_of
from noren.data.reading import read
from noren.measures.utility.l1_precision import precision
from noren.methods.retention import Retention

data, k, seed, rows, folder, alone = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5], sys.argv[6] == "alone"
original = read(data, "adult").data
if rows:
    drawn = np.random.default_rng(seed).integers(0, len(original), rows)
    original = Table(original.frame[drawn], original.schema)
names = tuple(c.name for c in original.schema.columns if c.role == "quasi")
release = Retention(attributes=names, k=k, classes=("age=20..90:5",)).protect(original, seed=seed)
release.publish(folder)
made = perturbation_of(release.public, release.statement)
codes, places = made.codes(original.frame), made.places(release.public.frame)
together = reconstruct(release, "auto")
records = together.perturbation.places(together.records())
found = {"rho": made.rhos[0]}
for count in (1, 2):
    for kept in combinations(range(len(names)), count):
        some = made.only(kept)
        x = some.table([codes[a] for a in kept])
        tables = {
            "perturbed": some.table([places[a] for a in kept]),
            "together": together.margin(some.names),
            "records": some.table([records[a] for a in kept]),
        }
        if alone:
            tables["alone"] = reconstruct(release, "auto", attributes=some.names).table
        for what, y in tables.items():
            found[f"{count} {what} {'+'.join(map(str, kept))}"] = 100 * precision(x, y)
print(json.dumps(found))
"""
WAYS = ("perturbed", "alone", "together", "records")
NAMES = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
)  # fmt: skip


def mean(runs: list[dict[str, float]], start: str) -> str:
    values = [value for scores in runs for name, value in scores.items() if name.startswith(start)]
    return f"{sum(values) / len(values):.1f}" if values else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(__file__).resolve().parents[2] / "shared"
    parser.add_argument("--data", default=str(shared / "data" / "adult.data"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--drawn", type=int, default=1_000_000)
    options = parser.parse_args()
    lines, by_attribute, spent = [], [], []
    with TemporaryDirectory() as folder:
        for rows, k in ((0, 2), (0, 5), (0, 10), (options.drawn, 2)):
            runs = []
            for seed in range(1, options.seeds + 1):
                place = str(Path(folder) / f"{rows}-{k}-{seed}")
                done = run_python(WORK, options.data, str(k), str(seed), str(rows), place, "alone")
                if not done.ok:
                    raise SystemExit(done.output)
                runs.append(json.loads(done.output.splitlines()[-1]))
                command = [sys.executable, "-m", "noren", "reconstruct", place, "--out", f"{place}.parquet"]
                timed = run(*command)
                if not timed.ok:
                    raise SystemExit(timed.output)
                spent.append((f"{rows or 32_561:,}", timed))
            lines.append(
                [
                    f"{rows or 32_561:,}, k = {k}",
                    f"{runs[0]['rho']:.4f}",
                    *(mean(runs, f"1 {way} ") for way in WAYS[:3]),
                    *(mean(runs, f"2 {way} ") for way in WAYS),
                ]
            )
            if (rows, k) == (0, 2):
                by_attribute = [
                    [name, *(mean(runs, f"1 {way} {a}") for way in WAYS[:3])] for a, name in enumerate(NAMES)
                ]
    head = ["rows", "rho", "one: perturbed", "alone", "together", "two: perturbed", "alone", "together", "records"]
    costs = [
        [
            rows,
            f"{max(t.seconds for r, t in spent if r == rows):.1f}",
            f"{max(t.processor_seconds for r, t in spent if r == rows):.1f}",
            f"{max(t.peak_bytes for r, t in spent if r == rows) / 2**20:.0f}",
        ]
        for rows in dict.fromkeys(r for r, _t in spent)
    ]
    report(
        "nine-attributes",
        "Nine Adult attributes at once",
        f"571,536,000 cells. L1 precision in per cent, mean over the 9 tables of one attribute and the "
        f"{len(list(combinations(NAMES, 2)))} of two, over {options.seeds} seeds. `together` is `noren reconstruct`, "
        "`records` are the whole records it writes; `alone` reconstructs each table by itself. The last line draws "
        "Adult's rows with replacement.",
        table(head, lines),
        "Each attribute, 32,561 rows, k = 2:",
        table(["attribute", *WAYS[:3]], by_attribute),
        "`noren reconstruct`, the slowest of its runs:",
        table(["rows", "seconds", "processor seconds", "peak MB"], costs),
        facts("noren", "numpy", "polars"),
    )


if __name__ == "__main__":
    main()
