"""How much two teams' files have in common, from sketches small enough to stand in the log (bottom-k MinHash).

Every row is a number drawn by its text; a sketch keeps the 256 smallest. Of the smallest of two files together, those
that both have estimate the overlap (Jaccard), off by 0.03 at most in nineteen cases of twenty, and without error where
neither file has more rows than a sketch. Pseudonyms are left out, for whoever copies renames.

References
----------
A. Broder, On the resemblance and containment of documents, 1997; E. Cohen, H. Kaplan, Summarizing data using bottom-k
sketches, 2007.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.contest.judging.prepared import Prepared
from noren.data.formats.render import Spelling
from noren.data.schema import Role

_KEPT = 256
_BYTES = 6
_ODD = np.uint64(0x9E3779B97F4A7C15)
_STIR = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))

Sketch = dict[str, Any]


def sketch_of_release(release: Prepared) -> Sketch:
    """Return the sketch of a release: what became of each original row, and its inserted rows."""
    rows = replace(release.rows, spelling=Spelling())
    named = [column.name for column in rows.schema.with_role(Role.CUSTOMER)]
    cells = rows.texts().drop(named)[release.live]
    return sketch_of(cells, np.minimum(release.live, len(release.original)))


def sketch_of(cells: pl.DataFrame, places: NDArray[np.int64] | None = None) -> Sketch:
    """Return the sketch of rows of texts; two rows are equal if their cells are, and their places where given.

    The rows of a guess are its pairs: who is named for what.
    """
    drawn = np.zeros(len(cells), np.uint64) if places is None else places.astype(np.uint64)
    for name in cells.columns:
        texts = cells[name].fill_null("")
        values = texts.unique()  # each different text is looked at once; its number is the same on every machine
        numbers = b"".join(hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values)
        table = pl.Series(np.frombuffer(numbers, ">u8").astype(np.uint64))
        number = texts.replace_strict(values, table, return_dtype=pl.UInt64).to_numpy()
        drawn = _stirred(drawn * _ODD + number)
    rows = np.unique(drawn >> np.uint64(64 - 8 * _BYTES))
    least = rows[:_KEPT].astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - _BYTES :]
    return {"rows": len(rows), "least": base64.b64encode(least.tobytes()).decode()}


def similar(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> float:
    """Return the share of equal rows of two files, of the rows of the larger one; none where one has no rows.

    >>> ann = sketch_of(pl.DataFrame({"pseudonym": ["1", "2", "3", "4"], "customer": ["a", "b", "c", "d"]}))
    >>> bob = sketch_of(pl.DataFrame({"pseudonym": ["4", "1", "2"], "customer": ["d", "a", "c"]}))
    >>> similar(ann, bob), similar(ann, ann)
    (0.5, 1.0)
    """
    if not (one and other and one["rows"] and other["rows"]):
        return 0.0
    sizes = int(one["rows"]), int(other["rows"])
    first, second = _least(one), _least(other)
    together = np.union1d(first, second)
    if max(sizes) > _KEPT:
        together = together[:_KEPT]
    both = int((np.isin(together, first) & np.isin(together, second)).sum())
    # of n and m rows with a Jaccard overlap of J, J / (1 + J) · (n + m) are in both
    common = both * sum(sizes) / (len(together) + both)
    return min(1.0, common / max(sizes))


def _least(sketch: Mapping[str, Any]) -> NDArray[np.uint64]:
    kept = np.frombuffer(base64.b64decode(sketch["least"]), np.uint8).reshape(-1, _BYTES)
    whole = np.zeros((len(kept), 8), np.uint8)
    whole[:, 8 - _BYTES :] = kept
    return whole.view(">u8").ravel().astype(np.uint64)


def _stirred(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread what differs in a few bits over all of them (the finalizer of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _STIR[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _STIR[1]
    return numbers ^ (numbers >> np.uint64(31))
