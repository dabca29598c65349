"""Whole numbers in rising order: how they get there, and where one stands."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from noren.kernels.compiling import part


@part()
def first_from(values: NDArray[Any], low: int, high: int, least: float) -> int:
    """Return where in a rising part of ``values`` the first one of ``least`` or more stands.

    >>> import numpy as np
    >>> first_from(np.array([1, 3, 3, 5]), 0, 4, 3), first_above(np.array([1, 3, 3, 5]), 0, 4, 3)
    (1, 3)
    """
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@part()
def sort_range(values: NDArray[Any], first: int, stop: int) -> None:
    """Sort some of the values in place, in strides that get smaller (Shell): Numba's sort takes ten times as long to
    compile.

    >>> import numpy as np
    >>> values = np.array([9, 4, 1, 3, 0])
    >>> sort_range(values, 1, 4)
    >>> values.tolist()
    [9, 1, 3, 4, 0]
    """
    stride = 1
    while stride < (stop - first) // 9:
        stride = 3 * stride + 1
    while stride > 0:
        for at in range(first + stride, stop):
            value = values[at]
            to = at
            while to >= first + stride and values[to - stride] > value:
                values[to] = values[to - stride]
                to -= stride
            values[to] = value
        stride //= 3


@part()
def first_above(values: NDArray[Any], low: int, high: int, most: float) -> int:
    """Return where in a rising part of ``values`` the first one above ``most`` stands."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= most:
            low = middle + 1
        else:
            high = middle
    return low
