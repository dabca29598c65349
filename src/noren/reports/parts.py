"""What the report shows of each release, ready for the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from noren.attacks import attacks
from noren.data.frames import Records
from noren.data.release import Statement
from noren.drawing.bars import histogram
from noren.drawing.beside import meant_by
from noren.drawing.ground import picture
from noren.drawing.histograms import Axis, axis_of, charted_columns, net_shift, spread
from noren.drawing.risk_map import lines_of, risk_utility_map, use_title
from noren.i18n import _
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.outcome import Outcome
from noren.judgement.page_text import printable
from noren.judgement.place import Place, place_of, worth_a_choice
from noren.judgement.sentences import cautions, frontier_sentence, word_text
from noren.judgement.verdict import Verdict
from noren.measures import measures
from noren.methods import methods
from noren.protocols import Measure
from noren.reports.row_pairs import RowPair, example_rows
from noren.reports.scripts import ScriptOrder, commands
from noren.reports.unicity_part import UnicityPart, unicity_part

__all__ = ["Map", "OtherScore", "Pair", "ReleasePart", "map_of", "map_titles", "pairs_of", "part_of", "reproduction"]

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
class ReleasePart:
    """Everything about one release.

    ``unjudged`` tells how many people each attack names of which nobody knows how many are right.
    """

    anchor: str
    label: str
    verdict: Verdict
    word: str
    place: Place
    failed: Sequence[str]
    cautions: Sequence[str]
    summaries: Mapping[str, str]
    unjudged: Sequence[tuple[str, int]]
    error: float | None
    errors: Sequence[ErrorPart]
    deleted: int | None
    others: Sequence[OtherScore]
    pairs: Sequence[Pair]
    rows: Sequence[RowPair]
    unicity: UnicityPart | None
    statement: Sequence[tuple[str, str]]
    commands: Sequence[str]


def part_of(
    number: int,
    outcome: Outcome,
    verdict: Verdict,
    original: Records,
    pairs: Sequence[Pair],
    *,
    pseudonyms: bool = True,
) -> ReleasePart:
    """Return what to show of ``outcome``, the ``number``-th of the page."""
    score, judged = outcome.scores.get("cell-error"), {one.attack for one in verdict.evidence}
    return ReleasePart(
        anchor=f"release-{number}",
        label=outcome.label,
        verdict=verdict,
        word=word_text(verdict.word),
        place=place_of(outcome.label, verdict, outcome.scores),
        failed=[
            _("{name} failed: {reason}").format(name=printable(name), reason=printable(reason, _LONGEST_NOTE))
            for name, reason in outcome.failed.items()
        ],
        cautions=cautions(verdict),
        summaries={name: _(attacks[name].summary) for name in outcome.guesses if name in attacks},
        unjudged=[(name, len(guess)) for name, guess in sorted(outcome.guesses.items()) if name not in judged],
        error=None if score is None else score.value,
        errors=[
            ErrorPart(_column_of(original, role), error, min(1.0, max(0.0, 1 - error)))
            for role, error in ({} if score is None else score.parts).items()
        ],
        deleted=outcome.release.deleted_rows if outcome.release.has_secret else None,
        others=_others(outcome),
        pairs=pairs,
        rows=example_rows(original, outcome.release, pseudonyms=pseudonyms),
        unicity=unicity_part(original, outcome.release),
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
        named = (known or Measure).part_name
        said.append(
            OtherScore(
                name=name,
                summary=_(known.summary) if known else "",
                value=score.value,
                text=_number(score.value),
                unit=_(known.unit) if known else "",
                goal=known.goal if known else "",
                parts=[(named(part), value, _number(value)) for part, value in score.parts.items()],
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
    return commands(ScriptOrder.of(original, outcome))


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
    after = [None if cells is None else spread(cells, axis, rows) for cells in _released(original, outcomes, axis)]
    top = max(float(s.weights[: axis.shown].max()) for s in (before, *after) if s is not None)
    left = Markup(picture(histogram(axis, before, top=top, released=False)))  # noqa: S704 - the drawer escapes texts
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
                    released=Markup(picture(histogram(axis, released, top=top, released=True))),  # noqa: S704 - see above
                )
            ]
        )
    return answer


def _released(original: Records, outcomes: Sequence[Outcome], axis: Axis) -> list[pl.Series | None]:
    """Return the released cells of a column, labels as what stands under them; None where nobody can say."""
    name, column = axis.column.name, axis.column
    return [
        meant_by(original.frame[name], o.release.public.frame[name], column, o.release)
        if name in o.release.public.frame.columns
        else None
        for o in outcomes
    ]


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


def map_of(outcomes: Sequence[Outcome], parts: Sequence[ReleasePart]) -> Map | None:
    "Return the map of the releases whose risk and utility are known, if there are two at least."
    labelled = zip(parts, point_labels(outcomes), strict=True)
    known = [part.place.model_copy(update={"label": label}) for part, label in labelled if part.place.is_placed]
    if len(known) < 2:
        return None
    drawn: dict[str, Any] = {"titles": map_titles(known), "lines": lines_of(known, worth_a_choice(known))}
    return Map(
        frontier_sentence(known),
        Markup(picture(risk_utility_map(known, **drawn))),  # noqa: S704 - the drawer escapes texts
        Markup(picture(risk_utility_map(known, size=(270, 260), **drawn))),  # noqa: S704 - see above
    )


def map_titles(places: Sequence[Place]) -> tuple[str, str]:
    """Return what the axes of a map tell: how use is measured, and what the risk is."""
    return use_title([one.model_dump() for one in places]), _("risk")


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
