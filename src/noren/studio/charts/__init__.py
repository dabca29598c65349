"""Charts in the house style: Vega-Lite as plain dicts, made at view time from stored numbers in the viewer's language.

Colours are named by what they mean (``"$indigo"``, the original; ``"$persimmon"``, risk) and get their values in the
browser, where the theme is known. A chart of several panels is ``{"panels": [spec, …]}``: panels stand side by side
where there is room and below each other where there is none. Numbers are aggregated before they come here: no chart
has more than :data:`~noren.studio.charts.MOST_MARKS` marks, and nothing is said by colour alone.
"""

from __future__ import annotations

from noren.studio.charts.bars import bars, counts_bars, paired_histogram
from noren.studio.charts.crosstabs import crosstab_panels
from noren.studio.charts.ground import MOST_MARKS, Spec, mark_count, themed
from noren.studio.charts.risk_lines import risk_lines
from noren.studio.charts.risk_map import risk_map_chart

__all__ = [
    "MOST_MARKS",
    "Spec",
    "bars",
    "counts_bars",
    "crosstab_panels",
    "mark_count",
    "paired_histogram",
    "risk_lines",
    "risk_map_chart",
    "themed",
]
