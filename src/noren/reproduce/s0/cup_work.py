"""The final of 2018 played again, as units of work: what is handed in, and what each attacker finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from noren.attacks import attacks
from noren.contest.rulebook import Rulebook, preset
from noren.data.fits import class_sizes
from noren.data.frames import History
from noren.data.release import Release
from noren.kernels.judging.survival import Plan, best_plan
from noren.kernels.judging.threshold import Bound
from noren.protocols import Evidence, Guess
from noren.reproduce.s0.class_lots import FoundClasses, draw_lots, found_classes
from noren.reproduce.s0.entries import DATA, ENTRIES, customers, make_release, release_of
from noren.work.store import kept

__all__ = ["ATTACKERS", "BOUNDS", "CUPS", "entered", "made", "played", "registered", "rules"]

BOUNDS: tuple[Bound, ...] = ("paper", "sharp")
ATTACKERS = len(ENTRIES) - 1
"""So many attack each team: all others, by one guess each."""
CUPS = 100
"""Cups that are played with each seed."""


@cache
def rules(bound: Bound) -> Rulebook:
    """Return the rulebook of 2018 with one of the two bounds."""
    return preset("pwscup2018", bound=bound)


def made(recipe: str) -> dict[str, Any]:
    """Make the release of a recipe, for all units that look at it."""
    return {"folder": kept(make_release, recipe, data=(DATA,)).name}


def entered(team: str, _made: Any) -> dict[str, Any]:
    """Return what the rulebook measures of a release, the sizes of its classes, and the best plan against it."""
    release = _release(team)
    evidence = Evidence(customers(), release)
    values = {
        key: round(measure.measure(evidence).value, 10) for key, (measure, _part) in rules("paper").of_release().items()
    }
    sizes = class_sizes(_public(release))
    return {
        "values": values,
        "deleted": release.deleted_rows,
        "classes": {str(size): count for size, count in sorted(Counter(sizes).items())},
        "plans": {bound: asdict(best_plan(sizes, bound)) for bound in BOUNDS},
    }


def registered(team: str, attack: str, seed: int, _made: Any) -> dict[str, Any]:
    """Return what one of our attacks finds, all its names handed in, and whether either rulebook calls it effective."""
    release = _release(team)
    guess = attacks.create(attack).attack(customers(), _public(release), seed=seed)
    evidence = Evidence(customers(), release, {attack: guess})
    scores = {bound: _effective(bound).measure(evidence) for bound in BOUNDS}
    parts = scores["paper"].parts
    return {
        "named": parts[f"{attack}.named"],
        "right": parts[f"{attack}.right"],
        "effective": {bound: score.value > 0 for bound, score in scores.items()},
    }


def played(team: str, bound: Bound, seed: int, entry: Any) -> list[int]:
    """Return how many attackers were effective against a team, cup by cup, each drawing lots by the best plan."""
    release, found = _release(team), _found(team)
    said = entry["plans"][bound]
    plan = Plan(**said | {"depths": tuple(map(tuple, said["depths"]))})
    draws = np.random.Generator(np.random.Philox([seed, list(ENTRIES).index(team), BOUNDS.index(bound)]))
    counts = []
    for _cup in range(CUPS):
        guesses = {str(i): Guess("lots", draw_lots(found, plan, draws)) for i in range(ATTACKERS)}
        score = _effective(bound).measure(Evidence(customers(), release, guesses))
        counts.append(len(score.notes["effective"]))
    return counts


def _effective(bound: Bound) -> Any:
    """Return the one measure of the rulebook that judges attacks."""
    ((measure, _part),) = rules(bound).of_guess().values()
    return measure


def _public(release: Release) -> History:
    if not isinstance(release.public, History):
        raise TypeError(release.public)
    return release.public


@cache
def _release(team: str) -> Release:
    return release_of(ENTRIES[team])


@cache
def _found(team: str) -> FoundClasses:
    return found_classes(customers(), _public(_release(team)))
