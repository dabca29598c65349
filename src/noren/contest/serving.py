"""Serving one arena until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from typing import Final

from noren.contest.app import make_app
from noren.contest.judges import judging
from noren.contest.settings import ArenaSettings
from noren.i18n import _
from noren.web.serving import PRIVATE_UMASK, serve_app

__all__ = ["serve"]

_PATIENCE: Final = 10
"""Seconds for files that come in when the server is told to stop."""


def serve(settings: ArenaSettings, listening: socket.socket, open_page: str | None, say: Callable[[str], None]) -> None:
    """Serve on a socket that is taken already, and open a page in the browser when it answers.

    ``say`` tells whoever started it what they should know: the code of the first organiser, while there is none.
    """
    os.umask(PRIVATE_UMASK)  # whatever it writes is for the owner alone
    app = make_app(settings)
    if app.state.entrance.is_new:
        code = app.state.entrance.first_code
        say(_("no organiser yet: sign up with the code {code}").format(code=code))
    with judging(settings) if settings.works else contextlib.nullcontext():
        serve_app(app, listening, open_page, patience=_PATIENCE)
