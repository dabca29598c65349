"""The numbers that S2 prints, from ``printed.toml``."""

from __future__ import annotations

from noren.tables import table_of

__all__ = ["BEST_400", "BEST_4000", "CLUSTERS", "FEWEST", "FOUND", "SAVED", "STEADY", "TABLE_1", "TABLE_2"]

_SAID = table_of(__name__)
FOUND: dict[str, float] = _SAID["found"]
TABLE_1: dict[str, tuple[float, float]] = {data: tuple(shares) for data, shares in _SAID["table_1"].items()}
"""The best team's share of customers found, and that of Algorithm 1."""
CLUSTERS: tuple[int, ...] = tuple(_SAID["clusters"])
TABLE_2: dict[tuple[int, int], tuple[int, float, float]] = {
    (clusters, least): tuple(said) for clusters, least, *said in _SAID["table_2"]
}
"""By clusters and least size: rows added, mean similarity, share found by Algorithm 1."""
SAVED: float = _SAID["saved"]
STEADY: float = _SAID["steady"]
FEWEST: int = _SAID["fewest"]
BEST_400: int = _SAID["best_400"]
BEST_4000: tuple[int, float, int] = tuple(_SAID["best_4000"])
"""Clusters, share found and rows added for 4,000 customers."""
