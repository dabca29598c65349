"""Find awkward phrases in the documentation and in the messages, and vague names in the code.

``prose.py`` lists them and exits with 1; ``prose.py --count`` prints how many vague names each package has. Phrases and
names are in ``prose.toml``, each with what to write instead.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "noren"
CATALOGUE = SOURCE / "locale" / "ja" / "LC_MESSAGES" / "noren.po"
GENERATED = ROOT / "docs" / "results"
LISTS = tomllib.loads((ROOT / "tools" / "prose.toml").read_text(encoding="utf-8"))


def texts() -> Iterator[tuple[str, str]]:
    """Yield each page and each message with its place."""
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        if GENERATED not in page.parents:
            yield str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    with CATALOGUE.open("rb") as file:
        for message in read_po(file, locale="ja"):
            for text in [message.id] if isinstance(message.id, str) else message.id:
                yield f"message {text[:60]!r}", text


def awkward_phrases() -> list[str]:
    """Return each place of an awkward phrase, with what to write instead."""
    listed = [
        (re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE), instead) for phrase, instead in LISTS["phrases"].items()
    ]
    return [
        f"{place}: {match[0]!r}; write {instead}"
        for place, text in texts()
        for pattern, instead in listed
        for match in pattern.finditer(text)
    ]


def declared_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every function, parameter and field of a module; a leading underscore is dropped.

    >>> sorted(declared_names(ast.parse("class A:\\n    x: int = 0\\n    def _f(self, y): self.z = y")))
    [(2, 'x'), (3, 'f'), (3, 'self'), (3, 'y'), (3, 'z')]
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name.lstrip("_")
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg.lstrip("_")
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr.lstrip("_")
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
                yield from ((part.lineno, name.id.lstrip("_")) for name in targets if isinstance(name, ast.Name))


def vague_names() -> list[str]:
    """Return each function, parameter and field of the package that has a vague name, with what to write instead."""
    return [
        f"{path.relative_to(SOURCE)}:{line}: {name}; write {LISTS['names'][name]}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name in sorted(declared_names(ast.parse(path.read_bytes())))
        if name in LISTS["names"]
    ]


if __name__ == "__main__":
    if "--count" in sys.argv[1:]:
        counts = Counter(place.split("/")[0].split(":")[0] for place in vague_names())
        print(
            "\n".join(f"{count:4} {package}" for package, count in counts.most_common()), f"\n{counts.total():4} in all"
        )
        sys.exit()
    complaints = awkward_phrases() + vague_names()
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)
