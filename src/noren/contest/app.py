"""The arena put together: how a server is set up, what it serves, what it does by itself, and who judges beside it.

What a server does by itself is done in threads: whatever is due by the clock, and sending news. Several servers of one
database may do it at once: each act is decided at the head of the log, and a message has one holder. What fails, as
when the database is away, is told once in the log of the process and tried again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

from noren.contest.api import router as api
from noren.contest.arena import Arena, ScoringService
from noren.contest.background import ArenaWorker, WebhookSender
from noren.contest.dependencies import ArenaAuthentication
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.contest.pages import home, organising, playing
from noren.contest.pages.frame import FRAME, LoginNeededError, page
from noren.contest.service import ContestService
from noren.contest.store.encryption import derive_key, server_key
from noren.i18n import _
from noren.version import __version__
from noren.web.frame import Bundle
from noren.web.guard import Guard
from noren.web.responses import PRIVATE_UMASK, answer_errors, common_pages, serve_app
from noren.web.settings import ServerSettings
from noren.web.uploads import UploadLimits


@dataclass(frozen=True)
class ArenaSettings(ServerSettings):
    """How one server of an arena is set up; several may share a database.

    Attributes
    ----------
    files
        The folder, or any address that fsspec knows, that files are kept at; beside the database where left out.
    rehearsal
        Whether organisers may move the clock.
    works
        Whether the server judges in its own process, too; else somebody runs ``noren contest work``.
    private_hooks
        Whether news may be sent to addresses inside this network.
    engine_from
        From how many rows on releases are judged on the cluster that ``engine`` names.
    """

    server: str = "arena"
    accounts: bool = True
    files: str | None = None
    rehearsal: bool = False
    works: bool = True
    private_hooks: bool = False
    engine_from: int = ENGINE_FROM

    def __post_init__(self) -> None:
        super().__post_init__()
        cluster_of(self.engine)

    @cached_property
    def key(self) -> bytes:
        """What tokens of pages are signed with: the same on every server that has the key of the contests."""
        return derive_key(server_key(self.folder), "pages")


_CONTEST = "/api/v1/contests/[a-z0-9-]{3,40}"
BOUNDS = UploadLimits(
    larger={"/(?:api/v1/)?contests": 4 * 2**30},  # the data of all rounds; only organisers send them
    uploads=rf"PUT {_CONTEST}/(?:releases|guesses/[0-9]+)|POST /contests",  # the last bounds itself, as the others do
)
"""What the arena takes; releases and guesses are bounded by the settings of their contest."""


def make_app(settings: ArenaSettings) -> FastAPI:
    """Return the application of one server; it ends the arena that it makes."""
    settings.make_folder()
    arena = Arena(settings.folder, database=settings.database, files=settings.files, rehearsal=settings.rehearsal)
    authentication, bundle = ArenaAuthentication(arena.store, settings), Bundle(settings.folder)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as at_the_end:
            at_the_end.callback(arena.close)
            at_the_end.enter_context(ticking(arena, private_hooks=settings.private_hooks))
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
    app.state.service, app.state.authentication = ContestService(arena), authentication
    app.state.settings, app.state.bundle = settings, bundle
    app.include_router(api)
    for part in (home, organising, playing):
        app.include_router(part.router, include_in_schema=False)
    app.include_router(common_pages(page))
    app.mount("/static", FRAME.static_files(), name="static")
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=5)
    app.add_middleware(Guard, settings=settings, door=authentication, bounds=BOUNDS, bearer=authentication.bearer)
    app.add_exception_handler(LoginNeededError, lambda _request, _error: RedirectResponse("/login", 303))
    answer_errors(app, page)
    return app


_EVERY = 1.0
_SLOWEST = 30.0
_log = logging.getLogger("noren.contest")


@contextlib.contextmanager
def ticking(arena: Arena, *, private_hooks: bool = False) -> Iterator[None]:
    """Do what is due by the clock and send news, in threads; at the end they stop after what is under way."""
    tasks = {"clock": ScoringService(arena).tick, "post": WebhookSender(arena, private=private_hooks).send_all}
    over = threading.Event()

    def repeat(name: str, do: Callable[[], object]) -> None:
        last_error = ""
        while not over.wait(_EVERY):
            try:
                do()
                last_error = ""
            except Exception as error:
                if last_error != (last_error := type(error).__name__):
                    _log.exception("the arena's %s stumbled and goes on", name)

    threads = [threading.Thread(target=repeat, args=task, daemon=True) for task in tasks.items()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(_SLOWEST)


@contextlib.contextmanager
def judging(settings: ArenaSettings) -> Iterator[None]:
    """Judge beside a server, in threads and processes of its own."""
    arena = Arena(settings.folder, database=settings.database, files=settings.files, rehearsal=settings.rehearsal)
    work = ArenaWorker(arena, processes=settings.workers, engine=settings.engine, engine_from=settings.engine_from)
    with contextlib.closing(arena), contextlib.closing(work):
        work.start()
        yield


def run_judge(arena: Arena, processes: int, *, engine: str = "local", engine_from: int = ENGINE_FROM) -> None:
    """Judge until the process is interrupted or told to end; what is under way is done by others."""
    os.umask(PRIVATE_UMASK)
    stop = threading.Event()
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_about: stop.set())
    work = ArenaWorker(arena, processes=processes, engine=engine, engine_from=engine_from)
    work.start()
    stop.wait()
    work.close()


_PATIENCE: Final = 10
"""Seconds for files that come in when the server is told to stop."""


def serve(settings: ArenaSettings, listening: socket.socket, open_page: str | None, say: Callable[[str], None]) -> None:
    """Serve on a socket that is taken already, and open a page in the browser when it answers.

    ``say`` tells whoever started it what they should know: the code of the first organiser, while there is none.
    """
    os.umask(PRIVATE_UMASK)  # whatever it writes is for the owner alone
    app = make_app(settings)
    if app.state.authentication.is_new:
        code = app.state.authentication.first_code
        say(_("no organiser yet: sign up with the code {code}").format(code=code))
    with judging(settings) if settings.works else contextlib.nullcontext():
        serve_app(app, listening, open_page, patience=_PATIENCE)
