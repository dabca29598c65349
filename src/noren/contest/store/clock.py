"""What time it is in the arena: one clock for all servers and workers, that a rehearsal may move."""

from __future__ import annotations

import datetime as dt
import time

import sqlalchemy as sa

from noren.contest.store.tables import about
from noren.work.queue import clock_of

__all__ = ["Clock"]


class Clock:
    """The database's clock, so that machines whose clocks differ agree who was late.

    In a rehearsal it is moved by what the organiser said; elsewhere nobody can move it.
    """

    def __init__(self, engine: sa.Engine, *, is_rehearsal: bool = False) -> None:
        self._engine, self.is_rehearsal = engine, is_rehearsal

    def now(self, database: sa.Connection | None = None) -> dt.datetime:
        """Return the time in UTC, as a part of a transaction where one is given."""
        if database is None:
            with self._engine.connect() as opened:
                return self.now(opened)
        shared = self._engine.dialect.name == "postgresql"
        row = database.execute(sa.select(about.c.clock_offset, clock_of(self._engine))).one()
        # a file's database is on this machine, whose clock is finer
        seconds = row[1] if shared else time.time()
        return dt.datetime.fromtimestamp(seconds + (row[0] if self.is_rehearsal else 0.0), dt.UTC)

    def move(self, seconds: float) -> None:
        """Move the clock of a rehearsal forward."""
        if not self.is_rehearsal:
            raise ValueError("only the clock of a rehearsal moves")
        with self._engine.begin() as database:
            database.execute(about.update().values(clock_offset=about.c.clock_offset + seconds))

    def move_to(self, moment: dt.datetime) -> None:
        """Move the clock of a rehearsal to a moment."""
        self.move((moment - self.now()).total_seconds())
