"""What it costs that date intervals stay within a month: U, deleted rows, the sales of each month, with and without.

    python benchmarks/bench_within.py [--k 5] [--seeds 1,2,3,4,5] [--data shop,groceries,retail,final]

Every run is a process of its own; results are reported after each, of some of the data under their names. It needs the
published data beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from machine import facts, report, run_python, table
from scipy.stats import t

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ONE = """
import json, sys, time
import numpy as np
import polars as pl
import noren
from noren import api
from noren.data.frames import History
from noren.data.reading import read
from noren.data.schema import Schema

shared, name, k, seed, within = json.loads(sys.argv[1])


def history(frame, **roles):
    columns = {column: {"role": role} for role, column in roles.items()}
    named = Schema.of({"columns": columns})
    return History.of(frame.select(named.names), named)


if name == "shop":
    original = noren.sample(customers=600, rows=24_000, items=400, seed=1)
elif name == "final":
    original = read(shared + "/pwscup2018_final_T.csv", "pwscup2018").data
elif name == "groceries":
    frame = pl.read_parquet(shared + "/groceries_members.parquet")
    customer, date, item = frame.columns[:3]
    original = history(frame.with_columns(pl.col(customer).cast(pl.String)), customer=customer, date=date, item=item)
else:  # a thousand customers, drawn once
    frame = pl.read_parquet(shared + "/online_retail.parquet").drop_nulls("CustomerID")
    frame = frame.filter((pl.col("Quantity") > 0) & (pl.col("UnitPrice") > 0))
    frame = frame.with_columns(pl.col("CustomerID").cast(pl.Int64).cast(pl.String), pl.col("InvoiceDate").cast(pl.Date))
    drawn = frame["CustomerID"].unique().sort().sample(1000, seed=1).to_list()
    original = history(
        frame.filter(pl.col("CustomerID").is_in(drawn)),
        customer="CustomerID", date="InvoiceDate", item="StockCode", price="UnitPrice", quantity="Quantity",
    )

begin = time.process_time()
settings = {"within": ["month"]} if within else {}
release = api.protect(original, "generalize", k=k, effort="quick", seed=seed, audit=False, **settings)
seconds = time.process_time() - begin
date = original.schema.role("date").name
public, truth = release.public.frame[date], original.frame[date]
middle = (public.struct.field("lo").cast(pl.Int32) + public.struct.field("hi").cast(pl.Int32)) // 2
month = lambda days: days.cast(pl.Date).dt.strftime("%Y-%m")
true_months, months = month(truth), month(middle)
counts = [
    true_months.value_counts().rename({date: "month", "count": "before"}),
    months.drop_nulls().alias("month").value_counts(name="after"),
]
both = counts[0].join(counts[1], on="month", how="left").fill_null(0)
right = (months == true_months.gather(release.secret.origin)).fill_null(False).sum()
print("RESULT", json.dumps({
    "rows": len(original),
    "customers": original.frame[original.schema.role("customer").name].n_unique(),
    "U": release.statement.notes["U"],
    "deleted": 1 - len(public) / len(original),
    "r": float(np.corrcoef(both["before"], both["after"])[0, 1]),
    "right": right / len(public),
    "seconds": seconds,
}))
"""
NAMES = {
    "shop": "generated shop",
    "groceries": "Groceries",
    "retail": "Online Retail, 1,000 customers drawn",
    "final": "PWS Cup 2018, final data",
}
Answer = dict[str, float]


def answer(arguments: Sequence[object]) -> Answer:
    done = run_python(ONE, json.dumps(arguments))
    lines = [text for text in done.output.splitlines() if text.startswith("RESULT ")]
    if not done.ok or not lines:
        sys.exit(f"{arguments} ended with {done.code}: {done.output.strip()[-800:]}")
    result: Answer = json.loads(lines[0].removeprefix("RESULT "))
    return result


def interval(values: Sequence[float]) -> str:
    """Return the mean and half the width of its 95 % interval."""
    mean = f"{statistics.fmean(values):.3f}"
    if len(values) < 2:
        return mean
    half = float(t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean} ± {half:.3f}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--k", type=int, default=5)
    words.add_argument("--seeds", default="1,2,3,4,5")
    words.add_argument("--data", default=",".join(NAMES))
    options = words.parse_args()
    answers: dict[tuple[str, bool], list[Answer]] = {}
    for name in options.data.split(","):
        for seed in map(int, options.seeds.split(",")):
            for within in (False, True):
                result = answer([str(SHARED), name, options.k, seed, within])
                answers.setdefault((name, within), []).append(result)
                show(options.k, answers, "within" if options.data == ",".join(NAMES) else f"within_{options.data}")


def show(k: int, answers: dict[tuple[str, bool], list[Answer]], name_of_results: str) -> None:
    rows = [
        [
            f"{NAMES[name]} ({results[0]['customers']:,.0f} customers, {results[0]['rows']:,.0f} rows)",
            "month" if within else "–",
            *(interval([result[fact] for result in results]) for fact in ("U", "deleted", "r", "right")),
            str(len(results)),
            f"{statistics.fmean(result['seconds'] for result in results):.0f}",
        ]
        for (name, within), results in sorted(
            answers.items(), key=lambda pair: (list(NAMES).index(pair[0][0]), pair[0][1])
        )
    ]
    report(
        name_of_results,
        "Date intervals that stay within a month",
        f"`generalize`, k = {k}, effort quick, with and without `--within month`; means over the seeds and their 95 % "
        "intervals. *Deleted* is the share of rows not published; *r* the correlation of rows per month between "
        "original and release, a row counting in the month of its interval's middle; *right* the share of published "
        "rows whose middle lies in the true month.",
        table(["data", "within", "U", "deleted", "r", "right", "seeds", "processor seconds"], rows),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


if __name__ == "__main__":
    main()
