"""What a released table leaks, as plain data and as one sentence: reports, sweeps and pages all judge by this.

Two things can go wrong with a table of classes. A class may be so small that a person is singled out in it; and
everybody in a class may share the sensitive value, so that whoever finds the class knows it without singling anybody
out (the homogeneity attack of Machanavajjhala and others, 2007). A release that does either is never called safe,
whatever its method claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from noren.data.statement import Statement
from noren.i18n import _, ngettext
from noren.measures.safety.table_classes import LIKELY
from noren.protocols import Score
from noren.study.numbers import count, number, percent
from noren.study.outcomes import Outcome
from noren.study.page_text import plain, printable
from noren.study.verdicts import Verdict

__all__ = [
    "claimed_by",
    "cure_sentence",
    "guessed_sentences",
    "risk_of_table",
    "table_risk",
    "table_sentence",
    "told_sentences",
    "with_told",
]

_CLAIMS: Final = ("k", "l", "t", "rho")
_ROUNDING = 1e-6


def claimed_by(statement: Statement) -> dict[str, float]:
    """Return what the last step of a method claims: k and, where it says so, l, t or rho.

    >>> claimed_by(Statement("generalize", {"min_class": 3, "l": None}))
    {'k': 3}
    """
    said = dict(statement.steps[-1].parameters)
    said.setdefault("k", said.get("min_class"))
    return {
        name: said[name]
        for name in _CLAIMS
        if isinstance(said.get(name), int | float) and not isinstance(said[name], bool)
    }


def risk_of_table(outcome: Outcome) -> dict[str, Any]:
    """Return what the released table of an outcome leaks; see :func:`table_risk`."""
    statement = outcome.release.statement
    return table_risk(statement, outcome.scores, claimed_by(statement))


def table_risk(statement: Statement, scores: Mapping[str, Score], claimed: Mapping[str, float]) -> dict[str, Any]:
    """Return what a released table leaks: what its classes tell (``classes``), or what is proven of retention.

    No attack names rows of a table. A release by retention is judged by the k that follows from its ρ (``proof``):
    nobody's row is told with a chance above 1/k. Others by their classes, which are counted: the verdict is whether
    they keep the k, ℓ and t that the method claims, and is open where it claims nothing. Where a class tells a
    sensitive value of everybody in it (``told``), the release is broken, whatever it claims.
    """
    k = claimed.get("k")
    facts: dict[str, Any] = dict.fromkeys(
        ("basis", "least", "rows_in_classes", "classes", "below", "prosecutor", "journalist", "marketer", "k", "bound")
    )
    facts |= {"claimed": k, "verdict": str(Verdict.UNTRIED), "rows": None, "told": []}
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
    facts |= {"basis": "classes", "classes": score.notes.get("classes"), "rows": rows, "rows_in_classes": rows - silent}
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
    return with_told(facts, score.notes)


def with_told(risk: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a table leaks with what its classes tell of each sensitive column, by the notes of ``classes``.

    ``certain`` counts the people whose value is told; None where some are told and nobody counted them, as in older
    results.
    """
    told: list[dict[str, Any]] = []
    for column, said in (notes.get("sensitive") or {}).items():
        uncounted = None if said["l_distinct"] < 2 else 0
        told.append(
            {
                "column": printable(column),
                "certain": int(said["told_rows"]) if "told_rows" in said else uncounted,
                "likely": int(said["likely_rows"]) if "likely_rows" in said else None,
                "least": int(said["l_distinct"]),
            }
        )
    told.sort(key=lambda one: -(one["certain"] or 0))
    facts = dict(risk) | {"told": told, "rows": int(notes.get("rows", 0))}
    if any(one["certain"] != 0 for one in told):
        facts["verdict"] = str(Verdict.BROKEN)
    return facts


# --- sentences -------------------------------------------------------------------------------------------------------


def told_sentences(risk: Mapping[str, Any]) -> list[str]:
    """Return whose sensitive values the classes tell for certain, one sentence for each column; none where nobody's.

    >>> told_sentences({"rows": 4000, "told": [{"column": "illness", "certain": 649, "likely": 700, "least": 1}]})
    ['649 of 4,000 people stand in classes where everybody has the same illness: who finds the class knows it.']
    """
    said = []
    for one in risk["told"]:
        if one["certain"] is None:
            words = _("Some class tells {columns} of everybody in it, for all of its rows have the same value (ℓ = 1).")
            said.append(words.format(columns=one["column"]))
        elif one["certain"]:
            words = ngettext(
                "{told} of {people} people stands in a class where everybody has the same {column}: "
                "who finds the class knows it.",
                "{told} of {people} people stand in classes where everybody has the same {column}: "
                "who finds the class knows it.",
                one["certain"],
            )
            said.append(words.format(told=count(one["certain"]), people=count(risk["rows"]), column=one["column"]))
    return said


def guessed_sentences(risk: Mapping[str, Any]) -> list[str]:
    """Return whose sensitive values can be guessed though not told, one sentence for each column.

    >>> guessed_sentences({"rows": 4000, "told": [{"column": "illness", "certain": 0, "likely": 700, "least": 2}]})
    ['The illness of 700 of 4,000 people can be guessed: at least 80.0% of their class have the same.']
    """
    said = _(
        "The {column} of {guessed} of {people} people can be guessed: at least {share} of their class have the same."
    )
    return [
        said.format(
            column=one["column"],
            guessed=count(one["likely"] - one["certain"]),
            people=count(risk["rows"]),
            share=percent(LIKELY),
        )
        for one in risk["told"]
        if one["certain"] is not None and one["likely"] > one["certain"]
    ]


def cure_sentence(risk: Mapping[str, Any]) -> str:
    """Return what to do where classes tell sensitive values; nothing where they do not."""
    if not told_sentences(risk):
        return ""
    return _(
        "Protect again and ask that each group has at least 2 sensitive values (ℓ = 2), or leave the sensitive "
        "column out."
    )


def table_sentence(risk: Mapping[str, Any]) -> str:
    """Return what somebody learns from a released table, as one sentence."""
    if risk["basis"] == "proof":
        return _proof_sentence(risk)
    if risk["basis"] != "classes":
        return _("The classes of this release were not counted, so nothing is known about its risk.")
    if risk["least"] is None:
        return _("No released row says anything by which a person could be looked up.")
    told: Sequence[str] = told_sentences(risk)
    too_small = risk["claimed"] is not None and risk["least"] < risk["claimed"]
    words = {
        "least": count(risk["least"]),
        "others": count(risk["least"] - 1),
        "chance": percent(risk["prosecutor"]),
        "claimed": "" if risk["claimed"] is None else number(risk["claimed"]),
    }
    if told and not too_small:
        return told[0]
    if risk["verdict"] == Verdict.WITHSTANDS:
        return _(
            "Nobody can be singled out: every row is alike to at least {others} others, so whoever looks a person up "
            "is right with a probability of {chance} at most."
        ).format(**words)
    if risk["verdict"] == Verdict.UNTRIED:
        return _(
            "Nothing was promised: the smallest class has {least}, so whoever looks a person up is right with a "
            "probability of up to {chance}."
        ).format(**words | {"least": _rows(risk["least"])})
    if too_small:
        return _(
            "The promise of k = {claimed} is not kept: the smallest class has {least}, so whoever looks a person up is "
            "right with a probability of up to {chance}."
        ).format(**words | {"least": _rows(risk["least"])})
    return _(
        "A promise about the sensitive values is not kept, though every row is alike to at least {others} others."
    ).format(**words)


def _proof_sentence(risk: Mapping[str, Any]) -> str:
    said = (
        _("Proven: nobody’s row can be told with a probability above {bound} (k = {k}), whatever an attacker knows.")
        if risk["verdict"] == Verdict.WITHSTANDS
        else _("The k that follows from the noise is {k}, below the {claimed} that was asked for.")
    )
    claimed = "" if risk["claimed"] is None else number(risk["claimed"])
    return said.format(bound=percent(risk["bound"]), k=number(risk["k"]), claimed=claimed)


def _rows(rows: int) -> str:
    return ngettext("{rows} row", "{rows} rows", rows).format(rows=count(rows))
