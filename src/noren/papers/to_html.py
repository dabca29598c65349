"""A document as one HTML page that loads nothing, in the house's look; a stamp is on every printed page."""

from __future__ import annotations

from markupsafe import Markup, escape

from noren.drawing.templating import house_styles, template
from noren.papers.document import Block, Code, Document, Field, Grid, Points, Text
from noren.papers.wording import Wording

__all__ = ["as_html"]


def as_html(document: Document, language: str) -> bytes:
    """Return the page in UTF-8; the same document gives the same bytes."""
    wording = Wording(language)
    page = template("noren.papers", "paper.html.jinja").render(
        document=document,
        language=language,
        audience=wording.word("common.page_of", audience=document.audience),
        basis=wording.word("common.basis"),
        block=_block,
        css=house_styles("noren.papers", "paper.css"),
    )
    return page.encode()


def _block(block: Block) -> Markup:
    if isinstance(block, Points):
        return Markup("<ul>{}</ul>").format(Markup().join(Markup("<li>{}</li>").format(_text(i)) for i in block.items))
    if isinstance(block, Code):
        return Markup('<pre tabindex="0"><code>{}</code></pre>').format(block.lines)
    if isinstance(block, Grid):
        return _grid(block)
    return Markup("<p>{}</p>").format(_text(block))


def _grid(grid: Grid) -> Markup:
    head = Markup().join(Markup('<th scope="col">{}</th>').format(word) for word in grid.headings)
    rows = Markup().join(
        Markup("<tr>{}</tr>").format(
            Markup().join(
                Markup('<td data-label="{}">{}</td>').format(word, _text(cell))
                for word, cell in zip(grid.headings, row, strict=True)
            )
        )
        for row in grid.rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, rows)


def _text(text: Text) -> Markup:
    return Markup().join(
        Markup("<mark>{}</mark>").format(str(part))
        if isinstance(part, Field)
        else Markup("<br>").join(escape(line) for line in part.split("\n"))
        for part in text
    )
