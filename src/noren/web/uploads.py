"""What a request may send: so many bytes, and not for ever; files that people upload.

Every body is bounded, whether it says its length or comes in chunks without one. Uploads bound themselves by what their
server takes; here they are only kept from trickling in for ever, and never larger inside than they may be.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from fastapi import HTTPException, Request
from starlette.types import Message, Receive, Scope

from noren.data.formats.source import DecodedSizeError, limit_decoded_size
from noren.errors import FileError, InputError, NorenError
from noren.i18n import _
from noren.web.errors import TooLargeError

_USUAL: Final = 2**20


@dataclass(frozen=True)
class UploadLimits:
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

        >>> UploadLimits({"/schema": 5}, "PUT /file").most({"method": "POST", "path": "/schema"})
        5
        """
        if re.fullmatch(self.uploads, f"{scope['method']} {scope['path']}"):
            return None
        return next((most for path, most in self.larger.items() if re.fullmatch(path, scope["path"])), _USUAL)


@dataclass(frozen=True)
class UploadTimeouts:
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


def bounded(scope: Scope, receive: Receive, patience: UploadTimeouts, bounds: UploadLimits) -> Receive:
    """Return a stream that gives a request's body and stops at one that is too large or too slow; one that says so of
    itself is refused at once.
    """
    most = bounds.most(scope)
    too_large = BodyError(413, _("the request is too large"))
    too_slow = BodyError(408, _("the upload was interrupted; send the file again"))
    if most is not None and declared_length(Request(scope)) > most:
        raise too_large
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
            raise too_slow from None
        received += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if most is not None and received > most:
            raise too_large
        late = time.monotonic() - began - patience.usual
        if most is None and not whole and late > 0 and received < late * patience.pace:
            raise too_slow
        return message

    return careful


_LONGEST_NAME = 120
_WAITING_CHUNKS = 16
_Kept = TypeVar("_Kept")


def display_name(name: str) -> str:
    """Return the name of a person's file, fit to be shown; no path is ever made of it.

    >>> display_name("../../etc/pass\\x00wd.csv")
    'pass?wd.csv'
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c if c.isprintable() else "?" for c in last)[:_LONGEST_NAME] or "?"


def declared_length(request: Request) -> int:
    """Return how many bytes a request says it brings; none where it does not say."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdigit() else 0


def reject_declared_too_large(request: Request, largest: int, name: str) -> None:
    """Refuse at once what says of itself that it is too large."""
    if declared_length(request) > largest:
        raise TooLargeError.of(largest, display_name(name))


async def small_body(request: Request, name: str, largest: int) -> bytes:
    """Return a small file as a whole."""
    reject_declared_too_large(request, largest, name)
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > largest:
            raise TooLargeError.of(largest, display_name(name))
    return bytes(content)


async def received(request: Request, name: str, keep: Callable[[Iterator[bytes]], _Kept]) -> _Kept:
    """Hand a file as it comes to ``keep``, which writes it in a thread; one that is cut off is an error there.

    The queue between both bounds what is held in memory.
    """
    chunks: queue.Queue[bytes | None] = queue.Queue(_WAITING_CHUNKS)
    whole = False

    def arriving() -> Iterator[bytes]:
        while (chunk := chunks.get()) is not None:
            yield chunk
        if not whole:
            raise InputError(_("the upload was interrupted; send the file again"), file=display_name(name))

    keeping = asyncio.create_task(asyncio.to_thread(keep, arriving()))

    async def hand_over(chunk: bytes | None) -> None:
        while not keeping.done():
            try:
                chunks.put_nowait(chunk)
                return
            except queue.Full:
                await asyncio.sleep(0.002)

    try:
        async for chunk in request.stream():
            if chunk:
                await hand_over(chunk)
            if keeping.done():
                break
        whole = True
    finally:
        await hand_over(None)
        if not whole:
            with contextlib.suppress(NorenError, OSError):
                await keeping
    return await keeping


def write_upload(path: Path, chunks: Iterator[bytes], most: int, name: str) -> int:
    """Write a file for its owner alone, on the disk when this returns; return its bytes.

    It is refused beyond ``most`` bytes, and where it is small on the way and larger than that once it is unpacked.
    """
    size = 0
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise TooLargeError.of(most, name)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    try:
        limit_decoded_size(path, most)
    except DecodedSizeError as error:
        raise TooLargeError(error.problem.rule, error.problem.cure, file=name) from None
    except FileError:
        pass  # it is damaged, and reading it says how
    return size
