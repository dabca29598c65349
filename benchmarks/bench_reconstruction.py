"""S4's tables 5, 8 and 9 beside ours: the perturbed table, the paper's reconstruction, `em` and `auto`.

python benchmarks/bench_reconstruction.py [--seeds 5] [--only adult|synthetic]

It is `noren reproduce S4 --table 5 --table 8 --table 9`, kept as Markdown: L1 precision in per cent, mean and standard
deviation over seeds. What an earlier run has computed, and no code has changed, is not computed again. `auto` never
sees an original. Synthetic data are drawn anew for each seed, blood type and month independently, as the patterns of
tables 6 and 7 say.
"""

from __future__ import annotations

import argparse

from machine import facts, report

from noren.reproduce import document
from noren.reproduce.frame import Asked
from noren.reproduce.layout import before_table, grid, markdown_table
from noren.reproduce.run import Choice, reproduce
from noren.reproduce.writing import part_title

TABLES = {"adult": ("5",), "synthetic": ("8", "9")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=tuple(TABLES))
    asked = parser.parse_args()
    said = f"L1 precision in per cent, mean ± standard deviation over {asked.seeds} seeds."
    for name, tables in TABLES.items():
        if asked.only in (None, name):
            found = reproduce([document("S4")], Asked(wanted_seeds=asked.seeds), Choice(tables=tables))
            parts = [
                paragraph
                for part in found.documents[0].parts
                for paragraph in (
                    f"## {part_title(part)}",
                    *before_table(part),
                    *([markdown_table(grid(part.comparison.cells))] if part.comparison.cells else []),
                )
            ]
            report(f"reconstruction-{name}", "Reconstruction, beside S4", said, *parts, facts("noren", "numpy"))


if __name__ == "__main__":
    main()
