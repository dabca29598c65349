"""Documents of a reproduction: their sections, units of work, cells and errata."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from noren.drawing.base import look_channels, picture
from noren.i18n import _
from noren.tables import table_of
from noren.work.store import Scalar, WorkUnit

Value = float | str | None


@dataclass(frozen=True)
class Extent:
    """How much to run: ``quick`` leaves out cells, ``wanted_seeds`` overrides a section's own number of seeds."""

    quick: bool = False
    wanted_seeds: int | None = None

    def seeds(self, full: int, quick: int = 1) -> range:
        """Return the seeds to run: 1, 2, …

        >>> list(Extent().seeds(full=3)), list(Extent(quick=True).seeds(full=3)), list(Extent(wanted_seeds=2).seeds(5))
        ([1, 2, 3], [1], [1, 2])
        """
        return range(1, (self.wanted_seeds or (quick if self.quick else full)) + 1)


class UnitResults(dict[WorkUnit, Any]):
    """The results of the units that were run, and the extent of the run, for a section to compare with the paper."""

    def __init__(self, extent: Extent, results: Mapping[WorkUnit, Any]):
        super().__init__(results)
        self.extent = extent

    def of(self, units: Sequence[WorkUnit]) -> list[Any]:
        """Return the results of those of ``units`` that were run."""
        return [self[unit] for unit in units if unit in self]

    def over_seeds(self, unit: Callable[..., WorkUnit], *arguments: Scalar, full: int) -> list[Any]:
        """Return the results of those seeds that were run, of units whose last argument is the seed."""
        return self.of([unit(*arguments, seed) for seed in self.extent.seeds(full=full)])


@dataclass(frozen=True)
class Datum:
    """A number of the paper and ours."""

    row: str
    column: str = ""
    """``row``, ``column``: its place in the table; cells of one row are shown on one line. ``column`` may be empty."""
    paper: Value = None
    ours: Value = None
    """``paper``, ``ours``: numbers, or words; None where the paper has no such number, or it was not run."""
    spread: float | None = None
    seeds: int | None = None
    """``spread``, ``seeds``: of a random value the standard deviation over so many seeds; ``ours`` is the mean."""
    exact: bool = False
    """Whether the paper's number has one right answer, so that a difference is an error."""
    tolerance: float | None = None
    """How far ours may be away, by rounding or by chance; nothing is claimed where it is ``None``."""
    aim: Literal["equal", "at-least", "at-most"] = "equal"
    """``equal``: ours should be the paper's. ``at-least``, ``at-most``: ours should not be worse."""
    note: str = ""
    erratum: str = ""
    """The key of the erratum that explains a difference."""
    unexplained: bool = False
    """Whether the cause of the difference is unknown."""
    digits: int = 3
    """Decimals to show."""

    @classmethod
    def over(cls, row: str, column: str, values: Sequence[float], **fields: Any) -> Datum:
        """Return the cell of a random value: mean and spread over seeds; not run where there are no values.

        >>> cell = Datum.over("t1", "em", [90.0, 92.0], paper=91.5, tolerance=2)
        >>> cell.ours, round(cell.spread, 3), cell.difference, cell.ok
        (91.0, 1.414, -0.5, True)
        """
        if not values:
            return cls(row, column, **fields)
        spread = statistics.stdev(values) if len(values) > 1 else None
        return cls(row, column, ours=statistics.fmean(values), spread=spread, seeds=len(values), **fields)

    @classmethod
    def exactly(
        cls, row: str, column: str = "", paper: Value = None, ours: Value = None, tolerance: float = 0, **fields: Any
    ) -> Datum:
        """Return the cell of a number that has one right answer: the paper's and ours, as far apart as rounding goes.

        >>> Datum.exactly("7!", "", 5040, 5040).ok, Datum.exactly("ρ", "", 0.3, 0.302, tolerance=0.001).fails
        (True, True)
        """
        return cls(row, column, paper, ours, exact=True, tolerance=tolerance, **fields)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, where both are numbers."""
        if isinstance(self.ours, float | int) and isinstance(self.paper, float | int):
            return self.ours - self.paper
        return None

    @property
    def ok(self) -> bool | None:
        """Whether the claim holds; nothing where there is none, or where it was not run."""
        if self.ours is None or self.paper is None:
            return None
        if self.difference is None:
            return self.ours == self.paper
        if self.tolerance is None:
            return None
        room = self.tolerance + 1e-9  # .002 is no binary fraction
        if self.aim == "equal":
            return abs(self.difference) <= room
        return (self.difference if self.aim == "at-least" else -self.difference) >= -room

    @property
    def fails(self) -> bool:
        """Whether the reproduction fails by this cell: an exact number that differs without an erratum."""
        return self.exact and self.ok is False and not self.erratum

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        numbers = {name: getattr(self, name) for name in ("column", "paper", "ours", "spread", "seeds", "difference")}
        claim = {"kind": "exact" if self.exact else "statistical", "tolerance": self.tolerance, "aim": self.aim}
        verdict = {"ok": self.ok, "erratum": self.erratum or None, "unexplained": self.unexplained}
        return {"what": self.row} | numbers | claim | verdict | {"note": self.note}


@dataclass(frozen=True)
class Chart:
    """A picture: what it shows, in a sentence, and a function that draws it as SVG text."""

    title: str
    draw: Callable[[], str]


@dataclass(frozen=True)
class Comparison:
    """The result of a section: its cells, remarks about them, and charts."""

    cells: Sequence[Datum] = ()
    remarks: Sequence[str] = ()
    charts: Sequence[Chart] = ()


def join_labels(*labels: str) -> str:
    """Return one label of several.

    >>> join_labels("sharp bound", "survivors")
    'sharp bound: survivors'
    """
    return ": ".join(labels)


def unit_of(work: Callable[..., Any], *data: str) -> Callable[..., WorkUnit]:
    """Return a function that makes a unit from arguments, for work that reads these data sets."""
    return lambda *arguments: WorkUnit(work, arguments, data)


@dataclass(frozen=True)
class PaperSection:
    """A table, a figure or another piece of a document."""

    kind: Literal["table", "figure", "check"]
    name: str
    """``kind``, ``name``: ``table``, ``figure`` or ``check``, and its number or word."""
    title: str
    """What it shows, marked with ``N_``."""
    work: tuple[WorkUnit, ...] | Callable[[Extent], Sequence[WorkUnit]]
    """The units of work that it needs, or a function that returns those for an extent."""
    compare: Callable[[UnitResults], Comparison]
    """The cells, from the results of that work."""
    detail: str = ""
    """What tells it from other sections with the same title, in symbols that need no translation: ``S7``."""

    @property
    def key(self) -> str:
        """``table-5``, ``figure-2``; the word alone for a check."""
        return self.name if self.kind == "check" else f"{self.kind}-{self.name}"

    @property
    def translated_title(self) -> str:
        """The title with its detail, in the active language."""
        return join_labels(*filter(None, (_(self.title), self.detail)))

    def units(self, extent: Extent) -> Sequence[WorkUnit]:
        """Return the work for an extent."""
        return self.work if isinstance(self.work, tuple) else self.work(extent)


@dataclass(frozen=True)
class Erratum:
    """What a document prints, what it must be, and why; with the numbers that code recomputes.

    ``unexplained`` marks a number that we do not get without knowing why.
    """

    key: str
    text: str
    cells: Sequence[Datum] = field(default_factory=tuple)
    unexplained: bool = False

    @classmethod
    def of(cls, document: str, key: str, cells: Sequence[Datum] = (), **values: float) -> Erratum:
        """Return an erratum of a document's ``…_errata.toml``, with ``values`` put into its text."""
        entry = table_of(f"noren.reproduce.{document.lower()}_errata")[key]
        text = _(entry["text"])
        return cls(key, text.format(**values) if values else text, cells, entry.get("unexplained", False))

    def as_dict(self) -> dict[str, Any]:
        """Return the erratum as plain data."""
        return {
            "key": self.key,
            "text": self.text,
            "unexplained": self.unexplained,
            "cells": [cell.as_dict() for cell in self.cells],
        }


@dataclass(frozen=True)
class PaperDocument:
    """A paper to reproduce: its title, sections and errata."""

    key: str
    title: str
    citation: str
    parts: tuple[PaperSection, ...]
    errata: Callable[[], Iterable[Erratum]] = tuple
    summary: str = ""

    @classmethod
    def of(cls, key: str, *parts: PaperSection, errata: Callable[[], Iterable[Erratum]] = tuple) -> PaperDocument:
        """Return a document whose title, citation and summary are in ``documents.toml``."""
        return cls(key, parts=parts, errata=errata, **table_of("noren.reproduce.documents")[key])


# --- line charts of the paper's numbers and ours ----------------------------------------------------------------------


Look = Literal["paper", "ours", "better", "chance"]
# colour, marks and dashes together, so that a line is known in grey too
_LOOKS: dict[Look, tuple[str, str, list[int]]] = {
    "paper": ("$muted", "circle", [4, 3]),
    "ours": ("$indigo", "square", [1, 0]),
    "better": ("$teal", "triangle-up", [1, 0]),
    "chance": ("$ochre", "diamond", [1, 3]),
}
Line = tuple[str, Sequence[float | None], Look]
"""A line of a chart: its name, its values (``None`` leaves a gap), and whose it is."""


def lines(
    title: str,
    across: Sequence[str] | Sequence[float],
    panels: Mapping[str, Sequence[Line]],
    *,
    across_title: str,
    up_title: str,
    up: tuple[float, float] | None = None,
    columns: int = 1,
    width: int = 560,
    height: int = 180,
) -> Chart:
    """Return a chart of lines over categories (texts) or numbers, one panel for each name, all on one scale.

    Lines of one name have one look in every panel; at most one line for each :data:`Look` can be told apart.
    """
    looks = {name: _LOOKS[look] for curves in panels.values() for name, _values, look in curves}
    numeric = not isinstance(across[0], str)
    legend = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 400}
    x = {
        "field": "across",
        "type": "quantitative" if numeric else "ordinal",
        "sort": None,
        "axis": {"title": across_title, "labelAngle": 0 if numeric else -60, "grid": False},
    } | ({"scale": {"zero": False}} if numeric else {})
    y = {
        "field": "up",
        "type": "quantitative",
        "scale": {"domain": list(up), "nice": False} if up else {"zero": False},
        "axis": {"title": None, "tickCount": 5},
    }
    colour, shape = look_channels("line", looks, 2, legend)
    *_seen, dash = look_channels("line", looks, 3, None)
    drawn = []
    for panel, curves in panels.items():
        rows = [
            {"across": at, "up": value, "line": name}
            for name, values, _look in curves
            for at, value in zip(across, values, strict=True)
        ]
        mark = {"type": "point", "filled": True, "size": 36, "opacity": 1}
        panel_title = f"{panel}: {up_title}" if panel else up_title  # an axis title would be longer than the axis
        drawn.append(
            {
                "data": {"values": rows},
                "encoding": {"x": x, "y": y, "color": colour},
                "layer": [
                    {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"strokeDash": dash}},
                    {"mark": mark, "encoding": {"shape": shape}},
                ],
                "width": width,
                "height": height,
                "title": {"text": panel_title, "fontSize": 12, "fontWeight": "normal"},
            }
        )
    return Chart(title, lambda: picture({"concat": drawn, "columns": columns, "spacing": 24}))
