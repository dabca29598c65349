"""What every page of every server has: the rail, the bar at the top, the words around the content.

A server makes one :class:`Frame` of its own templates and static files; those of this room stand behind them. Its
``base.html.jinja`` extends ``frame.html.jinja`` and fills what differs: the bar's title, the ways beside it, the foot.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup
from starlette.datastructures import URL
from starlette.staticfiles import StaticFiles

from noren.drawing.templating import surroundings
from noren.i18n import LANGUAGES, _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent, tenth
from noren.judgement.sentences import word_text
from noren.judgement.verdict import Word
from noren.version import __version__
from noren.web.bundle import bundle_address

__all__ = ["Frame", "PagePlace", "as_json", "common_words", "fresh_id", "local_path", "with_query"]

_HOUSE = "noren.web"
_LANGUAGE_NAMES = {"en": "English", "ja": "日本語"}


@dataclass(frozen=True)
class PagePlace:
    """An entry of the rail; ``address`` may hold names in braces that a page fills."""

    key: str
    name: str
    address: str
    icon: str

    def filled(self, **names: str) -> PagePlace:
        """Return the entry in the reader's language, on a page that knows these names."""
        return PagePlace(self.key, _(self.name), self.address.format(**names), self.icon)


@dataclass(frozen=True)
class Frame:
    """The frame of one server's pages.

    Attributes
    ----------
    package
        Whose folders ``templates`` and ``static`` stand before those of this room.
    home
        What the way back to the first page is called, on a page that says what is wrong.
    """

    package: str
    home: str

    def page(
        self,
        request: Request,
        template: str,
        *,
        title: str,
        place: str,
        rail: Sequence[PagePlace],
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
        text = self.surroundings.get_template(template).render(
            title=title,
            place=place,
            rail=rail,
            home=_(self.home),
            language=active_language(),
            languages=[(code, _LANGUAGE_NAMES[code]) for code in LANGUAGES],
            theme=request.state.theme,
            csrf=request.state.csrf,
            here=_here(request),
            version=__version__,
            words=common_words(),
            **context,
        )
        return HTMLResponse(text, status)

    def static_address(self, name: str) -> str:
        """Return the address of a static file; it changes with the content, so a browser may keep what it has.

        Scripts import each other by their bare names, and a script under two addresses would run twice: theirs do not
        change, and the browser asks each time whether they are still the same.
        """
        return _static_address(self._rooms, name)

    def static_files(self) -> StaticFiles:
        """Return what answers below ``/static``."""
        return StaticFiles(packages=[(room, "static") for room in self._rooms])

    def load_templates(self) -> None:
        """Compile every template, so that no first visitor waits for it."""
        for name in self.surroundings.list_templates(extensions=["jinja"]):
            self.surroundings.get_template(name)

    @property
    def _rooms(self) -> tuple[str, str]:
        return self.package, _HOUSE

    @cached_property
    def surroundings(self) -> Environment:
        """Where templates are found, and what they may call."""
        found = surroundings(self.package, "jinja2.ext.do")
        found.loader = ChoiceLoader([PackageLoader(room) for room in self._rooms])
        found.globals |= {
            "_": _,
            "ngettext": ngettext,
            "static": self.static_address,
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


@cache
def _static_address(rooms: tuple[str, ...], name: str) -> str:
    if name.endswith(".js"):
        return f"/static/{name}"
    places = [files(room) / "static" / name for room in rooms]
    digest = sha256(next(place for place in places if place.is_file()).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def _here(request: Request) -> str:
    """Return where a change of language comes back to: this page, or the one whose form was sent."""
    address = request.url
    if request.method not in ("GET", "HEAD"):
        address = URL(request.headers.get("referer", ""))
        if address.netloc != request.url.netloc:
            return "/"
    return local_path(address.path + (f"?{address.query}" if address.query else ""))


def as_json(content: Any) -> Markup:
    """Return plain data for a ``<script type="application/json">``; nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 - escaped


def common_words() -> dict[str, str]:
    """Return what scripts say on any page."""
    return {
        "no_answer": _("The server does not answer; is it still running?"),
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
    """Return an address if it is a path of this server, so that no form sends a person elsewhere.

    >>> local_path("/about?x=1"), local_path("//evil.example/"), local_path("https://evil.example/")
    ('/about?x=1', '/', '/')
    """
    odd = not address.startswith("/") or address[1:2] in ("/", "\\") or "\\" in address or not address.isprintable()
    parts = urlsplit("" if odd else address)
    return otherwise if odd or parts.scheme or parts.netloc else address
