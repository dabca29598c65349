"""What a server tells of itself: its health, and in its log where errors arose; nothing of requests and data."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.testclient import TestClient

from noren.web.responses import LogFormatter, common_pages
from noren.work.queue import open_database

SERVER = """
import logging, socket, threading
import httpx, uvicorn
from fastapi import FastAPI
from noren.web.responses import serve_app

app = FastAPI()

@app.get("/file/{name}")
def show(name: str):
    try:
        {}["Tanaka Hanako"]
    except KeyError:
        raise ValueError("cannot read the birthday of Tanaka Hanako")

def ask():
    port = taken.getsockname()[1]
    assert httpx.get(f"http://127.0.0.1:{port}/file/tanaka.csv?token=secret", timeout=20).status_code == 500
    try:
        raise RuntimeError("Tanaka Hanako again")
    except RuntimeError:
        logging.getLogger("noren.work.runner").exception("the work on %s failed", "abc")
    server.should_exit = True

taken = socket.create_server(("127.0.0.1", 0))
start = uvicorn.Server.__init__
def remember(self, config):
    global server
    server = self
    start(self, config)
uvicorn.Server.__init__ = remember
threading.Timer(0.2, ask).start()
serve_app(app, taken, None)
"""


def test_a_server_logs_where_and_not_what() -> None:
    done = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True, timeout=60, check=False)
    log = done.stdout + done.stderr
    assert "Exception in ASGI application" in log
    assert "in show" in log
    assert "builtins.ValueError" in log
    assert "builtins.KeyError" in log
    assert "the work on abc failed" in log
    assert "builtins.RuntimeError" in log
    for secret in ("Tanaka", "tanaka.csv", "token", "secret", "GET"):
        assert secret not in log


def test_errors_of_the_database_leave_out_what_was_written() -> None:
    engine = open_database("sqlite://")
    with engine.begin() as database:
        database.execute(sa.text("CREATE TABLE people (name TEXT UNIQUE)"))
    twice = [{"name": "Tanaka Hanako"}] * 2
    with pytest.raises(sa.exc.IntegrityError) as caught, engine.begin() as database:
        database.execute(sa.text("INSERT INTO people VALUES (:name)"), twice)
    assert "Tanaka" not in str(caught.value)
    error = (type(caught.value), caught.value, caught.value.__traceback__)
    record = logging.LogRecord("noren", logging.ERROR, "", 1, "it stopped", (), error)
    text = LogFormatter("%(message)s").format(record)
    assert text.startswith("it stopped\n")
    assert text.endswith("sqlite3.IntegrityError")


@pytest.mark.parametrize(
    ("database", "works", "status", "answer"),
    [
        ("sqlite://", True, 200, {"status": "ready", "database": "ok", "worker": "ok"}),
        ("sqlite://", None, 200, {"status": "ready", "database": "ok"}),
        ("sqlite://", False, 503, {"status": "unavailable", "database": "ok", "worker": "stopped"}),
        (
            "sqlite:////no/such/folder/x",
            True,
            503,
            {"status": "unavailable", "database": "unreachable", "worker": "ok"},
        ),
    ],
)
def test_health(database: str, works: bool | None, status: int, answer: dict[str, str]) -> None:
    app = FastAPI()
    working = None if works is None else lambda: works
    app.include_router(common_pages(lambda *_about, **_more: None, sa.create_engine(database), working))  # type: ignore[arg-type]
    got = TestClient(app).get("/healthz")
    assert (got.status_code, got.json()) == (status, answer)
