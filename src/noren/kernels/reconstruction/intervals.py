"""Between which numbers a cell of the table before perturbation lies, with 95 %.

The spread of a reconstruction under data drawn from itself tells too little: a model that holds attributes to be
independent holds them to be so in every draw, and is steadily wrong. So the interval is about a rough answer that
leaves nothing out, the table that makes the perturbed one likeliest
(:func:`~noren.kernels.reconstruction.estimates.maximum_likelihood`), and is widened until it holds the model's answer.

How wrong the rough answer is, is tried on tables that are known: perturbed tables are drawn from it, and from the table
halfway to the model's answer (a cell at 0 shows no error when drawn from itself), each is reconstructed roughly, and
the larger of both root mean squares, bias included, counts, times Student's 97.5 % for so many draws.

There is no proof that this covers; ``benchmarks/bench_reconstruction_intervals.py`` prints how often it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from noren.kernels.arrays import Place, Real, plain, where_it_is
from noren.kernels.reconstruction.estimates import maximum_likelihood
from noren.kernels.reconstruction.retention import Channel, mixed

__all__ = ["CellIntervals", "cell_intervals", "seen_again"]

_TOLERANCE = 1e-5
_STEPS = 2_000
_TAIL = 0.975


@dataclass(frozen=True)
class CellIntervals:
    """The ends of the interval of each cell, in records."""

    low: Real
    high: Real


def cell_intervals(
    y: Real,
    channels: Sequence[Channel],
    estimate: Real,
    generator: np.random.Generator,
    draws: int,
    report: Callable[[float], None] = lambda _done: None,
    place: Place = where_it_is,
) -> CellIntervals:
    """Return an interval for each cell, which holds the estimate.

    Parameters
    ----------
    y
        The perturbed table.
    estimate
        A model's answer.
    draws
        How many perturbed tables are drawn from each of the two tables that errors are tried on.
    place
        Puts arrays where the work on whole tables is to be done.
    """

    def rough_of(table: Real) -> Real:
        placed = [c if isinstance(c, float | int) else place(c) for c in channels]
        found: Real = plain(maximum_likelihood(place(table), placed, _TOLERANCE, _STEPS)[0])
        return found

    rough = rough_of(y)
    squares = np.zeros_like(rough)
    for part, truth in enumerate((rough, (rough + estimate) / 2)):
        total = np.zeros_like(rough)
        for draw in range(draws):
            total += (rough_of(seen_again(truth, channels, generator)) - truth) ** 2
            report((part * draws + draw + 1) / (2 * draws))
        squares = np.maximum(squares, total / draws)
    wide = float(stdtrit(draws, _TAIL)) * np.sqrt(squares)
    low = np.clip(np.minimum(rough - wide, estimate), 0.0, None)
    high = np.minimum(np.maximum(rough + wide, estimate), max(float(y.sum()), 0.0))
    return CellIntervals(np.minimum(low, estimate), np.maximum(high, estimate))


def seen_again(table: Real, channels: Sequence[Channel], generator: np.random.Generator) -> Real:
    """Return a perturbed table that records of ``table`` could have led to."""
    expected = np.maximum(mixed(table / max(float(table.sum()), 1e-300), channels), 0.0)
    if not expected.any():
        return np.zeros_like(table)
    drawn = generator.multinomial(round(float(table.sum())), (expected / expected.sum()).ravel())
    again: Real = drawn.reshape(table.shape).astype(np.float64)
    return again
