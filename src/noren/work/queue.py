"""A job queue in a database table, for one process or for many on several machines.

A job belongs to the process that claimed it, for the length of a lease that the holder renews (heartbeat). A holder
that is killed, disconnected or suspended stops renewing, and then another takes the job over; each claim counts as an
attempt, and a job with too many attempts is *interrupted*. So every job is done at least once, by one holder at a time;
what a holder writes counts only while it holds the job.

The row of a job is the only place that records its state. Users of the queue add their own columns to
:func:`queue_columns`, so that a result and its state are written in one transaction. Leases follow the database's
clock: those of the machines may differ.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from noren.errors import ParameterError, quoted
from noren.i18n import N_, _

LEASE: Final = 15.0
"""Seconds without a heartbeat after which a job can be claimed again."""
MOST_ATTEMPTS: Final = 3
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"
_COARSE: Final = 0.1
"""Seconds by which a database's clock may be coarser than this machine's."""


class State(StrEnum):
    """How far a job is."""

    WAITING = N_("waiting")
    RUNNING = N_("running")
    DONE = N_("done")
    FAILED = N_("failed")
    CANCELLED = N_("cancelled")
    INTERRUPTED = N_("interrupted")

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (State.WAITING, State.RUNNING)

    @property
    def words(self) -> str:
        """The state in the active language."""
        return _(self.value)


_ACTIVE = (str(State.WAITING), str(State.RUNNING))
_UNCLAIMED: Final = {"claimed_by": None, "lease_until": 0.0}


def queue_columns() -> list[sa.Column[Any]]:
    """Return the columns of a queue; a job in the queue ``""`` is not waiting yet."""
    return [
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("queue", sa.String(16), nullable=False, server_default=""),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("most_attempts", sa.Integer, nullable=False, server_default=str(MOST_ATTEMPTS)),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("lease_until", sa.Double, nullable=False, server_default="0"),
        sa.Column("enqueued", sa.Double, nullable=False, server_default="0"),
        sa.Column("started", sa.String(32)),
        sa.Column("ended", sa.String(32)),
    ]


@dataclass(frozen=True)
class Claim:
    """A job that is the holder's to do. When ``gone`` is set it is so no longer: stop, and keep nothing."""

    id: str
    queue: str
    kind: str
    attempt: int
    gone: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)


class Queue:
    """The jobs of one table.

    Parameters
    ----------
    lost
        What is written beside a job whose holder was not heard of any more, when it is taken up or given up for good.

    Examples
    --------
    >>> jobs = sa.Table("jobs", sa.MetaData(), *queue_columns())
    >>> queue = Queue(open_database("sqlite://"), jobs)
    >>> jobs.create(queue.engine)
    >>> queue.add("tea", "brew", queue="kitchen")
    >>> claim = queue.claim(["kitchen"], "ann")
    >>> claim.id, claim.attempt, queue.claim(["kitchen"], "bob")
    ('tea', 1, None)
    >>> queue.end("tea", State.DONE, holder="bob"), queue.end("tea", State.DONE, holder="ann")
    (False, True)
    """

    def __init__(
        self,
        engine: sa.Engine,
        table: sa.Table,
        *,
        lease: float = LEASE,
        lost: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.engine, self.table, self.lease = engine, table, lease
        self._lost, self._clock = lost, clock_of(engine)
        self.is_shared = engine.dialect.name == "postgresql"
        """Whether a holder may be cut off from the database while others are not."""
        self._writing = threading.RLock()
        self.unwritten: dict[str, dict[str, Any]] = {}
        """What is known of jobs but not written."""

    # --- putting in ------------------------------------------------------------------------------------------

    def add(
        self,
        job: str,
        kind: str,
        *,
        within: sa.Connection | None = None,
        queue: str = "",
        most_attempts: int = MOST_ATTEMPTS,
        **values: Any,
    ) -> None:
        """Add a job, to a queue where one is named, and as a part of the transaction ``within``.

        ``values`` are for the table's other columns.
        """
        row = {"id": job, "kind": kind, "queue": queue, "state": str(State.WAITING), "attempts": 0}
        row |= {"most_attempts": most_attempts, "enqueued": self._enqueued()} | values
        with contextlib.nullcontext(within) if within is not None else self.engine.begin() as database:
            database.execute(self.table.insert().values(**row))

    def enqueue(self, job: str, queue: str, **values: Any) -> bool:
        """Let a job wait for its turn: one that is in no queue yet, or one that is over and is to be done again."""
        at = self.table.c
        self._write_all_down()
        fresh: dict[str, Any] = {"queue": queue, "state": str(State.WAITING), "attempts": 0}
        fresh |= {"enqueued": self._enqueued(), "started": None, "ended": None} | _UNCLAIMED | values
        return self._write(job, fresh, sa.or_(at.queue == "", at.state.not_in(_ACTIVE)))

    def unqueued(self) -> list[str]:
        """Return the jobs that wait in no queue: their creator was interrupted."""
        at = self.table.c
        query = sa.select(at.id).where(at.queue == "", at.state == State.WAITING).order_by(at.enqueued, at.id)
        with self.engine.connect() as database:
            return list(database.execute(query).scalars())

    # --- holding ---------------------------------------------------------------------------------------------

    def has_open(self, queues: Collection[str], besides: Collection[str] = ()) -> bool:
        """Tell whether there is something to claim; this is cheap and takes no lock."""
        return self._is_so(self._open(self.table, queues, besides))

    def claim(self, queues: Collection[str], holder: str, besides: Collection[str] = ()) -> Claim | None:
        """Take the job that waits longest in any of some queues; what was tried too often ends as interrupted.

        One statement finds and marks the job. PostgreSQL passes over rows that another is just claiming; SQLite lets
        one writer in at a time, from the start of the statement.
        """
        at, other = self.table.c, self.table.alias()
        first = (
            sa.select(other.c.id)
            .where(self._open(other, queues, besides))
            .order_by(other.c.enqueued, other.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        spent = at.attempts >= at.most_attempts
        statement = self.table.update().where(at.id == first).returning(at.id, at.queue, at.kind, at.attempts, at.state)
        statement = statement.values(
            state=sa.case((spent, str(State.INTERRUPTED)), else_=str(State.RUNNING)),
            attempts=at.attempts + sa.case((spent, 0), else_=1),
            claimed_by=sa.case((spent, sa.null()), else_=holder),
            lease_until=sa.case((spent, 0.0), else_=self._clock + self.lease),
            started=sa.case((spent, at.started), else_=now()),
            ended=sa.case((spent, now()), else_=sa.null()),
            **{name: sa.case((at.state == State.RUNNING, text), else_=at[name]) for name, text in self._lost.items()},
        )
        while True:
            with self.engine.begin() as database:
                row = database.execute(statement).first()
            if row is None:
                return None
            if row.state == State.RUNNING:
                return Claim(row.id, row.queue, row.kind, row.attempts)

    def renew(self, holder: str, jobs: Collection[str]) -> set[str]:
        """Lengthen the leases of jobs; return those that are still the holder's (heartbeat)."""
        at = self.table.c
        statement = self.table.update().where(at.id.in_(jobs), self._held(holder)).returning(at.id)
        with self.engine.begin() as database:
            renewed = database.execute(statement.values(lease_until=self._clock + self.lease))
            return set(renewed.scalars())

    def holds(self, holder: str, job: str) -> bool:
        """Tell whether a job is under way and the holder's."""
        return job not in self.unwritten and self._is_so(self.table.c.id == job, self._held(holder))

    def is_held(self, job: str | None = None) -> bool:
        """Tell whether somebody is at work on a job, be it cancelled; without a name, on any."""
        at = self.table.c
        named = [] if job is None else [at.id == job]
        return self._is_so(at.claimed_by.is_not(None), at.lease_until > self._clock, *named)

    def end_leases(self) -> None:
        """End all leases at once; only for a caller that knows that no other process is at work."""
        with self.engine.begin() as database:
            database.execute(self.table.update().where(self.table.c.claimed_by.is_not(None)).values(_UNCLAIMED))

    # --- ending ----------------------------------------------------------------------------------------------

    def end(self, job: str, state: State, *, holder: str | None = None, **values: Any) -> bool:
        """Write that a job is over, with what came of it; tell whether it was so.

        A holder ends what is still its own, and lets go of it. Without one (cancelling) any job ends that is not over;
        its holder learns of it with the next heartbeat. That it is over is known in this process from then on even if
        nothing can be written, as on a full disk; :meth:`write_down` writes it when there is room again.
        """
        at = self.table.c
        changes = values | {"state": str(state), "ended": now()} | (_UNCLAIMED if holder else {})
        bound = at.state.in_(_ACTIVE) if holder is None else self._held(holder)
        with self._writing:
            try:
                self._write_all_down()
                return self._write(job, changes, bound)
            except OperationalError:
                if job in self.unwritten or not self._is_so(at.id == job, bound):
                    return False
                self.unwritten[job] = changes
                return True

    def hand_back(self, job: str, holder: str, **values: Any) -> bool:
        """Let a job wait again where it stood; the attempt is not counted."""
        changes = {"state": str(State.WAITING), "attempts": self.table.c.attempts - 1, "started": None} | values
        return self._write(job, changes | _UNCLAIMED, self._held(holder))

    def try_again(self, job: str, holder: str, *, after: float = 0.0, **values: Any) -> State | None:
        """Let a job that failed by no fault of its own wait at the end of its queue; a last attempt ends it as failed.

        It waits ``after`` seconds at least. Return its state, or None where it is not the holder's.
        """
        at = self.table.c
        spent = at.attempts >= at.most_attempts
        changes = values | _UNCLAIMED | {
            "state": sa.case((spent, str(State.FAILED)), else_=str(State.WAITING)),
            "enqueued": self._enqueued() + after,
            "ended": sa.case((spent, now()), else_=sa.null()),
        }  # fmt: skip
        statement = self.table.update().where(at.id == job, self._held(holder)).values(**changes).returning(at.state)
        with self.engine.begin() as database:
            state = database.execute(statement).scalar()
        return None if state is None else State(state)

    def let_go(self, job: str, holder: str) -> None:
        """Release a cancelled job that no process works on any more."""
        self._write(job, _UNCLAIMED, self.table.c.claimed_by == holder)

    def write_down(self) -> bool:
        """Write what is known but not written; tell whether all is written."""
        try:
            self._write_all_down()
        except OperationalError:
            return False
        return True

    def _write_all_down(self) -> None:
        with self._writing:
            for job in list(self.unwritten):
                self._write(job, self.unwritten[job], sa.true())
                del self.unwritten[job]

    def _write(self, job: str, values: Mapping[str, Any], bound: sa.ColumnElement[bool]) -> bool:
        statement = self.table.update().where(self.table.c.id == job, bound).values(**values)
        with self.engine.begin() as database:
            return database.execute(statement).rowcount == 1

    # --- conditions ------------------------------------------------------------------------------------------

    def _open(self, table: sa.FromClause, queues: Collection[str], besides: Collection[str]) -> sa.ColumnElement[bool]:
        at = table.c
        given_up = sa.and_(at.state == State.RUNNING, at.lease_until < self._clock)
        # what is tried again may have to wait; a clock that was set back holds up nothing else
        waits = sa.and_(at.state == State.WAITING, sa.or_(at.attempts == 0, at.enqueued <= self._clock + _COARSE))
        known = {*besides, *self.unwritten}
        return sa.and_(at.queue.in_(queues), sa.or_(waits, given_up), at.id.not_in(known))

    def _held(self, holder: str) -> sa.ColumnElement[bool]:
        return sa.and_(self.table.c.claimed_by == holder, self.table.c.state == State.RUNNING)

    def _is_so(self, *conditions: sa.ColumnElement[bool]) -> bool:
        with self.engine.connect() as database:
            return database.execute(sa.select(self.table.c.id).where(*conditions).limit(1)).first() is not None

    def _enqueued(self) -> Any:
        # SQLite tells milliseconds, which several may share; it is on this machine, whose clock is finer
        return self._clock if self.is_shared else time.time()


def clock_of(engine: sa.Engine) -> sa.ColumnElement[float]:
    """Return the database's time in seconds, as of when a statement has its locks."""
    if engine.dialect.name == "postgresql":
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
    return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double)


@contextlib.contextmanager
def exclusive(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Yield a transaction that writes; in SQLite the only one from its start, so that it is never too late to write.

    Changes of tables are a part of it in both databases.
    """
    with engine.begin() as database:
        if engine.dialect.name == "sqlite":
            database.exec_driver_sql("BEGIN IMMEDIATE")
        yield database


def now() -> str:
    """Return the time for people to read; nothing is decided by it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")


def new_id() -> str:
    """Return an unguessable identifier, without letters that look alike.

    >>> len(new_id())
    12
    """
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def open_database(url: str) -> sa.Engine:
    """Return the engine of a database that writes through to the disk and never waits forever.

    What is written is not in its errors, and so in no log.
    """
    if not re.match(r"(sqlite|postgres(ql)?(\+psycopg)?)://", url):
        message = _("{url} is not a database address; write it like postgresql://user@host/name or sqlite:///file")
        raise ParameterError(message.format(url=quoted(re.sub(r":[^:@/]+@", ":***@", url))))
    if url.startswith("sqlite"):
        file = sa.make_url(url).database
        if file and file != ":memory:":
            Path(file).touch(mode=0o600)  # for its owner alone; what SQLite puts beside it is then as private
        engine = sa.create_engine(url, connect_args={"timeout": _SQLITE_WAITS}, hide_parameters=True)
        sa.event.listen(engine, "connect", _careful_sqlite)
        return engine
    # a connection that hangs would keep a holder from learning that its lease is over
    waits = {"connect_timeout": 10, "tcp_user_timeout": 10_000}
    spoken = re.sub(r"^postgres(ql)?:", "postgresql+psycopg:", url)
    return sa.create_engine(spoken, connect_args=waits, pool_pre_ping=True, hide_parameters=True)


_SQLITE_WAITS: Final = 30.0
"""How many seconds a connection waits for others that write."""


def _careful_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    over = time.monotonic() + _SQLITE_WAITS
    while True:  # SQLite does not wait by itself when several switch a new file to a write-ahead log at once
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or time.monotonic() > over:
                raise
            time.sleep(0.01)
    cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged change is on the disk
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()
