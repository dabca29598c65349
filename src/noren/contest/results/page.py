"""The results as one page: self-contained, without scripts, in the language now spoken."""

from __future__ import annotations

from typing import Any

from noren.contest.results.model import Results
from noren.contest.standings import ERROR, Cell, below_chance
from noren.drawing.templating import house_styles, template
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.sentences import rule_sentence, word_text
from noren.version import __version__


def results_html(results: Results) -> str:
    """Return the page as text; the same results give the same bytes."""
    book, headline = results.rulebook, results.title
    if results.rounds:  # who won the last round
        first = [one.name for one in results.rounds[-1].board.standings if one.rank == 1]
        headline = _("{title}: nobody has a rank")
        if first:
            headline = ngettext("{title}: {names} wins", "{title}: {names} share the first place", len(first))
        headline = headline.format(title=results.title, names=", ".join(first))
    return template("noren.contest.results", "results.html.jinja").render(
        language=active_language(),
        css=house_styles("noren.contest.results", "results.css"),
        results=results,
        _=_,
        count=count,
        decimal=decimal,
        percent=percent,
        word_text=word_text,
        shown_cell=_shown_cell,
        below_chance=below_chance,
        error=percent(ERROR),
        headline=headline,
        rule=rule_sentence(book.judged_by),
        scoring=" + ".join(f"{one.weight:g} · {one.key}" for one in book.terms),
        conditions=[
            (_("{measure} is at least {limit}") if one.most is None else _("{measure} is at most {limit}")).format(
                measure=one.key, limit=f"{one.least if one.most is None else one.most:g}"
            )
            for one in book.conditions
        ],
        version=__version__,
    )


def _shown_cell(cell: Cell) -> dict[str, Any]:
    """Return what a cell of the matrix shows."""
    one = cell.found
    mark = "▲" if cell.breaks or one.exceeds else "▽" if cell.side == "below" else ""
    return {
        "text": f"{count(one.right)}/{count(one.named)}",
        "more": _("needed {needed}; {low} to {high}; chance {chance}").format(
            needed=count(one.needed), low=percent(one.low), high=percent(one.high), chance=percent(one.chance)
        ),
        "mark": mark,
        "style": {"▲": "breaks", "▽": "below", "": ""}[mark],
    }
