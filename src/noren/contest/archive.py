"""A whole contest as one file: to publish after the results, or as a backup before.

An *open* archive has the log, every file in plain, the receipts and the results: all that a replay needs. A *sealed*
one is a backup: files and secrets are in it as the server stores them, so that it opens on a server that has the same
key (``secret.key``), with the accounts of those who play. Both are ZIP files with fixed times and sorted names: the
same contest gives the same bytes. A reader trusts nothing in it: names, sizes and digests are checked first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa

from noren.contest.actions import RefusedError, not_found
from noren.contest.arena import JUDGE, Arena
from noren.contest.receipts import Receipt, matches_commitment, receipt_from
from noren.contest.results import RESULTS_FILES, results_html, results_of
from noren.contest.state import Contest, fold
from noren.contest.store.tables import accounts
from noren.contest.store.tables import sealed as sealed_table
from noren.data.formats.files import writing_file
from noren.errors import FileError, ParameterError, quoted
from noren.i18n import LANGUAGES, _, use_language
from noren.progress import Progress, silent
from noren.tables import Texts, table_of
from noren.work.hash_chain import LogEntry, canonical, entry_of, verify

say = Texts(__name__)
Kind = Literal["open", "sealed"]
_FORM = "noren-contest-1"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_BLOCK = 2**20
_MOST_MEMBERS = 500_000
_LARGEST_LOG = 2**31
_LARGEST_TEXT = 2**28
_LARGEST_FILE = 2**34
_PLAIN_ENOUGH = 2**26
_HIGHEST_RATIO = 250
_SEAL = 64 + 2**10
"""Bytes that sealing adds to a file at most, beside 16 for each mebibyte."""
_NAMES = re.compile(
    r"manifest\.json|log\.jsonl|public_key|README|accounts\.json|secrets/[a-z0-9_-]{1,32}"
    r"|files/[0-9a-f]{64}(\.sealed)?|receipts/[0-9A-Za-z]{1,40}\.json|results/[a-z]{1,20}(\.[a-z]{2})?\.[a-z]{2,5}"
)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError, TypeError)


# --- writing ---------------------------------------------------------------------------------------------------------


def export(arena: Arena, contest: str, path: Path, *, sealed: bool | None = None, progress: Progress = silent) -> Path:
    """Write a contest to one file: open once its results are out, before that sealed.

    ``sealed``: true for a backup at any time; false stops where the results are not out yet.
    """
    entries = arena.store.entries(contest)
    if not entries:
        raise not_found(contest)
    state = fold(entries)
    if sealed is None:
        sealed = state.results is None
    if not sealed and state.results is None:
        raise RefusedError(say("results_not_out"))
    parts = sorted(_parts(arena, state, entries, "sealed" if sealed else "open"))
    files = sorted(needed_files(state))
    with writing_file(path, private=True) as aside, zipfile.ZipFile(aside, "w") as archive:
        for name, content in parts:
            _write(archive, name, [content])
        for done, digest in enumerate(files):
            progress(done / len(files), digest[:12])
            if sealed:
                is_sealed, blocks = arena.files.stored_bytes(digest)
                _write(archive, f"files/{digest}{'.sealed' if is_sealed else ''}", blocks, packed=not is_sealed)
            else:
                with arena.files.path(digest) as plain, plain.open("rb") as file:
                    _write(archive, f"files/{digest}", iter(partial(file.read, _BLOCK), b""))
    return path


def needed_files(contest: Contest) -> set[str]:
    """Return the digests of all files that a log refers to."""
    data = {round_.data for round_ in contest.rounds.values()}
    targets = {target.digest for by_number in contest.targets.values() for target in by_number.values()}
    return data | targets | {submission.digest for submission in contest.submissions.values()}


def _parts(arena: Arena, state: Contest, entries: Sequence[LogEntry], kind: Kind) -> Iterator[tuple[str, bytes]]:
    manifest = {"form": _FORM, "kind": kind, "contest": state.id, "entries": len(entries), "head": entries[-1].digest}
    if kind == "sealed":
        manifest["key_check"] = arena.store.key_check
    yield "manifest.json", canonical(manifest) + b"\n"
    yield "log.jsonl", b"".join(entry.line() for entry in entries)
    yield "public_key", state.public_key.encode() + b"\n"
    yield "README", f"{state.title} ({state.id})\n\n{table_of('noren.contest.archive_readme')[kind]}".encode()
    if arena.signing.public == state.public_key:
        for submission in state.submissions.values():
            yield f"receipts/{submission.id}.json", arena.receipt(state, submission).to_text().encode()
    if kind == "open":
        results = results_of(state)
        for name, write in RESULTS_FILES.items():
            yield f"results/{name}", write(results).encode()
        for language in LANGUAGES:
            with use_language(language):
                yield f"results/results.{language}.html", results_html(results).encode()
        return
    # players, organisers and secrets, as the server stores them
    playing = {name for team in state.teams.values() for name in team.members}
    with arena.store.engine.connect() as database:
        wanted = accounts.c.id.in_(sorted(playing | {*state.organisers}))
        people = [dict(row._mapping) for row in database.execute(accounts.select().where(wanted))]
        secret = database.execute(sealed_table.select().where(sealed_table.c.contest == state.id)).all()
    backup = {"accounts": sorted(people, key=lambda account: str(account["id"]))}
    yield "accounts.json", canonical(backup) + b"\n"
    for row in secret:
        yield f"secrets/{row.name}", bytes(row.content)


def _write(archive: zipfile.ZipFile, name: str, blocks: Iterable[bytes], *, packed: bool = True) -> None:
    about = zipfile.ZipInfo(name, _LONG_AGO)
    about.external_attr = 0o600 << 16
    about.create_system = 3
    about.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with archive.open(about, "w", force_zip64=True) as target:
        for block in blocks:
            target.write(block)


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Archive:
    """An archive that was opened: its log, and how to get at its files."""

    path: Path
    kind: Kind
    contest: str
    entries: tuple[LogEntry, ...]
    """The log as it stands in the archive; whether it holds is for :func:`noren.work.hash_chain.verify` to say."""
    public_key: str
    manifest: Mapping[str, Any]
    _zip: zipfile.ZipFile

    def end_mismatch(self) -> str | None:
        """Return a message if the log does not end as the manifest says: a truncated log is a valid chain, too."""
        expected = self.manifest.get("contest"), self.manifest.get("entries"), self.manifest.get("head")
        if expected == (self.contest, len(self.entries), self.entries[-1].digest):
            return None
        return say("mismatch", name="manifest.json")

    def names(self, folder: str) -> list[str]:
        """Return the names below a folder."""
        return sorted(name.removeprefix(folder) for name in self._zip.namelist() if name.startswith(folder))

    def text(self, name: str) -> bytes:
        """Return a small part of the archive."""
        return b"".join(_bounded(self._zip, name, _LARGEST_TEXT, self.path))

    def receipts(self) -> Iterator[Receipt]:
        """Yield the receipts."""
        for name in self.names("receipts/"):
            yield receipt_from(_json(self.text(f"receipts/{name}"), self.path, f"receipts/{name}"))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The bytes of each file that was received, as the log has them."""
        received = (entry.body for entry in self.entries if entry.kind.endswith("-received"))
        return {str(body.get("digest")): size for body in received if isinstance(size := body.get("bytes"), int)}

    def _file(self, name: str, digest: str) -> Iterator[bytes]:
        """Yield the bytes of a file, at most as many as the log says; other files must not be decompression bombs."""
        about = self._zip.NameToInfo.get(name)
        if digest in self._sizes:
            largest = self._sizes[digest]
            largest += (_SEAL + 16 * (largest // 2**20)) if name.endswith(".sealed") else 0
        else:
            largest = _LARGEST_FILE
            if about is not None and about.file_size > max(_PLAIN_ENOUGH, _HIGHEST_RATIO * about.compress_size):
                raise _damaged(self.path, "large", name)
        return _bounded(self._zip, name, largest, self.path)

    def extract(self, digest: str, folder: Path) -> Path:
        """Write a plain file to a folder under its digest; reject it if its content has another digest."""
        target, digest_ = folder / digest, hashlib.sha256()
        with target.open("wb") as out:
            for block in self._file(f"files/{digest}", digest):
                digest_.update(block)
                out.write(block)
        if digest_.hexdigest() != digest:
            target.unlink()
            raise _damaged(self.path, "mismatch", digest[:12])
        return target

    def stored_file(self, digest: str) -> tuple[bool, Iterator[bytes]]:
        """Return whether a file is sealed, and its bytes as stored in the archive."""
        is_sealed = f"files/{digest}.sealed" in self._zip.NameToInfo
        name = f"files/{digest}{'.sealed' if is_sealed else ''}"
        return is_sealed, self._file(name, digest)


@contextlib.contextmanager
def open_archive(path: Path, *, to_replay: bool = False) -> Iterator[Archive]:
    """Open an archive; reject unexpected content.

    ``to_replay`` also rejects sealed archives, which cannot be replayed without the server's key.
    """
    try:
        opened = zipfile.ZipFile(path)
    except OSError as error:
        raise FileError(say("unreadable", name=path.name), error.strerror or "", file=path) from None
    except _DAMAGE:
        raise _damaged(path, "unreadable", "ZIP") from None
    with opened:
        members = opened.infolist()
        if len(members) > _MOST_MEMBERS:
            raise _damaged(path, "large", f"{len(members):,}")
        counts = Counter(member.filename for member in members)
        for member in members:
            name = member.filename
            if not _NAMES.fullmatch(name) or counts[name] > 1:
                raise _damaged(path, "foreign", quoted(name))
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _damaged(path, "unreadable", quoted(name))
        manifest = _json(b"".join(_bounded(opened, "manifest.json", _LARGEST_TEXT, path)), path, "manifest.json")
        kind = manifest.get("kind")
        if manifest.get("form") != _FORM or kind not in ("open", "sealed"):
            raise _damaged(path, "unreadable", "manifest.json")
        entries = tuple(_entries(_bounded(opened, "log.jsonl", _LARGEST_LOG, path), path))
        if not entries or entries[0].kind != "created":
            raise _damaged(path, "unreadable", "log.jsonl")
        contest = str(entries[0].body.get("contest"))
        key = b"".join(_bounded(opened, "public_key", _LARGEST_TEXT, path)).decode("ascii", "replace").strip()
        if to_replay and kind != "open":
            raise ParameterError(say("sealed_backup"))
        yield Archive(path, kind, contest, entries, key, manifest, opened)


def read_log(path: Path) -> tuple[LogEntry, ...]:
    """Return the log of an archive, or of a file with an entry on each line."""
    if not zipfile.is_zipfile(path):
        try:
            with path.open("rb") as file:
                return tuple(_entries(iter(partial(file.read, _BLOCK), b""), path))
        except OSError as error:
            raise FileError(say("unreadable", name=path.name), error.strerror or "", file=path) from None
    with open_archive(path) as archive:
        return archive.entries


def _entries(blocks: Iterable[bytes], path: Path) -> Iterator[LogEntry]:
    for number, line in enumerate(_lines(blocks, path), start=1):
        entry = entry_of(_json(line, path, f"log.jsonl:{number}"))
        if entry is None:
            raise _damaged(path, "unreadable", f"log.jsonl:{number}")
        yield entry


def _lines(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    left = b""
    for block in blocks:
        *whole, left = (left + block).split(b"\n")
        yield from whole
        if len(left) > _LARGEST_TEXT:
            raise _damaged(path, "large", "log.jsonl")
    if left:
        yield left


def _bounded(opened: zipfile.ZipFile, name: str, largest: int, path: Path) -> Iterator[bytes]:
    """Yield the bytes of a part, never more than its declared size or the limit."""
    about = opened.NameToInfo.get(name)
    if about is None:
        raise _damaged(path, "missing", name)
    if about.file_size > largest:
        raise _damaged(path, "large", name)
    left = about.file_size
    try:
        with opened.open(about) as source:
            while block := source.read(min(_BLOCK, left + 1)):
                left -= len(block)
                if left < 0:
                    raise _damaged(path, "large", name)
                yield block
    except (*_DAMAGE, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise _damaged(path, "unreadable", name) from None


def _json(content: bytes, path: Path, name: str) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise _damaged(path, "unreadable", name)
    return parsed


def _damaged(path: Path, problem: str, name: str) -> FileError:
    """Return the error of a part that is ``missing``, ``unreadable``, ``large``, ``foreign`` or a ``mismatch``."""
    return FileError(say("damaged", reason=say(problem, name=name)), file=path)


def import_archive(arena: Arena, path: Path, *, progress: Progress = silent) -> str:
    """Import a contest from an archive into this server, and return its name.

    The log is verified and every file compared with its digest first. The server must have the key of a sealed archive.
    Submissions that were not scored yet are queued here.
    """
    with open_archive(path) as archive:
        verify(archive.entries)
        state = fold(archive.entries)
        if archive.public_key != state.public_key:
            raise _damaged(path, "mismatch", "public_key")
        if archive.end_mismatch() is not None:
            raise _damaged(path, "mismatch", "manifest.json")
        if arena.state(state.id) is not None:
            message = _("the contest {name} is already on this server; import it into another server")
            raise RefusedError(message.format(name=state.id))
        backup: dict[str, Any] = {"accounts": []}
        secrets = {} if state.salt is None else {"salt": bytes.fromhex(state.salt)}  # of an open one it is revealed
        if archive.kind == "sealed":
            if archive.manifest.get("key_check") != arena.store.key_check:
                raise FileError(say("other_key"), file=path)
            backup, secrets = _json(archive.text("accounts.json"), path, "accounts.json"), {}
            people, columns = backup.get("accounts"), {column.name for column in accounts.columns}
            if not isinstance(people, list):
                raise _damaged(path, "missing", "accounts")
            if any(not isinstance(account, dict) or set(account) != columns for account in people):
                raise _damaged(path, "unreadable", "accounts.json")
            for account in people:
                other = arena.store.accounts.by_login(str(account["login"]))
                if other is not None and other.id != account["id"]:
                    raise RefusedError(say("login_taken", login=quoted(account["login"])))
            for name in archive.names("secrets/"):
                secrets[name] = arena.store.seal.open(archive.text(f"secrets/{name}"), f"{state.id}/{name}")
            if "salt" in secrets and not matches_commitment(state.commitment, secrets["salt"]):
                raise _damaged(path, "mismatch", "salt")
        needed, private = sorted(needed_files(state)), {submission.digest for submission in state.submissions.values()}
        for done, digest in enumerate(needed):
            progress(done / len(needed), digest[:12])
            is_sealed, blocks = archive.stored_file(digest)
            if is_sealed or digest not in private:
                arena.files.restore(digest, blocks, sealed=is_sealed)
                continue
            with arena.files.writing(sealed=True) as incoming:  # plain in an open archive, sealed wherever it is kept
                for block in blocks:
                    incoming.write(block)
                if incoming.stored.digest != digest:
                    raise _damaged(path, "mismatch", digest[:12])
        with arena.store.engine.begin() as database:
            known = set(database.execute(sa.select(accounts.c.id)).scalars())
            new = [dict(account) for account in backup["accounts"] if account["id"] not in known]
            if new:
                database.execute(accounts.insert(), new)
        arena.store.create(state.id, archive.entries, secrets=secrets)
        with arena.store.changing(state.id) as change:
            for submission in state.unjudged():
                change.enqueue(submission.kind, queue=JUDGE, submission=submission.id)
    return state.id
