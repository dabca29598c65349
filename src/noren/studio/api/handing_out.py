"""Approvals, refusals and publications of releases."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from noren.studio import handing_out
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio, TheWho
from noren.studio.handing_out import Decision, Publication, ledger_release, release_of_run
from noren.studio.users import UserRole, least
from noren.web.error_models import errors

router = APIRouter(tags=["handing out"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Number = Annotated[int, Path(ge=1, le=10**6)]
_LEDGER = "/projects/{project}/ledger/releases/{number}"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Refusal(_Strict):
    """Why a release is not to be handed out."""

    reason: str = Field(min_length=1, max_length=500)


class PublicationIn(_Strict):
    """To whom a release is handed out, and until when it may be used."""

    to: str = Field(min_length=1, max_length=500, examples=["Example University, laboratory of Prof. A"])
    until: str | None = Field(default=None, max_length=10, examples=["2027-03-31"])
    despite: bool = Field(default=False, description="hand it out although the rule does not call it safe")


class DecisionOut(BaseModel):
    """A reviewer's decision, with how the release was judged on that day."""

    decision: str
    who: str
    when: str
    reason: str
    digest: str
    judged: dict[str, Any]
    void: str = Field(description="why an approval counts no more; empty where it stands")


class PublicationOut(BaseModel):
    """That a release was handed out, with how it was judged on that day."""

    what: str = Field(description="the run, or ledger-N for a release of the ledger")
    label: str
    who: str
    when: str
    to: str
    until: str | None
    over: bool
    digest: str = Field(description="of the public rows, as noren digest prints it")
    rows: int
    approved_by: str | None
    despite: bool
    judged: dict[str, Any]
    entry: str = Field(description="the digest of its entry of the trail")


def _decided(decision: Decision) -> DecisionOut:
    judged = dict(decision.judged) | {"sentence": decision.sentence}
    return DecisionOut.model_validate(decision.__dict__ | {"judged": judged})


def _recorded(publication: Publication) -> PublicationOut:
    return PublicationOut.model_validate(publication.as_dict())


@router.post("/runs/{job}/approval", status_code=201)
@least(UserRole.REVIEWER)
def approve_run(job: Ident, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Approve the release of a run as it is; nobody approves what she made."""
    return _decided(handing_out.approve(studio, release_of_run(studio, job), who))


@router.post("/runs/{job}/refusal", status_code=201)
@least(UserRole.REVIEWER)
def refuse_run(job: Ident, asked: Refusal, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Refuse the release of a run, for a reason."""
    return _decided(handing_out.refuse(studio, release_of_run(studio, job), who, asked.reason))


@router.get("/runs/{job}/decision")
def show_decision(job: Ident, studio: TheStudio) -> DecisionOut | None:
    """Return the last approval or refusal of a run's release."""
    decision = handing_out.decision_on(studio, release_of_run(studio, job))
    return None if decision is None else _decided(decision)


@router.post("/runs/{job}/publications", status_code=201)
def publish_run(job: Ident, asked: PublicationIn, studio: TheStudio, who: TheWho) -> PublicationOut:
    """Record that the release of a run is handed out."""
    given = asked.model_dump()
    return _recorded(handing_out.publish(studio, release_of_run(studio, job), who, **given))


@router.get("/projects/{project}/publications")
def list_publications(project: Ident, studio: TheStudio) -> list[PublicationOut]:
    """Return what was handed out of a project, the newest first."""
    studio.project(project)
    return [_recorded(one) for one in handing_out.publications(studio, project)]


@router.post(_LEDGER + "/approval", status_code=201)
@least(UserRole.REVIEWER)
def approve_release(project: Ident, number: Number, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Approve a release of the ledger."""
    return _decided(handing_out.approve(studio, ledger_release(studio, project, number), who))


@router.post(_LEDGER + "/refusal", status_code=201)
@least(UserRole.REVIEWER)
def refuse_release(project: Ident, number: Number, asked: Refusal, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Refuse a release of the ledger, for a reason."""
    return _decided(handing_out.refuse(studio, ledger_release(studio, project, number), who, asked.reason))


@router.post(_LEDGER + "/publications", status_code=201)
def publish_release(
    project: Ident, number: Number, asked: PublicationIn, studio: TheStudio, who: TheWho
) -> PublicationOut:
    """Record that a release of the ledger is handed out."""
    given = asked.model_dump()
    return _recorded(handing_out.publish(studio, ledger_release(studio, project, number), who, **given))
