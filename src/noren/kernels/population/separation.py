"""How far columns tell rows apart: distinction and separation (Motwani and Xu 2007)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Whole

__all__ = ["Separation", "separation"]


class Separation(NamedTuple):
    """How far a set of columns tells rows apart.

    Attributes
    ----------
    distinction
        Different combinations of values, over rows.
    separation
        The share of pairs of rows that differ in a column.
    alone
        The share of rows whose combination no other has.
    """

    distinction: float
    separation: float
    alone: float


def separation(classes: Whole) -> Separation:
    """Return how far classes tell rows apart.

    Of four rows two are alike: three combinations, five of six pairs, two rows alone.

    >>> separation(np.array([0, 0, 1, 2]))
    Separation(distinction=0.75, separation=0.8333333333333334, alone=0.5)
    """
    rows = len(classes)
    sizes = np.bincount(classes)
    sizes = sizes[sizes > 0].astype(np.float64)
    pairs = rows * (rows - 1) / 2
    alike = float((sizes * (sizes - 1)).sum() / 2)
    return Separation(
        len(sizes) / rows if rows else 0.0,
        1 - alike / pairs if pairs else 0.0,
        float((sizes == 1).sum()) / rows if rows else 0.0,
    )
