"""Chart of the risk over releases: what each attack finds in everything released so far (S3, figures 2 to 4).

One line per attack, the budget as a level line, the certified risk in teal, all by the same measure. The line of the
best attack is persimmon, all others indigo; every line has its name, so the chart can be read in grey as well. As a
file it is the picture with its finding, or a page with its numbers as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noren.drawing.base import (
    LONGEST_NAME,
    Spec,
    chart_ending,
    distinct,
    few,
    heading_lines,
    layer,
    picture,
    render_page,
    scaled,
    short,
    write_picture,
)
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.numbers import percent
from noren.judgement.page_text import printable
from noren.judgement.sentences import rule_sentence
from noren.judgement.verdict import Verdict
from noren.ledger import Ledger, Proposal
from noren.tables import Texts

say = Texts(__name__)
_LONGEST_NAME = 24
_SIZE = (560, 320)
_LINE = 15.0
"""Pixels from one name beside the lines to the next."""
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True)
class Curves:
    """A measure after each release, by attack; None where an attack was not tried."""

    periods: Sequence[str]
    rates: Mapping[str, Sequence[float | None]]
    budget: Mapping[str, float] = field(default_factory=dict)
    proposed: bool = False
    """Whether the last period is not released yet."""
    measure: str = "mm"
    """Which measure the numbers are: ``um``, ``mm`` or ``emm``. Only its own budget is compared."""
    verdict: Verdict | None = None
    """The verdict on everything released, with the proposal; None where it was not judged."""
    certified: Sequence[float | None] = ()
    """The certified risk after each release; None where nothing is certified."""
    spent: Sequence[str] = ()
    """What is spent of ε beside the periods, in sentences."""

    @classmethod
    def of(cls, ledger: Ledger, proposal: Proposal | None = None) -> Curves:
        """Return the curves of a ledger, with a release that is only proposed where there is one."""
        measure = ledger.tightest(proposal)
        periods, rates = ledger.curves(proposal, measure)
        if not periods:
            message = _("nothing was released yet, so there is nothing to draw; release a period: noren ledger add")
            raise ParameterError(message)
        verdict = ledger.verdicts()[periods[-1]] if proposal is None else proposal.verdict
        certified = ledger.certified_curve(proposal, measure)
        spent = ledger.recorded.sentences()
        return cls(periods, rates, ledger.settings.budget, proposal is not None, measure, verdict, certified, spent)

    def finding(self) -> str:
        """Return the chart's heading: what the best attack finds now, and whether the budget is met."""
        last = {
            attack: next((value for value in reversed(curve) if value is not None), 0.0)
            for attack, curve in self.rates.items()
        }
        worst = max(last, key=lambda attack: last[attack])
        attack, share = printable(worst, _LONGEST_NAME), percent(round(last[worst], 4))
        values = {"attack": attack, "share": share, "period": self.periods[-1]}
        if all(curve[-1] is None for curve in self.rates.values()):
            finding = say("finding.unknown", **values)
        else:
            finding = say(f"{'would_find' if self.proposed else 'finds'}.{self.measure}", **values)
        if self.certified and self.certified[-1] is not None:
            finding = say("finding.certified", finding=finding, share=percent(self.certified[-1]))
        if self.measure not in self.budget:
            return finding
        limit = percent(self.budget[self.measure])
        return say("finding.broken" if self.beyond() else "finding.budget", finding=finding, limit=limit)

    def beyond(self) -> list[tuple[int, float]]:
        """Return the releases above the budget, by the certificate or else by the best attack, each with how much."""
        limit = self.budget.get(self.measure, 1.0)
        tops = [max((c[at] or 0.0 for c in self.rates.values()), default=0.0) for at in range(len(self.periods))]
        sure = [*self.certified, *[None] * (len(tops) - len(self.certified))]
        held = [top if certified is None else certified for top, certified in zip(tops, sure, strict=True)]
        return [(at, value) for at, value in enumerate(held) if value > limit + 1e-12]

    def chart(self, *, titled: bool = True) -> Spec:
        """Return one line per attack with its name, the budget as a level line, a proposed release as a hollow mark.

        ``titled`` adds a heading.
        """
        measure, limit = self.measure, self.budget.get(self.measure)
        title = _("{risk} (down is safer)").format(risk=f"{measure.upper()}: {say(f'axis.{measure}')}")
        labels = distinct([str(period) for period in self.periods])
        order = distinct(list(self.rates), LONGEST_NAME)
        rows: list[Spec] = [
            {
                "attack": attack,
                "period": labels[at],
                "share": short(value),
                "proposed": self.proposed and at == len(labels) - 1,
            }
            for attack, values in zip(order, self.rates.values(), strict=True)
            for at, value in enumerate(values)
            if value is not None
        ]
        lasts: dict[str, Spec] = {row["attack"]: row for row in rows}
        worst = max(lasts, key=lambda name: lasts[name]["share"], default="")
        is_worst = {"field": "attack", "equal": worst}
        sure: list[Spec] = [
            {"period": labels[at], "share": short(v)} for at, v in enumerate(self.certified) if v is not None
        ]
        top = min(1.0, 1.15 * max([*(row["share"] for row in [*rows, *sure]), limit or 0.0, 0.05]))
        axis: Spec = {
            "title": _("everything released up to"),
            "values": few(labels, _SIZE[0]),
            "labelAngle": 0,
            "labelOverlap": "greedy",
            "grid": False,
        }
        place: Spec = {
            "x": {
                "field": "period",
                "type": "ordinal",
                "sort": labels,
                "axis": axis,
                "scale": {"domain": labels, "padding": 0.2},
            },
            "y": scaled("share", title, [0.0, short(top)], ".0~%"),
            "color": {"condition": {"test": is_worst, "value": "$persimmon"}, "value": "$indigo"},
        }
        tooltip = [
            {"field": "attack", "title": _("attack")},
            {"field": "period", "title": _("release")},
            {"field": "share", "title": say(f"axis.{measure}"), "format": ".2%"},
        ]
        dashes, shapes = (
            {"field": "attack", "scale": {"domain": order, "range": looks}, "legend": None}
            for looks in (
                [[1, 0] if name == worst else _DASHES[i % len(_DASHES)] for i, name in enumerate(order)],
                [_SHAPES[i % len(_SHAPES)] for i in range(len(order))],
            )
        )
        heavy = {"condition": {"test": is_worst, "value": 2.5}, "value": 1.2}
        layers: list[Spec] = [
            {"mark": {"type": "line"}, "encoding": place | {"strokeDash": dashes, "strokeWidth": heavy}}
        ]
        for filled in (True, False):
            some = [row for row in rows if row["proposed"] != filled]
            mark: Spec = {"type": "point", "filled": filled, "size": 60, "opacity": 1, "strokeWidth": 1.5}
            layers += [layer(some, mark, place | {"shape": shapes, "tooltip": tooltip})] if some else []
        where = {name: place[name] for name in ("x", "y")}
        ends = [row | {"text": f"{name} {row['share']:.3f}"} for name, row in lasts.items()]
        if sure:
            mark = {"type": "line", "color": "$teal", "strokeWidth": 2, "point": {"color": "$teal", "filled": True}}
            layers.append(layer(sure, mark, where))
            last = sure[-1]["share"]
            ends.append({"share": last, "text": _("certified") + f" {last:.3f}", "sure": True})
        if limit is not None:
            rule = {"type": "rule", "color": "$ochre", "strokeWidth": 2, "strokeDash": [3, 3]}
            layers.append(layer([{"share": limit}], rule, {"y": place["y"]}))
            tops: dict[str, Spec] = {}  # the highest risk at each release that is above the budget
            for row in sure or rows:
                if row["share"] > tops.get(row["period"], {"share": limit})["share"]:
                    tops[row["period"]] = row
            ring = {"type": "point", "shape": "circle", "filled": False, "color": "$persimmon", "size": 260}
            ring |= {"strokeWidth": 2, "opacity": 1}
            layers += [layer(list(tops.values()), ring, where)] if tops else []
            ends.append({"share": limit, "text": _("budget {name}").format(name=f"{measure.upper()} {percent(limit)}")})
        layers += _names_beside(ends, top, place)
        spec: Spec = {"data": {"values": rows}, "layer": layers, "width": _SIZE[0], "height": _SIZE[1]}
        if titled:
            spec["title"] = {"text": heading_lines(self.finding()), "fontSize": 14, "offset": 12}
        return spec


def about_measure(measure: str) -> str:
    """Return an explanation of a measure of a ledger."""
    return say(f"about.{measure}")


def write_ledger_chart(curves: Curves, path: str | Path) -> Path:
    """Write the chart as a page, an SVG or a PNG picture, by the name's ending; whole or not at all."""
    if chart_ending(Path(path)) != ".html":
        return write_picture(curves.chart(), path)
    # a page that loads and runs nothing: the chart, and its numbers as a table
    lines = sorted(curves.rates.items())
    if any(value is not None for value in curves.certified):
        lines.append((_("certified"), curves.certified))
    rows = [
        (printable(name, _LONGEST_NAME), ["–" if value is None else f"{value:.3f}" for value in curve])
        for name, curve in lines
    ]
    limits = [say("budget", measure=name.upper(), limit=limit) for name, limit in curves.budget.items()]
    if curves.verdict is not None:
        limits += [curves.verdict.sentence, rule_sentence(curves.verdict.rule)]
    limits += curves.spent
    page = render_page(
        "noren.drawing",
        "ledger.html.jinja",
        headline=curves.finding(),
        about=about_measure(curves.measure),
        measure=curves.measure.upper(),
        chart=picture(curves.chart(titled=False)),
        periods=[printable(period, _LONGEST_NAME) for period in curves.periods],
        rows=rows,
        limits=limits,
    )
    return write_picture(curves.chart(), path, page)


def _names_beside(ends: Sequence[Spec], top: float, place: Spec) -> list[Spec]:
    """Return the names of the lines and of the budget right of the plot, without overlap, with thin lines to them."""
    height = _SIZE[1]
    ordered = sorted(ends, key=lambda end: (-end["share"], end["text"]))
    positions = _spread([(1 - end["share"] / top) * height for end in ordered], _LINE, height)
    placed = [end | {"level": short((1 - at / height) * top)} for end, at in zip(ordered, positions, strict=True)]
    attacks = [end for end in placed if "attack" in end]
    budget = [end for end in placed if "attack" not in end and "sure" not in end]
    sure = [end for end in placed if "sure" in end]
    beyond: Spec = {"value": "width"}
    lead = {"x": place["x"], "y": place["y"], "x2": beyond, "y2": {"field": "level"}}
    mark = {"type": "text", "align": "left", "baseline": "middle", "dx": 8, "fontSize": 12, "tooltip": None}
    encoding = {"x": beyond, "y": place["y"] | {"field": "level"}, "text": {"field": "text"}}
    return [
        layer(attacks, {"type": "rule", "color": "$muted", "strokeWidth": 0.6}, lead),
        layer(attacks, mark | {"color": "$ink"}, encoding),
        *([layer(budget, mark | {"color": "$ochre-text"}, encoding)] if budget else []),
        *([layer(sure, mark | {"color": "$teal"}, encoding)] if sure else []),
    ]


def _spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Return positions near those ``wanted``, in the same order, ``gap`` apart as far as there is room.

    >>> _spread([10.0, 12.0, 90.0], 15.0, 100.0)
    [10.0, 25.0, 90.0]
    >>> _spread([95.0, 99.0], 15.0, 100.0)
    [85.0, 100.0]
    """
    gap = min(gap, height / max(1, len(wanted) - 1)) if len(wanted) > 1 else gap
    positions: list[float] = []
    for place in wanted:
        positions.append(max(place, positions[-1] + gap) if positions else place)
    limit = height
    for at in reversed(range(len(positions))):
        positions[at] = min(positions[at], limit)
        limit = positions[at] - gap
    return positions
