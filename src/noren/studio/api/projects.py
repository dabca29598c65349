"""Projects."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from noren.studio.api.models import Ident, Part, ProjectChange, ProjectIn, ProjectOut, said_project
from noren.studio.api.surroundings import TheStudio
from noren.studio.lists import ProjectQuery, find_projects
from noren.web.error_models import errors

router = APIRouter(tags=["projects"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


class _Projects(Part, ProjectQuery):
    sort: Literal["newest", "oldest", "name", "used"] = "oldest"


@router.get("/projects")
def list_projects(studio: TheStudio, asked: Annotated[_Projects, Query()], response: Response) -> list[ProjectOut]:
    """Return projects, the oldest first unless another order is asked for; archived ones only where asked for."""
    return [said_project(one.project) for one in asked.part(find_projects(studio, asked), response)]


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
    """Give a project another name, judge its releases by another rule, archive it or bring it back."""
    if asked.rule is not None:
        studio.set_rule(project, asked.rule)
    if asked.name is not None:
        studio.rename(project, asked.name)
    if asked.archived is not None:
        studio.archive(project, archived=asked.archived)
    return said_project(studio.project(project))


@router.post("/projects/{project}/copy", status_code=201)
def copy_project(project: Ident, studio: TheStudio) -> ProjectOut:
    """Make a project of the same data without the runs, in which the columns can be read in another way."""
    return said_project(studio.copy(project))


@router.delete("/projects/{project}", status_code=204)
def remove_project(project: Ident, studio: TheStudio) -> Response:
    """Remove a project with everything made from it."""
    studio.remove(project)
    return Response(status_code=204)


@router.get("/datasets")
def list_datasets(studio: TheStudio) -> list[str]:
    """Return the public data sets found on this machine."""
    return studio.datasets()
