"""The client sees uploads through, asks again while a server is away, and says its refusals in one line."""

from __future__ import annotations

import datetime as dt
import email.utils
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.rig.connections import CutConnections, Cuts

from noren.contest import actions
from noren.contest.client import AnsweredError, Client, UnreachableError, create_login
from noren.contest.credentials import (
    Login,
    credentials_file,
    forget,
    login_for,
    receipts_folder,
    remember,
    save_receipt,
    server_address,
)
from noren.errors import FileError, ParameterError

Answer = Callable[[httpx.Request], httpx.Response]
ADDRESS = "http://cup.example"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("NOREN_CONTEST_TOKEN", "NOREN_CONTEST_SERVER"):
        monkeypatch.delenv(name, raising=False)


def client(answer: Answer, **how: Any) -> Client:
    return Client(ADDRESS, "noren_token", transport=httpx.MockTransport(answer), **how)


def refused(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message}})


class Server:
    """A server that keeps one file for each key, and breaks connections as it is told: before or after it took it."""

    def __init__(self, *breaks: str) -> None:
        self.breaks, self.puts = list(breaks), 0
        self.kept: dict[str, str] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            self.puts += 1
            how = self.breaks.pop(0) if self.breaks else ""
            if how == "before":
                raise httpx.WriteError("cut off", request=request)
            if how == "away":
                return httpx.Response(503)
            self.kept.setdefault(request.headers["Idempotency-Key"], f"s{len(self.kept)}")
            if how == "after":
                raise httpx.ReadError("cut off", request=request)
            sent = {"submission": self.kept[request.headers["Idempotency-Key"]], "receipt": {"signature": "s"}}
            return httpx.Response(201, json=sent)
        raise AssertionError(request.url)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "A.csv"
    path.write_text("1,2\n")
    return path


class TestUploads:
    @pytest.mark.parametrize(
        ("breaks", "puts"), [((), 1), (("before",), 2), (("away",), 2), (("after",), 2), (("before", "after"), 3)]
    )
    def test_are_kept_once_however_the_connection_breaks(self, file: Path, breaks: tuple[str, ...], puts: int) -> None:
        server = Server(*breaks)
        got = client(server).submit("cup", file)
        assert (got.submission, len(server.kept), server.puts) == ("s0", 1, puts)
        assert got.receipt["signature"] == "s"

    def test_the_same_file_may_be_handed_in_again(self, file: Path) -> None:
        """Every time is a submission of its own, with a key of its own."""
        server = Server()
        asked = client(server)
        asked.submit("cup", file)
        server.breaks = ["before"]
        assert asked.submit("cup", file).submission == "s1"
        server.breaks = ["after"]
        assert asked.submit("cup", file).submission == "s2"
        assert len(server.kept) == 3

    def test_what_never_arrives_is_said(self, file: Path) -> None:
        server = Server(*["before"] * 5)
        with pytest.raises(UnreachableError, match=r"cup\.example does not answer"):
            client(server, patience=-1.0).submit("cup", file)
        assert server.kept == {}

    def test_progress_ends_at_one(self, file: Path) -> None:
        heard: list[float] = []
        client(Server()).submit("cup", file, progress=lambda done, *_more: heard.append(done))
        assert heard[-1] == 1.0

    def test_a_missing_file_is_said_before_anything_is_sent(self, tmp_path: Path) -> None:
        server = Server()
        with pytest.raises(FileError, match="no such file"):
            client(server).submit("cup", tmp_path / "none.csv")
        assert server.puts == 0


class TestPatience:
    def test_a_server_that_starts_is_asked_again(self) -> None:
        answers: list[httpx.Response | Exception] = [
            httpx.Response(503),
            httpx.ConnectError("refused"),
            httpx.Response(200, json=[{"id": "cup"}]),
        ]

        def answer(_request: httpx.Request) -> httpx.Response:
            one = answers.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        assert client(answer).get("contests") == [{"id": "cup"}]
        assert answers == []

    def test_who_is_too_fast_waits_as_long_as_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        waited: list[float] = []
        monkeypatch.setattr("time.sleep", waited.append)
        answers = [httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json=[])]
        assert client(lambda _request: answers.pop(0)).get("contests") == []
        assert waited == [7.0]

    def test_what_changes_something_is_sent_once(self) -> None:
        sent: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            sent.append(request.url.path)
            raise httpx.ReadError("cut off", request=request)

        with pytest.raises(UnreachableError):
            client(answer).do(actions.pause, "cup", reason="why")
        assert len(sent) == 1

    def test_a_file_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        class Half(httpx.SyncByteStream):
            def __iter__(self):
                yield b"half"
                raise httpx.ReadError("cut off")

        answers = [httpx.Response(200, stream=Half()), httpx.Response(200, content=b"whole")]
        out = tmp_path / "T.csv"
        assert client(lambda _request: answers.pop(0)).download("contests", "cup", out=out) == 5
        assert out.read_bytes() == b"whole"
        with pytest.raises(UnreachableError):
            client(lambda _request: httpx.Response(200, stream=Half()), patience=-1.0).download("cup", out=out)
        assert [path.name for path in tmp_path.iterdir()] == ["T.csv"]
        assert out.read_bytes() == b"whole"


class TestRefusals:
    def test_are_the_servers_words_in_one_line(self) -> None:
        with pytest.raises(AnsweredError, match=r"^final closed; the server's clock counts$") as error:
            client(lambda _r: refused(409, "final closed; the server's clock counts")).contest("cup")
        assert (error.value.status, error.value.exit_code) == (409, 2)

    def test_what_is_no_server_of_contests_is_said(self) -> None:
        with pytest.raises(UnreachableError, match="not a contest server"):
            client(lambda _r: httpx.Response(200, text="<html>")).get("contests")
        with pytest.raises(AnsweredError, match=r"not a contest server \(HTTP 404\)"):
            client(lambda _r: httpx.Response(404, text="<html>")).get("contests")

    def test_an_answer_of_another_version_is_said(self) -> None:
        with pytest.raises(ParameterError, match="use the same version of Noren as the server"):
            client(lambda _r: httpx.Response(200, json={"now": 3})).session()

    @pytest.mark.parametrize("token", ["a b", "tøken", "a\nb"])
    def test_what_cannot_be_a_token_is_said(self, token: str) -> None:
        with pytest.raises(ParameterError, match="this is not a token"):
            Client(ADDRESS, token)


class TestClock:
    @pytest.mark.parametrize(("apart", "said"), [(0, []), (-300, [" by -30"]), (7200, [" by +7,"])])
    def test_of_another_time_is_said_once(self, apart: int, said: list[str]) -> None:
        told: list[str] = []
        at = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=apart)
        headers = {"Date": email.utils.format_datetime(at, usegmt=True)}
        asked = client(lambda _r: httpx.Response(200, json=[], headers=headers), tell=told.append)
        asked.get("contests")
        asked.get("contests")
        assert len(told) == len(said)
        assert all(word in line for word, line in zip(said, told, strict=True))


class TestCredentials:
    def test_are_for_their_owner_alone(self) -> None:
        path = remember(Login(ADDRESS, "noren_abc"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert login_for(None) == Login(ADDRESS, "noren_abc")
        assert login_for("other.example:8322") == Login("http://other.example:8322", None)
        assert forget(ADDRESS)
        assert not forget(ADDRESS)
        assert login_for(None) == Login(ADDRESS, None)

    def test_flags_go_before_variables_and_these_before_logins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        remember(Login(ADDRESS, "kept"))
        monkeypatch.setenv("NOREN_CONTEST_TOKEN", "variable")
        assert login_for(None).token == "variable"
        assert login_for(ADDRESS, "flag").token == "flag"
        monkeypatch.setenv("NOREN_CONTEST_SERVER", "https://second.example")
        assert login_for(None).server == "https://second.example"

    def test_nobody_knows_which_server(self) -> None:
        with pytest.raises(ParameterError, match="no server is given"):
            login_for(None)

    @pytest.mark.parametrize("given", ["", "ftp://cup.example", "http://", "http://u:p@cup.example", "http://a:b"])
    def test_no_address(self, given: str) -> None:
        with pytest.raises(ParameterError, match="is not the address of a server"):
            server_address(given)

    @pytest.mark.parametrize("content", ["{", "[]", '{"tokens": []}'])
    def test_a_damaged_file_is_said(self, content: str) -> None:
        credentials_file().parent.mkdir(parents=True)
        credentials_file().write_text(content)
        with pytest.raises(FileError, match="damaged"):
            login_for(None)

    def test_receipts_are_kept_apart_by_server_and_contest(self, tmp_path: Path) -> None:
        out = tmp_path / "receipt.json"
        assert save_receipt(ADDRESS, "../cup", "s1", {"a": 1}, out) == out
        inside = receipts_folder(ADDRESS, "../cup")
        assert inside.resolve().is_relative_to(tmp_path)
        assert json.loads((inside / "s1.json").read_text()) == json.loads(out.read_text()) == {"a": 1}


def test_logging_in_makes_a_token_and_leaves() -> None:
    """Session, password and token in the order that the server's guard asks for, each with the proof of its page."""
    seen: list[tuple[str, str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/")
        seen.append((request.method, path, request.headers.get("X-CSRF-Token")))
        if path == "session" and request.method == "GET":
            return httpx.Response(200, json={"csrf": f"c{len(seen)}", "now": ""})
        if path == "account":
            return httpx.Response(200, json={"is_organiser": True})
        if path == "account/tokens":
            assert json.loads(request.content)["scopes"] == ["read", "team", "organiser"]
            return httpx.Response(201, json={"token": {}, "text": "noren_new"})
        return httpx.Response(204)

    made = create_login(ADDRESS, "mia", "secret words", transport=httpx.MockTransport(answer))
    assert made == Login(ADDRESS, "noren_new")
    changes = [(method, path) for method, path, _csrf in seen if method != "GET"]
    assert changes == [("POST", "session"), ("POST", "account/tokens"), ("DELETE", "session")]
    assert all(csrf for method, _path, csrf in seen if method != "GET")


def test_cut_connections_cut_and_then_let_through(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    server, cuts = Server(), Cuts()
    cut = CutConnections(cuts, seed=1, share=1.0)

    def underneath(_self: object, request: httpx.Request) -> httpx.Response:
        for _piece in request.stream:  # type: ignore[union-attr]
            pass
        request.read = lambda: file.read_bytes()  # type: ignore[method-assign]
        return server(request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", underneath)
    asked = Client(ADDRESS, "noren_token", transport=cut)
    for _again in range(8):
        asked.submit("cup", file)
    assert len(server.kept) == 8
    assert cuts.half_way > 0
    assert cuts.unheard > 0
