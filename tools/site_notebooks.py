"""Put notebooks into the pages that ask for them: ``<!-- notebook: NAME -->`` on a line of its own.

A notebook of ``examples/notebooks`` appears as its text and code, its headings one level lower, with a link to
the file, which is copied into the site.
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ASKED = re.compile(r"^<!-- notebook: (\S+) -->$", re.MULTILINE)


def rendered(notebook: dict[str, Any]) -> str:
    """Return the cells as Markdown.

    >>> cells = [{"cell_type": "markdown", "source": ["# One"]}, {"cell_type": "code", "source": ["1 + 1"]}]
    >>> print(rendered({"cells": cells}))
    ## One
    <BLANKLINE>
    ```python
    1 + 1
    ```
    """
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        code = cell["cell_type"] == "code"
        parts.append(f"```python\n{text}\n```" if code else re.sub(r"^(?=#+ )", "#", text, flags=re.MULTILINE))
    return "\n\n".join(parts)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files themselves to the site."""
    for path in sorted((EXAMPLES / "notebooks").glob("*.ipynb")):
        name = path.relative_to(EXAMPLES).as_posix()
        files.append(File(name, str(EXAMPLES), config.site_dir, use_directory_urls=False))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """Replace each comment by the notebook it names."""

    def notebook(match: re.Match[str]) -> str:
        path = EXAMPLES / "notebooks" / f"{match[1]}.ipynb"
        if not path.exists():
            raise PluginError(f"{page.file.src_uri}: there is no notebook {match[1]!r}")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        above = "../" * page.file.src_uri.count("/")
        title, _end, rest = rendered(notebook).partition("\n")
        return f"{title}\n\n[{path.name}]({above}notebooks/{path.name})\n{rest}"

    return ASKED.sub(notebook, markdown)
