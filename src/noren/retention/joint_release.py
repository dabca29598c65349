"""The joint k of several releases of one table against an attacker who has all of them.

Each release was drawn on its own, so likelihoods multiply: swapping two people changes what is seen in all releases by
at least ``Π b²`` over all attributes of all of them, and ``k = 1 + (R-1)·Π b²``. An attribute that is released twice
counts twice. This grants the attacker that he knows which rows of the releases belong together; anyone who does not
learns of each release no more than its own k says. Proof and brute force: docs/theory/retention.md and
tests/retention/test_joint_release.py.

Statements are enough: no data are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from noren.data.statement import Statement
from noren.errors import FileError, ParameterError
from noren.kernels.reconstruction.retention import k_of_ratios, least_ratio
from noren.tables import Texts

say = Texts(__name__)


@dataclass(frozen=True)
class JointPart:
    """One release, made or planned."""

    name: str
    """What to call it: its folder, for a release that was made."""
    attributes: tuple[str, ...]
    """The attributes' names; sizes of their domains where a plan names no more."""
    rows: int
    """How many rows the table has."""
    odds: float
    """``Π b²``: how likely any other person is, at least, beside the likeliest owner of a row."""
    rhos: tuple[float, ...] = ()
    """The probability to keep a value, for each attribute; empty where a plan leaves it open."""
    digest: str | None = None
    """Of the original, where the secret part is at hand."""
    made: bool = True
    """Whether it was made, or is only planned."""

    @property
    def k(self) -> float:
        """The k of this release alone."""
        return 1 + (self.rows - 1) * self.odds


@dataclass(frozen=True)
class Joint:
    """Several releases of one table."""

    parts: tuple[JointPart, ...]
    rows: int
    odds: float
    same_table: bool | None
    """Whether their secret parts prove that they are of one table; None where that cannot be seen."""

    @property
    def k(self) -> float:
        """The k of all of them together."""
        return 1 + (self.rows - 1) * self.odds

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute of any of them, once."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.attributes))

    @property
    def repeated(self) -> tuple[str, ...]:
        """Attributes that several releases have: they are told again each time."""
        every = [name for part in self.parts for name in part.attributes]
        return tuple(name for name in self.attributes if every.count(name) > 1)

    def room(self, k: float) -> float | None:
        """Return the least k that one more release must have for all together to keep ``k``; None if none can.

        >>> one = JointPart("a", ("sex",), 101, 0.5)
        >>> joint([one]).room(26), joint([one]).room(52)
        (51.0, None)
        """
        if k > self.k:
            return None
        return 1 + (k - 1) / self.odds


def joint(parts: Sequence[JointPart]) -> Joint:
    """Return what releases are together; stop where they are not of one table.

    >>> one = JointPart("a", ("sex",), 5, 0.25)
    >>> one.k, joint([one, one]).k
    (2.0, 1.25)
    """
    if not parts:
        raise ParameterError(say("no_release"))
    first = parts[0]
    for part in parts[1:]:
        if part.rows != first.rows:
            raise ParameterError(say("other_rows", one=first.name, rows=first.rows, other=part.name, others=part.rows))
    known = {part.digest: part.name for part in reversed(parts) if part.digest is not None}
    if len(known) > 1:
        first_name, second_name = sorted(known.values())[:2]
        raise ParameterError(say("other_data", one=first_name, two=second_name))
    odds = prod(part.odds for part in parts)
    made = [part for part in parts if part.made]
    proven = len(made) < 2 or all(part.digest is not None for part in made)
    return Joint(tuple(parts), first.rows, odds, True if proven else None)


def planned_part(name: str, attributes: Sequence[str], rows: int, k: float, rhos: Sequence[float] = ()) -> JointPart:
    """Return a release that is planned with a k: whatever its domains are, ``Π b²`` is ``(k-1)/(R-1)``."""
    if not 1 < k <= rows:
        raise ParameterError.out_of_range("k", f"{k:g}", f"1 < k <= {rows:,}")
    return JointPart(name, tuple(attributes), rows, (k - 1) / (rows - 1), tuple(rhos), made=False)


def part_of_statement(statement: Statement, name: str, digest: str | None = None) -> JointPart:
    """Return a release that was made, from what it says."""
    if statement.method != "retention":
        raise ParameterError(say("other_method", name=name, method=statement.method))
    rows, listed = statement.notes.get("rows"), statement.notes.get("attributes")
    names, rhos, ratios = list[str](), list[float](), list[float]()
    for about in listed if isinstance(listed, list) else ():
        match about:  # perhaps read from a file, which may say anything
            case {"name": str(attribute), "rho": float() | int() as rho, "values": int(size)} if 0 <= rho <= 1 < size:
                names.append(attribute)
                rhos.append(float(rho))
                ratios.append(least_ratio(float(rho), size))
    if not isinstance(rows, int) or rows < 2 or not isinstance(listed, list) or len(names) < len(listed):
        raise FileError(say("not_said"), file=name)
    odds = (k_of_ratios(ratios, rows) - 1) / (rows - 1)
    return JointPart(name, tuple(names), rows, odds, tuple(rhos), digest)


def part_in(path: str | Path) -> JointPart:
    """Return the release in a folder, or of a statement alone; its data are not read."""
    path = Path(path)
    file, secret = (path / "statement.json", path / "secret" / "run.json") if path.is_dir() else (path, None)
    kinds = {"method": str, "parameters": dict, "promise": str, "noren": str, "notes": dict}
    read: list[dict[str, Any]] = []
    for path_read in (file, secret) if secret is not None and secret.exists() else (file,):
        try:
            content = json.loads(path_read.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            content = None
        fits = isinstance(content, dict)
        if fits and path_read == file:
            content = {key: content[key] for key in kinds if key in content}
            fits = "method" in content and all(isinstance(value, kinds[key]) for key, value in content.items())
        if not fits:
            raise FileError(say("not_a_statement"), file=path_read)
        read.append(content)
    digest = read[1].get("digest") if len(read) > 1 else None
    return part_of_statement(Statement(**read[0]), str(path), digest if isinstance(digest, str) else None)
