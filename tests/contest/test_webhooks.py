"""News for other servers: what is told, that it is signed, and whom this server does not call on."""

from __future__ import annotations

import contextlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.conftest import PATIENCE
from tests.contest.cups import Cup, finished, three_teams

from noren.contest.arena import POST, Arena, webhook_jobs
from noren.contest.background import (
    SIGNATURE,
    UndeliveredError,
    WebhookSender,
    check_address,
    deliver,
    is_outside,
    signature,
)
from noren.contest.store.encryption import Hook
from noren.contest.store.tables import jobs
from noren.errors import ParameterError

SECRET = b"the secret of the hook"


class Listener(HTTPServer):
    """A server of somebody else that keeps what it is told."""

    def __init__(self, status: int = 200, location: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.location = status, location
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.told = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/news?of=cup"


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((dict(self.headers), body))
        self.server.told.set()
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()

    def log_message(self, *_said: Any) -> None:
        pass


@contextlib.contextmanager
def listening(**given: Any) -> Iterator[Listener]:
    with Listener(**given) as listener:
        serving = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield listener
        finally:
            listener.shutdown()
            serving.join()


def hook(url: str, disabled: str | None = None) -> Hook:
    return Hook("hook", "cup", url, SECRET, "2026-04-01T00:00:00.000000+00:00", disabled)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    made = Arena(tmp_path)
    made.store.create("cup", [three_teams().entries[0]])
    yield made
    made.close()


# --- what is told ----------------------------------------------------------------------------------------------------


def test_a_message_counts_and_tells_nothing_of_any_team() -> None:
    entries = finished(three_teams()).entries
    orders = webhook_jobs([hook("https://a.example/"), hook("https://b.example/", disabled="yes")], entries)
    told = {order.order["message"]["event"]: order.order["message"]["count"] for order in orders}
    assert told["targets-published"] == 1
    assert told["release-judged"] == sum(entry.kind == "release-judged" for entry in entries)
    assert {order.queue for order in orders} == {POST}
    text = json.dumps([order.order for order in orders])
    teams = {entry.body["team"] for entry in entries if entry.kind == "registered"}
    files = {entry.body["submission"] for entry in entries if "submission" in entry.body}
    assert not [one for one in teams | files if f'"{one}"' in text]
    assert webhook_jobs([hook("https://a.example/")], Cup().entries) == []


# --- signed ----------------------------------------------------------------------------------------------------------


def test_what_comes_is_signed_with_its_time() -> None:
    body = b'{"event":"results"}'
    with listening() as listener:
        deliver(hook(listener.url), body, private=True, now=1_000.0)
    [(headers, heard)] = listener.heard
    assert heard == body
    assert headers[SIGNATURE] == signature(SECRET, 1_000, body)
    made = hmac.new(SECRET, b"1000." + body, "sha256").hexdigest()
    assert headers[SIGNATURE] == f"t=1000,v1={made}"  # as a receiver computes it


# --- whom this server does not call on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.9.9", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::"],
)  # fmt: skip
def test_what_is_inside_is_not_called(address: str) -> None:
    assert not is_outside(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(UndeliveredError, match="inside this network"):
        deliver(hook(f"http://{host}:9/"), b"{}", private=False)


def test_a_name_is_called_only_if_all_it_stands_for_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def looked_up(host: str, port: int, **_more: Any) -> list[Any]:
        asked.append(host)
        return [(2, 1, 6, "", ("93.184.216.34", port)), (2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("noren.contest.background.socket.getaddrinfo", looked_up)
    with pytest.raises(UndeliveredError, match="inside"):
        deliver(hook("http://two.example/"), b"{}", private=False)
    assert asked == ["two.example"]


def test_the_address_that_was_looked_at_is_the_one_that_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = socket.getaddrinfo, []

    def looked_up(host: str, *given: Any, **more: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if host == "cup.example" else host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with listening() as listener:
        deliver(hook(f"http://cup.example:{listener.server_port}/"), b"{}", private=True)
    [(headers, _body)] = listener.heard
    assert headers["Host"] == f"cup.example:{listener.server_port}"
    assert asked == ["cup.example", "127.0.0.1"]  # the name once, and then the address it stood for


@pytest.mark.parametrize("status", [301, 307, 404, 500])
def test_nothing_is_followed_and_no_is_no(status: int) -> None:
    with listening() as elsewhere, listening(status=status, location=elsewhere.url) as listener:
        with pytest.raises(UndeliveredError, match=str(status)):
            deliver(hook(listener.url), b"{}", private=True)
        assert len(listener.heard) == 1
        assert elsewhere.heard == []


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "https://", "https://user:word@a.example/", "http://a.example:0/", "javascript:x",
            "http://a b.example/", "http://[::1", "https://a.example/\r\nHost: b"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ParameterError):
        check_address(url)


# --- the queue -------------------------------------------------------------------------------------------------------


def _queued(arena: Arena, url: str) -> str:
    known = arena.store.hooks.add("cup", url, SECRET)
    with arena.store.changing("cup") as change:
        return change.enqueue("hook", queue=POST, order={"hook": known.id, "message": {"event": "results"}})


def _due_now(arena: Arena, job: str) -> None:
    with arena.store.engine.begin() as database:
        database.execute(jobs.update().where(jobs.c.id == job).values(enqueued=0.0))


def test_a_message_is_sent_once(arena: Arena) -> None:
    with listening() as listener:
        job = _queued(arena, listener.url)
        postman = WebhookSender(arena, private=True)
        assert (postman.send_next(), postman.send_next()) == (True, False)
    [(headers, body)] = listener.heard
    assert json.loads(body) == {"event": "results", "id": job}
    moment = int(headers[SIGNATURE].partition(",")[0].removeprefix("t="))
    assert abs(moment - time.time()) < PATIENCE
    assert headers[SIGNATURE] == signature(SECRET, moment, body)
    found = arena.store.jobs.job(job)
    assert found is not None
    assert found.state == "done"


def test_a_message_that_nobody_takes_is_tried_again_later_and_given_up_at_last(arena: Arena) -> None:
    with listening(status=503) as listener:
        job, postman = _queued(arena, listener.url), WebhookSender(arena, private=True)
        waits = []
        while postman.send_next():
            found = arena.store.jobs.job(job)
            assert found is not None
            assert "503" in found.error
            if found.state == "failed":
                break
            assert not postman.send_next()  # not yet
            with arena.store.engine.connect() as database:
                until = database.execute(sa.select(jobs.c.enqueued).where(jobs.c.id == job)).scalar_one()
            waits.append(until - time.time())
            _due_now(arena, job)
    assert found is not None
    assert found.state == "failed"
    assert len(listener.heard) == len(waits) + 1 == 6
    assert [round(wait / 30) for wait in waits] == [1, 4, 20, 120, 120]


def test_a_hook_that_was_removed_hears_nothing(arena: Arena) -> None:
    with listening() as listener:
        job = _queued(arena, listener.url)
        [known] = arena.store.hooks.of("cup")
        arena.store.hooks.disable("cup", known.id)
        assert WebhookSender(arena, private=True).send_next()
        assert listener.heard == []
    found = arena.store.jobs.job(job)
    assert found is not None
    assert found.state == "cancelled"
