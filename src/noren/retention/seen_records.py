"""Perturbed records as they were counted: one by one, or those that are alike together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["SeenRecords"]

_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SeenRecords:
    """Perturbed records as codes, an array for each attribute, in the order of the release.

    Attributes
    ----------
    sizes
        How many values each attribute has.
    counts
        Where an entry stands for several records, which follow each other: how many. Left out, each is one record.

    Examples
    --------
    >>> alike = SeenRecords([np.array([0, 1]), np.array([1, 1])], (2, 2), np.array([3, 2]))
    >>> alike.rows, alike.table((0, 1)).tolist(), [codes.tolist() for codes in alike.records()]
    (5, [[0.0, 3.0], [0.0, 2.0]], [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1]])
    """

    codes: Sequence[Whole]
    sizes: Sequence[int]
    counts: Whole | None = None

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.codes[0]) if self.counts is None else int(self.counts.sum())

    def table(self, some: Sequence[int]) -> Real:
        """Return the table of some attributes."""
        return self._counted(some, self.counts)

    def only(self, some: Sequence[int]) -> SeenRecords:
        """Return the same records with some of the attributes."""
        return SeenRecords([self.codes[a] for a in some], [self.sizes[a] for a in some], self.counts)

    def cells(self) -> tuple[Whole, Whole]:
        """Return the cells of the whole table that have records, and how many."""
        flat = np.ravel_multi_index(tuple(self.codes), tuple(self.sizes))
        cells, entry = np.unique(flat, return_inverse=True)
        return cells, np.bincount(entry, self.counts).astype(np.int64)

    def records(self) -> list[Whole]:
        """Return the codes of every single record."""
        return [codes if self.counts is None else np.repeat(codes, self.counts) for codes in self.codes]

    def dealt(self, folds: int, generator: np.random.Generator) -> Callable[[Sequence[int]], Real]:
        """Deal the records into folds, one after another; return what counts the table of some attributes in each."""
        if self.counts is None:
            fold = generator.integers(0, folds, self.rows)
            return lambda some: self._counted(some, None, fold, folds)
        shares = self._dealt(self.counts, folds, generator)
        return lambda some: np.stack([self._counted(some, of_fold) for of_fold in shares])

    def _dealt(self, counts: Whole, folds: int, generator: np.random.Generator) -> Whole:
        """Return how many records of each entry are in each fold: the draws of single records, added up."""
        found = np.zeros((folds, len(counts)), dtype=np.int64)
        ends = np.cumsum(counts)
        for start in range(0, self.rows, _AT_ONCE):
            places = np.arange(start, min(start + _AT_ONCE, self.rows))
            entry = np.searchsorted(ends, places, side="right")
            first, last = int(entry[0]), int(entry[-1]) + 1
            both = (entry - first) * folds + generator.integers(0, folds, len(places))
            found[:, first:last] += np.bincount(both, minlength=(last - first) * folds).reshape(-1, folds).T
        return found

    def _counted(
        self, some: Sequence[int], counts: Whole | None, fold: Whole | None = None, folds: int | None = None
    ) -> Real:
        shape = tuple(self.sizes[a] for a in some)
        codes = tuple(self.codes[a] for a in some)
        if fold is not None and folds is not None:
            shape, codes = (folds, *shape), (fold, *codes)
        flat = np.ravel_multi_index(codes, shape)
        return np.bincount(flat, counts, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
