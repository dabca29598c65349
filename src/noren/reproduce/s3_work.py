"""S3's experiment as units of work: a year of monthly releases, attacked, and judged after every month."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noren.attacks import attacks
from noren.measures.safety.extended_month_matching import ExtendedMonthMatching
from noren.measures.safety.month_matching import MonthMatching
from noren.measures.safety.user_matching import UserMatching
from noren.methods.chain import Chain
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of, the_history, without_times

DATA = "pwscup2017"
BY_KEY = tuple(f"s{number}" for number in range(1, 7))
SIMPLE = (*BY_KEY, "s7", "s8")


def _thin(share: float, rarest: bool = False) -> dict[str, Any]:
    return {"method": "thin", "share": share, "rarest": rarest}


def _perturb(days: int, price: float, packs: int) -> dict[str, Any]:
    return {"method": "perturb", "days": days, "price": price, "packs": packs}


def _swap(share: float) -> dict[str, Any]:
    return {"method": "swap", "share": share}


RELEASES: dict[str, list[dict[str, Any]]] = {
    "pseudonyms alone": [],
    "thin 30 %, light noise": [_thin(0.3), _perturb(3, 0.05, 1)],
    "swap 30 %, light noise": [_swap(0.3), _perturb(3, 0.05, 1)],
    "dates and quantities moved": [_perturb(7, 0.0, 2)],
    "swap 50 %": [_swap(0.5)],
    "thin 50 % of the rarest, noise": [_thin(0.5, rarest=True), _perturb(7, 0.1, 2)],
    "thin 80 %, strong noise": [_thin(0.8), _perturb(31, 0.5, 5)],
    "swap 60 %, thin 30 %, strong noise": [_swap(0.6), _thin(0.3), _perturb(31, 0.3, 3)],
}
"""What stands in for the teams' releases: steps before a pseudonym for each month."""


def matched(name: str, seed: int) -> dict[str, Any]:
    """Return what S1 to S8 find in a release, by attack: UM, MM, EMM, and MM after every month."""
    return _judged(name, seed, SIMPLE)


def linked(name: str, seed: int) -> dict[str, Any]:
    """Return the same of linkage, which follows customers from month to month."""
    return _judged(name, seed, ("linkage",))


def _judged(name: str, seed: int, names: Sequence[str]) -> dict[str, Any]:
    original, steps = customers_of(DATA), [*RELEASES[name], {"method": "monthly-pseudonyms"}]
    release = without_times(Chain(steps=steps).protect(original, seed=seed))
    guesses = {one: attacks.create(one).attack(original, the_history(release.public), seed=1) for one in names}
    evidence = Evidence(original, release, guesses)
    worst = ExtendedMonthMatching().measure(evidence)
    return {
        "months": worst.notes["periods"],
        "um": dict(UserMatching().measure(evidence).parts),
        "mm": dict(MonthMatching().measure(evidence).parts),
        "emm": dict(worst.parts),
        "curve": worst.notes["curve"],
    }
