"""The error of a release, U: Noren's measure against a straightforward version that walks the rows.

python benchmarks/bench_cell_error.py [--data T.csv] [--release A.csv.gz]

Both start from the two files' texts in memory; Noren's also from the files themselves.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import statistics
import time
from datetime import date
from pathlib import Path

from machine import facts, report, table

from noren.api import measure
from noren.data.reading import read, read_release

REPEATS = 5


def number(text: str, column: int) -> float:
    if column == 1:
        year, month, day = map(int, text.split("/"))
        return float(date(year, month, day).toordinal())
    return float(text)


def row_by_row(original: list[list[str]], released: list[list[str]]) -> float:
    """U as S0 §2.4.2 defines it, a row at a time: what one would write first."""
    sd = {column: statistics.pstdev([number(row[column], column) for row in original]) for column in (1, 3, 4)}
    width = {1: 1.0, 3: 0.01, 4: 1.0}
    total = 0.0
    for true, public in zip(original, released, strict=True):
        for column in (1, 2, 3, 4):
            cell = public[column]
            if cell == "*":
                total += 1
            elif cell.startswith("{"):
                total += 1 - 1 / len(set(cell[1:-1].split(";")))
            elif cell.startswith("["):
                low, high = (number(end, column) for end in cell[1:-1].split(";"))
                x, w = number(true[column], column), width[column]
                error = ((x - low) ** 2 + (high - x) ** 2 + (high - low) * w) / (2 * (high - low + w))
                total += error / sd[column] if error else 0.0
    return total / (4 * len(original))


def rows_of(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(csv.reader(file))


def best_of(run: object, times: int) -> tuple[float, float]:
    best, answer = float("inf"), 0.0
    for _ in range(times):
        begin = time.perf_counter()
        answer = run()  # type: ignore[operator]
        best = min(best, time.perf_counter() - begin)
    return best, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(__file__).resolve().parents[2] / "shared"
    parser.add_argument("--data", default=str(shared / "data" / "pwscup2018_final_T.csv"))
    parser.add_argument("--release", default=str(shared / "oracles" / "pwscup2018" / "pair_final" / "A.csv.gz"))
    options = parser.parse_args()
    original, released = rows_of(Path(options.data)), rows_of(Path(options.release))
    slow, by_rows = best_of(lambda: row_by_row(original, released), REPEATS)
    data = read(options.data, "pwscup2018").data
    release = read_release(options.release, data)
    measure(data, release, "cell-error")  # compiles or loads what it needs
    fast, ours = best_of(lambda: measure(data, release, "cell-error").value, REPEATS)

    def from_files() -> float:
        again = read(options.data, "pwscup2018").data
        return measure(again, read_release(options.release, again), "cell-error").value

    whole, _ours = best_of(from_files, 3)
    cells = 4 * len(original)
    rows = [
        ["row by row, from texts in memory", f"{slow:.3f}", "1", f"{by_rows:.12f}"],
        ["Noren, from a release in memory", f"{fast:.4f}", f"{slow / fast:.0f}", f"{ours:.12f}"],
        ["Noren, from the two files", f"{whole:.3f}", f"{slow / whole:.1f}", f"{ours:.12f}"],
    ]
    for row in rows:
        print(*row, sep="  ")
    report(
        "cell-error",
        "The error of a release",
        f"U of {len(original):,} rows, {cells:,} cells; best of {REPEATS}. The straightforward version is plain Python "
        f"that follows S0 §2.4.2 row by row. Both agree to {abs(by_rows - ours):.0e}.",
        table(["what", "seconds", "times as fast", "U"], rows),
        facts("noren", "numpy", "polars"),
    )


if __name__ == "__main__":
    main()
