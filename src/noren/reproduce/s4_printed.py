"""The numbers that the paper prints, from the TOML file beside this module."""

from __future__ import annotations

from noren.tables import table_of

_SAID = table_of(__name__)
_Shares = tuple[float, ...]
"""For k = 2, 5, 10."""

KS: tuple[int, ...] = tuple(_SAID["ks"])
ROWS: int = _SAID["rows"]
DOMAINS: dict[str, int] = _SAID["domains"]
TABLE_4: dict[str, int] = _SAID["table_4"]
TABLE_5: dict[str, tuple[_Shares, ...]] = {t: tuple(map(tuple, said)) for t, said in _SAID["table_5"].items()}
"""Rho, perturbed and reconstructed."""
RHO_SYNTHETIC: dict[int, _Shares] = {int(rows): tuple(said) for rows, said in _SAID["rho_synthetic"].items()}
MONTH_SHARES: dict[str, tuple[float, float]] = {name: tuple(said) for name, said in _SAID["month_shares"].items()}


def _table(text: str) -> dict[str, tuple[_Shares, _Shares]]:
    """Return perturbed and reconstructed, by pattern."""
    lines = [line.split() for line in text.splitlines()]
    return {name: (tuple(map(float, said[:3])), tuple(map(float, said[3:]))) for name, *said in lines}


TABLE_8, TABLE_9 = _table(_SAID["table_8"]), _table(_SAID["table_9"])
MEANS: dict[int, tuple[_Shares, ...]] = {int(n): tuple(map(tuple, said)) for n, said in _SAID["means"].items()}
"""The last line of Tables 8 and 9."""
PATTERNS = tuple(TABLE_8)
TRIALS: int = _SAID["trials"]
