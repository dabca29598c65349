"""The number of an attack's surest answers that tells most against a release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Try", "best_try"]


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


def best_try(right: list[int], needed: list[int]) -> Try:
    """Return the number of surest answers that comes nearest to r(n) hits, or farthest beyond, the least of equals.

    The number is chosen with the truth at hand: an attacker could have been so lucky, not have known it. So ``needed``
    must allow for the choice, as :func:`~noren.kernels.judging.prefix_threshold.prefix_thresholds` does.

    >>> best_try([1, 2, 2], [1, 2, 2, 3])
    Try(named=2, right=2, needed=2)
    """
    hits = [0, *right]
    named = max(range(len(hits)), key=lambda n: (Fraction(hits[n], needed[n]), -n))
    return Try(named, hits[named], needed[named])
