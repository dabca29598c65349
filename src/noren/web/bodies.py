"""What a request may send: so many bytes, and not for ever.

Every body is bounded, whether it says its length or comes in chunks without one. Uploads bound themselves by what the
studio takes (:mod:`noren.studio.api.data`); here they are only kept from trickling in for ever.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from noren.i18n import _

__all__ = ["BodyError", "Patience", "bounded"]

_USUAL: Final = 2**20
_SCHEMA: Final = 8 * 2**20
"""A schema of a million characters, each written as an escape of six, and its frame."""
_SCHEMAS = re.compile(r"/api/v1/projects/[a-z0-9]{12}/schema(?:/check)?")
_UPLOADS = re.compile(r"/api/v1/projects/[a-z0-9]{12}/(?:file|hierarchy|categories)")


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


def bounded(scope: Scope, receive: Receive, patience: Patience) -> Receive:
    """Return a stream that gives a request's body and stops at one that is too large or too slow; one that says so of
    itself is refused at once.
    """
    path, is_upload = scope["path"], scope["method"] == "PUT" and _UPLOADS.fullmatch(scope["path"]) is not None
    most = _SCHEMA if _SCHEMAS.fullmatch(path) else _USUAL
    told = Headers(scope=scope).get("content-length", "")
    if not is_upload and told.isdigit() and int(told) > most:
        raise _too_large(most)
    began, received, whole = time.monotonic(), 0, False

    async def careful() -> Message:
        nonlocal received, whole
        if whole:
            return await receive()
        elapsed = time.monotonic() - began
        wait = patience.between if is_upload else min(patience.between, patience.usual - elapsed)
        try:
            message = await asyncio.wait_for(receive(), max(wait, 0.0))
        except TimeoutError:
            raise _too_slow() from None
        received += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if not is_upload and received > most:
            raise _too_large(most)
        late = time.monotonic() - began - patience.usual
        if is_upload and not whole and late > 0 and received < late * patience.pace:
            raise _too_slow()
        return message

    return careful


def _too_large(most: int) -> BodyError:
    return BodyError(413, _("what was sent is larger than {most:,} bytes; send less at a time").format(most=most))


def _too_slow() -> BodyError:
    return BodyError(408, _("what was sent came too slowly; send it again over a better line"))
