"""The numbers that S3 prints, from ``printed.toml``."""

from __future__ import annotations

from noren.tables import table_of

__all__ = ["TABLE_1"]

TABLE_1: dict[str, tuple[float, float, float, float]] = {
    data: tuple(said) for data, said in table_of(__name__)["table_1"].items()
}
"""The largest of S1 to S8: UM, MM, EMM, and EMM/MM."""
