"""Files under their digests: whole or not there, damaged ones named, sealed ones nowhere to be read."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.data.test_files import no_file_over

from noren.contest.store import files as files_module
from noren.contest.store.encryption import ENVIRONMENT, KEY_FILE, server_key
from noren.contest.store.files import FRAME, Files
from noren.errors import FileError, OutputError, ParameterError
from noren.web.errors import TooLargeError

KEY = bytes(range(32))
SECRET = b"customer 10234 is pseudonym 77f1,"


@pytest.fixture(params=["folder", "file://", "memory://"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    place = {"folder": str(tmp_path / "files"), "file://": f"file://{tmp_path / 'files'}"}
    return Files(place.get(request.param, f"memory://{tmp_path}"), KEY)


def on_disk(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("size", [0, 1, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 2 * FRAME + 5])
def test_what_is_put_comes_back(files: Files, sealed: bool, size: int) -> None:
    content = (SECRET * (size // len(SECRET) + 1))[:size]
    kept = files.put(io.BytesIO(content), sealed=sealed)
    assert kept == (hashlib.sha256(content).hexdigest(), size)
    assert files.read(kept.digest) == content
    with files.path(kept.digest, ".csv") as path:
        assert path.suffix == ".csv"
        assert path.read_bytes() == content
    assert not path.exists()
    assert files.put(content, sealed=sealed) == kept


def test_no_plain_byte_of_a_sealed_file_is_in_the_folder(tmp_path: Path) -> None:
    files = Files(tmp_path, KEY)
    content = SECRET * (2 * FRAME // len(SECRET))
    with files.writing(sealed=True) as incoming:
        for start in range(0, len(content), 70_001):  # as blocks come in over a network
            incoming.write(content[start : start + 70_001])
            assert not any(SECRET[:12] in kept for kept in on_disk(tmp_path).values())
    (name,) = on_disk(tmp_path)
    assert name == f"{incoming.stored.digest[:2]}/{incoming.stored.digest}.sealed"
    assert (tmp_path / name).stat().st_mode & 0o077 == 0
    again = Files(tmp_path, KEY)
    assert again.read(incoming.stored.digest) == content
    with pytest.raises(FileError, match="damaged or encrypted with another key"):
        Files(tmp_path, bytes(32)).read(incoming.stored.digest)
    # the same bytes, sealed twice, look different
    first = on_disk(tmp_path)[name]
    files.put(content, sealed=True)
    assert on_disk(tmp_path)[name] != first


@pytest.mark.parametrize("damage", ["bit", "cut", "frame", "longer", "empty", "other"])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_damaged_file_is_named(tmp_path: Path, sealed: bool, damage: str) -> None:
    files = Files(tmp_path, KEY)
    kept = files.put(SECRET * (3 * FRAME // len(SECRET)), sealed=sealed)
    other = files.put(b"something else", sealed=sealed)
    ending = ".sealed" if sealed else ""
    path = tmp_path / kept.digest[:2] / f"{kept.digest}{ending}"
    whole = path.read_bytes()
    path.write_bytes(
        {
            "bit": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
            "cut": whole[:-1],
            "frame": whole[: len(whole) - len(whole) // 3],
            "longer": whole + b"\0",
            "empty": b"",
            "other": (tmp_path / other.digest[:2] / f"{other.digest}{ending}").read_bytes(),
        }[damage]
    )
    with pytest.raises(FileError, match=f"{kept.digest}.*stored data are damaged.*restore a backup"):
        files.read(kept.digest)
    with pytest.raises(FileError, match=kept.digest), files.path(kept.digest):
        pytest.fail("nobody is handed a damaged file")
    assert files.read(other.digest) == b"something else"
    files.put(SECRET * (3 * FRAME // len(SECRET)), sealed=sealed)  # to put it in again mends it
    assert files.read(kept.digest)[:5] == SECRET[:5]


@pytest.mark.parametrize("digest", ["0" * 64, "../../etc/passwd", "", "A" * 64, "0" * 63 + "\n"])
def test_what_is_not_there_is_said(files: Files, digest: str) -> None:
    with pytest.raises(FileError, match="a stored file is missing"):
        files.read(digest)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_file_too_large_leaves_nothing(tmp_path: Path, sealed: bool) -> None:
    files = Files(tmp_path, KEY)

    given = 0

    def endless() -> Iterator[bytes]:
        nonlocal given
        while True:
            given += FRAME
            yield b"x" * FRAME

    with pytest.raises(TooLargeError, match="larger than 3,000,000 bytes"):
        files.put(endless(), sealed=sealed, largest=3_000_000)
    assert given <= 3_000_000 + FRAME
    assert on_disk(tmp_path) == {}
    assert files.put(b"x" * 10, sealed=sealed, largest=10).size == 10


@pytest.mark.parametrize("sealed", [True, False])
def test_a_full_disk_leaves_nothing(tmp_path: Path, sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(tmp_path, KEY)
    with no_file_over(FRAME), pytest.raises(OutputError, match="was not written"):
        files.put(b"x" * 3 * FRAME, sealed=sealed)
    assert on_disk(tmp_path) == {}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os if step == "fsync" else Path, step, full)
            with pytest.raises(OutputError, match="the disk is full"):
                files.put(b"x", sealed=sealed)
        assert on_disk(tmp_path) == {}


def test_a_sealed_file_is_opened_elsewhere_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(tmp_path, KEY)
    kept = files.put(SECRET, sealed=True)
    monkeypatch.setattr(files_module, "_IN_MEMORY", tmp_path / "nowhere")
    with files.path(kept.digest) as path:
        assert path.read_bytes() == SECRET
        assert path.parent.stat().st_mode & 0o077 == 0


def test_what_a_killed_process_left_is_swept_up_once_it_is_old(tmp_path: Path) -> None:
    Files(tmp_path, KEY)
    old, young = tmp_path / "aside" / "old", tmp_path / "aside" / "young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    Files(tmp_path, KEY)
    assert not old.exists()
    assert young.exists()


def test_plain_bytes_of_a_killed_reader_are_swept_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "_IN_MEMORY", tmp_path)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    dead, young, alive, other = (
        tmp_path / f"noren-contest-{name}" for name in (f"{gone.pid}-old", f"{gone.pid}-new", f"{os.getpid()}-x", "x-y")
    )
    for folder in (dead, young, alive, other):
        folder.mkdir()
        (folder / "plain.csv").write_bytes(SECRET)
        if folder != young:
            os.utime(folder, (0, 0))
    Files(tmp_path / "files", KEY)
    assert not dead.exists()
    assert all(folder.exists() for folder in (young, alive, other))


def test_a_place_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"files cannot be stored at gopher://x .*; install the missing package"):
        Files("gopher://x", KEY)


# --- the key -------------------------------------------------------------------------------------------------


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    key = server_key(tmp_path / "data")
    assert len(key) == 32
    assert server_key(tmp_path / "data") == key
    assert (tmp_path / "data" / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == [KEY_FILE]
    (tmp_path / "data" / KEY_FILE).write_bytes(b"short")
    with pytest.raises(FileError, match="the key is damaged"):
        server_key(tmp_path / "data")
    monkeypatch.setenv(ENVIRONMENT, "ab" * 32)
    assert server_key(tmp_path / "data") == b"\xab" * 32
    monkeypatch.setenv(ENVIRONMENT, "secret")
    with pytest.raises(ParameterError, match="NOREN_CONTEST_KEY is not a key; set it to 64 hexadecimal digits"):
        server_key(tmp_path / "data")


MADE = """
import sys
from collections.abc import Iterator
from pathlib import Path
from noren.contest.store.encryption import server_key
print("ready", flush=True)
sys.stdin.readline()
print(server_key(Path(sys.argv[1])).hex())
"""


def test_processes_that_begin_together_agree_on_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    words = [sys.executable, "-c", MADE, str(tmp_path)]
    children = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    assert len({child.communicate()[0] for child in children}) == 1
