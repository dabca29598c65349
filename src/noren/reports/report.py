"""The HTML report on releases, for the steward: verdicts, attacks, utility and how to reproduce them.

The page is one HTML file. It loads nothing, runs nothing (its content-security policy forbids scripts), prints well and
follows the reader's light or dark theme. Every text that comes from data, schemas or labels is escaped. It shows
original rows, so it is not for publication; it leaves out the seed, which would rebuild every pseudonym.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from noren.attacks import attacks
from noren.data.formats.files import writing_file
from noren.data.frames import Records
from noren.drawing.bars import histogram
from noren.drawing.base import picture, render_page
from noren.drawing.histograms import axis_of, charted_columns, meant_by, net_shift, spread
from noren.drawing.risk_map import lines_of, risk_utility_map, use_title
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.frontier import finding, frontier_sentence, releasable_points, risk_utility_point
from noren.judgement.glossary import terms
from noren.judgement.judging import judge
from noren.judgement.numbers import count, percent
from noren.judgement.outcome import Outcome, people_in
from noren.judgement.page_text import printable
from noren.judgement.rule import Rule, get_rule
from noren.judgement.sentences import cautions, headline_sentence, rule_sentence, verdict_label
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.methods import methods
from noren.reports.run_view import example_columns, example_rows, measure_views, written
from noren.reports.scripts import ScriptOrder, commands, listed
from noren.reports.unicity import unicity_part

_OWN_MEASURES = frozenset({"cell-error", "effective", "reid-rate"})
_LONGEST_NOTE = 300
_LONGEST_LABEL = 80
_TERMS = (
    *VerdictStatus, "risk", "named", "right", "rate", "chance", "share", "best", "needed",
    "error", "use-kept", "shift", "unsaid", "deleted", "frontier",
)  # fmt: skip


def write_report(original: Records, outcomes: Sequence[Outcome], path: str | Path, **options: Any) -> Path:
    """Write the page to ``path``, whole or not at all; the other parameters are those of :func:`report_html`."""
    page = report_html(original, outcomes, **options)
    with writing_file(path, private=True) as aside:
        aside.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def report_html(
    original: Records,
    outcomes: Sequence[Outcome],
    *,
    rule: Rule | str | None = None,
    title: str | None = None,
    pseudonyms: bool = True,
) -> str:
    """Return the page as text, in the active language; the same outcomes give the same bytes.

    ``rule`` is the rule for verdicts (default: partner), ``title`` a name above the finding, which is always the
    heading; ``pseudonyms`` are shown beside customers in the example rows.
    """
    if not outcomes:
        raise ParameterError(_("there is no release to report on; name at least one"))
    by, people = get_rule(rule), people_in(original)
    labelled = [replace(o, label=printable(o.label, _LONGEST_LABEL), people=people) for o in outcomes]
    parts = [
        _part(number, outcome, judge(outcome, by), original, pairs, pseudonyms=pseudonyms)
        for number, (outcome, pairs) in enumerate(zip(labelled, _pairs(original, labelled), strict=True), start=1)
    ]
    if len(parts) > 1:
        headline = finding([part["place"] for part in parts])
    else:
        headline = f"{parts[0]['label']}: {headline_sentence(parts[0]['verdict'])}"
    about = _("Releases: {releases}, original rows: {rows}, people: {people}")
    return render_page(
        "noren.reports",
        "report.html.jinja",
        title=printable(title) if title else "",
        headline=headline,
        about=about.format(releases=count(len(labelled)), rows=count(len(original)), people=count(people)),
        rule=rule_sentence(by),
        pseudonyms=pseudonyms,
        glossary=terms(*_TERMS),
        map=_map(labelled, parts),
        parts=parts,
        columns=[printable(name, 60) for name in example_columns(original)],
        words=VerdictStatus,
        verdict_label=verdict_label,
        written=written,
        # text may break after each semicolon, as long sets and intervals must
        breakable=lambda text: Markup(";<wbr>").join(escape(piece) for piece in text.split(";")),
    )


def _part(
    number: int, outcome: Outcome, verdict: Verdict, original: Records, pairs: Sequence[Any], *, pseudonyms: bool
) -> dict[str, Any]:
    """Return the section of ``outcome``, the ``number``-th of the page.

    ``unjudged`` has the number of people that each attack names, if it is unknown how many of them are right.
    """
    release, error = outcome.release, outcome.scores.get("cell-error")
    errors: Mapping[str, float] = {} if error is None else error.parts
    # the first of each role: what a part of U is about
    columns = {str(column.role): column.name for column in reversed(original.schema.columns)}
    judged = {evidence.attack for evidence in verdict.evidence}
    made = release.statement
    parameters = {name: value for name, value in made.parameters.items() if value is not None}
    statement = [
        (_("Method"), made.method),
        (_("Meaning"), _(methods[made.method].summary) if made.method in methods else ""),
        (_("Parameters"), listed(parameters) or "–"),
        (_("Promise"), _(made.promise)),
        ("Noren", made.noren),
        (_("Notes"), listed(made.notes)),
    ]
    return {
        "anchor": f"release-{number}",
        "label": outcome.label,
        "verdict": verdict,
        "place": risk_utility_point(outcome.label, verdict, outcome.scores),
        "failed": [
            _("{name} failed: {reason}").format(name=printable(name), reason=printable(reason, _LONGEST_NOTE))
            for name, reason in outcome.failed.items()
        ],
        "cautions": cautions(verdict),
        "summaries": {name: _(attacks[name].summary) for name in outcome.guesses if name in attacks},
        "unjudged": [(name, len(guess)) for name, guess in sorted(outcome.guesses.items()) if name not in judged],
        "error": None if error is None else error.value,
        "errors": [(printable(columns.get(role, role), 60), u) for role, u in errors.items()],
        "deleted": release.deleted_rows if release.has_secret else None,
        "others": [view for view in measure_views(outcome.scores) if view.name not in _OWN_MEASURES],
        "pairs": pairs,
        "rows": example_rows(original, release, pseudonyms=pseudonyms),
        "unicity": unicity_part(original, release),
        "statement": [(name, printable(text, _LONGEST_NOTE)) for name, text in statement if text],
        "commands": commands(ScriptOrder.of(original, outcome)),
    }


def _pairs(original: Records, outcomes: Sequence[Outcome]) -> list[list[dict[str, Any]]]:
    """Return the columns before and after, one list for each outcome: two panels, and the finding.

    All panels of a column share their axes. A release whose cells of a column nobody can explain has none of it.
    """
    every: list[list[dict[str, Any]]] = [[] for _outcome in outcomes]
    rows = len(original)
    for column in charted_columns(original):
        axis = axis_of(original.frame[column.name], column)
        if axis is None:
            continue
        before = spread(original.frame[column.name], axis, rows)
        after = []
        for release in (outcome.release for outcome in outcomes):
            public, cells = release.public.frame, None
            if column.name in public.columns:
                cells = meant_by(original.frame[column.name], public[column.name], column, release)
            after.append(None if cells is None else spread(cells, axis, rows))
        top = max(float(s.weights[: axis.displayed].max()) for s in (before, *after) if s is not None)
        left = picture(histogram(axis, before, top=top, released=False))
        for pairs, released in zip(every, after, strict=True):
            if released is None:
                continue
            shift, unsaid = net_shift(before, released, rows), released.unsaid / max(rows, 1)
            moved = percent(shift if shift >= 1e-9 else 0.0)
            change = _("net shift {shift}, suppressed {suppressed}").format(shift=moved, suppressed=percent(unsaid))
            pairs.append(
                {
                    "column": printable(column.name, 60),
                    "finding": change,
                    "top_of": len(axis.labels) if axis.nominal and axis.displayed < len(axis.labels) else None,
                    "shift": shift,
                    "unsaid": unsaid,
                    "original": left,
                    "released": picture(histogram(axis, released, top=top, released=True)),
                }
            )
    return every


def _map(outcomes: Sequence[Outcome], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the map of the releases whose risk and utility are known; None for fewer than two.

    It is drawn once for a wide page and once for a phone.
    """
    labelled = zip((part["place"] for part in parts), point_labels(outcomes), strict=True)
    known = [place.model_copy(update={"label": label}) for place, label in labelled if place.is_placed]
    if len(known) < 2:
        return None
    drawn: dict[str, Any] = {
        "titles": (use_title(known), _("Risk")),
        "lines": lines_of(known, releasable_points(known)),
    }
    return {
        "finding": frontier_sentence(known),
        "wide": picture(risk_utility_map(known, **drawn)),
        "narrow": picture(risk_utility_map(known, size=(270, 260), **drawn)),
    }


def point_labels(outcomes: Sequence[Outcome]) -> list[str]:
    """Return short labels for the points: without a method's name and parameters that all of them share."""
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
