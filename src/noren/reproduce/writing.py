"""Output of a reproduction: tables of cells; a page, Markdown, JSON and pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from noren.data.formats.files import FolderKind, json_signature, writing_folder
from noren.drawing.base import render_page
from noren.i18n import _
from noren.reproduce.frame import Datum, Value
from noren.reproduce.machine import facts
from noren.reproduce.run import DocumentResult, PartResult, Reproduction
from noren.tables import Texts

say = Texts(__name__)
EQUAL, DIFFERS, DERIVED, UNEXPLAINED, UNRUN = "✓", "✗", "†", "‡", "–"


@dataclass(frozen=True)
class PageGrid:
    """A table of texts; the first column names the row, the last may hold notes.

    A heading has two lines: the paper's column, and whose number it is.
    """

    headings: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    noted: bool


def value(number: Value, digits: int) -> str:
    """Format a value for display.

    >>> value(0.35, 3), value(1234.0, 0), value("safe", 2), value(None, 2)
    ('0.350', '1,234', 'safe', '–')
    """
    if number is None:
        return UNRUN
    return number if isinstance(number, str) else f"{number:,.{digits}f}"


def grid(cells: Sequence[Datum]) -> PageGrid:
    """Return the cells as a table, one line per row: paper, ours and difference for each column of the paper."""
    labels = {"paper": _("paper"), "ours": _("ours"), "difference": _("difference")}
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, Datum]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = cell
    headings = [("", "")]
    printed = {cell.column for cell in cells if cell.paper is not None}  # a paper that prints nothing has no column
    shown_fields = {column: ("paper", "ours", "difference") if column in printed else ("ours",) for column in columns}
    for column in columns:
        headings += [(column, labels[name]) for name in shown_fields[column]]
    notes = {}
    for row, in_row in rows.items():
        errata = [_("erratum {key}").format(key=c.erratum) for c in in_row.values() if c.erratum and c.ok is False]
        notes[row] = "; ".join(dict.fromkeys((*(c.note for c in in_row.values() if c.note), *errata)))
    noted = any(notes.values())
    lines = []
    for row, in_row in rows.items():
        texts = [text for column in columns for text in _texts(in_row.get(column), shown_fields[column])]
        lines.append((row, *texts, *((notes[row],) if noted else ())))
    return PageGrid((*headings, *((("", _("note")),) if noted else ())), tuple(lines), noted)


def long_grid(cells: Sequence[Datum]) -> PageGrid:
    """Return the cells as a table, one line per cell, for narrow output.

    >>> long_grid([Datum("t1", "em", 91.1, 90.7, digits=1)]).rows
    (('t1, em', '91.1', '90.7', '-0.4'),)
    """
    return grid([replace(cell, row=", ".join(filter(None, (cell.row, cell.column))), column="") for cell in cells])


def _texts(cell: Datum | None, fields: Sequence[str]) -> list[str]:
    """Return some of paper, ours and difference; the difference with its mark."""
    if cell is None:
        return [""] * len(fields)
    # the paper's silence is no gap of ours
    texts = {
        "paper": "" if cell.paper is None else value(cell.paper, cell.digits),
        "ours": value(cell.ours, cell.digits),
    }
    if cell.spread is not None:
        texts["ours"] += f" ± {cell.spread:.{cell.digits}f}"
    away = ""
    if cell.difference is not None:
        away = f"{cell.difference:+,.{cell.digits}f}"
        if float(away.replace(",", "")) == 0:
            away = f"{0:.{cell.digits}f}"
    differs = (UNEXPLAINED if cell.unexplained else DERIVED) if cell.erratum else DIFFERS
    mark = {None: "", True: EQUAL, False: differs}[cell.ok]
    texts["difference"] = f"{away} {mark}".strip()
    return [texts[name] for name in fields]


def remarks_of(result: PartResult) -> list[str]:
    """Return the remarks about a section: why it is missing, its findings, what was not run."""
    if result.missing:
        return [_("Not run: {why}").format(why=result.missing)]
    remarks = list(result.comparison.remarks)
    if result.left_out:
        remarks.append(say("not_run", count=len(result.left_out), cells=len(result.comparison.cells)))
    return remarks


def headline(report: Reproduction) -> str:
    """Return the outcome of the reproduction in a sentence."""
    counts = report.counts
    equal, exact = counts["exact_equal"], counts["exact_run"]
    held, claims = counts["claims_held"] - equal, counts["claims"] - exact
    outcomes = []
    if report.failed:
        outcomes.append(say("failed", count=len(report.failed)))
    elif exact and equal == exact:
        outcomes.append(_("all {exact} exact numbers match the paper").format(exact=exact))
    elif exact:
        open_ = counts["exact_unexplained"]
        outcomes.append(say("matching", equal=equal, exact=exact, derived=exact - equal - open_, open=open_))
    if claims:
        outcomes.append(_("{held} of {claims} claims about random numbers hold").format(held=held, claims=claims))
    sentence = "; ".join(outcomes) or _("nothing was compared")
    return sentence[:1].upper() + sentence[1:]


def markdown_table(table: PageGrid) -> str:
    """Return a table in Markdown, numbers to the right.

    >>> print(markdown_table(PageGrid((("", ""), ("em", "ours")), (("a", "1"),), noted=False)))
    |  | em: ours |
    |---|---:|
    | a | 1 |
    """
    last = len(table.headings) - 1
    rule = ["---", *("---" if table.noted and i == last else "---:" for i in range(1, last + 1))]
    headings = [f"{column}: {whose}" if column else whose for column, whose in table.headings]
    first, *lines = (" | ".join(text.replace("|", "\\|") for text in row) for row in (headings, *table.rows))
    return "\n".join([f"| {first} |", "|" + "|".join(rule) + "|", *(f"| {line} |" for line in lines)])


# --- A reproduction as files: one page, a Markdown file and a JSON file for each document, pictures as SVG ------------


Pictures = dict[tuple[str, str, int], str]


_DOCUMENT = ("S[0-9]", "beyond")
REPRODUCTION = FolderKind(
    (
        *("index.html", "index.md", "reproduce.json"),
        *(name + end for name in _DOCUMENT for end in (".md", ".json", "-*.svg")),
    ),
    json_signature("reproduce.json", "documents", "measured"),
)
"""A folder with a reproduction; another may take its place if it holds nothing else."""


def write(report: Reproduction, folder: str | Path, *, replace: bool = False) -> Path:
    """Write everything into ``folder``, whole or not at all, and return it."""
    pictures = draw(report)
    measured = facts("noren", "numpy", "polars")
    files = {"index.html": page(report, measured, pictures), "index.md": overview(report, measured)}
    contents = {"reproduce": report.as_dict()}
    for result in report.documents:
        files[f"{result.document.key}.md"] = markdown(result, measured)
        contents[result.document.key] = result.as_dict()
    for name, content in contents.items():
        text = json.dumps(content | {"measured": measured}, ensure_ascii=False, indent=1, allow_nan=False)
        files[f"{name}.json"] = text + "\n"
    files |= {_picture_name(*place): picture for place, picture in pictures.items()}
    with writing_folder(folder, replace=replace and REPRODUCTION) as aside:
        for name, text in files.items():
            (aside / name).write_text(text, encoding="utf-8", newline="\n")
    return Path(folder)


def draw(report: Reproduction) -> Pictures:
    """Return every picture as SVG text, by document, part and number."""
    return {
        (result.document.key, part.part.key, number): chart.draw()
        for result in report.documents
        for part in result.parts
        for number, chart in enumerate(part.comparison.charts, start=1)
    }


def _picture_name(document: str, part: str, number: int) -> str:
    return f"{document}-{part}-{number}.svg"


def markdown(result: DocumentResult, measured: str) -> str:
    """Return a document as Markdown."""
    document, key = result.document, result.document.key
    blocks = [f"# {key}: {_(document.title)}", document.citation, _(document.summary), say("legend")]
    for part in result.parts:
        blocks += [f"## {part_title(part)}", *remarks_of(part)]
        for number, chart in enumerate(part.comparison.charts, start=1):
            blocks.append(f"![{chart.title}]({_picture_name(key, part.part.key, number)})")
        if part.comparison.cells:
            blocks.append(markdown_table(grid(part.comparison.cells)))
    if result.errata:
        blocks.append("## " + _("Errata"))
    for erratum in result.errata:
        mark = f" ({_('unexplained')})" if erratum.unexplained else ""
        blocks += [f"### {erratum.key}{mark}", erratum.text]
        if erratum.cells:
            blocks.append(markdown_table(grid(erratum.cells)))
    blocks.append(_("Run on {measured}.").format(measured=measured))
    return "\n\n".join(blocks) + "\n"


def overview(report: Reproduction, measured: str) -> str:
    """Return the outcome of each document as Markdown: how many numbers match the paper, and all that do not."""
    titles = {"derived": _("explained by an erratum"), "unexplained": _("unexplained"), "random": _("random claims")}
    heads = (
        _("document"),
        _("exact numbers"),
        _("match the paper"),
        *titles.values(),
        _("claims that hold"),
        _("not run"),
    )
    lines, differing = [], []
    for result in report.documents:
        counts, key = result.counts, result.document.key
        exact, equal = counts["exact_run"], counts["exact_equal"]
        open_ = counts["exact_unexplained"]
        derived = sum(bool(cell.erratum) for _part, cell in result.differing if cell.exact) - open_
        claims, held = counts["claims"] - exact, counts["claims_held"] - equal
        numbers = (exact, equal, derived, open_, claims, held, counts["not_run"])
        lines.append((f"[{key}]({key}.md)", *map(str, numbers)))
        for part, cell in result.differing:
            kind = ("unexplained" if cell.unexplained else "derived") if cell.erratum else "random"
            differing.append((kind, replace(cell, row=f"{key}, {part}: {cell.row}")))
    blocks = [
        "# " + _("The papers, reproduced"),
        f"**{headline(report)}.**",
        markdown_table(PageGrid(tuple(("", head) for head in heads), tuple(lines), noted=False)),
        say("legend"),
        "## " + _("Numbers that differ from the paper"),
    ]
    for kind, title in titles.items():
        cells = [cell for of, cell in differing if of == kind]
        if cells:
            blocks += [f"### {title[:1].upper()}{title[1:]}", markdown_table(long_grid(cells))]
    if not differing:
        blocks.append(_("none"))
    blocks.append(_("Run on {measured}.").format(measured=measured))
    return "\n\n".join(blocks) + "\n"


def part_title(part: PartResult) -> str:
    """Return the title of a section: ``Table 5. L1 precision …``."""
    kinds = {"table": _("Table {number}"), "figure": _("Figure {number}")}
    title = part.part.translated_title
    if part.part.kind not in kinds:
        return title
    return f"{kinds[part.part.kind].format(number=part.part.name)}. {title}"


def page(report: Reproduction, measured: str, pictures: Pictures | None = None) -> str:
    """Return one HTML page that loads and runs nothing."""
    drawn = draw(report) if pictures is None else pictures
    return render_page(
        "noren.reproduce",
        "reproduce.html.jinja",
        "reproduce.css",
        report=report,
        headline=headline(report),
        legend=say("legend"),
        measured=measured,
        part_title=part_title,
        remarks_of=remarks_of,
        table_of=_table,
        # our own drawings; every text in them was escaped as they were drawn
        drawn={place: Markup(svg) for place, svg in drawn.items()},  # noqa: S704
    )


def _table(cells: Sequence[Datum]) -> dict[str, Any] | None:
    """Return the template values of a table of cells; none without cells."""
    if not cells:
        return None
    table = grid(cells)
    last = len(table.headings) - 1
    figures = ["" if i == 0 or (table.noted and i == last) else "figure" for i in range(last + 1)]
    groups = [(name, len(list(inside))) for name, inside in groupby(table.headings[1:], key=lambda pair: pair[0])]
    return {
        "headings": table.headings,
        "groups": groups,
        "grouped": any(name for name, _span in groups),
        "rows": table.rows,
        "classes": figures,
    }
