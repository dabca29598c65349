"""Projects and runs in lists: searched, filtered and sorted, for pages and the REST interface alike.

A list is asked for by plain parameters of an address, so that it can be kept, sent and read without scripts.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from noren.judgement.place import Place
from noren.judgement.rule import rule_named
from noren.judgement.verdict import Word
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State

Search = Annotated[
    str, Field(max_length=120, description="words that the name holds, all of them; case does not count")
]


class _Query(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for others than a plain list shows."""
        return any(value for name, value in self if name not in ("sort", "start", "count"))


class ProjectQuery(_Query):
    """Which projects to list, and in which order."""

    search: Search = ""
    sort: Literal["newest", "oldest", "name", "used"] = Field(
        default="newest", description="used: those first in which something was done last"
    )
    kind: Literal["", "history", "table"] = Field(default="", description="what their rows are; empty: either")
    release: Literal["", "with", "without"] = Field(default="", description="whether a run of theirs is done")
    archived: Literal["", "only", "all"] = Field(default="", description="empty: those alone that are not archived")


class RunQuery(_Query):
    """Which runs of a project to list, and in which order."""

    search: Search = ""
    sort: Literal["newest", "oldest", "name", "use", "risk"] = Field(
        default="newest", description="use: the most useful first; risk: the safest first; what has no number is last"
    )
    state: Literal["", "waiting", "running", "done", "failed", "cancelled", "interrupted"] = ""
    method: Annotated[str, Field(max_length=60, description="a method that is a step of the run")] = ""
    verdict: Literal["", "proved", "withstands", "broken", "untried"] = Field(
        default="", description="by the rule of the project"
    )


@dataclass(frozen=True)
class ProjectInList:
    """A project with its work: reading and runs, the oldest first, and where its releases stand by its rule."""

    project: Project
    jobs: tuple[Job, ...]
    places: tuple[Place, ...]

    @property
    def runs(self) -> list[Job]:
        """Its runs."""
        return [job for job in self.jobs if job.kind == "run"]

    @property
    def used(self) -> str:
        """When something was done in it last."""
        return max([self.project.created, *(job.ended or job.started or job.created for job in self.jobs)])

    @property
    def may_be_handed_out(self) -> bool:
        """Whether one of its releases is safe by its rule."""
        return any(place.word.is_safe for place in self.places)


@dataclass(frozen=True)
class RunInList:
    """A run, and where it stands by the rule of its project once it is done."""

    job: Job
    place: Place | None


def find_projects(studio: Studio, query: ProjectQuery) -> list[ProjectInList]:
    """Return the projects that are asked for, in order."""
    jobs: dict[str, list[Job]] = defaultdict(list)
    for job in studio.store.jobs():
        jobs[job.project].append(job)
    found = []
    for project in studio.store.projects():
        if query.archived != "all" and project.archived != (query.archived == "only"):
            continue
        rule = rule_named(project.rule)
        done = [job for job in jobs[project.id] if job.kind == "run" and job.state == State.DONE]
        if (
            _holds(project.name, query.search)
            and query.kind in ("", project.facts.get("kind", ""))
            and (not query.release or bool(done) == (query.release == "with"))
        ):
            places = tuple(studio.place(job, rule) for job in done)
            found.append(ProjectInList(project, tuple(jobs[project.id]), places))
    if query.sort == "name":
        return sorted(found, key=lambda one: _plain(one.project.name))
    if query.sort == "used":
        return sorted(found, key=lambda one: one.used, reverse=True)
    return found if query.sort == "oldest" else found[::-1]


def find_runs(studio: Studio, project: str, query: RunQuery) -> list[RunInList]:
    """Return the runs of a project that are asked for, in order."""
    rule = studio.rule(project)
    runs = [
        RunInList(job, studio.place(job, rule) if job.state == State.DONE else None)
        for job in studio.store.jobs(project, kind="run")
    ]
    found = [
        run
        for run in runs
        if _holds(run.job.label, query.search)
        and query.state in ("", run.job.state)
        and (not query.method or query.method in methods_of([run.job]))
        and (not query.verdict or (run.place is not None and run.place.word == Word(query.verdict)))
    ]
    if query.sort == "name":
        return sorted(found, key=lambda run: _plain(run.job.label))
    if query.sort in ("use", "risk"):

        def rank(run: RunInList) -> tuple[bool, float]:
            """Sort by use falling or risk rising, and those without a number last."""
            number = None if run.place is None else getattr(run.place, query.sort)
            return (True, 0.0) if number is None else (False, -number if query.sort == "use" else number)

        return sorted(found, key=rank)
    return found if query.sort == "oldest" else found[::-1]


def methods_of(jobs: Iterable[Job]) -> list[str]:
    """Return the methods that are steps of runs, by name."""
    steps: Iterable[Mapping[str, str]] = (step for job in jobs for step in job.order.get("steps", ()))
    return sorted({step["method"] for step in steps})


def _holds(name: str, search: str) -> bool:
    """Tell whether a name holds all words of a search; width and case of letters do not count.

    >>> _holds("Shop A, 2026", "2026 shop"), _holds("ＮＯＲＥＮ 2026", "noren"), _holds("Shop A", "shops")
    (True, True, False)
    """
    return all(word in _plain(name) for word in _plain(search).split())


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
