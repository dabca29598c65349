"""The documentation's navigation, made from its folders: a new page appears without a change anywhere else.

The parts a reader meets first come first and what is about the project itself comes last; pages and folders that are
not named here stand between the two, by name.
"""

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig

FIRST = ("index.md", "start.md", "data", "methods", "attacks", "measures", "reference", "theory")
LAST = ("architecture.md", "changelog.md", "contributing.md")


def place(path: Path) -> tuple[int, str]:
    """Return where a page or folder stands among its neighbours, to sort by.

    >>> sorted(map(Path, ["changelog.md", "zeal.md", "data", "index.md"]), key=place)
    [PosixPath('index.md'), PosixPath('data'), PosixPath('zeal.md'), PosixPath('changelog.md')]
    """
    if path.name in FIRST:
        return FIRST.index(path.name), ""
    if path.name in LAST:
        return len(FIRST) + 1 + LAST.index(path.name), ""
    return len(FIRST), path.name


def entries(folder: Path, root: Path) -> list[Any]:
    """Return the navigation of ``folder``: its pages, and its folders with what is in them, without empty ones."""
    found: list[Any] = []
    for path in sorted(folder.iterdir(), key=place):
        if path.suffix == ".md":
            found.append(path.relative_to(root).as_posix())
        elif path.is_dir() and (inside := entries(path, root)):
            found.append({path.name.replace("-", " ").capitalize(): inside})
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the navigation in place; MkDocs calls this once its settings are read."""
    docs = Path(config.docs_dir)
    config.nav = entries(docs, docs)
    return config
