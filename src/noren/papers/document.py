"""A document as a value: sections of paragraphs, lists and tables, with fields that a person must fill in.

What software cannot know is a :class:`Field`. Writers mark it, and the pack ends with a list of all of them, so that no
empty place goes unnoticed.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """A place to fill in: ``key`` names it in the file of facts, ``what`` tells what belongs there, ``mark`` shows it.

    A person's decision has no key: it stands in no file of facts.
    """

    what: str
    mark: str
    key: str = ""

    def __str__(self) -> str:
        return self.mark.format(what=self.what)


Text = tuple[str | Field, ...]
"""A sentence or a few, with the fields in them."""


@dataclass(frozen=True)
class Points:
    """A list."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class DocumentTable:
    """A table."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]

    @classmethod
    def of(cls, headings: Iterable[str], rows: Iterable[Iterable[str | Field]]) -> DocumentTable:
        """Return a table whose cells are one text or one field each."""
        return cls(tuple(headings), tuple(tuple((cell,) for cell in row) for row in rows))


@dataclass(frozen=True)
class Code:
    """Lines to be copied as they are, in a language such as ``sql``."""

    language: str
    lines: str


Block = Text | Points | DocumentTable | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """One document.

    Attributes
    ----------
    name
        The name of its files.
    audience, basis
        Who may read it, and which articles ask for it.
    stamp
        What stands on every page and section; nothing where there is nothing to warn of.
    note
        What stands at the end: who drafted it, and that it is no advice.
    """

    name: str
    title: str
    audience: str
    basis: str
    sections: tuple[Section, ...]
    stamp: str = ""
    note: str = ""

    def texts(self) -> Iterator[Text]:
        """Yield every text of the document, in order."""
        for block in (block for section in self.sections for block in section.blocks):
            if isinstance(block, Points):
                yield from block.items
            elif isinstance(block, DocumentTable):
                yield from (cell for row in block.rows for cell in row)
            elif not isinstance(block, Code):
                yield block


@dataclass(frozen=True)
class Pack:
    """Documents that go together, in one language."""

    language: str
    documents: tuple[Document, ...]

    def fields(self) -> list[tuple[Document, Field]]:
        """Return every field to fill in, with the first document that asks for it."""
        first: dict[Field, Document] = {}
        for document in self.documents:
            for field in (part for text in document.texts() for part in text if isinstance(part, Field)):
                first.setdefault(field, document)
        return [(document, field) for field, document in first.items()]


def filled(template: str, value_of: Callable[[str], str | Field | Text]) -> Text:
    """Return a template with its places filled; a field stays a field.

    >>> filled("By {who}.", {"who": Field("the name", "[TO FILL IN: {what}]")}.get)
    ('By ', Field(what='the name', mark='[TO FILL IN: {what}]', key=''), '.')
    >>> filled("By {who}.", {"who": "Acme"}.get)
    ('By Acme.',)
    """
    parts: list[str | Field] = []
    for literal, name, _spec, _conversion in string.Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            value = value_of(name)
            parts += value if isinstance(value, tuple) else [value]
    merged: list[str | Field] = []
    for part in parts:  # neighbouring texts become one
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    return tuple(merged)


def plain(text: Text) -> str:
    """Return a text as one string, its fields marked."""
    return "".join(map(str, text))
