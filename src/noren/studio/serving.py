"""Serving one studio until it is told to stop."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser

import uvicorn

from noren.studio.app import make_app
from noren.studio.settings import Settings
from noren.studio.warming import start_warming

__all__ = ["serve"]


def serve(settings: Settings, listening: socket.socket, open_page: str | None) -> None:
    """Serve on a socket that is taken already, and open the page in the browser when it answers."""
    config = uvicorn.Config(
        make_app(settings), log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3
    )
    server = uvicorn.Server(config)
    if open_page is not None:
        threading.Timer(1.0, webbrowser.open, (open_page,)).start()
    start_warming()
    with contextlib.suppress(KeyboardInterrupt):  # how a person closes it; all is put away by then
        server.run(sockets=[listening])
