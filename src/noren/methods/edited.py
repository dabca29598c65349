"""The original with some columns changed, as a release may show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from noren.data.frames import History
from noren.data.schema import Role

__all__ = ["edited"]


def edited(original: History, columns: Iterable[pl.Series]) -> History:
    """Return ``original`` with ``columns`` in place of those of the same name, and nothing that the schema leaves out.

    A frame may carry other columns, and the master names people: neither goes into a release; nor do rows that nobody
    owns, for there is no pseudonym to put them under. A column that changed forgets how the file spelled it.
    """
    changed = {column.name: column for column in columns}
    frame = original.frame.select(original.schema.names).with_columns(changed.values())
    owned = original[Role.CUSTOMER].is_not_null()
    if not owned.all():
        frame = frame.select(pl.when(owned).then(pl.col(name)).alias(name) for name in frame.columns)
    odd = {name: texts for name, texts in original.spelling.exceptions.items() if name not in changed}
    return replace(original, frame=frame, spelling=replace(original.spelling, exceptions=odd), master=None)
