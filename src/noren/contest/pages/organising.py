"""What an organiser does: pause, resume, extend, score again, invite, disqualify; and what is to be looked at."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from noren.contest import acts
from noren.contest.dependencies import broken_rule
from noren.contest.desk import Desk, Who
from noren.contest.judging import SCORER
from noren.contest.pages.frame import Asker, TheDesk, address, page, to_login
from noren.contest.phases import Phase, moment, opened_now, zone_named
from noren.contest.state import Contest, Settings
from noren.errors import NorenError, ParameterError
from noren.i18n import _, ngettext
from noren.judgement.numbers import count
from noren.web.actions import Action
from noren.work.chain import Said
from noren.work.queue import State

router = APIRouter()

Text = Annotated[str, Form(max_length=1000)]
_MOST_JOBS = 50
_LONGEST_URL = 500
_PLAIN: dict[str, Action[..., list[Said]]] = {
    one.name: one for one in (acts.pause, acts.resume, acts.rescore, acts.invite, acts.disqualify, acts.reinstate)
}
"""What is done as its form says it."""
_ACTS = (*_PLAIN, "hook", "unhook", "open", "phases", "settings", "retry", "clock")


@router.get("/contests/{contest}/organise")
def show_organise(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Show how the contest goes and what may be done."""
    return to_login() if who.account is None else _organise_page(request, contest, who, desk)


@router.post("/contests/{contest}/organise/{act}")
async def organise(request: Request, contest: str, act: str, who: Asker, desk: TheDesk) -> Response:
    """Do one of the organiser's acts; what cannot be is said on the page, which keeps what was typed."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    return await run_in_threadpool(_organised, request, contest, act, who, desk, form)


def _organised(request: Request, contest: str, act: str, who: Who, desk: Desk, form: Mapping[str, str]) -> Response:
    if who.account is None:
        return to_login()
    found = desk.organised(who, contest)
    try:
        shown = _done(found, act, who, desk, form)
    except NorenError as error:
        status = int(getattr(error, "status", 422))
        return _organise_page(request, contest, who, desk, status, wrong={act: str(error)}, typed=form)
    if shown:
        return _organise_page(request, contest, who, desk, **shown)
    return RedirectResponse(address(contest, "organise"), 303)


def _done(found: Contest, act: str, who: Who, desk: Desk, form: Mapping[str, str]) -> dict[str, Any]:
    """Do an act; return what is to be shown once, if anything."""
    name, reason = found.id, form.get("reason", "")
    if act in _PLAIN:
        done = desk.do(who, name, _PLAIN[act], **_PLAIN[act].of_form(form))
        return {"invitation": done.given["code"]} if "code" in done.given else {}
    if act == "hook":
        return {"hook_secret": desk.add_hook(who, name, form.get("url", "")[:_LONGEST_URL])[1]}
    if act == "unhook":
        desk.remove_hook(who, name, form.get("hook", ""))
    elif act == "open":
        moved = opened_now(found.phases, desk.arena.now())
        desk.do(who, name, acts.reschedule, phases=moved, reason=reason or _("opened by hand"))
    elif act == "phases":
        desk.do(who, name, acts.reschedule, phases=_phases(found, form), reason=reason)
    elif act == "settings":
        desk.do(who, name, acts.change_settings, settings=_settings(found, form), reason=reason)
    elif act == "retry":
        desk.retry(who, name, form.get("job", ""))
    elif act == "clock":
        desk.move_clock(who, moment(form.get("to", ""), found.settings.zone))
    else:
        raise acts.RefusedError(_("there is no such page"), status=404)
    return {}


def _settings(contest: Contest, form: Mapping[str, str]) -> Settings:
    """Return the settings with what a form says; what it does not name stays."""
    said: dict[str, Any] = {
        name: form[name] for name in ("team_size", "registration", "visibility", "counting") if name in form
    }
    if "largest" in form:
        said["largest_file"] = (
            int(float(form["largest"]) * 2**20) if form["largest"].replace(".", "", 1).isdigit() else 0
        )
    try:
        return Settings.model_validate(contest.settings.model_dump() | said)
    except ValidationError as error:
        raise broken_rule(error) from None


def _phases(contest: Contest, form: Mapping[str, str]) -> list[Phase]:
    """Return the phases with the times of a form, which are of the contest's time zone."""
    zone = contest.settings.zone
    made = []
    for phase in contest.phases:
        given = {name: form.get(f"{name}-{phase.id}", "").strip() for name in ("opens", "closes", "frozen_from")}
        if not given["opens"]:
            raise ParameterError(_("the phase {phase} has no beginning").format(phase=phase.id), _("write one"))
        times = {name: _kept(getattr(phase, name), text, zone) if text else None for name, text in given.items()}
        made.append(phase.model_copy(update=times))
    return made


def _kept(old: str | None, text: str, zone: str) -> str:
    """Return a moment of a form; one that nobody changed keeps its seconds."""
    return old if old is not None and local_time(old, zone) == text else moment(text, zone)


def local_time(moment_: str | None, zone: str) -> str:
    """Return a moment as a field of a form holds it.

    >>> local_time("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026-04-01T09:00'
    """
    if moment_ is None:
        return ""
    return f"{dt.datetime.fromisoformat(moment_).astimezone(zone_named(zone)):%Y-%m-%dT%H:%M}"


def _organise_page(request: Request, contest: str, who: Who, desk: Desk, status: int = 200, **told: Any) -> Response:
    found = desk.organised(who, contest)
    jobs = desk.arena.store.jobs.of(found.id)
    active = [one for one in jobs if not one.state.is_over]
    stuck = [one for one in jobs if one.state in (State.FAILED, State.INTERRUPTED) or (one.error and one in active)]
    noticed = [one for one in jobs if one.notice and one not in stuck and one not in active]
    told = {"invitation": "", "hook_secret": "", "typed": {}} | told
    now = desk.arena.now()
    told["wrong"] = dict.fromkeys(_ACTS, "") | told.get("wrong", {})
    return page(
        request,
        "organise.html.jinja",
        title=_title(found, len(active), len(stuck)),
        place="organise",
        contest=found,
        status=status,
        jobs=[*stuck, *[one for one in active if one not in stuck], *noticed[::-1]][:_MOST_JOBS],
        stuck={one.id for one in stuck},
        flags=_flags(found),
        fields=[(phase, _times(found, phase, told["typed"])) for phase in found.phases],
        installed=SCORER,
        teams=_teams(found),
        hooks=[one for one in desk.arena.store.hooks.of(found.id) if one.disabled is None],
        coming=next((one for one in found.phases if one.opens > now), None),
        clock=local_time(now, found.settings.zone),
        **told,
    )


def _title(contest: Contest, active: int, stuck: int) -> str:
    teams = len(contest.teams)
    said = ngettext(
        "{teams} team, {files} files handed in, {active} with the judge",
        "{teams} teams, {files} files handed in, {active} with the judge",
        teams,
    ).format(teams=count(teams), files=count(len(contest.submissions)), active=count(active))
    if contest.paused is not None:
        said = _("Paused. {said}").format(said=said)
    if stuck:
        said += "; " + ngettext("{count} job is stuck", "{count} jobs are stuck", stuck).format(count=count(stuck))
    return said


def _times(contest: Contest, phase: Phase, typed: Mapping[str, str]) -> dict[str, str]:
    zone = contest.settings.zone
    return {
        name: typed.get(f"{name}-{phase.id}", local_time(getattr(phase, name), zone))
        for name in ("opens", "closes", "frozen_from")
    }


def _flags(contest: Contest) -> list[dict[str, Any]]:
    made = []
    for flag in contest.flags:
        both = [contest.submissions[one] for one in flag["submissions"]]
        made.append({"share": flag["share"], "files": both, "teams": [contest.teams[one.team] for one in both]})
    return made


def _teams(contest: Contest) -> Sequence[dict[str, Any]]:
    return [
        {
            "team": team,
            "releases": sum(one.kind == "release" for one in contest.of_team(team.id)),
            "guesses": sum(one.kind == "guess" for one in contest.of_team(team.id)),
            "refunded": sum(one.refunded is not None for one in contest.of_team(team.id)),
        }
        for team in contest.teams.values()
    ]
