"""What attackers achieve against a run, and what a released table leaks, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from noren.data.statement import Statement
from noren.kernels.threshold import Bound, threshold
from noren.measures.safety.hits import hits
from noren.measures.safety.verdicts import Try, verdicts
from noren.protocols import Score
from noren.study.findings import Verdict, attack_lines
from noren.study.outcomes import Outcome
from noren.study.page_text import plain, printable

__all__ = ["attack_facts", "damage_of", "table_risk", "verdicts_of"]

_BOUNDS: tuple[Bound, ...] = ("paper", "sharp")
_ROUNDING = 1e-6


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


def table_risk(statement: Statement, scores: Mapping[str, Score], claimed: Mapping[str, float]) -> dict[str, Any]:
    """Return what a released table leaks: what its classes tell (``classes``), or what is proven of retention.

    No attack names rows of a table. A release by retention is judged by the k that follows from its ρ (``proof``):
    nobody's row is told with a chance above 1/k. Others by their classes, which are counted: the verdict is whether
    they keep the k, ℓ and t that the method claims, and is open where it claims nothing.
    """
    k = claimed.get("k")
    facts: dict[str, Any] = dict.fromkeys(
        ("basis", "least", "rows_in_classes", "classes", "below", "prosecutor", "journalist", "marketer", "k", "bound")
    )
    facts |= {"claimed": k, "verdict": str(Verdict.UNTRIED)}
    if statement.method == "retention" and isinstance(statement.notes.get("k"), int | float):
        real = float(statement.notes["k"])
        kept = k is None or real >= k - _ROUNDING
        facts |= {"basis": "proof", "k": real, "bound": 1 / max(real, 1.0)}
        facts["verdict"] = str(Verdict.WITHSTANDS if kept else Verdict.BROKEN)
        return facts
    score = scores.get("classes")
    if score is None:
        return facts
    rows, silent = int(score.notes.get("rows", 0)), int(score.notes.get("rows_that_say_nothing", 0))
    facts |= {"basis": "classes", "classes": score.notes.get("classes"), "rows_in_classes": rows - silent}
    facts |= {
        name: plain(score.parts[name]) for name in ("below", "prosecutor", "journalist", "marketer") if score.parts
    }
    if score.parts:
        facts |= {"least": int(score.value), "k": float(score.value)}
    else:  # no row says anything, so there is nobody to look up
        facts |= {"prosecutor": 0.0, "journalist": 0.0, "marketer": 0.0, "below": 0.0}
    holds = score.notes.get("holds")
    if holds is None and k is not None:  # of a chain the measure knows no claim, but the last step makes one
        holds = not score.parts or score.value >= k
    if holds is not None:
        facts["verdict"] = str(Verdict.WITHSTANDS if holds else Verdict.BROKEN)
    return facts
