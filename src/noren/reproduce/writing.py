"""A reproduction as files: one page, a Markdown file and a JSON file for each document, pictures as SVG."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from noren.data.formats.files import FolderKind, writing_folder
from noren.drawing.templating import house_styles, template
from noren.i18n import _, active_language, ngettext
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.layout import PageGrid, before_table, grid, headline, long_grid, markdown_table
from noren.reproduce.machine import facts
from noren.reproduce.run import DocumentResult, PartResult, Reproduction

__all__ = ["REPRODUCTION", "markdown", "overview", "page", "part_title", "write"]

Pictures = dict[tuple[str, str, int], str]


def _unsigned(folder: Path) -> str | None:
    """Return the summary in a folder where it is none of a reproduction."""
    try:
        told = json.loads((folder / "reproduce.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        told = None
    return None if isinstance(told, dict) and {"documents", "measured"} <= told.keys() else "reproduce.json"


_DOCUMENT = ("S[0-9]", "beyond")
REPRODUCTION = FolderKind(
    (
        *("index.html", "index.md", "reproduce.json"),
        *(name + end for name in _DOCUMENT for end in (".md", ".json", "-*.svg")),
    ),
    _unsigned,
)
"""A folder with a reproduction; another may take its place if it holds nothing else."""


def write(report: Reproduction, folder: str | Path, *, replace: bool = False) -> Path:
    """Write everything into ``folder``, whole or not at all, and return it."""
    pictures = draw(report)
    measured = facts("noren", "numpy", "polars")
    with writing_folder(folder, replace=replace and REPRODUCTION) as aside:

        def put(name: str, text: str) -> None:
            (aside / name).write_text(text, encoding="utf-8", newline="\n")

        put("index.html", page(report, measured, pictures))
        put("index.md", overview(report, measured))
        put("reproduce.json", _json(report.as_dict() | {"measured": measured}))
        for result in report.documents:
            key = result.document.key
            put(f"{key}.md", markdown(result, measured))
            put(f"{key}.json", _json(result.as_dict() | {"measured": measured}))
        for place, picture in pictures.items():
            put(_picture_name(*place), picture)
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


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


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
        blocks += [f"### {erratum.where} ({erratum.key})", *_erratum_lines(erratum), erratum.derivation]
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
        numbers = (f"[{key}]({key}.md)", exact, equal, derived, open_, claims, held, counts["not_run"])
        lines.append("| " + " | ".join(map(str, numbers)) + " |")
        differing += [(key, part, cell) for part, cell in result.differing]
    blocks = [
        f"# {_('The papers, reproduced')}",
        f"**{headline(report)}.**",
        "\n".join(["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|", *lines]),
        _legend(),
        f"## {_('Every number that is not the paper’s')}",
    ]
    words = {"derived": _("An erratum derives what it must be"), "unexplained": _("Nobody has explained it")}
    words["random"] = _("A claim about a random number does not hold")
    told = [(erratum, result) for result in report.documents for erratum in result.told]
    for kind, title in words.items():
        found = [one for one in differing if _kind(one[2]) == kind]
        if not found:
            continue
        cells = [replace(cell, row=f"{key}, {part}: {cell.row}") for key, part, cell in found]
        blocks.append(f"### {title}")
        if kind != "random":
            count = sum(unexplained is (kind == "unexplained") for (_key, unexplained), _result in told)
            blocks.append(_many(count, len(cells)))
        blocks.append(markdown_table(long_grid(cells)))
    if not differing:
        blocks.append(_("There is none."))
    blocks.append(_("Run on {measured}.").format(measured=measured))
    return "\n\n".join(blocks) + "\n"


def _kind(cell: Datum) -> str:
    """Return which list of numbers that are not the paper's a cell stands in."""
    if not cell.erratum:
        return "random"
    return "unexplained" if cell.unexplained else "derived"


def _many(errata: int, numbers: int) -> str:
    """Return how many errata the lines of a list come from: one may show in several numbers."""
    lines = ngettext("{count} number", "{count} numbers", numbers).format(count=numbers)
    return ngettext("{lines}, of {count} erratum.", "{lines}, of {count} errata.", errata).format(
        lines=lines, count=errata
    )


def _erratum_lines(erratum: Erratum) -> list[str]:
    known = _("unexplained") if erratum.unexplained else f"{_('it must be')}: {erratum.derived}"
    return [f"- {_('printed')}: {erratum.printed}\n- {known}"]


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
        documents=[_document(result, drawn) for result in report.documents],
        css=house_styles("noren.reproduce", "reproduce.css"),
    )


def _document(result: DocumentResult, drawn: Pictures) -> dict[str, Any]:
    key = result.document.key
    return {
        "key": key,
        "title": _(result.document.title),
        "citation": result.document.citation,
        "parts": [
            {
                "anchor": f"{key}-{part.part.key}",
                "title": part_title(part),
                "says": before_table(part),
                "table": _table(grid(part.comparison.cells)) if part.comparison.cells else None,
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
        ],
        "errata": [
            {
                "anchor": f"{key}-erratum-{erratum.key}",
                "erratum": erratum,
                "table": _table(grid(erratum.cells)) if erratum.cells else None,
            }
            for erratum in result.errata
        ],
    }


def _table(shown: PageGrid) -> dict[str, Any]:
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
