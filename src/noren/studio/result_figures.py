"""The numbers of a page: each with its name, its unit, which way is better, and one plain sentence.

Made from a :class:`~noren.reports.run_view.RunView` when a page is shown; names and sentences are in
``result_figures.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from noren.drawing.risk_map import use_title
from noren.errors import listing
from noren.i18n import _
from noren.judgement.glossary import terms
from noren.judgement.numbers import count, number, percent
from noren.judgement.sentences import allowed
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.measures import measures
from noren.measures.safety.table_classes import LIKELY
from noren.reports.run_view import MeasureView, RunView
from noren.tables import Texts

say = Texts(__name__)
_NOTHING = 1e-9
_IN_GLOSSARY = ("prosecutor", "journalist", "marketer")
"""Figures that the glossary explains."""


@dataclass(frozen=True)
class Fact:
    """A number for a person: what it is called, its value as it is and as it is written, and what it means.

    ``of`` names the number for programs, ``direction`` tells which way is better (``safer``, ``higher-safer``,
    ``useful-low``, ``useful-high``), ``more`` is the word of the explanations that tells more, ``beyond`` tells
    whether it is more than a rule allows, ``note`` is what must be known beside it.
    """

    of: str
    label: str
    value: float | None
    text: str
    direction: str
    meaning: str
    more: str = ""
    beyond: bool = False
    note: str = ""


@dataclass(frozen=True)
class Measured:
    """A measure as a page shows it: its own number, and the parts it is made of."""

    name: str
    fact: Fact
    unit: str
    parts: tuple[Fact, ...]


# --- what matters first ---------------------------------------------------------------------------------------


def key_facts(view: RunView, verdict: Verdict) -> list[Fact]:
    """Return the three numbers that matter: the risk against the rule, the use, and what was lost.

    The use says which columns it counts, for it may be high where others are empty.
    """
    place = view.place(verdict)
    label, meaning = say("key.risk.label", allowed=allowed(verdict.rule)), terms("risk")["risk"].meaning
    beyond = verdict.status == VerdictStatus.BROKEN and (place.risk or 0.0) > float(verdict.rule.tolerance)
    risk = Fact("key.risk", label, place.risk, _written(place.risk, percent), "safer", meaning, "risk", beyond)
    meaning, note, text = say("key.use.meaning"), counted_columns(view, place.use_of), _written(place.use, percent)
    use = Fact("key.use", use_title([place]), place.use, text, "useful-high", meaning, place.use_of or "", note=note)
    facts = [risk, use]
    left = None if view.rows.deleted is None else view.rows.original - view.rows.deleted
    rows = "" if left is None else say("key.lost.rows", left=count(left), rows=count(view.rows.original))
    if view.cells:
        lost = sum(column.empty for column in view.cells) / len(view.cells)
        facts.append(replace(_fact("key.lost", lost, percent(lost), "useful-low"), note=rows))
    elif left is not None:
        facts.append(_fact("key.rows", left, f"{count(left)} / {count(view.rows.original)}", "useful-high"))
    return facts


def counted_columns(view: RunView, use_of: str | None) -> str:
    """Return which columns the use counts, and which of the others are empty; nothing where it counts them all."""
    measure = None if use_of is None else view.measure(use_of)
    parts = {name for part in ({} if measure is None else measure.parts) for name in (part, part.rpartition(", ")[0])}
    counted = [column.column for column in view.cells if parts & {column.role, column.column}]
    others = [column for column in view.cells if column.column not in counted]
    empty = [column.column for column in others if column.empty > 1 - _NOTHING]
    if not counted or not others:
        return ""
    text = say("key.use.counts", columns=listing(counted))
    return text if not empty else say("key.use.empty", counts=text, columns=listing(empty))


def _fact(name: str, value: float | None, text: str, direction: str, more: str = "", **words: str) -> Fact:
    """Return a number whose texts are under its own name."""
    if more in _IN_GLOSSARY:
        term = terms(more)[more]
        return Fact(name, term.name, value, text, direction, term.meaning, more)
    label, meaning = say(f"{name}.label", **words), say(f"{name}.meaning", **words)
    return Fact(name, label, value, text, direction, meaning, more)


def table_risk_facts(verdict: Verdict) -> list[Fact]:
    """Return what a released table leaks to those who look for one person, and to those who look for everybody."""
    k, table = verdict.facts.proven_k, verdict.facts.table
    if k is not None:
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
    for disclosure in table.disclosures:  # of how many people the classes tell sensitive values, or nearly so
        of = f"risk.disclosed.{disclosure.column}"
        for kind, name, people in (("certain", of, disclosure.certain), ("likely", f"{of}.likely", disclosure.likely)):
            if people is not None:
                words = {"column": disclosure.column, "share": percent(LIKELY)}
                facts.append(replace(_fact(kind, people, count(people), "safer", "classes", **words), of=name))
    return facts


# --- what stays useful ---------------------------------------------------------------------------------------


def useful_facts(view: RunView) -> list[Fact]:
    """Return the few numbers that tell in one line what stays useful."""
    values = {measure.name: measure for measure in view.measures if measure.name in measures}
    perturbed = view.facts.proven_k is not None
    lines = [(line.rank, name, line) for name in values for line in measures[name].headlines]
    # noise takes no detail away, and where cells became ranges no record stands in its cell: each is judged its own way
    chosen = [item for item in lines if item[2].of in ("any", "perturbed" if perturbed else "others")]
    if not perturbed and all(line.of != "others" for _rank, _name, line in chosen):
        chosen += [item for item in lines if item[2].of == "perturbed" and measures[item[1]].utility_axis is not None]
    facts = []
    for _rank, name, line in sorted(chosen, key=lambda item: item[:2]):
        measure = values[name]
        value = measure.parts.get(line.part) if line.part else measure.value
        if value is not None:
            of = ".".join(("measures", name, *([line.part] if line.part else [])))
            text = percent(value) if line.percent else number(value)
            way = "useful-low" if (line.goal or measure.goal) == "lower" else "useful-high"
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
            _fact(name, values[name], number(values[name]), way, "classes", column=column),
            of=f"measures.classes.sensitive.{column}.{name}",
        )
        for column, values in columns.items()
        for name, way in (("l_distinct", "higher-safer"), ("t_equal", "safer"))
        if values.get(name) is not None
    ]


def measured(measure: MeasureView) -> Measured:
    """Return a measure of a view with its parts, ready for a page."""
    way = {
        ("safety", "lower"): "safer",
        ("safety", "higher"): "higher-safer",
        ("utility", "lower"): "useful-low",
        ("utility", "higher"): "useful-high",
    }.get((measure.group, measure.goal or ""), "")
    name = measure.name
    of = f"measures.{name}"
    fact = Fact(of, name, measure.value, _written(measure.value), way, _(measure.summary), name)
    parts = tuple(
        Fact(f"{of}.{part}", measure.part_name(part), value, _written(value), "", "", name)
        for part, value in measure.parts.items()
    )
    return Measured(name, fact, _(measure.unit), parts)


def _written(value: float | None, write: Callable[[float], str] = number) -> str:
    return "–" if value is None else write(value)
