"""A document as DOCX, as an HTML page that loads nothing, and as Markdown; the same document gives the same bytes.

DOCX is a ZIP archive of Office Open XML parts (ECMA-376), written with the standard library. A stamp stands in its
header, which is on every page, and in every section; and on every printed page of the HTML.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from importlib.resources import files
from typing import Final
from xml.sax import saxutils

from markupsafe import Markup, escape

from noren.drawing.base import page_styles, template
from noren.papers.document import Block, Code, Document, DocumentTable, Field, Points, Text
from noren.papers.wording import Wording

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PAGE_WIDTH: Final = 9638
"""Between the margins of an A4 page, in twentieths of a point."""
_PAGE: Final = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
"""The number of the page."""
_PAGE_SETUP: Final = (
    '<w:sectPr><w:headerReference w:type="default" r:id="rId2"/><w:footerReference w:type="default" r:id="rId3"/>'
    '<w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1418" w:right="1134" w:bottom="1134" w:left="1134" w:header="567" w:footer="567" '
    'w:gutter="0"/></w:sectPr>'
)


def as_docx(document: Document, language: str) -> bytes:
    """Return the document as the bytes of a DOCX file."""
    wording = Wording(language)
    audience = wording.word("common.page_of", audience=document.audience)
    stamp = _paragraph((document.stamp,), "Stamp") if document.stamp else ""
    body = [_paragraph((document.title,), "Title"), _paragraph((audience,), "Small")]
    if document.basis:
        body.append(_paragraph((f"{wording.word('common.basis')}: {document.basis}",), "Small"))
    for section in document.sections:
        body += [stamp, _paragraph((section.title,), "Heading1")]
        for block in section.blocks:
            if isinstance(block, Points):
                body += [_paragraph(("• ", *item), "Point") for item in block.items]
            elif isinstance(block, Code):
                body.append(_paragraph((block.lines,), "Code"))
            else:
                body.append(_table(block) if isinstance(block, DocumentTable) else _paragraph(block))
    if document.note:
        body.append(_paragraph((document.note,), "Small"))
    names = f'xmlns:w="{_WORD}" xmlns:r="{_OFFICE}"'
    small = '<w:pPr><w:pStyle w:val="Small"/></w:pPr>'
    parts = {
        "[Content_Types].xml": _fixed("content_types.xml"),
        "_rels/.rels": _fixed("package_rels.xml"),
        "word/document.xml": f"{_XML}<w:document {names}><w:body>{''.join(body)}{_PAGE_SETUP}</w:body></w:document>",
        "word/styles.xml": _fixed("styles.xml").replace("EAST_ASIAN", "ja-JP" if language == "ja" else "en-GB"),
        "word/header1.xml": _frame("hdr", stamp or "<w:p/>"),
        "word/footer1.xml": _frame("ftr", f"<w:p>{small}{_run(f'{document.title} · {audience} · ')}{_PAGE}</w:p>"),
        "word/_rels/document.xml.rels": _fixed("document_rels.xml"),
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            about = zipfile.ZipInfo(name, _LONG_AGO)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o600 << 16
            archive.writestr(about, text.encode())
    return sink.getvalue()


def _fixed(name: str) -> str:
    """Return a part of the archive that is the same for every document; its file has a line for each tag."""
    head, *tags = (files("noren.papers") / "templates" / "docx" / name).read_text(encoding="utf-8").splitlines()
    return f"{head}\n{''.join(tag.strip() for tag in tags)}"


def _frame(kind: str, content: str) -> str:
    return f'{_XML}<w:{kind} xmlns:w="{_WORD}">{content}</w:{kind}>'


def _paragraph(text: Text, style: str = "") -> str:
    about = f"<w:pPr><w:pStyle w:val={saxutils.quoteattr(style)}/></w:pPr>" if style else ""
    marked = '<w:rPr><w:b/><w:highlight w:val="yellow"/></w:rPr>'
    runs = "".join(_run(str(part), marked if isinstance(part, Field) else "") for part in text)
    return f"<w:p>{about}{runs}</w:p>"


def _run(text: str, about: str = "") -> str:
    # XML 1.0 forbids most control characters
    legible = "".join(
        c if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff") else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    lines = '</w:t><w:br/><w:t xml:space="preserve">'.join(map(saxutils.escape, legible.split("\n")))
    return f'<w:r>{about}<w:t xml:space="preserve">{lines}</w:t></w:r>'


def _table(grid: DocumentTable) -> str:
    width = _PAGE_WIDTH // max(len(grid.headings), 1)
    sides = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="999999"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    columns = "".join(f'<w:gridCol w:w="{width}"/>' for _heading in grid.headings)
    head = _row(((word,) for word in grid.headings), width, "TableHead", "<w:trPr><w:tblHeader/></w:trPr>")
    rows = "".join(_row(row, width, "TableCell", "<w:trPr><w:cantSplit/></w:trPr>") for row in grid.rows)
    about = f'<w:tblPr><w:tblW w:w="{_PAGE_WIDTH}" w:type="dxa"/><w:tblBorders>{sides}</w:tblBorders></w:tblPr>'
    return f"<w:tbl>{about}<w:tblGrid>{columns}</w:tblGrid>{head}{rows}</w:tbl><w:p/>"


def _row(cells: Iterable[Text], width: int, style: str, about: str) -> str:
    inside = "".join(
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>{_paragraph(cell, style)}</w:tc>' for cell in cells
    )
    return f"<w:tr>{about}{inside}</w:tr>"


# --- HTML ------------------------------------------------------------------------------------------------------------


def as_html(document: Document, language: str) -> bytes:
    """Return the page in UTF-8; the same document gives the same bytes."""
    wording = Wording(language)
    page = template("noren.papers", "paper.html.jinja").render(
        document=document,
        language=language,
        audience=wording.word("common.page_of", audience=document.audience),
        basis=wording.word("common.basis"),
        block=_html_block,
        css=page_styles("noren.papers", "paper.css"),
    )
    return page.encode()


def _html_block(block: Block) -> Markup:
    if isinstance(block, Points):
        return Markup("<ul>{}</ul>").format(
            Markup().join(Markup("<li>{}</li>").format(_html_text(i)) for i in block.items)
        )
    if isinstance(block, Code):
        return Markup('<pre tabindex="0"><code>{}</code></pre>').format(block.lines)
    if not isinstance(block, DocumentTable):
        return Markup("<p>{}</p>").format(_html_text(block))
    head = Markup().join(Markup('<th scope="col">{}</th>').format(word) for word in block.headings)
    rows = Markup().join(
        Markup("<tr>{}</tr>").format(
            Markup().join(
                Markup('<td data-label="{}">{}</td>').format(word, _html_text(cell))
                for word, cell in zip(block.headings, row, strict=True)
            )
        )
        for row in block.rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, rows)


def _html_text(text: Text) -> Markup:
    return Markup().join(
        Markup("<mark>{}</mark>").format(str(part))
        if isinstance(part, Field)
        else Markup("<br>").join(escape(line) for line in part.split("\n"))
        for part in text
    )


# --- Markdown --------------------------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def as_markdown(document: Document, language: str) -> bytes:
    """Return the document as Markdown in UTF-8; a stamp stands at its head and in every section."""
    wording = Wording(language)
    stamp = [f"> **{_safe(document.stamp)}**", ""] if document.stamp else []
    audience = wording.word("common.page_of", audience=document.audience)
    lines = [f"# {_safe(document.title)}", "", *stamp, f"*{_safe(audience)}*", ""]
    if document.basis:
        lines += [f"{_safe(wording.word('common.basis'))}: {_safe(document.basis)}", ""]
    for section in document.sections:
        lines += [f"## {_safe(section.title)}", "", *stamp]
        for block in section.blocks:
            if isinstance(block, Points):
                lines += [f"- {_markdown_text(item)}" for item in block.items]
            elif isinstance(block, Code):
                lines += [f"```{block.language}", *block.lines.splitlines(), "```"]
            elif isinstance(block, DocumentTable):
                head = [" | ".join(map(_safe, block.headings)), " | ".join(["---"] * len(block.headings))]
                rows = [" | ".join(map(_markdown_text, row)) for row in block.rows]
                lines += [f"| {row} |" for row in (*head, *rows)]
            else:
                lines.append(_markdown_text(block))
            lines.append("")
    if document.note:
        lines += ["---", "", _safe(document.note), ""]
    return ("\n".join(lines).rstrip() + "\n").encode()


def _markdown_text(text: Text) -> str:
    return "".join(f"**{_safe(str(part))}**" if isinstance(part, Field) else _safe(part) for part in text)


def _safe(text: str) -> str:
    """Return a text whose marks mean nothing to Markdown, on one line.

    >>> _safe("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return "<br>".join(_SPECIAL.sub(r"\\\1", line) for line in text.split("\n"))
