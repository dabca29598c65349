"""A document as Markdown."""

from __future__ import annotations

import re

from noren.papers.document import Block, Code, Document, Field, Grid, Points, Text
from noren.papers.wording import Wording

__all__ = ["as_markdown"]

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
            lines += [*_block(block), ""]
    if document.note:
        lines += ["---", "", _safe(document.note), ""]
    return ("\n".join(lines).rstrip() + "\n").encode()


def _block(block: Block) -> list[str]:
    if isinstance(block, Points):
        return [f"- {_text(item)}" for item in block.items]
    if isinstance(block, Code):
        return [f"```{block.language}", *block.lines.splitlines(), "```"]
    if isinstance(block, Grid):
        rows = [" | ".join(_text(cell) for cell in row) for row in block.rows]
        return [_line(" | ".join(map(_safe, block.headings))), _line(" | ".join("---" for _h in block.headings)),
                *(_line(row) for row in rows)]  # fmt: skip
    return [_text(block)]


def _line(cells: str) -> str:
    return f"| {cells} |"


def _text(text: Text) -> str:
    return "".join(f"**{_safe(str(part))}**" if isinstance(part, Field) else _safe(part) for part in text)


def _safe(text: str) -> str:
    """Return a text whose marks mean nothing to Markdown, on one line.

    >>> _safe("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return "<br>".join(_SPECIAL.sub(r"\\\1", line) for line in text.split("\n"))
