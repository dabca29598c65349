"""S3's figures 2 to 4: what is found after every month, by S1 to S6, by S7 and by S8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal

from noren.i18n import _
from noren.reproduce.frame import Chart, Comparison, Datum, Findings
from noren.reproduce.s3 import work
from noren.reproduce.s3.table import results

__all__ = ["figure"]

ATTACKS = {2: work.BY_KEY, 3: ("s7",), 4: ("s8",)}


def _curve(found: Findings, name: str, attacks: Sequence[str], *, by_linkage: bool = False) -> list[float]:
    """Return MM after every month, the largest of some attacks, in the mean over seeds; nothing where not run."""
    runs = results(found, name, by_linkage=by_linkage)
    months = zip(
        *([max(at) for at in zip(*(run["curve"][a] for a in attacks), strict=True)] for run in runs), strict=True
    )
    return [fmean(values) for values in months]


def figure(number: int) -> Callable[[Findings], Comparison]:
    """Return what draws one of the figures 2 to 4; S3 prints no numbers in them."""
    attacks = ATTACKS[number]

    def compare(found: Findings) -> Comparison:
        titles = {2: _("largest of S1 to S6"), 3: "S7", 4: "S8"}
        cells, over = [], []
        for name in work.RELEASES:
            curve = _curve(found, name, attacks)
            by_key = _curve(found, name, work.BY_KEY)
            if curve:
                over.append(max(curve) > max(by_key))
            cells += [
                Datum(name, _("after the first month"), ours=curve[0] if curve else None),
                Datum(name, _("after the last"), ours=curve[-1] if curve else None),
                Datum(name, _("largest"), ours=max(curve, default=None)),
                Datum(
                    name, _("months until the largest"), ours=curve.index(max(curve)) + 1 if curve else None, digits=0
                ),
            ]
        says = [_("S3 shows curves of ten teams and prints no numbers; these are ours.")]
        if number > 2 and over:
            words = _("{attack} is above the largest of S1 to S6 in {over} of {count} releases; in S3 in most of them.")
            says.append(words.format(attack=titles[number], over=sum(over), count=len(over)))

        def draw() -> str:
            from noren.reproduce.charts import ChartLine, lines

            def line(title: str, curve: list[float], look: Literal["ours", "better"]) -> ChartLine:
                return ChartLine(title, [round(at, 4) for at in curve], look)

            panels = {}
            for name in work.RELEASES:
                simple, followed = _curve(found, name, attacks), _curve(found, name, ("linkage",), by_linkage=True)
                shown = [line(titles[number], simple, "ours")] if simple else []
                panels[name] = [*shown, *([line("linkage", followed, "better")] if followed else [])]
            months = [float(month) for month in range(1, 13)]
            words = _("share found")
            return lines(
                months, panels, across_title=_("months"), up_title=words, up=(0, 1), columns=2, width=300, height=110
            )

        return Comparison(cells, says, [Chart(_("MM after every month, {attack}").format(attack=titles[number]), draw)])

    return compare
