"""Latent classes: a table as a mixture of few products, seen through perturbation.

Given its class a record's attributes are independent, so a class is one distribution for each attribute, and what is
seen of it is that distribution through the attribute's channel. One step of expectation-maximisation splits every seen
record among the classes, then every class's share of a seen value among the true values.

The attributes are cut into two groups, and a class's product over a group is one row of a matrix: the mixture is then a
product of two thin matrices, so a step costs classes times cells in the fastest arithmetic there is, and what is
written down is classes times the *groups'* cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from noren.kernels.arrays import Real, at_least, like
from noren.kernels.reconstruction.estimates import margin, total
from noren.kernels.reconstruction.retention import Channel, back, mixed

__all__ = ["latent_path"]


_LEAST = 1e-300


def latent_path(
    y: Real,
    channels: Sequence[Channel],
    classes: int,
    marks: Sequence[int],
    generator: np.random.Generator,
    own: Sequence[Real],
) -> Iterator[Real]:
    """Yield mixtures of ``classes`` products after ``marks`` steps, from the attributes' own distributions with noise.

    With axes before the attributes', each of the tables starts from the same noise.
    """
    size, cells = len(channels), y.shape[-len(channels) :]
    batch = y.shape[:-size]
    records = total(y, size)
    cut = _cut(cells)
    flat = y.reshape(*batch, int(np.prod(cells[:cut])), -1)
    given = []
    for one, values in zip(own, cells, strict=True):
        noisy = one[..., None, :] * like(y, generator.gamma(2.0, 0.5, (classes, values)))
        given.append(noisy / total(noisy, 1))
    share = like(y, np.full((*batch, classes), 1 / classes))
    done = 0
    for mark in marks:
        for _step in range(mark - done):
            share, given = _step_of(flat, channels, share, given, cut)
        done = mark
        left, right = _halves(share, given, cut)
        yield (left.swapaxes(-1, -2) @ right).reshape(y.shape) * records


def _step_of(
    flat: Real, channels: Sequence[Channel], share: Real, given: Sequence[Real], cut: int
) -> tuple[Real, list[Real]]:
    """Return the classes' shares and distributions after one step."""
    seen = [mixed(g, [channel]) for g, channel in zip(given, channels, strict=True)]
    left, right = _halves(share, seen, cut)
    odds = flat / at_least(left.swapaxes(-1, -2) @ right, _LEAST)
    halves = left * (right @ odds.swapaxes(-1, -2)), right * (left @ odds)
    records = halves[0].sum(axis=-1)
    new: list[Real] = []
    for a, (channel, g) in enumerate(zip(channels, given, strict=True)):
        inside = seen[:cut] if a < cut else seen[cut:]
        half = halves[0 if a < cut else 1].reshape(*records.shape, *(s.shape[-1] for s in inside))
        mine = margin(half, a if a < cut else a - cut, len(inside))
        true = g * back(mine / at_least(seen[a], _LEAST), [channel])
        new.append(true / total(true, 1))
    return records / total(records, 1), new


def _cut(cells: Sequence[int]) -> int:
    """Return how many attributes make the first group: the two groups' cells together are fewest.

    >>> _cut((15, 9, 16)), _cut((4, 12))
    (2, 1)
    """
    costs = [int(np.prod(cells[:at])) + int(np.prod(cells[at:])) for at in range(1, len(cells))]
    return 1 + int(np.argmin(costs)) if costs else 1


def _halves(share: Real, given: Sequence[Real], cut: int) -> tuple[Real, Real]:
    """Return for each class its product over either group, the first times the class's share."""
    ones = like(share, np.ones((*share.shape, 1)))
    left, right = share[..., None], ones
    for one in given[:cut]:
        left = (left[..., :, None] * one[..., None, :]).reshape(*share.shape, -1)
    for one in given[cut:]:
        right = (right[..., :, None] * one[..., None, :]).reshape(*share.shape, -1)
    return left, right
