"""Pages of contests, teams, login and accounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.dependencies import ArenaAuthentication, ArenaService, Authentication
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.pages.frame import Fields, PageIdentity, Person, Visited, current_phase, page, rules, to_page
from noren.contest.phases import open_phases
from noren.contest.service import ArenaIdentity, ContestAccess
from noren.errors import NorenError
from noren.i18n import _
from noren.tables import table_of
from noren.web.actions import Action
from noren.web.errors import status_of
from noren.web.guard import drop_session, redirect_in
from noren.work.hash_chain import EntryContent

router = APIRouter()

_PLAYED = (PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK)


@router.get("/")
def show_home(request: Request, who: PageIdentity, service: ArenaService, auth: Authentication) -> Response:
    """Show all contests; a new server asks for its organiser first."""
    visits, now = service.visits(who), service.arena.now()
    if who.account is None and not visits and auth.is_new:
        return RedirectResponse("/sign-up", 303)
    lines: list[dict[str, Any]] = []
    for visit in visits:
        contest = visit.contest
        open_ = [] if contest.paused else [phase for phase in open_phases(contest.phases, now) if phase.kind in _PLAYED]
        lines.append(
            {
                "contest": contest,
                "headline": current_phase(contest, now),
                "is_open": bool(open_),
                "role": str(visit.role),
                "team": visit.own,
                "closes": min((phase.closes for phase in open_ if phase.closes), default=None),
            }
        )
    open_lines = [line for line in lines if line["is_open"]]
    if not lines:
        title = _("No contests yet")
    elif len(open_lines) == 1:
        title = f"{open_lines[0]['contest'].title}: {open_lines[0]['headline']}"
    else:
        title = _("Open contests: {open} of {all}").format(open=len(open_lines), all=len(lines))
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
    contest = visit.contest
    title, sentences = current_phase(contest, visit.now), rules(contest.rulebook, contest.settings)
    return page(request, "overview.html.jinja", title=title, place="overview", visit=visit, rules=sentences)


@router.get("/contests/{contest}/team")
def show_team(request: Request, visit: Visited) -> Response:
    """Show one's team, or the forms to join or create one."""
    return _team_page(request, visit)


_FORMS: dict[str, Action[..., list[EntryContent]]] = {
    "team": actions.register,
    "join": actions.join,
    "code": actions.new_code,
    "leave": actions.leave,
}
"""The action of a form, by the end of its address."""


@router.post("/contests/{contest}/team")
@router.post("/contests/{contest}/team/join")
@router.post("/contests/{contest}/team/code")
@router.post("/contests/{contest}/team/leave")
def change_team(request: Request, contest: str, who: Person, service: ArenaService, form: Fields) -> Response:
    """Create, join or leave a team, or give it another code; show an error at the form, which keeps its input."""
    name = request.url.path.rpartition("/")[2]
    typed = _FORMS[name].of_form(form)
    try:
        visit, generated = service.do(who, contest, _FORMS[name], **typed)
    except NorenError as error:
        if name == "code":
            raise
        return _team_page(request, service.visit(who, contest), status_of(error), wrong={name: str(error)}, typed=typed)
    if "code" in generated:  # it is shown once
        return _team_page(request, visit, code=generated["code"])
    return to_page(visit.contest, "team")


def _team_page(request: Request, visit: ContestAccess, status: int = 200, **context: Any) -> Response:
    context["wrong"] = dict.fromkeys(_FORMS, "") | context.get("wrong", {})
    context, own = {"code": "", "typed": {}} | context, visit.own
    title = _("You are not in a team yet") if own is None else _("You play for {name}").format(name=own.name)
    return page(request, "team.html.jinja", title=title, place="team", visit=visit, status=status, **context)


Typed = Annotated[str, Form(max_length=1000)]
_ENTRANCES, _SCOPES = table_of(__name__).values()


@router.get("/login")
@router.get("/reset")
@router.get("/sign-up")
def show_entrance(request: Request, auth: Authentication) -> Response:
    """Show the form to log in, to replace a code of the organiser by a password, or to sign up."""
    return _entrance_page(request, auth)


@router.post("/login")
def log_in(request: Request, auth: Authentication, login: Typed = "", password: Typed = "") -> Response:
    """Log in with a new session, against session fixation."""
    return _entered(request, auth, lambda: auth.enter(login, password, request.state.client), login=login)


@router.post("/reset")
def reset(
    request: Request, auth: Authentication, login: Typed = "", code: Typed = "", password: Typed = ""
) -> Response:
    """Set a new password and log in; the code works once."""
    change = partial(auth.change_password, login, code.strip().lower(), password, request.state.client, once=True)
    return _entered(request, auth, change, login=login)


@router.post("/sign-up")
def sign_up(
    request: Request, auth: Authentication, login: Typed = "", name: Typed = "", password: Typed = "", code: Typed = ""
) -> Response:
    """Create an account and log in; on a new server with the first organiser's code."""
    add = partial(auth.sign_up, login, name, password, request.state.client, code)
    return _entered(request, auth, add, login=login, name=name, code=code)


def _entered(request: Request, auth: ArenaAuthentication, enter: Callable[[], str | None], **typed: str) -> Response:
    """Open a session; show an error at the form, which keeps its input."""
    try:
        if (session := enter()) is None:
            raise RefusedError(_("login or password is wrong; try again"), status=403)
    except NorenError as error:
        return _entrance_page(request, auth, error, **typed)
    return redirect_in(request, session)


def _entrance_page(
    request: Request, auth: ArenaAuthentication, error: NorenError | None = None, **typed: str
) -> Response:
    name, status = request.url.path[1:].replace("-", "_"), 200 if error is None else status_of(error)
    is_new = name == "sign_up" and auth.is_new
    answer = page(
        request,
        f"{name}.html.jinja",
        title=_("Sign up as the first organiser") if is_new else _(_ENTRANCES[name]),
        place="",
        status=status,
        wrong="" if error is None else str(error),
        is_new=is_new,
        typed={"login": "", "name": "", "code": ""} | typed,
    )
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout")
def log_out(request: Request, auth: Authentication) -> Response:
    """End the session."""
    auth.leave(request.state.session)
    answer = RedirectResponse("/", 303)
    drop_session(answer, request)
    return answer


@router.get("/account")
def show_account(request: Request, who: Person, auth: Authentication, changed: bool = False) -> Response:
    """Show one's account."""
    done = _("The password was changed; all other sessions were ended.") if changed else ""
    return _account_page(request, who, auth, done=done)


@router.post("/account/password")
def change_password(
    request: Request, who: Person, auth: Authentication, old: Typed = "", password: Typed = ""
) -> Response:
    """Change the password; all other sessions end."""
    try:
        session = auth.change_password(who.require_account().login, old, password, request.state.client)
    except NorenError as error:
        return _account_page(request, who, auth, wrong_password=str(error), status=status_of(error))
    return redirect_in(request, session, "/account?changed=1")


@router.post("/account/tokens")
def make_token(
    request: Request,
    who: Person,
    auth: Authentication,
    name: Typed = "",
    scope: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Create a token and show it once."""
    try:
        _token, text = auth.make_token(who, " ".join(name.split()) or _("API token"), scope or ["read"])
    except NorenError as error:
        return _account_page(request, who, auth, wrong_token=str(error), status=status_of(error))
    return _account_page(request, who, auth, new_token=text)


@router.post("/account/tokens/{token}/revoke")
def revoke(request: Request, token: str, who: Person, auth: Authentication) -> Response:
    """Revoke a token."""
    auth.revoke(who, token)
    return RedirectResponse("/account#tokens", 303)


def _account_page(
    request: Request, who: ArenaIdentity, auth: ArenaAuthentication, status: int = 200, **context: Any
) -> Response:
    tokens = auth.tokens(who)
    context = {"wrong_password": "", "wrong_token": "", "new_token": "", "done": ""} | context
    return page(
        request,
        "account.html.jinja",
        title=_("Account of {name}").format(name=who.account.name if who.account else ""),
        place="account",
        status=status,
        tokens=tokens,
        scope_labels={name: _(text) for name, text in _SCOPES.items()},
        **context,
    )
