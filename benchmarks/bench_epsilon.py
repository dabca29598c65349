"""ε of retention: the bound for shuffled rows, the exact ε of small tables, and what audits find.

The exact ε is found by enumerating every table of counts that can be released of a few rows, for every original and
every replacement of a row. Audits are lower bounds of 95 %. A minute::

    python benchmarks/bench_epsilon.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import numpy as np
from machine import facts, report, table

from noren.kernels.reconstruction.privacy import local_epsilon, shuffled_delta, shuffled_epsilon
from noren.kernels.reconstruction.retention import Channel, laplace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.kernels.reconstruction.test_privacy import exact_delta, matrix
from tests.retention.audits import row_epsilon, table_epsilon
from tests.retention.test_privacy_audit import epsilon_of, plan_of

DELTA = 1e-6
PUBLISHED = {(32561, 2): "0.65", (32561, 5): "0.43", (32561, 10): "0.35", (10**6, 2): "0.25"}
SMALL: list[tuple[str, list[Channel], list[int], int]] = [
    ("2 values, ρ = 0.5", [0.5], [2], 8),
    ("3 values, ρ = 0.5", [0.5], [3], 8),
    ("5 values, ρ = 0.3", [0.3], [5], 4),
    ("2 · 3 values, ρ = 0.3, 0.5", [0.3, 0.5], [2, 3], 3),
    ("bounded noise, 3 points, q = 0.5", [laplace(3, 0.5)], [3], 7),
    ("bounded noise, 4 points, q = 0.5", [laplace(4, 0.5)], [4], 4),
]
SEED, COINS, RUNS = 1, 200_000, 50_000


def tables() -> list[list[str]]:
    """Return ε of tables of Adult's size and others, with the processor time of each bound."""
    lines = []
    for rows in (10**4, 32561, 10**5, 10**6):
        for k in (2, 5, 10):
            local = float(np.log((rows - 1) / (k - 1)) / 2)
            start = process_time()
            epsilon = shuffled_epsilon(local, rows, DELTA)
            spent = process_time() - start
            published = PUBLISHED.get((rows, k), "")
            lines.append([f"{rows:,}", str(k), f"{local:.2f}", f"{epsilon:.4f}", published, f"{1000 * spent:.0f}"])
    return lines


def small_tables() -> list[list[str]]:
    """Return δ of small tables at some ε: exact beside the bound."""
    lines = []
    for name, channels, sizes, rows in SMALL:
        joint, local = matrix(channels, sizes), local_epsilon(channels, sizes)
        for share in (0.25, 0.5, 0.75):
            exact, bound = exact_delta(joint, rows, share * local), shuffled_delta(share * local, local, rows)
            ratio = f"{bound / exact:.2f}" if exact else "–"
            lines.append([name, str(rows), f"{share * local:.3f}", f"{exact:.5f}", f"{bound:.5f}", ratio])
    return lines


def audits() -> list[list[str]]:
    """Return what audits find, of one row at a time and of whole tables."""
    lines = []
    for k in (2, 5, 10):
        plan = plan_of([5, 2, 42], k, 32561)
        found = row_epsilon(plan, COINS, SEED)
        lines.append([f"single rows, 5·2·42 values, k = {k}", "32,561", f"{epsilon_of(plan):.3f}", f"{found:.3f}"])
    for sizes, k, rows in (([2], 2, 20), ([2], 2, 200), ([3], 5, 100)):
        plan = plan_of(sizes, k, rows)
        found = table_epsilon(plan, rows, RUNS, SEED, DELTA)
        bound = shuffled_epsilon(epsilon_of(plan), rows, DELTA)
        lines.append([f"table without order, {sizes[0]} values, k = {k}", str(rows), f"{bound:.3f}", f"{found:.3f}"])
    return lines


def main() -> None:
    report(
        "epsilon",
        "Differential privacy of retention",
        "ε if one row is replaced, at δ = 10⁻⁶, beside the bounds worked out before by the general theorem on clones."
        " ρ, attributes and domains do not matter: ε of one row follows from k and the rows.",
        table(["rows", "k", "ε of one row", "ε of the table", "before", "processor ms"], tables()),
        "Small tables: the exact δ over every original and every replacement, by enumeration, beside the bound.",
        table(["channel", "rows", "ε", "δ exact", "δ bound", "ratio"], small_tables()),
        "Audits: the ε that a guesser proves with 95 %. Of single rows by one run in which each of 200,000 rows is one"
        " of two values; of tables without an order by 50,000 pairs of runs and a threshold.",
        table(["audited", "rows", "bound", "audit"], audits()),
        facts("numpy", "scipy"),
    )


if __name__ == "__main__":
    main()
