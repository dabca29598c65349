"""Files under the SHA-256 of their content, in a folder or at any address that fsspec knows (``s3://…``).

When :meth:`Files.put` returns, the file is completely on the disk; an interrupted or too large one leaves nothing.
Contents are compared with their digest when they are read, so that a damaged file is never scored.

A *sealed* file is encrypted while it is received, in frames of a mebibyte (AES-256-GCM, each frame with its number and
whether it is the last, under a key of the file's own): its plain bytes are never on the disk of the store. The digest,
which is that of the plain bytes, binds the content to its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import fsspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from noren.contest.actions import too_large
from noren.contest.store.encryption import derive_key
from noren.data.formats.files import explain_write_errors, to_disk
from noren.errors import FileError, ParameterError, reason_of
from noren.tables import Texts
from noren.web.errors import TooLargeError

say = Texts(__name__)
FRAME: Final = 2**20
_TAG, _SALT = 16, 32
_MAGIC: Final = b"noren sealed 1\n"
_SEALED: Final = ".sealed"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FORGOTTEN: Final = 86_400.0
"""Seconds after which an unfinished file is removed."""
_HOUR: Final = 3_600.0
_PLAIN: Final = "noren-contest-"
"""Prefix of the folders of decrypted files, before the process number."""
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


class StoredFile(NamedTuple):
    """The digest of a file's plain bytes, and how many there are."""

    digest: str
    size: int


class Files:
    """The files of the arena.

    Parameters
    ----------
    place
        A folder, or an address such as ``s3://bucket/cup``.
    key
        The key of :func:`~noren.contest.store.encryption.kept_key`.

    Examples
    --------
    >>> files = Files("memory://doctest", bytes(32))
    >>> stored = files.put(b"tea", sealed=True)
    >>> stored.size, files.read(stored.digest)
    (3, b'tea')
    """

    def __init__(self, place: str | Path, key: bytes) -> None:
        scheme, separator, rest = str(place).partition("://")
        if not separator or scheme in ("file", "local"):
            self._disk: _Disk = _Folder(Path(rest if separator else place))
        else:
            try:
                self._disk = _Disk(*fsspec.core.url_to_fs(place))
            except (ImportError, ValueError) as error:
                raise ParameterError(say("no_place", place=place, reason=reason_of(error))) from None
        self._key = derive_key(key, "files")
        _sweep()

    def put(self, content: bytes | Iterable[bytes], *, sealed: bool, largest: int | None = None) -> StoredFile:
        """Store bytes or blocks; an existing file is written again, which repairs damage."""
        with self.writing(sealed=sealed, largest=largest) as incoming:
            for block in [content] if isinstance(content, bytes) else content:
                incoming.write(block)
        return incoming.stored

    @contextlib.contextmanager
    def writing(self, *, sealed: bool, largest: int | None = None) -> Iterator[IncomingFile]:
        """Yield a writer of blocks; the file is stored if the code block succeeds."""
        with self._aside() as (aside, out):
            with out:
                incoming = IncomingFile(out, largest, self._key if sealed else None)
                yield incoming
                incoming.finish()
            self._disk.keep(aside, _name(incoming.stored.digest, sealed=sealed))

    @contextlib.contextmanager
    def _aside(self) -> Iterator[tuple[str, BinaryIO]]:
        """Yield the name of a new file and the file; it is removed if the code block fails."""
        aside = f"aside/{secrets.token_hex(16)}"
        with explain_write_errors(Path(self._disk.display_path(""))):
            out = self._disk.create(aside)
            try:
                yield aside, out
            except BaseException:
                with contextlib.suppress(OSError):
                    self._disk.system.rm_file(self._disk.path(aside))
                raise

    def read(self, digest: str) -> bytes:
        """Return a file's plain bytes."""
        return b"".join(self._blocks(digest))

    @contextlib.contextmanager
    def path(self, digest: str, suffix: str = "") -> Iterator[Path]:
        """Yield the path of a file with its plain bytes; the reader must not change it.

        Files that are not plain on this disk are decrypted in memory if there is room, otherwise in a temporary folder.
        """
        name, room = self._name(digest), None
        is_here = self._disk.folder is not None and not name.endswith(_SEALED)
        with contextlib.suppress(OSError):
            free = shutil.disk_usage(_IN_MEMORY).free if os.access(_IN_MEMORY, os.W_OK) else 0
            room = _IN_MEMORY if free > 4 * int(self._disk.system.size(self._disk.path(name))) else None
        with tempfile.TemporaryDirectory(prefix=f"{_PLAIN}{os.getpid()}-", dir=room) as folder:
            plain = Path(folder) / f"{digest[:12]}{suffix}"
            with explain_write_errors(plain):
                if is_here:
                    plain.symlink_to(Path(self._disk.path(name)).resolve())
                with (Path(os.devnull) if is_here else plain).open("wb") as out:
                    for block in self._blocks(digest):
                        out.write(block)
            yield plain

    def stored_bytes(self, digest: str) -> tuple[bool, Iterator[bytes]]:
        """Return whether a file is sealed, and its stored bytes, for a backup."""
        name = self._name(digest)

        def blocks() -> Iterator[bytes]:
            with self._disk.open(name) as source:
                yield from iter(partial(source.read, FRAME), b"")

        return name.endswith(_SEALED), blocks()

    def restore(self, digest: str, blocks: Iterable[bytes], *, sealed: bool) -> None:
        """Restore a file from a backup of a store with the same key; reject it if its digest differs."""
        with self._aside() as (aside, out):
            with out:
                for block in blocks:
                    out.write(block)
            for _block in self._blocks(digest, aside, sealed=sealed):
                pass
            self._disk.keep(aside, _name(digest, sealed=sealed))

    def _name(self, digest: str) -> str:
        if _DIGEST.fullmatch(digest):
            for name in (_name(digest, sealed=False), _name(digest, sealed=True)):
                if self._disk.system.isfile(self._disk.path(name)):
                    return name
        raise FileError(say("not_there"), file=self._disk.display_path(digest))

    def _blocks(self, digest: str, name: str | None = None, *, sealed: bool | None = None) -> Iterator[bytes]:
        """Yield a file's plain bytes; the last block only if the digest matches."""
        name = name or self._name(digest)
        is_sealed = name.endswith(_SEALED) if sealed is None else sealed
        digest_, held = hashlib.sha256(), b""
        try:
            with self._disk.open(name) as source:
                for block in _opened(source, self._key) if is_sealed else iter(partial(source.read, FRAME), b""):
                    digest_.update(block)
                    if held:
                        yield held
                    held = block
            is_whole = digest_.hexdigest() == digest
        except (InvalidTag, EOFError):
            is_whole = False
        if not is_whole:
            raise FileError(say("damaged"), file=self._disk.display_path(name))
        yield held


class IncomingFile:
    """A file that is received block by block; with a key, it is encrypted in frames."""

    def __init__(self, out: BinaryIO, largest: int | None, key: bytes | None = None) -> None:
        self._out, self._largest = out, largest
        self._sha, self._size = hashlib.sha256(), 0
        self._cipher: AESGCM | None = None
        self._number, self._waiting = 0, bytearray()
        if key is not None:
            salt = secrets.token_bytes(_SALT)
            self._cipher = AESGCM(derive_key(key, "file", salt))
            out.write(_MAGIC + salt)

    def write(self, block: bytes) -> None:
        """Add bytes."""
        self._size += len(block)
        if self._largest is not None and self._size > self._largest:
            raise TooLargeError(too_large(self._largest))
        self._sha.update(block)
        if self._cipher is None:
            self._out.write(block)
            return
        self._waiting += block
        while len(self._waiting) > FRAME:
            self._frame(self._cipher, bytes(self._waiting[:FRAME]), last=False)
            del self._waiting[:FRAME]

    def finish(self) -> None:
        """Write the last frame."""
        if self._cipher is not None:
            self._frame(self._cipher, bytes(self._waiting), last=True)

    def _frame(self, cipher: AESGCM, plain: bytes, *, last: bool) -> None:
        self._out.write(cipher.encrypt(_nonce(self._number, last=last), plain, _MAGIC))
        self._number += 1

    @property
    def stored(self) -> StoredFile:
        """Digest and size of the bytes so far."""
        return StoredFile(self._sha.hexdigest(), self._size)


def _nonce(number: int, *, last: bool) -> bytes:
    """Return the nonce of a frame: its number, and whether another follows, so that no frame can be moved or cut."""
    return number.to_bytes(11, "big") + bytes([last])


def _opened(source: BinaryIO, key: bytes) -> Iterator[bytes]:
    """Yield the plain bytes of a sealed file, frame by frame."""
    magic, salt = _exactly(source, len(_MAGIC)), _exactly(source, _SALT)
    if magic != _MAGIC or len(salt) < _SALT:
        raise EOFError
    cipher, number, frame = AESGCM(derive_key(key, "file", salt)), 0, _exactly(source, FRAME + _TAG)
    while True:
        following = _exactly(source, FRAME + _TAG)
        yield cipher.decrypt(_nonce(number, last=not following), frame, _MAGIC)
        if not following:
            return
        number, frame = number + 1, following


def _exactly(source: BinaryIO, count: int) -> bytes:
    """Read a number of bytes, fewer only at the end."""
    content = bytearray()
    while len(content) < count and (block := source.read(count - len(content))):
        content += block
    return bytes(content)


def _sweep() -> None:
    """Remove decrypted files of killed processes."""
    for place in {_IN_MEMORY, Path(tempfile.gettempdir())}:
        for left in place.glob(f"{_PLAIN}*-*"):
            with contextlib.suppress(OSError, ValueError):
                is_old = left.stat().st_mtime < time.time() - _HOUR and left.stat().st_uid == os.getuid()
                if is_old:
                    try:
                        os.kill(int(left.name.removeprefix(_PLAIN).partition("-")[0]), 0)
                    except ProcessLookupError:
                        shutil.rmtree(left)


def _name(digest: str, *, sealed: bool) -> str:
    return f"{digest[:2]}/{digest}{_SEALED if sealed else ''}"


# --- where they lie ------------------------------------------------------------------------------------------


class _Disk:
    """Files at an fsspec address."""

    def __init__(self, system: Any, root: str, folder: Path | None = None) -> None:
        self.system, self._root, self.folder = system, root.rstrip("/"), folder

    def path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def create(self, name: str) -> BinaryIO:
        self.system.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
        opened: BinaryIO = self.system.open(self.path(name), "wb")
        return opened

    def keep(self, aside: str, name: str) -> None:
        self.system.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
        self.system.mv(self.path(aside), self.path(name))

    def open(self, name: str) -> BinaryIO:
        opened: BinaryIO = self.system.open(self.path(name), "rb")
        return opened

    def display_path(self, name: str) -> str:
        return str(self.system.unstrip_protocol(self.path(name)) if self.folder is None else self.folder / name)


class _Folder(_Disk):
    """Files in a local folder that only its owner can read."""

    def __init__(self, root: Path) -> None:
        super().__init__(fsspec.filesystem("file"), str(root), root)
        self._folder = root
        with explain_write_errors(root):
            (root / "aside").mkdir(parents=True, exist_ok=True, mode=0o700)
            for left in (root / "aside").iterdir():  # of a process that was killed
                with contextlib.suppress(FileNotFoundError):
                    if left.stat().st_mtime < time.time() - _FORGOTTEN:
                        left.unlink()

    def create(self, name: str) -> BinaryIO:
        return os.fdopen(os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def keep(self, aside: str, name: str) -> None:
        target = self._folder / name
        to_disk(self._folder / aside)
        if not target.parent.exists():
            target.parent.mkdir(exist_ok=True, mode=0o700)
            to_disk(self._folder)
        (self._folder / aside).replace(target)
        to_disk(target.parent)
