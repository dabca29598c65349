"""Pages and files that every server has: the words, the charts' script, preferences, a sign of life."""

from __future__ import annotations

import gzip
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from noren.i18n import _
from noren.judgement.glossary import chapters
from noren.web.answers import Page
from noren.web.bundle import Bundle
from noren.web.frame import local_path
from noren.web.guard import LANGUAGE, THEME, keep_cookie

__all__ = ["common_pages"]

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
