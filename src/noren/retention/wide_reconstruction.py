"""Reconstruction of tables with too many cells: their tables of one and of two attributes, and records from a tree.

Nothing here grows with the number of cells of the whole table: each attribute and each pair has its own channel,
whatever the others are, so their perturbed tables are counted from the records and worked out by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.reconstruction.estimates import independent, product
from noren.kernels.reconstruction.intervals import CellIntervals, cell_intervals
from noren.kernels.reconstruction.pairs import FOLDS, margins
from noren.progress import Progress, silent
from noren.retention.perturbation import Perturbation
from noren.retention.reconstructed import Model, WideReconstruction

__all__ = ["WIDE_MODELS", "reconstruct_widely"]

WIDE_MODELS: tuple[Model, ...] = ("none", "independence", "auto")
"""Models that need no table of all attributes."""


def reconstruct_widely(
    made: Perturbation,
    codes: Sequence[Whole],
    model: Model,
    *,
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> WideReconstruction:
    """Estimate the tables of one and of two attributes, from perturbed records as codes.

    ``auto`` works out every pair (see :mod:`noren.kernels.reconstruction.pairs`), ``independence`` no pair, ``none``
    takes the tables as they were released. The other models are of whole tables.
    """
    if model not in WIDE_MODELS:
        raise ParameterError(
            _("{model} works on a whole table, and this one would have {cells:,} cells").format(
                model=model, cells=made.cells
            ),
            _("use --model auto or independence, or name some of the attributes (--attributes)"),
        )
    share = 1 / 2 if bootstrap else 1.0
    found = _estimate(made, codes, model, _generator(seed, 0), lambda done: progress(done * share, _("reconstructing")))
    if not bootstrap:
        return found
    generator, seen = _generator(seed, 1 << 32), _counted(codes, made.sizes)
    within: dict[tuple[int, ...], CellIntervals] = {}
    tables = {(a,): own for a, own in enumerate(found.own)} | dict(found.pairs)
    for at, (some, shares) in enumerate(tables.items(), start=1):
        channels = [made.channels[a] for a in some]
        within[some] = cell_intervals(seen(some), channels, shares * found.rows, generator, bootstrap)
        progress((1 + at / len(tables)) / 2, _("drawing again"))
    own = {name: within[a,] for a, name in enumerate(made.names)}
    return replace(found, own_intervals=own, pair_intervals={pair: within[pair] for pair in found.pairs})


def _generator(seed: int, draw: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, draw]))


def _estimate(
    made: Perturbation,
    codes: Sequence[Whole],
    model: Model,
    generator: np.random.Generator,
    report: Callable[[float], None],
) -> WideReconstruction:
    rows, sizes = len(codes[0]), made.sizes
    if model == "auto":
        fold = generator.integers(0, FOLDS, rows)
        found = margins(lambda some: _tables(codes, sizes, some, fold, FOLDS), made.channels, sizes, report)
        clear = sorted((-share, pair) for pair, share in found.dependence.items() if share >= 0.01)
        made_of = {" × ".join(made.names[a] for a in pair): -share for share, pair in clear}
        own, pairs = [one[-1] for one in found.own], {pair: table[-1] for pair, table in found.pairs.items()}
        return WideReconstruction(made, model, rows, own, pairs, found.links, made_of=made_of)
    counted = _counted(codes, sizes)

    def seen(some: tuple[int, ...]) -> Real:
        return counted(some) / max(rows, 1)

    every = list(combinations(range(len(sizes)), 2))
    if model == "none":
        own = [seen((a,)) for a in range(len(sizes))]
        return WideReconstruction(made, model, rows, own, {pair: seen(pair) for pair in every}, [], list(codes))
    own = [independent(seen((a,)), [channel]) for a, channel in enumerate(made.channels)]
    apart = {(a, b): product([own[a], own[b]]) for a, b in every}
    return WideReconstruction(made, model, rows, own, apart, [(a, a + 1) for a in range(len(sizes) - 1)])


def _counted(codes: Sequence[Whole], sizes: Sequence[int]) -> Callable[[tuple[int, ...]], Real]:
    """Return what counts the table of some attributes."""
    none = np.zeros(len(codes[0]), dtype=np.int64)

    def counted(some: tuple[int, ...]) -> Real:
        counts: Real = _tables(codes, sizes, some, none, 1)[0]
        return counts

    return counted


def _tables(codes: Sequence[Whole], sizes: Sequence[int], some: tuple[int, ...], fold: Whole, folds: int) -> Real:
    """Return the table of some attributes in each fold."""
    shape = (folds, *(sizes[a] for a in some))
    flat = np.ravel_multi_index((fold, *(codes[a] for a in some)), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
