"""Attacks side by side: what each got, and which did the most damage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from noren.data.release import Secret
from noren.kernels.prefix_threshold import prefix_thresholds
from noren.kernels.threshold import Bound, threshold
from noren.measures.safety.hits import hits_by_rank
from noren.protocols import Guess

__all__ = ["Try", "Verdict", "best_try", "verdicts"]


@dataclass(frozen=True)
class Try:
    """The number of surest answers that serves an attack best: how many, how many right, how many were needed."""

    named: int
    right: int
    needed: int

    @property
    def effective(self) -> bool:
        """Whether as many are right as refute that the release is safe."""
        return self.right >= self.needed


@dataclass(frozen=True)
class Verdict:
    """What an attack got.

    Attributes
    ----------
    attack
        Its name.
    named, right
        How many pseudonyms it names, and how many rightly.
    best
        For each bound the number of answers that comes nearest to being effective, chosen with the truth at hand; as
        many hits are needed as make a safe release pass whatever number is chosen.
    hits
        How many of the first 1, 2, … answers are right.
    """

    attack: str
    named: int
    right: int
    best: Mapping[Bound, Try]
    hits: tuple[int, ...]

    def damage(self) -> tuple[bool, bool, Fraction, int]:
        """Return what attacks are compared by: effective by the paper's rule, by the sharp one, by how much, hits."""
        paper, sharp = self.best["paper"], self.best["sharp"]
        return paper.effective, sharp.effective, Fraction(sharp.right, sharp.needed), self.right


def verdicts(guesses: Mapping[str, Guess], secret: Secret) -> list[Verdict]:
    """Judge guesses under both bounds, the most damaging first; of equals the first in order of names.

    >>> import polars as pl
    >>> pairs = pl.DataFrame({"pseudonym": [str(i) for i in range(9)], "customer": [f"c{i}" for i in range(9)]})
    >>> secret = Secret(pairs, pl.Series([0]), 1)
    >>> all_right, one_right = Guess("sure", pairs), Guess("poor", pairs.with_columns(customer=pl.lit("c3")))
    >>> [(v.attack, v.right, v.best["paper"].effective) for v in verdicts({"p": one_right, "s": all_right}, secret)]
    [('s', 9, True), ('p', 1, False)]
    """
    found = [_verdict(name, guess, secret) for name, guess in sorted(guesses.items())]
    return sorted(found, key=Verdict.damage, reverse=True)


def _verdict(name: str, guess: Guess, secret: Secret) -> Verdict:
    right = hits_by_rank(guess, secret)
    bounds: tuple[Bound, ...] = ("paper", "sharp")
    tries = {bound: _tried(right, bound) for bound in bounds}
    return Verdict(name, len(right), right[-1] if right else 0, tries, tuple(right))


def _tried(right: list[int], bound: Bound) -> Try:
    """Return the best try; all answers, a number nobody chose, need r(n) hits and no more, and break a release, too."""
    best = best_try(right, prefix_thresholds(len(right), bound))
    every = Try(len(right), right[-1] if right else 0, threshold(len(right), bound))
    return every if every.effective and not best.effective else best


def best_try(right: list[int], needed: list[int]) -> Try:
    """Return the number of surest answers that comes nearest to r(n) hits, or farthest beyond, the least of equals.

    The number is chosen with the truth at hand: an attacker could have been so lucky, not have known it. So ``needed``
    must allow for the choice, as :func:`~noren.kernels.prefix_threshold.prefix_thresholds` does.

    >>> best_try([1, 2, 2], [1, 2, 2, 3])
    Try(named=2, right=2, needed=2)
    """
    hits = [0, *right]
    named = max(range(len(hits)), key=lambda n: (Fraction(hits[n], needed[n]), -n))
    return Try(named, hits[named], needed[named])
