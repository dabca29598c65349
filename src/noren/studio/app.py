"""The studio put together: guard, REST interface, pages; and serving it until it is told to stop."""

from __future__ import annotations

import gc
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods
from noren.registry import Registry
from noren.studio.actions.projects import add_samples
from noren.studio.api import router as api
from noren.studio.folders import UnknownIdError
from noren.studio.pages import router as pages
from noren.studio.pages.frame import FRAME, page
from noren.studio.service import Studio
from noren.studio.users import StudioAuthentication, allowed
from noren.tables import Texts
from noren.web.frame import Bundle
from noren.web.responses import PRIVATE_UMASK, common_pages, serve_app, server_app
from noren.web.settings import ServerSettings
from noren.web.uploads import UploadLimits

say = Texts(__name__)

_PROJECT = "/api/v1/projects/[a-z0-9]{12}"
BOUNDS = UploadLimits(
    larger={
        rf"{_PROJECT}/schema(?:/check)?": 8 * 2**20,  # a million characters, each an escape of six, and its frame
        rf"{_PROJECT}/hierarchy": 4 * 2**20,  # groups of half a million characters
        rf"{_PROJECT}/hierarchies": 24 * 2**20,  # many files at once
    },
    uploads=rf"PUT {_PROJECT}/(?:file|hierarchy|categories|judged)",
)
"""What the studio takes; its uploads bound themselves (:mod:`noren.studio.api.data`)."""


def make_app(settings: ServerSettings) -> FastAPI:
    """Return the application of one studio."""
    studio = Studio(settings)
    login = StudioAuthentication(settings, studio.store.users)
    bundle = Bundle(settings.folder)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(studio.jobs.start)
        await run_in_threadpool(add_samples, studio)
        bundle.start()
        try:
            yield
        finally:
            await run_in_threadpool(studio.close)

    common = common_pages(page, studio.store.engine, lambda: studio.jobs.runner.is_alive)
    guard = {"settings": settings, "door": login, "bounds": BOUNDS, "why_out": login.why_out}
    app = server_app("Noren studio", life, FRAME, page, common, (UnknownIdError,), **guard)
    app.state.studio, app.state.login, app.state.bundle = studio, login, bundle
    app.include_router(api, dependencies=[Depends(allowed)])
    app.include_router(pages, dependencies=[Depends(allowed)])
    return app


def serve(
    settings: ServerSettings, listening: socket.socket, open_page: str | None, tell: Callable[[str], None]
) -> None:
    """Serve on a socket that is taken already, and open the page in the browser when it answers.

    ``tell`` receives what the person who started it should know.
    """
    os.umask(PRIVATE_UMASK)  # whatever it writes is for the owner alone
    app = make_app(settings)
    if app.state.studio.tightened:
        tell(say("closed_to_others", app.state.studio.tightened, count=app.state.studio.tightened))
    # pages answer meanwhile, the first of each kind more slowly
    threading.Thread(target=warm, name="noren-warming", daemon=True).start()
    serve_app(app, listening, open_page)


def warm() -> None:
    """Compile the templates and load every component.

    What is there then stays for good: the garbage collector need not look at it again, which takes it a fifth of a
    second each time, in the middle of somebody's page.
    """
    for template in FRAME.surroundings.list_templates(extensions=["jinja"]):
        FRAME.surroundings.get_template(template)
    registries: tuple[Registry, ...] = (methods, attacks, measures)  # type: ignore[type-arg]
    for registry in registries:
        for name in registry:
            registry[name]
    gc.collect()
    gc.freeze()
