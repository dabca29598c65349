"""The house's pages as templates and styles, for every room that writes a page of its own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def surroundings(package: str, *extensions: str) -> Environment:
    """Return where a package's templates are found: everything is escaped, and a name nobody gave is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=extensions,
    )


@cache
def template(package: str, name: str) -> Template:
    """Return a template of a package's ``templates`` folder."""
    return surroundings(package).get_template(name)


def house_styles(package: str = "", name: str = "") -> Markup:
    """Return the styles of the house's pages, and after them those of one page of a package."""
    places = [("noren.drawing", "report.css"), *([(package, name)] if package else [])]
    texts = [(files(place) / "templates" / file).read_text(encoding="utf-8") for place, file in places]
    return Markup("".join(texts))  # noqa: S704 - our own files
