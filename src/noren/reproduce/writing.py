"""A reproduction as text and as files: tables of cells; a page, Markdown, JSON and pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from noren.data.formats.files import FolderKind, json_signature, writing_folder
from noren.drawing.base import page_styles, template
from noren.i18n import _, active_language, ngettext
from noren.reproduce.frame import Datum, Value
from noren.reproduce.machine import facts
from noren.reproduce.run import DocumentResult, PartResult, Reproduction

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
    printed = {cell.column for cell in cells if cell.paper is not None}  # a paper that prints nothing has no column
    asked = {column: ("paper", "ours", "difference") if column in printed else ("ours",) for column in columns}
    for column in columns:
        headings += [(column, words[name]) for name in asked[column]]
    notes = {}
    for row, inside in rows.items():
        errata = [_("erratum {key}").format(key=c.erratum) for c in inside.values() if c.erratum and c.ok is False]
        notes[row] = "; ".join(dict.fromkeys((*(c.note for c in inside.values() if c.note), *errata)))
    noted = any(notes.values())
    lines = []
    for row, inside in rows.items():
        texts = [text for column in columns for text in _texts(inside.get(column), asked[column])]
        lines.append((row, *texts, *((notes[row],) if noted else ())))
    return PageGrid((*headings, *((("", _("note")),) if noted else ())), tuple(lines), noted)


def long_grid(cells: Sequence[Datum]) -> PageGrid:
    """Return the cells as a table, a line for each of them: for where there is no room for a wide one.

    >>> long_grid([Datum("t1", "em", 91.1, 90.7, digits=1)]).rows
    (('t1, em', '91.1', '90.7', '-0.4'),)
    """
    return grid([replace(cell, row=", ".join(filter(None, (cell.row, cell.column))), column="") for cell in cells])


def _texts(cell: Datum | None, fields: Sequence[str]) -> list[str]:
    """Return some of paper, ours and difference, with what a mark says of it."""
    if cell is None:
        return [""] * len(fields)
    # the paper's silence is no gap of ours
    said = {
        "paper": "" if cell.paper is None else value(cell.paper, cell.digits),
        "ours": value(cell.ours, cell.digits),
    }
    if cell.spread is not None:
        said["ours"] += f" ± {cell.spread:.{cell.digits}f}"
    away = ""
    if cell.difference is not None:
        away = f"{cell.difference:+,.{cell.digits}f}"
        if float(away.replace(",", "")) == 0:
            away = f"{0:.{cell.digits}f}"
    told = (UNEXPLAINED if cell.unexplained else DERIVED) if cell.erratum else DIFFERS
    mark = {None: "", True: EQUAL, False: told}[cell.ok]
    said["difference"] = f"{away} {mark}".strip()
    return [said[name] for name in fields]


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
    first, *lines = (" | ".join(text.replace("|", "\\|") for text in row) for row in (headings, *shown.rows))
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


# --- Markdown --------------------------------------------------------------------------------------------------------


def markdown(result: DocumentResult, measured: str) -> str:
    """Return a document as Markdown."""
    key = result.document.key
    blocks = [f"# {key}: {_(result.document.title)}", result.document.citation, _legend()]
    for part in result.parts:
        blocks += [f"## {part_title(part)}", *before_table(part)]
        for number, chart in enumerate(part.comparison.charts, start=1):
            blocks.append(f"![{chart.title}]({_picture_name(key, part.part.key, number)})")
        if part.comparison.cells:
            blocks.append(markdown_table(grid(part.comparison.cells)))
    if result.errata:
        blocks.append(f"## {_('Errata')}")
    for erratum in result.errata:
        known = _("unexplained") if erratum.unexplained else f"{_('it must be')}: {erratum.derived}"
        said = f"- {_('printed')}: {erratum.printed}\n- {known}"
        blocks += [f"### {erratum.where} ({erratum.key})", said, erratum.derivation]
        if erratum.cells:
            blocks.append(markdown_table(grid(erratum.cells)))
    blocks.append(_("Run on {measured}.").format(measured=measured))
    return "\n\n".join(blocks) + "\n"


def overview(report: Reproduction, measured: str) -> str:
    """Return what came of each document as Markdown: how many numbers are the paper's, and every one that is not."""
    heads = (
        _("document"),
        _("exact numbers"),
        _("the paper's"),
        _("derived by an erratum"),
        _("unexplained"),
        _("random claims"),
        _("that hold"),
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
        f"# {_('The papers, reproduced')}",
        f"**{headline(report)}.**",
        markdown_table(PageGrid(tuple(("", head) for head in heads), tuple(lines), noted=False)),
        _legend(),
        f"## {_('Every number that is not the paper’s')}",
    ]
    words = {"derived": _("An erratum derives what it must be"), "unexplained": _("Nobody has explained it")}
    words["random"] = _("A claim about a random number does not hold")
    told = [
        unexplained
        for result in report.documents
        for _key, unexplained in {(cell.erratum, cell.unexplained) for _part, cell in result.differing if cell.erratum}
    ]
    for kind, title in words.items():
        cells = [cell for of, cell in differing if of == kind]
        if not cells:
            continue
        blocks.append(f"### {title}")
        if kind != "random":
            count = told.count(kind == "unexplained")
            # one erratum may show in several numbers
            in_numbers = ngettext("{count} number", "{count} numbers", len(cells)).format(count=len(cells))
            errata = ngettext("{lines}, of {count} erratum.", "{lines}, of {count} errata.", count)
            blocks.append(errata.format(lines=in_numbers, count=count))
        blocks.append(markdown_table(long_grid(cells)))
    if not differing:
        blocks.append(_("There is none."))
    blocks.append(_("Run on {measured}.").format(measured=measured))
    return "\n\n".join(blocks) + "\n"


def part_title(part: PartResult) -> str:
    """Return what a part is called: ``Table 5. L1 precision …``."""
    kinds = {"table": _("Table {number}"), "figure": _("Figure {number}")}
    title = _(part.part.title)
    if part.part.kind not in kinds:
        return title
    return f"{kinds[part.part.kind].format(number=part.part.name)}. {title}"


def _legend() -> str:
    return _(
        "✓ within what is claimed, ✗ not, † differs and an erratum derives what it must be, "
        "‡ differs and nobody has explained it, – not run. "
        "A random number is a mean ± standard deviation over seeds."
    )


# --- the page --------------------------------------------------------------------------------------------------------


def page(report: Reproduction, measured: str, pictures: Pictures | None = None) -> str:
    """Return one HTML page that loads and runs nothing."""
    drawn = draw(report) if pictures is None else pictures
    documents = []
    for result in report.documents:
        key = result.document.key
        parts = [
            {
                "anchor": f"{key}-{part.part.key}",
                "title": part_title(part),
                "says": before_table(part),
                "table": _table(part.comparison.cells),
                "long": len(part.comparison.cells) > 60,
                "charts": [
                    {
                        "title": chart.title,
                        # our own drawing; every text in it was escaped as it was drawn
                        "svg": Markup(drawn[key, part.part.key, number]),  # noqa: S704
                    }
                    for number, chart in enumerate(part.comparison.charts, start=1)
                ],
            }
            for part in result.parts
        ]
        errata = [
            {"anchor": f"{key}-erratum-{erratum.key}", "erratum": erratum, "table": _table(erratum.cells)}
            for erratum in result.errata
        ]
        said = {"title": _(result.document.title), "citation": result.document.citation}
        documents.append({"key": key, "parts": parts, "errata": errata, **said})
    return template("noren.reproduce", "reproduce.html.jinja").render(
        language=active_language(),
        headline=headline(report),
        words={
            "title": _("The papers, reproduced"),
            "legend": _legend(),
            "contents": _("Contents"),
            "errata": _("Errata"),
            "printed": _("printed"),
            "derived": _("it must be"),
            "unexplained": _("unexplained"),
            "quick": _("This was a quick run: fewer seeds, and some numbers left out.") if report.asked.quick else "",
            "measured": _("Run on {measured}.").format(measured=measured),
        },
        documents=documents,
        css=page_styles("noren.reproduce", "reproduce.css"),
    )


def _table(cells: Sequence[Datum]) -> dict[str, Any] | None:
    """Return what the page shows of cells; nothing where there are none."""
    if not cells:
        return None
    shown = grid(cells)
    last = len(shown.headings) - 1
    figures = ["" if i == 0 or (shown.noted and i == last) else "figure" for i in range(last + 1)]
    groups = [(name, len(list(inside))) for name, inside in groupby(shown.headings[1:], key=lambda pair: pair[0])]
    return {
        "headings": shown.headings,
        "groups": groups,
        "grouped": any(name for name, _span in groups),
        "rows": shown.rows,
        "classes": figures,
    }
