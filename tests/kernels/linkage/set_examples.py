"""Sets of items for tests, and the similarity of two by its definition."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noren.kernels.items.packed_sets import CERTAIN, ItemSets, item_sets

Weighted = dict[int, int]
"""A set: each item and its weight, of :data:`CERTAIN`."""


def laid(sets: list[Weighted], items: int, *, sure: bool = False) -> ItemSets:
    """Lay sets end to end."""
    owner = np.array([at for at, one in enumerate(sets) for _ in one], dtype=np.int64)
    item = np.array([what for one in sets for what in one], dtype=np.int64)
    weight = np.array([units for one in sets for units in one.values()], dtype=np.int64)
    return item_sets(owner, item, len(sets), items, None if sure else weight)


def similarity(one: Weighted, other: Weighted) -> Fraction:
    """Return Σ min / Σ max; 0 for two empty sets."""
    every = one.keys() | other.keys()
    larger = sum(max(one.get(i, 0), other.get(i, 0)) for i in every)
    return Fraction(sum(min(one.get(i, 0), other.get(i, 0)) for i in every), larger or 1)


def by_definition(known: list[Weighted], asked: Weighted, candidates: int) -> list[tuple[int, Fraction]]:
    """Return the most similar customers, of equals the lower number first; nobody who shares nothing."""
    every = [(at, similarity(one, asked)) for at, one in enumerate(known)]
    return sorted((pair for pair in every if pair[1]), key=lambda pair: (-pair[1], pair[0]))[:candidates]


def made_up(people: int, items: int, noise: float, seed: int, mean: float = 25.0) -> tuple[ItemSets, ItemSets]:
    """Return sets of skewed sizes and popularity, and the same sets with a share of items dropped and as many added."""
    draw = np.random.Generator(np.random.PCG64(seed))
    sizes = np.minimum(1 + draw.lognormal(np.log(mean) - 0.5, 1.0, people), 0.7 * items).astype(np.int64)
    popular = 1 / (np.arange(items) + 4.0)
    owner = np.repeat(np.arange(people), sizes)
    known = item_sets(owner, draw.choice(items, len(owner), p=popular / popular.sum()), people, items)
    owner = np.repeat(np.arange(people), known.sizes)
    kept, added = draw.random(len(owner)) >= noise, draw.random(len(owner)) < noise
    others = draw.choice(known.item, int(added.sum())).astype(np.int64)
    what = np.concatenate([known.item[kept].astype(np.int64), others])
    return known, item_sets(np.concatenate([owner[kept], owner[added]]), what, people, items)


def all_with_all(known: ItemSets, released: ItemSets, items: int) -> NDArray[np.float64]:
    """Return every similarity: released sets down, customers across; by products of weights with zeros and ones."""

    def matrix(sets: ItemSets) -> NDArray[np.float64]:
        found = np.zeros((len(sets.first) - 1, items))
        found[np.repeat(np.arange(len(found)), sets.sizes), sets.item] = sets.weight
        return found

    overlap = matrix(released) @ (matrix(known) > 0).T
    return overlap / np.maximum(released.total[:, None] + released.unit * known.sizes[None, :] - overlap, 1)


def sure(*items: int) -> Weighted:
    """Return a set of items that are surely there."""
    return dict.fromkeys(items, CERTAIN)
