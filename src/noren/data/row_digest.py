"""One digest of rows, whatever their order and however they lie in files.

Each row's text is hashed to eight 64-bit numbers, and these are added up, each lane modulo 2⁶⁴. Sums do not depend on
the order, rows that come twice count twice, and sums of parts are the sum of the whole. What is told is the SHA-256 of
the columns' names, the number of rows and the sums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.formats.parquet import parquet_blocks, parquet_rows
from noren.data.release import public_block, public_schema
from noren.progress import Progress, silent

LANES = 8


@dataclass(frozen=True)
class RowDigest:
    """The sum of some rows' hashes.

    >>> one = RowDigest.of(pl.Series(["a,1", "b,2"])) + RowDigest.of(pl.Series(["c,3"]))
    >>> one.told(["x", "y"]) == RowDigest.of(pl.Series(["c,3", "a,1", "b,2"])).told(["x", "y"])
    True
    >>> one.told(["x", "y"]) == RowDigest.of(pl.Series(["c,3", "a,1", "a,1"])).told(["x", "y"])
    False
    """

    rows: int = 0
    lanes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(LANES, dtype=np.uint64))

    @classmethod
    def of(cls, lines: pl.Series) -> RowDigest:
        """Return the digest of rows, each one line of text."""
        texts: Sequence[str] = lines.to_list()
        hashed = b"".join(hashlib.blake2b(text.encode(), digest_size=8 * LANES).digest() for text in texts)
        each = np.frombuffer(hashed, dtype="<u8").reshape(-1, LANES)
        return cls(len(texts), each.sum(axis=0, dtype=np.uint64))

    @classmethod
    def whole(cls, parts: Iterable[RowDigest]) -> RowDigest:
        """Return the digest of all rows of all parts."""
        return sum(parts, cls())

    def __add__(self, other: RowDigest) -> RowDigest:
        with np.errstate(over="ignore"):
            return RowDigest(self.rows + other.rows, self.lanes + other.lanes)

    def told(self, names: Sequence[str]) -> str:
        """Return the digest as text, for rows with columns of these names."""
        said = hashlib.sha256("\0".join([*names, str(self.rows)]).encode() + b"\0")
        said.update(self.lanes.astype("<u8").tobytes())
        return said.hexdigest()


def public_digest(folder: str | Path, *, progress: Progress = silent) -> tuple[str, int]:
    """Return the digest of a release's public rows, and how many they are; a block is held at a time."""
    path = Path(folder) / "public.parquet"
    schema = public_schema(path)
    rows, whole = parquet_rows(path), RowDigest()
    for block in parquet_blocks(path):
        whole += RowDigest.of(public_block(block, schema).lines())
        progress(whole.rows / rows)
    return whole.told(schema.names), whole.rows
