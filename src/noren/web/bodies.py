"""What a request may send: so many bytes, and not for ever.

Every body is bounded, whether it says its length or comes in chunks without one. Uploads bound themselves by what their
server takes (:mod:`noren.web.uploads`); here they are only kept from trickling in for ever.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from noren.i18n import _

__all__ = ["BodyError", "Bounds", "Patience", "bounded"]

_USUAL: Final = 2**20


@dataclass(frozen=True)
class Bounds:
    """What a server takes at which paths; a megabyte everywhere else.

    Attributes
    ----------
    larger
        Patterns of paths that take more, with their bytes.
    uploads
        The pattern of method and path (``PUT /file``) that bring a file, which its route bounds by itself.
    """

    larger: Mapping[str, int] = field(default_factory=dict)
    uploads: str = "(?!)"

    def most(self, scope: Scope) -> int | None:
        """Return how many bytes a request may bring; none of an upload.

        >>> Bounds({"/schema": 5}, "PUT /file").most({"method": "POST", "path": "/schema"})
        5
        """
        if re.fullmatch(self.uploads, f"{scope['method']} {scope['path']}"):
            return None
        return next((most for path, most in self.larger.items() if re.fullmatch(path, scope["path"])), _USUAL)


@dataclass(frozen=True)
class Patience:
    """How long we wait for a body.

    Attributes
    ----------
    between
        Seconds from one part to the next.
    usual
        Seconds for the whole of what is no upload; of an upload, seconds until its pace counts.
    pace
        Bytes a second that an upload comes in at least, from its beginning on.
    """

    between: float = 60.0
    usual: float = 60.0
    pace: float = 1_000.0


class BodyError(HTTPException):
    """A body that is too large or too slow; the connection ends with the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message, headers={"Connection": "close"})


def bounded(scope: Scope, receive: Receive, patience: Patience, bounds: Bounds) -> Receive:
    """Return a stream that gives a request's body and stops at one that is too large or too slow; one that says so of
    itself is refused at once.
    """
    most = bounds.most(scope)
    told = Headers(scope=scope).get("content-length", "")
    if most is not None and told.isdigit() and int(told) > most:
        raise _too_large(most)
    began, received, whole = time.monotonic(), 0, False

    async def careful() -> Message:
        nonlocal received, whole
        if whole:
            return await receive()
        elapsed = time.monotonic() - began
        wait = patience.between if most is None else min(patience.between, patience.usual - elapsed)
        try:
            message = await asyncio.wait_for(receive(), max(wait, 0.0))
        except TimeoutError:
            raise _too_slow() from None
        received += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if most is not None and received > most:
            raise _too_large(most)
        late = time.monotonic() - began - patience.usual
        if most is None and not whole and late > 0 and received < late * patience.pace:
            raise _too_slow()
        return message

    return careful


def _too_large(most: int) -> BodyError:
    return BodyError(413, _("what was sent is larger than {most:,} bytes; send less at a time").format(most=most))


def _too_slow() -> BodyError:
    return BodyError(408, _("what was sent came too slowly; send it again over a better line"))
