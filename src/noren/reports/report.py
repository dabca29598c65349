"""One page about releases, for the steward: the verdict, what attackers achieve, what stays useful, how to redo it.

The page is one HTML file. It loads nothing, runs nothing (its content-security policy forbids scripts), prints well and
follows the reader's light or dark theme. Every text that comes from data, schemas or labels is escaped. It shows
original rows, so it is not for publication; it leaves out the seed, which would rebuild every pseudonym.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup, escape

from noren.data.formats.files import writing_file
from noren.data.frames import Records
from noren.drawing.templating import house_styles, template
from noren.errors import ParameterError
from noren.i18n import _, active_language, ngettext
from noren.judgement.glossary import terms
from noren.judgement.judging import judge
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.outcome import Outcome, people_in
from noren.judgement.page_text import printable
from noren.judgement.rule import Rule, rule_named
from noren.judgement.sentences import finding, headline_sentence, rule_sentence, word_text
from noren.judgement.verdict import Word
from noren.reports.parts import ReleasePart, map_of, pairs_of, part_of
from noren.reports.row_pairs import example_columns
from noren.version import __version__

__all__ = ["report_html", "write_report"]

_LONGEST_LABEL = 80
_TERMS = (
    *Word, "risk", "named", "right", "rate", "chance", "share", "best", "needed",
    "error", "use-kept", "shift", "unsaid", "deleted", "frontier",
)  # fmt: skip


def write_report(
    original: Records,
    outcomes: Sequence[Outcome],
    path: str | Path,
    *,
    rule: Rule | str | None = None,
    title: str | None = None,
    pseudonyms: bool = True,
) -> Path:
    """Write the page to ``path``, whole or not at all."""
    page = report_html(original, outcomes, rule=rule, title=title, pseudonyms=pseudonyms)
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
    """Return the page as text, in the language now spoken; the same outcomes give the same bytes.

    Parameters
    ----------
    original
        The data that were protected.
    outcomes
        What became of them, in the order to show.
    rule
        What verdicts are given by; left out, what a partner may be able to do.
    title
        A name for the page, shown above the finding; the heading is always the finding.
    pseudonyms
        Whether rows shown side by side tell whose pseudonym is whose.
    """
    if not outcomes:
        raise ParameterError(_("there is nothing to report"), _("name at least one release"))
    by, people = rule_named(rule), people_in(original)
    shown = [replace(o, label=printable(o.label, _LONGEST_LABEL), people=people) for o in outcomes]
    parts = [
        part_of(number, outcome, judge(outcome, by), original, pairs, pseudonyms=pseudonyms)
        for number, (outcome, pairs) in enumerate(zip(shown, pairs_of(original, shown), strict=True), start=1)
    ]
    about = ngettext(
        "{releases} release of {rows} rows about {people} people",
        "{releases} releases of {rows} rows about {people} people",
        len(shown),
    )
    return template("noren.reports", "report.html.jinja").render(
        language=active_language(),
        title=printable(title) if title else "",
        headline=_headline(parts),
        about=about.format(releases=count(len(shown)), rows=count(len(original)), people=count(people)),
        rule=rule_sentence(by),
        pseudonyms=pseudonyms,
        glossary=terms(*_TERMS),
        map=map_of(shown, parts),
        parts=parts,
        columns=[printable(name, 60) for name in example_columns(original)],
        words=Word,
        word_text=word_text,
        count=count,
        decimal=decimal,
        percent=percent,
        breakable=_breakable,
        version=__version__,
        css=house_styles(),
        _=_,
        ngettext=ngettext,
    )


def _headline(parts: Sequence[ReleasePart]) -> str:
    """Return the finding of the whole page."""
    if len(parts) > 1:
        return finding([part.place for part in parts])
    return _("{label}: {finding}").format(label=parts[0].label, finding=headline_sentence(parts[0].verdict))


def _breakable(text: str) -> Markup:
    """Return escaped text that may break after each semicolon, as long sets and intervals must."""
    return Markup(";<wbr>").join(escape(piece) for piece in text.split(";"))
