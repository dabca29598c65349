"""The documentation's navigation, made from its folders: a new page appears without a change anywhere else.

:data:`PARTS` says in which part of the navigation a page or folder stands, in the order a reader meets them. What is
not named there stands before the last two parts, by name.
"""

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig

PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Home", ("index.md",)),
    ("Start", ("start.md",)),
    (
        "Guide",
        (
            "guide",
            "explore.md",
            "studio.md",
            "report.md",
            "analysis.md",
            "papers.md",
            "totals.md",
            "packs",
            "judge-elsewhere.md",
            "unicity.md",
            "inference.md",
            "ledger.md",
            "notebooks.md",
            "engines.md",
            "data",
        ),
    ),
    ("Concepts", ("concepts.md", "glossary.md", "bibliography.md")),
    ("Methods", ("methods",)),
    ("Attacks", ("attacks",)),
    ("Measures", ("measures",)),
    ("Theory", ("theory",)),
    ("Beyond the papers", ("beyond",)),
    ("Reproduced", ("reproduce.md", "results")),
    ("API", ("api.md",)),
    ("Compare", ("comparison.md", "attacks-by-method.md", "scale.md")),
    ("Legal", ("legal.md",)),
    ("Contributing", ("contributing.md", "testing.md", "architecture.md", "changelog.md")),
    ("日本語", ("ja",)),
)
LAST = ("Contributing", "日本語")
# pages whose title is a sentence; the navigation wants a word
TITLES = {
    "guide/steward.md": "Data steward",
    "guide/researcher.md": "Researcher",
    "guide/run-a-cup.md": "Run a cup",
    "guide/rulebook.md": "Rulebook",
    "guide/operate-a-server.md": "Operate a server",
    "guide/team.md": "Team",
    "explore.md": "Choose: explore",
    "studio.md": "The studio",
    "report.md": "The report",
    "analysis.md": "Analysis",
    "papers.md": "The papers",
    "ja/papers.md": "文書一式",
    "packs/pwscup2018-k3.md": "文書一式（k = 3）",
    "packs/pwscup2018-k6.md": "文書一式（k = 6）",
    "totals.md": "Totals",
    "judge-elsewhere.md": "Judge any file",
    "unicity.md": "Unicity",
    "ledger.md": "The ledger",
    "inference.md": "Inference",
    "notebooks.md": "Notebooks",
    "engines.md": "Engines",
    "ja/start.md": "5 分で始める",
    "ja/concepts.md": "用語と図",
    "ja/glossary.md": "用語集",
    "ja/steward.md": "データ管理者",
    "ja/researcher.md": "研究者",
    "ja/organiser.md": "運営者",
    "ja/team.md": "参加チーム",
}
# inside a folder these come first, in this order; the others follow by name
FIRST = (
    "index.md",
    "start.md",
    "concepts.md",
    "glossary.md",
    "steward.md",
    "researcher.md",
    "run-a-cup.md",
    "rulebook.md",
    "operate-a-server.md",
    "organiser.md",
    "team.md",
)


def place(path: Path) -> tuple[int, str]:
    """Return where a page or folder stands among its neighbours, to sort by.

    >>> sorted(map(Path, ["team.md", "b", "a.md", "index.md"]), key=place)
    [PosixPath('index.md'), PosixPath('team.md'), PosixPath('a.md'), PosixPath('b')]
    """
    return (FIRST.index(path.name), "") if path.name in FIRST else (len(FIRST), path.name)


def entries(folder: Path, root: Path) -> list[Any]:
    """Return the navigation of ``folder``: its pages, and its folders with what is in them, without empty ones."""
    listed: list[Any] = []
    for path in sorted(folder.iterdir(), key=place):
        if path.suffix == ".md":
            listed.append(_page(path.relative_to(root).as_posix()))
        elif path.is_dir() and (inside := entries(path, root)):
            listed.append({path.name.replace("-", " ").capitalize(): inside})
    return listed


def navigation(docs: Path) -> list[Any]:
    """Return the navigation of all pages: a part of one page is a link, one of several a section."""
    named = {name for _title, names in PARTS for name in names}
    parts = {title: _part(docs, names) for title, names in PARTS}
    listed: list[Any] = []
    for title, names in PARTS:
        inside = parts[title]
        if title == LAST[0]:
            listed += [entry for entry in entries(docs, docs) if _name(entry) not in named]
        if inside:
            listed.append({title: names[0] if (docs / names[0]).is_file() and len(inside) == 1 else inside})
    return listed


def _page(name: str) -> Any:
    """Return the entry of a page: its address, with a title where it has a short one."""
    return {TITLES[name]: name} if name in TITLES else name


def _part(docs: Path, names: tuple[str, ...]) -> list[Any]:
    """Return what stands in a part; the pages of a folder that opens it stand in it directly."""
    inside: list[Any] = []
    for number, name in enumerate(names):
        path = docs / name
        if path.is_file():
            inside.append(_page(name))
        elif path.is_dir() and (pages := entries(path, docs)):
            inside += pages if number == 0 else [{name.capitalize(): pages}]
    return inside


def _name(entry: Any) -> str:
    """Return the name of the page or folder that an entry of the top level stands for."""
    if isinstance(entry, str):
        return entry
    (inside,) = entry.values()
    while not isinstance(inside, str):
        inside = inside[0] if isinstance(inside, list) else next(iter(inside.values()))
    return inside.partition("/")[0]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the navigation in place; MkDocs calls this once its settings are read."""
    config.nav = navigation(Path(config.docs_dir))
    return config
