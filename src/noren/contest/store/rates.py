"""How often somebody may ask, told alike by all servers of one database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from noren.contest.store.tables import rates
from noren.work.queue import clock_of

__all__ = ["Rates"]

_FORGOTTEN = 100
"""So many windows that are over are forgotten at a time."""


class Rates:
    """Counts in windows; a window begins with the first request in it."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._insert: Any = (postgresql if engine.dialect.name == "postgresql" else sqlite).insert

    def allow(self, key: str, most: int, seconds: float) -> bool:
        """Count a request; tell whether it is one of the first ``most`` in its window. One statement does it all."""
        now = clock_of(self._engine)
        is_over = rates.c.until <= now
        asked = self._insert(rates).values(key=key[:128], until=now + seconds, count=1)
        asked = asked.on_conflict_do_update(
            index_elements=[rates.c.key],
            set_={
                "count": sa.case((is_over, 1), else_=rates.c.count + 1),
                "until": sa.case((is_over, now + seconds), else_=rates.c.until),
            },
        ).returning(rates.c.count)
        with self._engine.begin() as database:
            count: int = database.execute(asked).scalar_one()
        if count == 1:
            self._forget()
        return count <= most

    def reset(self, key: str) -> None:
        """Begin anew for somebody who proved who they are."""
        with self._engine.begin() as database:
            database.execute(rates.delete().where(rates.c.key == key[:128]))

    def _forget(self) -> None:
        over = sa.select(rates.c.key).where(rates.c.until <= clock_of(self._engine)).limit(_FORGOTTEN)
        with self._engine.begin() as database:
            database.execute(rates.delete().where(rates.c.key.in_(over.with_for_update(skip_locked=True))))
