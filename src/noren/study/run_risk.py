"""What attackers achieve against a run, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from noren.kernels.threshold import Bound, threshold
from noren.measures.safety.hits import hits
from noren.measures.safety.verdicts import Try, verdicts
from noren.study.findings import attack_lines
from noren.study.outcomes import Outcome
from noren.study.page_text import printable
from noren.study.verdicts import Verdict

__all__ = ["attack_facts", "damage_of", "verdicts_of"]

_BOUNDS: tuple[Bound, ...] = ("paper", "sharp")


def attack_facts(outcome: Outcome, people: int) -> tuple[list[dict[str, Any]], str | None]:
    """Return what each attack achieved, the most damaging first, and which that is; none if nobody is named rightly.

    What is right is known to the steward alone: without the secret part those facts are None.
    """
    lines = {line.attack: line for line in attack_lines(outcome, people)}
    if not outcome.release.has_secret:
        return [_facts(name, line.named, line.chance) for name, line in lines.items()], None
    found = []
    judged = verdicts(outcome.guesses, outcome.release.secret)
    for one in judged:
        needed = {bound: threshold(one.named, bound) for bound in _BOUNDS}
        about = _facts(one.attack, one.named, one.named / max(people, 1)) | {"right": one.right}
        about |= {f"needed_{bound}": needed[bound] for bound in _BOUNDS}
        about |= {f"effective_{bound}": one.right >= needed[bound] for bound in _BOUNDS}
        about["best"] = {bound: _best(one.best[bound]) for bound in _BOUNDS}
        about["share"] = hits(outcome.guesses[one.attack], outcome.release.secret).customers / max(people, 1)
        found.append(about)
    worst = judged[0] if judged and judged[0].right else None
    return found, None if worst is None else printable(worst.attack)


def _facts(name: str, named: int, chance: float) -> dict[str, Any]:
    unknown = ("right", "needed_paper", "needed_sharp", "effective_paper", "effective_sharp", "best", "share")
    return {"attack": printable(name), "named": named, "chance": chance} | dict.fromkeys(unknown)


def _best(one: Try) -> dict[str, Any]:
    return {"named": one.named, "right": one.right, "needed": one.needed, "effective": one.effective}


def verdicts_of(attacks: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the verdict under each bound: by each attack's best try, and by all of its answers."""
    judged = [one for one in attacks if one["best"] is not None]
    best: dict[str, str] = {bound: _verdict([one["best"][bound]["effective"] for one in judged]) for bound in _BOUNDS}
    every: dict[str, str] = {bound: _verdict([one[f"effective_{bound}"] for one in judged]) for bound in _BOUNDS}
    return best, every


def _verdict(effective: Sequence[bool]) -> str:
    if not effective:
        return str(Verdict.UNTRIED)
    return str(Verdict.BROKEN if any(effective) else Verdict.WITHSTANDS)


def damage_of(facts: Mapping[str, Any]) -> tuple[bool, bool, Fraction, int]:
    """Return what attacks are compared by, from what :func:`attack_facts` tells of one whose right answers are known.

    >>> tried = {"named": 9, "right": 2, "needed": 4, "effective": False}
    >>> damage_of({"right": 5, "best": {"paper": tried, "sharp": tried}})
    (False, False, Fraction(1, 2), 5)
    """
    paper, sharp = facts["best"]["paper"], facts["best"]["sharp"]
    return paper["effective"], sharp["effective"], Fraction(sharp["right"], sharp["needed"]), facts["right"]
