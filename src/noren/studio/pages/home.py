"""The first page: projects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.data import catalog
from noren.errors import NorenError
from noren.i18n import N_, _, ngettext
from noren.judgement.place import Place
from noren.judgement.rule import rule_named
from noren.studio.api.models import Ident, JobOut, said_job
from noren.studio.api.surroundings import TheStudio
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.web.error_models import ErrorText

router = APIRouter()

_LONGEST = 2_000
_SAMPLES = {"history": N_("made-up purchases of a shop"), "people": N_("a made-up table of people")}
Text = Annotated[str, Form(max_length=_LONGEST)]


@dataclass(frozen=True)
class ProjectLine:
    """What the first page tells of a project."""

    project: Project
    address: str
    kind: str
    rows: int
    people: int | None
    runs: int
    active: int
    best: Place | None
    reading: JobOut | None
    wrong: ErrorText | None
    question: str


@router.get("/")
def show_home(request: Request, studio: TheStudio) -> Response:
    """Show all projects and the way to a new one."""
    return _home(request, studio)


@router.post("/projects")
def new_project(request: Request, studio: TheStudio, name: Text = "", source: Text = "") -> Response:
    """Begin a project; what cannot be is said beside the form, which keeps what was typed."""
    kind, _colon, which = source.partition(":")
    try:
        made = studio.new_project(
            name, sample=which if kind == "sample" else None, dataset=which if kind == "dataset" else None
        )
    except NorenError as error:
        return _home(request, studio, wrong=str(error), typed={"name": name, "source": source})
    return RedirectResponse(f"/projects/{made.id}/data", 303)


@router.post("/projects/{project}/rename")
def rename(request: Request, project: Ident, studio: TheStudio, name: Text = "") -> Response:
    """Give a project another name."""
    studio.project(project)
    try:
        studio.rename(project, name)
    except NorenError as error:
        return _home(request, studio, renaming={"project": project, "name": name, "wrong": str(error)})
    return RedirectResponse("/", 303)


@router.post("/projects/{project}/remove")
def remove(request: Request, project: Ident, studio: TheStudio, sure: Text = "") -> Response:
    """Remove a project, once somebody is sure."""
    found = studio.project(project)
    if sure != "yes":
        jobs = studio.store.jobs(project, kind="run")
        return page(
            request,
            "sure.html.jinja",
            title=_question(found, len(jobs)),
            place="projects",
            action=f"/projects/{project}/remove",
            back="/",
            yes=_("Remove the project"),
        )
    studio.remove(project)
    return RedirectResponse("/", 303)


def _home(
    request: Request,
    studio: Studio,
    *,
    wrong: str = "",
    typed: Mapping[str, str] | None = None,
    renaming: Mapping[str, str] | None = None,
) -> Response:
    jobs: dict[str, list[Job]] = defaultdict(list)
    for job in studio.store.jobs():
        jobs[job.project].append(job)
    lines = [_line(project, jobs[project.id], studio) for project in studio.store.projects()[::-1]]
    return page(
        request,
        "home.html.jinja",
        title=_title(lines),
        place="projects",
        status=422 if wrong or renaming else 200,
        lines=lines,
        sources=_sources(studio),
        typed=typed or {"name": "", "source": ""},
        wrong=wrong,
        renaming=renaming or {"project": ""},
        home_words={"chosen": _("{name} is chosen"), "sending": _("The file is sent.")},
    )


def _title(lines: Sequence[ProjectLine]) -> str:
    """Return the finding over all projects."""
    if not lines:
        return _("Nothing is here yet: begin with a file or with made-up data")
    safe = sum(line.best is not None and line.best.word.is_safe for line in lines)
    if safe:
        return ngettext(
            "{safe} of {count} projects has a release that may be handed out",
            "{safe} of {count} projects have a release that may be handed out",
            safe,
        ).format(safe=safe, count=len(lines))
    if any(line.best for line in lines):
        return _("No project has a release yet that may be handed out")
    return ngettext(
        "{count} project waits to be protected", "{count} projects wait to be protected", len(lines)
    ).format(count=len(lines))


def _line(project: Project, jobs: Sequence[Job], studio: Studio) -> ProjectLine:
    runs = [job for job in jobs if job.kind == "run"]
    reads = [job for job in jobs if job.kind == "read"]
    last = said_job(reads[-1], studio.jobs) if reads else None
    over = last is None or last.state not in ("waiting", "running")
    kinds = {"history": _("purchase history"), "table": _("table")}
    kind = str(project.facts.get("kind", ""))
    rule = rule_named(project.rule)
    best = _best([studio.place(job, rule) for job in runs if job.state == State.DONE])
    return ProjectLine(
        project=project,
        address=f"/projects/{project.id}/{'results' if best else 'data'}",
        kind=kinds.get(kind, kind),
        rows=int(project.facts.get("rows", 0)),
        people=int(project.facts["people"]) if kind == "history" else None,
        runs=len(runs),
        active=sum(not job.state.is_over for job in runs),
        best=best,
        reading=last if not over else None,
        wrong=last.error if last is not None and over and not project.is_ready else None,
        question=_question(project, len(runs)),
    )


def _best(places: Sequence[Place]) -> Place | None:
    """Return the run to be proud of: by its verdict, then by the use it keeps.

    >>> _best([Place(label="a", word="broken", use=0.9), Place(label="b", word="withstands"), Place(label="c")]).label
    'b'
    """
    return max(places, key=lambda one: (one.word.order, -1.0 if one.use is None else one.use), default=None)


def _question(project: Project, runs: int) -> str:
    said = ngettext(
        "Remove “{name}” with its data and its {runs} run? It cannot be brought back.",
        "Remove “{name}” with its data and its {runs} runs? It cannot be brought back.",
        runs,
    )
    return (said if runs else _("Remove “{name}” with its data? It cannot be brought back.")).format(
        name=project.name, runs=runs
    )


def _sources(studio: Studio) -> list[tuple[str, str]]:
    """Return what a project can begin with, beside a file: nothing, made-up data, public data of this machine."""
    titles = {dataset.name: dataset.title for dataset in catalog.known()}
    return [
        ("", _("no data yet")),
        *((f"sample:{name}", _(words)) for name, words in _SAMPLES.items()),
        *((f"dataset:{name}", _(titles[name])) for name in studio.datasets()),
    ]
