"""Generalisation of the PWS Cup 2018 final data: error, deleted rows, seconds, peak memory and lower bound; and blocks.

python benchmarks/bench_generalize.py [--data T.csv] [--k 2,3,4,6,10] [--efforts quick,normal,thorough] [--no-blocks]

Every run is a process of its own, so compiling or loading compiled code and reading the data are counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from machine import facts, report, run_python, table

ONE = """
import json, sys
from noren.api import measure, protect, sample
from noren.data.reading import read
where, method, parameters = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
original = sample(customers=4000, rows=360_000, seed=1) if where == "sample" else read(where, "pwscup2018").data
release = protect(original, method, seed=1, **parameters)
said = {"U": measure(original, release, "cell-error").value, "deleted": release.deleted_rows}
print("RESULT", json.dumps(said | release.statement.notes))
"""
HEAD = ["k", "method", "U", "lower bound", "deleted rows", "seconds", "processor seconds", "peak memory, MB"]


def line(where: str, label: str, method: str, parameters: dict[str, object]) -> list[str]:
    done = run_python(ONE, where, method, json.dumps(parameters))
    found = [text for text in done.said.splitlines() if text.startswith("RESULT ")]
    if not done.ok or not found:
        sys.exit(f"{label} ended with {done.code}: {done.said.strip()[-800:]}")
    said = json.loads(found[0].removeprefix("RESULT "))
    bound = said.get("lower_bound")
    row = [
        str(parameters["k"]),
        label,
        f"{said['U']:.5f}",
        "" if bound is None else f"{bound:.5f}" + (" (optimal)" if said.get("proved_optimal") else ""),
        f"{said['deleted']:,}",
        f"{done.seconds:.1f}",
        f"{done.processor_seconds:.1f}",
        f"{done.peak_bytes / 1e6:,.0f}",
    ]
    print(*row, sep="  ", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2018_final_T.csv"
    parser.add_argument("--data", default=str(shared))
    parser.add_argument("--k", default="2,3,4,6,10")
    parser.add_argument("--efforts", default="quick,normal,thorough")
    parser.add_argument("--no-blocks", action="store_true")
    asked = parser.parse_args()
    rows, blocks = [], []
    for k in (int(text) for text in asked.k.split(",")):
        rows.append(line(asked.data, "by count (S1)", "generalize-by-count", {"k": k}))
        rows.append(
            line(asked.data, "by count, cells suppressed", "generalize-by-count", {"k": k, "suppress_cells": True})
        )
        efforts = asked.efforts.split(",") if k > 2 else ["normal"]
        rows += [line(asked.data, f"generalize {e}", "generalize", {"k": k, "effort": e}) for e in efforts]
    paragraphs = [
        "PWS Cup 2018, final data: 1,000 customers, 89,278 rows. Each run in a fresh process, once, seed 1; reading "
        "the data and loading compiled code are counted. For k = 2 the effort makes no difference.",
        table(HEAD, rows),
    ]
    if not asked.no_blocks:
        for where, sizes in ((asked.data, (None, 500, 250)), ("sample", (None, 1000, 500))):
            for k in (2, 3):
                for size in sizes:
                    people = "1,000" if where != "sample" else "4,000 (sample)"
                    label = f"{people} customers, " + ("whole" if size is None else f"blocks of {size}")
                    blocks.append(line(where, label, "generalize", {"k": k, "effort": "quick", "block": size}))
        paragraphs += [
            "What blocks cost: the same at effort quick, customers cut into blocks by row count.",
            table(HEAD, blocks),
        ]
    report("generalize", "Generalising histories", *paragraphs, facts("noren", "numpy", "numba", "scipy", "polars"))


if __name__ == "__main__":
    main()
