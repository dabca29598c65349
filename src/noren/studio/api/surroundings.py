"""What a request finds around it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from noren.studio.service import Studio
from noren.studio.users import Who

__all__ = ["TheStudio", "TheWho"]


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


def _who(request: Request) -> Who:
    who: Who = request.state.who
    return who


TheWho = Annotated[Who, Depends(_who)]
TheStudio = Annotated[Studio, Depends(_studio)]
