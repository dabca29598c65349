"""What pages and the REST interface are handed with each request: the service, the entrance, and who asks."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, ValidationError

from noren.contest.acts import RefusedError
from noren.contest.desk import Desk, Done, Who
from noren.contest.entrance import Entrance
from noren.errors import FileError, OutputError, ParameterError
from noren.i18n import _, translated
from noren.web.actions import Action, add_route
from noren.web.refusals import is_disk_full
from noren.work.chain import Said

Ident = Annotated[str, Path(pattern=r"^[a-z0-9]{12}$", description="an identifier")]
ContestName = Annotated[str, Path(pattern=r"^[a-z0-9-]{3,40}$", description="the name of a contest, as in its address")]
RoundName = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,40}$", description="the name of a round")]
TargetName = Annotated[str, Path(pattern=r"^[0-9]{1,6}$", description="the number of a target")]


def desk_of(request: Request) -> Desk:
    """Return the desk of the arena that was asked."""
    desk: Desk = request.app.state.desk
    return desk


def entrance_of(request: Request) -> Entrance:
    """Return the door of the arena that was asked."""
    entrance: Entrance = request.app.state.entrance
    return entrance


TheDesk = Annotated[Desk, Depends(desk_of)]
TheEntrance = Annotated[Entrance, Depends(entrance_of)]


@contextlib.contextmanager
def saying_which_rule(*within: str) -> Iterator[None]:
    """Say what is wrong with something that was sent, by its first problem."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([*within, *(str(part) for part in first["loc"])])
        said = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=translated(first["msg"]))
        raise ParameterError(said, _("correct it")) from None


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
    model: type[BaseModel] | None = None,
    answer: Callable[[Desk, Who, Done], Any] = lambda _desk, _who, _done: None,
    before: Callable[[Desk, Who, Mapping[str, Any]], None] = lambda _desk, _who, _asked: None,
) -> None:
    """Add the route of an action: ``answer`` makes a ``model`` of what was done, ``before`` may refuse it."""

    def run(desk: Desk, who: Who, contest: str, **asked: Any) -> Any:
        before(desk, who, asked)
        return answer(desk, who, desk.do(who, contest, act, **asked))

    add_route(router, act, run, {"contest": ContestName, "who": Asking, "desk": TheDesk}, model)


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


def described_file(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return how a file of a media type is described in the API's schema."""
    shape = "object" if kind == "application/json" else "string"
    return {200: {"content": {kind: {"schema": {"type": shape}}}, "description": "the file"}}
