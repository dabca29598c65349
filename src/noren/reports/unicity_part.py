"""Unicity as reports and pages show it: of a bounded sample of customers, so that large data cost little more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from noren.data.frames import History, Records
from noren.data.release import Release
from noren.drawing.unicity_lines import unicity_lines
from noren.errors import InputError
from noren.i18n import _
from noren.inference.unicity import Curve, Step
from noren.judgement.numbers import count, number, percent
from noren.judgement.singled_out import left_in_release, singled_out, step_range

_SAMPLE = 1_000
_KNOWN = "1-10"
PageTable = tuple[list[str], list[list[str]]]
"""Headings, and rows of cells."""


@dataclass(frozen=True)
class UnicityPart:
    """What a report shows: sentences, the chart, and its numbers, of the original and of the release."""

    sentences: Sequence[str]
    chart: Markup
    tables: Sequence[PageTable]


def unicity_facts(records: Records, release: Release | None = None) -> dict[str, Any] | None:
    """Return the curve of a sample as plain data; None where it cannot be asked, as of one customer or of a table."""
    from noren.inference.unicity import unicity

    if not isinstance(records, History):
        return None
    try:
        return unicity(records, release, known=_KNOWN, sample=_SAMPLE).as_dict()
    except InputError:
        return None


def unicity_part(original: Records, release: Release) -> UnicityPart | None:
    """Return what a report shows of a release beside its original; None where it cannot be asked."""
    from noren.drawing.ground import picture

    found = unicity_facts(original, release)
    if found is None:
        return None
    before, after = found["curve"], found["release"]
    known = _headline(before).known
    chart = picture(unicity_lines(before, {_("release"): after}))
    return UnicityPart(
        sentences=[
            singled_out_caption(found),
            *(left_in_release(Step(**step)) for step in after if step["known"] == known),
        ],
        chart=Markup(chart),  # noqa: S704 - the drawer escapes texts
        tables=[unicity_table(before), release_table(after)],
    )


def singled_out_caption(found: Mapping[str, Any]) -> str:
    """Return the first thing to say of a curve."""
    return singled_out(_headline(found["curve"]), found["sampled"])


def unicity_table(curve: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return a curve as a table: its headings, and its rows."""
    headings = [_("known purchases"), _("customers asked about"), _("singled out"), _("95 %"), _("candidates")]
    rows = [
        [
            str(step["known"]),
            count(step["tried"]),
            percent(step["unique"]),
            step_range(step["low"], step["high"]),
            number(step["candidates"]),
        ]
        for step in curve
    ]
    return headings, rows


def release_table(curve: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return the curve of a release as a table; what needs the secret part is left open without it."""
    alone = [_("known purchases"), _("one pseudonym left"), _("95 %"), _("the right one"), _("none left")]
    rows = []
    for step in curve:
        right, forgiving = ("–" if step.get(key) is None else percent(step[key]) for key in ("right", "forgiving"))
        rows.append(
            [
                str(step["known"]),
                percent(step["unique"]),
                step_range(step["low"], step["high"]),
                right,
                percent(step["none"]),
                forgiving,
                step_range(step.get("forgiving_low"), step.get("forgiving_high")),
            ]
        )
    return [*alone, _("found with mismatches tolerated"), _("95 %")], rows


def _headline(curve: Sequence[Mapping[str, Any]]) -> Step:
    return Curve(tuple(Step(**step) for step in curve), among=0).headline()
