"""The numbers of a page: each with its name, its unit, which way is better, and one plain sentence.

Made from the facts of :func:`noren.study.run_view.run_view` when a page is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noren.i18n import _
from noren.measures.safety.table_classes import LIKELY
from noren.study.numbers import count, number, percent

__all__ = ["Fact", "Measured", "measured", "number", "table_risk_facts", "useful_facts"]

View = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """A number for a person: what it is called, its value as it is and as it is written, and what it means.

    ``of`` names the number for programs, ``direction`` tells which way is better (``safer``, ``higher-safer``,
    ``useful-low``, ``useful-high``), ``more`` is the word of the explanations that tells more.
    """

    of: str
    label: str
    value: float | None
    text: str
    direction: str
    meaning: str
    more: str = ""


@dataclass(frozen=True)
class Measured:
    """A measure as a page shows it: its own number, and the parts it is made of."""

    name: str
    fact: Fact
    unit: str
    parts: tuple[Fact, ...]


# --- what leaks ----------------------------------------------------------------------------------------------


def table_risk_facts(view: View) -> list[Fact]:
    """Return what a released table leaks to those who look for one person, and to those who look for everybody."""
    risk = view["table_risk"]
    if risk is None:
        return []
    known = [
        Fact(
            "risk.bound",
            _("proven bound"),
            risk["bound"],
            _share(risk["bound"]),
            "safer",
            _("The highest probability with which anybody’s row can be told, whatever the attacker knows: 1/k."),
            "pk",
        ),
        Fact(
            "risk.prosecutor",
            _("prosecutor"),
            risk["prosecutor"],
            _share(risk["prosecutor"]),
            "safer",
            _(
                "The highest chance to point at the right row for somebody who knows that the person is in the table: "
                "1 over the smallest class."
            ),
            "prosecutor",
        ),
        Fact(
            "risk.journalist",
            _("journalist"),
            risk["journalist"],
            _share(risk["journalist"]),
            "safer",
            _("The same for somebody who knows only that the person belongs to the population behind the table."),
            "journalist",
        ),
        Fact(
            "risk.marketer",
            _("marketer"),
            risk["marketer"],
            _share(risk["marketer"]),
            "safer",
            _("The share of all rows that somebody gets right who names one person for each row."),
            "marketer",
        ),
        Fact(
            "risk.k",
            _("k that is real"),
            risk["k"],
            "–" if risk["k"] is None else number(risk["k"]),
            "higher-safer",
            _("The fewest rows that are alike, or what the noise is worth: nobody stands out from fewer than k."),
            "k",
        ),
        Fact(
            "risk.below",
            _("rows below the promised k"),
            risk["below"],
            _share(risk["below"]),
            "safer",
            _("The share of rows in classes smaller than the k that was promised; 0 if the promise is kept."),
            "k",
        ),
    ]
    found = {one["name"]: one for one in view["measures"]}
    diverse = _diversity(found) if risk["basis"] == "classes" else []
    return [*(fact for fact in known if fact.value is not None), *_told(risk), *diverse]


def _told(risk: View) -> list[Fact]:
    """Return how many people's sensitive values the classes tell, for certain and nearly so."""
    facts = []
    for one in risk["told"]:
        certain, likely = one["certain"], one["likely"]
        if certain is None:
            continue
        of = f"risk.told.{one['column']}"
        words = _("people whose {column} is told").format(column=one["column"])
        meaning = _(
            "How many people stand in a class where everybody has the same value: whoever finds the class knows it "
            "without finding the row. 0 is safe."
        )
        facts.append(Fact(of, words, certain, count(certain), "safer", meaning, "classes"))
        words = _("people whose {column} can be guessed").format(column=one["column"])
        meaning = _(
            "How many people stand in a class where one value belongs to {share} of the rows or more: whoever finds "
            "the class guesses it and is seldom wrong."
        ).format(share=percent(LIKELY))
        facts.append(Fact(f"{of}.likely", words, likely, count(likely), "safer", meaning, "classes"))
    return facts


# --- what stays useful ---------------------------------------------------------------------------------------


def useful_facts(view: View) -> list[Fact]:
    """Return the few numbers that tell in one line what stays useful."""
    found = {one["name"]: one for one in view["measures"]}
    return _useful_history(found, view) if view["kind"] == "history" else _useful_table(found, view)


def _useful_history(found: Mapping[str, Any], view: View) -> list[Fact]:
    facts = []
    if "cell-error" in found:
        facts.append(
            Fact(
                "measures.cell-error",
                _("U, error per cell"),
                found["cell-error"]["value"],
                _written(found["cell-error"]["value"]),
                "useful-low",
                _(
                    "The error to expect when a value is drawn from each released cell: 0 for an exact copy, 1 for a "
                    "release that says nothing."
                ),
                "cell-error",
            )
        )
    if "frequent-itemsets" in found:
        kept = found["frequent-itemsets"]["parts"].get("kept")
        facts.append(
            Fact(
                "measures.frequent-itemsets.kept",
                _("frequent itemsets kept"),
                kept,
                _share(kept),
                "useful-high",
                _("The share of the items that are often bought together which a basket analysis would still find."),
                "frequent-itemsets",
            )
        )
    if "rfm" in found:
        facts.append(
            Fact(
                "measures.rfm",
                _("RFM error"),
                found["rfm"]["value"],
                _written(found["rfm"]["value"]),
                "useful-low",
                _("How far a table of customers by recency, frequency and money is off; 0 is exact."),
                "rfm",
            )
        )
    return [*(fact for fact in facts if fact.value is not None), *_deleted(view)]


def _useful_table(found: Mapping[str, Any], view: View) -> list[Fact]:
    about = {
        "l1-precision": (
            _("L1 precision"),
            "useful-high",
            _("The share of records that stand in the right cell of the cross tabulation; 1 is exact."),
        ),
        "table-loss": (
            _("loss of detail"),
            "useful-low",
            _("How large a share of a column’s values a released cell may mean; 0 where every cell is exact."),
        ),
        "entropy-loss": (
            _("loss of information"),
            "useful-low",
            _("The share of the bits that told values apart which released cells no longer hold."),
        ),
        "class-size": (
            _("mean class size"),
            "useful-low",
            _("How many rows cannot be told apart, in the mean."),
        ),
    }
    perturbed = view["table_risk"] is not None and view["table_risk"]["basis"] == "proof"
    # noise takes no detail away, and where cells became ranges no record stands in its cell: each is judged its own way
    detail = [name for name in about if name != "l1-precision"]
    wanted = ["l1-precision"] if perturbed or not any(name in found for name in detail) else detail
    facts = [
        Fact(f"measures.{name}", label, found[name]["value"], number(found[name]["value"]), way, meaning, name)
        for name, (label, way, meaning) in about.items()
        if name in wanted and name in found and found[name]["value"] is not None
    ]
    if perturbed:
        return [*facts, *_with_noise(found), *_deleted(view)]
    return [*facts, *_deleted(view)]


def _with_noise(found: Mapping[str, Any]) -> list[Fact]:
    exact = found["l1-precision"]["parts"] if "l1-precision" in found else {}
    about = {
        "prediction": (
            _("predicted rightly"),
            "useful-high",
            _("How often a model that learnt from the release is right about people held back."),
        ),
        "association": (
            _("association error"),
            "useful-low",
            _("How far what columns have to do with each other is from the original’s; 0 is exact."),
        ),
    }
    facts = [
        Fact(f"measures.{name}", label, found[name]["value"], number(found[name]["value"]), way, meaning, name)
        for name, (label, way, meaning) in about.items()
        if name in found and found[name]["value"] is not None
    ]
    if exact.get("perturbed") is None:
        return facts
    noisy = Fact(
        "measures.l1-precision.perturbed",
        _("L1 precision with the noise"),
        exact["perturbed"],
        number(exact["perturbed"]),
        "useful-high",
        _("The same for the released table as it is, before the noise is reckoned out."),
        "l1-precision",
    )
    return [noisy, *facts]


def _diversity(found: Mapping[str, Any]) -> list[Fact]:
    """Return ℓ and t of each sensitive column; what the measure itself says is the worst of them."""
    if "classes" not in found:
        return []
    about = {
        "l_distinct": (
            _("ℓ of {column}"),
            "higher-safer",
            _("The fewest different sensitive values in a class: with 1, the class tells the value."),
        ),
        "t_equal": (
            _("t of {column}"),
            "safer",
            _("How far the sensitive values of a class are at most from those of everybody; 0 where both are alike."),
        ),
    }
    columns = found["classes"]["notes"].get("sensitive") or {}
    return [
        Fact(
            f"measures.classes.sensitive.{column}.{name}",
            label.format(column=column),
            said[name],
            number(said[name]),
            way,
            meaning,
            "classes",
        )
        for column, said in columns.items()
        for name, (label, way, meaning) in about.items()
        if said.get(name) is not None
    ]


def _deleted(view: View) -> list[Fact]:
    deleted, original = view["rows"]["deleted"], view["rows"]["original"]
    if deleted is None:
        return []
    text = f"{count(deleted)} ({percent(deleted / original)})" if deleted and original else count(deleted)
    return [
        Fact(
            "rows.deleted",
            _("rows deleted"),
            deleted,
            text,
            "useful-low",
            _("How many original rows have no released row."),
            "deleted",
        )
    ]


# --- every measure -------------------------------------------------------------------------------------------


def measured(one: Mapping[str, Any]) -> Measured:
    """Return a measure of a view with its parts, ready for a page."""
    way = {
        ("safety", "lower"): "safer",
        ("safety", "higher"): "higher-safer",
        ("utility", "lower"): "useful-low",
        ("utility", "higher"): "useful-high",
    }.get((one["group"], one["goal"]), "")
    name = one["name"]
    of = f"measures.{name}"
    fact = Fact(of, name, one["value"], _written(one["value"]), way, _(one["summary"]), name)
    parts = tuple(
        Fact(f"{of}.{part}", part_words(part), value, _written(value), "", "", name)
        for part, value in one["parts"].items()
    )
    return Measured(name, fact, _(one["unit"]), parts)


def part_words(part: str) -> str:
    """Return what a part of a measure is called; columns and attacks keep their names."""
    known = _part_words()
    for mark in (".", ", "):
        whose, _mark, what = part.rpartition(mark)
        if whose and what in known:
            return f"{whose}: {known[what]}"
    return known.get(part, part)


def _part_words() -> dict[str, str]:
    return {
        "named": _("named"),
        "right": _("right"),
        "needed": _("needed"),
        "min": _("smallest"),
        "max": _("largest"),
        "mean": _("mean"),
        "median": _("median"),
        "sum": _("sum"),
        "variance": _("variance"),
        "sd": _("standard deviation"),
        "least": _("smallest"),
        "greatest": _("largest"),
        "below": _("share below the promised k"),
        "one_to_one": _("smallest if each pseudonym is another person"),
        "prosecutor": _("prosecutor"),
        "journalist": _("journalist"),
        "marketer": _("marketer"),
        "l_distinct": _("ℓ, distinct sensitive values"),
        "l_entropy": _("ℓ, by entropy"),
        "recursive_c": _("c, recursive diversity"),
        "t_equal": _("t, all moves alike"),
        "t_ordered": _("t, by the values’ order"),
        "one_attacker": _("one attacker succeeds"),
        "any_attacker": _("any attacker succeeds"),
        "in_league": _("attackers in league succeed, at most"),
        "smallest_class": _("smallest class"),
        "kept": _("share kept"),
        "frequent": _("frequent itemsets of the original"),
        "spread": _("spread between draws"),
        "wholesale": _("wholesale"),
        "retail": _("retail"),
        "top": _("top items"),
        "items": _("items"),
        "rows": _("rows"),
        "share": _("share"),
        "similarity": _("similarity"),
        "classes": _("classes"),
        "lost_rows": _("lost rows"),
        "perturbed": _("with the noise"),
        "reconstructed": _("reconstructed"),
        "original": _("learnt from the original"),
        "released": _("learnt from the release"),
        "commonest": _("always the commonest value"),
        "date": _("date"),
        "item": _("item"),
        "price": _("price"),
        "quantity": _("quantity"),
    }


# --- writing -------------------------------------------------------------------------------------------------


def _written(value: float | None) -> str:
    return "–" if value is None else number(value)


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)
