"""The first page: projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ConfigDict, Field

from noren.data import catalog
from noren.errors import NorenError
from noren.i18n import N_, _, ngettext
from noren.judgement.place import Place
from noren.studio.acts import projects as acts
from noren.studio.api.models import Ident, TheStudio, said_job
from noren.studio.lists import ProjectInList, ProjectQuery, find_projects
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.store import Project
from noren.web.frame import local_path

router = APIRouter()

_LONGEST = 2_000
_PAGE = 24
_FEW = 2
"""So many projects need no search."""
_SAMPLES = {"history": N_("made-up purchases of a shop"), "people": N_("a made-up table of people")}
Text = Annotated[str, Form(max_length=_LONGEST)]
Back = Annotated[str, Form(max_length=500)]


class _Asked(ProjectQuery):
    model_config = ConfigDict(extra="ignore")  # other parts of an address are for others

    start: int = Field(default=0, ge=0, le=10**6)


@router.get("/")
def show_home(request: Request, studio: TheStudio, asked: Annotated[_Asked, Query()]) -> Response:
    """Show the projects that are asked for, a page of them, and the way to a new one."""
    return _home(request, studio, asked)


@router.post("/projects")
def new_project(request: Request, studio: TheStudio, name: Text = "", source: Text = "") -> Response:
    """Begin a project; what cannot be is said beside the form, which keeps what was typed."""
    kind, _colon, which = source.partition(":")
    try:
        made = acts.add_project(studio, name=name, **({kind: which} if kind in ("sample", "dataset") else {}))
    except NorenError as error:
        return _home(request, studio, wrong=str(error), typed={"name": name, "source": source})
    return RedirectResponse(f"/projects/{made.id}/data", 303)


@router.post("/projects/{project}/rename")
def rename(request: Request, project: Ident, studio: TheStudio, name: Text = "", back: Back = "/") -> Response:
    """Give a project another name."""
    studio.project(project)
    try:
        acts.change_project(studio, project=project, name=name)
    except NorenError as error:
        return _home(request, studio, renaming={"project": project, "name": name, "wrong": str(error)})
    return RedirectResponse(local_path(back), 303)


@router.post("/projects/{project}/archive")
@router.post("/projects/{project}/unarchive")
def archive(request: Request, project: Ident, studio: TheStudio, back: Back = "/") -> Response:
    """Take a project out of the way, or bring it back."""
    acts.change_project(studio, project=project, archived=request.url.path.endswith("/archive"))
    return RedirectResponse(local_path(back), 303)


@router.post("/projects/{project}/remove")
def remove(request: Request, project: Ident, studio: TheStudio, sure: Text = "", back: Back = "/") -> Response:
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
            back=local_path(back),
            yes=_("Remove the project"),
        )
    acts.remove_project(studio, project=project)
    return RedirectResponse(local_path(back), 303)


def _home(
    request: Request,
    studio: Studio,
    asked: _Asked | None = None,
    *,
    wrong: str = "",
    typed: Mapping[str, str] | None = None,
    renaming: Mapping[str, str] | None = None,
) -> Response:
    asked = asked or _Asked(archived="all" if renaming else "")
    found = find_projects(studio, asked)
    every = studio.store.projects()
    titles = {dataset.name: dataset.title for dataset in catalog.known()}
    if renaming:  # what is wrong stands beside its project, on whichever page that is
        found = [one for one in found if one.project.id == renaming["project"]]
    return page(
        request,
        "home.html.jinja",
        title=_title(found, asked, len(every)),
        place="projects",
        status=422 if wrong or renaming else 200,
        lines=[_line(one, studio) for one in found[asked.start :][:_PAGE]],
        asked=asked,
        choices={
            "sort": [("newest", _("newest first")), ("used", _("last used first")), ("name", _("by name"))],
            "kind": [("", _("any data")), ("history", _("purchase histories")), ("table", _("tables of people"))],
            "release": [("", _("with or without")), ("with", _("with a release")), ("without", _("without a release"))],
            "archived": [("", _("not archived")), ("only", _("archived only")), ("all", _("all"))],
        },
        searchable=asked.is_narrow or len(every) > _FEW or any(project.archived for project in every),
        found=len(found),
        page_size=_PAGE,
        sources=[
            ("", _("no data yet")),
            *((f"sample:{name}", _(words)) for name, words in _SAMPLES.items()),
            *((f"dataset:{name}", _(titles[name])) for name in studio.datasets()),
        ],
        typed=typed or {"name": "", "source": ""},
        wrong=wrong,
        renaming=renaming or {"project": ""},
        home_words={
            "chosen": _("{name} is chosen"),
            "sending": _("The file is sent."),
            "stopped": _("Sending was stopped; nothing was kept."),
        },
    )


def _title(found: Sequence[ProjectInList], asked: _Asked, every: int) -> str:
    """Return the finding over all projects; of a search, how many it found."""
    if asked.is_narrow and every:
        said = ngettext("{count} of {every} project is shown", "{count} of {every} projects are shown", every)
        return said.format(count=len(found), every=every)
    if not found:
        return (
            _("Every project is archived")
            if every
            else _("Nothing is here yet: begin with a file or with made-up data")
        )
    safe = sum(one.may_be_handed_out for one in found)
    if safe:
        return ngettext(
            "{safe} of {count} projects has a release that may be handed out",
            "{safe} of {count} projects have a release that may be handed out",
            safe,
        ).format(safe=safe, count=len(found))
    if any(one.places for one in found):
        return _("No project has a release yet that may be handed out")
    return ngettext(
        "{count} project waits to be protected", "{count} projects wait to be protected", len(found)
    ).format(count=len(found))


def _line(one: ProjectInList, studio: Studio) -> dict[str, Any]:
    """Return what the page tells of a project."""
    project, runs = one.project, one.runs
    reads = [job for job in one.jobs if job.kind == "read"]
    last = said_job(studio, reads[-1]) if reads else None
    over = last is None or last.state not in ("waiting", "running")
    kinds = {"history": _("purchase history"), "table": _("table")}
    kind = str(project.facts.get("kind", ""))
    best = _best(one.places)
    return {
        "project": project,
        "address": f"/projects/{project.id}/{'results' if best else 'data'}",
        "kind": kinds.get(kind, kind),
        "rows": int(project.facts.get("rows", 0)),
        "people": int(project.facts["people"]) if kind == "history" else None,
        "runs": len(runs),
        "active": sum(not job.state.is_over for job in runs),
        "best": best,
        "reading": last if not over else None,
        "wrong": last.error if last is not None and over and not project.is_ready else None,
        "question": _question(project, len(runs)),
        "used": one.used,
    }


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
