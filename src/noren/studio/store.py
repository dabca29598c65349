"""Projects and jobs in one small database.

Files hold what is large (data, releases, views); the database holds what must change together and be found fast. Every
change is one short transaction: what was acknowledged survives a crash.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from noren.i18n import _
from noren.judgement.rule import DEFAULT
from noren.studio.audit_trail import Trail, tables
from noren.studio.failure_reasons import INTERRUPTED, in_all_languages, in_language_of_reader
from noren.studio.users import Users
from noren.web.accounts import account_tables
from noren.work.migrations import migrate
from noren.work.queue import Queue, State, new_id, now, open_database, queue_columns

__all__ = ["HEAVY", "LIGHT", "Job", "Project", "State", "Store", "now", "tables"]

HEAVY, LIGHT = "heavy", "light"
"""The queue of runs, and that of what a person waits for on a page (reading a file, writing a report)."""

_projects = sa.Table(
    "projects",
    tables,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("rule", sa.Text, nullable=False, server_default=DEFAULT.name),
    sa.Column("archived", sa.Boolean, nullable=False, server_default=sa.false()),
)
_jobs = sa.Table(
    "jobs",
    tables,
    *queue_columns(),
    sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("sweep", sa.String(12)),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("done", sa.Float, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("best", sa.Float),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
)
_shares = sa.Table(
    "shares",
    tables,
    sa.Column("project", sa.String(12), sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("login", sa.String(64), primary_key=True),
)
"""The readers of a project: a login is nobody else's, ever."""
account_tables(tables, sa.Column("created_by", sa.String(64), nullable=False, server_default=""))


@dataclass(frozen=True)
class Project:
    """Data under one name. ``source`` tells where they come from, ``facts`` what was read (empty until it was).

    ``rule`` is what releases are judged by: the name of a rule, or a tolerance. One that is ``archived`` is kept whole,
    and out of the way.
    """

    id: str
    name: str
    created: str
    source: dict[str, Any]
    facts: dict[str, Any]
    rule: str = DEFAULT.name
    archived: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether the data were read and can be protected."""
        return bool(self.facts)


@dataclass(frozen=True)
class Job:
    """A piece of work.

    ``order`` is what was asked for; it holds the seed, so no page and no answer shows it whole. ``error`` is kept in
    every language and read in that of the reader (:mod:`noren.studio.failure_reasons`).
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

    @property
    def address(self) -> str:
        """Where the page of a run is: of its result, once it is done."""
        return f"/projects/{self.project}/{'results' if self.state == State.DONE else 'runs'}/{self.id}"

    @property
    def elapsed(self) -> float | None:
        """For how many seconds it has been running, or ran; None before it began."""
        if self.started is None:
            return None
        end = dt.datetime.now(dt.UTC) if self.ended is None else dt.datetime.fromisoformat(self.ended)
        return max((end - dt.datetime.fromisoformat(self.started)).total_seconds(), 0.0)


class Store:
    """The database of a studio. What people change in it is on its trail, in the same transaction."""

    def __init__(self, url: str) -> None:
        self.engine = open_database(url)
        self.trail = Trail(self.engine)
        self.users = Users(self.engine, tables, self.trail)
        self.queue = Queue(self.engine, _jobs)
        migrate(self.engine, tables, Path(__file__).with_name("migrations"), version_table="studio_version")

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def add_project(self, name: str, source: dict[str, Any]) -> Project:
        """Add a project whose data are still to be read."""
        project = Project(new_id(), name, now(), source, {})
        values = {"id": project.id, "name": name, "created": project.created}
        with self.trail.changing() as database:
            database.execute(_projects.insert().values(**values, source=_text(source), facts="{}"))
            self.trail.note(database, "project-added", project=project.id, name=name)
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
        """Set what is known of a project: ``name``, ``rule``, ``archived``, ``source``, ``facts``."""
        written = {key: _text(value) if key in ("source", "facts") else value for key, value in values.items()}
        changes = {key: values[key] for key in ("name", "rule", "archived") if key in values}
        changed = _projects.update().where(_projects.c.id == project).values(**written)
        with self.trail.changing() as database:
            database.execute(changed)
            if "source" in values:
                self.trail.note(database, "uploaded", project=project, bytes=values["source"].get("bytes", 0))
            if changes:
                self.trail.note(database, "project-changed", project=project, **changes)

    def share(self, project: str, logins: Sequence[str]) -> None:
        """Let these readers, and no others, see a project."""
        with self.trail.changing() as database:
            database.execute(_shares.delete().where(_shares.c.project == project))
            for login in logins:
                database.execute(_shares.insert().values(project=project, login=login))
            self.trail.note(database, "project-shared", project=project, readers=list(logins))

    def readers(self, project: str) -> list[str]:
        """Return the readers of a project, by login."""
        with self.engine.connect() as database:
            return list(database.scalars(sa.select(_shares.c.login).where(_shares.c.project == project)))

    def shared_with(self, login: str) -> frozenset[str]:
        """Return the projects that a reader may see."""
        with self.engine.connect() as database:
            return frozenset(database.scalars(sa.select(_shares.c.project).where(_shares.c.login == login)))

    def remove_project(self, project: str) -> None:
        """Forget a project and its jobs."""
        with self.trail.changing() as database:
            database.execute(_jobs.delete().where(_jobs.c.project == project))
            database.execute(_projects.delete().where(_projects.c.id == project))
            self.trail.note(database, "project-removed", project=project)

    def add_job(self, project: str, kind: str, label: str, order: dict[str, Any], sweep: str | None = None) -> Job:
        """Add a job; it begins once it is in a queue."""
        job = Job(new_id(), project, kind, label, sweep, order, created=now())
        with self.trail.changing() as database:
            self.queue.add(
                job.id, kind, within=database, project=project, label=label, sweep=sweep, order=_text(order),
                done=0.0, words="", summary="{}", error="{}", created=job.created,
            )  # fmt: skip
            self.trail.note(database, "ordered", project=project, job=job.id, work=kind, label=label)
        return job

    def job(self, job: str) -> Job | None:
        """Return a job."""
        with self.engine.connect() as database:
            row = database.execute(_jobs.select().where(_jobs.c.id == job)).first()
        return None if row is None else self._job(row)

    def jobs(
        self, project: str | None = None, *, kind: str | None = None, states: Sequence[State] | None = None
    ) -> list[Job]:
        """Return jobs, the oldest first."""
        query = _jobs.select().order_by(_jobs.c.created, _jobs.c.id)
        if project is not None:
            query = query.where(_jobs.c.project == project)
        if kind is not None:
            query = query.where(_jobs.c.kind == kind)
        if states is not None and not self.queue.unwritten:
            query = query.where(_jobs.c.state.in_([str(state) for state in states]))
        with self.engine.connect() as database:
            jobs = [self._job(row) for row in database.execute(query)]
        return jobs if states is None else [job for job in jobs if job.state in states]

    def change_job(self, job: str, *, only_from: Sequence[State] | None = None, **values: Any) -> bool:
        """Set what is known of a job; with ``only_from``, only in these states. Tell whether it was so."""
        update = _jobs.update().where(_jobs.c.id == job)
        if only_from is not None:
            update = update.where(_jobs.c.state.in_([str(state) for state in only_from]))
        with self.engine.begin() as database:
            return database.execute(update.values(**as_columns(values))).rowcount == 1

    def _job(self, row: Any) -> Job:
        values = {**row._mapping, **self.queue.unwritten.get(row.id, {})}
        known = {field.name: values[field.name] for field in fields(Job)} | {"state": State(values["state"])}
        for name in ("order", "summary", "error"):
            known[name] = json.loads(known[name])
        if known["state"] == State.INTERRUPTED and not known["error"]:
            known["error"] = {"message": in_all_languages(INTERRUPTED, times=known["attempts"])}
        return Job(**known | {"error": in_language_of_reader(known["error"])})

    def remove_job(self, job: str) -> None:
        """Forget a job."""
        with self.trail.changing() as database:
            project = database.execute(sa.select(_jobs.c.project).where(_jobs.c.id == job)).scalar()
            if project is not None:
                database.execute(_jobs.delete().where(_jobs.c.id == job))
                self.trail.note(database, "removed", project=project, job=job)


def as_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a job as its columns hold it."""
    return {name: _text(value) if name in ("summary", "error") else value for name, value in values.items()}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _project(row: Any) -> Project:
    source = json.loads(row.source)
    # a sample has a name of ours, told in the language of whoever looks
    name = _(row.name) if "sample" in source else row.name
    return Project(row.id, name, row.created, source, json.loads(row.facts), row.rule, row.archived)
