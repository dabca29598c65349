"""Random numbers for attackers: the same for a seed on every machine and in every version of numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["uniform"]


def uniform(count: int, seed: int) -> NDArray[np.float64]:
    """Return ``count`` numbers from 0 to below 1, from the raw stream of Philox, which numpy promises to keep.

    >>> bool((uniform(3, seed=1) == uniform(5, seed=1)[:3]).all())
    True
    """
    raw: NDArray[np.uint64] = np.random.Philox(key=seed).random_raw(count)
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
