"""Serving an application on a socket until it is told to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import webbrowser
from typing import Final

import uvicorn
from fastapi import FastAPI

PRIVATE_UMASK: Final = 0o077
"""What processes of a server take away from every file that they make."""


def serve_app(app: FastAPI, listening: socket.socket, open_page: str | None, *, patience: int = 3) -> None:
    """Serve on a socket that is taken already, and open a page in the browser when it answers.

    Whoever is being answered when it is told to stop has ``patience`` seconds.
    """
    config = uvicorn.Config(
        app,
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
