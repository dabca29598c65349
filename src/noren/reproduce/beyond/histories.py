"""The sharp bound, and the best groups on the final data of 2018 beside the 13 teams."""

from __future__ import annotations

from typing import Any

from noren.drawing.ground import picture, scaled
from noren.i18n import _
from noren.kernels.judging.threshold import thresholds
from noren.reproduce.beyond import work
from noren.reproduce.charts import ChartLine, lines
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s0.printed import KINDS, TABLE_3
from noren.reproduce.s0.safety import BEST

__all__ = ["bound", "class_units", "classes", "frontier", "frontier_units"]

NAMED = (7, 10, 17, 18, 24, 49, 60, 99, 126, 200, 300, 500, 999)
SIZES = (2, 3, 4, 5, 6, 7, 10)
KS = (2, 3, 4, 6, 10)


# --- the sharp bound -------------------------------------------------------------------------------------------------


def bound(_found: Findings) -> Comparison:
    """Set what S0's bound asks of an attacker beside what H0 allows at all."""
    paper, sharp = thresholds(999, "paper"), thresholds(999, "sharp")
    cells = []
    for n in NAMED:
        row = f"n' = {n}"
        cells += [
            Datum(row, _("S0's bound"), ours=paper[n], digits=0),
            Datum(row, _("sharp bound"), ours=sharp[n], digits=0),
            Datum(row, _("fewer"), ours=paper[n] - sharp[n], digits=0),
        ]

    def draw() -> str:
        asked = (7, 10, 13, 17, 20, 24, 30, 38, 49, 70, 99, 126, 160, *range(200, 1_000, 100), 999)
        curves = [
            ChartLine(_("S0's bound"), [paper[n] / n for n in asked], "paper"),
            ChartLine(_("sharp bound"), [sharp[n] / n for n in asked], "ours"),
        ]
        return lines(
            asked,
            {"": curves},
            across_title=_("customers named"),
            up_title=_("share that must be right to prove a release unsafe"),
            up=(0.3, 1.0),
            height=220,
        )

    first = next(n for n in range(7, 1_000) if paper[n] != sharp[n])
    says = [
        _("The two agree up to n' = {n}; for all 999 named the sharp bound asks for {sharp}, S0's for {paper}.").format(
            n=first - 1, sharp=sharp[999], paper=paper[999]
        )
    ]
    return Comparison(cells, says, [Chart(_("How many right answers are proof"), draw)])


def _plan(size: int, bound: str) -> Unit:
    return Unit(work.plan, (size, bound))


def class_units(_asked: Extent) -> list[Unit]:
    """Return the work for classes of one size."""
    return [_plan(size, bound) for size in SIZES for bound in ("paper", "sharp")]


def classes(found: Findings) -> Comparison:
    """Say what the best attacker does to 1,000 customers in classes of one size, for each of the two bounds."""
    cells = []
    for size in SIZES:
        row = f"k = {size}"
        for bound, words in (("paper", _("S0's bound")), ("sharp", _("sharp bound"))):
            best = found[_plan(size, bound)]
            said = _("{right} right of {named}").format(right=best["needed"], named=best["named"])
            cells += [
                Datum(row, _("{bound}: best attack").format(bound=words), ours=said),
                Datum(row, _("{bound}: its chance").format(bound=words), ours=best["chance"], digits=4),
                Datum(row, _("{bound}: 13 survived").format(bound=words), ours=best["survival"]),
            ]
    count, survived = KINDS["pairs"]
    pairs = found[_plan(2, "paper")]["survival"]
    return Comparison(
        cells,
        [
            _(
                "Of {count} releases by pairs in 2018 {survived} were never found out. By S0's bound that may be luck: "
                "one survives 13 independent attackers at their best with {pairs:.2f}. By the sharp bound none need "
                "have survived: whoever names one customer for both of a pair is right once in each, surely."
            ).format(count=count, survived=survived, pairs=pairs),
            _(
                "From k = 3 on both bounds say the same: the best attack names seven people and must have all right. "
                "Only from k = 7 on does H0 hold."
            ),
        ],
    )


# --- groups ----------------------------------------------------------------------------------------------------------


def _by_count(k: int, suppress: bool) -> Unit:
    return Unit(work.by_count, (k, suppress), data=(work.HISTORIES,))


def _grouped(k: int) -> Unit:
    return BEST if k == 2 else Unit(work.grouped, (k, "normal"), data=(work.HISTORIES,))


def frontier_units(asked: Extent) -> list[Unit]:
    """Return the work for the frontier; quick searches the best pairs alone."""
    counted = [_by_count(k, suppress) for k in KS for suppress in (False, True)]
    return [*counted, *map(_grouped, KS[:1] if asked.quick else KS)] + [_plan(k, "sharp") for k in KS]


def frontier(found: Findings) -> Comparison:
    """Set the best groups of k that are found beside S1's groups, a lower bound, and the teams' 13 releases."""
    cells, points = [], []
    for k in KS:
        row = f"k = {k}"
        plain, suppressed = found[_by_count(k, False)], found[_by_count(k, True)]
        best: dict[str, Any] | None = next(iter(found.of([_grouped(k)])), None)
        survival = found[_plan(k, "sharp")]["survival"]
        note = _("no groups of {k} are better").format(k=k) if best and best["optimal"] else ""
        cells += [
            Datum(row, _("S1's groups"), ours=plain["U"], digits=4),
            Datum(row, _("cells suppressed"), ours=suppressed["U"], digits=4),
            Datum(row, "generalize", ours=best["U"] if best else None, digits=4, note=note),
            Datum(row, _("lower bound"), ours=best["lower_bound"] if best else None, digits=4),
            Datum(row, _("rows deleted"), ours=best["deleted"] if best else None, digits=0),
            Datum(row, _("13 survived, sharp"), ours=survival),
        ]
        kinds = ((_("S1's groups"), plain), (_("generalize"), best))
        points += [{"kind": kind, "U": one["U"], "safe": survival, "name": row} for kind, one in kinds if one]
    for team, (u, hit) in TABLE_3.items():
        points.append({"kind": _("team, found out") if hit else _("team, never found out"), "U": u,
                       "safe": 0.0 if hit else 1.0, "name": team})  # fmt: skip
    return Comparison(
        cells,
        [
            _("A team stands at 1 if nobody found its release out, at 0 if somebody did: that is what happened once."),
            _(
                "Ours stand at the chance to survive 13 independent attackers who do the best they can and are judged "
                "sharply. The groups of 3 and more that generalize finds are those of one seed."
            ),
        ],
        [Chart(_("Error and survival on the final data of 2018"), lambda: _map(points))],
    )


def _map(points: list[dict[str, Any]]) -> str:
    """Return the map of error and survival: ours with their k, the teams with their number."""
    looks = {
        _("S1's groups"): ("$muted", "square"),
        _("generalize"): ("$indigo", "circle"),
        _("team, found out"): ("$persimmon", "cross"),
        _("team, never found out"): ("$teal", "triangle-up"),
    }
    there = [kind for kind in looks if any(point["kind"] == kind for point in points)]
    said = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 300}
    colour, shape = (
        {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": there, "range": [looks[kind][at] for kind in there]},
            "legend": said,
        }
        for at in range(2)
    )
    encoding = {
        "x": scaled("U", _("U, the error of a cell"), [0.15, 0.75], ""),
        "y": scaled("safe", _("chance to outlive 13 attackers"), [-0.05, 1.1], ""),
        "color": colour,
    }
    ours = [point for point in points if point["kind"] in (_("generalize"), _("S1's groups"))]
    best = [point for point in ours if point["kind"] == _("generalize")]
    words = {"type": "text", "dy": -11, "fontSize": 10}
    marks = {"type": "point", "filled": True, "size": 70, "opacity": 0.9}
    layers = [
        {"data": {"values": best}, "mark": {"type": "line", "strokeWidth": 1.5}, "encoding": encoding},
        {"data": {"values": points}, "mark": marks, "encoding": encoding | {"shape": shape}},
        {"data": {"values": ours}, "mark": words, "encoding": encoding | {"text": {"field": "name"}}},
    ]
    return picture({"layer": layers, "width": 620, "height": 300})
