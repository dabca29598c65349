"""Projects and jobs in one small database.

Files hold what is large (data, releases, views); the database holds what must change together and be found fast. Every
change is one short transaction: what was acknowledged survives a crash.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from noren.errors import FileError
from noren.i18n import _
from noren.studio.folders import new_id
from noren.studio.reasons import in_language_of_reader, is_disk_full

__all__ = ["Job", "Project", "State", "Store"]

_VERSION = 1

_tables = sa.MetaData()
_about = sa.Table("studio", _tables, sa.Column("version", sa.Integer, nullable=False))
_projects = sa.Table(
    "projects",
    _tables,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
)
_jobs = sa.Table(
    "jobs",
    _tables,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("sweep", sa.String(12)),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False, index=True),
    sa.Column("done", sa.Float, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("best", sa.Float),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("started", sa.String(32)),
    sa.Column("ended", sa.String(32)),
)
_sessions = sa.Table(
    "sessions",
    _tables,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("until", sa.String(32), nullable=False),
)


class State(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (State.WAITING, State.RUNNING)

    @property
    def words(self) -> str:
        """The state in the language now spoken."""
        return {
            State.WAITING: _("waiting"),
            State.RUNNING: _("running"),
            State.DONE: _("done"),
            State.FAILED: _("failed"),
            State.CANCELLED: _("cancelled"),
            State.INTERRUPTED: _("interrupted"),
        }[self]


@dataclass(frozen=True)
class Project:
    """Data under one name. ``source`` tells where they come from, ``facts`` what was read (empty until it was)."""

    id: str
    name: str
    created: str
    source: dict[str, Any]
    facts: dict[str, Any]

    @property
    def is_ready(self) -> bool:
        """Whether the data were read and can be protected."""
        return bool(self.facts)


@dataclass(frozen=True)
class Job:
    """A piece of work.

    ``order`` is what was asked for; it holds the seed, so no page and no answer shows it whole. ``error`` is kept in
    every language and read in that of whoever looks (:mod:`noren.studio.reasons`).
    """

    id: str
    project: str
    kind: str
    label: str
    sweep: str | None
    order: dict[str, Any] = field(repr=False)
    state: State = State.WAITING
    done: float = 0.0
    words: str = ""
    best: float | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)
    attempts: int = 0
    created: str = ""
    started: str | None = None
    ended: str | None = None


class Store:
    """The database of a studio."""

    def __init__(self, url: str) -> None:
        self._writing = threading.RLock()
        self._unwritten: dict[str, dict[str, Any]] = {}
        _make_private(url)
        self.engine = sa.create_engine(url, connect_args={"timeout": 30} if url.startswith("sqlite") else {})
        if self.engine.dialect.name == "sqlite":
            sa.event.listen(self.engine, "connect", _careful_sqlite)
        _tables.create_all(self.engine)
        with self.engine.begin() as database:
            version = database.execute(sa.select(_about.c.version)).scalar()
            if version is None:
                database.execute(_about.insert().values(version=_VERSION))
            elif version > _VERSION:
                raise FileError(
                    _("these data were written by a newer Noren"), _("install it, or name another folder"), file=url
                )

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    # --- projects --------------------------------------------------------------------------------------------

    def add_project(self, name: str, source: dict[str, Any]) -> Project:
        """Add a project whose data are still to be read."""
        project = Project(new_id(), name, now(), source, {})
        values = {"id": project.id, "name": name, "created": project.created}
        with self.engine.begin() as database:
            database.execute(_projects.insert().values(**values, source=_text(source), facts="{}"))
        return project

    def projects(self) -> list[Project]:
        """Return all projects, the oldest first."""
        with self.engine.connect() as database:
            return [_project(row) for row in database.execute(_projects.select().order_by(_projects.c.created))]

    def project(self, project: str) -> Project | None:
        """Return a project."""
        with self.engine.connect() as database:
            row = database.execute(_projects.select().where(_projects.c.id == project)).first()
        return None if row is None else _project(row)

    def change_project(self, project: str, **values: Any) -> None:
        """Set what is known of a project: ``name``, ``source``, ``facts``."""
        written = {key: value if key == "name" else _text(value) for key, value in values.items()}
        with self.engine.begin() as database:
            database.execute(_projects.update().where(_projects.c.id == project).values(**written))

    def remove_project(self, project: str) -> None:
        """Forget a project and its jobs."""
        with self.engine.begin() as database:
            database.execute(_jobs.delete().where(_jobs.c.project == project))
            database.execute(_projects.delete().where(_projects.c.id == project))

    # --- jobs ------------------------------------------------------------------------------------------------

    def add_job(self, project: str, kind: str, label: str, order: dict[str, Any], sweep: str | None = None) -> Job:
        """Add a job that waits."""
        job = Job(new_id(), project, kind, label, sweep, order, created=now())
        with self.engine.begin() as database:
            database.execute(
                _jobs.insert().values(
                    id=job.id, project=project, kind=kind, label=label, sweep=sweep, order=_text(order),
                    state=job.state, done=0.0, words="", summary="{}", error="{}", attempts=0, created=job.created,
                )
            )  # fmt: skip
        return job

    def job(self, job: str) -> Job | None:
        """Return a job."""
        with self.engine.connect() as database:
            row = database.execute(_jobs.select().where(_jobs.c.id == job)).first()
        return None if row is None else self._as_known(_job(row))

    def jobs(
        self, project: str | None = None, *, kind: str | None = None, states: Sequence[State] | None = None
    ) -> list[Job]:
        """Return jobs, the oldest first."""
        asked = _jobs.select().order_by(_jobs.c.created, _jobs.c.id)
        if project is not None:
            asked = asked.where(_jobs.c.project == project)
        if kind is not None:
            asked = asked.where(_jobs.c.kind == kind)
        if states is not None and not self._unwritten:
            asked = asked.where(_jobs.c.state.in_([str(state) for state in states]))
        with self.engine.connect() as database:
            found = [self._as_known(_job(row)) for row in database.execute(asked)]
        return found if states is None else [job for job in found if job.state in states]

    def change_job(self, job: str, *, only_from: Sequence[State] | None = None, **values: Any) -> bool:
        """Set what is known of a job; with ``only_from``, only in these states. Tell whether it was so.

        That a job is over is known from then on even if the disk is full; :meth:`write_down` writes it when there is
        room again.
        """
        with self._writing:
            try:
                self._write_down()
                return self._change_job(job, only_from, values)
            except sa.exc.OperationalError as error:
                if not (is_disk_full(error) and State(values.get("state", State.WAITING)).is_over):
                    raise
                known = self.job(job)
                if known is None or (only_from is not None and known.state not in only_from):
                    return False
                self._unwritten[job] = self._unwritten.get(job, {}) | values
                return True

    def _change_job(self, job: str, only_from: Sequence[State] | None, values: Mapping[str, Any]) -> bool:
        written = {key: _text(value) if key in ("summary", "error") else value for key, value in values.items()}
        asked = _jobs.update().where(_jobs.c.id == job)
        if only_from is not None:
            asked = asked.where(_jobs.c.state.in_([str(state) for state in only_from]))
        with self.engine.begin() as database:
            return database.execute(asked.values(**written)).rowcount == 1

    def write_down(self) -> bool:
        """Write what is known but not written, for want of room; tell whether all is written."""
        with self._writing:
            try:
                self._write_down()
            except sa.exc.OperationalError as error:
                if not is_disk_full(error):
                    raise
            return not self._unwritten

    def _write_down(self) -> None:
        for job in list(self._unwritten):
            self._change_job(job, None, self._unwritten[job])
            del self._unwritten[job]

    def _as_known(self, job: Job) -> Job:
        known = self._unwritten.get(job.id)
        if not known:
            return job
        error = {"error": in_language_of_reader(known["error"])} if "error" in known else {}
        return replace(job, **known | error)

    def remove_job(self, job: str) -> None:
        """Forget a job."""
        with self.engine.begin() as database:
            database.execute(_jobs.delete().where(_jobs.c.id == job))

    # --- sessions --------------------------------------------------------------------------------------------

    def add_session(self, digest: str, until: str) -> None:
        """Remember that somebody logged in, until a time; what is over is forgotten."""
        with self.engine.begin() as database:
            database.execute(_sessions.delete().where(_sessions.c.until < now()))
            database.execute(_sessions.insert().values(digest=digest, until=until))

    def has_session(self, digest: str) -> bool:
        """Tell whether somebody is logged in."""
        asked = _sessions.select().where(_sessions.c.digest == digest, _sessions.c.until >= now())
        with self.engine.connect() as database:
            return database.execute(asked).first() is not None

    def remove_session(self, digest: str) -> None:
        """Log somebody out."""
        with self.engine.begin() as database:
            database.execute(_sessions.delete().where(_sessions.c.digest == digest))


def now() -> str:
    """Return the time, in the form the database keeps."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")


def _careful_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged change is on the disk
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _project(row: Any) -> Project:
    source = json.loads(row.source)
    # a sample has a name of ours, told in the language of whoever looks
    name = _(row.name) if "sample" in source else row.name
    return Project(row.id, name, row.created, source, json.loads(row.facts))


def _job(row: Any) -> Job:
    given = dict(row._mapping)
    for name in ("order", "summary", "error"):
        given[name] = json.loads(given[name])
    given["error"] = in_language_of_reader(given["error"])
    return Job(**given | {"state": State(row.state)})


def _make_private(url: str) -> None:
    """Make the file of a new database, for its owner alone; what SQLite puts beside it is then as private."""
    file = sa.make_url(url).database if url.startswith("sqlite") else None
    if file and file != ":memory:":
        Path(file).touch(mode=0o600)
