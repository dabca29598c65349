"""The frame of all pages: navigation, header, template environment, static files; the script of the charts.

A server makes one :class:`Frame` of its own templates and static files; those of this room stand behind them. Its
``base.html.jinja`` extends ``frame.html.jinja`` and fills what differs: the bar's title, the ways beside it, the foot.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup
from starlette.datastructures import URL
from starlette.staticfiles import StaticFiles

from noren.data.formats.files import writing_file
from noren.drawing.base import surroundings
from noren.i18n import LANGUAGES, _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent, size, tenth
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import VerdictStatus
from noren.tables import table_of
from noren.version import __version__

_PACKAGE = "noren.web"
_LANGUAGE_NAMES = {"en": "English", "ja": "日本語"}


@dataclass(frozen=True)
class RailEntry:
    """An entry of the rail; ``address`` may hold names in braces that a page fills."""

    key: str
    name: str
    address: str
    icon: str

    def filled(self, **names: str) -> RailEntry:
        """Return the entry in the reader's language, on a page that knows these names."""
        return RailEntry(self.key, _(self.name), self.address.format(**names), self.icon)


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
        rail: Sequence[RailEntry],
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
        # where a change of language comes back to: this page, or the one whose form was sent
        address = request.url
        if request.method not in ("GET", "HEAD"):
            address = URL(request.headers.get("referer", ""))
        here = local_path(address.path + (f"?{address.query}" if address.query else ""))
        text = self.surroundings.get_template(template).render(
            title=title,
            place=place,
            rail=rail,
            home=_(self.home),
            language=active_language(),
            languages=[(code, _LANGUAGE_NAMES[code]) for code in LANGUAGES],
            theme=request.state.theme,
            csrf=request.state.csrf,
            here=here if address.netloc == request.url.netloc else "/",
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
        if name.endswith(".js"):
            return f"/static/{name}"
        places = [files(room) / "static" / name for room in self._rooms]
        digest = sha256(next(place for place in places if place.is_file()).read_bytes()).hexdigest()[:12]
        return f"/static/{name}?{digest}"

    def static_files(self) -> StaticFiles:
        """Return what answers below ``/static``."""
        return StaticFiles(packages=[(room, "static") for room in self._rooms])

    @property
    def _rooms(self) -> tuple[str, str]:
        return self.package, _PACKAGE

    @cached_property
    def surroundings(self) -> Environment:
        """The template environment: loaders and global functions."""
        environment = surroundings(self.package, "jinja2.ext.do")
        environment.loader = ChoiceLoader([PackageLoader(room) for room in self._rooms])
        environment.globals |= {
            "_": _,
            "ngettext": ngettext,
            "static": cache(self.static_address),
            "as_json": as_json,
            "bundle_address": BUNDLE_ADDRESS,
            "fresh_id": lambda start: f"{start}-{next(_numbers)}",
            "with_query": with_query,
            "count": count,
            "decimal": decimal,
            "percent": percent,
            "tenth": tenth,
            "verdict_label": lambda word: verdict_label(VerdictStatus(word)),
        }
        return environment


def as_json(content: Any) -> Markup:
    """Return plain data for a ``<script type="application/json">``; nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704 - escaped


def common_words() -> dict[str, str]:
    """Return the texts that scripts use on every page."""
    return {name: _(text) for name, text in table_of(__name__).items()}


_numbers = itertools.count(1)
"""For identifiers that no other element of a page has."""


def with_query(address: str, **values: Any) -> str:
    """Return a local address with parameters set; the others stay.

    >>> with_query("/projects/abc/data?start=50&only=price", start=100)
    '/projects/abc/data?start=100&only=price'
    """
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | {key: str(value) for key, value in values.items()}
    return f"{parts.path}?{urlencode(query)}" + (f"#{parts.fragment}" if parts.fragment else "")


def local_path(address: str, otherwise: str = "/") -> str:
    """Return an address if it is a path of this server, so that no form sends a person elsewhere.

    >>> local_path("/about?x=1"), local_path("//evil.example/"), local_path("https://evil.example/")
    ('/about?x=1', '/', '/')
    """
    odd = not address.startswith("/") or address[1:2] in ("/", "\\") or "\\" in address or not address.isprintable()
    parts = urlsplit("" if odd else address)
    return otherwise if odd or parts.scheme or parts.netloc else address


_BUNDLE_STYLE = 1
"""Grows when what is made from the same vl-convert changes."""
_BUNDLE_NAME = f"vega-{version('vl-convert-python')}-{_BUNDLE_STYLE}.js"


BUNDLE_ADDRESS = f"/bundle/{_BUNDLE_NAME}"
"""Where pages find the script; another vl-convert has another address, so a browser may keep it for good."""


class Bundle:
    """The script of one studio, below its folder: packed once, served as it lies there.

    >>> import tempfile
    >>> bundle = Bundle(Path(tempfile.gettempdir()) / "nowhere")
    >>> bundle.path.name.startswith("vega-")
    True
    """

    def __init__(self, folder: Path) -> None:
        self.name = _BUNDLE_NAME
        self.path = folder / "bundle" / (self.name + ".gz")
        self._making = threading.Lock()

    def start(self) -> None:
        """Make the script aside, so that the first chart does not wait for it."""
        if not self.path.exists():
            threading.Thread(target=self.ready, name="noren-bundle", daemon=True).start()

    def ready(self) -> Path:
        """Return the packed script, made now if it was not; whole or not at all, and once."""
        with self._making:
            if not self.path.exists():
                import vl_convert

                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with writing_file(self.path) as aside:
                    made: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants a snippet
                    aside.write_bytes(gzip.compress(made.encode(), compresslevel=9, mtime=0))
                for other in self.path.parent.glob("vega-*.js.gz"):
                    if other != self.path:
                        other.unlink(missing_ok=True)  # of an older vl-convert
        return self.path


def stage_rows(steps: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a line for each step that was kept: what it does, its tasks, what it shuffled, and its seconds.

    >>> kept = {"step": {"en": "jaccard"}, "stages": 2, "done": 5, "tasks": 6, "rows": 100, "bytes": 8500}
    >>> stage_rows([kept | {"seconds": 2.5, "over": False}])
    [['◐\\xa0jaccard (2 stages)', '5 / 6', '100 rows, 8.5 kB', '2.5']]
    """
    lines = []
    for step in steps:
        name = step["step"].get(active_language()) or step["step"]["en"] or _("preparing")
        stages = ngettext("{count} stage", "{count} stages", step["stages"]).format(count=count(step["stages"]))
        shuffled = ngettext("{count} row", "{count} rows", step["rows"]).format(count=count(step["rows"]))
        lines.append(
            [
                f"{'●' if step['over'] else '◐'}\N{NO-BREAK SPACE}{name} ({stages})",  # whether it is over, and how far
                f"{count(step['done'])} / {count(step['tasks'])}",
                f"{shuffled}, {size(step['bytes'])}" if step["rows"] else "–",
                f"{step['seconds']:,.1f}",
            ]
        )
    return lines
