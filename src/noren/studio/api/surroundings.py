"""What a request finds around it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from noren.studio.service import Studio

__all__ = ["TheStudio"]


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


TheStudio = Annotated[Studio, Depends(_studio)]
