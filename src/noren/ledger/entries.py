"""Storage of a ledger: one folder per release, written aside and moved into place whole.

::

    releases/2011-1/
      public.parquet, statement.json      the release, to be published
      entry.json                          what it added to the risk; the digests of the rest and of the entry before
      secret/                             the release's own secret part, and
        original.parquet, master.parquet  what was protected: later releases are attacked together with this one
        exposed.parquet                   who is found
        facts.json                        what attacks got, of which verdicts are made
        seal.json                         the digests of the secret files

Each entry names the digest of the one before it, and ``head.json`` that of the last: a file that is changed, lost or
restored from an older copy is detected. The digests of secret files are in the secret part; with its salt, the seal's
own digest reveals nothing about them.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from noren.data.formats.files import file_digest, to_disk, writing_file, writing_folder
from noren.data.formats.parquet import parquet_blocks
from noren.data.frames import History
from noren.data.periods import period_key
from noren.data.reading import read_blocks
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import FileError, OutputError
from noren.i18n import _
from noren.ledger.certificate import Certificate
from noren.ledger.incoming import PastPeriod, content_digest, folder_name
from noren.ledger.recorded import RecordedReleases
from noren.ledger.risk import Risk

_SEAL = "secret/seal.json"
_FACTS = "facts.json"
_FILES = {"public.parquet", "statement.json", _SEAL}


class LedgerEntry(BaseModel):
    """The public record of one release; nothing in it is about a single person."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    number: int = Field(ge=1)
    period: str
    added: str
    """When, by the clock of the machine, in UTC."""
    noren: str
    calendar: str
    schema_digest: str
    original_rows: int
    public_rows: int
    deleted_rows: int
    added_rows: int
    pseudonyms: int
    risk: Risk
    """Of everything released until then."""
    certificate: Certificate | None
    """The certified risk of it; None where nothing is certified."""
    budget: dict[str, float]
    previous: str | None = None
    """The SHA-256 of the entry before."""
    files: dict[str, str] = {}
    """The SHA-256 of the files beside the entry."""


@dataclass(frozen=True)
class StoredEntry:
    """An entry with its folder and digest."""

    entry: LedgerEntry
    folder: Path
    digest: str


# --- writing -----------------------------------------------------------------------------------------------


def new_head(ledger: Path, **changes: Any) -> None:
    """Store the number of entries and the digest of the last, or what is recorded; the rest stays as it was."""
    head = read_head(ledger) if (ledger / "head.json").exists() else _Head()
    with writing_file(ledger / "head.json") as aside:
        aside.write_bytes(_json(head.model_copy(update=changes).model_dump(mode="json")))
    to_disk(ledger)


def write_entry(
    ledger: Path, entry: LedgerEntry, release: Release, rows: History, exposed: pl.DataFrame, facts: dict[str, Any]
) -> LedgerEntry:
    """Put a release into the ledger, whole or not at all; it is on the disk when this returns."""
    target = ledger / "releases" / folder_name(entry.period)
    with writing_folder(target) as aside:
        release.write_into(aside)
        hidden = aside / "secret"
        rows.frame.select(rows.schema.names).write_parquet(hidden / "original.parquet")
        if rows.master is not None:
            rows.master.write_parquet(hidden / "master.parquet")
        exposed.write_parquet(hidden / "exposed.parquet")
        (hidden / _FACTS).write_bytes(_json(facts))
        seal = {
            "salt": secrets.token_hex(16),
            "original": content_digest(rows),
            "files": {file.name: file_digest(file) for file in sorted(hidden.iterdir())},
        }
        (aside / _SEAL).write_bytes(_json(seal))
        sealed = entry.model_copy(update={"files": {name: file_digest(aside / name) for name in sorted(_FILES)}})
        content = _json(sealed.model_dump(mode="json"))
        (aside / "entry.json").write_bytes(content)
        for folder in (hidden, aside):
            to_disk(folder)
    to_disk(target.parent)
    new_head(ledger, entries=entry.number, digest=hashlib.sha256(content).hexdigest())
    return sealed


# --- reading -----------------------------------------------------------------------------------------------


def read_head(ledger: Path) -> _Head:
    """Return how many entries there are, and what is recorded beside them."""
    path = ledger / "head.json"
    try:
        head = _Head.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise _damage(_("it cannot be read"), path) from None
    if not head.recorded.is_unchanged:
        raise _damage(_("its content was changed"), path)
    return head


def read_entries(ledger: Path) -> tuple[list[StoredEntry], list[FileError]]:
    """Return the entries in order, and what is wrong with them: unreadable, lost or restored ones."""
    stored: list[StoredEntry] = []
    wrong: list[FileError] = []
    releases = ledger / "releases"
    # the head first: a process that is adding just now puts its release in place before it counts it
    try:
        head = read_head(ledger)
    except FileError as error:
        return [], [error]
    if not releases.is_dir():
        return [], [_damage(_("it is missing"), releases)]
    for folder in sorted(releases.iterdir()):
        if folder.name.startswith("."):
            continue
        path = folder / "entry.json"
        try:
            content = path.read_bytes()
            entry = LedgerEntry.model_validate_json(content)
        except FileNotFoundError:
            wrong.append(_damage(_("it is missing"), path))
            continue
        except (OSError, ValidationError):
            wrong.append(_damage(_("it cannot be read"), path))
            continue
        if folder_name(entry.period) != folder.name or set(entry.files) != _FILES:
            wrong.append(_damage(_("the entry belongs to another folder"), path))
            continue
        stored.append(StoredEntry(entry, folder, hashlib.sha256(content).hexdigest()))
    stored.sort(key=lambda written: (written.entry.number, period_key(written.entry.period)))
    if not wrong:  # the entries around one that cannot be read do not fit together either
        wrong = _misfits(ledger, head, stored)
    return stored, wrong


def verify(written: StoredEntry) -> list[FileError]:
    """Return what is wrong with the files of an entry."""
    return _changed(written.folder, written.entry.files) or _changed(written.folder / "secret", _sealed(written))


def load_rows(written: StoredEntry, schema: Schema) -> History:
    """Return the rows that were protected then."""
    hidden = written.folder / "secret"
    frame = pl.concat(read_blocks(hidden / "original.parquet", schema))
    listed = hidden / "master.parquet"
    master = pl.concat(parquet_blocks(listed)) if listed.exists() else None
    return History(frame, schema, master=master)


def load_past(written: StoredEntry) -> PastPeriod:
    """Return what later files must agree with."""
    return PastPeriod(written.entry.original_rows, _read_json(written.folder / _SEAL)["original"])


def load_facts(written: StoredEntry) -> dict[str, Any]:
    """Return what was kept for verdicts, as the seal knows it."""
    seal = {_SEAL: written.entry.files[_SEAL]}
    secret = written.folder / "secret"
    for problem in _changed(written.folder, seal) or _changed(secret, {_FACTS: _sealed(written)[_FACTS]}):
        raise problem
    return _read_json(secret / _FACTS)


def _sealed(written: StoredEntry) -> dict[str, str]:
    """Return the digests of the secret files; facts that the seal does not name have none, so they never match."""
    return {_FACTS: "", **_read_json(written.folder / _SEAL)["files"]}


class _Head(BaseModel):
    """How many entries there are, what the last is, and what is recorded beside them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entries: int = Field(default=0, ge=0)
    digest: str | None = None
    recorded: RecordedReleases = RecordedReleases()


def _misfits(ledger: Path, head: _Head, stored: list[StoredEntry]) -> list[FileError]:
    """Return where entries do not follow one another, or are not those that the head counts."""
    wrong = []
    before: StoredEntry | None = None
    for number, current in enumerate(stored, start=1):
        path = current.folder / "entry.json"
        if current.entry.number != number:
            wrong = [_damage(_("entry {number} is missing").format(number=number), path.parent.parent)]
            break
        if current.entry.previous != (before.digest if before else None):
            wrong.append(_damage(_("it does not follow from the previous entry"), path))
        if before and period_key(current.entry.period) <= period_key(before.entry.period):
            wrong.append(_damage(_("it does not follow from the previous entry"), path))
        before = current
    # a process ended in between leaves the head one behind
    last = stored[head.entries - 1].digest if 0 < head.entries <= len(stored) else None
    if (missing := head.entries - len(stored)) > 0:
        text = _("{missing} of {count} releases are missing").format(missing=missing, count=head.entries)
        wrong.append(_damage(text, ledger / "releases"))
    elif missing < -1 or head.digest != last:
        wrong.append(_damage(_("it does not match the entries"), ledger / "head.json"))
    return wrong


def _changed(folder: Path, files: dict[str, str]) -> list[FileError]:
    wrong = []
    for name, digest in files.items():
        path = folder / name
        try:
            problem = "" if file_digest(path) == digest else _("the file changed after the release")
        except OSError:
            problem = _("it cannot be read")
        if problem:
            wrong.append(_damage(problem, path))
    return wrong


def _damage(rule: str, path: Path) -> FileError:
    return FileError(rule, _("restore the ledger from a backup"), file=path)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise _damage(_("it cannot be read"), path) from None
    if not isinstance(content, dict):
        raise _damage(_("it cannot be read"), path)
    return content


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


# --- one at a time ----------------------------------------------------------------------------------------------------

Tell = Callable[[str], None]
"""Called with messages about progress."""


def ignore_message(message: str) -> None:
    """Ignore a message."""


@contextlib.contextmanager
def alone(folder: Path, tell: Tell = ignore_message) -> Iterator[None]:
    """Hold the lock of the ledger in ``folder``; if another process holds it, report that and wait.

    The lock is the system's own, on the file ``.lock``: it ends with the process that holds it, however that ends.
    """
    try:
        file = (folder / ".lock").open("ab")
    except OSError as error:
        raise OutputError(
            _("you may not write to {path} ({reason})").format(path=folder, reason=error.strerror)
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(_("waiting for another process that writes to {path}").format(path=folder))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
