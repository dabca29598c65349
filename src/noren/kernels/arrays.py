"""What arrays are called by what they hold, and the few things that array libraries do not say alike.

Kernels of whole tables run on NumPy's arrays and on Torch's tensors, on whichever they are handed. Torch is never
imported here: whoever has a tensor has loaded it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Place = Callable[[Any], Any]
"""Puts an array of NumPy where the work on it is to be done."""


def where_it_is(x: Any) -> Any:
    """Return an array as it is: the place of work that needs no other."""
    return x


def library_of(x: Any) -> Any:
    """Return the library of an array: NumPy, or Torch for a tensor.

    >>> library_of(np.zeros(2)).__name__
    'numpy'
    """
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(x, torch.Tensor) else np


def like(x: Any, values: Any) -> Any:
    """Return NumPy's ``values`` as an array of the kind of ``x``, where ``x`` is."""
    library = library_of(x)
    return values if library is np else library.as_tensor(values, dtype=x.dtype, device=x.device)


def plain(x: Any) -> Any:
    """Return an array of any library as one of NumPy."""
    return x if library_of(x) is np else x.cpu().numpy()


def at_least(x: Any, least: float) -> Any:
    """Return the array with everything below ``least`` raised to it.

    >>> at_least(np.array([0.0, 2.0]), 1.0).tolist()
    [1.0, 2.0]
    """
    return np.maximum(x, least) if library_of(x) is np else x.clamp_min(least)


def summed(x: Any, axes: Sequence[int], *, keepdims: bool = False) -> Any:
    """Return the sum over some axes; over none, the array itself (Torch would sum over all).

    >>> summed(np.ones((2, 3)), (1,)).tolist(), summed(np.ones(2), ()).tolist()
    ([3.0, 3.0], [1.0, 1.0])
    """
    return x.sum(axis=tuple(axes), keepdims=keepdims) if len(axes) else x
