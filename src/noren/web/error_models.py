"""What every REST interface answers when it says no: one shape, described once."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["ErrorOut", "ErrorText", "errors"]


class ErrorText(BaseModel):
    """What is wrong and the cure; where it is, as far as that is known."""

    message: str
    row: int | None = None
    column: str | None = None
    value: str | None = None
    rule: str | None = None
    cure: str | None = None


class ErrorOut(BaseModel):
    """An answer that says why there is no other."""

    error: ErrorText


_TEXTS = {
    400: "what was sent cannot be read",
    401: "log in first",
    403: "it is not yours to do, the request comes from another site, or its token is out of date",
    404: "there is no such thing",
    408: "what was sent came too slowly",
    409: "it cannot be done in the state things are in",
    413: "what was sent is too large",
    422: "what was sent breaks a rule; the message names it and the cure",
    429: "too often; wait and try again",
    503: "the database does not answer; nothing was changed",
    507: "the disk of the server is full; nothing was kept",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how answers of these statuses are described.

    >>> errors(404)[404]["description"]
    'there is no such thing'
    """
    return {status: {"model": ErrorOut, "description": _TEXTS[status]} for status in statuses}
