"""What both servers answer: pages that they share, and what they say when something is the matter."""

from __future__ import annotations

import gzip
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException

from noren.errors import CheckFailedError, InputError, NorenError
from noren.i18n import _
from noren.judgement.glossary import chapters
from noren.web.frame import Bundle, local_path
from noren.web.guard import LANGUAGE, THEME, keep_cookie
from noren.web.refusals import DATABASE_AWAY, DISK_FULL, is_database_away, is_disk_full
from noren.web.uploads import BodyError


class Page(Protocol):
    """How a server renders one of its pages (:meth:`noren.web.frame.Frame.page` with its rail)."""

    def __call__(
        self, request: Request, template: str, *, title: str, place: str, status: int = 200, **context: Any
    ) -> Response:
        """Render a page."""


def answer_errors(app: FastAPI, page: Page, not_there: tuple[type[Exception], ...] = ()) -> None:
    """Have an application answer every error: in its own words where it has some, without a word of ours otherwise.

    ``not_there`` are errors of its own that mean that there is no such page.
    """
    answers = _Answers(page)
    for error in not_there:
        app.add_exception_handler(error, answers.not_there)
    for error in (OSError, DBAPIError, NoConnectionError):
        app.add_exception_handler(error, answers.by_system)
    app.add_exception_handler(NorenError, answers.said)
    app.add_exception_handler(RequestValidationError, answers.not_valid)
    app.add_exception_handler(HTTPException, answers.by_status)
    app.add_exception_handler(Exception, answers.unexpected)


class _Answers:
    def __init__(self, page: Page) -> None:
        self._page = page

    def _answer(self, request: Request, status: int, content: dict[str, object]) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": content}, status)
        message = str(content["message"])
        return self._page(request, "error.html.jinja", title=message[:1].upper() + message[1:], place="", status=status)

    def _no_room(self, request: Request) -> Response:
        return self._answer(request, 507, {"message": _(DISK_FULL)})

    async def said(self, request: Request, error: Exception) -> Response:
        """Answer with what our own error says."""
        if is_disk_full(error):
            return self._no_room(request)
        content: dict[str, object] = {"message": str(error)}
        if isinstance(error, InputError):
            content |= error.problem.as_dict()
        return self._answer(request, _status(error), content)

    async def by_system(self, request: Request, error: Exception) -> Response:
        """Answer what the disk or the database said; all but a full disk and a database that is away is unexpected."""
        if is_disk_full(error):
            return self._no_room(request)
        if is_database_away(error):
            return self._answer(request, 503, {"message": _(DATABASE_AWAY)})
        raise error

    async def not_there(self, request: Request, _error: Exception) -> Response:
        """Answer that there is no such page."""
        return self._answer(request, 404, {"message": _("there is no such page")})

    async def not_valid(self, request: Request, error: Exception) -> Response:
        """Answer which rule the request breaks."""
        first = error.errors()[0] if isinstance(error, RequestValidationError) and error.errors() else {}
        place = ".".join(str(part) for part in first.get("loc", ())[1:])
        said = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=first.get("msg", ""))
        return self._answer(request, 422, {"message": said[:500]})

    async def by_status(self, request: Request, error: Exception) -> Response:
        """Answer with a status that was raised."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        told = error.detail if isinstance(error, BodyError) else _("there is no such page") if status == 404 else None
        response = self._answer(request, status, {"message": told or _("this cannot be done here")})
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    async def unexpected(self, request: Request, _error: Exception) -> Response:
        """Answer without a word of what happened, which may tell what nobody should know."""
        return self._answer(request, 500, {"message": _("this should not happen; the terminal tells more")})


def _status(error: Exception) -> int:
    """Return the status of an error: its own where it names one."""
    otherwise = 409 if isinstance(error, CheckFailedError) else 422
    return int(getattr(error, "status", otherwise))


_YEAR = 365 * 86_400
_LONGEST = 2_000


def common_pages(page: Page) -> APIRouter:
    """Return the routes; ``page`` renders as the server does, ``app.state.bundle`` is the charts' script."""
    router = APIRouter(include_in_schema=False)

    @router.get("/about")
    def show_about(request: Request) -> Response:
        """Tell what the words mean."""
        return page(request, "about.html.jinja", title=_("What the words mean"), place="about", chapters=chapters())

    router.get("/healthy")(_healthy)
    router.get("/bundle/{name}")(_show_bundle)
    router.post("/preferences")(_prefer)
    return router


def _healthy() -> PlainTextResponse:
    """Say that the server answers."""
    return PlainTextResponse("ok")


def _show_bundle(name: str, request: Request) -> Response:
    """Send the charts' script, packed as it lies on the disk; it never changes under its name."""
    bundle: Bundle = request.app.state.bundle
    if name != bundle.name:
        raise HTTPException(404)
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    path, kind = bundle.ready(), "text/javascript; charset=utf-8"
    if "gzip" in request.headers.get("accept-encoding", ""):
        return FileResponse(path, media_type=kind, headers=headers | {"Content-Encoding": "gzip"})
    return Response(gzip.decompress(path.read_bytes()), media_type=kind, headers=headers)


def _prefer(
    request: Request,
    back: Annotated[str, Form(max_length=_LONGEST)] = "/",
    language: Annotated[Literal["en", "ja"] | None, Form()] = None,
    theme: Annotated[Literal["light", "dark", "auto"] | None, Form()] = None,
) -> Response:
    """Remember the language and the theme, and go back to the page."""
    answer = RedirectResponse(local_path(back), 303)
    for cookie, value in ((LANGUAGE, language), (THEME, theme)):
        if value is not None:
            keep_cookie(answer, request, cookie, value, _YEAR)
    return answer
