"""What there is: methods, attacks, measures; and what of them suits a project."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods
from noren.methods.retention import Retention
from noren.registry import Registry, build, describe
from noren.studio.api.models import Ident, TheStudio
from noren.studio.forms.planning import USUAL_K, retention_plan
from noren.web.error_models import errors

router = APIRouter(tags=["components"], responses=errors(401))

Room = Literal["methods", "attacks", "measures"]
_ROOMS: dict[str, Registry[Any]] = {"methods": methods, "attacks": attacks, "measures": measures}
Name = Annotated[str, Query(min_length=1, max_length=200)]


class AttributeOut(BaseModel):
    """An attribute that would be released, and how many values it has."""

    name: str
    values: int


class PlanLine(BaseModel):
    """What is kept at one k: the probability of each attribute that a value stays as it is."""

    k: float
    rho: list[float]


class PlanOut(BaseModel):
    """What retention can keep of these attributes."""

    rows: int
    attributes: list[AttributeOut]
    plans: list[PlanLine]


@router.get("/methods")
def list_methods() -> list[dict[str, Any]]:
    """Return the methods and the JSON schemas of their parameters."""
    return [describe(methods[name]) for name in methods]


@router.get("/attacks")
def list_attacks() -> list[dict[str, Any]]:
    """Return the attacks and the JSON schemas of their parameters."""
    return [describe(attacks[name]) for name in attacks]


@router.get("/measures")
def list_measures() -> list[dict[str, Any]]:
    """Return the measures and the JSON schemas of their parameters."""
    return [describe(measures[name]) for name in measures]


@router.get("/projects/{project}/{room}/fitting", responses=errors(404, 409, 422))
def list_fitting(project: Ident, room: Room, studio: TheStudio) -> list[str]:
    """Return the names of those that work on a project's data."""
    return [component.name for component in studio.fitting(project, _ROOMS[room])]


@router.get("/projects/{project}/plan", responses=errors(404, 409, 422))
def show_plan(
    project: Ident,
    studio: TheStudio,
    attributes: Annotated[list[Name], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    k: Annotated[list[Annotated[float, Query(gt=1, lt=1e15)]], Query(max_length=50)] = [],  # noqa: B006
    domains: Literal["declared", "data"] = "declared",
) -> PlanOut:
    """Return what retention can keep: rho for each k, as ``noren plan`` works it out."""
    schema, profile = studio.schema(project), studio.profile(project)
    wanted = k or list(USUAL_K)
    method = build(Retention, {"attributes": attributes, "k": wanted[0], "domains": domains})
    plan = retention_plan(method, schema, profile, wanted[1:])
    return PlanOut(
        rows=plan.rows,
        attributes=[AttributeOut(name=name, values=values) for name, values in plan.attributes],
        plans=[PlanLine(k=k, rho=list(rhos)) for k, rhos in plan.lines],
    )
