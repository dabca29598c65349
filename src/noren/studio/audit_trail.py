"""The audit trail: every act in a studio, by whom and when, in a chain (:mod:`noren.work.hash_chain`).

An act in the database and its entry are one transaction: neither is there without the other. Who acts travels beside
the work (:func:`acting_as`), so that no function can forget to say it. Entries name projects, runs, rules, digests and
numbers of a verdict; never a value of the data, a seed, a password or who is behind a pseudonym.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from noren.data.formats.source import require_readable
from noren.errors import FileError
from noren.i18n import _
from noren.tables import Texts
from noren.work.hash_chain import BrokenChainError, EntryContent, LogEntry, canonical, entry_of, next_entry, verify
from noren.work.queue import exclusive, now

say = Texts(__name__)

OWNER, STUDIO, TERMINAL = "owner", "studio", "terminal"
"""Who acts without being a user: the one person of a studio without users; the studio itself; the command line."""
RESERVED: Final = frozenset({OWNER, STUDIO, TERMINAL})
tables: Final = sa.MetaData()
"""The tables of a studio; a change needs a step in ``migrations/versions``, which a test compares with them."""
trail = sa.Table(
    "trail",
    tables,
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("project", sa.String(12), nullable=False, index=True),
    sa.Column("key", sa.String(64)),
    sa.Index("trail_key", "key", unique=True),
)
"""``project`` repeats what the body says, to be found by; acts of one ``key`` are one. The digest is of the rest."""
_LOCK: Final = 7_266_737
"""The number of PostgreSQL's lock under which entries are added."""
_AT_ONCE: Final = 1_000
_LONGEST_LINE: Final = 2**20
acting: ContextVar[str] = ContextVar("actor", default=STUDIO)
"""Who acts."""


@contextlib.contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Say who acts, for a while."""
    before = acting.set(actor)
    try:
        yield
    finally:
        acting.reset(before)


class Trail:
    """The trail of one studio's database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @contextlib.contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Yield a transaction in which something is done and noted, one at a time."""
        with exclusive(self._engine) as database:
            if self._engine.dialect.name == "postgresql":
                database.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            yield database

    def note(
        self, database: sa.Connection, kind: str, *, project: str = "", key: str | None = None, **body: Any
    ) -> LogEntry:
        """Add an entry as a part of a transaction of :meth:`changing`."""
        if project:
            body["project"] = project
        last = database.execute(trail.select().order_by(trail.c.position.desc()).limit(1)).first()
        entry = next_entry(None if last is None else _entry(last), now(), EntryContent(kind, acting.get(), body))
        written = entry.as_dict() | {"body": canonical(body).decode(), "project": project, "key": key}
        database.execute(trail.insert().values(**written))
        return entry

    def add(self, kind: str, *, project: str = "", key: str | None = None, **body: Any) -> LogEntry:
        """Add an entry about an act that is not of the database; return the one of this key, where there is one."""
        with self.changing() as database:
            same = None if key is None else database.execute(trail.select().where(trail.c.key == key)).first()
            return self.note(database, kind, project=project, key=key, **body) if same is None else _entry(same)

    def entries(self, *, project: str | None = None, kinds: Collection[str] = ()) -> list[LogEntry]:
        """Return entries, the oldest first: of a project, of some kinds."""
        query = trail.select().order_by(trail.c.position)
        if project is not None:
            query = query.where(trail.c.project == project)
        if kinds:
            query = query.where(trail.c.kind.in_(sorted(kinds)))
        with self._engine.connect() as database:
            return [_entry(row) for row in database.execute(query)]

    def newest(self, count: int, before: int | None = None) -> list[LogEntry]:
        """Return the last entries, the newest first; ``before`` a place, to look further back."""
        query = trail.select().order_by(trail.c.position.desc()).limit(count)
        if before is not None:
            query = query.where(trail.c.position < before)
        with self._engine.connect() as database:
            return [_entry(row) for row in database.execute(query)]

    def head(self) -> LogEntry | None:
        """Return the last entry."""
        return next(iter(self.newest(1)), None)

    def lines(self) -> Iterator[bytes]:
        """Yield the whole trail, one entry a line, as :func:`check_file` reads it."""
        start, query = 0, trail.select().order_by(trail.c.position).limit(_AT_ONCE)
        while True:
            with self._engine.connect() as database:
                entries = [_entry(row) for row in database.execute(query.where(trail.c.position >= start))]
            yield from (entry.line() for entry in entries)
            if len(entries) < _AT_ONCE:
                return
            start += _AT_ONCE


def check_file(path: Path, expected: str | None = None) -> tuple[int, str]:
    """Return how many entries a written trail has and the digest of the last; stop at the first that does not fit.

    ``expected`` is a digest that somebody wrote down: an entry must have it.
    """
    count, last, seen = 0, "", expected is None

    def read() -> Iterator[LogEntry]:
        nonlocal count, last, seen
        with require_readable(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    entry = entry_of(json.loads(line)) if len(line) <= _LONGEST_LINE else None
                except ValueError:
                    entry = None
                if entry is None:
                    raise FileError(say("no_entry", number=number), file=path)
                count, last, seen = count + 1, entry.digest, seen or entry.digest == expected
                yield entry

    cure = _("compare it with a copy that was kept before")
    verify(read(), cure)
    if not seen:
        error = BrokenChainError(_("no entry of the trail has the digest {digest}").format(digest=expected), cure)
        error.place = count
        raise error
    return count, last


def _entry(row: Any) -> LogEntry:
    return LogEntry(row.position, row.time, row.kind, row.actor, json.loads(row.body), row.previous, row.digest)
