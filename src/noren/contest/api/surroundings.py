"""What a request finds around it: the desk, the entrance, and who it is that asks."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request

from noren.contest.acts import RefusedError
from noren.contest.at_hand import TheDesk, TheEntrance, ThePublished
from noren.contest.desk import Desk, Who
from noren.errors import FileError, OutputError
from noren.i18n import _
from noren.web.disk import is_disk_full

__all__ = ["Asking", "TheDesk", "TheEntrance", "ThePublished", "files_of_ours", "not_too_often"]

_log = logging.getLogger("noren.contest")
_LOOKING = frozenset({"GET", "HEAD"})


def _who(request: Request, entrance: TheEntrance) -> Who:
    """Return whose token it is, or who is logged in; a token that is only for looking changes nothing anywhere."""
    bearer: Who | None = request.state.account
    who = entrance.who(request.state.session) if bearer is None else bearer
    if request.method not in _LOOKING and who.account is not None and not who.scopes - {"read"}:
        raise RefusedError(_("this token is only for looking"), _("make one with the scope that it takes"), status=403)
    return who


Asking = Annotated[Who, Depends(_who)]


def not_too_often(desk: Desk, key: str, most: int, seconds: float) -> None:
    """Refuse what somebody asks more often than they may; all servers of a database count together."""
    if not desk.arena.store.rates.allow(key, most, seconds):
        raise RefusedError(_("this came too often"), _("wait a while and try again"), status=429)


@contextlib.contextmanager
def files_of_ours() -> Iterator[None]:
    """Say of files of ours that cannot be read or written no more than that; the process's log tells which."""
    try:
        yield
    except (FileError, OutputError) as error:
        if is_disk_full(error) or hasattr(error, "status"):
            raise
        _log.exception("a file of the arena cannot be read or written")
        raise RefusedError(
            _("the server cannot reach a file of its own; nothing was changed"), _("tell the organiser"), status=503
        ) from error
