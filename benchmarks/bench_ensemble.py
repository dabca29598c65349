"""The ensemble beside each of its members: is whoever takes the ensemble ever worse off than with its best member?

python benchmarks/bench_ensemble.py [--seeds 20] [--workers 2] [--contest 2] [--kept FILE] [--minutes 60]

Chains of methods, all or a quarter of the rows known, generated data. Every seed draws other data, another release and
other known rows. Each member is run once; both ensembles hear its guess, and the new one rehearses besides.

The best member of a line is the one of highest mean over the same seeds. It is chosen after looking at the truth, so
its mean is too high, and the difference to it errs against the ensemble.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from machine import facts, report, table
from scipy.stats import t as student

from noren.api import attack, measure, protect, sample
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.reading import read
from noren.errors import InputError

SHARED = Path(__file__).resolve().parents[2] / "shared"
MEMBERS = tuple(name for name in attacks if name != "ensemble")
BEFORE, AFTER = "by agreement", "rehearsed"
MONTHLY = "monthly-pseudonyms"
KNOWN = {"all": 1.0, "quarter": 0.25}


def swap(share: float) -> dict[str, Any]:
    return {"method": "swap", "share": share}


def thin(share: float) -> dict[str, Any]:
    return {"method": "thin", "share": share}


def noise(price: float) -> dict[str, Any]:
    return {"method": "perturb", "days": 7, "price": price, "packs": 2}


CHAINS: dict[str, list[Any]] = {
    "swap 10 %": [swap(0.1), MONTHLY],
    "swap 30 %": [swap(0.3), MONTHLY],
    "swap 60 %": [swap(0.6), MONTHLY],
    "swap 90 %": [swap(0.9), MONTHLY],
    "swap 90 %, thin 30 %": [swap(0.9), thin(0.3), MONTHLY],
    "noise": [noise(0.1), MONTHLY],
    "thin 50 %, noise": [thin(0.5), noise(0.1), MONTHLY],
    "thin 90 %, noise": [thin(0.9), noise(0.3), MONTHLY],
    "pseudo records, noise": [{"method": "pseudo-records", "clusters": 40, "effort": "quick"}, noise(0.1), MONTHLY],
    "one pseudonym, swap 60 %": [swap(0.6)],
    "one pseudonym, thin 90 %, noise": [thin(0.9), noise(0.3)],
    "generalized, k = 3": [{"method": "generalize-by-count", "k": 3}],
}
CONTEST = ("swap 60 %", "swap 90 %, thin 30 %")
Job = tuple[str, str, int, bool]


def data_of(seed: int, contest: bool) -> History:
    if contest:
        data = read(SHARED / "data" / "pwscup2017_T.csv", "pwscup2017").data
    else:
        data = sample(customers=100, rows=5000, items=250, seed=seed, schema="pwscup2018")
    assert isinstance(data, History)
    return data


def judged_by(chain: str) -> str:
    """Return the measure of a chain: where dates are cut to intervals, months cannot be told."""
    return "reid-rate" if chain.startswith("generalized") else "emm"


def run(job: Job) -> tuple[Job, dict[str, float], dict[str, float]]:
    """Return what each member and both ensembles find in one release, and their seconds."""
    chain, knows, seed, contest = job
    data = data_of(seed, contest)
    release = protect(data, CHAINS[chain], seed=1000 + seed)
    limits: dict[str, Any] = {"knowledge": KNOWN[knows], "seed": 2000 + seed}
    guesses, seconds = {}, {}
    for name in MEMBERS:
        start = time.process_time()
        try:
            guesses[name] = attack(data, release, name, **limits)
        except InputError:
            continue
        seconds[name] = time.process_time() - start
    member_guesses = dict(guesses)
    for name, rehearse in ((BEFORE, False), (AFTER, True)):
        start = time.process_time()
        guesses[name] = attack(data, release, "ensemble", other_guesses=member_guesses, rehearse=rehearse, **limits)
        seconds[name] = time.process_time() - start
    kind = judged_by(chain)
    if kind == "emm":
        return job, dict(measure(data, release, kind, guesses=guesses).parts), seconds
    return job, {name: measure(data, release, kind, guesses=[guess]).value for name, guess in guesses.items()}, seconds


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and half of the 95 % interval of the mean (Student)."""
    numbers = np.fromiter(values, float)
    if len(numbers) < 2:
        return float(numbers.mean()), float("nan")
    return float(numbers.mean()), float(
        student.ppf(0.975, len(numbers) - 1) * numbers.std(ddof=1) / np.sqrt(len(numbers))
    )


def interval_text(values: Iterable[float], sign: str = "") -> str:
    mean, half = interval(values)
    return f"{mean:{sign}.3f} ± {half:.3f}"


def lines(scores_of: dict[Job, dict[str, float]], contest: bool) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Return a line for each setting, one with all members, and where the ensemble is below beyond noise."""
    short, long, below = [], [], []
    for chain in CONTEST if contest else CHAINS:
        for knows in KNOWN:
            runs = [scores for job, scores in scores_of.items() if (*job[:2], job[3]) == (chain, knows, contest)]
            if not runs:
                continue
            there = [name for name in MEMBERS if all(name in scores for scores in runs)]
            best = max(there, key=lambda name: float(np.mean([scores[name] for scores in runs])))
            column = {name: [scores[name] for scores in runs] for name in (*there, BEFORE, AFTER)}
            paired = np.subtract(column[AFTER], column[best])
            gain = np.subtract(column[AFTER], column[BEFORE])
            ours = [interval_text(column[name]) for name in (best, BEFORE, AFTER)]
            short.append(
                [chain, knows, str(len(runs)), best, *ours, interval_text(paired, "+"), interval_text(gain, "+")]
            )
            long.append([chain, knows, *(interval_text(column[name]) if name in column else "-" for name in MEMBERS)])
            mean, half = interval(paired)
            below += [f"{chain} ({knows}, {best}): {interval_text(paired, '+')}"] if mean + half < 0 else []
    return short, long, below


def verdict(settings: int, below: Sequence[str]) -> str:
    sentence = (
        f"Below its best member beyond noise (95 % interval of the paired difference) in {len(below)} of {settings}"
    )
    return sentence + (": " + "; ".join(below) + "." if below else ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--contest", type=int, default=2, help="seeds on the data of PWS Cup 2017; 0: none")
    parser.add_argument("--kept", type=Path, help="a file of what was found so far: go on from there")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the table says how many seeds")
    options = parser.parse_args()
    start = time.monotonic()
    jobs: list[Job] = [
        (chain, knows, seed, False) for seed in range(options.seeds) for chain in CHAINS for knows in KNOWN
    ]
    jobs += [(chain, knows, seed, True) for seed in range(options.contest) for chain in CONTEST for knows in KNOWN]
    os.environ["POLARS_MAX_THREADS"] = "1"
    stored_lines = options.kept.read_text().splitlines() if options.kept and options.kept.exists() else []
    done = [
        (tuple(job), scores, seconds)
        for job, scores, seconds in map(json.loads, stored_lines)
        if tuple(job) in set(jobs)
    ]
    scores_of: dict[Job, dict[str, float]] = {job: scores for job, scores, _seconds in done}
    spent: dict[str, list[float]] = {}
    for _job, _scores, seconds in done:
        for name, took in seconds.items():
            spent.setdefault(name, []).append(took)
    # polars has threads, and a process that has some must not be forked
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        for job, scores, seconds in pool.map(run, [job for job in jobs if job not in scores_of]):
            scores_of[job] = scores
            if options.kept:
                with options.kept.open("a") as file:
                    file.write(json.dumps([job, scores, seconds]) + "\n")
            for name, took in seconds.items():
                spent.setdefault(name, []).append(took)
            print(len(scores_of), "of", len(jobs), *job, f"{scores[AFTER]:.3f}", flush=True)
            if time.monotonic() - start > 60 * options.minutes:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    head = ["release", "knows", "seeds", "best member", "its EMM", "ensemble before", "ensemble", "ensemble - best"]
    head += ["ensemble - before"]
    short, long, below = lines(scores_of, contest=False)
    parts = [table(head, short), verdict(len(short), below)]
    if options.contest:
        published, _all, lost = lines(scores_of, contest=True)
        parts += [
            "## PWS Cup 2017",
            "Preliminary round: 44,917 rows, 500 customers.",
            table(head, published),
            verdict(len(published), lost),
        ]
    parts += ["## All members", table(["release", "knows", *MEMBERS], long)]
    took = ", ".join(f"{name} {np.mean(times):.2f}" for name, times in spent.items())
    report(
        "ensemble",
        "The ensemble beside its members",
        "EMM, higher is worse for the release; for generalized releases the re-identification rate. Mean over seeds "
        "and half of its 95 % interval (Student); every seed draws other data (100 customers, 5,000 rows, 250 items), "
        "another release and other known rows. *before*: a vote, weighed by how far members agree; it needs no "
        "statement. *ensemble*: follows whoever finds most in a rehearsal of the release.",
        "The best member of a line was chosen after looking at the truth, by its mean over the same seeds. A maximum "
        "of means is too high, so the difference errs against the ensemble.",
        *parts,
        f"Mean seconds of a processor: {took}. Both ensembles heard what members found; the rehearsed one runs all of "
        "them once more.",
        facts("noren", "numpy", "scipy", "numba", "polars"),
    )


if __name__ == "__main__":
    main()
