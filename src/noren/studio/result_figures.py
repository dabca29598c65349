"""The numbers of a page: each with its name, its unit, which way is better, and one plain sentence.

Made from a :class:`~noren.reports.run_view.RunView` when a page is shown; names and sentences are in
``page_numbers.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from noren.drawing.risk_map import use_title
from noren.i18n import _
from noren.judgement.evidence import TableFacts
from noren.judgement.numbers import count, number, percent
from noren.judgement.sentences import allowed
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.measures import measures
from noren.measures.safety.table_classes import LIKELY
from noren.reports.run_view import MeasureView, RunView
from noren.tables import Texts

say = Texts(__name__)


@dataclass(frozen=True)
class Fact:
    """A number for a person: what it is called, its value as it is and as it is written, and what it means.

    ``of`` names the number for programs, ``direction`` tells which way is better (``safer``, ``higher-safer``,
    ``useful-low``, ``useful-high``), ``more`` is the word of the explanations that tells more, ``beyond`` tells
    whether it is more than a rule allows.
    """

    of: str
    label: str
    value: float | None
    text: str
    direction: str
    meaning: str
    more: str = ""
    beyond: bool = False


@dataclass(frozen=True)
class Measured:
    """A measure as a page shows it: its own number, and the parts it is made of."""

    name: str
    fact: Fact
    unit: str
    parts: tuple[Fact, ...]


# --- what matters first ---------------------------------------------------------------------------------------


def key_facts(view: RunView, verdict: Verdict) -> list[Fact]:
    """Return the three numbers that matter: the risk, the use, and what is told of people or taken from them.

    The third is, of a table with sensitive values, how many people's a class tells; else whom the best attack names,
    where that decides; else how many rows are left.
    """
    place = view.place(verdict)
    risk = _fact("key.risk", place.risk, _written(place.risk, percent), "safer", "risk", allowed=allowed(verdict.rule))
    beyond = verdict.status == VerdictStatus.BROKEN and (place.risk or 0.0) > float(verdict.rule.tolerance)
    meaning = say("key.use.meaning")
    text = _written(place.use, percent)
    use = Fact("key.use", use_title([place]), place.use, text, "useful-high", meaning, place.use_of or "")
    facts = [replace(risk, beyond=beyond), use]
    table, people = verdict.facts.table, verdict.facts.people
    told = [] if table is None or verdict.facts.proven_k is not None else _told(table)
    certain = [one for one in told if not one.of.endswith(".likely")]
    best = max(verdict.evidence, key=lambda one: one.customers, default=None)
    if table is not None and certain:
        worst = max(certain, key=lambda one: one.value or 0.0)
        facts.append(replace(worst, text=_of_all(worst.value or 0, table.rows), beyond=bool(worst.value)))
    elif best is not None and verdict.status != VerdictStatus.PROVED and verdict.risk_of == "attacks":
        named = round(best.customers * people)
        fact = _fact("key.named", named, _of_all(named, people), "safer", best.attack, attack=best.attack)
        facts.append(replace(fact, beyond=verdict.status == VerdictStatus.BROKEN))
    elif view.rows.deleted is not None:
        left = view.rows.original - view.rows.deleted
        facts.append(_fact("key.rows", left, _of_all(left, view.rows.original), "useful-high"))
    return facts


def _fact(name: str, value: float | None, text: str, direction: str, more: str = "", **words: str) -> Fact:
    """Return a number whose texts are under its own name."""
    label, meaning = say(f"{name}.label", **words), say(f"{name}.meaning", **words)
    return Fact(name, label, value, text, direction, meaning, more)


def _of_all(part: float, whole: int) -> str:
    return say("of_all", part=count(int(part)), whole=count(whole))


# --- what leaks ----------------------------------------------------------------------------------------------


def table_risk_facts(verdict: Verdict) -> list[Fact]:
    """Return what a released table leaks to those who look for one person, and to those who look for everybody."""
    found, table = verdict.facts, verdict.facts.table
    if found.proven_k is not None:
        k = found.proven_k
        bound = 1 / max(k, 1.0)
        fact = _fact("risk.bound", bound, percent(bound), "safer", "pk")
        return [fact, _fact("risk.k", k, number(k), "higher-safer", "k")]
    if table is None:
        return []
    shares = [("prosecutor", table.prosecutor), ("journalist", table.journalist), ("marketer", table.marketer)]
    facts = [_fact(f"risk.{who}", value, percent(value), "safer", who) for who, value in shares if value is not None]
    if table.least is not None:
        facts.append(_fact("risk.k", table.least, number(table.least), "higher-safer", "k"))
    if table.below is not None:
        facts.append(_fact("risk.below", table.below, percent(table.below), "safer", "k"))
    return [*facts, *_told(table)]


def _told(table: TableFacts) -> list[Fact]:
    """Return how many people's sensitive values the classes tell, for certain and nearly so."""
    facts = []
    for one in table.disclosures:
        of = f"risk.told.{one.column}"
        for kind, name, people in (("certain", of, one.certain), ("likely", f"{of}.likely", one.likely)):
            if people is not None:
                words = {"column": one.column, "share": percent(LIKELY)}
                facts.append(replace(_fact(kind, people, count(people), "safer", "classes", **words), of=name))
    return facts


# --- what stays useful ---------------------------------------------------------------------------------------


def useful_facts(view: RunView) -> list[Fact]:
    """Return the few numbers that tell in one line what stays useful."""
    found = {one.name: one for one in view.measures if one.name in measures}
    perturbed = view.facts.proven_k is not None
    told = [(line.rank, name, line) for name in found for line in measures[name].headlines]
    # noise takes no detail away, and where cells became ranges no record stands in its cell: each is judged its own way
    kept = [one for one in told if one[2].of in ("any", "perturbed" if perturbed else "others")]
    if not perturbed and all(line.of != "others" for _rank, _name, line in kept):
        kept += [one for one in told if one[2].of == "perturbed" and measures[one[1]].utility_axis is not None]
    facts = []
    for _rank, name, line in sorted(kept, key=lambda one: one[:2]):
        one = found[name]
        value = one.parts.get(line.part) if line.part else one.value
        if value is not None:
            of = ".".join(("measures", name, *([line.part] if line.part else [])))
            text = percent(value) if line.percent else number(value)
            way = "useful-low" if (line.goal or one.goal) == "lower" else "useful-high"
            facts.append(Fact(of, _(line.label), value, text, way, _(line.meaning), name))
    deleted, original = view.rows.deleted, view.rows.original
    if deleted is not None:
        text = f"{count(deleted)} ({percent(deleted / original)})" if deleted and original else count(deleted)
        facts.append(_fact("rows.deleted", deleted, text, "useful-low", "deleted"))
    return facts


def diversity_facts(view: RunView) -> list[Fact]:
    """Return ℓ and t of each sensitive column; what the measure itself says is the worst of them."""
    classes = view.measure("classes")
    if classes is None or view.facts.proven_k is not None:
        return []
    columns = classes.notes.get("sensitive") or {}
    return [
        replace(
            _fact(name, said[name], number(said[name]), way, "classes", column=column),
            of=f"measures.classes.sensitive.{column}.{name}",
        )
        for column, said in columns.items()
        for name, way in (("l_distinct", "higher-safer"), ("t_equal", "safer"))
        if said.get(name) is not None
    ]


def measured(one: MeasureView) -> Measured:
    """Return a measure of a view with its parts, ready for a page."""
    way = {
        ("safety", "lower"): "safer",
        ("safety", "higher"): "higher-safer",
        ("utility", "lower"): "useful-low",
        ("utility", "higher"): "useful-high",
    }.get((one.group, one.goal or ""), "")
    name = one.name
    of = f"measures.{name}"
    fact = Fact(of, name, one.value, _written(one.value), way, _(one.summary), name)
    parts = tuple(
        Fact(f"{of}.{part}", one.part_name(part), value, _written(value), "", "", name)
        for part, value in one.parts.items()
    )
    return Measured(name, fact, _(one.unit), parts)


def _written(value: float | None, write: Callable[[float], str] = number) -> str:
    return "–" if value is None else write(value)
