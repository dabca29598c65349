"""The verdicts on releases of the PWS Cup 2018 final data: k = 2, 3, 4 under each rule that has a name.

python benchmarks/bench_judgement.py [--data T.csv] [--k 2,3,4] [--seeds 1,2,3]
                                     [--methods generalize-by-count,generalize]

Attacks are tried once for each release; each rule judges the same facts. The share of customers that the best attack
names is given as its mean over the seeds, with the smallest and the largest.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

from machine import facts, report, table

from noren.api import measure, protect
from noren.data.reading import read
from noren.judgement.judging import judge
from noren.judgement.outcome import examine
from noren.judgement.rule import RULES

FINAL = Path(__file__).parents[2] / "shared/data/pwscup2018_final_T.csv"
PARAMETERS: dict[str, dict[str, object]] = {
    "generalize-by-count": {"suppress_cells": True},
    "generalize": {"effort": "quick"},
}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", default=str(FINAL))
    words.add_argument("--k", default="2,3,4")
    words.add_argument("--seeds", default="1,2,3")
    words.add_argument("--methods", default="generalize-by-count,generalize")
    asked = words.parse_args()
    original = read(asked.data, "pwscup2018").data
    rows = []
    for method in asked.methods.split(","):
        for k in map(int, asked.k.split(",")):
            outcomes = []
            for seed in map(int, asked.seeds.split(",")):
                release = protect(original, method, seed=seed, k=k, **PARAMETERS[method])
                error = measure(original, release, "cell-error").value
                outcomes.append((error, examine(original, release, measures=[])))
            verdicts = {name: [judge(outcome, name) for _error, outcome in outcomes] for name in RULES}
            shares = [max(one.customers for one in verdict.evidence) for verdict in verdicts["partner"]]
            found = {name: sorted({str(verdict.word) for verdict in some}) for name, some in verdicts.items()}
            row = [
                method,
                str(k),
                f"{fmean(error for error, _outcome in outcomes):.4f}",
                f"{fmean(shares):.3f}" + (f" ({min(shares):.3f}–{max(shares):.3f})" if len(shares) > 1 else ""),
                *(" or ".join(found[name]) for name in RULES),
            ]
            print(*row, sep="  ", flush=True)
            rows.append(row)
    head = ["method", "k", "U", "best attack names", *RULES]
    title = "Verdicts on releases of the PWS Cup 2018 final data"
    report("judgement", title, facts(), f"Seeds {asked.seeds}.", table(head, rows))


if __name__ == "__main__":
    main()
