"""The studio put together: guard, REST interface, pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from noren.errors import CheckFailedError, InputError, NorenError
from noren.i18n import _
from noren.studio.api import router as api
from noren.studio.folders import UnknownIdError
from noren.studio.pages import error_page
from noren.studio.pages import router as pages
from noren.studio.reasons import DISK_FULL, is_disk_full
from noren.studio.service import NotNowError, NotThereError, Studio, TooLargeError
from noren.version import __version__
from noren.web.bodies import BodyError
from noren.web.bundle import Bundle
from noren.web.guard import Guard, Login
from noren.web.settings import Settings

__all__ = ["make_app"]


def make_app(settings: Settings) -> FastAPI:
    """Return the application of one studio."""
    studio = Studio(settings)
    login = Login(settings, studio.store)
    bundle = Bundle(settings.folder)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(studio.start)
        bundle.start()
        try:
            yield
        finally:
            await run_in_threadpool(studio.close)

    app = FastAPI(
        title="Noren studio",
        version=__version__,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/docs.json",
    )
    app.state.studio, app.state.login, app.state.bundle = studio, login, bundle
    app.include_router(api)
    app.include_router(pages)
    app.mount("/static", StaticFiles(packages=[("noren.web", "static"), ("noren.studio", "static")]), name="static")
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=5)
    app.add_middleware(Guard, settings=settings, login=login)
    app.add_exception_handler(NorenError, _said)
    app.add_exception_handler(OSError, _by_system)
    app.add_exception_handler(OperationalError, _by_system)
    app.add_exception_handler(UnknownIdError, _not_there)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(Exception, _unexpected)
    return app


def _answer(request: Request, status: int, content: dict[str, object]) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": content}, status)
    return error_page(request, status, str(content["message"]))


async def _said(request: Request, error: Exception) -> Response:
    if is_disk_full(error):
        return _no_room(request)
    if isinstance(error, NotThereError):
        status = 404
    elif isinstance(error, NotNowError | CheckFailedError):
        status = 409
    else:
        status = 413 if isinstance(error, TooLargeError) else 422
    content: dict[str, object] = {"message": str(error)}
    if isinstance(error, InputError):
        content |= error.problem.as_dict()
    return _answer(request, status, content)


def _no_room(request: Request) -> Response:
    return _answer(request, 507, {"message": _(DISK_FULL)})


async def _by_system(request: Request, error: Exception) -> Response:
    """Answer what the disk or the database said; all but a full disk is unexpected."""
    if is_disk_full(error):
        return _no_room(request)
    raise error


async def _not_there(request: Request, _error: Exception) -> Response:
    return _answer(request, 404, {"message": _("there is no such page")})


async def _not_valid(request: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) and error.errors() else {}
    place = ".".join(str(part) for part in first.get("loc", ())[1:])
    said = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=first.get("msg", ""))
    return _answer(request, 422, {"message": said[:500]})


async def _by_status(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = error.detail if isinstance(error, BodyError) else _("there is no such page") if status == 404 else None
    response = _answer(request, status, {"message": told or _("this cannot be done here")})
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    return response


async def _unexpected(request: Request, _error: Exception) -> Response:
    return _answer(request, 500, {"message": _("this should not happen; the terminal tells more")})
