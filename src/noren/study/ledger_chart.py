"""Risk over releases: what each attack finds of everything that was out at the time (S3, figures 2 to 4).

One line per attack, the budget as a level line: both of one measure, the one that the budget is about (the tightest
budget where there are several). The line of the attack that finds most now is persimmon, all others
indigo; every line bears its name, so the chart reads in grey as well.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from noren.data.formats.files import writing_file
from noren.errors import ParameterError
from noren.i18n import _, active_language, ngettext
from noren.ledger import Ledger, Proposal
from noren.study.charts import COLOURS, in_house_style, printable
from noren.study.findings import percent
from noren.study.label_places import text_width
from noren.version import __version__

__all__ = ["ENDINGS", "Curves", "chart_ending", "risk_over_releases", "write_ledger_chart"]

ENDINGS = (".html", ".svg", ".png")

_SIZE = (560, 320)
_LINE = 15.0
"""Pixels from one name beside the lines to the next."""
_LEAD = 28.0
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_LONGEST_NAME = 24
_FEW = 14
_HEADING = 14
"""The size of the heading's letters; widths are known for those of 12."""
_PIECES = re.compile(r"\s*(?:[!-~]+|[^!-~\s])[、。）」；：]?")
"""A word, or a Japanese character with what may not begin a line."""


@dataclass(frozen=True)
class Curves:
    """What there is to draw: a measure after each release, by attack; None where an attack was not tried.

    Attributes
    ----------
    measure
        Which measure the numbers are: ``um``, ``mm`` or ``emm``. Only its own budget is held against them.
    proposed
        Whether the last period is not released yet.
    """

    periods: Sequence[str]
    found: Mapping[str, Sequence[float | None]]
    budget: Mapping[str, float] = field(default_factory=dict)
    proposed: bool = False
    measure: str = "mm"

    @classmethod
    def of(cls, ledger: Ledger, proposal: Proposal | None = None) -> Curves:
        """Return the curves of a ledger, with a release that is only proposed where there is one."""
        measure = ledger.tightest(proposal)
        periods, found = ledger.curves(proposal, measure)
        if not periods:
            raise ParameterError(
                _("nothing was released yet, so there is nothing to draw"), _("release a period: noren ledger add")
            )
        return cls(periods, found, ledger.settings.budget, proposal is not None, measure)

    @property
    def limits(self) -> dict[str, float]:
        """The budget that the numbers can be held against: that of their own measure."""
        return {name: limit for name, limit in self.budget.items() if name == self.measure}

    @property
    def worst(self) -> str:
        """The attack that finds most after the last release."""
        return max(self.found, key=lambda attack: _last(self.found[attack]))

    def finding(self) -> str:
        """Return the chart's heading: what the best attack finds now, and whether the budget is kept."""
        said = self._would_find() if self.proposed else self._finds()
        share = percent(round(_last(self.found[self.worst]), 4))
        told = said.format(
            count=len(self.periods), attack=printable(self.worst, _LONGEST_NAME), share=share, period=self.periods[-1]
        )
        if not self.limits:
            return told
        limit = min(self.limits.values())
        words = _("{told}; the budget of {limit} is broken") if self.beyond() else _("{told}; the budget is {limit}")
        return words.format(told=told, limit=percent(limit))

    def _finds(self) -> str:
        if self.measure == "emm":
            return ngettext(
                "After {count} release the best attack, {attack}, found {share} of the pseudonyms when it did best",
                "After {count} releases the best attack, {attack}, found {share} of the pseudonyms when it did best",
                len(self.periods),
            )
        if self.measure == "um":
            return ngettext(
                "After {count} release the best attack, {attack}, finds {share} of the customers in every period",
                "After {count} releases the best attack, {attack}, finds {share} of the customers in every period",
                len(self.periods),
            )
        return ngettext(
            "After {count} release the best attack, {attack}, finds {share} of the pseudonyms",
            "After {count} releases the best attack, {attack}, finds {share} of the pseudonyms",
            len(self.periods),
        )

    def _would_find(self) -> str:
        if self.measure == "emm":
            return _(
                "With the release of {period} the best attack, {attack}, would have found {share} of the pseudonyms"
                " when it did best"
            )
        if self.measure == "um":
            return _(
                "With the release of {period} the best attack, {attack}, would find {share} of the customers in every"
                " period"
            )
        return ngettext(
            "With the release of {period}, the first, the best attack, {attack}, would find {share} of the pseudonyms",
            "With the release of {period} the best attack, {attack}, would find {share} of the pseudonyms",
            len(self.periods),
        )

    def axis_title(self) -> str:
        """Return what is counted upwards."""
        return {
            "um": _("customers found in every period, UM (down is safer)"),
            "mm": _("pseudonyms found, MM (down is safer)"),
            "emm": _("pseudonyms found at most so far, EMM (down is safer)"),
        }[self.measure]

    def about(self) -> str:
        """Return what the measure is."""
        return {
            "um": _(
                "UM is the share of customers who are found in every period they bought in, by an attacker who knows"
                " all purchases. It is taken after each release, over everything that was out then. Lower is safer."
            ),
            "mm": _(
                "MM is the share of pseudonyms, one for each customer and period, that are found by an attacker who"
                " knows all purchases. It is taken after each release, over everything that was out then. Lower is"
                " safer."
            ),
            "emm": _(
                "EMM is the largest share of pseudonyms, one for each customer and period, that an attacker who knows"
                " all purchases found after any release so far; it never falls. Lower is safer."
            ),
        }[self.measure]

    def beyond(self) -> list[tuple[int, float]]:
        """Return the releases at which the best attack is above the budget, each with what it finds."""
        limit = min(self.limits.values(), default=1.0)
        tops = [max((c[at] or 0.0 for c in self.found.values()), default=0.0) for at in range(len(self.periods))]
        return [(at, top) for at, top in enumerate(tops) if top > limit]


def write_ledger_chart(curves: Curves, path: str | Path) -> Path:
    """Write the chart as a page, an SVG or a PNG picture, by the name's ending; whole or not at all."""
    path = Path(path)
    ending = chart_ending(path)
    if ending == ".png":
        picture = io.BytesIO()
        _styled(risk_over_releases(curves), paper=True).save(picture, format="png", scale_factor=2)
        content = picture.getvalue()
    else:
        content = (_page(curves) if ending == ".html" else _svg(curves, paper=True)).encode()
    with writing_file(path) as aside:
        aside.write_bytes(content)
    return path


def chart_ending(path: Path) -> str:
    """Return what a chart's name ends in; stop at a name that is no picture's and no page's."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(
            _("no chart ends in {suffix!r}").format(suffix=path.suffix),
            _("use one of {endings}").format(endings=", ".join(ENDINGS)),
            file=path,
        )
    return ending


# --- drawing -----------------------------------------------------------------------------------------------


def risk_over_releases(curves: Curves, *, titled: bool = True) -> alt.LayerChart | alt.FacetChart:
    """Return the chart: releases from left to right, the share of pseudonyms found upwards."""
    width, height = _SIZE
    last = len(curves.periods) - 1
    values = [value for curve in curves.found.values() for value in curve if value is not None]
    top = min(1.0, 1.15 * max([*values, *curves.limits.values(), 0.05]))
    across = (-0.25, max(last, 1) + 0.25)
    x = alt.X(
        "release",
        type="quantitative",
        scale=alt.Scale(domain=across, nice=False),
        axis=alt.Axis(
            title=_("everything released up to"),
            values=_few(last + 1),
            labelExpr=f"{json.dumps([printable(p, _LONGEST_NAME) for p in curves.periods])}[datum.value]",
            grid=False,
            labelFlush=False,
        ),
    )
    y = alt.Y(
        "found",
        type="quantitative",
        scale=alt.Scale(domain=(0, top), nice=False),
        axis=alt.Axis(title=curves.axis_title(), format=".0%", tickCount=5),
    )

    def layer(rows: Sequence[dict[str, Any]]) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=list(rows)))

    layers = []
    ends = [{"release": across[0], "far": across[1], "found": limit} for limit in curves.limits.values()]
    if ends:
        rule = layer(ends).mark_rule(color=COLOURS["ochre"], strokeWidth=2, strokeDash=[3, 3])
        layers.append(rule.encode(x=x, x2="far:Q", y=y))
        named = [
            {"release": across[0], "found": limit, "name": _("budget {name}").format(name=name.upper())}
            for name, limit in curves.limits.items()
        ]
        words: Any = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "fontSize": 11}
        layers.append(layer(named).mark_text(**words, color=COLOURS["ink"]).encode(x=x, y=y, text="name:N"))
    order = sorted(curves.found, key=lambda attack: (attack == curves.worst, attack))
    for number, attack in enumerate(order):
        layers += _line(layer, curves.found[attack], number, x, y, worst=attack == curves.worst)
    over = [{"release": at, "found": value} for at, value in curves.beyond()]
    if over:
        ring: Any = {"shape": "circle", "filled": False, "color": COLOURS["persimmon"], "size": 260, "strokeWidth": 2}
        layers.append(layer(over).mark_point(**ring, opacity=1).encode(x=x, y=y))
    layers += _names(layer, curves, x, y, across, top)
    title = alt.TitleParams(
        _broken_up(curves.finding()),
        anchor="start",
        color=COLOURS["ink"],
        fontSize=_HEADING,
        fontWeight="bold",
        offset=12,
    )
    drawn = alt.layer(*layers, **({"title": title} if titled else {}))
    return drawn.properties(width=width, height=height)


def _line(
    layer: Any, curve: Sequence[float | None], number: int, x: alt.X, y: alt.Y, *, worst: bool
) -> list[alt.Chart]:
    """Return the line of one attack with a mark at each release."""
    rows = [{"release": at, "found": value} for at, value in enumerate(curve) if value is not None]
    colour = COLOURS["persimmon" if worst else "indigo"]
    line: Any = {"color": colour, "strokeWidth": 2.5 if worst else 1.2, "strokeDash": _DASHES[number % len(_DASHES)]}
    mark: Any = {"color": colour, "filled": True, "opacity": 1, "size": 60 if worst else 30}
    shape = _SHAPES[number % len(_SHAPES)]
    return [
        layer(rows).mark_line(**(line | ({"strokeDash": [1, 0]} if worst else {}))).encode(x=x, y=y),
        layer(rows).mark_point(**mark, shape=shape).encode(x=x, y=y),
    ]


def _names(layer: Any, curves: Curves, x: alt.X, y: alt.Y, across: tuple[float, float], top: float) -> list[alt.Chart]:
    """Return the names of the attacks beside the ends of their lines, each with a thin line to its end."""
    width, height = _SIZE
    ends = sorted((-_last(curve), name) for name, curve in curves.found.items())
    wanted = [(1 + value / top) * height for value, _name in ends]
    places = _spread(wanted, _LINE, height)
    step = (across[1] - across[0]) / width
    leads, names = [], []
    for (value, name), place in zip(ends, places, strict=True):
        curve = curves.found[name]
        at = max((i for i, v in enumerate(curve) if v is not None), default=0)
        level = (1 - place / height) * top
        far = across[1] + (_LEAD - 8) * step
        leads.append({"release": at + 6 * step, "found": -value, "far": far, "level": level})
        said = f"{printable(name, _LONGEST_NAME)} {-value:.3f}"
        names.append({"release": across[1] + _LEAD * step, "found": level, "name": said})
    lead = layer(leads).mark_rule(color=COLOURS["muted"], strokeWidth=0.6, clip=False)
    text = layer(names).mark_text(align="left", baseline="middle", fontSize=12, color=COLOURS["ink"], clip=False)
    return [
        lead.encode(x=x, y=y, x2="far:Q", y2="level:Q"),
        text.encode(x=x, y=y, text="name:N"),
    ]


def _spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Return places near those ``wanted``, in the same order, ``gap`` apart as far as there is room.

    >>> _spread([10.0, 12.0, 90.0], 15.0, 100.0)
    [10.0, 25.0, 90.0]
    >>> _spread([95.0, 99.0], 15.0, 100.0)
    [85.0, 100.0]
    """
    gap = min(gap, height / max(1, len(wanted) - 1)) if len(wanted) > 1 else gap
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + gap) if places else place)
    limit = height
    for at in reversed(range(len(places))):
        places[at] = min(places[at], limit)
        limit = places[at] - gap
    return places


def _few(count: int) -> list[int]:
    """Return which releases are named below the chart: all, or evenly chosen ones with the last."""
    stride = -(-count // _FEW)
    return sorted({*range(0, count, stride), count - 1})


def _broken_up(text: str) -> list[str]:
    """Return a heading in lines that fit the chart: cut between words, and between Japanese characters."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and text_width((lines[-1] + piece).rstrip()) * _HEADING / 12 > _SIZE[0] + 80:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


def _last(curve: Sequence[float | None]) -> float:
    return next((value for value in reversed(curve) if value is not None), 0.0)


def _styled(chart: alt.LayerChart | alt.FacetChart, *, paper: bool) -> Any:
    # a picture of its own may lie on anything; on our page the page is the paper
    return in_house_style(chart, background=COLOURS["paper"], padding=16) if paper else in_house_style(chart)


def _svg(curves: Curves, *, paper: bool) -> str:
    text = io.StringIO()
    _styled(risk_over_releases(curves, titled=paper), paper=paper).save(text, format="svg")
    return text.getvalue()


# --- the page ----------------------------------------------------------------------------------------------


def _page(curves: Curves) -> str:
    """Return one HTML page that loads and runs nothing: the chart, and its numbers as a table."""
    surroundings = Environment(
        loader=PackageLoader("noren.study"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    css = (Path(__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    rows = [
        (printable(name, _LONGEST_NAME), ["–" if value is None else f"{value:.3f}" for value in curve])
        for name, curve in sorted(curves.found.items())
    ]
    limits = [
        _("budget for {measure}: {limit:g}").format(measure=name.upper(), limit=limit)
        for name, limit in curves.budget.items()
    ]
    return surroundings.get_template("ledger.html.jinja").render(
        language=active_language(),
        headline=curves.finding(),
        words={
            "title": _("Risk over releases"),
            "about": curves.about(),
            "table": _("{measure} of each attack after each release").format(measure=curves.measure.upper()),
            "attack": _("attack"),
        },
        chart=Markup(_svg(curves, paper=False)),  # noqa: S704 - drawn by us, its texts escaped
        periods=[printable(period, _LONGEST_NAME) for period in curves.periods],
        rows=rows,
        limits=limits,
        version=__version__,
        css=Markup(css),  # noqa: S704 - our own file
    )
