"""Reproduction of documents: choose sections, run the work that is not cached, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from noren.engines.blocks import cores
from noren.errors import FileError
from noren.i18n import _
from noren.progress import Progress, silent
from noren.reproduce import unknown_name
from noren.reproduce.frame import Comparison, Datum, Erratum, Extent, PaperDocument, PaperSection, UnitResults
from noren.version import __version__
from noren.work.store import PieceStore, WorkUnit, data_digest, default_folder, pending_units
from noren.work.workers import run_units


@dataclass(frozen=True)
class DocumentChoice:
    """The parts to run; all of them where nothing is named."""

    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tables or self.figures or self.parts)

    def of(self, document: PaperDocument) -> list[PaperSection]:
        """Return the parts of a document that are chosen."""
        by_number = {"table": self.tables, "figure": self.figures, "check": ()}
        return [p for p in document.parts if not self or p.name in by_number[p.kind] or p.key in self.parts]

    def check(self, documents: Sequence[PaperDocument]) -> None:
        """Raise an error for a table, figure or part that is in none of the documents."""
        tables, figures = (f"table-{name}" for name in self.tables), (f"figure-{name}" for name in self.figures)
        parts = list(dict.fromkeys(part.key for document in documents for part in document.parts))
        for name in (*tables, *figures, *self.parts):
            if name not in parts:
                raise unknown_name(name, ", ".join(document.key for document in documents), parts)


@dataclass(frozen=True)
class PartResult:
    """The result of a section; ``missing`` says why it could not be run."""

    part: PaperSection
    comparison: Comparison
    missing: str = ""

    @property
    def left_out(self) -> list[Datum]:
        """The cells that were not run though they could have been."""
        return [] if self.missing else [cell for cell in self.comparison.cells if cell.ours is None]

    def as_dict(self) -> dict[str, Any]:
        """Return the part as plain data."""
        return {
            "key": self.part.key,
            "kind": self.part.kind,
            "title": self.part.translated_title,
            "missing": self.missing or None,
            "left_out": len(self.left_out),
            "remarks": list(self.comparison.remarks),
            "charts": [chart.title for chart in self.comparison.charts],
            "cells": [cell.as_dict() for cell in self.comparison.cells],
        }


@dataclass(frozen=True)
class DocumentResult:
    """The result of a document."""

    document: PaperDocument
    parts: Sequence[PartResult]
    errata: Sequence[Erratum] = ()

    @property
    def cells(self) -> list[tuple[str, Datum]]:
        """The cells of all parts, and those of the errata, each with the key of its part or erratum."""
        own = [(result.part.key, cell) for result in self.parts for cell in result.comparison.cells]
        return own + [(erratum.key, cell) for erratum in self.errata for cell in erratum.cells]

    @property
    def counts(self) -> dict[str, int]:
        """How many cells there are, how many are exact and how many of these are the paper's, what is claimed, …"""
        cells = [cell for _key, cell in self.cells]
        return {
            "cells": len(cells),
            "exact": sum(cell.exact for cell in cells),
            "exact_run": sum(cell.exact and cell.ok is not None for cell in cells),
            "exact_equal": sum(cell.exact and cell.ok is True for cell in cells),
            "exact_unexplained": sum(cell.exact and cell.ok is False and cell.unexplained for cell in cells),
            "claims": sum(cell.ok is not None for cell in cells),
            "claims_held": sum(cell.ok is True for cell in cells),
            "not_run": sum(len(part.left_out) for part in self.parts),
        }

    @property
    def differing(self) -> list[tuple[str, Datum]]:
        """Cells of which something is claimed that does not hold, each with the key of its part or erratum."""
        return [(key, cell) for key, cell in self.cells if cell.ok is False]

    def as_dict(self) -> dict[str, Any]:
        """Return the document as plain data."""
        return {
            "key": self.document.key,
            "title": _(self.document.title),
            "citation": self.document.citation,
            "parts": [part.as_dict() for part in self.parts],
            "errata": [erratum.as_dict() for erratum in self.errata],
        }


@dataclass(frozen=True)
class Reproduction:
    """The result of all documents."""

    extent: Extent
    documents: Sequence[DocumentResult]
    computed: int
    cached: int

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counts of all documents together."""
        parts = [part for document in self.documents for part in document.parts]
        errata = [erratum for document in self.documents for erratum in document.errata]
        return DocumentResult(PaperDocument("", "", "", ()), parts, errata).counts

    @property
    def failed(self) -> list[tuple[str, str, Datum]]:
        """Exact cells that differ without an erratum: document, part, cell."""
        return [(d.document.key, key, cell) for d in self.documents for key, cell in d.cells if cell.fails]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "noren": __version__,
            "quick": self.extent.quick,
            "seeds": self.extent.wanted_seeds,
            "ok": not self.failed,
            "counts": self.counts,
            "units": {"computed": self.computed, "cached": self.cached},
            "documents": [document.as_dict() for document in self.documents],
        }


def reproduce(
    documents: Sequence[PaperDocument],
    extent: Extent | None = None,
    choice: DocumentChoice | None = None,
    *,
    folder: Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Reproduction:
    """Run the chosen sections and compare them with the papers.

    Finished work is cached in ``folder``, by default in the user's cache; ``fresh`` computes it again. The number of
    ``workers``, by default one per core, does not change the results.
    """
    extent, choice = extent or Extent(), choice or DocumentChoice()
    choice.check(documents)
    store = PieceStore(folder or default_folder())
    chosen = [(document, choice.of(document)) for document in documents]
    needed = {part: list(part.units(extent)) for _document, parts in chosen for part in parts}
    missing = dict.fromkeys(needed, "")
    for part, units in needed.items():
        try:
            for name in dict.fromkeys(name for unit in units for name in unit.all_data()):
                data_digest(name)
        except FileError as error:  # a data set is not here, or is not what it should be
            missing[part] = str(error)
    runnable = [unit for part, units in needed.items() if not missing[part] for unit in units]
    done: dict[WorkUnit, Any] = {}
    left = pending_units(runnable, store, done, fresh=fresh)
    cached = len(done)
    for count, unit in enumerate(run_units(left, done, store, workers or cores()), start=1):
        progress(count / len(left), unit.name)
    unit_results = UnitResults(extent, done)
    document_results = []
    for document, parts in chosen:
        compared = [
            PartResult(part, Comparison() if missing[part] else part.compare(unit_results), missing[part])
            for part in parts
        ]
        if compared:
            document_results.append(DocumentResult(document, compared, tuple(document.errata()) if not choice else ()))
    return Reproduction(extent, document_results, computed=len(left), cached=cached)
