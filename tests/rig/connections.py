"""Uploads that are cut off, by lot: half-way, or when all is sent and nobody hears the answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import numpy as np


class Cuts:
    """How many uploads were cut off, by where; shared by all who play."""

    def __init__(self) -> None:
        self.half_way = self.unheard = 0
        self.lock = threading.Lock()

    @property
    def total(self) -> int:
        """All of them."""
        return self.half_way + self.unheard


class CutConnections(httpx.HTTPTransport):
    """A transport that cuts some uploads off.

    Parameters
    ----------
    share
        The share of uploads that are cut off; each upload is cut off once at most in a row.
    """

    def __init__(self, cuts: Cuts, seed: int, share: float) -> None:
        super().__init__()
        self._cuts, self._draws, self._share = cuts, np.random.default_rng(seed), share
        self._spared = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; or, by lot, half of it, or all of it and hear nothing."""
        if request.method != "PUT" or self._spared or self._draws.random() >= self._share:
            self._spared = False if request.method == "PUT" else self._spared
            return super().handle_request(request)
        self._spared = True  # the next try goes through
        if self._draws.random() < 0.5:
            with self._cuts.lock:
                self._cuts.half_way += 1
            request.stream = _HalfStream(request.stream, int(request.headers["Content-Length"]))
            super().handle_request(request)
            raise AssertionError("half a file was taken for a whole one")
        answer = super().handle_request(request)
        answer.close()
        with self._cuts.lock:
            self._cuts.unheard += 1
        raise httpx.ReadError("the connection was cut off", request=request)


class _HalfStream(httpx.SyncByteStream):
    def __init__(self, whole: object, size: int) -> None:
        self._whole, self._size = whole, size

    def __iter__(self) -> Iterator[bytes]:
        left = self._size // 2
        for piece in self._whole:  # type: ignore[attr-defined]
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                break
        raise httpx.WriteError("the connection was cut off")
