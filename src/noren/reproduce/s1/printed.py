"""The numbers that S1 prints, from ``printed.toml``."""

from __future__ import annotations

from noren.tables import table_of

__all__ = ["CATEGORIES", "COUNTED", "CUSTOMERS", "GAINS", "ITEMS", "KINDS", "SPREADS", "SUMS", "TABLE"]

_SAID = table_of(__name__)
CUSTOMERS: int = _SAID["customers"]
ITEMS: int = _SAID["items"]
KINDS: int = _SAID["kinds"]
COUNTED: dict[str, int] = _SAID["counted"]
GAINS: tuple[float, float] = tuple(_SAID["gains"])
TABLE: dict[int, tuple[float, float, float, float, float]] = {int(k): tuple(row) for k, row in _SAID["table"].items()}
"""By k: U of items, U of categories, 1/k, and the two sums."""
SPREADS: dict[str, float] = _SAID["spreads"]
SUMS: dict[str, float] = _SAID["sums"]
CATEGORIES: dict[str, str] = _SAID["categories"]
