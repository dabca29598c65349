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
from noren.errors import ParameterError
from noren.i18n import _, active_language, ngettext
from noren.study.charts import printable
from noren.study.example_rows import example_columns
from noren.study.findings import count, decimal, headline, people_in, percent, tenth
from noren.study.outcomes import Outcome
from noren.study.report_parts import map_of, pairs_of, part_of
from noren.study.report_words import glossary, words
from noren.study.templating import house_styles, template
from noren.version import __version__

__all__ = ["report_html", "write_report"]

_LONGEST_LABEL = 80


def write_report(
    original: Records,
    outcomes: Sequence[Outcome],
    path: str | Path,
    *,
    title: str | None = None,
    pseudonyms: bool = True,
) -> Path:
    """Write the page to ``path``, whole or not at all."""
    page = report_html(original, outcomes, title=title, pseudonyms=pseudonyms)
    with writing_file(path, private=True) as aside:
        aside.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def report_html(
    original: Records, outcomes: Sequence[Outcome], *, title: str | None = None, pseudonyms: bool = True
) -> str:
    """Return the page as text, in the language now spoken; the same outcomes give the same bytes.

    Parameters
    ----------
    original
        The data that were protected.
    outcomes
        What became of them, in the order to show.
    title
        A name for the page, shown above the finding; the heading is always the finding.
    pseudonyms
        Whether rows shown side by side tell whose pseudonym is whose.
    """
    if not outcomes:
        raise ParameterError(_("there is nothing to report"), _("name at least one release"))
    shown = [replace(o, label=printable(o.label, _LONGEST_LABEL)) for o in outcomes]
    people = people_in(original)
    about = ngettext(
        "{releases} release of {rows} rows about {people} people",
        "{releases} releases of {rows} rows about {people} people",
        len(shown),
    )
    return template("noren.study", "report.html.jinja").render(
        language=active_language(),
        title=printable(title) if title else "",
        headline=headline(shown, people),
        about=about.format(releases=count(len(shown)), rows=count(len(original)), people=count(people)),
        words=words(pseudonyms=pseudonyms),
        glossary=glossary(),
        map=map_of(shown),
        parts=[
            part_of(number, outcome, original, people, pairs, pseudonyms=pseudonyms)
            for number, (outcome, pairs) in enumerate(zip(shown, pairs_of(original, shown), strict=True), start=1)
        ],
        columns=[printable(name, 60) for name in example_columns(original)],
        count=count,
        decimal=decimal,
        percent=percent,
        tenth=tenth,
        breakable=_breakable,
        version=__version__,
        css=house_styles(),
    )


def _breakable(text: str) -> Markup:
    """Return escaped text that may break after each semicolon, as long sets and intervals must."""
    return Markup(";<wbr>").join(escape(piece) for piece in text.split(";"))
