"""The arena put together: guard, REST interface, pages, and what the server does by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

from noren.contest.api import router as api
from noren.contest.arena import Arena
from noren.contest.clockwork import Clockwork
from noren.contest.desk import Desk
from noren.contest.entrance import Entrance
from noren.contest.pages import FRAME, page
from noren.contest.pages import router as pages
from noren.contest.settings import ArenaSettings
from noren.version import __version__
from noren.web.answers import answer_errors
from noren.web.bodies import Bounds
from noren.web.bundle import Bundle
from noren.web.common_pages import common_pages
from noren.web.guard import Guard

__all__ = ["BOUNDS", "make_app"]

_CONTEST = "/api/v1/contests/[a-z0-9-]{3,40}"
BOUNDS = Bounds(
    larger={"/(?:api/v1/)?contests": 4 * 2**30},  # the data of all rounds; only organisers send them
    uploads=rf"PUT {_CONTEST}/(?:releases|guesses/[0-9]+)|POST /contests",  # the last bounds itself, as the others do
)
"""What the arena takes; releases and guesses are bounded by the settings of their contest."""


def make_app(settings: ArenaSettings, arena: Arena | None = None) -> FastAPI:
    """Return the application of one server; it ends the arena that it makes."""
    settings.make_folder()
    arena = arena or Arena(
        settings.folder, database=settings.database, files=settings.files, rehearsal=settings.rehearsal
    )
    entrance, bundle = Entrance(arena.store, settings), Bundle(settings.folder)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as at_the_end:
            at_the_end.callback(arena.close)
            await run_in_threadpool(_start, arena, settings, at_the_end)
            bundle.start()
            yield
            await run_in_threadpool(at_the_end.close)

    app = FastAPI(
        title="Noren arena",
        version=__version__,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/docs.json",
    )
    app.state.desk, app.state.entrance = Desk(arena), entrance
    app.state.settings, app.state.bundle = settings, bundle
    app.include_router(api)
    app.include_router(pages)
    app.include_router(common_pages(page))
    app.mount("/static", FRAME.static_files(), name="static")
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=5)
    app.add_middleware(Guard, settings=settings, door=entrance, bounds=BOUNDS, bearer=entrance.bearer)
    answer_errors(app, page)
    return app


def _start(arena: Arena, settings: ArenaSettings, at_the_end: ExitStack) -> None:
    """Start what the server does by itself."""
    clockwork = Clockwork(arena, private_hooks=settings.private_hooks)
    at_the_end.callback(clockwork.close)
    clockwork.start()
