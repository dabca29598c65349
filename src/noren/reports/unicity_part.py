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


@dataclass(frozen=True)
class UnicityPart:
    """What a report shows: sentences, the chart, and its numbers, of the original and of the release."""

    sentences: Sequence[str]
    chart: Markup
    tables: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]


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
        tables=[(unicity_headings(), unicity_rows(before)), (release_headings(), release_rows(after))],
    )


def singled_out_caption(found: Mapping[str, Any]) -> str:
    """Return the first thing to say of a curve."""
    return singled_out(_headline(found["curve"]), found["sampled"])


def unicity_headings() -> list[str]:
    """Return what the cells of :func:`unicity_rows` are."""
    return [_("known purchases"), _("customers asked about"), _("singled out"), _("95 %"), _("candidates")]


def unicity_rows(curve: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a curve as cells of a table."""
    return [
        [
            str(step["known"]),
            count(step["tried"]),
            percent(step["unique"]),
            step_range(step["low"], step["high"]),
            number(step["candidates"]),
        ]
        for step in curve
    ]


def release_headings() -> list[str]:
    """Return what the cells of :func:`release_rows` are."""
    return [
        _("known purchases"),
        _("one pseudonym left"),
        _("95 %"),
        _("the right one"),
        _("none left"),
        _("found with mismatches tolerated"),
        _("95 %"),
    ]


def release_rows(curve: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the curve of a release as cells of a table; what needs the secret part is left open without it."""
    return [
        [
            str(step["known"]),
            percent(step["unique"]),
            step_range(step["low"], step["high"]),
            _share(step.get("right")),
            percent(step["none"]),
            _share(step.get("forgiving")),
            step_range(step.get("forgiving_low"), step.get("forgiving_high")),
        ]
        for step in curve
    ]


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)


def _headline(curve: Sequence[Mapping[str, Any]]) -> Step:
    return Curve(tuple(Step(**step) for step in curve), among=0).headline()
