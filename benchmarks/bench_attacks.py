"""Every attack on releases of the PWS Cup 2018 final data: hits at each number named, and the verdicts.

python benchmarks/bench_attacks.py [--seeds 200]

The seeds decide ties, drawn pseudonyms and the order of customers; what does not depend on them (who fits, how far) is
computed once per release.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import facts, report, table

from noren.attacks.consistency import Consistency
from noren.attacks.item_candidates import ItemCandidates
from noren.attacks.nearest import Nearest
from noren.attacks.unique_rows import UniqueRows
from noren.data.compatibility import comparison_arrays, consistent_customers
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.release import Release
from noren.data.schema import Schema
from noren.kernels.judging.threshold import Bound, thresholds
from noren.measures.safety.classes import Classes
from noren.measures.safety.hits import hits_by_rank
from noren.measures.safety.survival import Survival
from noren.methods.generalize import Generalize
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Evidence, Guess

SHARED = Path(__file__).resolve().parents[2] / "shared"
SHOWN = (7, 24, 49, 99, 249, 499, 999)
BOUNDS: tuple[Bound, ...] = ("paper", "sharp")
NEEDED = {bound: thresholds(1000, bound) for bound in BOUNDS}

Seeded = Callable[[int], Guess]


def hits_needed(bound: Bound) -> str:
    return ", ".join(f"{NEEDED[bound][n]} of {n}" for n in SHOWN)


def attackers(original: History, public: History, seconds: dict[str, float]) -> dict[str, Seeded]:
    """Prepare each attack, note how long one takes, and return it as a function of the seed."""

    def timed(name: str, prepare: Callable[[], Seeded]) -> Seeded:
        start = time.perf_counter()
        ready = prepare()
        ready(0)
        seconds[name] = time.perf_counter() - start
        return ready

    def consistency() -> Seeded:
        candidates = consistent_customers(original, public)
        return lambda seed: Consistency().assign(candidates, seed=seed)

    def nearest() -> Seeded:
        sides = comparison_arrays(original, public)
        distances = np.concatenate(list(Nearest().distance_blocks(original, sides)))
        return lambda seed: Nearest().assign(sides, distances, seed=seed)

    return {
        "unique-rows": timed("unique-rows", lambda: lambda seed: UniqueRows().attack(original, public, seed=seed)),
        "item-candidates": timed(
            "item-candidates", lambda: lambda seed: ItemCandidates().attack(original, public, seed=seed)
        ),
        "consistency": timed("consistency", consistency),
        "nearest": timed("nearest", nearest),
    }


def attacked(label: str, original: History, release: Release, seeds: int) -> list[str]:
    """Return the paragraphs about one release."""
    if not isinstance(release.public, History):
        sys.exit("a history was expected")
    seconds: dict[str, float] = {}
    hits_rows, verdict_rows = [], []
    for name, attack in attackers(original, release.public, seconds).items():
        runs = [hits_by_rank(attack(seed), release.secret) for seed in range(1 if name == "unique-rows" else seeds)]
        means = [
            f"{statistics.mean(run[n - 1] for run in runs):.1f}" if all(len(run) >= n for run in runs) else ""
            for n in SHOWN
        ]
        hits_rows.append([name, *means])
        row = [name, f"{statistics.mean(map(len, runs)):.1f}"]
        for bound in BOUNDS:
            needed = NEEDED[bound]
            all_named = sum(bool(run) and run[-1] >= needed[len(run)] for run in runs)
            prefix = sum(any(hit >= needed[n] for n, hit in enumerate(run, 1)) for run in runs)
            row += [f"{all_named}/{len(runs)}", f"{prefix}/{len(runs)}"]
        verdict_rows.append([*row, f"{seconds[name]:.1f}"])
    evidence = Evidence(original, release)
    audit = Classes().measure(evidence)
    alive = {bound: Survival(bound=bound).measure(evidence).value for bound in BOUNDS}
    return [
        f"## {label}",
        f"Customers that fit the worst pseudonym: {audit.parts['min']:.0f}, one-to-one {audit.parts['one_to_one']:.0f}."
        f" Survival of 13 of the best attackers: paper {alive['paper']:.3f}, sharp {alive['sharp']:.3f}.",
        "Mean hits among the first n answers:",
        table(["attack", *(f"n = {n}" for n in SHOWN)], hits_rows),
        "Runs that are effective, naming all answers or the best number of them:",
        table(
            ["attack", "named", "paper, all", "paper, best n", "sharp, all", "sharp, best n", "seconds for one"],
            verdict_rows,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    seeds = parser.parse_args().seeds
    data = SHARED / "data" / "pwscup2018_final_T.csv"
    if not data.exists():
        sys.exit("the published data are not beside this checkout")
    original = read_rows(data, Schema.preset("pwscup2018"))
    pair = read_release(SHARED / "oracles" / "pwscup2018" / "pair_final" / "A.csv.gz", original)
    releases = {
        "The official pair release": pair,
        **{f"generalize-by-count, k = {k}": GeneralizeByCount(k=k).protect(original, seed=1) for k in (2, 3)},
        **{f"generalize, k = {k}": Generalize(k=k, effort="quick").protect(original, seed=1) for k in (2, 3)},
    }
    # what is compiled on first use is no part of an attack's time
    attackers(original, pair.public, {})  # type: ignore[arg-type]
    sections = [part for label, release in releases.items() for part in attacked(label, original, release, seeds)]
    report(
        "attacks",
        "Attacks on k-anonymous histories",
        f"PWS Cup 2018, final data: 1,000 customers, 89,278 rows; {seeds} seeds for each attack that draws.",
        f"Hits needed for an effective attack: paper {hits_needed('paper')};"
        f" sharp {hits_needed('sharp')}."
        " The best number of answers is chosen with the truth at hand: what a lucky attacker would have done.",
        *sections,
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


if __name__ == "__main__":
    main()
