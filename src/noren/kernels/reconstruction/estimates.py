"""What the table was before perturbation (S4): estimates from the perturbed table and its channels alone.

A table is an array with an axis for each attribute; y is the perturbed one, x the estimate, both of n records. Axes
before those of the attributes stand for several tables that are worked on at once.

**Expectation-maximisation** (the paper's, iterative Bayes). Given x, a record seen in cell j came from cell i with
probability ``x_i·A_ij / (xA)_j``; adding up, ``x ← x ∗ A(y / xA)``. Each step raises the likelihood of y. Run to the
end it is the maximum-likelihood table, which for few records is far too rough: it explains the noise. Three remedies,
each a *path* of estimates from smooth to rough:

- **stop early**, from a smooth start: the uniform table or the product of the attributes' own distributions;
- **some interactions only**: after each step x is fitted to given margins of the step's answer, by one sweep of
  iterative proportional fitting, so that x stays a log-linear model without other interactions;
- **latent classes**: x is a mixture of few products (below).

Which path, and how far, is a question to the perturbed records: see :mod:`noren.kernels.reconstruction.held_out`.

**Between which numbers a cell of the table before perturbation lies, with 95 %.**
The spread of a reconstruction under data drawn from itself tells too little: a model that holds attributes to be
independent holds them to be so in every draw, and is steadily wrong. So the interval is about a rough answer that
leaves nothing out, the table that makes the perturbed one likeliest
(:func:`maximum_likelihood`), and is widened until it holds the model's answer.

How wrong the rough answer is, is tried on tables that are known: perturbed tables are drawn from it, and from the table
halfway to the model's answer (a cell at 0 shows no error when drawn from itself), each is reconstructed roughly, and
the larger of both root mean squares, bias included, counts, times Student's 97.5 % for so many draws.

There is no proof that this covers; ``benchmarks/bench_reconstruction_intervals.py`` prints how often it does.

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from scipy.special import stdtrit

from noren.kernels.arrays import Place, Real, at_least, library_of, like, plain, summed, where_it_is
from noren.kernels.reconstruction.retention import Channel, back, mixed

_LEAST = 1e-300
_FLOOR = 1e-9
"""A cell's least start, as a share of the uniform one: a cell at 0 would stay there."""


def total(y: Real, attributes: int) -> Real:
    """Return the number of records of each table, in a shape that divides it."""
    records: Real = at_least(y.sum(axis=tuple(range(-attributes, 0)), keepdims=True), _LEAST)
    return records


def em_step(x: Real, y: Real, channels: Sequence[Channel]) -> Real:
    """Return the next estimate.

    >>> import numpy as np
    >>> em_step(np.array([2.0, 2.0]), np.array([3.0, 1.0]), [0.5]).tolist()
    [2.5, 1.5]
    """
    answer: Real = x * back(y / at_least(mixed(x, channels), _LEAST), channels)
    return answer


def expectation_maximisation(
    y: Real, channels: Sequence[Channel], epsilon: float, most: int = 100_000
) -> tuple[Real, int]:
    """Return the paper's estimate, from x = y until a step moves less than ``epsilon`` per record; and its steps.

    (The paper prints the loop's condition reversed.)
    """
    x, records = y, max(float(y.sum()), 1.0)
    for step in range(1, most + 1):
        new = em_step(x, y, channels)
        change = float(abs(new - x).sum()) / records
        x = new
        if change < epsilon:
            return x, step
    return x, most


def maximum_likelihood(
    y: Real, channels: Sequence[Channel], tolerance: float = 1e-9, most: int = 20_000
) -> tuple[Real, int]:
    """Return the table that makes y likeliest, by accelerated steps; and how many plain steps it took.

    Two steps give a direction r and its change v; the jump ``x - 2αr + α²v`` with ``α = -|r|/|v|`` goes where plain
    steps would go in many (SQUAREM, Varadhan & Roland 2008). Cells that a jump would take below 0 are held just above
    it, and a jump that lowers the likelihood is taken back. It ends where one more step moves less than ``tolerance``
    of a record per record; the likelihood is concave, so this is the maximum and not one of several.
    """
    records = max(float(y.sum()), 1.0)
    library = library_of(y)
    x = _started(library.ones_like(y), y, y.ndim)
    score, done = log_likelihood(y, x, channels), 0
    while done < most:
        first = em_step(x, y, channels)
        second = em_step(first, y, channels)
        done += 2
        r, v = first - x, second - first - (first - x)
        if float(abs(second - first).sum()) / records < tolerance:
            return second, done
        length = float(library.sqrt((v * v).sum()))
        alpha = min(-1.0, -float(library.sqrt((r * r).sum())) / length) if length > 0 else -1.0
        jumped = library.maximum(x - 2 * alpha * r + alpha * alpha * v, first * 1e-3)
        jumped = em_step(jumped * (records / jumped.sum()), y, channels)
        done += 1
        reached = log_likelihood(y, jumped, channels)
        if reached < score:
            jumped, reached = second, log_likelihood(y, second, channels)
        x, score = jumped, reached
    return x, done


def log_likelihood(y: Real, x: Real, channels: Sequence[Channel]) -> float:
    """Return the logarithm of the chance that records of the table x are seen as y, but for a constant."""
    expected = mixed(x / max(float(x.sum()), _LEAST), channels)
    return float((y * library_of(y).log(at_least(expected, _LEAST))).sum())


def _started(start: Real, y: Real, attributes: int) -> Real:
    share = start / total(start, attributes)
    lifted = at_least(share, _FLOOR / prod(start.shape[-attributes:]))
    answer: Real = lifted * (total(y, attributes) / total(lifted, attributes))
    return answer


def em_path(
    y: Real,
    channels: Sequence[Channel],
    start: Real,
    marks: Sequence[int],
    interactions: Sequence[tuple[int, ...]] | None = None,
) -> Iterator[Real]:
    """Yield the estimates after ``marks`` steps from ``start``.

    Given interactions, a log-linear model: steps keep those of the given sets of attributes alone.
    """
    size = len(channels)
    x, done = _started(start, y, size), 0
    others = [tuple(a - size for a in range(size) if a not in attributes) for attributes in interactions or ()]
    for mark in marks:
        for _step in range(mark - done):
            wanted = em_step(x, y, channels)
            if interactions is None:
                x = wanted
            for axes in others:
                now = summed(x, axes, keepdims=True)
                x = x * (summed(wanted, axes, keepdims=True) / at_least(now, _LEAST))
        done = mark
        yield x


def pairs(attributes: int) -> list[tuple[int, ...]]:
    """Return all interactions of two attributes.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(attributes), 2))


def margin(y: Real, axis: int, attributes: int) -> Real:
    """Return the table of one attribute.

    >>> import numpy as np
    >>> margin(np.array([[1.0, 2.0], [3.0, 4.0]]), 1, 2).tolist()
    [4.0, 6.0]
    """
    table: Real = summed(y, [a - attributes for a in range(attributes) if a != axis])
    return table


def product(own: Sequence[Real]) -> Real:
    """Return the table of independent attributes, of their distributions (last axis; axes before: several tables).

    >>> import numpy as np
    >>> product([np.array([0.5, 0.5]), np.array([0.25, 0.75])]).tolist()
    [[0.125, 0.375], [0.125, 0.375]]
    """
    x = own[0]
    for at, shares in enumerate(own[1:], start=1):
        x = x[..., None] * shares.reshape(*shares.shape[:-1], *(1,) * at, -1)
    return x


def independent(y: Real, channels: Sequence[Channel], steps: int = 500) -> Real:
    """Return the product of the attributes' own distributions, each after ``steps`` steps from the uniform one.

    >>> import numpy as np
    >>> independent(np.array([[4.0, 0.0], [0.0, 4.0]]), [1.0, 1.0]).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    size, own = len(channels), []
    for a, channel in enumerate(channels):
        seen = margin(y, a, size)
        x = next(em_path(seen, [channel], library_of(seen).ones_like(seen), [steps]))
        own.append(x / total(x, 1))
    answer: Real = product(own) * total(y, size)
    return answer


# --- Between which numbers a cell of the table before perturbation lies, with 95 % ------------------------------------


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

    ``draws`` perturbed tables are drawn from each of the two tables that errors are tried on; ``place`` puts arrays
    where the work on whole tables is done.
    """

    def rough_of(table: Real) -> Real:
        placed = [c if isinstance(c, float | int) else place(c) for c in channels]
        likeliest: Real = plain(maximum_likelihood(place(table), placed, _TOLERANCE, _STEPS)[0])
        return likeliest

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


# --- Expectation-maximisation as a flow: what many thousands of steps reach, in a few dozen --------------------------


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
    correlation = 0.0
    for _round in range(rounds):
        at = at - float((shares * at).sum())
        length = float(np.sqrt((shares * at * at).sum()))
        if length < _LEAST:
            return 0.0
        at = at / length
        at = back(mixed(shares * at, [channel]) / seen, [channel])
        correlation = float(np.sqrt((shares * at * at).sum()))
    return correlation


def flow_path(
    y: Real, channels: Sequence[Channel], start: Real, own: Sequence[Real], marks: Sequence[float], strongest: float
) -> Iterator[Real]:
    """Yield the estimates after ``marks`` steps' worth of flow from ``start``.

    ``start`` has the attributes' ``own`` distributions and as many records as ``y``; axes before the attributes' hold
    several tables. ``strongest`` is λ of the strongest direction: of two attributes, the product of theirs.
    """
    size = len(channels)
    others = [tuple(b - size for b in range(size) if b != axis) for axis in range(size)]
    longest, records = _LONGEST / max(strongest, _LEAST), total(start, size)
    x, now, left, bold = start, 0.0, _MOST_STEPS, longest
    seen, score = _seen(x, y, channels)
    for mark in marks:
        while left > 0 and now < mark * (1 - 1e-12):
            slope = back(y / seen, channels) - 1
            for axes in 2 * others:  # what it would do to an attribute's own distribution is taken off, in two sweeps
                weight = np.maximum(x.sum(axis=axes, keepdims=True), _LEAST)
                slope = slope - (x * slope).sum(axis=axes, keepdims=True) / weight
            step = min(mark - now, bold, _MOST_GROWTH / max(float(slope.max()), _LEAST))
            for _try in range(_HALVINGS):
                new = fitted(x * np.exp(np.maximum(step * slope, -50.0)), own, 1)
                new = new * (records / total(new, size))
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
    # how many attributes make the first group: the two groups' cells together are fewest
    costs = [int(np.prod(cells[:at])) + int(np.prod(cells[at:])) for at in range(1, size)]
    cut = 1 + int(np.argmin(costs)) if costs else 1
    flat = y.reshape(*batch, int(np.prod(cells[:cut])), -1)
    class_shares = []
    for shares, values in zip(own, cells, strict=True):
        noisy = shares[..., None, :] * like(y, generator.gamma(2.0, 0.5, (classes, values)))
        class_shares.append(noisy / total(noisy, 1))
    share = like(y, np.full((*batch, classes), 1 / classes))
    done = 0
    for mark in marks:
        for _step in range(mark - done):
            seen = [mixed(g, [channel]) for g, channel in zip(class_shares, channels, strict=True)]
            left, right = _halves(share, seen, cut)
            odds = flat / at_least(left.swapaxes(-1, -2) @ right, _LEAST)
            halves = left * (right @ odds.swapaxes(-1, -2)), right * (left @ odds)
            each = halves[0].sum(axis=-1)
            new = []
            for a, (channel, g) in enumerate(zip(channels, class_shares, strict=True)):
                inside = seen[:cut] if a < cut else seen[cut:]
                half = halves[0 if a < cut else 1].reshape(*each.shape, *(s.shape[-1] for s in inside))
                mine = margin(half, a if a < cut else a - cut, len(inside))
                true = g * back(mine / at_least(seen[a], _LEAST), [channel])
                new.append(true / total(true, 1))
            share, class_shares = each / total(each, 1), new
        done = mark
        left, right = _halves(share, class_shares, cut)
        yield (left.swapaxes(-1, -2) @ right).reshape(y.shape) * records


def _halves(share: Real, class_shares: Sequence[Real], cut: int) -> tuple[Real, Real]:
    """Return for each class its product over either group, the first times the class's share."""
    ones = like(share, np.ones((*share.shape, 1)))
    left, right = share[..., None], ones
    for shares in class_shares[:cut]:
        left = (left[..., :, None] * shares[..., None, :]).reshape(*share.shape, -1)
    for shares in class_shares[cut:]:
        right = (right[..., :, None] * shares[..., None, :]).reshape(*share.shape, -1)
    return left, right
