"""What arrays are called by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Flags", "Real", "Whole"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
