"""What a request finds around it: the desk, the entrance, and who it is that asks."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from noren.contest.acts import RefusedError
from noren.contest.api.models import ContestName
from noren.contest.at_hand import TheDesk, TheEntrance, ThePublished
from noren.contest.desk import Desk, Done, Who
from noren.errors import FileError, OutputError
from noren.i18n import _
from noren.web.actions import Action, add_route
from noren.web.disk import is_disk_full
from noren.work.chain import Said

__all__ = ["Asking", "TheDesk", "TheEntrance", "ThePublished", "add_action", "files_of_ours", "not_too_often"]

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


def add_action(
    router: APIRouter,
    act: Action[..., list[Said]],
    answer: Callable[[Desk, Who, Done], BaseModel] | None = None,
    before: Callable[[Desk, Who, Mapping[str, Any]], None] | None = None,
) -> None:
    """Add the route of an action: ``answer`` makes of what was done what is answered, ``before`` may refuse it."""

    def run(desk: Desk, who: Who, contest: str, **asked: Any) -> BaseModel | None:
        if before is not None:
            before(desk, who, asked)
        done = desk.do(who, contest, act, **asked)
        return None if answer is None else answer(desk, who, done)

    around = {"contest": ContestName, "who": Asking, "desk": TheDesk}
    add_route(router, act, run, around, None if answer is None else get_type_hints(answer)["return"])


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
