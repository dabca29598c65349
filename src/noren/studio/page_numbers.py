"""The numbers of a page: each with its name, its unit, which way is better, and one plain sentence.

Made from a :class:`~noren.reports.run_view.RunView` when a page is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from noren.descriptions import Headline
from noren.drawing.risk_map import use_title
from noren.i18n import _
from noren.judgement.evidence import TableFacts
from noren.judgement.numbers import count, number, percent
from noren.judgement.sentences import allowed
from noren.judgement.verdict import Verdict, Word
from noren.measures import measures
from noren.measures.safety.table_classes import LIKELY
from noren.protocols import Measure
from noren.reports.run_view import MeasureView, RunView

__all__ = ["Fact", "Measured", "diversity_facts", "key_facts", "measured", "number", "table_risk_facts", "useful_facts"]


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
    risk = Fact(
        "key.risk",
        _("risk ({allowed} allowed)").format(allowed=allowed(verdict.rule)),
        place.risk,
        _share(place.risk),
        "safer",
        _(
            "The highest probability of being re-identified: what is proved, where that is enough for the rule; "
            "else what the smallest class of a table implies, or the share of customers that the best attack "
            "re-identifies."
        ),
        "risk",
        beyond=verdict.word == Word.BROKEN and (place.risk or 0.0) > float(verdict.rule.tolerance),
    )
    use = Fact(
        "key.use",
        use_title([place]),
        place.use,
        _share(place.use),
        "useful-high",
        _("What the release still says: 1 for an exact copy."),
        place.use_of or "",
    )
    return [risk, use, *(_people_told(verdict) or _people_named(verdict) or _rows_left(view))]


def _people_told(verdict: Verdict) -> list[Fact]:
    table = verdict.facts.table
    if table is None or verdict.facts.proven_k is not None:
        return []
    told = [one for one in _told(table) if not one.of.endswith(".likely")]
    if not told:
        return []
    worst = max(told, key=lambda one: one.value or 0.0)
    return [replace(_of_all(worst, table.rows), beyond=bool(worst.value))]


def _people_named(verdict: Verdict) -> list[Fact]:
    best = max(verdict.evidence, key=lambda one: one.customers, default=None)
    if best is None or verdict.word == Word.PROVED or verdict.risk_of != "attacks":
        return []
    people = verdict.facts.people
    meaning = _("How many people the best attack, {attack}, names rightly.").format(attack=best.attack)
    named = round(best.customers * people)
    label, beyond = _("people re-identified"), verdict.word == Word.BROKEN
    return [_of_all(Fact("key.named", label, named, "", "safer", meaning, best.attack, beyond), people)]


def _rows_left(view: RunView) -> list[Fact]:
    deleted, original = view.rows.deleted, view.rows.original
    if deleted is None:
        return []
    meaning = _("How many original rows have a released row.")
    return [_of_all(Fact("key.rows", _("rows left"), original - deleted, "", "useful-high", meaning), original)]


def _of_all(fact: Fact, every: int) -> Fact:
    text = _("{part} of {whole}").format(part=count(int(fact.value or 0)), whole=count(every))
    return replace(fact, text=text)


# --- what leaks ----------------------------------------------------------------------------------------------


def table_risk_facts(verdict: Verdict) -> list[Fact]:
    """Return what a released table leaks to those who look for one person, and to those who look for everybody."""
    found, table = verdict.facts, verdict.facts.table
    if found.proven_k is not None:
        bound = 1 / max(found.proven_k, 1.0)
        return [
            Fact(
                "risk.bound",
                _("proven bound"),
                bound,
                percent(bound),
                "safer",
                _(
                    "The highest probability with which a row can be linked to a person, whatever the attacker "
                    "knows: 1/k."
                ),
                "pk",
            ),
            _real_k(found.proven_k),
        ]
    if table is None:
        return []
    about = [
        (
            "prosecutor",
            _("prosecutor"),
            table.prosecutor,
            _(
                "The highest chance to point at the right row for somebody who knows that the person is in the table: "
                "1 over the smallest class."
            ),
        ),
        (
            "journalist",
            _("journalist"),
            table.journalist,
            _("The same for somebody who knows only that the person belongs to the population behind the table."),
        ),
        (
            "marketer",
            _("marketer"),
            table.marketer,
            _("The share of all rows that somebody gets right who names one person for each row."),
        ),
    ]
    shares = [
        Fact(f"risk.{name}", label, value, percent(value), "safer", meaning, name)
        for name, label, value, meaning in about
        if value is not None
    ]
    if table.least is not None:
        shares.append(_real_k(table.least))
    if table.below is not None:
        meaning = _("The share of rows in classes smaller than the k that was promised; 0 if the promise is kept.")
        label = _("rows below the promised k")
        shares.append(Fact("risk.below", label, table.below, percent(table.below), "safer", meaning, "k"))
    return [*shares, *_told(table)]


def _real_k(k: float) -> Fact:
    meaning = _("The fewest rows that are alike, or what the noise is worth: nobody stands out from fewer than k.")
    return Fact("risk.k", _("k that is real"), k, number(k), "higher-safer", meaning, "k")


def _told(table: TableFacts) -> list[Fact]:
    """Return how many people's sensitive values the classes tell, for certain and nearly so."""
    certainly = _(
        "How many people stand in a class where everybody has the same value: whoever finds the class knows it "
        "without finding the row. 0 is safe."
    )
    nearly = _(
        "How many people stand in a class where one value belongs to {share} of the rows or more: whoever finds "
        "the class guesses it and is seldom wrong."
    ).format(share=percent(LIKELY))
    facts = []
    for one in table.told:
        of, told = f"risk.told.{one.column}", _("people whose {column} is disclosed").format(column=one.column)
        guessed = _("people whose {column} can be guessed").format(column=one.column)
        if one.certain is not None:
            facts.append(Fact(of, told, one.certain, count(one.certain), "safer", certainly, "classes"))
        if one.likely is not None:
            facts.append(Fact(f"{of}.likely", guessed, one.likely, count(one.likely), "safer", nearly, "classes"))
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
        kept += [one for one in told if one[2].of == "perturbed" and measures[one[1]].places is not None]
    facts = [_headline(line, found[name]) for _rank, name, line in sorted(kept, key=lambda one: one[:2])]
    return [*(fact for fact in facts if fact.value is not None), *_deleted(view)]


def _headline(line: Headline, one: MeasureView) -> Fact:
    value = one.parts.get(line.part) if line.part else one.value
    return Fact(
        ".".join(("measures", one.name, *([line.part] if line.part else []))),
        _(line.label),
        value,
        _share(value) if line.percent else _written(value),
        "useful-low" if (line.goal or one.goal) == "lower" else "useful-high",
        _(line.meaning),
        one.name,
    )


def diversity_facts(view: RunView) -> list[Fact]:
    """Return ℓ and t of each sensitive column; what the measure itself says is the worst of them."""
    classes = view.measure("classes")
    if classes is None or view.facts.proven_k is not None:
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
    columns = classes.notes.get("sensitive") or {}
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


def _deleted(view: RunView) -> list[Fact]:
    deleted, original = view.rows.deleted, view.rows.original
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
    known = measures[name] if name in measures else Measure  # noqa: SIM401 - a register has no get
    parts = tuple(
        Fact(f"{of}.{part}", known.part_name(part), value, _written(value), "", "", name)
        for part, value in one.parts.items()
    )
    return Measured(name, fact, _(one.unit), parts)


# --- writing -------------------------------------------------------------------------------------------------


def _written(value: float | None) -> str:
    return "–" if value is None else number(value)


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)
