"""Work of S3's experiment: a year of monthly releases, attacked and judged after every month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.attacks import attacks
from noren.measures.safety.extended_month_matching import ExtendedMonthMatching
from noren.measures.safety.month_matching import MonthMatching
from noren.measures.safety.user_matching import UserMatching
from noren.methods.chain import Chain
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of, the_history, without_times
from noren.tables import table_of

DATA = "pwscup2017"
BY_KEY = tuple(f"s{number}" for number in range(1, 7))
SIMPLE = (*BY_KEY, "s7", "s8")


RELEASES: Mapping[str, list[dict[str, Any]]] = table_of(__name__)["releases"]
"""Our releases in place of the teams': steps before monthly pseudonyms."""


def matched(name: str, seed: int) -> dict[str, Any]:
    """Return what S1 to S8 find in a release, by attack: UM, MM, EMM, and MM after every month."""
    return _judged(name, seed, SIMPLE)


def linked(name: str, seed: int) -> dict[str, Any]:
    """Return the same of linkage, which follows customers from month to month."""
    return _judged(name, seed, ("linkage",))


def _judged(name: str, seed: int, names: Sequence[str]) -> dict[str, Any]:
    original, steps = customers_of(DATA), [*RELEASES[name], {"method": "monthly-pseudonyms"}]
    release = without_times(Chain(steps=steps).protect(original, seed=seed))
    guesses = {attack: attacks.create(attack).attack(original, the_history(release.public), seed=1) for attack in names}
    evidence = Evidence(original, release, guesses)
    worst = ExtendedMonthMatching().measure(evidence)
    return {
        "months": worst.notes["periods"],
        "um": dict(UserMatching().measure(evidence).parts),
        "mm": dict(MonthMatching().measure(evidence).parts),
        "emm": dict(worst.parts),
        "curve": worst.notes["curve"],
    }
