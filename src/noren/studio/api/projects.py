"""Projects."""

from __future__ import annotations

from fastapi import APIRouter, Response

from noren.studio.api.models import Ident, ProjectChange, ProjectIn, ProjectOut, said_project
from noren.studio.api.surroundings import TheStudio
from noren.web.error_models import errors

router = APIRouter(tags=["projects"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


@router.get("/projects")
def list_projects(studio: TheStudio) -> list[ProjectOut]:
    """Return all projects, the oldest first."""
    return [said_project(project) for project in studio.store.projects()]


@router.post("/projects", status_code=201)
def add_project(asked: ProjectIn, studio: TheStudio) -> ProjectOut:
    """Add a project."""
    return said_project(studio.new_project(asked.name, sample=asked.sample, dataset=asked.dataset))


@router.get("/projects/{project}")
def show_project(project: Ident, studio: TheStudio) -> ProjectOut:
    """Return a project."""
    return said_project(studio.project(project))


@router.patch("/projects/{project}")
def change_project(project: Ident, asked: ProjectChange, studio: TheStudio) -> ProjectOut:
    """Give a project another name, or judge its releases by another rule."""
    if asked.rule is not None:
        studio.set_rule(project, asked.rule)
    if asked.name is not None:
        studio.rename(project, asked.name)
    return said_project(studio.project(project))


@router.delete("/projects/{project}", status_code=204)
def remove_project(project: Ident, studio: TheStudio) -> Response:
    """Remove a project with everything made from it."""
    studio.remove(project)
    return Response(status_code=204)


@router.get("/datasets")
def list_datasets(studio: TheStudio) -> list[str]:
    """Return the public data sets found on this machine."""
    return studio.datasets()
