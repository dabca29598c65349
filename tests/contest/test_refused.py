"""What is refused: precisely, at no cost to a team that is not at fault, and without a change."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from tests.contest.served import Person, Served, awaited

from noren.contest.store.files import Files
from noren.contest.store.tables import entries, jobs, rates

LARGEST = 2**20
ONE_RELEASE = {"quota": {"releases": 1, "guesses": 1}}


class Cup:
    """A cup of teams that may each hand in one valid release, and one valid guess a target."""

    def __init__(self, served: Served, *teams: str) -> None:
        self.served, self.organiser = served, served.organiser()
        served.create(self.organiser, settings={"largest_file": LARGEST}, changes=ONE_RELEASE)
        self.people = {name: served.person(name) for name in teams}
        for name, person in self.people.items():
            person.ask("POST", "/contests/cup/teams", json={"name": name})
        self.good = {seed: served.case(seed).submitted.read_bytes() for seed in range(len(teams))}

    def __getitem__(self, team: str) -> Person:
        return self.people[team]

    def length(self) -> int:
        """How many entries the log has, and jobs the queue: what no refusal may change."""
        with self.served.arena.store.engine.connect() as database:
            return sum(
                database.execute(sa.select(sa.func.count()).select_from(one)).scalar_one() for one in (entries, jobs)
            )

    def closes(self, phase: str) -> dt.datetime:
        state = self.served.arena.state("cup")
        assert state is not None
        closes = next(one.closes for one in state.phases if one.id == phase)
        assert closes is not None
        return dt.datetime.fromisoformat(closes)

    def attacked(self) -> None:
        """Let both hand in a release and go to the phase of attacks."""
        self.served.go_to("cup", "final-protect")
        for seed, person in enumerate(self.people.values()):
            person.ask("PUT", "/contests/cup/releases", content=self.good[seed])
        self.served.go_to("cup", "final-attack")

    def target_of(self, person: Person) -> str:
        state = self.served.arena.state("cup")
        assert state is not None
        team = state.team_of[person.account]
        return next(one.id for one in state.targets["final"].values() if one.team == team)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    """A cup of its own, in the phase of registration."""
    served = Served(tmp_path)
    yield Cup(served, "red", "blue")
    served.close()


@pytest.fixture(scope="module")
def protecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A cup in the phase of protecting: red, blue and green hand in their one release, and gold never does."""
    served = Served(tmp_path_factory.mktemp("protecting"))
    made = Cup(served, "red", "blue", "green", "gold")
    served.go_to("cup", "final-protect")
    yield made
    served.close()


def refused(answer: Any, status: int, *words: str) -> None:
    """Check that an answer is a refusal that says these words."""
    assert answer.status_code == status, answer.text
    message = answer.json()["error"]["message"]
    assert all(word in message for word in words), message


# --- when ------------------------------------------------------------------------------------------------------------


def test_a_wrong_phase_says_when_it_opens_and_a_second_is_late(cup: Cup) -> None:
    before, red, blue = cup.length(), cup["red"], cup["blue"]
    opens = cup.closes("registration")
    refused(red.put("/api/v1/contests/cup/releases", content=b"x"), 409, "not open", f"{opens:%Y-%m-%d %H:%M}")
    refused(red.get("/api/v1/contests/cup/rounds/final/data"), 409, "Protection is not open yet", "come back at")
    refused(red.get("/api/v1/contests/cup/rounds/final/targets"), 409, "Attack is not open yet", "come back at")
    refused(red.put("/api/v1/contests/cup/releases?phase=no-such", content=b"x"), 409)
    assert cup.length() == before
    clock, end = cup.served.arena.store.clock, cup.closes("final-protect")
    clock.move_to(end - dt.timedelta(seconds=60))
    red.ask("PUT", "/contests/cup/releases", content=cup.good[0])
    before = cup.length()
    clock.move_to(end + dt.timedelta(seconds=1))
    said = blue.put("/api/v1/contests/cup/releases", content=cup.good[0])
    refused(said, 409, f"closed at {end:%Y-%m-%d %H:%M:%S}", "by the server's clock")
    assert cup.length() == before


def test_the_clock_goes_forward_only_and_is_moved_in_a_rehearsal_alone(protecting: Cup, tmp_path: Path) -> None:
    ask = protecting.organiser.post
    refused(ask("/api/v1/clock", json={"to": "2001-01-01 00:00"}), 422, "only forward")
    refused(ask("/api/v1/clock", json={"to": "never"}), 422, "never")
    refused(ask("/api/v1/clock", json={}), 422, "to, a later time, or forward")
    real = Served(tmp_path / "real", rehearsal=False)
    refused(real.organiser().post("/api/v1/clock", json={"forward": 1}), 409, "rehearsal")
    real.close()


# --- what ------------------------------------------------------------------------------------------------------------


def test_a_guess_against_ones_own_release_costs_no_try(cup: Cup) -> None:
    cup.attacked()
    own, other = cup.target_of(cup["red"]), cup.target_of(cup["blue"])
    before = cup.length()
    refused(cup["red"].put(f"/api/v1/contests/cup/guesses/{own}", content=b"x"), 422, "your own release")
    refused(cup["red"].put("/api/v1/contests/cup/guesses/99", content=b"x"), 404, "no target")
    assert cup.length() == before
    [target] = cup["red"].ask("GET", "/contests/cup/rounds/final/targets")
    assert (target["target"], target["left"]) == (other, 1)


BAD_FILES = {
    "a truncated gzip": lambda good: gzip.compress(good)[:-20],
    "bytes that are no text": lambda good: good[:200] + b"\xff\xfe\x80" + good[200:],
    "a row too few": lambda good: b"".join(good.splitlines(keepends=True)[:-1]),
    "another order of rows": lambda good: b"".join(reversed(good.splitlines(keepends=True))),
    "a foreign item": lambda good: good.replace(b",", b",x", 3),
    "nothing": lambda _good: b"",
}


def test_a_bad_file_is_told_why_and_costs_no_try(protecting: Cup) -> None:
    cup, red, good = protecting, protecting["red"], protecting.good[0]
    for name, spoilt in BAD_FILES.items():
        said = red.ask("PUT", "/contests/cup/releases", content=spoilt(good))
        cup.served.judge()
        found = red.ask("GET", f"/contests/cup/submissions/{said['submission']}")
        assert (found["state"], found["valid"], found["counts"]) == ("done", False, False), name
        report = found["judgement"]["report"]
        assert report["en"], name
        assert report["ja"], name
        assert str(cup.served.folder) not in json.dumps(report), name
    red.ask("PUT", "/contests/cup/releases", content=good)  # the one that the rules allow
    refused(red.put("/api/v1/contests/cup/releases", content=good), 429, "all 1 attempts are used")


# --- how much --------------------------------------------------------------------------------------------------------


def test_a_file_that_says_it_is_2_gb_is_refused_unread(protecting: Cup) -> None:
    answer, read = awaited(_streamed(protecting, told=2**31))
    refused(answer, 413, "larger than 1,048,576 bytes")
    assert read == 0


def test_a_file_of_2_gb_in_chunks_is_cut_off(protecting: Cup) -> None:
    before = protecting.length()
    answer, read = awaited(_streamed(protecting, told=None))
    refused(answer, 413, "1,048,576 bytes")
    assert read < 32 * LARGEST
    assert protecting.length() == before
    aside = protecting.served.folder / "arena" / "files" / "aside"
    assert list(aside.iterdir()) == []


async def _streamed(cup: Cup, told: int | None) -> tuple[httpx.Response, int]:
    """Send 2 GB, as far as they are read; return the answer and how many bytes were."""
    read = 0

    async def content() -> AsyncIterator[bytes]:
        nonlocal read
        for _block in range(2**31 // 2**18):
            read += 2**18
            yield bytes(2**18)

    headers = {"X-CSRF-Token": cup["gold"].headers["X-CSRF-Token"]}
    headers |= {"Content-Length": str(told)} if told else {}
    transport = httpx.ASGITransport(cup.served.app)
    base = str(cup["gold"].base_url)
    async with httpx.AsyncClient(transport=transport, base_url=base, cookies=dict(cup["gold"].cookies)) as client:
        answer = await client.put("/api/v1/contests/cup/releases", content=content(), headers=headers)
    return answer, read


def test_bodies_that_are_no_files_are_small(protecting: Cup) -> None:
    post = protecting["gold"].post
    refused(post("/api/v1/contests/cup/join", content=b" " * 2**21), 413)
    refused(post("/api/v1/contests/cup/join", content=b"{"), 422)


def test_a_team_that_sends_too_often_waits_and_others_do_not(protecting: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.contest.api.files._UPLOADS", 0)
    before, path = protecting.length(), "/api/v1/contests/cup/releases"
    refused(protecting["gold"].put(path, content=b"x"), 429, "too many attempts")
    assert protecting.length() == before
    keys = sa.select(rates.c.key).where(rates.c.key.like("files/%"))
    with protecting.served.arena.store.engine.connect() as database:
        counted = list(database.execute(keys).scalars())
    state = protecting.served.arena.state("cup")
    assert state is not None
    assert f"files/cup/{state.team_of[protecting['gold'].account]}" in counted  # of each team apart


# --- at once ---------------------------------------------------------------------------------------------------------


def test_of_two_uploads_at_once_the_rules_take_one(protecting: Cup) -> None:
    statuses, both, blue = [], threading.Barrier(2), protecting["blue"]

    def send() -> None:
        person = Person(protecting.served)
        person.cookies.update(blue.cookies)
        person.know()
        both.wait()
        statuses.append(person.put("/api/v1/contests/cup/releases", content=protecting.good[1]).status_code)

    senders = [threading.Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert sorted(statuses) == [201, 429]
    assert len(blue.ask("GET", "/contests/cup/submissions")) == 1


# --- rulebooks -------------------------------------------------------------------------------------------------------


BOOK = 'name = "mine"\nschema = "pwscup2018"\n'


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"rulebook": BOOK + '[[terms]]\nmeasure = "beauty"\n'}, "beauty"),
        ({"rulebook": BOOK + '[[terms]]\nmeasure = "cell-error"\nweight = 0.7\n'}, "terms add up to 0.7"),
        ({"rulebook": BOOK + "[[terms\n"}, ""),
        ({"rulebook": "pwscup2081"}, "did you mean"),
        ({"phases": []}, "nothing could be submitted in this contest"),
        ({"id": "A cup"}, "cannot be part of an address"),
        ({"settings": {"zone": "Asia/Edo"}}, "no time zone"),
        ({"settings": {"team_size": 0}}, "settings.team_size"),
        ({"nonsense": 1}, "contest.nonsense"),
    ],
)
def test_a_contest_that_cannot_be_is_not_created(protecting: Cup, said: dict[str, Any], words: str) -> None:
    before = protecting.length()
    new = {"id": "new", "title": "New", "rulebook": "pwscup2018", "phases": protecting.served.phases()} | said
    files: dict[str, Any] = {"contest": (None, json.dumps(new))}
    files["final"] = ("T.csv", protecting.served.case().original.read_bytes())
    refused(protecting.organiser.post("/api/v1/contests", files=files), 422, words)
    assert protecting.length() == before
    assert protecting.organiser.get("/api/v1/contests/new").status_code == 404


def test_a_contest_without_data_is_not_created(protecting: Cup) -> None:
    new = {"id": "new", "title": "New", "rulebook": "pwscup2018", "phases": protecting.served.phases()}
    post = protecting.organiser.post
    refused(post("/api/v1/contests", files={"contest": (None, json.dumps(new))}), 422, "needs data")
    refused(post("/api/v1/contests", json=new), 422, "form with files")
    odd: dict[str, Any] = {"contest": (None, json.dumps(new)), "final": ("T.csv", b"not,a,history\n1,2\n")}
    assert post("/api/v1/contests", files=odd).status_code == 422


# --- what is ours to mend --------------------------------------------------------------------------------------------


def test_a_full_disk_is_said_and_costs_nothing(protecting: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    before, gold = protecting.length(), protecting["gold"]

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        refused(gold.put("/api/v1/contests/cup/releases", content=protecting.good[3]), 507, "disk", "full")
    assert protecting.length() == before


def test_a_damaged_file_is_not_handed_out(protecting: Cup) -> None:
    green = protecting["green"]
    said = green.ask("PUT", "/contests/cup/releases", content=protecting.good[2])
    files: Files = protecting.served.arena.files
    digest = said["receipt"]["digest"]
    assert files.read(digest) == protecting.good[2]
    [kept] = (protecting.served.folder / "arena" / "files").glob(f"*/{digest}*")
    content = bytearray(kept.read_bytes())
    content[100] ^= 1
    kept.write_bytes(content)
    answer = green.get(f"/api/v1/contests/cup/submissions/{said['submission']}/file")
    refused(answer, 503, "cannot access one of its files")
    assert protecting.good[2][:40] not in answer.content
    assert str(protecting.served.folder) not in answer.text


# --- a database that goes away ---------------------------------------------------------------------------------------


@pytest.fixture
def own_database(postgres: str) -> Iterator[tuple[str, sa.Engine]]:
    """A database of PostgreSQL's, and somebody who may shut it."""
    engine = sa.create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as database:
        database.execute(sa.text("CREATE DATABASE going"))
    yield postgres.replace("/postgres?", "/going?"), engine
    with engine.connect() as database:
        database.execute(sa.text("DROP DATABASE going WITH (FORCE)"))
    engine.dispose()


@pytest.mark.slow
def test_a_database_that_goes_away_acknowledges_nothing(own_database: tuple[str, sa.Engine], tmp_path: Path) -> None:
    address, steward = own_database
    served = Served(tmp_path, address)
    cup = Cup(served, "red")
    served.go_to("cup", "final-protect")
    red = cup["red"]
    token = red.ask("POST", "/account/tokens", json={"name": "x", "scopes": ["team"]})["text"]
    before = cup.length()
    with steward.connect() as database:
        database.execute(sa.text("ALTER DATABASE going WITH ALLOW_CONNECTIONS false"))
        database.execute(sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'going'"))
    for _again in range(2):
        refused(red.put("/api/v1/contests/cup/releases", content=cup.good[0]), 503, "database", "nothing was changed")
    by_token = {"Authorization": f"Bearer {token}"}
    refused(red.put("/api/v1/contests/cup/releases", content=cup.good[0], headers=by_token), 503, "database")
    assert red.get("/").status_code == 503
    with steward.connect() as database:
        database.execute(sa.text("ALTER DATABASE going WITH ALLOW_CONNECTIONS true"))
    assert cup.length() == before
    red.ask("PUT", "/contests/cup/releases", content=cup.good[0])
    assert cup.length() == before + 2
    served.close()
