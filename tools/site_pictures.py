"""Put pictures into the pages that ask for them: ``<!-- picture: NAME -->`` on a line of its own.

The drawing stands in the page itself, so that it takes the colours of the page, light or dark.
"""

import re
from typing import Any

from mkdocs.exceptions import PluginError
from pictures import PICTURES, draw

ASKED = re.compile(r"^<!-- picture: (\S+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """Replace each comment by the figure it names; pages under ``ja/`` get Japanese labels."""
    where = page.file.src_uri
    language = "ja" if where.startswith("ja/") else "en"

    def figure(match: re.Match[str]) -> str:
        if match[1] not in PICTURES:
            raise PluginError(f"{where}: there is no picture {match[1]!r}; there are {', '.join(PICTURES)}")
        return draw(match[1], language).as_html()

    return ASKED.sub(figure, markdown)
