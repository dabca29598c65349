"""Write the search index as a script beside the JSON file: a page opened from a folder may load a script, but no JSON.

The theme asks for the script by itself when a page is opened from a folder; ``docs/javascripts/search.js`` searches it.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority


@event_priority(-100)  # after the plugin that writes the index
def on_post_build(config: MkDocsConfig) -> None:
    """Copy the index into a script that sets the name the theme looks for."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text(encoding='utf-8')};\n", encoding="utf-8")
