"""Counts with central noise against rows with retention, at equal ε: S4's four cross tabulations of Adult.

``retention`` perturbs rows, and ``reconstruct`` with the model ``auto`` estimates the table from them; nobody has to be
trusted with it but whoever shuffles. ``dp-counts`` publishes the table alone, with noise that a trusted steward adds.
About 20 minutes of one processor, most of it reconstruction::

    python benchmarks/bench_dp_counts.py [--repeats 20] [--seeds 20]

It needs the published data beside the checkout.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from machine import facts, report, table
from scipy.stats import t as student

from noren.data.frames import Table
from noren.data.reading import read
from noren.kernels.reconstruction.privacy import shuffled_epsilon
from noren.measures.utility.l1_precision import precision
from noren.reproduce.s4_work import AGES, ATTRIBUTES, adult
from noren.tabulations.dp_counts import dp_counts

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 32_561
EPSILONS = {k: shuffled_epsilon(np.log((ROWS - 1) / (k - 1)) / 2, ROWS, 1e-6) for k in (2, 5, 10)}
"""What shuffled rows of retention with k on Adult are at most, at δ = 10⁻⁶ (replacement of one row)."""


def retained(work: tuple[str, int, int]) -> float:
    """Return the precision in per cent of a table reconstructed from rows with retention."""
    return float(adult(*work, "auto")["reconstructed"])


def counted(people: Table, name: str, epsilon: float) -> float:
    """Return the precision in per cent of a table of counts."""
    columns = [AGES if column == "age" else column for column in ATTRIBUTES[name]]
    released = dp_counts(people, epsilon, [columns])[0].frame["rows"].to_numpy()
    true = dp_counts(people, 1e6, [columns])[0].frame["rows"].to_numpy()
    assert true.sum() == len(people)
    return 100 * precision(np.asarray(true, float), np.asarray(released, float))


def interval(values: list[float]) -> str:
    """Return a mean and half of the width of its 95 % interval."""
    if len(values) < 2:
        return f"{values[0]:.2f}"
    half = student.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.2f} ± {half:.2f}"


def main() -> None:
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20, help="of dp-counts")
    parser.add_argument("--seeds", type=int, default=20, help="of retention")
    options = parser.parse_args()
    people = read(SHARED / "adult.data", "adult").data
    assert isinstance(people, Table)
    work = list(product(ATTRIBUTES, EPSILONS, range(options.seeds)))
    # a fork of a process whose libraries have threads may hang
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        rows = dict(zip(work, pool.map(retained, work), strict=True))
    lines = []
    for name, (k, epsilon) in product(ATTRIBUTES, EPSILONS.items()):
        by_rows = [rows[name, k, seed] for seed in range(options.seeds)]
        by_counts = [counted(people, name, epsilon) for _ in range(options.repeats)]
        lines.append([name, str(k), f"{epsilon:g}", interval(by_rows), interval(by_counts)])
    report(
        "dp-counts",
        "Counts with central noise against rows with retention",
        f"L1 precision in per cent of S4's tables of Adult (32,561 rows), means with 95 % intervals: {options.seeds}"
        f" seeds of retention, {options.repeats} repeats of `dp-counts`. ε is that of retention's shuffled rows at"
        " δ = 10⁻⁶, and `dp-counts` spends the same ε, with δ = 0; both count the replacement of one row.",
        table(["table", "k", "ε", "retention, `auto`", "`dp-counts`"], lines),
        facts("numpy", "scipy", "opendp"),
    )


if __name__ == "__main__":
    main()
