"""The jobs of the arena: what is judged, in the queue that all workers share."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from noren.contest.store.tables import jobs
from noren.i18n import N_, _
from noren.work.chain import canonical
from noren.work.queue import LEASE, Queue, State, clock_of

_GIVEN_UP: Final = (State.FAILED, State.INTERRUPTED, State.CANCELLED)
LOST: Final = N_("the worker that had it was not heard of any more")
"""What is said of a job whose worker was killed or cut off."""
_LISTED: Final = [column for column in jobs.c if column.name != "stages"]
"""All but the stages, which are many lines for a job."""
_RECENT: Final = 50
"""So many jobs of a kind tell how long the next will take."""


@dataclass(frozen=True)
class Job:
    """A piece of work for the judge.

    ``error`` says why it failed, or why it is tried again; ``notice`` what the organiser should know although it did
    not fail.
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


class Jobs:
    """The queue, and what people are told of it."""

    def __init__(self, engine: sa.Engine, *, lease: float | None = None) -> None:
        self._engine = engine
        self.queue = Queue(engine, jobs, lease=LEASE if lease is None else lease, lost={"error": LOST})

    def job(self, job: str) -> Job | None:
        """Return a job."""
        found = self._some(jobs.c.id == job)
        return found[0] if found else None

    def of(self, contest: str, submission: str | None = None) -> list[Job]:
        """Return the jobs of a contest, or of one submission, the oldest first."""
        at = jobs.c
        return self._some(at.contest == contest, *([] if submission is None else [at.submission == submission]))

    def place(self, job: str) -> int | None:
        """Return how many wait in the same queue before a job; None where it waits no longer."""
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
        asked = sa.select(count).where(mine.c.id == job, mine.c.state == State.WAITING)
        with self._engine.connect() as database:
            place: int | None = database.execute(asked).scalar()
        return place

    def durations(self, kind: str) -> list[float]:
        """Return how many seconds the last jobs of a kind took, the latest first."""
        at = jobs.c
        asked = sa.select(at.started, at.ended).where(at.kind == kind, at.state == State.DONE, at.started.is_not(None))
        with self._engine.connect() as database:
            rows = database.execute(asked.order_by(at.ended.desc()).limit(_RECENT)).all()
        moments = [(dt.datetime.fromisoformat(row.started), dt.datetime.fromisoformat(row.ended)) for row in rows]
        return [(ended - started).total_seconds() for started, ended in moments]

    def at_work(self) -> int:
        """Return how many are at work now."""
        at = jobs.c
        asked = sa.select(sa.func.count()).where(at.state == State.RUNNING, at.lease_until > clock_of(self._engine))
        with self._engine.connect() as database:
            return int(database.execute(asked).scalar_one())

    def has(self, database: sa.Connection, contest: str, kind: str, order: Mapping[str, Any]) -> bool:
        """Tell, as a part of a transaction, whether a job of a kind and order is there, be it over."""
        at = jobs.c
        text = canonical(order).decode()
        asked = sa.select(at.id).where(at.contest == contest, at.kind == kind, at.order == text).limit(1)
        return database.execute(asked).first() is not None

    def retry(self, contest: str, job: str) -> bool:
        """Let a job that was given up wait again; tell whether there was one."""
        found = self.job(job)
        if found is None or found.contest != contest or found.state not in _GIVEN_UP:
            return False
        return self.queue.enqueue(job, found.queue, error="", done=0.0)

    def tell(self, job: str, holder: str, **values: Any) -> None:
        """Keep something of a job for as long as it is the holder's.

        That is how far it is (``done``, ``words``), what the organiser should know (``notice``), or the ``stages`` of
        a cluster that does it, which stay with it.
        """
        at = jobs.c
        asked = jobs.update().where(at.id == job, at.claimed_by == holder, at.state == State.RUNNING)
        if "stages" in values:
            values["stages"] = json.dumps(values["stages"], ensure_ascii=False)
        with self._engine.begin() as database:
            database.execute(asked.values(**values))

    def stages(self, contest: str, submission: str) -> list[dict[str, Any]]:
        """Return the stages of the cluster that judged a file last; none where no cluster did."""
        at = jobs.c
        asked = sa.select(at.stages).where(at.contest == contest, at.submission == submission, at.stages != "")
        with self._engine.connect() as database:
            kept = database.execute(asked.order_by(at.enqueued.desc()).limit(1)).scalar()
        found: list[dict[str, Any]] = json.loads(kept) if kept else []
        return found

    def _some(self, *conditions: sa.ColumnElement[bool]) -> list[Job]:
        asked = sa.select(*_LISTED).where(*conditions).order_by(jobs.c.enqueued, jobs.c.id)
        found = []
        with self._engine.connect() as database:
            for row in database.execute(asked):
                given = {**row._mapping, **self.queue.unwritten.get(row.id, {})}
                known = {name: given[name] for name in Job.__dataclass_fields__}
                known |= {name: _(known[name]) if known[name] else "" for name in ("error", "notice")}
                found.append(Job(**known | {"order": json.loads(known["order"]), "state": State(known["state"])}))
        return found
