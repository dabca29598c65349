"""A document as DOCX: a ZIP archive of Office Open XML parts (ECMA-376), written with the standard library.

The same document gives the same bytes. A stamp stands in the header, which is on every page, and in every section.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from noren.papers.document import Block, Code, Document, Field, Grid, Points, Text
from noren.papers.wording import Wording

__all__ = ["as_docx"]

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_KIND: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PAGE_WIDTH: Final = 9638
"""Between the margins of an A4 page, in twentieths of a point."""

_CONTENT_TYPES: Final = (
    f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_KIND}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_KIND}.styles+xml"/>'
    f'<Override PartName="/word/header1.xml" ContentType="{_KIND}.header+xml"/>'
    f'<Override PartName="/word/footer1.xml" ContentType="{_KIND}.footer+xml"/></Types>'
)
_RELATIONS: Final = (
    f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>'
)
_PARTS: Final = (
    f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
    + "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, kind, target in (
            (1, "styles", "styles.xml"),
            (2, "header", "header1.xml"),
            (3, "footer", "footer1.xml"),
        )
    )
    + "</Relationships>"
)


def as_docx(document: Document, language: str) -> bytes:
    """Return the document as the bytes of a DOCX file."""
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONS,
        "word/document.xml": _document(document, language),
        "word/styles.xml": _styles(language),
        "word/header1.xml": _frame("hdr", _paragraph((document.stamp,), "Stamp") if document.stamp else "<w:p/>"),
        "word/footer1.xml": _frame("ftr", _footer(document, language)),
        "word/_rels/document.xml.rels": _PARTS,
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            about = zipfile.ZipInfo(name, _LONG_AGO)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o600 << 16
            archive.writestr(about, text.encode())
    return sink.getvalue()


def _document(document: Document, language: str) -> str:
    wording = Wording(language)
    body = [_paragraph((document.title,), "Title")]
    body.append(_paragraph((wording.word("common.page_of", audience=document.audience),), "Small"))
    if document.basis:
        body.append(_paragraph((f"{wording.word('common.basis')}: {document.basis}",), "Small"))
    for section in document.sections:
        if document.stamp:
            body.append(_paragraph((document.stamp,), "Stamp"))
        body.append(_paragraph((section.title,), "Heading1"))
        body += [_block(block) for block in section.blocks]
    if document.note:
        body.append(_paragraph((document.note,), "Small"))
    page = (
        '<w:sectPr><w:headerReference w:type="default" r:id="rId2"/><w:footerReference w:type="default" r:id="rId3"/>'
        '<w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1418" w:right="1134" w:bottom="1134" w:left="1134" w:header="567" w:footer="567" '
        'w:gutter="0"/></w:sectPr>'
    )
    return (
        f'{_XML}<w:document xmlns:w="{_WORD}" xmlns:r="{_OFFICE}"><w:body>{"".join(body)}{page}</w:body></w:document>'
    )


def _footer(document: Document, language: str) -> str:
    audience = Wording(language).word("common.page_of", audience=document.audience)
    number = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    return f'<w:p><w:pPr><w:pStyle w:val="Small"/></w:pPr>{_run(f"{document.title} · {audience} · ")}{number}</w:p>'


def _frame(kind: str, content: str) -> str:
    return f'{_XML}<w:{kind} xmlns:w="{_WORD}">{content}</w:{kind}>'


# --- blocks ----------------------------------------------------------------------------------------------------------


def _block(block: Block) -> str:
    if isinstance(block, Points):
        return "".join(_paragraph(("• ", *item), "Point") for item in block.items)
    if isinstance(block, Code):
        return _paragraph((block.lines,), "Code")
    if isinstance(block, Grid):
        return _table(block)
    return _paragraph(block)


def _paragraph(text: Text, style: str = "") -> str:
    about = f"<w:pPr><w:pStyle w:val={quoteattr(style)}/></w:pPr>" if style else ""
    return f"<w:p>{about}{''.join(_part(part) for part in text)}</w:p>"


def _part(part: str | Field) -> str:
    if isinstance(part, Field):
        return _run(str(part), '<w:rPr><w:b/><w:highlight w:val="yellow"/></w:rPr>')
    return _run(part)


def _run(text: str, about: str = "") -> str:
    lines = '</w:t><w:br/><w:t xml:space="preserve">'.join(escape(line) for line in _legible(text).split("\n"))
    return f'<w:r>{about}<w:t xml:space="preserve">{lines}</w:t></w:r>'


def _legible(text: str) -> str:
    """Return a text without characters that XML 1.0 forbids."""
    return "".join(c if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff") else "\N{REPLACEMENT CHARACTER}"
                   for c in text)  # fmt: skip


def _table(grid: Grid) -> str:
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


# --- styles ----------------------------------------------------------------------------------------------------------


def _styles(language: str) -> str:
    fonts = '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Yu Gothic" w:cs="Calibri"/>'
    defaults = (
        f'<w:docDefaults><w:rPrDefault><w:rPr>{fonts}<w:sz w:val="21"/>'
        f'<w:lang w:val="en-GB" w:eastAsia="{"ja-JP" if language == "ja" else "en-GB"}"/></w:rPr></w:rPrDefault>'
        '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="276" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
        "</w:docDefaults>"
    )
    frame = "".join(
        f'<w:{side} w:val="single" w:sz="12" w:space="4" w:color="C8553D"/>'
        for side in ("top", "left", "bottom", "right")
    )
    styles = (
        _style("Normal", "", "", default=True),
        _style("Title", '<w:spacing w:after="160"/>', '<w:b/><w:color w:val="26456E"/><w:sz w:val="34"/>'),
        _style(
            "Heading1", '<w:keepNext/><w:spacing w:before="280"/><w:outlineLvl w:val="0"/>', '<w:b/><w:sz w:val="26"/>'
        ),
        _style("Small", "", '<w:color w:val="5D6675"/><w:sz w:val="18"/>'),
        _style("Point", '<w:ind w:left="284" w:hanging="284"/>', ""),
        _style(
            "Code", "", '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:eastAsia="Yu Gothic"/><w:sz w:val="18"/>'
        ),
        _style("TableHead", '<w:spacing w:after="0"/>', '<w:b/><w:sz w:val="18"/>'),
        _style("TableCell", '<w:spacing w:after="0"/>', '<w:sz w:val="18"/>'),
        _style("Stamp", f"<w:pBdr>{frame}</w:pBdr>", '<w:b/><w:color w:val="C8553D"/><w:sz w:val="20"/>'),
    )
    return f'{_XML}<w:styles xmlns:w="{_WORD}">{defaults}{"".join(styles)}</w:styles>'


def _style(name: str, paragraph: str, run: str, *, default: bool = False) -> str:
    base = "" if default else '<w:basedOn w:val="Normal"/>'
    chosen = ' w:default="1"' if default else ""
    return (
        f'<w:style w:type="paragraph"{chosen} w:styleId="{name}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )
