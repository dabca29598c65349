"""What every page has: the rail, the bar at the top, the words around the content."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment
from markupsafe import Markup
from starlette.datastructures import URL

from noren.drawing.templating import surroundings
from noren.i18n import LANGUAGES, N_, _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent, tenth
from noren.judgement.sentences import word_text
from noren.judgement.verdict import Word
from noren.studio.store import Project
from noren.version import __version__
from noren.web.bundle import bundle_address

__all__ = [
    "PagePlace",
    "as_json",
    "error_page",
    "fresh_id",
    "load_templates",
    "local_path",
    "page",
    "static_address",
    "with_query",
]

_STATIC = tuple(files(room) / "static" for room in ("noren.web", "noren.studio"))
_LANGUAGE_NAMES = {"en": "English", "ja": "日本語"}


@dataclass(frozen=True)
class PagePlace:
    """An entry of the rail."""

    key: str
    name: str
    address: str
    icon: str


_RAIL = (
    PagePlace("projects", N_("Projects"), "/", "curtain"),
    PagePlace("data", N_("Data"), "/projects/{project}/data", "table"),
    PagePlace("protect", N_("Protect"), "/projects/{project}/protect", "shield"),
    PagePlace("results", N_("Results"), "/projects/{project}/results", "eye"),
    PagePlace("compare", N_("Compare"), "/projects/{project}/compare", "map"),
    PagePlace("ledger", N_("Ledger"), "/projects/{project}/ledger", "book"),
)


def page(
    request: Request,
    template: str,
    *,
    title: str,
    place: str,
    project: Project | None = None,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page.

    Parameters
    ----------
    title
        The finding, as a sentence: the page's heading and the window's title.
    place
        Which entry of the rail it belongs to.
    context
        What the template shows beside it.
    """
    entries = [
        PagePlace(entry.key, _(entry.name), entry.address.format(project=project.id if project else ""), entry.icon)
        for entry in _RAIL
        if project is not None or "{project}" not in entry.address
    ]
    text = (
        _surroundings()
        .get_template(template)
        .render(
            title=title,
            place=place,
            rail=entries,
            project=project,
            language=active_language(),
            languages=[(code, _LANGUAGE_NAMES[code]) for code in LANGUAGES],
            theme=request.state.theme,
            csrf=request.state.csrf,
            here=_here(request),
            needs_login=request.app.state.login.needed,
            version=__version__,
            words=_words(),
            **context,
        )
    )
    return HTMLResponse(text, status)


def _here(request: Request) -> str:
    """Return where a change of language comes back to: this page, or the one whose form was sent."""
    address = request.url
    if request.method not in ("GET", "HEAD"):
        address = URL(request.headers.get("referer", ""))
        if address.netloc != request.url.netloc:
            return "/"
    return local_path(address.path + (f"?{address.query}" if address.query else ""))


def error_page(request: Request, status: int, message: str) -> HTMLResponse:
    """Return a page that says what is wrong and how to go on."""
    return page(request, "error.html.jinja", title=message[:1].upper() + message[1:], place="", status=status)


def as_json(content: Any) -> Markup:
    """Return plain data for a ``<script type="application/json">``; nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 - escaped


def _words() -> dict[str, str]:
    """Return what scripts say on any page."""
    return {
        "no_answer": _("The studio does not answer; is it still running?"),
        "gone": _("It was removed meanwhile."),
        "yes": _("Yes"),
        "no": _("No, go back"),
        "stopping": _("It stops and keeps the best so far."),
        "done": _("It is done."),
        "failed": _("It failed."),
        "cancelled": _("It was cancelled."),
        "interrupted": _("It was interrupted."),
        "no_chart": _("The chart cannot be drawn here; the numbers are in the table."),
    }


_numbers = itertools.count(1)


def fresh_id(start: str) -> str:
    """Return an identifier that no other element of a page has."""
    return f"{start}-{next(_numbers)}"


def with_query(address: str, **values: Any) -> str:
    """Return a local address with parameters set; the others stay.

    >>> with_query("/projects/abc/data?start=50&only=price", start=100)
    '/projects/abc/data?start=100&only=price'
    """
    parts = urlsplit(address)
    asked = dict(parse_qsl(parts.query, keep_blank_values=True)) | {key: str(value) for key, value in values.items()}
    return f"{parts.path}?{urlencode(asked)}" + (f"#{parts.fragment}" if parts.fragment else "")


def local_path(address: str, otherwise: str = "/") -> str:
    """Return an address if it is a path of this studio, so that no form sends a person elsewhere.

    >>> local_path("/about?x=1"), local_path("//evil.example/"), local_path("https://evil.example/")
    ('/about?x=1', '/', '/')
    """
    odd = not address.startswith("/") or address[1:2] in ("/", "\\") or "\\" in address or not address.isprintable()
    parts = urlsplit("" if odd else address)
    return otherwise if odd or parts.scheme or parts.netloc else address


@cache
def static_address(name: str) -> str:
    """Return the address of a static file; it changes with the content, so a browser may keep what it has.

    Scripts import each other by their bare names, and a script under two addresses would run twice: theirs do not
    change, and the browser asks each time whether they are still the same.
    """
    if name.endswith(".js"):
        return f"/static/{name}"
    file = next(place / name for place in _STATIC if (place / name).is_file())
    digest = sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def load_templates() -> None:
    """Compile every template, so that no first visitor waits for it."""
    for name in _surroundings().list_templates(extensions=["jinja"]):
        _surroundings().get_template(name)


@cache
def _surroundings() -> Environment:
    found = surroundings("noren.studio", "jinja2.ext.do")
    found.globals |= {
        "_": _,
        "ngettext": ngettext,
        "static": static_address,
        "as_json": as_json,
        "bundle_address": bundle_address,
        "fresh_id": fresh_id,
        "with_query": with_query,
        "count": count,
        "decimal": decimal,
        "percent": percent,
        "tenth": tenth,
        "word_text": lambda word: word_text(Word(word)),
    }
    return found
