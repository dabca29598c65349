"""Approve, refuse and hand out a release: what the pages of runs and of the ledger's releases share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import RedirectResponse, Response

from noren.errors import NorenError
from noren.i18n import _
from noren.judgement.sentences import rule_sentence, word_text
from noren.studio import handing_out
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio, TheWho
from noren.studio.handing_out import Handout, ledger_release
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.users import UserRole, Who, least

__all__ = ["Act", "TypedIn", "acted", "handing_of", "router"]

router = APIRouter()

Act = Literal["approve", "refuse", "hand-out"]
_RELEASE = "/projects/{project}/ledger/releases/{number}"
Number = Annotated[int, Path(ge=1, le=10**6)]


def handing_of(studio: Studio, handout: Handout, who: Who, address: str) -> dict[str, Any]:
    """Return what the part ``handing_out.html.jinja`` of a page shows."""
    makers, decision = handing_out.makers_of(studio, handout), handing_out.decision_on(studio, handout)
    return {
        "address": address,
        "four_eyes": studio.settings.four_eyes,
        "has_users": who.is_user,
        "decision": decision,
        "may_leave": not studio.settings.four_eyes or (decision is not None and decision.stands),
        "makers": sorted(makers),
        "is_maker": who.login in makers,
        "may_decide": who.is_user and who.may(UserRole.REVIEWER),
        "may_publish": who.may(UserRole.STEWARD),
        "audited": handout.audited,
        "is_safe": handout.verdict.word.is_safe,
        "word": word_text(handout.verdict.word),
        "records": [one for one in handing_out.publications(studio, handout.project) if one.what == handout.what],
        "digest": handing_out.shown_digest(handout),
    }


async def _typed_in(request: Request) -> dict[str, str]:
    """Return what was written into a form."""
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}


def acted(studio: Studio, handout: Handout, who: Who, act: Act, typed: Mapping[str, str]) -> NorenError | None:
    """Do what a form asks for; return what is wrong, if anything is."""
    try:
        if act == "approve":
            handing_out.approve(studio, handout, who)
        elif act == "refuse":
            handing_out.refuse(studio, handout, who, typed.get("reason", ""))
        else:
            handing_out.publish(
                studio, handout, who,
                to=typed.get("to", ""), until=typed.get("until"), despite=typed.get("despite") == "yes",
            )  # fmt: skip
    except NorenError as error:
        return error
    return None


TypedIn = Annotated[dict[str, str], Depends(_typed_in)]


# --- a release of the ledger ---------------------------------------------------------------------------------


@router.get(_RELEASE)
def show_release(request: Request, project: Ident, number: Number, studio: TheStudio, who: TheWho) -> Response:
    """Show what can be done with a release of the ledger."""
    return _page(request, studio, ledger_release(studio, project, number), who, number, {}, None)


@router.post(_RELEASE + "/{act}")
@least(UserRole.REVIEWER)
def act_on_release(
    request: Request, project: Ident, number: Number, act: Act, studio: TheStudio, who: TheWho, typed: TypedIn
) -> Response:
    """Approve, refuse or hand out a release of the ledger."""
    handout = ledger_release(studio, project, number)
    wrong = acted(studio, handout, who, act, typed)
    if wrong is not None:
        return _page(request, studio, handout, who, number, typed, wrong)
    return RedirectResponse(_RELEASE.format(project=project, number=number), 303)


def _page(
    request: Request, studio: Studio, handout: Handout, who: Who, number: int, typed: Mapping[str, str],
    wrong: NorenError | None,
) -> Response:  # fmt: skip
    address = _RELEASE.format(project=handout.project, number=number)
    return page(
        request,
        "ledger_release.html.jinja",
        title=_("The release of {period}: who may have it, and who has it").format(period=handout.label),
        place="ledger",
        project=studio.project(handout.project),
        status=200 if wrong is None else int(getattr(wrong, "status", 422)),
        verdict_of_run=handout.verdict,
        rule=rule_sentence(handout.verdict.rule),
        handing=handing_of(studio, handout, who, address),
        public_address=f"/api/v1{address}/public",
        typed=typed,
        wrong="" if wrong is None else str(wrong),
    )
