"""Histories of two columns that matter, who and what, for tests."""

import polars as pl

from noren.data.cells import set_dtype
from noren.data.frames import History
from noren.data.schema import Schema

SCHEMA = Schema.preset("pwscup2018")


def bought(who: list[str | None], what: list[str | None]) -> History:
    """Return purchases: everything of one day, at one price."""
    columns = {"customer": pl.String, "item": pl.String}
    frame = pl.DataFrame({"customer": who, "item": what}, schema=columns)
    frame = frame.with_columns(date=pl.date(2010, 12, 1), price=pl.lit(1.0), quantity=pl.lit(1, dtype=pl.Int64))
    return History(frame.select(SCHEMA.names), SCHEMA)


def shown(who: list[str | None], cells: list[list[str] | None]) -> History:
    """Return what a release shows whose items are sets; None is a suppressed one."""
    domain = sorted({item for cell in cells for item in cell or []})
    plain = bought(who, [None] * len(who))
    return History(plain.frame.with_columns(pl.Series("item", cells, dtype=set_dtype(domain))), SCHEMA)
