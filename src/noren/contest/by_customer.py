"""Of one guess: which customers' pseudonyms it names, and which rightly, in a few characters for each customer.

The log keeps it of every guess, so that ranks can be computed again for other customers of the same kind
(:mod:`noren.contest.stability`) without any file. Digits stand in the order of the customers' names as text; names are
not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.contest_files import listed_customers
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.measures.safety.hits import hits_by_target
from noren.measures.safety.matching import UNLISTED, matched
from noren.protocols import Evidence, Guess

__all__ = ["ByCustomer", "by_customer", "people_asked_about"]

_WIDEST = 8


@dataclass(frozen=True)
class ByCustomer:
    """What one guess says of each customer.

    Attributes
    ----------
    named, right
        How many pseudonyms of each customer are named, and how many rightly.
    match, live
        Where guess and truth agree, and where there is a pseudonym, for each customer (row) and period (column); None
        where no measure of the rules asks for it.
    refused
        Whether user matching refuses the guess, for it leaves customers out.
    """

    named: NDArray[np.int64]
    right: NDArray[np.int64]
    match: NDArray[np.bool_] | None = None
    live: NDArray[np.bool_] | None = None
    refused: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as the log keeps it.

        >>> ByCustomer(np.array([0, 1, 2]), np.array([0, 0, 1])).as_dict()
        {'named': '012', 'right': '001', 'width': 1}
        """
        width = len(f"{int(self.named.max(initial=0)):x}")
        said: dict[str, Any] = {
            "named": _digits(self.named, width),
            "right": _digits(self.right, width),
            "width": width,
        }
        if self.match is not None and self.live is not None:
            said |= {"periods": self.match.shape[1], "match": _bits(self.match), "live": _bits(self.live)}
        return said | ({"refused": True} if self.refused else {})

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> ByCustomer:
        """Return what the log keeps.

        >>> ByCustomer.of({"named": "0112", "right": "0011", "width": 1}).right.tolist()
        [0, 0, 1, 1]
        """
        width = int(said["width"])
        named, right = _counts(said["named"], width), _counts(said["right"], width)
        if "match" not in said:
            return cls(named, right)
        shape = len(named), int(said["periods"])
        return cls(named, right, _cells(said["match"], shape), _cells(said["live"], shape), bool(said.get("refused")))


def by_customer(original: Records, release: Release, guess: Guess, *, cells: bool) -> dict[str, Any]:
    """Return what a guess says of each customer, as the log keeps it.

    Parameters
    ----------
    original, release
        What was protected, and what came of it with its secret part.
    guess
        An attacker's answers, in the pseudonyms of the release.
    cells
        Whether a measure of the rules looks at each customer and period (um, mm, emm).
    """
    asked = people_asked_about(original)
    counted = asked.to_frame("target").join(
        hits_by_target(guess, release.secret), on="target", how="left", maintain_order="left"
    )
    named, right = (counted[name].fill_null(0).to_numpy() for name in ("named", "right"))
    if not cells:
        return ByCustomer(named, right).as_dict()
    tables = matched(Evidence(original, release, {"guess": guess}))
    refused = bool(guess.notes.get(UNLISTED))
    return ByCustomer(named, right, tables.match["guess"], tables.live, refused).as_dict()


def people_asked_about(original: Records) -> pl.Series:
    """Return who the customers are, in the order of the digits; of a table its rows, counted from 1."""
    if isinstance(original, History):
        return listed_customers(original)
    return pl.int_range(1, len(original) + 1, eager=True).cast(pl.String)


# --- numbers as texts ------------------------------------------------------------------------------------------------


def _digits(counts: NDArray[np.int64], width: int) -> str:
    """Return each number as so many hexadecimal digits, one after the other."""
    shifts = 4 * np.arange(width - 1, -1, -1)
    digits = (counts[:, None] >> shifts) & 15
    text: bytes = np.frombuffer(b"0123456789abcdef", np.uint8)[digits].tobytes()
    return text.decode()


def _counts(text: str, width: int) -> NDArray[np.int64]:
    if not 1 <= width <= _WIDEST or len(text) % width:
        raise ValueError(f"{len(text)} digits are not numbers of {width}")
    nibbles = np.frombuffer(bytes.fromhex("".join(f"0{digit}" for digit in text)), np.uint8).astype(np.int64)
    return nibbles.reshape(-1, width) @ (16 ** np.arange(width - 1, -1, -1, dtype=np.int64))


def _bits(cells: NDArray[np.bool_]) -> str:
    return np.packbits(cells).tobytes().hex()


def _cells(text: str, shape: tuple[int, int]) -> NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=shape[0] * shape[1])
    return bits.astype(np.bool_).reshape(shape)
