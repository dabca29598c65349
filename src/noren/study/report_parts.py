"""What the report shows of each release, ready for the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from noren.data.frames import Records
from noren.data.release import Statement
from noren.i18n import _
from noren.measures import measures
from noren.methods import methods
from noren.study.charts import Place, histogram, printable, risk_utility_map
from noren.study.example_rows import RowPair, example_rows
from noren.study.findings import (
    AttackLine,
    Verdict,
    attack_lines,
    cautions_of,
    count,
    decimal,
    error_of,
    frontier,
    frontier_sentence,
    outcome_sentence,
    percent,
    risk_of,
    verdict,
)
from noren.study.histograms import Axis, axis_of, charted_columns, net_shift, spread
from noren.study.outcomes import Outcome
from noren.study.report_words import verdict_words
from noren.study.scripts import Order, commands

__all__ = ["Map", "OtherScore", "Pair", "Part", "map_of", "pairs_of", "part_of", "reproduction"]

_OWN_MEASURES = frozenset({"cell-error", "effective", "reid-rate"})
_LONGEST_NOTE = 300


@dataclass(frozen=True)
class Pair:
    """A column before and after: two panels with the same axes, and the finding."""

    column: str
    finding: str
    top_of: int | None
    shift: float
    unsaid: float
    original: Markup
    released: Markup


@dataclass(frozen=True)
class OtherScore:
    """A measure that the page has no panel of its own for."""

    name: str
    summary: str
    value: float
    text: str
    unit: str
    goal: str
    parts: Sequence[tuple[str, float, str]]


@dataclass(frozen=True)
class ErrorPart:
    """The error of one column, and the share of it that stays useful (0 to 1) for its bar."""

    column: str
    error: float
    kept: float


@dataclass(frozen=True)
class Part:
    """Everything about one release."""

    anchor: str
    label: str
    verdict: Verdict
    verdict_words: str
    sentence: str
    failed: Sequence[str]
    cautions: Sequence[str]
    attacks: Sequence[AttackLine]
    risk: float | None
    chance: float
    error: float | None
    errors: Sequence[ErrorPart]
    deleted: int | None
    others: Sequence[OtherScore]
    pairs: Sequence[Pair]
    rows: Sequence[RowPair]
    statement: Sequence[tuple[str, str]]
    commands: Sequence[str]


def part_of(
    number: int, outcome: Outcome, original: Records, people: int, pairs: Sequence[Pair], *, pseudonyms: bool = True
) -> Part:
    """Return what to show of ``outcome``, the ``number``-th of the page."""
    found = verdict(outcome)
    score = outcome.scores.get("cell-error")
    return Part(
        anchor=f"release-{number}",
        label=outcome.label,
        verdict=found,
        verdict_words=verdict_words(found),
        sentence=outcome_sentence(outcome, people),
        failed=[
            _("{name} failed: {reason}").format(name=printable(name), reason=printable(reason, _LONGEST_NOTE))
            for name, reason in outcome.failed.items()
        ],
        cautions=cautions_of(outcome),
        attacks=attack_lines(outcome, people),
        risk=risk_of(outcome),
        chance=1 / max(people, 1),
        error=error_of(outcome),
        errors=[
            ErrorPart(_column_of(original, role), error, min(1.0, max(0.0, 1 - error)))
            for role, error in ({} if score is None else score.parts).items()
        ],
        deleted=outcome.release.deleted_rows if outcome.release.has_secret else None,
        others=_others(outcome),
        pairs=pairs,
        rows=example_rows(original, outcome.release, pseudonyms=pseudonyms),
        statement=_statement(outcome.release.statement),
        commands=reproduction(original, outcome),
    )


def _column_of(original: Records, role: str) -> str:
    """Return the name of the column that a part of U is about."""
    return printable(next((c.name for c in original.schema.columns if c.role == role), role), 60)


def _others(outcome: Outcome) -> list[OtherScore]:
    said = []
    for name, score in outcome.scores.items():
        if name in _OWN_MEASURES:
            continue
        known = measures[name] if name in measures else None  # noqa: SIM401 - a register has no get
        said.append(
            OtherScore(
                name=name,
                summary=_(known.summary) if known else "",
                value=score.value,
                text=_number(score.value),
                unit=_(known.unit) if known else "",
                goal=known.goal if known else "",
                parts=[(part, value, _number(value)) for part, value in score.parts.items()],
            )
        )
    return said


def _number(value: float) -> str:
    return count(int(value)) if float(value).is_integer() and abs(value) >= 2 else decimal(value)


# --- statement and reproduction ----------------------------------------------------------------------------


def _statement(statement: Statement) -> list[tuple[str, str]]:
    known = methods[statement.method] if statement.method in methods else None  # noqa: SIM401 - see above
    facts = [
        (_("method"), statement.method),
        (_("what it does"), _(known.summary) if known else ""),
        (_("parameters"), _listed({n: v for n, v in statement.parameters.items() if v is not None}) or _("none")),
        (_("promise"), _(statement.promise)),
        (_("made by"), f"Noren {statement.noren}"),
        (_("notes"), _listed(statement.notes)),
    ]
    return [(name, printable(text, _LONGEST_NOTE)) for name, text in facts if text]


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in facts.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def reproduction(original: Records, outcome: Outcome) -> list[str]:
    """Return the commands that make this release again and judge it."""
    return commands(Order.of(original, outcome))


# --- histograms --------------------------------------------------------------------------------------------


def pairs_of(original: Records, outcomes: Sequence[Outcome]) -> list[list[Pair]]:
    """Return the pairs of histograms, one list for each outcome; all of a column share their axes."""
    every: list[list[Pair]] = [[] for _outcome in outcomes]
    for column in charted_columns(original):
        axis = axis_of(original.frame[column.name], column)
        if axis is None:
            continue
        for pairs, pair in zip(every, _pairs_of_column(original, outcomes, axis), strict=True):
            pairs += pair
    return every


def _pairs_of_column(original: Records, outcomes: Sequence[Outcome], axis: Axis) -> list[list[Pair]]:
    name, rows = axis.column.name, len(original)
    before = spread(original.frame[name], axis, rows)
    after = [
        spread(o.release.public.frame[name], axis, rows) if name in o.release.public.frame.columns else None
        for o in outcomes
    ]
    top = max(float(s.weights[: axis.shown].max()) for s in (before, *after) if s is not None)
    left = Markup(histogram(axis, before, top=top, released=False))  # noqa: S704 - the drawer escapes texts
    answer: list[list[Pair]] = []
    for released in after:
        if released is None:
            answer.append([])
            continue
        shift, unsaid = net_shift(before, released, rows), released.unsaid / max(rows, 1)
        answer.append(
            [
                Pair(
                    column=printable(name, 60),
                    finding=_finding(shift, unsaid),
                    top_of=len(axis.labels) if axis.nominal and axis.shown < len(axis.labels) else None,
                    shift=shift,
                    unsaid=unsaid,
                    original=left,
                    released=Markup(histogram(axis, released, top=top, released=True)),  # noqa: S704 - see above
                )
            ]
        )
    return answer


def _finding(shift: float, unsaid: float) -> str:
    if shift < 1e-9 and unsaid < 1e-9:
        return _("every bar keeps its height")
    return _("net shift {shift}, not said {unsaid}").format(
        shift=percent(shift) if shift >= 1e-9 else percent(0.0), unsaid=percent(unsaid)
    )


# --- the map -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """The risk–utility map, once for a wide page and once for a phone, and its finding."""

    finding: str
    wide: Markup
    narrow: Markup


def map_of(outcomes: Sequence[Outcome]) -> Map | None:
    """Return the map of the outcomes whose risk and use are known, if there are two at least."""
    known = [
        Place(label, 1 - error, risk, verdict(outcome))
        for outcome, label in zip(outcomes, point_labels(outcomes), strict=True)
        if (error := error_of(outcome)) is not None and (risk := risk_of(outcome)) is not None
    ]
    if len(known) < 2:
        return None
    best = frontier([(place.use, place.risk) for place in known])
    return Map(
        frontier_sentence([known[i].label for i in best], len(known)),
        Markup(risk_utility_map(known)),  # noqa: S704 - the drawer escapes texts
        Markup(risk_utility_map(known, width=270, height=260)),  # noqa: S704 - see above
    )


def point_labels(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what stands beside the points: of labels that begin with one method's name, what tells them apart."""
    short: dict[int, list[str]] = {}
    for i, outcome in enumerate(outcomes):
        rest = outcome.label.removeprefix(outcome.release.statement.method)
        if rest != outcome.label and rest[:1] in (",", " ") and rest.strip(", "):
            short[i] = rest.strip(", ").split(", ")
    if len({outcomes[i].release.statement.method for i in short}) != 1:
        return [o.label for o in outcomes]
    shared = set.intersection(*(set(words) for words in short.values())) if len(short) > 1 else set()
    return [
        ", ".join(word for word in short.get(i, [o.label]) if word not in shared) or o.label
        for i, o in enumerate(outcomes)
    ]
