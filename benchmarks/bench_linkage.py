"""Repeated releases of contest data under changing pseudonyms: linkage beside the contest's own attacks S1 to S8.

python benchmarks/bench_linkage.py [--knowledge T25 T50]

Releases of rising strength, full and partial knowledge. The bar: wherever the best of S1 to S8 stays under 0.9 in EMM,
linkage must beat it. The constants of linkage were chosen while looking at the first table, so a second one has other
chains, other seeds and the data of another year, on which nothing was chosen.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
from machine import facts, report, table

from noren.api import attack, measure, protect
from noren.data.compatibility import partial
from noren.data.frames import History
from noren.data.reading import read, read_release
from noren.data.release import Release

SHARED = Path(__file__).resolve().parents[2] / "shared"
SIMPLE = tuple(f"s{number}" for number in range(1, 9))
OURS = ("profile", "linkage")
MEASURES = ("um", "mm", "emm")
SURE = 0.9

Steps = list[str | Mapping[str, Any]]


def thin(share: float, *, rarest: bool = False) -> dict[str, Any]:
    return {"method": "thin", "share": share, "rarest": rarest}


def perturb(days: int, price: float, packs: int) -> dict[str, Any]:
    return {"method": "perturb", "days": days, "price": price, "packs": packs}


def swap(share: float) -> dict[str, Any]:
    return {"method": "swap", "share": share}


LIGHT, MIDDLE, STRONG, WILD = perturb(3, 0.05, 1), perturb(7, 0.1, 2), perturb(31, 0.5, 5), perturb(31, 1.0, 5)
MONTHLY = "monthly-pseudonyms"
CHAINS: dict[str, tuple[Steps, bool]] = {
    # name: steps, and whether times of day are shown
    "monthly pseudonyms alone": ([MONTHLY], True),
    "thin 30 %, light noise": ([thin(0.3), LIGHT, MONTHLY], True),
    "thin 50 % rarest, noise": ([thin(0.5, rarest=True), MIDDLE, MONTHLY], True),
    "swap 30 %, light noise": ([swap(0.3), LIGHT, MONTHLY], True),
    "swap 60 %, thin 30 %, strong noise": ([swap(0.6), thin(0.3), perturb(31, 0.3, 3), MONTHLY], True),
    "thin 50 %, noise, no times": ([thin(0.5), MIDDLE, MONTHLY], False),
    "thin 80 %, strong noise, no times": ([thin(0.8), STRONG, MONTHLY], False),
    "thin 90 % rarest, wild noise, no times": ([thin(0.9, rarest=True), WILD, MONTHLY], False),
    "swap 50 %, no times": ([swap(0.5), MONTHLY], False),
    "swap 60 %, thin 30 %, strong noise, no times": ([swap(0.6), thin(0.3), perturb(31, 0.3, 3), MONTHLY], False),
    "pseudo records, noise, no times": (
        [{"method": "pseudo-records", "clusters": 200, "effort": "quick"}, MIDDLE, MONTHLY],
        False,
    ),
    "one pseudonym, thin 90 % rarest, wild noise, no times": ([thin(0.9, rarest=True), WILD], False),
}
HELD_OUT: dict[str, tuple[Steps, bool]] = {
    "swap 15 %": ([swap(0.15), MONTHLY], False),
    "swap 40 %, noise": ([swap(0.4), perturb(5, 0.08, 1), MONTHLY], False),
    # more than this finds no partners: a larger share gives the same release
    "swap 70 %": ([swap(0.7), MONTHLY], False),
    "swap 100 %, thin 20 %": ([swap(1.0), thin(0.2), MONTHLY], False),
    "thin 60 %, baskets moved": ([thin(0.6), perturb(10, 0.2, 2) | {"whole_baskets": True}, MONTHLY], False),
    "thin 95 %, noise": ([thin(0.95), perturb(20, 0.3, 2), MONTHLY], False),
    "noise alone": ([perturb(31, 2.0, 9), MONTHLY], False),
    "noise, monthly, then thin 70 %": ([perturb(7, 0.2, 2), MONTHLY, thin(0.7)], False),
    "one pseudonym, swap 50 %": ([swap(0.5)], False),
    "one pseudonym, thin 70 %, noise": ([thin(0.7), perturb(15, 0.4, 3)], False),
}
OTHER_DATA = (("2017", 2026), ("2016", 77))
VECTORS = {"vector noise_light": "noise_light", "vector noise_strong": "noise_strong", "vector at_sample": "at_sample"}


def without_times(release: Release) -> Release:
    """Return the release with one time of day and one invoice for all rows: our methods leave both as they are."""
    times = release.public.frame["time"]
    frame = release.public.frame.with_columns(time=pl.lit(times.min(), dtype=times.dtype), invoice=pl.lit("0"))
    return replace(release, public=replace(release.public, frame=frame))


def chained(original: History, chains: Mapping[str, tuple[Steps, bool]], seed: int) -> dict[str, Callable[[], Release]]:
    """Return how each release is made; one is kept at a time."""

    def made(steps: Steps, shown: bool) -> Release:
        release = protect(original, steps, seed=seed)
        return release if shown else without_times(release)

    return {name: (lambda about=about: made(*about)) for name, about in chains.items()}


def published(original: History) -> dict[str, Callable[[], Release]]:
    """Return how the test vectors are read."""
    folder = SHARED / "oracles" / "pwscup2017"
    return {
        name: (lambda vector=vector: read_release(folder / vector / "AT.csv.gz", original))
        for name, vector in VECTORS.items()
    }


def contest(name: str) -> History:
    data = read(SHARED / "data" / f"pwscup{name}.csv", f"pwscup{name[:4]}").data
    assert isinstance(data, History)
    return data


@dataclass
class Study:
    """What was found so far: lines of a table, how many cases were open, which were lost, and the slowest runs."""

    rows: list[list[str]] = field(default_factory=list)
    cases: int = 0
    lost: list[str] = field(default_factory=list)
    behind_profile: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(OURS, 0.0))

    def add(self, name: str, knows: str, original: History, release: Release, options: Mapping[str, Any]) -> None:
        """Attack one release and note how it went."""
        guesses = {attacker: attack(original, release, attacker, **options) for attacker in SIMPLE}
        judged = {kind: measure(original, release, kind, guesses=guesses) for kind in MEASURES}
        simple = {kind: score.value for kind, score in judged.items()}
        ours = {}
        for attacker in OURS:
            start = time.perf_counter()
            guess = attack(original, release, attacker, **options)
            self.seconds[attacker] = max(self.seconds[attacker], time.perf_counter() - start)
            ours[attacker] = {kind: measure(original, release, kind, guesses=[guess]).value for kind in MEASURES}
        best, linkage, profile = judged["emm"].notes["best"], ours["linkage"], ours["profile"]["emm"]
        self.rows.append([name, knows, best, *figures(simple), f"{profile:.3f}", *figures(linkage)])
        print(" | ".join(self.rows[-1]), flush=True)
        if simple["emm"] < SURE:
            self.cases += 1
            self.lost += [] if linkage["emm"] > simple["emm"] else [f"{name} ({knows})"]
        if linkage["emm"] < profile - 0.01:
            self.behind_profile.append(f"{name} ({knows}): {linkage['emm']:.3f} against {profile:.3f}")

    def verdict(self) -> str:
        """Say how often linkage won, and where profile alone finds more."""
        sentence = (
            f"The best of S1 to S8 stays under {SURE} in EMM in {self.cases} cases; linkage beats it in "
            f"{self.cases - len(self.lost)} of them" + (f", not in {', '.join(self.lost)}." if self.lost else ".")
        )
        if self.behind_profile:
            sentence += " By more than 0.01 behind profile: " + "; ".join(self.behind_profile) + "."
        return sentence


def figures(score: Mapping[str, float]) -> list[str]:
    ratio = f"{score['emm'] / score['mm']:.2f}" if score["mm"] else "-"
    return [*(f"{score[name]:.3f}" for name in MEASURES), ratio]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--knowledge", nargs="*", default=["T50"], help="partial knowledge beside the full: T25 … T100")
    wanted = parser.parse_args().knowledge
    original = contest("2017_T")
    options: dict[str, dict[str, Any]] = {"all": {}}
    options |= {name: {"known": partial(contest(f"2017_{name}"))} for name in wanted}
    attack(original, original, "linkage")  # compiles
    chosen, held_out = Study(), Study()
    for name, make in (published(original) | chained(original, CHAINS, 1)).items():
        release = make()
        for knows, known in options.items():
            chosen.add(name, knows, original, release, known)
    half = {"knowledge": 0.5, "item_prefix": 2, "seed": 9}
    for year, seed in OTHER_DATA:
        data = contest(f"{year}_T")
        for name, make in chained(data, HELD_OUT, seed).items():
            release = make()
            for knows, known in (("all", {}), ("half", half)):
                held_out.add(f"{year}: {name}", knows, data, release, known)
    head = ["release", "knows", "best", "UM", "MM", "EMM", "EMM/MM", "profile EMM", "UM", "MM", "EMM", "EMM/MM"]
    slowest = ", ".join(f"{one} {max(chosen.seconds[one], held_out.seconds[one]):.1f} s" for one in OURS)
    report(
        "linkage",
        "Repeated releases: linkage beside S1 to S8",
        "The first four figures are those of the best of S1 to S8 (each measure by itself; `best` is the one of EMM), "
        "the last four those of linkage. *all*: the attacker knows every row; *T50*, *half*: half of the rows, items "
        "by their first two characters. EMM/MM is `-` where MM is 0.",
        "## Releases that constants were chosen on",
        "PWS Cup 2017, preliminary round (44,917 rows, 500 customers, 12 months), seed 1. These figures flatter "
        "linkage and profile: their constants were chosen while looking at them.",
        table(head, chosen.rows),
        chosen.verdict(),
        "## Releases that nothing was chosen on",
        "PWS Cup 2017 with seed 2026 and PWS Cup 2016 (38,087 rows, 400 customers) with seed 77, no times of day and "
        "no invoices.",
        table(head, held_out.rows),
        held_out.verdict(),
        f"Slowest run of each: {slowest}.",
        facts("noren", "numpy", "scipy", "numba", "polars"),
    )


if __name__ == "__main__":
    main()
