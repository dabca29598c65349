"""Serving one studio until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from noren.i18n import ngettext
from noren.studio.app import make_app
from noren.studio.privacy import PRIVATE_UMASK
from noren.studio.warming import start_warming
from noren.web.settings import Settings

__all__ = ["serve"]


def serve(settings: Settings, listening: socket.socket, open_page: str | None, say: Callable[[str], None]) -> None:
    """Serve on a socket that is taken already, and open the page in the browser when it answers.

    ``say`` tells whoever started it what they should know.
    """
    os.umask(PRIVATE_UMASK)  # whatever it writes is for the owner alone
    app = make_app(settings)
    if app.state.studio.tightened:
        say(
            ngettext(
                "{count} file or folder of the studio could be read by others on this machine; now it cannot",
                "{count} files and folders of the studio could be read by others on this machine; now they cannot",
                app.state.studio.tightened,
            ).format(count=app.state.studio.tightened)
        )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        proxy_headers=False,  # the guard believes the proxies that the steward named, and nobody else
    )
    server = uvicorn.Server(config)
    if open_page is not None:
        threading.Timer(1.0, webbrowser.open, (open_page,)).start()
    start_warming()
    with contextlib.suppress(KeyboardInterrupt):  # how a person closes it; all is put away by then
        server.run(sockets=[listening])
