"""Table 2 of S2, cell by cell, beside what Noren adds: rows, similarity, re-identification, seconds.

python benchmarks/bench_pseudo_records.py [--data T.csv] [--seeds 5] [--efforts quick,normal]
python benchmarks/bench_pseudo_records.py --groups [--seeds 5]

Every figure is of a whole release: the rows it added, the mean Jaccard similarity between what a customer bought and
what the release says the customer bought, and how many customers Algorithm 1 finds, by comparing all with all.
``--groups`` tells what it costs that more than 4,000 customers are searched group by group: the same search with all
customers together beside it, quick effort.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from machine import facts, report, table

from noren.api import sample
from noren.data.arrays import people
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Role
from noren.kernels.items.packed_sets import item_sets
from noren.kernels.items.pseudo_records import (
    best_clusters,
    cosine_clusters,
    expected_added,
    mean_overlap,
    printed_added,
    printed_best_clusters,
    tf_idf,
    unit_rows,
)
from noren.kernels.items.union_clusters import added_records, union_clusters
from noren.methods.pseudo_records import STEPS, PseudoRecords

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2016_T.csv"
PAPER = {
    50: {
        None: (182_897, 0.1728, 0.1235),
        2: (183_902, 0.1729, 0.1223),
        3: (175_449, 0.1726, 0.1222),
        4: (162_474, 0.1723, 0.1218),
        8: (125_798, 0.1681, 0.1218),
    },
    75: {
        None: (141_696, 0.2402, 0.1858),
        2: (136_526, 0.2403, 0.1860),
        3: (112_781, 0.2394, 0.1855),
        4: (91_946, 0.2382, 0.1855),
    },
    100: {
        None: (128_568, 0.3060, 0.2488),
        2: (99_228, 0.3061, 0.2475),
        3: (68_357, 0.3041, 0.2480),
        4: (59_374, 0.3044, 0.2465),
    },
    125: {None: (97_581, 0.3692, 0.3120), 2: (60_492, 0.3687, 0.3105), 3: (46_101, 0.3667, 0.3102)},
}
HEAD = ["", "Δm, S2", "Δm, mean", "least", "most", "Jaccard, S2", "ours", "Reid, S2", "ours", "seconds"]


def sets_of(frame: pl.DataFrame, customers: list[str], items: list[str]) -> Any:
    """Return who bought what as a matrix of 0 and 1."""
    row, column = ({name: at for at, name in enumerate(names)} for names in (customers, items))
    matrix = np.zeros((len(customers), len(items)), dtype=np.float32)
    pairs = frame.select("customer", "item").unique()
    matrix[[row[c] for c in pairs["customer"]], [column[i] for i in pairs["item"]]] = 1
    return matrix


def judged(original: History, release: Release) -> tuple[float, float]:
    """Return the mean similarity of customers to their own release, and the share that Algorithm 1 finds."""
    names = dict(release.secret.pseudonyms.iter_rows())
    items = sorted(original.frame["item"].unique())
    known = sets_of(original.frame, list(names.values()), items)
    released = sets_of(release.public.frame, list(names), items)
    common = released @ known.T
    similarity = common / (released.sum(axis=1)[:, None] + known.sum(axis=1)[None, :] - common)
    return float(np.diag(similarity).mean()), float((similarity.argmax(axis=1) == np.arange(len(names))).mean())


def line(
    original: History, label: str, seeds: int, paper: tuple[int, float, float] | None, **parameters: Any
) -> list[str]:
    method = PseudoRecords(**parameters)
    added, jaccard, reid, seconds = [], [], [], []
    for seed in range(1, seeds + 1):
        start = time.perf_counter()
        release = method.protect(original, seed=seed)
        seconds.append(time.perf_counter() - start)
        added.append(release.inserted_rows)
        own, result = judged(original, release)
        jaccard.append(own)
        reid.append(result)
    row = [
        label,
        f"{paper[0]:,}" if paper else "",
        f"{statistics.fmean(added):,.0f}",
        f"{min(added):,}",
        f"{max(added):,}",
        f"{paper[1]:.4f}" if paper else "",
        f"{statistics.fmean(jaccard):.4f}",
        f"{paper[2]:.4f}" if paper else "",
        f"{statistics.fmean(reid):.4f}",
        f"{statistics.fmean(seconds):.1f}",
    ]
    print(parameters["clusters"], *row, sep="  ", flush=True)
    return row


def chance(original: History, runs: int) -> list[str]:
    """Return how far k-means alone is a matter of luck: S2's method 1, many times."""
    customers, items = original.customers.to_list(), sorted(original.frame["item"].unique())
    owner, item = np.nonzero(sets_of(original.frame, customers, items))
    sets = item_sets(owner, item, len(customers), len(items))
    weights = unit_rows(tf_idf(sets, len(items)))
    rows = []
    for c in PAPER:
        added = [
            added_records(
                sets,
                cosine_clusters(weights, c, np.random.Generator(np.random.Philox(np.random.SeedSequence([c, run])))),
            )
            for run in range(runs)
        ]
        values = (PAPER[c][None][0], statistics.fmean(added), statistics.stdev(added), min(added), max(added))
        rows.append([str(c), *(f"{v:,.0f}" for v in values)])
    return [
        f"## How much of method 1 is luck\n\nThe rows that {runs} runs of k-means would add.",
        table(["c", "S2", "mean", "standard deviation", "least", "most"], rows),
    ]


def theory(original: History) -> list[str]:
    customers, items = original.customers.to_list(), sorted(original.frame["item"].unique())
    known = sets_of(original.frame, customers, items).astype(np.float64)
    pairs = np.triu_indices(len(customers), 1)
    common = (known @ known.T)[pairs]
    sizes = known.sum(axis=1)
    mu = float((common / (sizes[pairs[0]] + sizes[pairs[1]] - common)).mean())
    b, h = float(sizes.mean()), float(common.mean())
    rows = []
    overlap = mean_overlap(65, 0.03)
    for c in PAPER:
        least = max(s for s in PAPER[c] if s)
        values = (
            printed_added(400, c, 65, overlap),
            expected_added(400, c, 65, overlap),
            expected_added(400, c, b, h),
            PAPER[c][least][0],
        )
        rows.append([str(c), *(f"{v:,.0f}" for v in values)])
    choices = [(n, best_clusters(n, 65, overlap), printed_best_clusters(n, 65, overlap)) for n in (400, 4000)]
    sentence = "; ".join(
        f"n = {n:,}: c* = {best.clusters:,}, Reid {best.reid:.4f}, {best.added:,.0f} rows (S2's (4): {printed:,.1f})"
        for n, best, printed in choices
    )
    return [
        f"## What to expect\n\nExactly: b = {b:.2f}, µ = {mu:.4f}, h = {h:.2f}. S2 takes b = 65, µ = 0.03, from which "
        f"h = {overlap:.3f}. Best numbers of clusters for those: {sentence}.",
        table(["c", "S2's (1)", "n(s−1)(b − hs/2)", "the same, exact b and h", "S2, best"], rows),
    ]


def in_groups(shared: Path, seeds: int) -> None:
    """Search among many customers in groups, and all together, and report both."""
    shop = read(shared.with_name("online_retail.parquet")).data
    rows = []
    for label, history in (("a shop", shop), ("generated", sample(customers=8_000, rows=480_000, items=4_000, seed=1))):
        if not isinstance(history, History):
            sys.exit("the data are no history")
        codes, customers = people(history[Role.CUSTOMER])
        item = history[Role.ITEM].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        items, count = int(item.max()) + 1, len(customers)
        sets = item_sets(np.where(item >= 0, codes, -1), item, count, items)
        for share in (3, 5, 10):
            added, seconds = dict[int, list[int]](), dict[int, float]()
            for together in (union_clusters.__globals__["_TOGETHER"], 10**9):
                with mock.patch.dict(union_clusters.__globals__, _TOGETHER=together):
                    begin = time.process_time()
                    found = [
                        union_clusters(sets, items, count // share, 2, steps=STEPS["quick"], seed=seed).added
                        for seed in range(1, seeds + 1)
                    ]
                    added[together], seconds[together] = found, (time.process_time() - begin) / seeds
            groups, whole = (statistics.mean(values) for values in added.values())
            ratios = [a / b - 1 for a, b in zip(*added.values(), strict=True)]
            rows.append(
                [f"{label}, {count:,} customers", str(share), f"{whole:,.0f}", f"{groups:,.0f}"]
                + [f"{statistics.mean(ratios):+.2%}", f"{min(ratios):+.2%}", f"{max(ratios):+.2%}"]
                + [f"{value:.1f}" for value in reversed(seconds.values())]
            )
    head = [
        "",
        "a cluster's size",
        "Δm, together",
        "Δm, in groups",
        "more",
        "least",
        "most",
        "s, together",
        "s, in groups",
    ]
    report(
        "pseudo-records-groups",
        "Pseudo records of many customers: searching in groups",
        f"Rows added (Δm), means of seeds 1–{seeds}, quick effort; more: by what share the groups add more rows, least "
        "and most of a seed. Processor seconds of one search.",
        table(head, rows),
        facts("noren", "numpy", "numba", "polars"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(SHARED))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--efforts", default="quick,normal")
    parser.add_argument("--groups", action="store_true")
    options = parser.parse_args()
    if options.groups:
        in_groups(SHARED, options.seeds)
        return
    original = read(options.data, "pwscup2016").data
    if not isinstance(original, History):
        sys.exit("the data are no history")
    PseudoRecords(clusters=50, effort="quick").protect(original, seed=0)  # compiled code is loaded
    parts = []
    for c, printed in PAPER.items():
        rows = [line(original, "clusters (method 1)", options.seeds, printed[None], clusters=c, variant="clusters")]
        sizes = [size for size in printed if size is not None]
        for size in sizes:
            label = f"repaired, at least {size} (method 2)"
            rows.append(
                line(original, label, options.seeds, printed[size], clusters=c, variant="repaired", min_size=size)
            )
        rows += [
            line(original, f"balanced {effort}", options.seeds, None, clusters=c, effort=effort)
            for effort in options.efforts.split(",")
        ]
        label = f"balanced, at least {max(sizes)}"
        rows.append(line(original, label, options.seeds, None, clusters=c, min_size=max(sizes)))
        parts += [f"## c = {c}: c/n = {c / 400:.4f}", table(HEAD, rows)]
    report(
        "pseudo-records",
        "Pseudo records",
        f"PWS Cup 2016: 400 customers, 38,087 rows; seeds 1–{options.seeds}. Δm: rows added. Jaccard: mean similarity "
        "of what a customer bought and what the release says. Reid: found by Algorithm 1. Seconds are of one release, "
        "compiled code already loaded.",
        *parts,
        *chance(original, 50),
        *theory(original),
        facts("noren", "numpy", "numba", "scipy", "polars"),
    )


if __name__ == "__main__":
    main()
