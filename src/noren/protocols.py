"""The three things Noren is made of: methods protect, attacks threaten, measures judge.

Each is a small class. Its fields are its parameters and nothing else: the one source of the Python signature, the
command-line flags, the web form (JSON schema), the TOML of a sweep and the reference page. Class variables say what it
is. A new one is one file with one class, and its line in the register of its room.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.data.frames import Records
from noren.data.release import Release
from noren.data.schema import Kind, Schema
from noren.progress import Progress, silent

__all__ = ["Attack", "Component", "Evidence", "Guess", "Measure", "Method", "Need", "Score"]

Need = Literal["original", "public", "secret", "guess", "exact"]
"""``exact``: a release without sets and intervals."""


class Component(BaseModel, ABC):
    """What methods, attacks and measures have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str]
    """The name people type, lower case with hyphens."""
    summary: ClassVar[str]
    """One sentence: the promise of a method, the threat of an attack, what a measure tells."""
    source: ClassVar[str] = ""
    """The document it comes from (S0 … S4, or a citation)."""
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.HISTORY})
    """Which data it works on."""

    @classmethod
    def fits(cls, schema: Schema) -> bool:
        """Tell whether it works on data of this schema; one that needs certain columns asks for them too."""
        return schema.kind in cls.accepts

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return self.model_dump(mode="json")


class Method(Component):
    """Turns an original into a release."""

    @abstractmethod
    def protect(self, original: Any, *, seed: int, progress: Progress = silent) -> Release:
        """Protect ``original``; the same seed gives the same bytes."""


@dataclass(frozen=True)
class Guess:
    """Who an attacker thinks is behind each pseudonym, surest first.

    ``pairs`` holds ``pseudonym``, ``customer``, ``score`` (higher is surer) and, where pseudonyms change with time,
    ``period``. Ranked, so an attacker may name as few or as many people as pays. An attack that gives several
    candidates for a pseudonym tells which is which by ``rank``, from 1; the first is its answer.
    """

    attack: str
    pairs: pl.DataFrame
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def answers(self) -> pl.DataFrame:
        """The pairs without further candidates."""
        return self.pairs.filter(pl.col("rank") == 1).drop("rank") if "rank" in self.pairs.columns else self.pairs


class Attack(Component):
    """Links the public part of a release to the people of an original. It never sees the secret part."""

    listens: ClassVar[bool] = False
    """Whether it makes use of what other attacks found, and so comes after them."""

    def after(self, guesses: Mapping[str, Guess]) -> Attack:
        """Return the attack, told what others found on the same release; one that does not listen stays as it is."""
        return self

    @abstractmethod
    def attack(self, original: Any, public: Any, *, seed: int, progress: Progress = silent) -> Guess:
        """Guess who is behind each pseudonym of ``public``, knowing ``original``."""


@dataclass(frozen=True)
class Evidence:
    """What a measure may look at."""

    original: Records
    release: Release
    guesses: Mapping[str, Guess] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """A measure's answer: one value, its parts, and facts worth showing."""

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        said: dict[str, Any] = {"value": self.value, "parts": dict(self.parts)}
        return said | ({"notes": dict(self.notes)} if self.notes else {})


class Measure(Component):
    """Judges a release: what leaks (safety) or what stays useful (utility)."""

    goal: ClassVar[Literal["lower", "higher"]]
    """Which way is better."""
    bounds: ClassVar[tuple[float, float | None]] = (0.0, None)
    """The range of the value; None for unbounded."""
    unit: ClassVar[str] = ""
    """What the value counts."""
    needs: ClassVar[frozenset[Need]]
    """What it looks at."""

    @abstractmethod
    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Judge the release in ``evidence``."""
