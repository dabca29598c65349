"""What it costs that date intervals stay within a week or a month: U, deleted rows, the sales of each month.

The four shops of ``bench_analyst.py`` are protected by ``generalize`` with k = 5 (effort quick) under five seeds, with
and without ``--within``. About half an hour on one core::

    python benchmarks/bench_within.py

It needs the published data beside the checkout.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl
from bench_analyst import SEEDS, SHARED, K, midpoints, shops, written
from machine import facts, report, table

from noren import api
from noren.data.frames import History

WITHIN = ("", "month", "week")


def run(original: History, within: str, seed: int) -> dict[str, float]:
    """Return what one release keeps of dates; a row counts in the month of its interval's middle."""
    begin = time.process_time()
    settings = {"within": [within]} if within else {}
    release = api.protect(original, "generalize", k=K, effort="quick", seed=seed, audit=False, **settings)
    seconds = time.process_time() - begin
    public, date = release.public, original.schema.role("date").name
    assert isinstance(public, History)
    month = pl.col(date).dt.strftime("%Y-%m")
    true_months, months = (side.frame.select(month).to_series() for side in (original, midpoints(public)))
    counts = pl.DataFrame({"month": true_months}).group_by("month").len("before")
    after = pl.DataFrame({"month": months}).group_by("month").len("after")
    counts = counts.join(after, on="month", how="left").fill_null(0)
    right = (months == true_months.gather(release.secret.origin)).fill_null(value=False)
    return {
        "U": float(release.statement.notes["U"]),
        "deleted": 1 - len(public) / len(original),
        "r": float(np.corrcoef(counts["before"], counts["after"])[0, 1]),
        "right": float(right.mean() or 0.0),
        "seconds": seconds,
    }


def main() -> None:
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    lines = []
    for name, original in shops().items():
        for within in WITHIN:
            runs = [run(original, within, seed) for seed in SEEDS]
            columns = (written([one[fact] for one in runs]) for fact in ("U", "deleted", "r", "right"))
            lines.append([name, within or "–", *columns, f"{np.mean([one['seconds'] for one in runs]):.0f}"])
            print(lines[-1], file=sys.stderr)
    report(
        "within",
        "Date intervals that stay within a week or a month",
        f"`generalize`, k = {K}, effort quick, with and without `--within`, {len(SEEDS)} seeds: means with 95 %"
        " intervals of the mean. *Deleted* is the share of rows not published; *r* the correlation of rows per month"
        " between original and release, a row counting in the month of its interval's middle; *right* the share of"
        " published rows whose middle lies in the true month.",
        table(["shop", "within", "U", "deleted", "r", "right", "processor seconds"], lines),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


if __name__ == "__main__":
    main()
