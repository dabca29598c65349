"""A few original rows beside what the release says of them, for the steward's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from noren.data.cells import kind
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.data.schema import Role
from noren.judgement.page_text import printable

__all__ = ["Cell", "RowPair", "example_columns", "example_rows"]

EXAMPLES = 8
_MOST_COLUMNS = 9
_LONGEST_TEXT = 60
_LONGEST_WHOLE = 400


@dataclass(frozen=True)
class Cell:
    """A text, cut to what fits, the whole of it, and what became of it.

    ``change`` is empty for what stayed as it was, else ``interval``, ``set``, ``suppressed``, ``changed`` (to another
    exact value) or ``pseudonym``.
    """

    text: str
    whole: str = ""
    change: str = ""


@dataclass(frozen=True)
class RowPair:
    """An original row (``number`` counts from 1) and the released one; none where it was deleted."""

    number: int
    original: Sequence[Cell]
    released: Sequence[Cell] | None


def example_columns(original: Records, most: int | None = _MOST_COLUMNS) -> list[str]:
    """Return the columns to show: who, what a release generalises, then the rest, as far as they fit."""
    names = list(original.schema.names)
    if isinstance(original, History):
        first = [original.schema.role(Role.CUSTOMER).name, *(c.name for c in original.measured())]
        names = first + [n for n in names if n not in first]
    return names[:most]


def example_rows(
    original: Records, release: Release, rows: int = EXAMPLES, *, pseudonyms: bool = True
) -> list[RowPair]:
    """Return ``rows`` pairs, evenly chosen over the original, the same for every release; none without its secret.

    Without ``pseudonyms`` a dash stands in their place, so that nobody learns here who is behind one.
    """
    if not release.has_secret or not len(original) or release.secret.original_rows != len(original):
        return []
    names = [n for n in example_columns(original) if n in release.public.frame.columns]
    chosen = np.unique(np.linspace(0, len(original) - 1, rows).round().astype(np.int64))
    wanted = pl.DataFrame({"row": chosen}, schema={"row": pl.UInt32})
    public = pl.DataFrame({"row": release.secret.origin.cast(pl.UInt32)}).with_row_index("public")
    found = wanted.join(public.unique("row", keep="first"), on="row", how="left", maintain_order="left")["public"]

    before = original.take(wanted["row"]).texts().select(names)
    part = release.public.take(found.drop_nulls())
    after = part.texts().select(names)
    kinds = part.frame.select(kind(part.frame[n]) for n in names)
    person = original.schema.role(Role.CUSTOMER).name if isinstance(original, History) else None

    pairs, live = [], 0
    for i, number in enumerate(chosen):  # a handful, never the whole
        old = before.row(i)
        if found[i] is None:
            pairs.append(RowPair(int(number) + 1, [_cell(text) for text in old], None))
            continue
        said, what = after.row(live), kinds.row(live)
        live += 1
        new = [
            _cell(text if pseudonyms else "–", "pseudonym") if name == person else _cell(text, _change(text, was, how))
            for name, text, was, how in zip(names, said, old, what, strict=True)
        ]
        pairs.append(RowPair(int(number) + 1, [_cell(text) for text in old], new))
    return pairs


def _change(text: str, was: str, how: str) -> str:
    if how != "exact":
        return "" if text == was else how
    return "" if text == was else "changed"


def _cell(text: str, change: str = "") -> Cell:
    short = printable(text, _LONGEST_TEXT)
    whole = printable(text, _LONGEST_WHOLE)
    return Cell(short, whole if whole != short else "", change)
