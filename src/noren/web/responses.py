"""How both servers are served, and what they answer: pages that they share, what they say when something is wrong."""

from __future__ import annotations

import contextlib
import copy
import gzip
import signal
import socket
import threading
import traceback
import webbrowser
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, Final, Literal

import sqlalchemy as sa
import uvicorn
from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from uvicorn.config import LOGGING_CONFIG
from uvicorn.logging import DefaultFormatter

from noren.errors import CheckFailedError, InputError, NorenError
from noren.i18n import _
from noren.judgement.glossary import chapters
from noren.version import __version__
from noren.web.errors import DATABASE_AWAY, DISK_FULL, UNEXPECTED, is_database_away, is_disk_full
from noren.web.frame import Bundle, Frame, local_path
from noren.web.guard import LANGUAGE, THEME, Guard, keep_cookie
from noren.web.uploads import BodyError

Page = Callable[..., Response]
"""How a server renders one of its pages (:meth:`noren.web.frame.Frame.page` with its rail)."""


def server_app(
    title: str,
    life: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    frame: Frame,
    page: Page,
    common: APIRouter,
    not_there: tuple[type[Exception], ...] = (),
    **guard: Any,
) -> FastAPI:
    """Return an application with what both servers have: common pages, static files, the guard, answers to errors.

    It lives as ``life`` says; its REST interface is described in ``/api/docs.json``.
    """
    addresses: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": "/api/docs.json"}
    app = FastAPI(title=title, version=__version__, lifespan=life, **addresses)
    app.include_router(common)
    app.mount("/static", frame.static_files(), name="static")
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=5)
    app.add_middleware(Guard, **guard)
    answer_errors(app, page, not_there)
    return app


def answer_errors(app: FastAPI, page: Page, not_there: tuple[type[Exception], ...] = ()) -> None:
    """Register handlers that answer every error of an application with a message, without internal details.

    ``not_there`` are errors of its own that mean that there is no such page.
    """

    def respond(request: Request, status: int, content: dict[str, object]) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": content}, status)
        message = str(content["message"])
        return page(request, "error.html.jinja", title=message[:1].upper() + message[1:], place="", status=status)

    async def answer(request: Request, error: Exception) -> Response:
        """Answer with what an error says."""
        if isinstance(error, not_there):
            return respond(request, 404, {"message": _("there is no such page")})
        if isinstance(error, RequestValidationError):
            first = error.errors()[0] if error.errors() else {}
            place = ".".join(str(part) for part in first.get("loc", ())[1:])
            message = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=first.get("msg", ""))
            return respond(request, 422, {"message": message[:500]})
        if isinstance(error, HTTPException):
            own = error.detail if isinstance(error, BodyError) else None
            otherwise = _("there is no such page") if error.status_code == 404 else _("this cannot be done here")
            response = respond(request, error.status_code, {"message": own or otherwise})
            response.headers.update(error.headers or {})
            return response
        if is_disk_full(error):
            return respond(request, 507, {"message": _(DISK_FULL)})
        if is_database_away(error):
            return respond(request, 503, {"message": _(DATABASE_AWAY)})
        if not isinstance(error, NorenError):  # what else the disk or the database said is unexpected
            raise error
        content: dict[str, object] = {"message": str(error)}
        if isinstance(error, InputError):
            content |= error.problem.as_dict()
        status = getattr(error, "status", 409 if isinstance(error, CheckFailedError) else 422)
        return respond(request, int(status), content)

    async def unexpected(request: Request, _error: Exception) -> Response:
        """Answer without a word of what happened, which may tell what nobody should know."""
        return respond(request, 500, {"message": _(UNEXPECTED)})

    known = (OSError, DBAPIError, NoConnectionError, NorenError, RequestValidationError, HTTPException)
    for kind in (*not_there, *known):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(Exception, unexpected)


_YEAR = 365 * 86_400
_LONGEST = 2_000


def common_pages(page: Page, database: sa.Engine, is_working: Callable[[], bool] | None = None) -> APIRouter:
    """Return the routes; ``page`` renders as the server does, ``app.state.bundle`` is the charts' script.

    ``is_working`` tells whether the server takes up jobs, where it does so itself.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/about")
    def show_about(request: Request) -> Response:
        """Tell what the words mean."""
        return page(request, "about.html.jinja", title=_("Glossary"), place="about", chapters=chapters())

    @router.get("/healthz")
    def show_health() -> Response:
        """Tell programs that watch the server whether it can do its work; nothing of what is in it."""
        parts = {"database": "ok"} | ({} if is_working is None else {"worker": "ok" if is_working() else "stopped"})
        try:
            with database.connect() as connection:
                connection.execute(sa.select(1))
        except (DBAPIError, NoConnectionError):
            parts["database"] = "unreachable"
        is_ready = set(parts.values()) == {"ok"}
        return JSONResponse({"status": "ready" if is_ready else "unavailable"} | parts, 200 if is_ready else 503)

    router.get("/bundle/{name}")(_show_bundle)
    router.post("/preferences")(_prefer)
    return router


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


PRIVATE_UMASK: Final = 0o077
"""What processes of a server take away from every file that they make."""


class LogFormatter(DefaultFormatter):
    """Writes where an unexpected error arose and of which kind it is, without its message, which may quote data."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name of a method of logging
        """Return the traceback of an error and of those that caused it, the last first."""
        lines, error = [], ei[1]
        while error is not None:
            kind = type(error)
            lines += [*traceback.format_tb(error.__traceback__), f"{kind.__module__}.{kind.__qualname__}\n"]
            error = error.__cause__ or error.__context__
        return "".join(lines).rstrip("\n")


LOG_SETTINGS: Final = copy.deepcopy(LOGGING_CONFIG) | {"root": {"handlers": ["default"], "level": "WARNING"}}
"""The log of a server: warnings and errors; no addresses of requests, which hold names of files and of people."""
LOG_SETTINGS["formatters"]["default"]["()"] = LogFormatter


def serve_app(app: FastAPI, listening: socket.socket, open_page: str | None, *, patience: int = 3) -> None:
    """Serve on a socket that is taken already, and open a page in the browser when it answers.

    Requests that are being answered when it is told to stop have ``patience`` seconds.
    """
    config = uvicorn.Config(
        app,
        log_config=LOG_SETTINGS,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=patience,
        proxy_headers=False,  # the guard believes the proxies that the steward named, and nobody else
    )
    server = uvicorn.Server(config)
    if open_page is not None:
        threading.Timer(1.0, webbrowser.open, (open_page,)).start()
    if threading.current_thread() is threading.main_thread():
        # uvicorn says a signal again when it is done: a service that is stopped ends as one that a person closes
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):  # how a person closes it; all is put away by then
        server.run(sockets=[listening])
