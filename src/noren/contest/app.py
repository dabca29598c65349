"""The contest server: its settings, its application, its background threads and its scoring workers.

Two threads do what is due by the clock and send webhooks. Several servers can share one database: each action is
decided at the head of the log, and a message has one holder. A failure, such as an unreachable database, is logged once
and tried again.
"""

from __future__ import annotations

import contextlib
import logging
import logging.config
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

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
from noren.web.frame import Bundle
from noren.web.responses import LOG_SETTINGS, PRIVATE_UMASK, common_pages, serve_app, server_app
from noren.web.settings import ServerSettings
from noren.web.uploads import UploadLimits


@dataclass(frozen=True)
class ArenaSettings(ServerSettings):
    """Settings of one contest server; several can share a database.

    Attributes
    ----------
    files
        The folder, or any fsspec address, of the files (default: next to the database).
    rehearsal
        Whether organisers may move the clock.
    works
        Whether the server also scores files; otherwise run ``noren contest work``.
    private_hooks
        Whether webhooks can be sent to addresses inside this network.
    engine_from
        Number of rows from which releases are scored on the cluster that ``engine`` names.
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
        """The key that signs tokens of pages; servers with the same contest key have the same."""
        return derive_key(server_key(self.folder), "pages")


_CONTEST = "/api/v1/contests/[a-z0-9-]{3,40}"
BOUNDS = UploadLimits(
    larger={"/(?:api/v1/)?contests": 4 * 2**30},  # the data of all rounds; only organisers send them
    uploads=rf"PUT {_CONTEST}/(?:releases|guesses/[0-9]+)|POST /contests",  # the last bounds itself, as the others do
)
"""Size limits of uploads; releases and guesses are limited by the settings of their contest."""


def make_app(settings: ArenaSettings) -> FastAPI:
    """Return the application of one server; it closes the arena that it creates."""
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

    guard: dict[str, Any] = {"door": authentication, "bounds": BOUNDS, "bearer": authentication.bearer}
    common = common_pages(page, arena.store.engine)
    app = server_app("Noren arena", life, FRAME, page, common, settings=settings, **guard)
    app.state.service, app.state.authentication = ContestService(arena), authentication
    app.state.settings, app.state.bundle = settings, bundle
    app.include_router(api)
    for part in (home, organising, playing):
        app.include_router(part.router, include_in_schema=False)
    app.add_exception_handler(LoginNeededError, lambda _request, _error: RedirectResponse("/login", 303))
    return app


_EVERY = 1.0
_SLOWEST = 30.0
_log = logging.getLogger("noren.contest")


@contextlib.contextmanager
def ticking(arena: Arena, *, private_hooks: bool = False) -> Iterator[None]:
    """Run the clock and the webhook sender in threads; they finish their current step before they stop."""
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
    """Score submissions in threads and processes of this server."""
    arena = Arena(settings.folder, database=settings.database, files=settings.files, rehearsal=settings.rehearsal)
    work = ArenaWorker(arena, processes=settings.workers, engine=settings.engine, engine_from=settings.engine_from)
    with contextlib.closing(arena), contextlib.closing(work):
        work.start()
        yield


def run_judge(arena: Arena, processes: int, *, engine: str = "local", engine_from: int = ENGINE_FROM) -> None:
    """Score submissions until the process is interrupted or terminated; unfinished jobs go to other workers."""
    os.umask(PRIVATE_UMASK)
    logging.config.dictConfig(LOG_SETTINGS)
    stop = threading.Event()
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_about: stop.set())
    work = ArenaWorker(arena, processes=processes, engine=engine, engine_from=engine_from)
    work.start()
    stop.wait()
    work.close()


_PATIENCE: Final = 10
"""Seconds for running uploads when the server stops."""


def serve(settings: ArenaSettings, listening: socket.socket, open_page: str | None, say: Callable[[str], None]) -> None:
    """Serve on a bound socket, and open a page in the browser when the server answers.

    ``say`` prints the code of the first organiser while there is none.
    """
    os.umask(PRIVATE_UMASK)  # whatever it writes is for the owner alone
    app = make_app(settings)
    if app.state.authentication.is_new:
        code = app.state.authentication.first_code
        say(_("no organiser yet; sign up with the code {code}").format(code=code))
    with judging(settings) if settings.works else contextlib.nullcontext():
        serve_app(app, listening, open_page, patience=_PATIENCE)
