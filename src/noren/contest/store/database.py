"""The arena's database: logs of contests, accounts, tokens, jobs and webhooks.

A log changes only through :meth:`ContestStore.changing`, which locks its head, so that changes are decided one at a
time, and entries and the jobs they cause are one transaction. A process killed in between has changed nothing.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from noren.contest.actions import not_found
from noren.contest.store.encryption import Hooks, Seal, derive_key
from noren.contest.store.tables import about, contests, entries, jobs, sealed, tables
from noren.errors import DuplicateNameError, FileError
from noren.i18n import N_, _
from noren.tables import Texts
from noren.web.accounts import Account, Accounts, Rates, Tokens
from noren.work.hash_chain import START, LogEntry, canonical
from noren.work.migrations import migrate
from noren.work.queue import LEASE, Queue, State, clock_of, exclusive, new_id, now, open_database

say = Texts(__name__)

_LONGEST_HOLD = "60s"
"""How long a transaction that holds a head may be idle in PostgreSQL."""


SCOPES: Final = ("read", "team", "organiser")
"""Scopes of tokens: reading, acting for one's team, organising."""
_PERSON, _ORGANISER = "person", "organiser"


class ArenaAccount(Account):
    """An account of the arena."""

    @property
    def is_organiser(self) -> bool:
        """Whether the account may create contests."""
        return self.role == _ORGANISER


class ArenaAccounts(Accounts[ArenaAccount]):
    """The accounts of the arena."""

    kind = ArenaAccount

    def add(self, login: str, name: str, password: str, *, is_organiser: bool = False) -> ArenaAccount:
        """Add a person."""
        return self.add_account(login, name, password, _ORGANISER if is_organiser else _PERSON)


class ContestStore:
    """The database of an arena.

    Parameters
    ----------
    url
        ``sqlite:///…`` or ``postgresql+psycopg://…``; its tables are made and brought up to date.
    key
        The key of :func:`~noren.contest.store.encryption.kept_key`; a database written with another key is refused.
    is_rehearsal
        Whether the clock may be moved.
    lease
        Seconds after which a job is released if its worker does not respond.

    Attributes
    ----------
    accounts, tokens, jobs, rates, hooks, clock
        Its other parts.
    seal
        Encrypts secrets of contests.
    key_check
        A digest that tells keys apart without disclosing them.
    """

    def __init__(self, url: str, key: bytes, *, is_rehearsal: bool = False, lease: float | None = None) -> None:
        self.engine = open_database(url)
        migrate(self.engine, tables, Path(__file__).with_name("migrations"), version_table="contest_version")
        self.accounts = ArenaAccounts(self.engine, tables)
        self.tokens, self.rates = Tokens(self.accounts, tables, SCOPES), Rates(self.engine, tables)
        self.jobs = ScoringQueue(self.engine, lease=lease)
        self.seal, self.hooks = Seal(key, "secrets"), Hooks(self.engine, key)
        self.clock = Clock(self.engine, is_rehearsal=is_rehearsal)
        self.key_check = hashlib.sha256(derive_key(key, "check")).hexdigest()
        with self.engine.begin() as database:
            database.execute(about.update().where(about.c.key_check == "").values(key_check=self.key_check))
            stored_check = database.execute(sa.select(about.c.key_check)).scalar_one()
        if stored_check != self.key_check:
            self.close()
            raise FileError(say("other_key"), file=str(self.engine.url))

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    def secret(self, contest: str, name: str) -> bytes | None:
        """Return a secret of a contest; it never changes."""
        query = sa.select(sealed.c.content).where(sealed.c.contest == contest, sealed.c.name == name)
        with self.engine.connect() as database:
            content: bytes | None = database.execute(query).scalar()
        return None if content is None else self.seal.open(content, f"{contest}/{name}")

    # --- logs ------------------------------------------------------------------------------------------------

    def contests(self) -> list[str]:
        """Return the names of all contests, the oldest first."""
        with self.engine.connect() as database:
            query = sa.select(contests.c.id).order_by(contests.c.created, contests.c.id)
            return list(database.execute(query).scalars())

    def entries(self, contest: str, start: int = 0) -> list[LogEntry]:
        """Return a log from an entry on; empty for an unknown contest."""
        with self.engine.connect() as database:
            return _entries(database, contest, start)

    def create(self, contest: str, log: Sequence[LogEntry], *, secrets: Mapping[str, bytes] = {}) -> None:
        """Add a contest with its first entries and its secrets."""
        values = {"created": now(), "head_position": -1, "head_digest": START}
        try:
            with exclusive(self.engine) as database:
                database.execute(contests.insert().values(id=contest, **values))
                Change(self, database, contest, None).append(log)
                for name, content in secrets.items():
                    sealed_content = self.seal.close(content, f"{contest}/{name}")
                    database.execute(sealed.insert().values(contest=contest, name=name, content=sealed_content))
        except IntegrityError as error:
            if contest not in self.contests():
                raise
            raise DuplicateNameError(_("the name {name} is taken; choose another name").format(name=contest)) from error

    @contextlib.contextmanager
    def changing(self, contest: str) -> Iterator[Change]:
        """Lock a log and yield a change of it, which is committed at the end."""
        with exclusive(self.engine) as database:
            query = sa.select(contests.c.head_position).where(contests.c.id == contest).with_for_update()
            if self.engine.dialect.name == "postgresql":
                database.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = '{_LONGEST_HOLD}'")
            last = database.execute(query).scalar()
            if last is None:
                raise not_found(contest)
            yield Change(self, database, contest, _entries(database, contest, last)[0])


class Change:
    """One change of a contest's log, in one transaction.

    Attributes
    ----------
    connection
        The transaction. SQLite has one writer at a time, so all writes must go through it.
    head
        The last entry; none at the very beginning.
    """

    def __init__(self, store: ContestStore, connection: sa.Connection, contest: str, head: LogEntry | None) -> None:
        self._store, self.connection, self.contest, self.head = store, connection, contest, head

    def entries(self, start: int = 0) -> list[LogEntry]:
        """Return the log, from an entry on."""
        return _entries(self.connection, self.contest, start)

    def append(self, log: Sequence[LogEntry]) -> None:
        """Add entries that follow from the head."""
        if not log:
            return
        before = self.head
        for entry in log:
            place, previous = (0, START) if before is None else (before.position + 1, before.digest)
            if (entry.position, entry.previous) != (place, previous):
                raise ValueError(f"entry {entry.position} does not follow from entry {place - 1}")
            before = entry
        rows = [entry.as_dict() | {"contest": self.contest, "body": canonical(entry.body).decode()} for entry in log]
        self.connection.execute(entries.insert(), rows)
        moved = {"head_position": log[-1].position, "head_digest": log[-1].digest}
        self.connection.execute(contests.update().where(contests.c.id == self.contest).values(**moved))
        self.head = log[-1]

    def enqueue(
        self, kind: str, *, queue: str, submission: str | None = None, order: Mapping[str, Any] = {}, **values: Any
    ) -> str:
        """Add a job, and return its name."""
        job = new_id()
        self._store.jobs.queue.add(
            job, kind, within=self.connection, queue=queue, contest=self.contest, submission=submission,
            order=canonical(order).decode(), words="", done=0.0, error="", created=now(), **values,
        )  # fmt: skip
        return job


def _entries(database: sa.Connection, contest: str, start: int) -> list[LogEntry]:
    at = entries.c
    query = entries.select().where(at.contest == contest, at.position >= start).order_by(at.position)
    return [
        LogEntry(row.position, row.time, row.kind, row.actor, json.loads(row.body), row.previous, row.digest)
        for row in database.execute(query)
    ]


class Clock:
    """The database's clock, so that all machines agree on deadlines.

    Only in a rehearsal can organisers move it.
    """

    def __init__(self, engine: sa.Engine, *, is_rehearsal: bool = False) -> None:
        self._engine, self.is_rehearsal = engine, is_rehearsal

    def now(self, database: sa.Connection | None = None) -> dt.datetime:
        """Return the time in UTC, within a transaction if there is one."""
        if database is None:
            with self._engine.connect() as opened:
                return self.now(opened)
        shared = self._engine.dialect.name == "postgresql"
        row = database.execute(sa.select(about.c.clock_offset, clock_of(self._engine))).one()
        # a file's database is on this machine, whose clock is finer
        seconds = row[1] if shared else time.time()
        return dt.datetime.fromtimestamp(seconds + (row[0] if self.is_rehearsal else 0.0), dt.UTC)

    def move_to(self, moment: dt.datetime) -> None:
        """Move the clock of a rehearsal to a moment."""
        if not self.is_rehearsal:
            raise ValueError("only the clock of a rehearsal moves")
        seconds = (moment - self.now()).total_seconds()
        with self._engine.begin() as database:
            database.execute(about.update().values(clock_offset=about.c.clock_offset + seconds))


# --- jobs: what is judged, in the queue that all workers share ------------------------------------------------------

_GIVEN_UP: Final = (State.FAILED, State.INTERRUPTED, State.CANCELLED)
LOST: Final = N_("the worker stopped responding; the file is scored again")
"""The error of a job whose worker was killed or disconnected."""
_LISTED: Final = [column for column in jobs.c if column.name != "stages"]
"""All columns but the stages, which can be long."""
_RECENT: Final = 50
"""Number of jobs from which durations are estimated."""


@dataclass(frozen=True)
class ScoringJob:
    """A scoring job.

    ``error`` is why it failed or is tried again; ``notice`` informs the organiser without a failure.
    """

    id: str
    queue: str
    kind: str
    contest: str
    submission: str | None
    order: dict[str, Any]
    state: State
    done: float
    words: str
    error: str
    notice: str
    attempts: int
    created: str
    started: str | None
    ended: str | None


class ScoringQueue:
    """The queue of scoring jobs and webhook messages."""

    def __init__(self, engine: sa.Engine, *, lease: float | None = None) -> None:
        self._engine = engine
        self.queue = Queue(engine, jobs, lease=LEASE if lease is None else lease, lost={"error": LOST})

    def job(self, job: str) -> ScoringJob | None:
        """Return a job."""
        return next(iter(self._some(jobs.c.id == job)), None)

    def of(self, contest: str, submission: str | None = None) -> list[ScoringJob]:
        """Return the jobs of a contest, or of one submission, the oldest first."""
        at = jobs.c
        return self._some(at.contest == contest, *([] if submission is None else [at.submission == submission]))

    def place(self, job: str) -> int | None:
        """Return how many jobs are ahead in the queue; None if the job does not wait."""
        mine, other = jobs.alias(), jobs.c
        before = sa.or_(
            other.enqueued < mine.c.enqueued, sa.and_(other.enqueued == mine.c.enqueued, other.id < mine.c.id)
        )
        count = (
            sa.select(sa.func.count())
            .where(other.queue == mine.c.queue, other.state == State.WAITING, before)
            .correlate(mine)
            .scalar_subquery()
        )
        query = sa.select(count).where(mine.c.id == job, mine.c.state == State.WAITING)
        with self._engine.connect() as database:
            place: int | None = database.execute(query).scalar()
        return place

    def durations(self, kind: str) -> list[float]:
        """Return how many seconds the last jobs of a kind took, the latest first."""
        at = jobs.c
        query = sa.select(at.started, at.ended).where(at.kind == kind, at.state == State.DONE, at.started.is_not(None))
        with self._engine.connect() as database:
            rows = database.execute(query.order_by(at.ended.desc()).limit(_RECENT)).all()
        moments = [(dt.datetime.fromisoformat(row.started), dt.datetime.fromisoformat(row.ended)) for row in rows]
        return [(ended - started).total_seconds() for started, ended in moments]

    def running_count(self) -> int:
        """Return the number of running jobs."""
        at = jobs.c
        query = sa.select(sa.func.count()).where(at.state == State.RUNNING, at.lease_until > clock_of(self._engine))
        with self._engine.connect() as database:
            return int(database.execute(query).scalar_one())

    def has(self, database: sa.Connection, contest: str, kind: str, order: Mapping[str, Any]) -> bool:
        """Tell within a transaction whether a job of a kind and order exists, even if it has ended."""
        at = jobs.c
        text = canonical(order).decode()
        query = sa.select(at.id).where(at.contest == contest, at.kind == kind, at.order == text).limit(1)
        return database.execute(query).first() is not None

    def retry(self, contest: str, job: str) -> bool:
        """Queue a failed job again; tell whether there was one."""
        known = self.job(job)
        if known is None or known.contest != contest or known.state not in _GIVEN_UP:
            return False
        return self.queue.enqueue(job, known.queue, error="", done=0.0)

    def update(self, job: str, holder: str, **values: Any) -> None:
        """Update a job while it belongs to the holder: its progress (``done``, ``words``), ``notice`` or ``stages``."""
        at = jobs.c
        query = jobs.update().where(at.id == job, at.claimed_by == holder, at.state == State.RUNNING)
        if "stages" in values:
            values["stages"] = json.dumps(values["stages"], ensure_ascii=False)
        with self._engine.begin() as database:
            database.execute(query.values(**values))

    def stages(self, contest: str, submission: str) -> list[dict[str, Any]]:
        """Return the stages of the cluster that scored a file last, if any."""
        at = jobs.c
        query = sa.select(at.stages).where(at.contest == contest, at.submission == submission, at.stages != "")
        with self._engine.connect() as database:
            text = database.execute(query.order_by(at.enqueued.desc()).limit(1)).scalar()
        stages: list[dict[str, Any]] = json.loads(text) if text else []
        return stages

    def _some(self, *conditions: sa.ColumnElement[bool]) -> list[ScoringJob]:
        query = sa.select(*_LISTED).where(*conditions).order_by(jobs.c.enqueued, jobs.c.id)
        jobs_ = []
        with self._engine.connect() as database:
            for row in database.execute(query):
                values = {**row._mapping, **self.queue.unwritten.get(row.id, {})}
                known = {name: values[name] for name in ScoringJob.__dataclass_fields__}
                known |= {name: _(known[name]) if known[name] else "" for name in ("error", "notice")}
                jobs_.append(
                    ScoringJob(**known | {"order": json.loads(known["order"]), "state": State(known["state"])})
                )
        return jobs_
