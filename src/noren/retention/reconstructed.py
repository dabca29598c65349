"""Perturbed records as they were counted, one by one or those that are alike together; and what was reconstructed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole
from noren.kernels.reconstruction.estimates import CellIntervals
from noren.kernels.reconstruction.pairs import Pair, tree_records, whole_cells
from noren.retention.perturbation import LARGEST_TABLE, Perturbation
from noren.tables import Texts

say = Texts(__name__)

_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class ObservedRecords:
    """Perturbed records as codes, an array for each attribute, in the order of the release.

    >>> alike = ObservedRecords([np.array([0, 1]), np.array([1, 1])], (2, 2), np.array([3, 2]))
    >>> alike.rows, alike.table((0, 1)).tolist(), [codes.tolist() for codes in alike.records()]
    (5, [[0.0, 3.0], [0.0, 2.0]], [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1]])
    """

    codes: Sequence[Whole]
    sizes: Sequence[int]
    """How many values each attribute has."""
    counts: Whole | None = None
    """Where an entry stands for several records, which follow each other: how many. Left out, each is one record."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.codes[0]) if self.counts is None else int(self.counts.sum())

    def table(self, some: Sequence[int]) -> Real:
        """Return the table of some attributes."""
        shape = tuple(self.sizes[a] for a in some)
        flat = (
            self.codes[some[0]] if len(some) == 1 else np.ravel_multi_index(tuple(self.codes[a] for a in some), shape)
        )
        return np.bincount(flat, self.counts, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)

    def only(self, some: Sequence[int]) -> ObservedRecords:
        """Return the same records with some of the attributes."""
        return ObservedRecords([self.codes[a] for a in some], [self.sizes[a] for a in some], self.counts)

    def cells(self) -> tuple[Whole, Whole]:
        """Return the cells of the whole table that have records, and how many."""
        flat = np.ravel_multi_index(tuple(self.codes), tuple(self.sizes))
        cells, entry = np.unique(flat, return_inverse=True)
        return cells, np.bincount(entry, self.counts).astype(np.int64)

    def records(self) -> list[Whole]:
        """Return the codes of every single record."""
        return [codes if self.counts is None else np.repeat(codes, self.counts) for codes in self.codes]

    def in_folds(self, folds: int, generator: np.random.Generator) -> Callable[[Sequence[int]], Real]:
        """Deal the records into folds, one after another; return what counts the table of some attributes in each."""
        if self.counts is None:
            fold = generator.integers(0, folds, self.rows)
            with_fold = ObservedRecords([*self.codes, fold], [*self.sizes, folds])
            return lambda some: with_fold.table((-1, *some))
        # how many records of each entry are in each fold: the draws of single records, added up
        shares = np.zeros((folds, len(self.counts)), dtype=np.int64)
        ends = np.cumsum(self.counts)
        for start in range(0, self.rows, _AT_ONCE):
            places = np.arange(start, min(start + _AT_ONCE, self.rows))
            entry = np.searchsorted(ends, places, side="right")
            first, last = int(entry[0]), int(entry[-1]) + 1
            both = (entry - first) * folds + generator.integers(0, folds, len(places))
            shares[:, first:last] += np.bincount(both, minlength=(last - first) * folds).reshape(-1, folds).T
        return lambda some: np.stack([replace(self, counts=of_fold).table(some) for of_fold in shares])


# --- What was reconstructed: a whole table, or of one too large for that its tables of one and of two attributes ------


Model = Literal["none", "em", "independence", "loglinear", "ml", "auto"]


@dataclass(frozen=True)
class Reconstruction(ABC):
    """An estimate of the table before perturbation."""

    perturbation: Perturbation
    """The attributes, and how they were perturbed."""
    model: Model
    made_of: dict[str, float] = field(default_factory=dict, kw_only=True)
    """``model``, ``made_of``: which model, and for ``auto`` what its answer is a mean of."""
    intervals: CellIntervals | None = field(default=None, kw_only=True)
    own_intervals: dict[str, CellIntervals] = field(default_factory=dict, kw_only=True)
    """``intervals``, ``own_intervals``: between which numbers the cells of the table lie, and those of each attribute's
    own, by name; none without a bootstrap, or without such a table.
    """

    @property
    @abstractmethod
    def table(self) -> Real:
        """Records per cell, an axis for each attribute; parts of records too."""

    @abstractmethod
    def margin(self, names: Sequence[str]) -> Real:
        """Return the table of some attributes, in the order of ``names``."""

    @abstractmethod
    def records(self, seed: int = 0) -> pl.DataFrame:
        """Return whole records that add up, in an order that the seed shuffles."""

    @abstractmethod
    def cells(self) -> pl.DataFrame:
        """Return all cells as rows: values, records, and the ends of their intervals if known."""


@dataclass(frozen=True)
class WholeReconstruction(Reconstruction):
    """A table that is held whole: every cell, with its interval after a bootstrap."""

    per_cell: Real

    @property
    def table(self) -> Real:
        """Records per cell."""
        return self.per_cell

    def margin(self, names: Sequence[str]) -> Real:
        """Return the table of some attributes, in the order of ``names``."""
        places = [self.perturbation.names.index(name) for name in names]
        left = [a for a in range(self.table.ndim) if a not in places]
        margin: Real = self.table.sum(axis=tuple(left))
        order = sorted(places)
        return np.transpose(margin, [order.index(p) for p in places])

    def records(self, seed: int = 0) -> pl.DataFrame:
        """Return whole records: cells rounded so that they add up."""
        counts = whole_cells(self.table)
        cells = np.repeat(np.arange(counts.size), counts.ravel())
        np.random.Generator(np.random.Philox(key=seed)).shuffle(cells)
        return self.perturbation.frame([np.asarray(c) for c in np.unravel_index(cells, self.table.shape)])

    def cells(self) -> pl.DataFrame:
        """Return the cross tabulation: a row for each cell, its values, ``records``, and if known ``low``, ``high``."""
        grid = np.unravel_index(np.arange(self.table.size), self.table.shape)
        frame = self.perturbation.frame([np.asarray(c) for c in grid])
        return frame.with_columns(pl.Series("records", self.table.ravel()), *_ends(self.intervals))


@dataclass(frozen=True)
class WideReconstruction(Reconstruction):
    """Tables of one and of two attributes of a table with too many cells, and a tree of pairs to draw records from.

    All tables agree about every attribute. Records have the attributes' own tables and those of the linked pairs;
    what they have of other pairs follows from the links.
    """

    rows: int
    """How many records there are."""
    own: list[Real]
    pairs: dict[Pair, Real]
    """``own``, ``pairs``: the distribution of each attribute, and of each pair, the earlier attribute first."""
    links: list[Pair]
    """The pairs that make the tree."""
    as_seen: list[Whole] | None = None
    """The perturbed records as codes, where the model is to take them as they are."""
    pair_intervals: dict[Pair, CellIntervals] = field(default_factory=dict)
    """Between which numbers the cells of the pairs' tables lie."""

    @property
    def table(self) -> Real:
        """There is none: it would have too many cells."""
        raise ParameterError(say("too_many_cells", cells=self.perturbation.cells, most=LARGEST_TABLE))

    def margin(self, names: Sequence[str]) -> Real:
        """Return the table of one attribute, or of two in the order of ``names``."""
        places = [self.perturbation.names.index(name) for name in names]
        if len(places) == 1:
            return self.own[places[0]] * self.rows
        if len(places) != 2:
            raise ParameterError(say("too_many_attributes"))
        first, second = sorted(places)
        table = self.pairs[first, second] * self.rows
        return table if places[0] == first else table.T

    def records(self, seed: int = 0) -> pl.DataFrame:
        """Return whole records drawn from the tree; the tables of its links are rounded so that they add up."""
        generator = np.random.Generator(np.random.Philox(key=seed))
        if self.as_seen is not None:
            order = generator.permutation(self.rows)
            return self.perturbation.frame([codes[order] for codes in self.as_seen])
        linked = {pair: self.pairs[pair] for pair in self.links}
        return self.perturbation.frame(tree_records(self.own, linked, self.rows, generator))

    def cells(self) -> pl.DataFrame:
        """Return the tables of one attribute, then of two, as rows.

        A row has the names of the attributes, their values as texts (the second is empty in a table of one),
        ``records`` and, where known, ``low`` and ``high``.
        """
        # in place of the second attribute of a table of one stands the last of these, which says nothing
        labels = [*(a.labels() for a in self.perturbation.attributes), [""]]
        names = [*self.perturbation.names, ""]
        tables = [((a, -1), own[:, None], self.own_intervals.get(names[a])) for a, own in enumerate(self.own)]
        tables += [(pair, shares, self.pair_intervals.get(pair)) for pair, shares in self.pairs.items()]
        parts = []
        for (a, b), shares, within in tables:
            down, across = (np.asarray(c) for c in np.unravel_index(np.arange(shares.size), shares.shape))
            columns = {
                "first": pl.Series([names[a]]).extend_constant(names[a], shares.size - 1),
                "first_value": pl.Series(labels[a]).gather(down),
                "second": pl.Series([names[b]]).extend_constant(names[b], shares.size - 1),
                "second_value": pl.Series(labels[b]).gather(across),
                "records": pl.Series((shares * self.rows).ravel()),
            }
            parts.append(pl.DataFrame(columns).with_columns(_ends(within)))
        return pl.concat(parts)


def _ends(within: CellIntervals | None) -> list[pl.Series]:
    if within is None:
        return []
    return [pl.Series("low", within.low.ravel()), pl.Series("high", within.high.ravel())]
