"""Pages for everybody: contests that one may see, one at a glance, one's team; logging in, and one's own account."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest import actions
from noren.contest.dependencies import ArenaAuthentication, ArenaService, TheEntrance
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.pages.frame import Asker, Person, Visited, finding_now, page, rules, status_of, to_page
from noren.contest.phases import open_phases
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService
from noren.contest.store.database import SCOPES
from noren.errors import NorenError
from noren.i18n import N_, _, ngettext
from noren.web.actions import Action
from noren.web.guard import drop_session, redirect_in
from noren.work.hash_chain import EntryContent

router = APIRouter()

Text = Annotated[str, Form(max_length=200)]

_PLAYED = (PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK)


@router.get("/")
def show_home(request: Request, who: Asker, service: ArenaService, entrance: TheEntrance) -> Response:
    """Show all contests; a server without an organiser asks for one first."""
    found, now = service.visits(who), service.arena.now()
    if who.account is None and not found and entrance.is_new:
        return RedirectResponse("/sign-up", 303)
    lines: list[dict[str, Any]] = []
    for visit in found:
        contest = visit.contest
        open_ = [] if contest.paused else [one for one in open_phases(contest.phases, now) if one.kind in _PLAYED]
        lines.append(
            {
                "contest": contest,
                "finding": finding_now(contest, now),
                "is_open": bool(open_),
                "role": str(visit.role),
                "team": visit.own,
                "closes": min((one.closes for one in open_ if one.closes), default=None),
            }
        )
    open_lines = [line for line in lines if line["is_open"]]
    if not lines:
        title = _("No contest yet that you may see")
    elif len(open_lines) == 1:
        title = f"{open_lines[0]['contest'].title}: {open_lines[0]['finding']}"
    elif open_lines:
        title = ngettext("{count} contest is open now", "{count} contests are open now", len(open_lines))
        title = title.format(count=len(open_lines))
    else:
        title = ngettext(
            "{count} contest, and nothing is open now", "{count} contests, and nothing is open now", len(lines)
        ).format(count=len(lines))
    return page(
        request,
        "home.html.jinja",
        title=title,
        place="contests",
        lines=lines,
        may_create=who.account is not None and who.account.is_organiser,
        organiser=str(ContestRole.ORGANISER),
    )


@router.get("/contests/{contest}")
def show_overview(request: Request, visit: Visited) -> Response:
    """Show schedule and rules."""
    found = visit.contest
    return page(
        request,
        "overview.html.jinja",
        title=finding_now(found, visit.now),
        place="overview",
        visit=visit,
        rules=rules(found.rulebook, found.settings),
        rulebook=found.rulebook.to_toml(),
        rulebook_digest=found.rulebook.digest,
        own=visit.own,
    )


@router.get("/contests/{contest}/team")
def show_team(request: Request, visit: Visited) -> Response:
    """Show one's team, or the ways to one."""
    return _team_page(request, visit)


@router.post("/contests/{contest}/team")
def found_team(
    request: Request, contest: str, who: Person, service: ArenaService, name: Text = "", invitation: Text = ""
) -> Response:
    """Found a team, and show its code once."""
    return _act(request, contest, who, service, actions.register, "wrong_found", name=name, invitation=invitation)


@router.post("/contests/{contest}/team/join")
def join_team(request: Request, contest: str, who: Person, service: ArenaService, code: Text = "") -> Response:
    """Join a team by its code."""
    return _act(request, contest, who, service, actions.join, "wrong_join", code=code)


@router.post("/contests/{contest}/team/code")
def change_code(request: Request, contest: str, who: Person, service: ArenaService) -> Response:
    """Give the team another code, and show it once."""
    return _act(request, contest, who, service, actions.new_code, "")


@router.post("/contests/{contest}/team/leave")
def leave_team(request: Request, contest: str, who: Person, service: ArenaService) -> Response:
    """Leave the team."""
    return _act(request, contest, who, service, actions.leave, "wrong_leave")


def _act(
    request: Request,
    contest: str,
    who: ArenaIdentity,
    service: ContestService,
    act: Action[..., list[EntryContent]],
    wrong: str,
    **typed: str,
) -> Response:
    """Do what a form of the page asks; what cannot be is said at the form, which keeps what was typed."""
    try:
        visit, given = service.do(who, contest, act, **typed)
    except NorenError as error:
        if not wrong:
            raise
        told = {wrong: str(error), "typed": typed}
        return _team_page(request, service.visit(who, contest), status_of(error), **told)
    if "code" in given:
        return _team_page(request, visit, code=given["code"])
    return to_page(visit.contest, "team")


def _team_page(request: Request, visit: ContestAccess, status: int = 200, **told: Any) -> Response:
    told = {"wrong_found": "", "wrong_join": "", "wrong_leave": "", "code": "", "typed": {}} | told
    own = visit.own
    if own is None:
        title = _("You are in no team yet: found one, or join one by its code")
    else:
        title = ngettext(
            "You play for {name}, a team of {count}", "You play for {name}, a team of {count}", len(own.members)
        ).format(name=own.name, count=len(own.members))
    return page(request, "team.html.jinja", title=title, place="team", visit=visit, status=status, own=own, **told)


Typed = Annotated[str, Form(max_length=1000)]
_SCOPES = {
    "read": N_("look at contests and boards"),
    "team": N_("play: get data, hand in files"),
    "organiser": N_("organise contests"),
}


# --- coming in -------------------------------------------------------------------------------------------------------


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask who it is."""
    return _login_page(request)


@router.post("/login")
def log_in(request: Request, entrance: TheEntrance, login: Typed = "", password: Typed = "") -> Response:
    """Let in who knows the password; a new session, so that nobody can have prepared it."""
    try:
        session = entrance.enter(login, password, request.state.client)
    except NorenError as error:
        return _login_page(request, str(error), login, 429)
    if session is None:
        return _login_page(request, _("The login or the password is wrong; after ten tries wait a minute."), login, 403)
    return redirect_in(request, session)


def _login_page(request: Request, wrong: str = "", login: str = "", status: int = 200) -> Response:
    answer = page(
        request, "login.html.jinja", title=_("Log in to play"), place="", status=status, wrong=wrong, login=login
    )
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout")
def log_out(request: Request, entrance: TheEntrance) -> Response:
    """End the session."""
    entrance.leave(request.state.session)
    answer = RedirectResponse("/", 303)
    drop_session(answer, request)
    return answer


@router.get("/sign-up")
def show_sign_up(request: Request, entrance: TheEntrance) -> Response:
    """Ask for a login, a name and a password; on a new server also for the first organiser's code."""
    return _sign_up_page(request, entrance)


@router.post("/sign-up")
def sign_up(
    request: Request, entrance: TheEntrance, login: Typed = "", name: Typed = "", password: Typed = "", code: Typed = ""
) -> Response:
    """Make an account and log in."""
    try:
        session = entrance.sign_up(login, name, password, request.state.client, code)
    except NorenError as error:
        return _sign_up_page(request, entrance, error, login=login, name=name, code=code)
    return redirect_in(request, session)


def _sign_up_page(
    request: Request, entrance: ArenaAuthentication, error: NorenError | None = None, **typed: str
) -> Response:
    is_new = entrance.is_new
    return page(
        request,
        "sign_up.html.jinja",
        title=_("This arena is new: become its organiser") if is_new else _("Sign up: everybody has an account"),
        place="",
        status=200 if error is None else status_of(error),
        wrong="" if error is None else str(error),
        is_new=is_new,
        typed={"login": "", "name": "", "code": ""} | typed,
    )


# --- one's account ---------------------------------------------------------------------------------------------------


@router.get("/account")
def show_account(request: Request, who: Person, entrance: TheEntrance, changed: bool = False) -> Response:
    """Show one's account."""
    done = _("The password is changed; other sessions have ended.") if changed else ""
    return _account_page(request, who, entrance, done=done)


@router.post("/account/password")
def change_password(
    request: Request, who: Person, entrance: TheEntrance, old: Typed = "", password: Typed = ""
) -> Response:
    """Set another password; all other sessions end."""
    try:
        session = entrance.change_password(who, old, password, request.state.client)
    except NorenError as error:
        return _account_page(request, who, entrance, wrong_password=str(error), status=status_of(error))
    return redirect_in(request, session, "/account?changed=1")


@router.post("/account/tokens")
def make_token(
    request: Request,
    who: Person,
    entrance: TheEntrance,
    name: Typed = "",
    scope: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Make a token and show it, once."""
    try:
        _token, text = entrance.make_token(who, " ".join(name.split()) or _("a program"), scope or ["read"])
    except NorenError as error:
        return _account_page(request, who, entrance, wrong_token=str(error), status=status_of(error))
    return _account_page(request, who, entrance, new_token=text)


@router.post("/account/tokens/{token}/revoke")
def revoke(request: Request, token: str, who: Person, entrance: TheEntrance) -> Response:
    """Let a token open nothing any more."""
    entrance.revoke(who, token)
    return RedirectResponse("/account#tokens", 303)


def _account_page(
    request: Request, who: ArenaIdentity, entrance: ArenaAuthentication, status: int = 200, **told: Any
) -> Response:
    offered = [name for name in SCOPES if name != "organiser" or (who.account and who.account.is_organiser)]
    tokens = entrance.tokens(who)
    title = _("{name}: no program acts in your name")
    if tokens:
        title = ngettext(
            "{name}: {count} program acts in your name", "{name}: {count} programs act in your name", len(tokens)
        )
    told = {"wrong_password": "", "wrong_token": "", "new_token": "", "done": ""} | told
    return page(
        request,
        "account.html.jinja",
        title=title.format(name=who.account.name if who.account else "", count=len(tokens)),
        place="account",
        status=status,
        tokens=tokens,
        scopes=[(name, _(_SCOPES[name])) for name in offered],
        scope_words={name: _(text) for name, text in _SCOPES.items()},
        **told,
    )
