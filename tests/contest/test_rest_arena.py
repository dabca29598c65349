"""The REST interface of the arena: a cup from creation to results, who people are, and its own description."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.conftest import PATIENCE
from tests.contest.served import PASSWORD, Person, Served

from noren.contest.api import router
from noren.contest.receipts import receipt_from
from noren.contest.receipts import verify as verify_receipt
from noren.work.hash_chain import LogEntry, canonical, verify


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("rest"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def organiser(served: Served) -> Person:
    return served.organiser()


def test_a_cup_from_creation_to_results(served: Served, organiser: Person) -> None:
    settings_ = {"counting": "chosen", "registration": "invited", "visibility": "members"}
    created = served.create(organiser, settings=settings_)
    assert (created["head"]["position"], created["role"], created["has_results"]) == (0, "organiser", False)
    red, blue, mate = (served.person(name) for name in ("red", "blue", "mate"))
    codes = {}
    for person in (red, blue):
        assert person.get("/api/v1/contests/cup").status_code == 404
        invitation = organiser.ask("POST", "/contests/cup/invitations")["code"]
        asked = {"name": person.account, "invitation": invitation}
        codes[person] = person.ask("POST", "/contests/cup/teams", json=asked)["code"]
        again = served.person(f"again{person.account}").post("/api/v1/contests/cup/teams", json=asked)
        assert again.status_code == 404  # one invitation, one team; and who has none does not know of the contest
    assert mate.ask("POST", "/contests/cup/join", json={"code": codes[red]})["members"] == 2
    codes[red] = mate.ask("POST", "/contests/cup/team/code")["code"]
    organiser.ask("POST", "/contests/cup/pause", json={"reason": "lunch"})
    assert red.ask("GET", "/contests/cup")["paused"] == "lunch"
    organiser.ask("POST", "/contests/cup/resume")

    served.go_to("cup", "final-protect")
    assert red.ask("GET", "/contests/cup/rounds/final/data") == served.case().original.read_bytes()
    files: dict[Person, list[str]] = {red: [], blue: []}
    for seed, person in enumerate((red, blue, red)):
        release = served.case(seed).submitted.read_bytes()
        said = person.ask("PUT", "/contests/cup/releases", content=release)
        receipt = receipt_from(said["receipt"])
        verify_receipt(receipt, created["public_key"])
        assert person.ask("GET", f"/contests/cup/submissions/{said['submission']}/receipt") == said["receipt"]
        files[person].append(said["submission"])
    place = mate.ask("GET", f"/contests/cup/submissions/{files[red][1]}")
    assert (place["state"], place["before"], place["valid"]) == ("waiting", 2, None)
    served.judge()
    red.ask("POST", f"/contests/cup/submissions/{files[red][0]}/choose")
    own = {one["id"]: one for one in red.ask("GET", "/contests/cup/submissions?kind=release")}
    assert [(own[one]["chosen"], own[one]["counts"]) for one in files[red]] == [(True, True), (False, False)]
    shown = red.ask("GET", f"/contests/cup/submissions/{files[red][0]}")["judgement"]
    assert shown["valid"]
    assert set(shown["values"]) == {"cell-error"}

    served.go_to("cup", "final-attack")
    [target] = red.ask("GET", "/contests/cup/rounds/final/targets")
    assert (target["tries"], target["left"]) == (0, 3)
    public = red.ask("GET", f"/contests/cup/rounds/final/targets/{target['target']}").decode().splitlines()
    customer = served.case().original.read_text().split(",")[0]
    guess = f"{public[0].split(',')[0]},{customer}\n".encode()
    said = red.ask("PUT", f"/contests/cup/guesses/{target['target']}", content=guess)
    served.judge()
    found = red.ask("GET", f"/contests/cup/submissions/{said['submission']}")
    assert (found["valid"], found["judgement"]["values"], found["judgement"]["tried"]) == (True, None, None)
    assert red.ask("GET", "/contests/cup/rounds/final/targets")[0]["left"] == 2

    served.go_to("cup", "results")
    assert red.ask("GET", f"/contests/cup/submissions/{said['submission']}")["judgement"]["tried"]["named"] == 1
    board = blue.ask("GET", "/contests/cup/rounds/final/leaderboard")
    assert (board["kind"], [one["rank"] for one in board["standings"]]) == ("final", [1, 1])
    assert len(blue.ask("GET", "/contests/cup/rounds/final/matrix")["cells"]) >= 1
    assert blue.ask("GET", "/contests/cup/rounds/final/stability")["teams"]
    results = blue.ask("GET", "/contests/cup/results.json")
    assert results["digest"] == blue.ask("GET", "/contests/cup")["results"]
    assert blue.ask("GET", "/contests/cup/results.html").startswith(b"<!doctype html>")
    for table in ("standings", "matrix", "stability"):
        assert blue.ask("GET", f"/contests/cup/results.csv?table={table}").decode().startswith("round,")
    lines = blue.ask("GET", "/contests/cup/log").decode().splitlines()
    log = [LogEntry(**json.loads(line)) for line in lines]
    verify(log)
    assert log[-1].digest == blue.ask("GET", "/contests/cup")["head"]["digest"]
    assert Counter(entry.kind for entry in log)["release-judged"] == 3
    assert blue.ask("GET", "/contests/cup/log?start=3").decode().splitlines() == lines[3:]
    archive = blue.ask("GET", "/contests/cup/archive")
    assert archive == blue.ask("GET", "/contests/cup/archive")
    with zipfile.ZipFile(BytesIO(archive)) as parts:
        assert parts.read("log.jsonl") == b"".join(canonical(entry.as_dict()) + b"\n" for entry in log)
        assert "accounts.json" not in parts.namelist()


# --- who people are --------------------------------------------------------------------------------------------------


def test_the_code_of_the_first_organiser_is_worth_nothing_later(served: Served, organiser: Person) -> None:
    assert organiser.ask("GET", "/session")["setup"] is False
    late = {"login": "late", "name": "Late", "password": PASSWORD, "code": served.app.state.authentication.first_code}
    assert Person(served).post("/api/v1/accounts", json=late).status_code == 403
    assert served.arena.store.accounts.by_login("late") is None


def test_a_password_guessed_ten_times_waits_and_others_do_not(served: Served) -> None:
    served.person("guessed")
    served.person("another")
    stranger, wrong = Person(served), {"login": "guessed", "password": "a wrong password"}
    statuses = [stranger.post("/api/v1/session", json=wrong).status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    right = {"login": "another", "password": PASSWORD}
    assert stranger.post("/api/v1/session", json=right).status_code == 200


def test_sessions_end_and_cookies_are_for_this_server_alone(served: Served) -> None:
    person = served.person("carol")
    before = dict(person.cookies)
    entered = person.post("/api/v1/session", json={"login": "CAROL ", "password": PASSWORD})
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie  # there is no HTTPS here
    assert dict(person.cookies) != before  # another session than before (fixation)
    person.know()
    other = Person(served)
    other.cookies.clear()
    other.cookies.update(before)
    assert other.ask("GET", "/account")["login"] == "carol"
    person.ask("PUT", "/account/password", json={"old": PASSWORD, "new": "another password"})
    assert other.get("/api/v1/account").status_code == 401  # the password is another, and so are sessions
    person.know()
    assert person.ask("GET", "/account")["login"] == "carol"
    person.ask("DELETE", "/session")
    assert person.get("/api/v1/account").status_code == 401


def test_behind_tls_cookies_are_secure(tmp_path: Path) -> None:
    behind = Served(tmp_path, https=True)
    person = Person(behind)
    asked = {"login": "dora", "name": "Dora", "password": PASSWORD}
    assert "Secure" in person.post("/api/v1/accounts", json=asked).headers["set-cookie"]
    behind.close()


def test_a_token_does_what_its_scope_says_until_it_is_revoked(served: Served) -> None:
    person = served.person("erin")
    made = person.ask("POST", "/account/tokens", json={"name": "bot", "scopes": ["team"]})
    program = Person(served)
    program.cookies.clear()
    program.headers = httpx.Headers({"Authorization": f"Bearer {made['text']}"})
    assert program.ask("GET", "/session")["scopes"] == ["team"]
    more = program.post("/api/v1/account/tokens", json={"name": "more", "scopes": ["organiser"]})
    assert more.status_code == 403
    assert made["text"] not in json.dumps(person.ask("GET", "/account/tokens"))
    person.ask("DELETE", f"/account/tokens/{made['token']['id']}")
    refused = program.get("/api/v1/session")
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_code_is_tried_thirty_times_an_hour(served: Served, organiser: Person) -> None:
    served.create(organiser, "codes")
    person = served.person("frank")
    statuses = [
        person.post("/api/v1/contests/codes/join", json={"code": f"guess{turn}"}).status_code for turn in range(31)
    ]
    assert statuses == [422] * 30 + [429]


def test_organisers_do_not_play_in_their_own_contest(served: Served, organiser: Person) -> None:
    served.create(organiser, "own")
    answer = organiser.post("/api/v1/contests/own/teams", json={"name": "Mine"})
    assert (answer.status_code, "cannot play" in answer.text) == (409, True)


def test_the_same_key_is_the_same_submission(served: Served, organiser: Person) -> None:
    served.create(organiser, "keys")
    red, blue = served.person("keys-red"), served.person("keys-blue")
    for person in (red, blue):
        person.ask("POST", "/contests/keys/teams", json={"name": person.account})
    served.go_to("keys", "final-protect")
    release, path = served.case(1).submitted.read_bytes(), "/api/v1/contests/keys/releases"

    def send(person: Person, key: str, content: bytes = release) -> Any:
        return person.put(path, content=content, headers={"Idempotency-Key": key} if key else {})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _number: send(red, "one"), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1, "with the same receipt"
    assert len(red.ask("GET", "/contests/keys/submissions")) == 1
    assert len(served.arena.store.jobs.of("keys")) == 1
    assert send(red, "one", release + b"\n").status_code == 422, "the key of another file"
    assert send(blue, "one").status_code == 201, "keys of other teams are others"
    assert send(red, "").status_code == send(red, "").status_code == 201, "without a key each is another"
    assert len(red.ask("GET", "/contests/keys/submissions")) == 3
    assert b"one" not in b"".join(entry.line() for entry in served.arena.store.entries("keys")[-3:])
    served.go_to("keys", "final-attack")
    assert send(red, "one").text == answers[0].text, "even after the phase"
    assert send(red, "two").status_code == 409


def test_answers_forbid_what_pages_do_not_need(served: Served) -> None:
    for path in ("/", "/api/v1/session", "/api/v1/contests/nowhere"):
        headers = Person(served).get(path).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"


# --- the interface against its own description -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The organiser of an arena of its own, of whom whatever comes into somebody's head is asked."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        strange = Served(tmp_path_factory.mktemp("strange"), port=port)
        organiser = strange.organiser()
        strange.create(organiser)
        server = uvicorn.Server(uvicorn.Config(strange.app, lifespan="off", log_level="error"))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        serving.start()
        headers = {"X-CSRF-Token": organiser.headers["X-CSRF-Token"]}
        cookies = dict(organiser.cookies)
        base = f"http://127.0.0.1:{port}/"
        with httpx.Client(base_url=base, timeout=PATIENCE, headers=headers, cookies=cookies) as client:
            yield client
        server.should_exit = True
        serving.join(PATIENCE)
        strange.close()


def described() -> dict[str, Any]:
    """Return the description that ``/api/docs.json`` gives."""
    app = FastAPI(title="Noren arena", version="1")
    app.include_router(router)
    return app.openapi()


interface = schemathesis.openapi.from_dict(described())


def test_every_model_that_is_referred_to_is_described() -> None:
    description = described()
    named = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(description))
    assert set(named) <= set(description["components"]["schemas"])


@interface.parametrize()
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
def test_every_answer_is_promised(case: Any, stranger: httpx.Client) -> None:
    case.path_parameters = {**(case.path_parameters or {}), **_known(case.path_parameters or {})}
    answer = case.call(
        base_url=str(stranger.base_url).rstrip("/"),
        timeout=PATIENCE,
        headers={"X-CSRF-Token": stranger.headers["X-CSRF-Token"], "Origin": str(stranger.base_url).rstrip("/")},
        cookies=dict(stranger.cookies),
    )
    case.validate_response(
        answer,
        checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance],
    )


def _known(names: dict[str, Any]) -> dict[str, str]:
    """Name the contest that is there, so that more is asked than for contests that are not."""
    return {name: value for name, value in {"contest": "cup", "round": "final"}.items() if name in names}
