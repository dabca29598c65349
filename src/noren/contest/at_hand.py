"""What pages and the REST interface ask for by name, and are handed with each request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from pydantic import ValidationError

from noren.contest.desk import Desk
from noren.contest.entrance import Entrance
from noren.contest.published import Published
from noren.errors import ParameterError
from noren.foreign_words import translated
from noren.i18n import _

__all__ = ["TheDesk", "TheEntrance", "ThePublished", "broken_rule", "desk_of", "entrance_of"]


def desk_of(request: Request) -> Desk:
    """Return the desk of the arena that was asked."""
    desk: Desk = request.app.state.desk
    return desk


def entrance_of(request: Request) -> Entrance:
    """Return the door of the arena that was asked."""
    entrance: Entrance = request.app.state.entrance
    return entrance


def _published(request: Request) -> Published:
    published: Published = request.app.state.published
    return published


TheDesk = Annotated[Desk, Depends(desk_of)]
TheEntrance = Annotated[Entrance, Depends(entrance_of)]
ThePublished = Annotated[Published, Depends(_published)]


def broken_rule(error: ValidationError, *within: str) -> ParameterError:
    """Return what is wrong with something that was sent, by its first problem."""
    first = error.errors()[0]
    place = ".".join([*within, *(str(part) for part in first["loc"])])
    said = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=translated(first["msg"]))
    return ParameterError(said, _("correct it"))
