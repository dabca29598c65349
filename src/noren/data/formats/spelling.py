"""How a file spelled its values, kept beside the typed columns.

``2.1`` and ``2.10`` are one price, ``[3;3]`` and ``3`` one quantity: the columns hold the value, and this holds the
few texts that differ from the canonical spelling. Writing puts them back, so files round-trip byte for byte, and
attacks that compare text (the official ones do) see what was published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

__all__ = ["Spelling"]


@dataclass(frozen=True)
class Spelling:
    """Line ends, and the texts that are not canonical: per column a frame of ``row`` (from 0) and ``text``.

    ``count_line`` is a line above the rows that says how many there are, where the file has one.
    """

    newline: str = "\n"
    final_newline: bool = True
    exceptions: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    count_line: str | None = None

    @classmethod
    def of(cls, given: pl.DataFrame, canonical: pl.DataFrame, newline: str, *, final_newline: bool) -> Spelling:
        """Compare texts as given with their canonical form and remember the differences."""
        exceptions = {}
        for name in given.columns:
            differs = given[name].ne_missing(canonical[name])
            if differs.any():
                rows = differs.arg_true()
                exceptions[name] = pl.DataFrame({"row": rows, "text": given[name].gather(rows)})
        return cls(newline, final_newline, exceptions)

    def apply(self, canonical: pl.DataFrame) -> pl.DataFrame:
        """Return the texts as the file spelled them."""
        return canonical.with_columns(
            canonical[name].clone().scatter(odd["row"], odd["text"]).alias(name)
            for name, odd in self.exceptions.items()
            if name in canonical.columns
        )

    def take(self, rows: pl.Series) -> Spelling:
        """Return the spelling of the rows ``rows`` (positions from 0, in a new order)."""
        if not self.exceptions:
            return Spelling(self.newline, self.final_newline)
        places = pl.DataFrame({"row": rows.cast(pl.UInt32)}).with_row_index("new")
        kept = {}
        for name, odd in self.exceptions.items():
            moved = odd.with_columns(pl.col("row").cast(pl.UInt32)).join(places, on="row", how="inner")
            if len(moved):
                kept[name] = moved.select(pl.col("new").alias("row"), "text").sort("row")
        return Spelling(self.newline, self.final_newline, kept)
