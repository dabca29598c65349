"""Find awkward phrases in the documentation and in the messages: ``prose.py`` lists them and exits with 1.

The phrases are in ``prose.toml``, each with what to write instead.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "src" / "noren" / "locale" / "ja" / "LC_MESSAGES" / "noren.po"
GENERATED = ROOT / "docs" / "results"


def texts() -> Iterator[tuple[str, str]]:
    """Yield each page and each message with its place."""
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        if GENERATED not in page.parents:
            yield str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    with CATALOGUE.open("rb") as file:
        for message in read_po(file, locale="ja"):
            for text in [message.id] if isinstance(message.id, str) else message.id:
                yield f"message {text[:60]!r}", text


def complaints() -> list[str]:
    """Return each place of an awkward phrase, with what to write instead."""
    listed = tomllib.loads((ROOT / "tools" / "prose.toml").read_text(encoding="utf-8"))["phrases"]
    phrases = [(re.compile(rf"\b(?:{one})\b", re.IGNORECASE), instead) for one, instead in listed.items()]
    return [
        f"{place}: {match[0]!r}; write {instead}"
        for place, text in texts()
        for phrase, instead in phrases
        for match in phrase.finditer(text)
    ]


if __name__ == "__main__":
    found = complaints()
    print("\n".join(found))
    sys.exit(1 if found else 0)
