"""How often a verdict is wrong: false *broken*, false *proved*, and classes of four missed under a rule of 1/5.

Sixteen attackers work independently of each other. Each of ``--simulations`` releases is simulated at four sizes:

* independent answers that are right with 0.15, where 0.2 is allowed: *broken* would be false. By count (more than the
  tolerance of the customers named by one attacker) and by inference (chance does not explain the hits) apart, for only
  the second has an error level;
* classes of five with names drawn at random: *proved* is true, and *broken* by a refuted claim would be false;
* classes of four that say so: *withstands* or *proved* would be missed;
* names dealt in the order of customers inside classes of five that claim k = 5: *proved* would be false;
* classes of five whose names leak, so that an attacker is right with 0.4: *proved* would be false.

With ``--proof`` it measures instead what a verdict from class counts alone takes as rows grow (``noren judge --budget
0``, a process of its own, reading included): histories of ten rows per customer, released by ``generalize-by-count``.

python benchmarks/bench_judgement.py [--simulations 300]
python benchmarks/bench_judgement.py --proof 100000,1000000,10000000 [--folder data/]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from machine import facts, report, run, run_python, table

from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome
from noren.judgement.verdict import Reason, VerdictStatus
from noren.kernels.judging.shares import share_interval

SIZES = (60, 200, 400, 2_000)
ATTACKERS = 16
ROWS = {
    "count": "false *broken* by count: independent answers right with .15",
    "inference": "false *broken* by inference: the same answers, error level 0.01",
    "fives": "false *broken*: classes of five, names drawn at random",
    "fours": "missed: classes of four not called broken",
    "leaking": "false *proved*: classes of five, an attacker right with .4",
    "dealt": "false *proved*: classes of five, names dealt in order",
}
SCHEMA = Schema.of({"columns": {"customer": {"role": "customer"}, "date": {"role": "date"}, "item": {"role": "item"}}})


def tried(attack: int, right: np.ndarray) -> AttackResult:
    places = tuple(int(at) + 1 for at in np.flatnonzero(right))
    return AttackResult(
        attack=f"a{attack}", named=len(right), right=len(places), customers=len(places), right_at=places
    )


def hits_in_classes(generator: np.random.Generator, people: int, k: int) -> np.ndarray:
    """Return which of one guess each inside classes of k is right: the fixed points of a random permutation."""
    return np.concatenate([generator.permutation(k) == np.arange(k) for _class in range(people // k)])


def dealt(people: int) -> Release:
    """Return classes of five equal histories whose pseudonyms follow the order of customers."""
    rows = {"customer": [f"c{n:05}" for n in range(people)], "date": ["2024-01-01"] * people}
    original = History.of(rows | {"item": [f"item {n // 5}" for n in range(people)]}, SCHEMA)
    names = pl.Series("customer", [str(10**6 + n) for n in range(people)])
    aligned = replace(original, frame=original.frame.with_columns(names))
    return Release.of_aligned(original, aligned, Statement("generalize-by-count", {"k": 5}), seed=2**40)


def simulated(people: int, simulations: int) -> dict[str, int]:
    generator = np.random.default_rng(people)
    counts: Counter[str] = Counter()
    for _simulation in range(simulations):
        answers = [tried(a, generator.random(people) < 0.15) for a in range(ATTACKERS)]
        verdict = judge(Facts(kind="history", people=people, tried=answers), "partner")
        counts["count"] += verdict.reason == Reason.TOO_MANY_NAMED
        counts["inference"] += any(one.beyond_chance for one in verdict.evidence)
        for k in (5, 4):
            lucky = [tried(a, hits_in_classes(generator, people, k)) for a in range(ATTACKERS)]
            classes = Facts(kind="history", people=people, claimed={"k": k}, smallest_class=k, tried=lucky)
            word = judge(classes, "partner").status
            counts["fives"] += k == 5 and word == VerdictStatus.BROKEN
            counts["fours"] += k == 4 and word != VerdictStatus.BROKEN
        cheat = tried(0, generator.random(people) < 0.4)
        leaking = Facts(kind="history", people=people, claimed={"k": 5}, smallest_class=5, tried=[cheat])
        counts["leaking"] += judge(leaking, "partner").status == VerdictStatus.PROVED
    word = judge(Outcome("dealt", dealt(people), people=people), "partner").status
    counts["dealt"] += simulations * (word == VerdictStatus.PROVED)
    return dict(counts)


PROTECT = """
import sys
from noren import api
from noren.data.reading import read
original = [read(sys.argv[1], "sample").data]
api.protect(original.pop(), "generalize-by-count", k=5, seed=1, audit=False).save(sys.argv[2])
"""


def measure_proofs(sizes: list[int], folder: Path) -> None:
    """Judge a release of each size by its classes alone; what the folder has of them is not made again."""
    noren, rows = [sys.executable, "-m", "noren"], []
    for size in sizes:
        original, release = folder / f"b{size}.parquet", folder / f"r{size}"
        if not original.exists():
            words = ["--customers", str(size // 10), "--rows", str(size), "--items", "4000", "--seed", "1"]
            run(*noren, "sample", *words, "--out", str(original))
        if not release.exists():
            run_python(PROTECT, str(original), str(release))
        done = run(*noren, "judge", str(original), str(release), "--schema", "sample", "--budget", "0", "--json")
        if not done.ok:
            sys.exit(done.output[-2000:])
        times = f"{done.processor_seconds:.1f}", f"{done.seconds:.1f}", f"{done.peak_bytes / 1e9:.2f}"
        rows.append([f"{size:,}", f"{size // 10:,}", json.loads(done.output)["verdict"], *times])
    report(
        "judgement-proof",
        "What a verdict from class counts alone takes",
        facts("noren", "polars"),
        "`noren judge ORIGINAL RELEASE --budget 0`, the whole process: ten rows per customer, classes of five.",
        table(["rows", "customers", "verdict", "processor s", "wall s", "peak GB"], rows),
    )


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--simulations", type=int, default=300)
    words.add_argument("--proof", default="", help="numbers of rows")
    words.add_argument("--folder", type=Path, help="where releases to prove are, and are put")
    options = words.parse_args()
    if options.proof:
        with TemporaryDirectory() as own:
            measure_proofs([int(size) for size in options.proof.split(",")], options.folder or Path(own))
        return
    trials = options.simulations
    results = {people: simulated(people, trials) for people in SIZES}
    rows = []
    for name, about in ROWS.items():
        shares = [(results[people][name], *share_interval(results[people][name], trials)) for people in SIZES]
        rows.append([about, *(f"{count / trials:.3f} ({low:.3f}–{high:.3f})" for count, low, high in shares)])
    report(
        "judgement",
        "Error rates of verdicts under the rule partner (20 %)",
        facts(),
        f"Shares of {trials} simulated releases, with intervals of 95 %, for {ATTACKERS} independent attackers.",
        table(["verdict", *(f"n = {people:,}" for people in SIZES)], rows),
    )


if __name__ == "__main__":
    main()
