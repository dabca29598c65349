"""What a reproduction is made of: documents, parts, units of work, cells, errata."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from noren.drawing.base import picture
from noren.i18n import _
from noren.tables import table_of
from noren.work.store import Scalar, WorkUnit

Value = float | str | None


@dataclass(frozen=True)
class Extent:
    """How much to run: ``quick`` leaves out cells, ``wanted_seeds`` takes the place of a part's own number of seeds."""

    quick: bool = False
    wanted_seeds: int | None = None

    def seeds(self, full: int, quick: int = 1) -> range:
        """Return the seeds to run: 1, 2, …

        >>> list(Extent().seeds(full=3)), list(Extent(quick=True).seeds(full=3)), list(Extent(wanted_seeds=2).seeds(5))
        ([1, 2, 3], [1], [1, 2])
        """
        return range(1, (self.wanted_seeds or (quick if self.quick else full)) + 1)


class Findings(dict[WorkUnit, Any]):
    """The results of the units that were run, for a part to compare with the paper; and what was asked for."""

    def __init__(self, asked: Extent, results: Mapping[WorkUnit, Any]):
        super().__init__(results)
        self.asked = asked

    def of(self, units: Sequence[WorkUnit]) -> list[Any]:
        """Return the results of those of ``units`` that were run."""
        return [self[unit] for unit in units if unit in self]

    def over_seeds(self, unit: Callable[..., WorkUnit], *arguments: Scalar, full: int) -> list[Any]:
        """Return the results of those seeds that were run, of units whose last argument is the seed."""
        return self.of([unit(*arguments, seed) for seed in self.asked.seeds(full=full)])


@dataclass(frozen=True)
class Datum:
    """One number of the paper beside ours.

    Attributes
    ----------
    row, column
        Where it stands; cells of one row are shown on one line. ``column`` may be empty.
    paper, ours
        The two values: numbers, or words. ``paper=None``: the paper has no such number; ``ours=None``: it was not run.
    spread, seeds
        Of a random value the standard deviation over so many seeds; ``ours`` is the mean.
    exact
        Whether the paper's number has one right answer, so that a difference is an error.
    tolerance
        How far ours may be away, by rounding or by chance; nothing is claimed where it is ``None``.
    aim
        ``equal``: ours should be the paper's. ``at-least``, ``at-most``: ours should not be worse.
    erratum
        The key of the erratum that tells of a difference.
    unexplained
        Whether that erratum derives nothing: the difference is known, its cause is not.
    digits
        Decimals to show.
    """

    row: str
    column: str = ""
    paper: Value = None
    ours: Value = None
    spread: float | None = None
    seeds: int | None = None
    exact: bool = False
    tolerance: float | None = None
    aim: Literal["equal", "at-least", "at-most"] = "equal"
    note: str = ""
    erratum: str = ""
    unexplained: bool = False
    digits: int = 3

    @classmethod
    def over(cls, row: str, column: str, values: Sequence[float], **said: Any) -> Datum:
        """Return the cell of a random value: mean and spread over seeds; not run where there are no values.

        >>> cell = Datum.over("t1", "em", [90.0, 92.0], paper=91.5, tolerance=2)
        >>> cell.ours, round(cell.spread, 3), cell.difference, cell.ok
        (91.0, 1.414, -0.5, True)
        """
        if not values:
            return cls(row, column, **said)
        spread = statistics.stdev(values) if len(values) > 1 else None
        return cls(row, column, ours=statistics.fmean(values), spread=spread, seeds=len(values), **said)

    @classmethod
    def exactly(
        cls, row: str, column: str = "", paper: Value = None, ours: Value = None, tolerance: float = 0, **said: Any
    ) -> Datum:
        """Return the cell of a number that has one right answer: the paper's and ours, as far apart as rounding goes.

        >>> Datum.exactly("7!", "", 5040, 5040).ok, Datum.exactly("ρ", "", 0.3, 0.302, tolerance=0.001).fails
        (True, True)
        """
        return cls(row, column, paper, ours, exact=True, tolerance=tolerance, **said)

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
        """Whether the reproduction fails by this cell: an exact number that differs, and no erratum tells of it."""
        return self.exact and self.ok is False and not self.erratum

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        return {
            "what": self.row,
            "column": self.column,
            "paper": self.paper,
            "ours": self.ours,
            "spread": self.spread,
            "seeds": self.seeds,
            "difference": self.difference,
            "kind": "exact" if self.exact else "statistical",
            "tolerance": self.tolerance,
            "aim": self.aim,
            "ok": self.ok,
            "erratum": self.erratum or None,
            "unexplained": self.unexplained,
            "note": self.note,
        }


@dataclass(frozen=True)
class Chart:
    """A picture: what it shows, in a sentence, and a function that draws it as SVG text."""

    title: str
    draw: Callable[[], str]


@dataclass(frozen=True)
class Comparison:
    """What a part found: its cells, what they come to in sentences, its pictures."""

    cells: Sequence[Datum] = ()
    says: Sequence[str] = ()
    charts: Sequence[Chart] = ()


def unit_of(work: Callable[..., Any], *data: str) -> Callable[..., WorkUnit]:
    """Return what makes a unit of arguments, for work that reads these data sets."""
    return lambda *arguments: WorkUnit(work, arguments, data)


@dataclass(frozen=True)
class PaperSection:
    """A table, a figure or another piece of a document.

    Attributes
    ----------
    kind, name
        ``table``, ``figure`` or ``check``, and its number or word.
    title
        What it shows, marked with ``N_``.
    work
        The units of work that it needs, or what returns those for what is asked; none where its numbers need none.
    compare
        The cells, from the results of that work.
    """

    kind: Literal["table", "figure", "check"]
    name: str
    title: str
    work: tuple[WorkUnit, ...] | Callable[[Extent], Sequence[WorkUnit]]
    compare: Callable[[Findings], Comparison]

    @property
    def key(self) -> str:
        """``table-5``, ``figure-2``; the word alone for a check."""
        return self.name if self.kind == "check" else f"{self.kind}-{self.name}"

    def units(self, asked: Extent) -> Sequence[WorkUnit]:
        """Return the work for what is asked."""
        return self.work if isinstance(self.work, tuple) else self.work(asked)


@dataclass(frozen=True)
class Erratum:
    """What a document gets wrong, what it must be, and why; with the numbers that code recomputes.

    ``derived`` is empty where that is not known: a number that we do not get, and cannot say why.
    """

    key: str
    where: str
    printed: str
    derived: str
    derivation: str
    cells: Sequence[Datum] = field(default_factory=tuple)

    @classmethod
    def of(cls, document: str, key: str, cells: Sequence[Datum] = (), **values: float) -> Erratum:
        """Return an erratum whose texts and formulas are in a document's ``…_errata.toml``, with ``values`` put in."""
        said = table_of(f"noren.reproduce.{document.lower()}_errata")[key]
        texts = []
        for name in ("where", "printed", "derived", "derivation"):
            part = said.get(name, "")
            text = part["formula"] if isinstance(part, dict) else _(part)
            texts.append(text.format(**values) if values else text)
        where, printed, derived, derivation = texts
        return cls(key, where, printed, derived, derivation, cells)

    @property
    def unexplained(self) -> bool:
        """Whether nothing is derived."""
        return not self.derived

    def as_dict(self) -> dict[str, Any]:
        """Return the erratum as plain data."""
        return {
            "key": self.key,
            "where": self.where,
            "printed": self.printed,
            "derived": self.derived or None,
            "unexplained": self.unexplained,
            "derivation": self.derivation,
            "cells": [cell.as_dict() for cell in self.cells],
        }


@dataclass(frozen=True)
class PaperDocument:
    """One of the five documents: what it is called, its parts, its errata."""

    key: str
    title: str
    citation: str
    parts: tuple[PaperSection, ...]
    errata: Callable[[], Iterable[Erratum]] = tuple


# --- pictures: lines over categories or numbers, the paper's beside ours, in the house style --------------------------


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
    looks = {name: _LOOKS[look] for shown in panels.values() for name, _values, look in shown}
    numeric = not isinstance(across[0], str)
    said = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 400}
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
    colour, shape, dash = (
        {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": list(looks), "range": [look[at] for look in looks.values()]},
            "legend": said if at < 2 else None,
        }
        for at in range(3)
    )
    drawn = []
    for panel, shown in panels.items():
        rows = [
            {"across": at, "up": value, "line": name}
            for name, values, _look in shown
            for at, value in zip(across, values, strict=True)
        ]
        mark = {"type": "point", "filled": True, "size": 36, "opacity": 1}
        words = f"{panel}: {up_title}" if panel else up_title  # an axis title would be longer than the axis
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
                "title": {"text": words, "fontSize": 12, "fontWeight": "normal"},
            }
        )
    return Chart(title, lambda: picture({"concat": drawn, "columns": columns, "spacing": 24}))
