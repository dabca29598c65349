"""What stands on a page of the documentation: its code blocks, the comments above them, commands in its sentences."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REASONS = {
    "needs the network",
    "needs a graphics processor",
    "takes minutes",
    "serves until it is stopped",
    "works on the checkout",
    "a part of a file",
}
COMMANDS = {"sh", "console"}
DATA = {"toml", "json", "csv"}
SHOWN = {"mermaid", "plain"}
LANGUAGES = COMMANDS | DATA | SHOWN | {"python", "text"}

_FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})(?P<language>[^\s`]*)(?P<rest>[^`]*)")
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_NOTE = re.compile(
    r"(?P<kind>before|exits|not run|printed|with published data)(?:\s*:\s*|\s+|$)(?P<said>.*)", re.DOTALL
)
_TITLE = re.compile(r'\btitle="([^"]+)"')
_NAMED = re.compile(r"#\s*(\S+\.\w+)\s*")
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_SNIPPET = re.compile(r'--8<-- "([^"]+)"')


class WrongPageError(Exception):
    """A page that does not keep to the conventions, or says what is not so."""


@dataclass(frozen=True)
class Block:
    """One fenced block: where it stands, what it holds, and what the comments above it say."""

    place: str
    line: int
    language: str
    text: str
    file: str | None = None
    before: str = ""
    exits: int = 0
    reason: str = ""
    published: bool = False
    printed: bool = False

    @property
    def where(self) -> str:
        """The page and the line of the opening fence, as editors take it."""
        return f"{self.place}:{self.line}"


@dataclass(frozen=True)
class Page:
    """A page: its place in the repository, its blocks in order, what its sentences quote, and what it makes up."""

    place: str
    blocks: tuple[Block, ...]
    spans: tuple[tuple[int, str], ...]
    made_up: frozenset[str]


def pages() -> list[str]:
    """Return the places of all pages; one that is a snippet of another file stands for that file."""
    found = [ROOT / "README.md", *sorted((ROOT / "examples").glob("*/README.md"))]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        snippet = _SNIPPET.fullmatch(path.read_text(encoding="utf-8").strip())
        found.append(ROOT / snippet[1] if snippet else path)
    return [path.relative_to(ROOT).as_posix() for path in found]


def read_page(place: str) -> Page:
    """Read a page as the site shows it: with the facts that the code adds to a component's page."""
    markdown = (ROOT / place).read_text(encoding="utf-8")
    if place.startswith("docs/"):
        markdown = _with_facts(markdown, place.removeprefix("docs/"))
    return parse_page(place, markdown)


def _with_facts(markdown: str, address: str) -> str:
    page = SimpleNamespace(file=SimpleNamespace(src_uri=address))
    return str(_site_reference().on_page_markdown(markdown, page=page))


@cache
def _site_reference() -> Any:
    """Load the hook that the site's builder calls for each page."""
    spec = importlib.util.spec_from_file_location("site_reference", ROOT / "tools" / "site_reference.py")
    if spec is None or spec.loader is None:
        raise ImportError("tools/site_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parse_page(place: str, markdown: str) -> Page:
    """Take a page apart; a convention that is not kept is an error."""
    lines = markdown.splitlines()
    blocks: list[Block] = []
    prose: dict[int, str] = {}
    notes: list[tuple[int, str]] = []
    made_up: set[str] = set()
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        if opening:
            end = _closing(lines, at, opening["fence"])
            if end is None:
                raise WrongPageError(f"{place}:{at + 1}: this block is never closed")
            inside = textwrap.dedent("\n".join(lines[at + 1 : end])) + "\n"
            blocks.append(_block(place, at + 1, opening["language"], opening["rest"], inside, notes))
            notes, at = [], end + 1
        elif lines[at].lstrip().startswith("<!--"):
            end = next((i for i in range(at, len(lines)) if "-->" in lines[i]), None)
            if end is None:
                raise WrongPageError(f"{place}:{at + 1}: this comment is never closed")
            for said in _COMMENT.findall("\n".join(lines[at : end + 1])):
                if said.strip().startswith("made up:"):
                    made_up |= set(said.split()[2:])
                else:
                    notes.append((at + 1, textwrap.dedent(said).strip()))
            at = end + 1
        else:
            if lines[at].strip():
                for line, said in notes:
                    if _NOTE.fullmatch(said):
                        raise WrongPageError(f"{place}:{line}: this comment stands above no block")
                notes = []
                prose[at + 1] = lines[at]
            at += 1
    return Page(place, tuple(blocks), tuple(_spans(prose)), frozenset(made_up))


def _closing(lines: list[str], opened: int, fence: str) -> int | None:
    for i in range(opened + 1, len(lines)):
        said = lines[i].strip()
        if len(said) >= len(fence) and set(said) == {fence[0]}:
            return i
    return None


def _block(place: str, line: int, language: str, rest: str, text: str, notes: list[tuple[int, str]]) -> Block:
    if language not in LANGUAGES:
        raise WrongPageError(f"{place}:{line}: a block of {language or 'no language'}; use one of {sorted(LANGUAGES)}")
    title = _TITLE.search(rest)
    named = _NAMED.fullmatch(text.partition("\n")[0]) if language in DATA else None
    file = title[1] if title else named[1] if named else None
    said: dict[str, str] = {}
    for at, note in notes:
        known = _NOTE.fullmatch(note)
        if known is None or known["kind"] in said:
            raise WrongPageError(f"{place}:{at}: the comment {note!r} is not one that a block knows")
        said[known["kind"]] = known["said"].strip()
    if "not run" in said and said["not run"] not in REASONS:
        raise WrongPageError(f"{place}:{line}: {said['not run']!r} is no reason; use one of {sorted(REASONS)}")
    if "exits" in said and (language not in COMMANDS or not said["exits"].isdigit()):
        raise WrongPageError(f"{place}:{line}: 'exits' takes a number, and commands alone exit")
    if "printed" in said and language not in DATA:
        raise WrongPageError(f"{place}:{line}: 'printed' is for {sorted(DATA)}; text is always what was printed")
    return Block(
        place=place,
        line=line,
        language=language,
        text=text,
        file=file,
        before=said.get("before", ""),
        exits=int(said.get("exits", 0)),
        reason=said.get("not run", ""),
        published="with published data" in said,
        printed=language == "text" or "printed" in said,
    )


def _spans(prose: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield what sentences set as code; a quotation may go on in the next line."""
    paragraph: list[tuple[int, str]] = []
    for line in [*sorted(prose), sys.maxsize]:
        if paragraph and line != paragraph[-1][0] + 1:
            first = paragraph[0][0]
            text = "\n".join(said for _line, said in paragraph)
            for span in _SPAN.finditer(text.replace("\n", "\x00")):
                yield first + text.count("\n", 0, span.start()), " ".join(span[2].replace("\x00", " ").split())
            paragraph = []
        if line in prose:
            paragraph.append((line, prose[line]))
