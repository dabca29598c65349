"""Files that people send: bounded, kept as they come, and never larger inside than they may be."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from fastapi import Request

from noren.data.formats.sizes import DecodedSizeError, stop_at_large
from noren.errors import FileError, InputError, NorenError
from noren.i18n import _
from noren.web.refusals import TooLargeError

__all__ = ["received", "shown_name", "small_body", "stop_if_told_too_large", "told_length", "write_upload"]

_LONGEST_NAME = 120
_WAITING_CHUNKS = 16
_Kept = TypeVar("_Kept")


def shown_name(name: str) -> str:
    """Return the name of a person's file, fit to be shown; no path is ever made of it.

    >>> shown_name("../../etc/pass\\x00wd.csv")
    'pass?wd.csv'
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c if c.isprintable() else "?" for c in last)[:_LONGEST_NAME] or "?"


def told_length(request: Request) -> int:
    """Return how many bytes a request says it brings; none where it does not say."""
    told = request.headers.get("content-length", "")
    return int(told) if told.isdigit() else 0


def stop_if_told_too_large(request: Request, largest: int, name: str) -> None:
    """Refuse at once what says of itself that it is too large."""
    if told_length(request) > largest:
        raise TooLargeError.of(largest, shown_name(name))


async def small_body(request: Request, name: str, largest: int) -> bytes:
    """Return a small file as a whole."""
    stop_if_told_too_large(request, largest, name)
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > largest:
            raise TooLargeError.of(largest, shown_name(name))
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
            raise InputError(_("the upload was cut off"), _("send the file again"), file=shown_name(name))

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
    with open(path, "xb", opener=_private) as file:
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise TooLargeError.of(most, name)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    try:
        stop_at_large(path, most)
    except DecodedSizeError as error:
        raise TooLargeError(error.problem.rule, error.problem.cure, file=name) from None
    except FileError:
        pass  # it is damaged, and whoever reads it says how
    return size


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
