"""The frame of the studio's pages: its rail, and the project that a page is about."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Final, Self, cast

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from noren.errors import NorenError
from noren.i18n import N_, active_language
from noren.judgement import sentences
from noren.judgement.glossary import terms
from noren.studio.api.models import Ident, TheStudio
from noren.studio.approvals import inbox, publications
from noren.studio.service import Studio
from noren.studio.store import Job, Project
from noren.studio.users import StudioIdentity, UserRole, needed_role
from noren.tables import table_of
from noren.web.frame import Frame, RailEntry


def sentence(message: str) -> str:
    """Return a message with its remedy as a sentence of a page."""
    if active_language() == "ja":
        return message.replace("; ", "。") + "。"
    return f"{message[:1].upper()}{message[1:]}."


_ATTRIBUTE: Final = {
    name: re.compile(rf'\b{name}="([^"]*)"') for name in ("method", "action", "formaction", "href", "class", "id")
}
_FORM, _LINK, _BUTTON = (re.compile(rf"<{tag}\b([^>]*)>(.*?)</{tag}>", re.DOTALL) for tag in ("form", "a", "button"))
_CONTROL = re.compile(r'<input type="(?:hidden|file)"[^>]*>|<label class="button.*?</label>', re.DOTALL)
_BOXES = [re.compile(rf"<{tag}\b(?:(?!</?{tag}\b).)*</{tag}>", re.DOTALL) for tag in ("details", "section")]
_CONTENT = re.compile(r"<(?:table|a|form|fieldset|figure|dl|progress|strong)\b")
_GONE: Final = "<!-- -->"
"""What stands where a form was; a box with nothing else in it goes, too."""
_READABLE: Final = frozenset({"columns-form"})
"""The forms that show what a project is."""
ROUTES: Final[list[Any]] = []
"""The routes of all pages, in order."""
FRAME = Frame("noren.studio", home=N_("Projects"))
FRAME.surroundings.globals |= {"sentence": sentence, "sentences": sentences, "terms": terms}
_RAIL = [RailEntry(key, **entry) for key, entry in table_of("noren.studio.pages.rail")["projects"].items()]
_OF_PEOPLE = [
    (UserRole(about["role"]), RailEntry(key, **about["entry"]))
    for key, about in table_of("noren.studio.pages.rail")["people"].items()
]
"""What stands on the rail beside the projects, for whom."""
_LISTS_PUBLICATIONS = ("protect", "results", "compare")
"""Pages that list earlier publications; the page of the ledger shows all records."""


async def _typed(request: Request) -> dict[str, str]:
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}


Typed = Annotated[dict[str, str], Depends(_typed)]
"""What was written into a form."""


def page(
    request: Request, template: str, *, place: str, project: Project | None = None, **context: Any
) -> HTMLResponse:
    """Render a page of the studio (:meth:`noren.web.frame.Frame.page`); without a project the rail is short."""
    who: StudioIdentity | None = getattr(request.state, "who", None)
    rail = [
        entry.filled(project=project.id if project else "")
        for entry in _RAIL
        if (project is not None or "{project}" not in entry.address) and (who is None or who.sees(entry.key))
    ]
    studio: Studio = request.app.state.studio
    if project is None and who is not None:
        four_eyes = studio.settings.four_eyes and who.is_user
        rail += [entry.filled() for role, entry in _OF_PEOPLE if who.may(role) and (four_eyes or entry.key != "inbox")]
    context |= {
        "project": project,
        "who": who,
        "publications_listed": publications(studio, project.id) if project and place in _LISTS_PUBLICATIONS else [],
        "can_leave": who is not None and request.app.state.login.needed,
        "inbox_count": 0 if who is None else len(inbox(studio, who)),
    }
    answer = FRAME.page(request, template, place=place, rail=rail, **context)
    if who is not None and who.is_user:
        return HTMLResponse(_permitted(bytes(answer.body).decode(), who), answer.status_code)
    return answer


def _permitted(text: str, who: StudioIdentity) -> str:
    """Return a page without what a user's role may not do, however its templates were written.

    Forms that she may not send are left out, with the box around them where it holds nothing else; one that shows what
    a project is stays, disabled. A link that she may not follow is plain text, and gone where it is a button.
    """

    @cache
    def may(method: str, address: str) -> bool:
        path = html.unescape(address).partition("#")[0].partition("?")[0]
        route = next((one for one in ROUTES if method in one.methods and one.path_regex.match(path)), None)
        return route is None or who.may(needed_role(route.endpoint, method))

    def attribute(name: str, tag: str) -> str:
        match = _ATTRIBUTE[name].search(tag)
        return match[1] if match else ""

    def form(match: re.Match[str]) -> str:
        start, body = match.groups()
        if attribute("method", start).lower() != "post":
            return match[0]
        if may("POST", attribute("action", start)):
            return f"<form{start}>{_BUTTON.sub(button, body)}</form>"
        shown = _CONTROL.sub("", _BUTTON.sub("", body))
        if (name := attribute("id", start)) in _READABLE:
            return f'<fieldset class="read-only" id="{name}" disabled>{shown}</fieldset>'
        links = "".join(one[0] for one in _LINK.finditer(shown))
        has_fields = re.search(r"<(?:input|select|textarea)\b", shown)
        return f'<p class="actions">{links}</p>' if links and not has_fields else _GONE

    def button(match: re.Match[str]) -> str:
        other = attribute("formaction", match[1])
        return match[0] if not other or may("POST", other) else ""

    def link(match: re.Match[str]) -> str:
        if may("GET", attribute("href", match[1])):
            return match[0]
        return "" if "button" in attribute("class", match[1]) else match[2]

    text = _FORM.sub(form, _LINK.sub(link, text))
    for box in _BOXES:
        text = box.sub(lambda match: "" if _GONE in match[0] and not _CONTENT.search(match[0]) else match[0], text)
    return text


@dataclass(frozen=True)
class StudioRequest:
    """Somebody's request for a page; after a form, what was typed and what was ``wrong`` with it."""

    request: Request
    studio: Studio
    typed: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    wrong: str = field(default="", kw_only=True)
    status: int = field(default=200, kw_only=True)

    @property
    def who(self) -> StudioIdentity:
        """Who asks."""
        return cast("StudioIdentity", self.request.state.who)

    def page(self, template: str, **context: Any) -> HTMLResponse:
        """Render the page (:func:`page`)."""
        after: dict[str, Any] = {"typed": self.typed, "wrong": self.wrong, "status": self.status}
        return page(self.request, template, **after | context)

    def again(self, wrong: NorenError | str, typed: Mapping[str, str] | None = None, status: int = 422) -> Self:
        """Return the visit to a page that says what is wrong with its form, and keeps what was typed."""
        return replace(self, wrong=str(wrong), typed=typed or {}, status=status)


@dataclass(frozen=True)
class ProjectRequest(StudioRequest):
    """Somebody's request for a page about a project."""

    project: Project

    def page(self, template: str, **context: Any) -> HTMLResponse:
        """Render the page, with the rail of its project; stewards see on Data who may read it."""
        if context.get("place") == "data" and self.who.is_user and self.who.may(UserRole.STEWARD):
            store, reads = self.studio.store, frozenset(self.studio.store.readers(self.project.id))
            users = [user for user in store.users.all() if user.role == UserRole.READER and not user.revoked]
            context["readers"] = [(user, user.login in reads) for user in users]
        return super().page(template, project=self.project, **context)

    def to_page(self, name: str) -> RedirectResponse:
        """Send somebody to a page of the project."""
        return RedirectResponse(f"/projects/{self.project.id}/{name}", 303)


@dataclass(frozen=True)
class RunRequest(ProjectRequest):
    """Somebody's request for a page about a run of a project."""

    run: Job

    @property
    def address(self) -> str:
        """Where the page of the run's result is."""
        return f"/projects/{self.project.id}/results/{self.run.id}"

    def page(self, template: str, **context: Any) -> HTMLResponse:
        """Render the page, which knows the run and where its result is."""
        return super().page(template, run=self.run, result_address=self.address, **context)


def _studio_visit(request: Request, studio: TheStudio) -> StudioRequest:
    return StudioRequest(request, studio)


def _visit(request: Request, project: Ident, studio: TheStudio) -> ProjectRequest:
    return ProjectRequest(request, studio, studio.project(project))


def _ready_visit(request: Request, project: Ident, studio: TheStudio) -> ProjectRequest:
    return ProjectRequest(request, studio, studio.ready_project(project))


def run_visit(request: Request, project: Ident, job: Ident, studio: TheStudio) -> RunRequest:
    """Return a visit to a run of a project whose data were read, or say that it is gone."""
    owner = studio.ready_project(project)
    return RunRequest(request, studio, owner, studio.job(job, kind="run", project=owner.id))


OfStudio = Annotated[StudioRequest, Depends(_studio_visit)]
OfProject = Annotated[ProjectRequest, Depends(_visit)]
OfReady = Annotated[ProjectRequest, Depends(_ready_visit)]
"""Of a project whose data were read."""
OfRun = Annotated[RunRequest, Depends(run_visit)]
