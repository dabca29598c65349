"""One studio: what is known of its projects and runs, and the work that goes on in it; projects and runs in lists.

A list is searched, filtered and sorted by plain parameters of an address, for pages and the REST interface alike, so
that it can be kept, sent and read without scripts.
"""

from __future__ import annotations

import contextlib
import shutil
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from noren.data import catalog
from noren.data.formats.render import value_text
from noren.data.schema import Schema
from noren.errors import NorenError
from noren.i18n import _, active_language
from noren.judgement.evidence import Facts
from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.judging import judge
from noren.judgement.rule import Rule, get_rule
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.registry import Kind as Part
from noren.registry import Registry
from noren.studio.folders import JUDGED_FILE, Folders, keep_private, read_json
from noren.studio.forms.columns import Answers
from noren.studio.jobs import JobRunner
from noren.studio.store import Job, Project, State, Store
from noren.studio.users import limited_login
from noren.studio.work.reading import give_role
from noren.studio.work.results import Result, judged, place_by, result_in
from noren.web.errors import ConflictError, NotFoundError
from noren.web.settings import ServerSettings


class Studio:
    """One studio: its settings, its store and its background work."""

    def __init__(self, settings: ServerSettings) -> None:
        settings.make_folder()
        self.tightened = keep_private(settings.folder)
        """How many files and folders could be read by others until now."""
        self.settings = settings
        self.folders = Folders(settings.folder)
        self.store = Store(settings.database_url)
        self.jobs = JobRunner(settings, self.store)

    def close(self) -> None:
        """Stop work; it goes on with the next start."""
        self.jobs.close()
        self.store.close()

    # --- projects and their data -----------------------------------------------------------------------------

    def project(self, project: str) -> Project:
        """Return a project, or say that it is gone; so it is for a reader with whom it is not shared."""
        stored = self.store.project(project)
        if stored is None or not self.sees(project):
            raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
        return stored

    def projects(self) -> list[Project]:
        """Return the projects that the user may see, the oldest first."""
        login = limited_login.get()
        seen = self.store.shared_with(login) if login else None
        return [project for project in self.store.projects() if seen is None or project.id in seen]

    def sees(self, project: str) -> bool:
        """Tell whether the user may see a project."""
        login = limited_login.get()
        return not login or project in self.store.shared_with(login)

    def ready_project(self, project: str) -> Project:
        """Return a project whose data were read."""
        stored = self.project(project)
        if not stored.is_ready:
            raise ConflictError(_("this project has no data yet; upload a file first"))
        return stored

    def rule(self, project: str) -> Rule:
        """Return what the releases of a project are judged by."""
        return get_rule(self.project(project).rule)

    def datasets(self) -> list[str]:
        """Return the public data sets found on this machine."""
        names = []
        for dataset in catalog.KNOWN:
            with contextlib.suppress(NorenError):
                catalog.find(dataset.name)
                names.append(dataset.name)
        return names

    def is_fixed(self, project: str) -> bool:
        """Tell whether releases depend on the data as they are, or are being made of them.

        A run that failed, was cancelled or interrupted left nothing that other columns could contradict.
        """
        return any(job.state == State.DONE or not job.state.is_over for job in self.store.jobs(project, kind="run"))

    def stop_when_protected(self, project: str) -> None:
        """Runs are about the data they were made from: other data make another project."""
        if self.is_fixed(project):
            raise ConflictError(
                _("this project has runs already; copy its data into a new project to read them in another way")
            )

    def schema(self, project: str) -> Schema:
        """Return what the columns of a project mean."""
        self.ready_project(project)
        return Schema.from_toml(self.folders.schema(project).read_text(encoding="utf-8"))

    def columns(self, project: str) -> tuple[Path, Schema]:
        """Return the folder of a project whose data were read, and what its columns mean."""
        return self.folders.project(project), self.schema(project)

    def known(self, project: str) -> Mapping[str, Any]:
        """Return what is known of a project's file: by the last reading that went well, or as far as one came."""
        stored, last = self.project(project), self.last_read(project)
        draft = read_json(self.job_folder(last) / "draft.json") if last and last.state == State.FAILED else None
        return stored.facts if draft is None else draft

    def last_read(self, project: str) -> Job | None:
        """Return the job that read a project's file last, or does so."""
        return next(reversed(self.store.jobs(project, kind="read")), None)

    def read(self, project: Project, instructions: Mapping[str, Any] | None = None) -> Job:
        """Have a project's data read: by a schema, by answers, or by a guess where nothing is ``told``."""
        for job in self.store.jobs(project.id, kind="read", states=(State.WAITING, State.RUNNING)):
            self.jobs.cancel(job.id)
        self._forget_unfinished(project.id)
        names = {"sample": "sample", "dataset": "dataset", "file": "file_name"}
        order = {names[key]: value for key, value in project.source.items() if key in names}
        return self.submit(project.id, "read", project.name, order | dict(instructions or {}))

    def give_role(self, project: Project, answers: Answers, column: str, value: str) -> bool:
        """Give a column of the data as they were read another role; False where the file must be read again for it."""
        last = self.last_read(project.id)
        if not project.is_ready or not project.facts.get("guessed") or last is None or last.state != State.DONE:
            return False
        facts = give_role(self.folders.project(project.id), project.facts, answers, column, value)
        if facts is None:
            return False
        self._forget_unfinished(project.id)
        self.store.change_project(project.id, facts=facts)
        return True

    def _forget_unfinished(self, project: str) -> None:
        """Remove what runs without a result, sweeps and judged files had of the data as they were."""
        for judged_file in self.store.jobs(project, kind="judge"):
            self.jobs.cancel(judged_file.id)
            self.store.remove_job(judged_file.id)
            shutil.rmtree(self.job_folder(judged_file), ignore_errors=True)
        for job in self.store.jobs(project, kind="run"):
            if job.state.is_over and job.state != State.DONE:
                shutil.rmtree(self.job_folder(job), ignore_errors=True)
        shutil.rmtree(self.folders.project(project) / "explore", ignore_errors=True)

    def profile(self, project: str) -> dict[str, Any]:
        """Return the profile of a project's data."""
        self.ready_project(project)
        return read_json(self.folders.project(project) / "profile.json") or {}

    def preview(self, project: str, start: int, count: int) -> dict[str, Any]:
        """Return rows of the data, as they are read."""
        schema, total = self.schema(project), self.project(project).facts["rows"]
        rows = pl.scan_parquet(self.folders.data(project)).select(schema.names).slice(start, count).collect()
        texts = rows.select(value_text(pl.col(c.name), c).alias(c.name) for c in schema.columns)
        names = list(schema.names)
        return {"columns": names, "start": start, "total": total, "rows": [list(r) for r in texts.rows()]}

    # --- runs ------------------------------------------------------------------------------------------------

    def fitting(self, project: str, registry: Registry[Part]) -> list[type[Part]]:
        """Return the components that work on a project's data."""
        schema = self.schema(project)
        return [registry[name] for name in registry if registry[name].fits(schema)]

    def job(self, job: str, *, kind: str | None = None, project: str | None = None) -> Job:
        """Return a job, of a kind and a project where these are named, or say that it is gone."""
        stored = self.store.job(job)
        fits = stored is not None and kind in (None, stored.kind) and project in (None, stored.project)
        if stored is None or not fits or not self.sees(stored.project):
            raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
        return stored

    def finished(self, job: str, *, kind: str = "run", project: str | None = None) -> Job:
        """Return a run, or another piece of work, that came to its end."""
        done = self.job(job, kind=kind, project=project)
        if done.state != State.DONE:
            raise ConflictError(_("not possible while the job is {state}").format(state=done.state.words))
        return done

    def job_folder(self, job: Job) -> Path:
        """Return where the files of a job lie."""
        return self.folders.job(job.project, job.id)

    def result(self, job: str) -> Result:
        """Return everything a page shows of a run."""
        result = result_in(self.job_folder(self.finished(job)))
        if result is None:
            raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
        return result

    def verdict(self, job: str) -> Verdict:
        """Return how safe the release of a run is, by the rule of its project."""
        run = self.finished(job)
        verdict = judged(self.job_folder(run), run.ended, self.rule(run.project))
        if verdict is None:
            raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
        return verdict

    def verdict_of_file(self, job: str, project: str) -> Verdict:
        """Return how safe a file from elsewhere is, by the rule of the project."""
        file = self.finished(job, kind="judge", project=project)
        return judge(Facts.model_validate(file.summary["facts"]), self.rule(project))

    def place(self, job: Job, rule: Rule) -> RiskUtilityPoint:
        """Return where a finished run stands on the map by a rule."""
        return place_by(job, self.job_folder(job), rule)

    def crosstabs(self, job: str) -> dict[str, Any]:
        """Return the cross tabulations of all pairs of columns, before and after."""
        return dict(read_json(self.job_folder(self.finished(job)) / "crosstabs.json"))

    def row_pairs(self, job: str, start: int, count: int, *, only_changed: bool = False) -> dict[str, Any]:
        """Return original rows next to released ones; whose pseudonym is whose belongs to the secret part, not here."""
        path = self.job_folder(self.finished(job)) / "rows.parquet"
        lazy = pl.scan_parquet(path)
        names = lazy.collect_schema().names()
        changes = [n for n in names if n.startswith("change:")]
        if only_changed:
            # what befell a whole column befell every row
            unchanged = [pl.col(n).is_in(["same", "pseudonym", "dropped"]) for n in changes]
            lazy = lazy.filter(~pl.all_horizontal(pl.col("state") == "kept", *unchanged))
        total, every = lazy.select(pl.len()).collect().item(), pl.scan_parquet(path).select(pl.len()).collect().item()
        hidden = [
            pl.when(pl.col(n).ne_missing("pseudonym")).then(pl.col(released)).alias(released)
            for n in changes
            if (released := n.replace("change:", "released:", 1)) in names
        ]
        rows = [list(row) for row in lazy.slice(start, count).with_columns(hidden).collect().rows()]
        return {"columns": names, "start": start, "total": total, "every": every, "rows": rows}

    def submit(
        self, project: str, kind: str, label: str, order: Mapping[str, Any], sweep: str | None = None,
        *, file: Path | None = None,
    ) -> Job:  # fmt: skip
        """Start a piece of work, on a ``file`` if one is judged; its order names folder and language."""
        root = str(self.settings.folder.resolve())
        known = {"kind": kind, "project": project, "root": root, "language": active_language()}
        job = self.store.add_job(project, kind, label, known | dict(order), sweep)
        try:
            if file is not None:
                self.job_folder(job).mkdir(parents=True, mode=0o700)
                file.replace(self.job_folder(job) / JUDGED_FILE)
            self.jobs.submit(job)
        except Exception:  # what could not be started must not look as if it waited
            self.store.remove_job(job.id)
            shutil.rmtree(self.job_folder(job), ignore_errors=True)
            raise
        return job


def pair_of(tables: Mapping[str, Any], a: str, b: str) -> dict[str, Any]:
    """Return the table of two columns, the first downwards."""
    for pair in tables["pairs"]:
        if [pair["a"], pair["b"]] == [a, b]:
            return dict(pair)
        if [pair["a"], pair["b"]] == [b, a]:
            sides = {name: pair[name] for name in ("original", "released", "reconstructed")}
            return dict(pair) | {
                "a": a, "b": b, "labels_a": pair["labels_b"], "labels_b": pair["labels_a"],
                "axis_a": pair["axis_b"], "axis_b": pair["axis_a"],
                **{name: side and [list(row) for row in zip(*side, strict=True)] for name, side in sides.items()},
            }  # fmt: skip
    raise NotFoundError(_("these two columns have no table; choose two of {names}").format(names=tables["columns"]))


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
    places: tuple[RiskUtilityPoint, ...]

    @property
    def used(self) -> str:
        """When something was done in it last."""
        return max([self.project.created, *(job.ended or job.started or job.created for job in self.jobs)])


@dataclass(frozen=True)
class RunInList:
    """A run, and where it stands by the rule of its project once it is done."""

    job: Job
    place: RiskUtilityPoint | None


def find_projects(studio: Studio, query: ProjectQuery) -> list[ProjectInList]:
    """Return the projects that are asked for, in order."""
    jobs: dict[str, list[Job]] = defaultdict(list)
    for job in studio.store.jobs():
        jobs[job.project].append(job)
    matches = []
    for project in studio.projects():
        done = [job for job in jobs[project.id] if job.kind == "run" and job.state == State.DONE]
        if (
            (query.archived == "all" or project.archived == (query.archived == "only"))
            and _holds(project.name, query.search)
            and query.kind in ("", project.facts.get("kind", ""))
            and (not query.release or bool(done) == (query.release == "with"))
        ):
            rule = get_rule(project.rule)
            places = tuple(studio.place(job, rule) for job in done)
            matches.append(ProjectInList(project, tuple(jobs[project.id]), places))
    if query.sort == "name":
        return sorted(matches, key=lambda match: _plain(match.project.name))
    if query.sort == "used":
        return sorted(matches, key=lambda match: match.used, reverse=True)
    return matches if query.sort == "oldest" else matches[::-1]


def find_runs(studio: Studio, project: str, query: RunQuery) -> list[RunInList]:
    """Return the runs of a project that are asked for, in order."""
    rule = studio.rule(project)
    runs = [
        RunInList(job, studio.place(job, rule) if job.state == State.DONE else None)
        for job in studio.store.jobs(project, kind="run")
    ]
    matches = [
        run
        for run in runs
        if _holds(run.job.label, query.search)
        and query.state in ("", run.job.state)
        and (not query.method or query.method in methods_of([run.job]))
        and (not query.verdict or (run.place is not None and run.place.status == VerdictStatus(query.verdict)))
    ]
    if query.sort == "name":
        return sorted(matches, key=lambda run: _plain(run.job.label))
    if query.sort in ("use", "risk"):

        def rank(run: RunInList) -> tuple[bool, float]:
            """Sort by use falling or risk rising, and those without a number last."""
            number = None if run.place is None else getattr(run.place, query.sort)
            return (True, 0.0) if number is None else (False, -number if query.sort == "use" else number)

        return sorted(matches, key=rank)
    return matches if query.sort == "oldest" else matches[::-1]


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
