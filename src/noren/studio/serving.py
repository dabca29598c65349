"""Serving one studio until it is told to stop."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from noren.i18n import ngettext
from noren.studio.app import make_app
from noren.studio.warming import start_warming
from noren.web.serving import PRIVATE_UMASK, serve_app
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
    start_warming()
    serve_app(app, listening, open_page)
