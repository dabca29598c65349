"""Shared parts of charts and pages: Vega-Lite charts, the common style and templates, and two kinds of output.

Colours are named by their meaning (``"$indigo"``, the original; ``"$persimmon"``, risk). :func:`picture` writes the
light ones into an SVG: a chart alone is a valid picture, and a page with a dark theme recolours it by these values
(``[fill="#26456e"]``). :func:`live` leaves the names to the browser, where the theme is known and the chart fills the
width. A chart of several panels is ``{"panels": [spec, …]}``. Numbers are aggregated before they come here, and nothing
depends on colour alone: panels have names, marks have shapes, points labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from noren.data.formats.files import writing_file
from noren.errors import ParameterError
from noren.i18n import _, active_language
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.page_text import printable
from noren.tables import table_of
from noren.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment, Template

Spec = dict[str, Any]
"""A Vega-Lite chart, or ``{"panels": [chart, …]}``."""

_LOOK: Final = table_of(__name__)
COLOURS: Final[Mapping[str, str]] = _LOOK["colours"]
_ON_PAPER: Final = {**COLOURS, "card": COLOURS["paper"], "line-strong": COLOURS["muted"], "ochre-text": COLOURS["ink"]}
_HOUSE: Final[Spec] = {"view": {"stroke": None}, **_LOOK["house"]}
ENDINGS: Final = (".html", ".svg", ".png")
MOST_MARKS: Final = 5_000
LONGEST_LABEL: Final = 24
LONGEST_NAME: Final = 28
_ROOM_FOR_LABELS = 230
LETTER = (6.8, 15.0)
"""Width and height, in pixels, of a letter of a label."""
_BROAD = frozenset("mw@%…—")
_WIDE = 640
_HEADING = 14
"""The size of the heading's letters; widths are known for those of 12."""
_PIECES = re.compile(r"\s*(?:[!-~]+|[^!-~\s])[、。）」；：]?")
"""A word, or a Japanese character with what may not begin a line."""


# --- output ------------------------------------------------------------------------------------------------


def live(spec: Mapping[str, Any]) -> Spec:
    """Return a chart for a page: as wide as the place it stands in, its colours left to the page's theme.

    >>> live({"mark": "bar", "width": 280})["width"]
    'container'
    """
    if (marks := mark_count(spec)) > MOST_MARKS:
        message = _("a chart of {count:,} marks is too much for a page; aggregate it to {most:,} or fewer")
        raise ParameterError(message.format(count=marks, most=MOST_MARKS))
    if "panels" in spec:
        return {"panels": [live(panel) for panel in spec["panels"]]}
    if "narrow" in spec:  # another chart for a place that is not wide enough for this one
        whole = {name: part for name, part in spec.items() if name != "narrow"}
        return live(whole) | {"narrow": live(spec["narrow"])}
    fit = {"type": "fit", "contains": "padding", "resize": True}
    return {"height": 200} | dict(spec) | {"width": "container", "autosize": fit, "config": _HOUSE}


def picture(spec: Mapping[str, Any], *, paper: bool = False) -> Markup:
    """Return a chart as SVG text, drawn without a browser; it lies on what is below it, or on a sheet of paper."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_on_paper(spec, paper=paper), allowed_base_urls=[])
    return Markup(svg)  # noqa: S704 - the drawer escapes texts


def write_picture(spec: Mapping[str, Any], path: str | Path, page: str = "") -> Path:
    """Write a chart as a page, an SVG or a PNG picture, by the name's ending; whole or not at all.

    ``page`` is the whole page, where it has more than the chart to show.
    """
    path = Path(path)
    ending = chart_ending(path)
    if ending == ".png":
        import vl_convert

        content = vl_convert.vegalite_to_png(_on_paper(spec, paper=True), scale=2, allowed_base_urls=[])
    elif ending == ".svg":
        content = picture(spec, paper=True).encode()
    else:
        if not page:
            chart = picture(spec, paper=True)
            page = template("noren.drawing", "chart.html.jinja").render(title=spec.get("title", ""), chart=chart) + "\n"
        content = page.encode()
    with writing_file(path) as aside:
        aside.write_bytes(content)
    return path


def chart_ending(path: Path) -> str:
    """Return what a chart's name ends in; stop at a name that is no picture's and no page's."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        message = _("no chart ends in {suffix!r}; use one of {endings}")
        raise ParameterError(message.format(suffix=path.suffix, endings=", ".join(ENDINGS)), file=path)
    return ending


def _on_paper(spec: Mapping[str, Any], *, paper: bool) -> Spec:
    whole = dict(spec)
    if "panels" in whole:
        # only a chart of one panel can be told to fit
        panels = [{key: part for key, part in panel.items() if key != "autosize"} for panel in whole.pop("panels")]
        whole |= {"hconcat": panels, "spacing": 24, "resolve": {"scale": {"color": "independent"}}}
    sheet = {"background": COLOURS["paper"], "padding": 16} if paper else {"background": "transparent", "padding": 4}
    # a picture cannot grow with its place, so its labels are small enough for fonts wider than the one measured by
    axis = _HOUSE["axis"] | {"labelFontSize": 11, "titleFontSize": 11, "tickSize": 4}
    config = _HOUSE | sheet | {"axis": axis, "aria": False, "font": "system-ui, sans-serif"}
    return dict(_coloured(whole | {"config": config}))


def _coloured(part: Any) -> Any:
    """Return a chart with the light colours in place of their names; data are left as they are."""
    if isinstance(part, str):
        return _ON_PAPER.get(part[1:], part) if part.startswith("$") else part
    if isinstance(part, Mapping):
        # texts of data are no colours, whatever they look like
        texts = {key for key in ("title", "text") if not isinstance(part.get(key), Mapping)}
        texts |= {"data", "values", "sort", "domain"}
        return {key: value if key in texts else _coloured(value) for key, value in part.items()}
    return [_coloured(value) for value in part] if isinstance(part, list | tuple) else part


def mark_count(spec: Mapping[str, Any], rows: int = 0) -> int:
    """Return how many marks a chart draws at most: its rows, or those of what it is part of, for each of its layers.

    >>> mark_count({"data": {"values": [1, 2]}, "layer": [{"mark": "bar"}, {"mark": "text", "data": {"values": [1]}}]})
    3
    """
    rows = len(spec["data"]["values"]) if "data" in spec else rows
    inner = [part for key in ("panels", "layer", "hconcat", "vconcat") for part in spec.get(key, ())]
    return sum(mark_count(part, rows) for part in inner) if inner else rows


def layer(rows: Sequence[Spec], mark: Spec, encoding: Spec) -> Spec:
    """Return a layer of a chart with rows of its own."""
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


# --- labels and numbers ------------------------------------------------------------------------------------


def bar_labels(axis: Mapping[str, Any], labels: Sequence[str]) -> list[str]:
    """Return what bars stand for; the last of a column with many values has no name of its own."""
    texts = [str(label) for label in labels]
    if axis.get("others") and texts:
        texts[-1] = _("all other values")
    return distinct(texts)


def distinct(labels: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Return the labels fit for a page, with a number after those that would be one.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a… (2)']
    """
    answer: dict[str, None] = {}
    for label in labels:
        shortened = tried = printable(label, longest)
        number = 1
        while tried in answer:
            number += 1
            tried = f"{shortened.rstrip('…')[: longest - 6]}… ({number})"
        answer[tried] = None
    return list(answer)


def few(labels: Sequence[str], room: float = _ROOM_FOR_LABELS) -> list[str]:
    """Return as many labels as have room, evenly chosen, the first and the last among them."""
    most = max(2, int(room / (LETTER[0] * max((len(label) for label in labels), default=1) + 12)))
    if len(labels) <= most:
        return list(labels)
    stride = -(-(len(labels) - 1) // (most - 1))
    positions = list(range(0, len(labels), stride))
    if len(labels) - 1 - positions[-1] < 0.7 * stride and len(positions) > 1:
        positions.pop()
    return [labels[i] for i in (*positions, len(labels) - 1)]


def text_width(text: str) -> float:
    """Return the room for a label: twice a letter's for a Japanese one, more for capitals, as no font is at hand.

    >>> text_width("k = 3") / LETTER[0], text_width("暖簾") / LETTER[0]
    (5.0, 4.0)
    """
    return LETTER[0] * sum(
        2 if ord(letter) > 0x2E7F or letter in "WM" else 1.5 if letter.isupper() or letter in _BROAD else 1
        for letter in text
    )


def heading_lines(text: str) -> list[str]:
    """Return a heading in lines that fit the chart: cut between words, and between Japanese characters."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and text_width((lines[-1] + piece).rstrip()) * _HEADING / 12 > _WIDE:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


def short(value: float) -> float:
    """Return a number without invisible digits."""
    return float(f"{value:.6g}")


def look_channels(field: str, looks: Mapping[str, Sequence[Any]], parts: int, legend: Spec | None) -> list[Spec]:
    """Return the channels of a text: for the first ``parts`` of the look that each of its values has."""
    ranges = ([look[at] for look in looks.values()] for at in range(parts))
    scales: list[Spec] = [{"domain": list(looks), "range": each} for each in ranges]
    return [{"field": field, "type": "nominal", "scale": scale, "legend": legend} for scale in scales]


def scaled(name: str, title: str, domain: Sequence[float], written: str) -> Spec:
    """Return the channel of a number between two ends."""
    axis = {"title": title, "format": written, "tickCount": 5}
    return {"field": name, "type": "quantitative", "scale": {"domain": list(domain), "nice": False}, "axis": axis}


# --- pages: the house's templates and styles, for every room that writes a page of its own ----------------------------


def surroundings(package: str, *extensions: str) -> Environment:
    """Return the environment of a package's templates: everything is escaped, and an undefined name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

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


def render_page(package: str, name: str, styles: str = "", **values: Any) -> str:
    """Return a page of a template, in the active language, with the house's styles and ``styles`` of its own."""
    css = page_styles(package if styles else "", styles)
    known = {"language": active_language(), "version": __version__, "css": css}
    words = {"_": _, "count": count, "decimal": decimal, "percent": percent}
    return template(package, name).render(known | words | values)


def page_styles(package: str = "", name: str = "") -> Markup:
    """Return the styles of the house's pages, and after them those of one page of a package."""
    templates = [("noren.drawing", "report.css"), *([(package, name)] if package else [])]
    texts = [(files(place) / "templates" / file).read_text(encoding="utf-8") for place, file in templates]
    return Markup("".join(texts))  # noqa: S704 - our own files
