"""Pages in Japanese: say so to browsers and readers aloud, and let a page lead to itself in the other language.

``docs/ja/NAME.md`` is the Japanese page of ``docs/NAME.md``, ``docs/guide/NAME.md`` or ``docs/data/NAME.md``; one page
covers the three English ones for organisers.
"""

import posixpath
import re
from typing import Any

TOPICS = {"ja/organiser.md": "run-a-cup.md"}
"""English pages of another name."""
TITLE = re.compile(r"^# .+\n", re.MULTILINE)
BLOCK = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
# a line that ends and one that begins with something else than ASCII: Japanese has no spaces between words
BROKEN = re.compile(r"(?<=[^\x00-\x7f])\n[ ]*(?=[^\x00-\x7f\s])")


def twins(pages: set[str]) -> dict[str, str]:
    """Return for each page that is there in both languages the address of the other one.

    >>> twins({"start.md", "ja/start.md", "guide/team.md", "ja/team.md", "legal.md"})["guide/team.md"]
    'ja/team.md'
    """
    pairs: dict[str, str] = {}
    for page in pages:
        name = TOPICS.get(page, page.removeprefix("ja/"))
        # guides come first: the Japanese index is that of the guides
        english = next((twin for twin in (f"guide/{name}", name, f"data/{name}") if twin in pages), None)
        if page.startswith("ja/") and english:
            pairs |= {page: english, english: page}
    return pairs


def joined(markdown: str) -> str:
    """Join the lines of Japanese paragraphs: a browser would show the end of a line as a space.

    >>> joined("人が\\n買う。\\n\\n## 次\\n- 一\\n- 二\\n")
    '人が買う。\\n\\n## 次\\n- 一\\n- 二\\n'
    """
    parts = BLOCK.split(markdown)
    return "".join(part if part.startswith("```") else BROKEN.sub("", part) for part in parts)


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_context: Any) -> str:
    """Put a link to the other language below the title, and make Japanese paragraphs whole."""
    here = page.file.src_uri
    if here.startswith("ja/"):
        markdown = joined(markdown)
    there = twins({file.src_uri for file in files.documentation_pages()}).get(here)
    if there is None:
        return markdown
    label, language = ("English", "en") if here.startswith("ja/") else ("日本語", "ja")
    address = posixpath.relpath(there, posixpath.dirname(here))
    link = f"[{label}]({address}){{ .noren-language lang={language} hreflang={language} }}"
    return TITLE.sub(lambda title: f"{title[0]}\n{link}\n", markdown, count=1)


def on_page_content(html: str, *, page: Any, **_context: Any) -> str:
    """Mark what is written in Japanese as such."""
    return f'<div lang="ja">{html}</div>' if page.file.src_uri.startswith("ja/") else html
