"""A page to review categories before they are used: how large each is, what it is called, what is in it.

One HTML file that loads and runs nothing; names of items come from data and are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from noren.data.categories import Categories
from noren.data.formats.files import writing_file
from noren.drawing.templating import house_styles, template
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.version import __version__

EXAMPLES = 24
_LONGEST = 80


def write_category_page(categories: Categories, names: Mapping[str, str], path: str | Path) -> Path:
    """Write the page to ``path``, whole or not at all."""
    page = category_page(categories, names)
    with writing_file(path) as aside:
        aside.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def category_page(categories: Categories, names: Mapping[str, str]) -> str:
    """Return the page as text, largest category first; ``names`` says what items are called, as far as is known."""
    groups = sorted(categories.groups().items(), key=lambda group: (-len(group[1]), group[0]))
    total = sum(len(items) for _category, items in groups)
    parts = []
    for number, (category, items) in enumerate(groups, start=1):
        # examples from the whole of the category, not its first codes alone: neighbouring codes are alike
        shown = items[:: max(1, len(items) // EXAMPLES)][:EXAMPLES]
        name, left = printable(categories.name(category), _LONGEST), len(items) - len(shown)
        more = ngettext("and {count} more", "and {count} more", left)
        title = ngettext("{name}: {items} item", "{name}: {items} items", len(items))
        parts.append(
            {
                "anchor": f"category-{number}",
                "code": printable(category, _LONGEST),
                "name": name,
                "size": count(len(items)),
                "share": percent(len(items) / total),
                "title": title.format(name=name, items=count(len(items))),
                "examples": [
                    {"item": printable(item, _LONGEST), "name": printable(names.get(item, ""), _LONGEST)}
                    for item in shown
                ],
                "more": more.format(count=count(left)) if left else "",
            }
        )
    largest = parts[0]["share"] if parts else percent(0)
    said = ngettext(
        "{items} items in {categories} category; the largest holds {share}",
        "{items} items in {categories} categories; the largest holds {share}",
        len(groups),
    )
    return template("noren.reports", "categories.html.jinja").render(
        language=active_language(),
        headline=said.format(items=count(total), categories=count(len(groups)), share=largest),
        parts=parts,
        version=__version__,
        css=house_styles(),
        _=_,
    )
