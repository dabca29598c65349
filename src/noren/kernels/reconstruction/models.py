"""Smooth models of a table for held-out records to choose from: paths of estimates, and latent classes.

**Expectation-maximisation as a flow: what many thousands of steps reach, in a few dozen.**
A step of EM moves a table by ``x ← x·(1 + g)`` with ``g = A(y / xA) - 1``. Through strong perturbation g is tiny: what
two attributes have to do with each other is seen by a factor λ (up to about ρ⁴), so a step makes up for λ of what is
missing, and after 500 steps with ρ = 0.1 next to nothing has happened. Followed as a flow ``d log x / dt = g``, a step
of length τ does what τ steps do. It is safe while τ·λ stays below 2 and no cell grows by much; both are watched, and a
step that makes the records less likely is taken again at half the length.

The attributes' own distributions are given and stay as they are: g is centred along every axis, and each step ends with
a sweep of iterative proportional fitting. Time is counted in steps of EM, so that stopping early means what it means
there.

**Latent classes: a table as a mixture of few products, seen through perturbation.**
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

_LEAST = 1e-300
_MOST_GROWTH = 0.5
"""What the logarithm of a cell may grow by in one step."""
_LONGEST = 0.5
"""A step's length times λ: half of what the strongest direction still lacks."""
_HALVINGS = 20
_MOST_STEPS = 300


def fitted(tables: Real, own: Sequence[Real], sweeps: int = 2) -> Real:
    """Return tables whose attributes have the given distributions, near enough.

    >>> fitted(np.ones((1, 2, 2)), [np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]])])[0].tolist()
    [[1.5, 1.5], [0.5, 0.5]]
    """
    size = len(own)
    for _sweep in range(sweeps):
        for a, wanted in enumerate(own):
            now = margin(tables, a, size)
            factor = wanted * (total(now, 1) / at_least(now, _LEAST))
            tables = tables * factor.reshape(*tables.shape[:-size], *(-1 if b == a else 1 for b in range(size)))
    return tables


def second_correlation(own: Real, channel: Channel, rounds: int = 60) -> float:
    """Return λ of one attribute: the largest share of a difference between values that is seen after perturbation.

    It is the square of the largest correlation that a function of the value and a function of what is seen can have,
    found by repeated application: functions lose their mean, go through the channel and back.

    >>> round(second_correlation(np.array([0.5, 0.5]), 0.3), 6)
    0.09
    """
    shares = own / total(own, 1)
    seen = np.maximum(mixed(shares, [channel]), _LEAST)
    at = np.linspace(-1.0, 1.0, len(shares)) + np.cos(
        np.arange(len(shares))
    )  # any function that no value is left out of
    found = 0.0
    for _round in range(rounds):
        at = at - float((shares * at).sum())
        length = float(np.sqrt((shares * at * at).sum()))
        if length < _LEAST:
            return 0.0
        at = at / length
        at = back(mixed(shares * at, [channel]) / seen, [channel])
        found = float(np.sqrt((shares * at * at).sum()))
    return found


def flow_path(
    y: Real,
    channels: Sequence[Channel],
    start: Real,
    own: Sequence[Real],
    marks: Sequence[float],
    strongest: float,
) -> Iterator[Real]:
    """Yield the estimates after ``marks`` steps' worth of flow from ``start``.

    Parameters
    ----------
    y, start
        The perturbed table and the first estimate, of as many records; axes before the attributes' hold several tables.
    own
        The attributes' own distributions, which ``start`` has.
    strongest
        λ of the strongest direction: of two attributes, the product of theirs.
    """
    longest, records = _LONGEST / max(strongest, _LEAST), total(start, len(channels))
    x, now, left, bold = start, 0.0, _MOST_STEPS, longest
    seen, score = _seen(x, y, channels)
    for mark in marks:
        while left > 0 and now < mark * (1 - 1e-12):
            slope = _centred(back(y / seen, channels) - 1, x, len(channels))
            step = min(mark - now, bold, _MOST_GROWTH / max(float(slope.max()), _LEAST))
            for _try in range(_HALVINGS):
                new = fitted(x * np.exp(np.maximum(step * slope, -50.0)), own, 1)
                new = new * (records / total(new, len(channels)))
                new_seen, new_score = _seen(new, y, channels)
                if new_score >= score - 1e-12 * abs(score):
                    break
                bold = step = step / 2
            else:
                left = 0  # as likely as this gets
                break
            x, seen, score = new, new_seen, new_score
            now, left, bold = now + step, left - 1, min(1.2 * bold, longest)
        yield x


def _seen(x: Real, y: Real, channels: Sequence[Channel]) -> tuple[Real, float]:
    """Return the expected perturbed table, and how likely it makes the seen one."""
    seen: Real = np.maximum(mixed(x, channels), _LEAST)
    return seen, float((y * np.log(seen)).sum())


def _centred(slope: Real, x: Real, attributes: int, sweeps: int = 2) -> Real:
    """Return the slope without what it would do to any attribute's own distribution."""
    for _sweep in range(sweeps):
        for axis in range(attributes):
            others = tuple(b - attributes for b in range(attributes) if b != axis)
            weight = np.maximum(x.sum(axis=others, keepdims=True), _LEAST)
            slope = slope - (x * slope).sum(axis=others, keepdims=True) / weight
    return slope


# --- Latent classes: a table as a mixture of few products, seen through perturbation ----------------------------------


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
