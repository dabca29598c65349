"""Downloads that break, resume, lie and grow; archives that are damaged or hostile."""

import http.client
import io
import re
import socket
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noren.data import catalog as module
from noren.data.catalog import download, unpack
from noren.errors import FileError, OutputError, ParameterError

CONTENT = bytes(range(256)) * 1024
HALF = len(CONTENT) // 2


class Server(ThreadingHTTPServer):
    """Serves CONTENT in the ways a test asks for, and remembers the ranges it was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []
        self.knows_ranges = True
        self.announces = True
        self.sends = len(CONTENT)
        self.status = 200
        self.shift = 0
        self.redirect: str | None = None
        self.answer = threading.Event()
        self.answer.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/a.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        asked = self.headers.get("Range")
        server.asked.append(asked)
        server.answer.wait()
        if server.redirect is not None:
            self.send_response(302)
            self.send_header("Location", server.redirect)
            self.end_headers()
            return
        if server.status != 200:
            self.send_error(server.status)
            return
        start = 0
        if asked and server.knows_ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) + server.shift  # type: ignore[index]
            if start >= len(CONTENT):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        else:
            self.send_response(200)
        if server.announces:
            self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start : server.sends])

    def log_message(self, *_said: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.answer.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "a.zip"


def partial(target: Path) -> Path:
    """Return where an unfinished download is kept."""
    return target.with_name(target.name + ".part")


def bring(address: str, target: Path, **how: object) -> Path:
    return download(address, target, remedy="unpack it yourself", **how)  # type: ignore[arg-type]


# --- downloading -----------------------------------------------------------------------------------------------------


def test_a_download_comes_whole_and_tells_how_far_it_is(server: Server, target: Path) -> None:
    told: list[tuple[float, str]] = []
    assert (
        bring(server.address, target, progress=lambda done, words="", best=None: told.append((done, words))) == target
    )
    assert target.read_bytes() == CONTENT
    assert not partial(target).exists()
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (1.0, "0.3 MB")
    assert server.asked == [None]


def test_a_broken_download_is_continued_where_it_stopped(server: Server, target: Path) -> None:
    server.sends = HALF
    with pytest.raises(FileError, match="the connection ended after 131,072 of 262,144 bytes"):
        bring(server.address, target)
    assert not target.exists()
    assert partial(target).read_bytes() == CONTENT[:HALF]
    server.sends = len(CONTENT)
    bring(server.address, target)
    assert target.read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={HALF}-"]


def test_a_server_that_knows_no_ranges_sends_everything_again(server: Server, target: Path) -> None:
    target.parent.mkdir()
    partial(target).write_bytes(b"x" * HALF)
    server.knows_ranges = False
    bring(server.address, target)
    assert server.asked == [f"bytes={HALF}-"]
    assert target.read_bytes() == CONTENT


def test_another_piece_than_asked_for_is_not_taken(server: Server, target: Path) -> None:
    target.parent.mkdir()
    partial(target).write_bytes(CONTENT[:HALF])
    server.shift = 5
    bring(server.address, target)
    assert server.asked == [f"bytes={HALF}-", None]
    assert target.read_bytes() == CONTENT


def test_a_part_that_was_complete_is_taken_as_it_is(server: Server, target: Path) -> None:
    target.parent.mkdir()
    partial(target).write_bytes(CONTENT)
    bring(server.address, target)
    assert server.asked == [f"bytes={len(CONTENT)}-"]
    assert target.read_bytes() == CONTENT


def test_a_part_longer_than_the_whole_is_started_over(server: Server, target: Path) -> None:
    target.parent.mkdir()
    partial(target).write_bytes(CONTENT + b"more")
    bring(server.address, target)
    assert target.read_bytes() == CONTENT


def test_a_size_the_server_does_not_tell(server: Server, target: Path) -> None:
    server.announces = False
    told: list[float] = []
    bring(server.address, target, progress=lambda done, words="", best=None: told.append(done))
    assert target.read_bytes() == CONTENT
    assert set(told) == {0.0}


@pytest.mark.parametrize("announces", [True, False])
def test_more_than_we_take_is_refused_and_removed(server: Server, target: Path, announces: bool) -> None:
    server.announces = announces
    with pytest.raises(FileError, match=r"\(.* has more than 100,000 bytes\)"):
        bring(server.address, target, largest=100_000)
    assert list(target.parent.iterdir()) == []


def test_a_size_at_the_limit_is_taken(server: Server, target: Path) -> None:
    bring(server.address, target, largest=len(CONTENT))
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_a_refusal_of_the_server_is_told_in_one_line(server: Server, target: Path, status: int) -> None:
    server.status = status
    with pytest.raises(FileError) as caught:
        bring(server.address, target)
    assert str(caught.value) == (
        f"{server.address}: the download failed (the server answers {status}); unpack it yourself"
    )


def test_416_to_a_first_request_is_a_refusal(server: Server, target: Path) -> None:
    server.status = 416
    with pytest.raises(FileError, match="the server answers 416"):
        bring(server.address, target)


def test_a_piece_without_having_asked_is_a_refusal(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piece(io.BytesIO):
        status = 206
        headers = http.client.HTTPMessage()

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", lambda *_, **__: Piece())
    with pytest.raises(FileError, match=r"the server answers 206, Content-Range: "):
        bring("https://example.org/a.zip", target)


def test_a_server_that_is_not_there(target: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        port = unused.getsockname()[1]
        with pytest.raises(FileError, match=r"the download failed \(Connection refused\); unpack it yourself$"):
            bring(f"http://127.0.0.1:{port}/a.zip", target)


def test_a_server_that_does_not_answer(server: Server, target: Path) -> None:
    server.answer.clear()
    with pytest.raises(FileError, match=r"\(no answer in time\)"):
        bring(server.address, target, timeout=0.1)


def test_no_network_at_all(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody_knows(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody_knows)
    with pytest.raises(FileError) as caught:
        bring("https://archive.example.org/a.zip", target)
    assert str(caught.value) == (
        "https://archive.example.org/a.zip: the download failed (Name or service not known); unpack it yourself"
    )


@pytest.mark.parametrize(
    "error",
    [ConnectionResetError(104, "Connection reset by peer"), TimeoutError("timed out"), http.client.IncompleteRead(b"")],
)
def test_a_network_that_breaks_while_reading(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    pieces = iter([CONTENT[:10]])

    def read(_response: object, _size: int) -> bytes:
        for piece in pieces:
            return piece
        raise error

    monkeypatch.setattr(http.client.HTTPResponse, "read", read)
    with pytest.raises(FileError, match="the download failed"):
        bring(server.address, target)
    assert partial(target).read_bytes() == CONTENT[:10]


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://example.org/a.zip", "a.zip"])
def test_only_web_addresses_are_opened(target: Path, address: str) -> None:
    with pytest.raises(ParameterError, match="is not a web address"):
        bring(address, target)


def test_a_redirection_to_a_file_is_not_followed(server: Server, target: Path) -> None:
    server.redirect = "file:///etc/hostname"
    with pytest.raises(FileError, match="the download failed"):
        bring(server.address, target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("start", "then", "followed"),
    [
        ("https://a.example/x", "https://b.example/y", True),
        ("http://a.example/x", "https://b.example/y", True),
        ("http://a.example/x", "http://b.example/y", True),
        ("https://a.example/x", "http://b.example/y", False),
        ("https://a.example/x", "ftp://b.example/y", False),
    ],
)
def test_https_stays_https(start: str, then: str, followed: bool) -> None:
    def redirect() -> urllib.request.Request | None:
        asked = urllib.request.Request(start)
        return module._HttpsRedirects().redirect_request(asked, io.BytesIO(), 302, "", http.client.HTTPMessage(), then)

    if followed:
        new = redirect()
        assert new is not None
        assert new.full_url == then
    else:
        with pytest.raises(urllib.error.URLError, match="unsafe"):
            redirect()


def test_a_cache_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="was not written"):
        bring(server.address, tmp_path / "cache" / "a.zip")


# --- unpacking -------------------------------------------------------------------------------------------------------


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def packed(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    return path


def test_the_members_wanted_are_unpacked_and_no_others(tmp_path: Path) -> None:
    archive = packed(tmp_path, zipped(a=b"1", b=b"2", c=b"3"))
    unpack(archive, {"a": tmp_path / "out" / "first", "c": tmp_path / "out" / "third"})
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == {"first": b"1", "third": b"3"}


@pytest.mark.parametrize("name", ["../a", "/a", "folder/a", "a/", "..\\a"])
def test_a_member_elsewhere_in_the_archive_is_not_ours(tmp_path: Path, name: str) -> None:
    archive = packed(tmp_path, zipped(**{name: b"hostile"}))
    with pytest.raises(FileError, match="a is missing or incomplete"):
        unpack(archive, {"a": tmp_path / "out" / "a"})
    assert {p.name for p in tmp_path.rglob("*")} == {"a.zip"}


def test_a_member_that_unpacks_to_too_much_is_refused_before_it_is_written(tmp_path: Path) -> None:
    archive = packed(tmp_path, zipped(a=b"0" * 5000))
    with pytest.raises(FileError, match="a has more than 4,999 bytes"):
        unpack(archive, {"a": tmp_path / "out"}, largest=4999)
    unpack(archive, {"a": tmp_path / "out"}, largest=5000)
    assert (tmp_path / "out").read_bytes() == b"0" * 5000


def with_declared_size(content: bytes, size: int) -> bytes:
    """Write another unpacked size into the central directory."""
    at = content.index(b"PK\x01\x02")
    return content[: at + 24] + size.to_bytes(4, "little") + content[at + 28 :]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: b"this is no archive", "not a zip file"),
        (lambda whole: b"", "not a zip file"),
        (lambda whole: whole[: len(whole) // 2], "not a zip file"),
        (lambda whole: with_declared_size(whole, 100), "Bad CRC-32"),
        (lambda whole: with_declared_size(whole, 90_000), "missing or incomplete"),
        (lambda whole: whole.replace(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00"), "encrypted"),
        (lambda whole: whole.replace(b"\x08\x00", b"\x63\x00"), "compression"),
    ],
)
def test_a_damaged_archive_is_told(tmp_path: Path, damage: Callable[[bytes], bytes], said: str) -> None:
    archive = packed(tmp_path, damage(zipped(a=b"0123456789" * 500)))
    with pytest.raises(FileError, match=said):
        unpack(archive, {"a": tmp_path / "out"})
    assert not (tmp_path / "out").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_the_damage_the_content_is_right_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    content = b"rows and rows " * 40
    whole = bytearray(zipped(a=content))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    archive = packed(tmp_path, bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    out = tmp_path / "out"
    out.unlink(missing_ok=True)
    try:
        unpack(archive, {"a": out})
    except FileError:
        assert not out.exists()
    else:
        assert out.read_bytes() == content
