"""Everything a page says of one run: what was done, what was found, and what stays useful.

Numbers and facts alone, so that a page can say them in any language and judge them by any rule. They are those that
``noren measure`` and ``noren attack`` print for the same run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from noren.data.fits import class_sizes
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.data.schema import Kind, Role
from noren.drawing.histograms import (
    Bars,
    Beside,
    Spread,
    bars_of,
    count_bars,
    net_shift,
    perturbed_by,
    shares,
    side_by_side,
    spread,
)
from noren.judgement.evidence import Facts, facts_of
from noren.judgement.numbers import count, decimal
from noren.judgement.outcome import Outcome, people_in
from noren.judgement.page_text import plain, printable
from noren.judgement.place import Place, place_of
from noren.judgement.verdict import Verdict
from noren.measures import measures
from noren.measures.safety.table_classes import table_classes
from noren.protocols import Measure, Score
from noren.retention.reconstruction import reconstruct

_DIGITS = 6


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RowCounts(_View):
    """How many rows there are; those deleted and made up are known to the steward alone."""

    original: int
    public: int
    deleted: int | None
    added: int | None


class StepView(_View):
    """One method of a chain, and what it noted."""

    method: str
    parameters: dict[str, Any]
    promise: str
    notes: dict[str, Any]


class StatementView(_View):
    """What was done, step by step."""

    method: str
    noren: str
    steps: tuple[StepView, ...]


class MeasureView(_View):
    """A score with what its measure says of itself; unit and summary are messages to be translated."""

    name: str
    group: Literal["safety", "utility"]
    value: float | None
    parts: dict[str, float | None]
    notes: dict[str, Any]
    unit: str
    summary: str
    goal: str | None
    bounds: tuple[float | None, ...] | None

    def part_name(self, part: str) -> str:
        """Return what a part of the score is called, in the language now spoken."""
        known = measures[self.name] if self.name in measures else Measure  # noqa: SIM401 - a register has no get
        return known.part_name(part)


class RunView(_View):
    """What the page of a run shows.

    Attributes
    ----------
    facts
        All that a verdict is made of; pages judge it when they are shown, by the rule in force.
    histograms, class_sizes
        Bars for charts, see :func:`column_bars` and :func:`class_size_bars`.
    """

    label: str
    kind: Kind
    people: int
    facts: Facts
    statement: StatementView
    rows: RowCounts
    measures: tuple[MeasureView, ...]
    histograms: list[dict[str, Any]]
    class_sizes: dict[str, Any] | None

    def measure(self, name: str) -> MeasureView | None:
        """Return what a measure said; None where it said nothing."""
        return next((one for one in self.measures if one.name == name), None)

    def place(self, verdict: Verdict) -> Place:
        """Return where the run stands on the map by a verdict on its facts."""
        known = {one.name: Score(one.value) for one in self.measures if one.value is not None}
        return place_of(self.label, verdict, known)


def run_view(original: Records, outcome: Outcome) -> RunView:
    """Return what the page of a run shows; see the parts for what each holds.

    >>> from noren import api
    >>> from noren.judgement.judging import judge
    >>> from noren.judgement.outcome import run_outcome
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> shown = run_view(history, run_outcome(history, "generalize-by-count", k=5, seed=1, attacks=["unique-rows"]))
    >>> verdict = judge(shown.facts)
    >>> str(verdict.word), shown.place(verdict).risk, shown.class_sizes["minimum"]
    ('proved', 0.2, 5)
    """
    release, people = outcome.release, people_in(original)
    return RunView(
        label=printable(outcome.label),
        kind=original.schema.kind,
        people=people,
        facts=facts_of(replace(outcome, people=people)),
        statement=StatementView(
            method=printable(release.statement.method),
            noren=printable(release.statement.noren),
            steps=tuple(
                StepView(
                    method=printable(step.method),
                    parameters=plain(step.parameters),
                    promise=printable(step.promise),
                    notes=plain({name: value for name, value in step.notes.items() if name != "categories"}),
                )
                for step in release.statement.steps
            ),
        ),
        rows=RowCounts(
            original=len(original),
            public=len(release.public),
            deleted=release.deleted_rows if release.has_secret else None,
            added=release.inserted_rows if release.has_secret else None,
        ),
        measures=measure_views(outcome.scores),
        histograms=column_bars(original, release),
        class_sizes=class_size_bars(release),
    )


def measure_views(scores: Mapping[str, Score]) -> tuple[MeasureView, ...]:
    """Return every score with what its measure says of itself."""
    said = []
    for name, score in scores.items():
        known = measures[name] if name in measures else None  # noqa: SIM401 - a register has no get
        said.append(
            MeasureView(
                name=printable(name),
                group="utility" if known is None else known.side,
                value=plain(float(score.value)),
                parts={printable(part): plain(float(value)) for part, value in score.parts.items()},
                notes=plain(score.notes),
                unit="" if known is None else known.unit,
                summary="" if known is None else known.summary,
                goal=None if known is None else known.goal,
                bounds=None if known is None else tuple(known.bounds),
            )
        )
    return tuple(said)


def written(value: float | None) -> str:
    """Write a score as reports and studies do: whole numbers from 2 on whole, others with three decimals.

    >>> written(12.0), written(1.0), written(0.25)
    ('12', '1.000', '0.250')
    """
    if value is None:
        return "–"
    return count(int(value)) if value.is_integer() and abs(value) >= 2 else decimal(value)


# --- histograms ----------------------------------------------------------------------------------------------


def column_bars(original: Records, release: Release) -> list[dict[str, Any]]:
    """Return the bars of every column worth a look, before and after; of retention also what was reconstructed."""
    found, rows = [], len(original)
    for beside in side_by_side(original, release):
        bars = bars_of(beside.original, beside.column, attribute=beside.attribute)
        if bars is None:
            continue
        before, after = (spread(cells, bars.axis, rows) for cells in (beside.original, beside.released))
        rebuilt = _reconstructed(beside, bars, rows, release)
        shown = [one for one in (before, after, rebuilt) if one is not None]
        others = bars.axis.nominal and any(_rest(one, bars) > 10**-_DIGITS for one in shown)
        about = {
            "original": _heights(before, bars, others=others),
            "released": _heights(after, bars, others=others),
            "reconstructed": None if rebuilt is None else _heights(rebuilt, bars, others=others),
            "shift": net_shift(before, after, rows),
            "shift_reconstructed": None if rebuilt is None else net_shift(before, rebuilt, rows),
            "unsaid": after.unsaid / max(rows, 1),
        }
        found.append(bars.facts(others=others) | about)
    return found


def _rest(found: Spread, bars: Bars) -> float:
    return float(found.weights[bars.shown :].sum()) + found.elsewhere


def _heights(found: Spread, bars: Bars, *, others: bool) -> list[float]:
    heights = [float(weight) for weight in found.weights[: bars.shown]]
    return [round(height, _DIGITS) for height in ([*heights, _rest(found, bars)] if others else heights)]


def _reconstructed(beside: Beside, bars: Bars, rows: int, release: Release) -> Spread | None:
    """Return what was estimated of one attribute, as ``noren chart`` does, on the bars of its column."""
    if beside.attribute is None or perturbed_by(release) is None:
        return None
    found = reconstruct(release.public, release.statement, attributes=[beside.attribute.name])
    if found.model == "none":
        return None
    number, of_bars = shares(beside.attribute.values(np.arange(beside.attribute.size)), bars.axis)
    weights = found.table @ of_bars[number]
    elsewhere = float(weights[-1]) if bars.axis.nominal else 0.0
    kept = weights[: len(bars.axis.labels)]
    return Spread(kept, elsewhere, max(0.0, rows - float(kept.sum()) - elsewhere))


# --- classes -------------------------------------------------------------------------------------------------


def class_size_bars(release: Release) -> dict[str, Any] | None:
    """Return how large the classes are: pseudonyms of one public history, or rows alike in every quasi column."""
    public = release.public
    if isinstance(public, History):
        of, sizes = "pseudonyms", np.asarray(class_sizes(public), dtype=np.int64)
    elif isinstance(public, Table) and public.schema.with_role(Role.QUASI):
        of, sizes = "rows", table_classes(public).sizes.to_numpy().astype(np.int64)
    else:
        return None
    found = count_bars(sizes)
    bar = np.searchsorted(found["from"], sizes, side="right") - 1
    members = np.bincount(bar, weights=sizes, minlength=len(found["from"])) if len(sizes) else np.zeros(0)
    return found | {"of": of, "members": members.astype(int).tolist(), "alone": int((sizes == 1).sum())}
