"""Generalisation of the PWS Cup 2018 final data: error, deleted rows, seconds, peak memory and lower bound; and blocks.

python benchmarks/bench_generalize.py [methods] [categories] [blocks] [efforts] [--data T.csv] [--k 2,3,4,6,10]
                                      [--efforts quick,normal,thorough]

Each part writes results of its own: the methods side by side, what categories gain, what blocks cost, what time gains.

Every run is a process of its own, so compiling or loading compiled code and reading the data are counted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
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
S1_SIZES = [1233, 534, 471, 271, 201, 161, 150, 50, 45, 34, 6, *[12] * 8]
HEAD = ["k", "method", "U", "lower bound", "deleted rows", "seconds", "processor seconds", "peak memory, MB"]


def line(where: str, label: str, method: str, parameters: dict[str, object]) -> list[str]:
    done = run_python(ONE, where, method, json.dumps(parameters))
    result_lines = [text for text in done.output.splitlines() if text.startswith("RESULT ")]
    if not done.ok or not result_lines:
        sys.exit(f"{label} ended with {done.code}: {done.output.strip()[-800:]}")
    result = json.loads(result_lines[0].removeprefix("RESULT "))
    bound = result.get("lower_bound")
    row = [
        str(parameters.get("k", "mixed")),
        label,
        f"{result['U']:.5f}",
        "" if bound is None else f"{bound:.5f}" + (" (optimal)" if result.get("proved_optimal") else ""),
        f"{result['deleted']:,}",
        f"{done.seconds:.1f}",
        f"{done.processor_seconds:.1f}",
        f"{done.peak_bytes / 1e6:,.0f}",
    ]
    print(*row, sep="  ", flush=True)
    return row


def methods(data: str, ks: list[int], efforts: list[str]) -> None:
    rows: dict[tuple[int, int], list[str]] = {}

    def run(k: int, place: int, label: str, method: str, parameters: dict[str, object]) -> None:
        rows[k, place] = line(data, label, method, parameters)
        report(  # after every run: the long ones come last
            "generalize",
            "Generalising histories",
            "PWS Cup 2018, final data: 1,000 customers, 89,278 rows. Each run in a fresh process, once, seed 1; "
            "reading the data and loading compiled code are counted. For k = 2 the effort makes no difference.",
            table(HEAD, [rows[key] for key in sorted(rows)]),
            facts("noren", "numpy", "numba", "scipy", "polars"),
        )

    for k in ks:
        run(k, 0, "by count (S1)", "generalize-by-count", {"k": k})
        run(k, 1, "by count, cells suppressed", "generalize-by-count", {"k": k, "suppress_cells": True})
    for place, effort in enumerate(efforts, start=2):
        for k in ks:
            if k > 2 or effort == "normal":
                bounded = {"k": k, "effort": effort, "lower_bound": "exact"}
                run(k, place, f"generalize {effort}", "generalize", bounded)
        if effort == "normal":
            run(99, 0, "generalize, survival 0.9", "generalize", {"survival": 0.9, "min_class": 2, "effort": effort})


def categories(data: str, ks: list[int], names: str) -> None:
    derive = (
        "import sys; from noren.cli import main; sys.argv = ['noren', 'categorize', sys.argv[1], '--schema', "
        "'pwscup2018', '--names', sys.argv[2], '--out', sys.argv[3]]; main()"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        derived, dealt = Path(folder) / "derived.csv", Path(folder) / "dealt.csv"
        done = run_python(derive, data, names, str(derived))
        if not derived.exists():
            sys.exit(done.output)
        deal_at_random(derived, dealt)
        for k in ks:
            for label, method, more in (
                ("by count (S1)", "generalize-by-count", {}),
                ("generalize quick", "generalize", {"effort": "quick"}),
            ):
                lines = [
                    line(data, f"{label}, {words}", method, {"k": k, **more, **parameters})
                    for words, parameters in (
                        ("items", {}),
                        ("derived categories", {"categories": str(derived)}),
                        ("dealt at random", {"categories": str(dealt)}),
                    )
                ]
                values = [float(row[2]) for row in lines]
                gains = [f"{values[0] - value:.4f}" for value in values[1:]]
                rows.append([str(k), label, *(f"{value:.4f}" for value in values), *gains])
    head = ["k", "method", "U of items", "U derived", "U dealt", "gain derived", "gain dealt"]
    report(
        "generalize-categories",
        "What categories gain",
        "PWS Cup 2018, final data, 19 categories: derived from the items' names (`noren categorize`, seed 0), and "
        "items dealt at random into categories of the sizes S1 lists (its largest holds 38 % of the items). S1 prints "
        "gains of .021 to .025 on the preliminary data. Once, seed 1.",
        table(head, rows),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


def deal_at_random(derived: Path, dealt: Path) -> None:
    """Write the same items in categories of S1's sizes, by lot."""
    items = sorted(text.split(",")[0] for text in derived.read_text().splitlines()[1:])
    random.Random(1).shuffle(items)
    shares = [size / sum(S1_SIZES) for size in S1_SIZES]
    ends = [round(len(items) * sum(shares[: i + 1])) for i in range(len(shares))]
    lines = ["item,category"]
    for at, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        lines += [f"{item},c{at}" for item in items[first:last]]
    dealt.write_text("\n".join(lines) + "\n")


def blocks(data: str) -> None:
    rows = []
    for where, sizes in ((data, (None, 500, 250)), ("sample", (None, 1000, 500))):
        for k in (2, 3):
            for size in sizes:
                people = "1,000" if where != "sample" else "4,000 (sample)"
                label = f"{people} customers, " + ("whole" if size is None else f"blocks of {size}")
                rows.append(line(where, label, "generalize", {"k": k, "effort": "quick", "block": size}))
    report(
        "generalize-blocks",
        "What blocks cost",
        "Effort quick, customers cut into blocks by row count; the PWS Cup 2018 final data, and 4,000 generated "
        "customers with 360,000 rows. Each run in a fresh process, once, seed 1.",
        table(HEAD, rows),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


def efforts_side_by_side(data: str, ks: list[int], efforts: list[str]) -> None:
    rows: dict[tuple[int, int], list[str]] = {}
    for place, effort in enumerate(efforts):
        for k in (k for k in ks if k > 2):
            done = line(data, effort, "generalize", {"k": k, "effort": effort})
            rows[k, place] = [done[0], effort, done[2], done[6], done[7]]
            report(
                "generalize-efforts",
                "What time gains",
                "PWS Cup 2018, final data: 1,000 customers, 89,278 rows. Each run in a fresh process, once, seed 1, "
                "without a lower bound; reading the data and loading compiled code are counted.",
                table(
                    ["k", "effort", "U", "processor seconds", "peak memory, MB"], [rows[key] for key in sorted(rows)]
                ),
                facts("noren", "numpy", "numba", "scipy", "polars"),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("parts", nargs="*", default=["methods", "categories", "blocks", "efforts"])
    parser.add_argument("--data", default=str(shared / "pwscup2018_final_T.csv"))
    parser.add_argument("--names", default=str(shared / "online_retail.parquet"))
    parser.add_argument("--k", default="2,3,4,6,10")
    parser.add_argument("--efforts", default="quick,normal,thorough")
    options = parser.parse_args()
    ks = [int(text) for text in options.k.split(",")]
    if "methods" in options.parts:
        methods(options.data, ks, options.efforts.split(","))
    if "categories" in options.parts:
        categories(options.data, ks, options.names)
    if "efforts" in options.parts:
        efforts_side_by_side(options.data, ks, options.efforts.split(","))
    if "blocks" in options.parts:
        blocks(options.data)


if __name__ == "__main__":
    main()
