"""Charts for pages: made at view time from stored numbers in the viewer's language, drawn by the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from noren.drawing import bars as _bars
from noren.drawing import risk_lines as _risk_lines
from noren.drawing import risk_map as _risk_map
from noren.drawing import shaded as _shaded
from noren.drawing import unicity_lines as _unicity_lines
from noren.drawing.ground import MOST_MARKS, Spec, live, mark_count

__all__ = [
    "MOST_MARKS",
    "Spec",
    "bars",
    "counts_bars",
    "crosstab_panels",
    "live",
    "mark_count",
    "paired_histogram",
    "risk_lines",
    "risk_map_chart",
    "unicity_lines",
]

Given = ParamSpec("Given")


def _alive(chart: Callable[Given, Spec]) -> Callable[Given, Spec]:
    """Return what draws a chart for a page."""

    @wraps(chart)
    def drawn(*given: Given.args, **how: Given.kwargs) -> Spec:
        return live(chart(*given, **how))

    return drawn


bars = _alive(_bars.bars)
counts_bars = _alive(_bars.counts_bars)
crosstab_panels = _alive(_shaded.crosstab_panels)
paired_histogram = _alive(_bars.paired_histogram)
risk_lines = _alive(_risk_lines.risk_lines)
risk_map_chart = _alive(_risk_map.risk_map_chart)
unicity_lines = _alive(_unicity_lines.unicity_lines)
