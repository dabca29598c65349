"""A hash-chained log: each entry contains the digest of the entry before it. Used by contests and the studio.

Changing, removing or inserting an entry changes every digest after it. With the digest of one entry, anyone can verify
that nothing before it was changed; entries cut off after it cannot be detected. Plain data are written as bytes in one
way (:func:`canonical`), so that a digest means the same everywhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from noren.errors import InputError
from noren.i18n import _

START: Final = "0" * 64
"""What stands for the digest before the first entry."""
_DIGITS: Final = 10


def canonical(value: Any) -> bytes:
    """Return plain data as JSON with sorted names, without blanks, in UTF-8.

    >>> canonical({"b": [1, 0.5], "a": "é"}).decode()
    '{"a":"é","b":[1,0.5]}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def rounded(value: float) -> float:
    """Return a score as the log keeps it: to ten decimals, beyond which machines may differ.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return round(float(value), _DIGITS) + 0.0  # no negative zero


class BrokenChainError(InputError):
    """A log that somebody changed; ``place`` is the first entry that does not fit."""

    place = 0


@dataclass(frozen=True)
class EntryContent:
    """What an entry is to say, before it has its place in the log."""

    kind: str
    actor: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class LogEntry:
    """One line of a log."""

    position: int
    """Its place, from 0."""
    time: str
    """When, in UTC with microseconds; never before the entry before it."""
    kind: str
    actor: str
    body: Mapping[str, Any]
    """``kind``, ``actor``, ``body``: what happened, by whom, and the particulars as plain data."""
    previous: str
    digest: str
    """``previous``, ``digest``: the digest of the entry before it, and its own."""

    def content(self) -> dict[str, Any]:
        """Return what the digest is of."""
        return {name: value for name, value in self.as_dict().items() if name != "digest"}

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as plain data, as archives hold it."""
        return vars(self) | {"body": dict(self.body)}

    def line(self) -> bytes:
        """Return the entry as one line of a file."""
        return canonical(self.as_dict()) + b"\n"


def entry_of(data: Any) -> LogEntry | None:
    """Return the entry that plain data are, or nothing where they are none; whether it fits, :func:`verify` says.

    >>> entry_of({"position": 0}) is None
    True
    """
    try:
        entry = LogEntry(**data)
    except TypeError:
        return None
    texts = (entry.time, entry.kind, entry.actor, entry.previous, entry.digest)
    is_numbered = isinstance(entry.position, int) and not isinstance(entry.position, bool)
    return entry if is_numbered and isinstance(entry.body, dict) and all(isinstance(t, str) for t in texts) else None


def next_entry(last: LogEntry | None, time: str, content: EntryContent) -> LogEntry:
    """Return the entry that follows another; a clock that went back stands still instead.

    >>> created = EntryContent("created", "clock", {"contest": "cup"})
    >>> first = next_entry(None, "2026-04-01T00:00:00.000000+00:00", created)
    >>> second = next_entry(first, "2026-03-31T00:00:00.000000+00:00", EntryContent("resumed", "clock", {}))
    >>> second.position, second.time == first.time, second.previous == first.digest
    (1, True, True)
    """
    position, previous = (0, START) if last is None else (last.position + 1, last.digest)
    time = time if last is None else max(time, last.time)
    entry = LogEntry(position, time, content.kind, content.actor, dict(content.body), previous, "")
    return replace(entry, digest=digest_of(canonical(entry.content())))


def chained(last: LogEntry | None, time: str, contents: Iterable[EntryContent]) -> list[LogEntry]:
    """Return entries that follow one another."""
    made: list[LogEntry] = []
    for content in contents:
        last = next_entry(last, time, content)
        made.append(last)
    return made


def verify(entries: Iterable[LogEntry], cure: str | None = None) -> None:
    """Stop at the first entry that does not follow from those before it; ``cure`` tells whom to ask."""
    last: LogEntry | None = None
    for place, entry in enumerate(entries):
        previous, why = START if last is None else last.digest, ""
        if entry.position != place or entry.previous != previous:
            why = _("it does not follow from the entry before it")
        elif entry.digest != digest_of(canonical(entry.content())):
            why = _("its content was changed")
        elif last is not None and entry.time < last.time:
            why = _("its time is before that of the entry before it")
        if why:
            error = BrokenChainError(
                _("entry {place:,} of the log does not fit: {why}").format(place=place, why=why),
                cure or _("ask the organiser for the log as it was"),
            )
            error.place = place
            raise error
        last = entry
