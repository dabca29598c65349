"""``noren unicity``: Online Retail by what is known, beside a release of it, and a million generated customers.

python benchmarks/bench_unicity.py [--customers 1000000] [--rows 10000000]

The bars are 60 seconds for Online Retail and 600 for a million customers. Each command runs once, in a process of its
own that reads the file first. Online Retail is left out where the published data are not at hand.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from machine import Run, facts, report, run, table

RETAIL = Path(__file__).resolve().parents[2] / "shared" / "data" / "online_retail.parquet"
KNOWLEDGE = (
    ("day, item", ()),
    ("day, item, every customer", ("--all",)),
    ("week, item", ("--date", "week")),
    ("month, item", ("--date", "month")),
    ("month, item, price to tens", ("--date", "month", "--price", "round:10")),
    ("week, two first signs of the item", ("--date", "week", "--item", "prefix:2")),
    ("month alone", ("--columns", "date", "--date", "month")),
)
HEAD = ["known", "customers", "1 known", "2", "4", "8", "seconds", "processor seconds", "peak memory, MB"]


def noren(*words: str) -> Run:
    done = run(sys.executable, "-m", "noren", *words)
    if not done.ok:
        sys.exit(f"noren {words[0]} ended with {done.code}: {done.output.strip()[-500:]}")
    return done


def line(label: str, part: str, *words: str) -> list[str]:
    done = noren("unicity", *words, "--json")
    result = json.loads(done.output[done.output.index("{") :])
    steps = {step["known"]: step for step in result[part]}
    share = {"curve": ("unique", "low", "high"), "release": ("forgiving", "forgiving_low", "forgiving_high")}[part]
    cells = [
        "–" if p not in steps else "{:.1%} ({:.1%} – {:.1%})".format(*(steps[p][name] for name in share))
        for p in (1, 2, 4, 8)
    ]
    cost = [f"{done.seconds:.1f}", f"{done.processor_seconds:.1f}", f"{done.peak_bytes / 1e6:,.0f}"]
    return [label, f"{result['sampled']:,} of {result['customers']:,}", *cells, *cost]


def retail(folder: Path) -> str:
    data = (str(RETAIL), "--schema", "online-retail")
    rows = [line(label, "curve", *data, *words) for label, words in KNOWLEDGE]
    for method, words in (("pseudonymize", ()), ("swap", ()), ("generalize-by-count", ("--k", "5"))):
        out = folder / method
        noren("protect", *data, "--method", method, *words, "--seed", "1", "--out", str(out), "--json")
        rows.append(
            line(f"release by {' '.join((method, *words))}: day, item", "release", data[0], str(out), *data[1:])
        )
    return table(HEAD, rows)


def generated(folder: Path, customers: int, rows: int) -> str:
    out = folder / "sample.parquet"
    noren("sample", "--customers", str(customers), "--rows", str(rows), "--seed", "1", "--out", str(out))
    lines = [
        line(label, "curve", str(out), "--schema", "sample", *words) for label, words in (KNOWLEDGE[0], KNOWLEDGE[-1])
    ]
    return table(HEAD, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--customers", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    parts = []
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as folder:
        if RETAIL.exists():
            parts += ["## Online Retail, 541,909 rows", retail(Path(folder))]
        parts += [
            f"## {options.customers:,} generated customers, {options.rows:,} rows",
            generated(Path(folder), options.customers, options.rows),
        ]
    report(
        "unicity",
        "How much knowledge singles a customer out",
        "`noren unicity … --known 1-20 --json`, each in a fresh process, once, reading the file included. Shares are of"
        " the customers asked about who have so many different purchases, with their intervals of 95 %; of a release it"
        " is the share found rightly by somebody who passes over purchases that do not fit. The bars are 60 seconds for"
        " Online Retail and 600 for a million customers, on two free cores: where the load below is higher than that,"
        " the processor seconds tell more than the clock.",
        *parts,
        facts("noren", "numpy", "polars", "numba"),
    )


if __name__ == "__main__":
    main()
