"""Which reconstruction is best, asked of the perturbed records alone.

The records are dealt into folds. Every candidate is made of all folds but one and judged by how likely it makes the
records of that one, perturbation included. No original is looked at, so this is post-processing and costs no privacy.

**Attributes first.** Each attribute's own distribution is worked out by itself: the paths that start uniform and are
stopped after more or fewer steps, their mean weighing each by how well it foretold. Then come the candidates for what
attributes have to do with each other, all of them fitted to these distributions.

**What is barely seen must be paid for.** Through perturbation a distribution shows by ρ², two attributes' dependence by
ρ⁴: a table may be wrong by a fifth and be hardly less likely. So attributes are held to be independent unless the best
candidate foretells better by some nats, and by a part of a nat for each degree of freedom. An attribute of which most
records have one value has few of them; they are counted as its perplexity less one.

**The mean.** The answer is the geometric mean of the candidates, each weighing the more the better it foretold; and
between that and independence, by how clear the dependence is. Where several do equally well their mean is steadier than
any of them, and a cell that good candidates hold to be empty stays near empty, as it would not in an arithmetic mean:
tables of people are mostly empty cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from noren.kernels.arrays import Place, Real, at_least, library_of, plain, where_it_is
from noren.kernels.reconstruction.estimates import em_path, fitted, latent_path, margin, pairs, product, total
from noren.kernels.reconstruction.retention import Channel, mixed

_STEPS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_ENOUGH = 8
"""An attribute's path goes on for so many times 1/ρ² steps."""
_MOST_OWN_STEPS = 1 << 15
_LATENT_STEPS = (25, 50, 100, 200, 400, 800, 1600)
_CLASSES = (2, 3, 4, 6, 8, 12, 16, 24)
_STARTS = 2
_FOLDS = 10
_PATIENCE = 4.0
"""By how many nats of held-out likelihood a candidate's weight falls to 1/e."""
_OWN_COST, _JOINT_COST = 0.4, 0.15
"""Nats for each degree of freedom of an attribute's own distribution, and of what attributes have in common."""
_ENTRY = 4.5
"""Nats for leaving independence at all."""
_LEAST = 1e-300
_EMPTY = 1e-12
"""A cell that is empty, in records, where logarithms are taken."""
_LARGE, _HUGE = 5_000, 200_000
"""Cells from which fewer candidates are tried: beyond the first one start and half the folds, beyond the second no
latent classes and few steps."""


@dataclass(frozen=True)
class ModelCandidate:
    """One reconstruction: how well it foretold, its degrees of freedom beyond the attributes' own, and itself."""

    name: str
    score: float
    freedom: float
    table: Real


@dataclass(frozen=True)
class Chosen:
    """A reconstruction, and what it was made of."""

    table: Real
    """The estimate."""
    weights: dict[str, float]
    """What each candidate weighs, by name, the heaviest first; those under 1 % left out."""


def weighed(models: Sequence[ModelCandidate]) -> Chosen:
    """Return the geometric mean of candidates, of which the first is independence."""
    each, size = shares(models), models[0].table.ndim
    order = np.argsort(-np.array(each), kind="stable").tolist()
    heavy = {models[i].name: each[i] for i in order if each[i] >= 0.01}
    return Chosen(geometric_mean([model.table for model in models], each, size), heavy)


def shares(models: Sequence[ModelCandidate]) -> list[float]:
    """Return what each candidate weighs; the first is the one that others must be clearly better than."""
    alone, others = models[0], models[1:]
    if not others:
        return [1.0]
    best = max(model.score - _JOINT_COST * model.freedom for model in others) - _ENTRY
    apart = 1 / (1 + float(np.exp(np.clip(best - alone.score, -500, 500))))
    score = np.array([model.score for model in others])
    weight = np.exp((score - score.max()) / _PATIENCE)
    return [apart, *((1 - apart) * weight / weight.sum()).tolist()]


def geometric_mean(tables: Sequence[Real], each: Sequence[float], attributes: int) -> Real:
    """Return the weighed geometric mean of tables, of as many records as the first has."""
    answer = np.zeros_like(tables[0])
    for share, table in zip(each, tables, strict=True):
        answer += share * np.log(np.maximum(table, _EMPTY))
    answer = np.exp(answer)
    scaled: Real = answer * (total(tables[0], attributes) / total(answer, attributes))
    return scaled


def random_folds(y: Real, generator: np.random.Generator, folds: int | None = None) -> Real:
    """Deal the records of a table into folds at random: every record goes to each with the same chance.

    Returns the folds that have records, one after another along the first axis; one fold where nobody has any.

    >>> random_folds(np.array([5.0, 0.0, 7.0]), np.random.default_rng(1), 3).sum(axis=0).tolist()
    [5.0, 0.0, 7.0]
    """
    folds = folds or (_FOLDS if y.size <= _LARGE else _FOLDS // 2)
    counts = generator.multinomial(np.rint(y).astype(np.int64).ravel(), np.full(folds, 1 / folds))
    parts = [counts[:, fold].reshape(y.shape).astype(np.float64) for fold in range(folds)]
    return np.stack([part for part in parts if part.any()] or [np.zeros_like(y)])


def folds_left_out(parts: Real) -> Real:
    """Return the table without each of the folds ``parts``, followed by that of all records."""
    whole = parts.sum(axis=0)
    return np.concatenate([whole - parts, whole[None]])


def candidates(
    parts: Real,
    channels: Sequence[Channel],
    generator: np.random.Generator,
    report: Callable[[float], None] = lambda _done: None,
    place: Place = where_it_is,
) -> list[ModelCandidate]:
    """Return every candidate with its score; the first is the product of the attributes' own distributions.

    ``parts`` are the tables of the folds; ``place`` puts arrays where the work on whole tables is done.
    """
    y, without = parts.sum(axis=0), folds_left_out(parts)
    own = [own_distributions(margin(without, a, y.ndim), margin(parts, a, y.ndim), c) for a, c in enumerate(channels)]
    channels = [c if isinstance(c, float | int) else place(c) for c in channels]
    parts, without, own = place(parts), place(without), [place(marginal) for marginal in own]
    apart = product(own) * total(without, y.ndim)

    models = [judged("independent", 0.0, apart, parts, channels)]
    if y.ndim == 1:
        return models
    paths = _paths(without, channels, own, apart, int(generator.integers(1 << 62)))
    for at, (name, marks, path, freedoms) in enumerate(paths):
        for mark, tables in zip(marks, path, strict=True):
            spent = sum(free * float(reached(rate, mark)) for free, rate in freedoms)
            models.append(judged(f"{name}, {mark}", spent, fitted(tables, own), parts, channels))
        report((at + 1) / len(paths))
    return models


def judged(name: str, freedom: float, tables: Real, parts: Real, channels: Sequence[Channel]) -> ModelCandidate:
    """Return a candidate with the likelihood of each fold's records under the table that was made without them."""
    expected = mixed(tables[:-1] / total(tables[:-1], parts.ndim - 1), channels)
    score = float((parts * library_of(parts).log(at_least(expected, _LEAST))).sum())
    return ModelCandidate(name, score, freedom, plain(tables[-1]))


def own_distributions(seen: Real, parts: Real, channel: Channel) -> Real:
    """Return one attribute's own distribution in each table, the last of which is of all records."""
    steps = [0, *_STEPS]
    if isinstance(channel, float | int):  # until what is seen, by ρ² in a step, is made up for
        # (of a matrix steps are dear, and ρ is not what its speed depends on)
        while steps[-1] < min(_ENOUGH / max(channel * channel, _LEAST), _MOST_OWN_STEPS):
            steps.append(2 * steps[-2])
    estimates = list(em_path(seen, [channel], np.ones_like(seen), steps))
    expected = [mixed(x[:-1] / total(x[:-1], 1), [channel]) for x in estimates]
    score = np.array([float((parts * np.log(np.maximum(e, _LEAST))).sum()) for e in expected])
    size = seen.shape[-1]
    score -= _OWN_COST * (size - 1) * reached(kept_share(channel, size) ** 2, np.array(steps))
    weight = np.exp(score - score.max())
    mean = np.tensordot(weight / weight.sum(), np.stack(estimates), 1)
    mean = np.where(total(mean, 1) > _LEAST, mean, 1.0)  # without records, all values are alike
    own: Real = mean / total(mean, 1)
    return own


def kept_share(channel: Channel, size: int) -> float:
    """Return ρ of a channel; of a matrix, the ρ that would keep as many records where they are.

    >>> round(kept_share(np.array([[0.75, 0.25], [0.25, 0.75]]), 2), 6)
    0.5
    """
    return float(channel) if isinstance(channel, float | int) else float((channel.trace() - 1) / (size - 1))


def perplexity(shares: Real) -> float:
    """Return how many equally likely values would be as hard to foretell.

    >>> perplexity(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    shares = plain(shares)
    return float(np.exp(-(shares * np.log(np.maximum(shares, _LEAST))).sum()))


def reached(rate: float, steps: Real | float) -> Real:
    """Return how far steps go towards maximum likelihood: each covers ``rate`` of what is left."""
    return 1 - np.power(1 - rate, np.asarray(steps, dtype=np.float64))


_Path = tuple[str, tuple[int, ...], Iterator[Real], list[tuple[float, float]]]
"""Its name, its steps, the tables after them, and its degrees of freedom: how many, and how fast each is reached."""


def _paths(tables: Real, channels: Sequence[Channel], own: Sequence[Real], apart: Real, seed: int) -> list[_Path]:
    """Return the candidates beyond independence."""
    shape = tables.shape[1:]
    cells, size = int(np.prod(shape)), len(shape)
    steps = _STEPS if cells <= _HUGE else _STEPS[:8]
    freedoms = [perplexity(marginal[-1]) - 1 for marginal in own]
    rates = [kept_share(c, m) ** 2 for c, m in zip(channels, shape, strict=True)]
    every = [attributes for count in range(2, size + 1) for attributes in combinations(range(size), count)]
    two_way = pairs(size)
    uniform = library_of(tables).ones_like(tables)
    ways: list[tuple[str, Real, list[tuple[int, ...]] | None]] = [
        ("em", uniform, None),
        ("em from independence", apart, None),
    ]
    if size > 2:
        ways += [("two-way from uniform", uniform, two_way), ("two-way", apart, two_way)]
        about = {centre: [pair for pair in two_way if centre in pair] for centre in range(size)}
        ways += [(f"two-way about {centre}", apart, attributes) for centre, attributes in about.items()]
    paths: list[_Path] = []
    for name, start, attributes in ways:
        free = [(_product(freedoms, some), _product(rates, some)) for some in attributes or every]
        paths.append((name, steps, em_path(tables, channels, start, steps, attributes), free))
    if cells <= _HUGE:
        # two attributes are exactly a mixture of as many classes as the smaller has values
        most = min(shape) if size == 2 else max(_CLASSES)
        starts = _STARTS if cells <= _LARGE else 1
        for classes in (c for c in _CLASSES if c <= most):
            freedom = [((classes - 1) * sum(freedoms), float(np.mean([_product(rates, pair) for pair in two_way])))]
            for number in range(starts):
                draws = np.random.Generator(np.random.Philox(key=seed + 1000 * number + classes))
                way = latent_path(tables, channels, classes, _LATENT_STEPS, draws, own)
                paths.append((f"{classes} latent classes, start {number}", _LATENT_STEPS, way, freedom))
    return paths


def _product(values: Sequence[float], places: Sequence[int]) -> float:
    return float(np.prod([values[a] for a in places]))
