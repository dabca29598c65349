"""What is said of unicity: for each number of known purchases, how many customers are left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.kernels.arrays import Flags, Whole
from noren.kernels.judging.shares import share_interval

__all__ = ["Curve", "Step", "Unicity", "curve_of"]

_HEADLINE = 4
"""de Montjoye et al. (2015): four purchases single out 90 % of 1.1 million people."""


@dataclass(frozen=True)
class Step:
    """What so many known purchases do.

    Attributes
    ----------
    known
        How many different purchases are known.
    tried
        How many customers were asked about: those of the sample who have so many. The shares are shares of them.
    unique, low, high
        The share for whom one candidate is left, and its interval of 95 % (Clopper and Pearson).
    candidates, median
        How many candidates are left, in the mean and in the middle.
    none
        On a release: the share for whom no candidate is left, because what is released is not what happened.
    right, right_low, right_high
        On a release with its secret part: the share for whom the one candidate is right, and its interval.
    forgiving, forgiving_low, forgiving_high
        The same for whoever passes over a known purchase that nobody left can have: more knowledge never harms them.
    """

    known: int
    tried: int
    unique: float
    low: float
    high: float
    candidates: float
    median: float
    none: float | None = None
    right: float | None = None
    right_low: float | None = None
    right_high: float | None = None
    forgiving: float | None = None
    forgiving_low: float | None = None
    forgiving_high: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what is known of the step as plain data."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Curve:
    """Unicity over the number of known purchases.

    Attributes
    ----------
    steps
        One for each number of known purchases that anybody asked about has.
    among
        How many people could be meant: customers, or pseudonyms of a release.
    """

    steps: tuple[Step, ...]
    among: int

    def headline(self) -> Step:
        """Return the step to tell first: four known purchases, or the nearest below, or the first there is."""
        below = [step for step in self.steps if step.known <= _HEADLINE]
        return below[-1] if below else self.steps[0]

    def as_list(self) -> list[dict[str, Any]]:
        """Return the steps as plain data."""
        return [step.as_dict() for step in self.steps]


@dataclass(frozen=True)
class Unicity:
    """How much knowledge singles customers out, in the original and, where there is one, in a release.

    Attributes
    ----------
    original, release
        The curves; both ask about the same purchases of the same customers.
    columns
        Which columns were known, and how exactly.
    customers, sampled
        How many customers have a purchase that could be known, and how many of them were asked about.
    most
        The most different purchases that anybody asked about has.
    beyond
        The first number of known purchases that was asked for and that nobody has; None where all are had.
    """

    original: Curve
    release: Curve | None
    columns: dict[str, str]
    customers: int
    sampled: int
    most: int
    beyond: int | None
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data: ``curve`` is the original's, ``release`` the release's."""
        return {
            "curve": self.original.as_list(),
            "release": None if self.release is None else self.release.as_list(),
            "columns": self.columns,
            "customers": self.customers,
            "pseudonyms": None if self.release is None else self.release.among,
            "sampled": self.sampled,
            "most": self.most,
            "seed": self.seed,
        }


def curve_of(left: Whole, right: Flags | None, known: Sequence[int], among: int, *, released: bool) -> Curve:
    """Return the curve of how many are left of each customer (lines) after each known purchase (columns).

    A number below 0 was not asked for; ``right`` tells whether somebody who passes over contradictions has found them.

    >>> step = curve_of(np.array([[3, 1], [2, -1]]), None, [1, 2], 3, released=False).steps[1]
    >>> step.tried, step.unique, step.candidates
    (1, 1.0, 1.0)
    """
    steps = []
    for p in known:
        asked = left[:, p - 1] >= 0 if p <= left.shape[1] else np.zeros(len(left), dtype=np.bool_)
        tried = int(asked.sum())
        if not tried:
            continue
        sizes = left[asked, p - 1]
        unique = int((sizes == 1).sum())
        low, high = share_interval(unique, tried)
        more: dict[str, float] = {"none": float((sizes == 0).mean())} if released else {}
        if right is not None:
            found = right[asked, p - 1]
            more |= _share("right", int((found & (sizes == 1)).sum()), tried)
            more |= _share("forgiving", int(found.sum()), tried)
        mean, median = float(sizes.mean()), float(np.median(sizes))
        steps.append(Step(p, tried, unique / tried, low, high, mean, median, **more))
    return Curve(tuple(steps), among)


def _share(name: str, hits: int, tried: int) -> dict[str, float]:
    low, high = share_interval(hits, tried)
    return {name: hits / tried, f"{name}_low": low, f"{name}_high": high}
