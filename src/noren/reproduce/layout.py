"""How cells are set as a table, for every place they are shown in: terminal, Markdown, page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from noren.i18n import _
from noren.reproduce.frame import Datum, Value
from noren.reproduce.run import PartResult, Reproduction

__all__ = ["PageGrid", "before_table", "grid", "headline", "long_grid", "markdown_table", "value"]

EQUAL, DIFFERS, DERIVED, UNEXPLAINED, UNRUN = "✓", "✗", "†", "‡", "–"


@dataclass(frozen=True)
class PageGrid:
    """A table of texts; the first column names the row, the last may hold notes.

    A heading has two lines: the paper's column, and whose number it is.
    """

    headings: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    noted: bool


def value(said: Value, digits: int) -> str:
    """Return a value for a person.

    >>> value(0.35, 3), value(1234.0, 0), value("safe", 2), value(None, 2)
    ('0.350', '1,234', 'safe', '–')
    """
    if said is None:
        return UNRUN
    return said if isinstance(said, str) else f"{said:,.{digits}f}"


def grid(cells: Sequence[Datum]) -> PageGrid:
    """Return the cells as a table, a line for each row: paper, ours, difference, for each column of the paper's."""
    words = {"paper": _("paper"), "ours": _("ours"), "difference": _("difference")}
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, Datum]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = cell
    headings = [("", "")]
    asked = {column: _fields([cell for cell in cells if cell.column == column]) for column in columns}
    for column in columns:
        headings += [(column, words[name]) for name in asked[column]]
    notes = {row: _notes(list(inside.values())) for row, inside in rows.items()}
    noted = any(notes.values())
    lines = [
        (
            row,
            *(text for column in columns for text in _texts(inside.get(column), asked[column])),
            *((notes[row],) if noted else ()),
        )
        for row, inside in rows.items()
    ]
    return PageGrid((*headings, *((("", _("note")),) if noted else ())), tuple(lines), noted)


def long_grid(cells: Sequence[Datum]) -> PageGrid:
    """Return the cells as a table, a line for each of them: for where there is no room for a wide one.

    >>> long_grid([Datum("t1", "em", 91.1, 90.7, digits=1)]).rows
    (('t1, em', '91.1', '90.7', '-0.4'),)
    """
    return grid([replace(cell, row=", ".join(filter(None, (cell.row, cell.column))), column="") for cell in cells])


def _fields(cells: Sequence[Datum]) -> tuple[str, ...]:
    """Return what is worth a column: a paper that prints nothing has none."""
    return ("paper", "ours", "difference") if any(cell.paper is not None for cell in cells) else ("ours",)


def _texts(cell: Datum | None, fields: Sequence[str]) -> list[str]:
    if cell is None:
        return [""] * len(fields)
    ours = value(cell.ours, cell.digits)
    if cell.spread is not None:
        ours += f" ± {cell.spread:.{cell.digits}f}"
    # the paper's silence is no gap of ours
    said = {"paper": "" if cell.paper is None else value(cell.paper, cell.digits), "ours": ours}
    said["difference"] = _difference(cell)
    return [said[name] for name in fields]


def _difference(cell: Datum) -> str:
    if cell.ours is None or cell.paper is None:
        return ""
    told = (UNEXPLAINED if cell.unexplained else DERIVED) if cell.erratum else DIFFERS
    mark = {None: "", True: EQUAL, False: told}[cell.ok]
    if cell.difference is None:
        return mark
    away = f"{cell.difference:+,.{cell.digits}f}"
    if float(away.replace(",", "")) == 0:
        away = f"{0:.{cell.digits}f}"
    return f"{away} {mark}".rstrip()


def _notes(cells: Sequence[Datum]) -> str:
    notes = [cell.note for cell in cells if cell.note]
    errata = [_("erratum {key}").format(key=cell.erratum) for cell in cells if cell.erratum and cell.ok is False]
    return "; ".join(dict.fromkeys((*notes, *errata)))


def before_table(result: PartResult) -> list[str]:
    """Return what is said of a part: why it is missing, what it came to, what was not run."""
    if result.missing:
        return [_("Not run: {why}").format(why=result.missing)]
    said = list(result.comparison.says)
    if result.left_out:
        words = _("{count} of {cells} numbers were not run (–).")
        said.append(words.format(count=len(result.left_out), cells=len(result.comparison.cells)))
    return said


def headline(report: Reproduction) -> str:
    """Return what everything came to, in a sentence."""
    counts = report.counts
    equal, exact = counts["exact_equal"], counts["exact_run"]
    held, claims = counts["claims_held"] - equal, counts["claims"] - exact
    said = []
    if report.failed:
        words = _("{count} exact numbers differ from the paper, and no erratum tells of it")
        said.append(words.format(count=len(report.failed)))
    elif exact and equal == exact:
        said.append(_("all {exact} exact numbers are the paper's").format(exact=exact))
    elif exact:
        open_ = counts["exact_unexplained"]
        words = _("{equal} of {exact} exact numbers are the paper's, errata derive {derived}, {open} are unexplained")
        said.append(words.format(equal=equal, exact=exact, derived=exact - equal - open_, open=open_))
    if claims:
        said.append(_("{held} of {claims} claims about random numbers hold").format(held=held, claims=claims))
    sentence = "; ".join(said) or _("nothing was compared")
    return sentence[:1].upper() + sentence[1:]


def markdown_table(shown: PageGrid) -> str:
    """Return a table in Markdown, numbers to the right.

    >>> print(markdown_table(PageGrid((("", ""), ("em", "ours")), (("a", "1"),), noted=False)))
    |  | em: ours |
    |---|---:|
    | a | 1 |
    """
    last = len(shown.headings) - 1
    rule = ["---", *("---" if shown.noted and i == last else "---:" for i in range(1, last + 1))]
    headings = [f"{column}: {whose}" if column else whose for column, whose in shown.headings]
    lines = ["| " + " | ".join(map(_cell, headings)) + " |", "|" + "|".join(rule) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in shown.rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
