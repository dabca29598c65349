"""The arena's database: a log without gaps whoever writes, killed or not, and the jobs that belong to it."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from tests.conftest import PATIENCE
from tests.contest.cups import unfinished
from tests.studio.conftest import until

from noren.contest.actions import RefusedError
from noren.contest.store.database import LOST, ContestStore
from noren.errors import DuplicateNameError, FileError
from noren.work.hash_chain import EntryContent, LogEntry, chained, next_entry, verify
from noren.work.queue import State

KEY = bytes(range(32))
EARLY = "2026-04-01T00:00:00.000000+00:00"


@pytest.fixture
def store(address: str) -> Iterator[ContestStore]:
    store = ContestStore(address, KEY)
    yield store
    store.close()


def begun(store: ContestStore, contest: str = "cup") -> list[LogEntry]:
    log = chained(None, EARLY, [EntryContent("created", "clock", {"contest": contest, "title": "茶\u0000会"})])
    store.create(contest, log)
    return log


def said(store: ContestStore, contest: str, *bodies: dict[str, object]) -> None:
    with store.changing(contest) as change:
        change.append(chained(change.head, EARLY, [EntryContent("flagged", "judge", body) for body in bodies]))


def test_a_log_comes_back_as_it_was_said(store: ContestStore) -> None:
    log = begun(store)
    said(store, "cup", {"share": 0.1, "of": [1, None, True]}, {})
    found = store.entries("cup")
    assert found[:1] == log
    assert found[1].body == {"share": 0.1, "of": [1, None, True]}
    assert store.entries("cup", 2) == found[2:]
    verify(found)
    assert store.contests() == ["cup"]
    assert store.entries("nothere") == []


def test_what_does_not_follow_from_the_head_is_refused(store: ContestStore) -> None:
    log = begun(store)
    wrong = next_entry(log[0], EARLY, EntryContent("paused", "clock", {}))
    said(store, "cup", {})
    with pytest.raises(ValueError, match="entry 1 does not follow from entry 1"), store.changing("cup") as change:
        change.append([wrong])
    assert len(store.entries("cup")) == 2


def test_a_change_that_fails_leaves_neither_entries_nor_jobs(store: ContestStore) -> None:
    begun(store)

    def fail() -> None:
        with store.changing("cup") as change:
            change.append(chained(change.head, EARLY, [EntryContent("paused", "clock", {})]))
            change.enqueue("release", queue="judge", submission="s" * 12)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert len(store.entries("cup")) == 1
    assert store.jobs.of("cup") == []


def test_contests_have_names_of_their_own(store: ContestStore) -> None:
    begun(store)
    with pytest.raises(DuplicateNameError, match="the name cup is taken"):
        begun(store)
    with pytest.raises(RefusedError, match="'other' was not found"), store.changing("other"):
        pass


def test_many_writers_leave_no_gap(store: ContestStore, address: str) -> None:
    begun(store)
    others = [ContestStore(address, KEY) for _ in range(3)]

    def write(one: ContestStore) -> None:
        for number in range(8):
            said(one, "cup", {"number": number}, {"number": -number})

    threads = [threading.Thread(target=write, args=(one,)) for one in (*others, *others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    log = store.entries("cup")
    verify(log)
    assert len(log) == 1 + 6 * 8 * 2
    for one in others:
        one.close()


KILLED = """
import sys
from noren.work.hash_chain import EntryContent, chained
from noren.contest.store.database import ContestStore
store = ContestStore(sys.argv[1], bytes(range(32)))
with store.changing("cup") as change:
    change.append(chained(change.head, "2026-04-01T00:00:00.000000+00:00", [EntryContent("paused", "clock", {})]))
    change.enqueue("release", queue="judge")
    print("written", flush=True)
    sys.stdin.read()
"""


def test_who_is_killed_in_a_change_leaves_nothing_and_holds_nobody_up(store: ContestStore, address: str) -> None:
    begun(store)
    words = [sys.executable, "-c", KILLED, address]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "written\n"
        assert len(store.entries("cup")) == 1
        child.kill()
    said(store, "cup", {"after": "all"})
    log = store.entries("cup")
    verify(log)
    assert [entry.kind for entry in log] == ["created", "flagged"]
    assert store.jobs.of("cup") == []


def test_jobs_say_where_they_stand(store: ContestStore) -> None:
    begun(store)
    with store.changing("cup") as change:
        names = [change.enqueue("release", queue="judge", submission=letter * 12) for letter in "abc"]
        other = change.enqueue("hook", queue="hooks")
    assert [store.jobs.place(job) for job in (*names, other, "nothere")] == [0, 1, 2, 0, None]
    claim = store.jobs.queue.claim(["judge"], "ann")
    assert claim is not None
    assert [store.jobs.place(job) for job in names] == [None, 0, 1]
    store.jobs.update(names[0], "bob", done=0.9, words="wrong")
    store.jobs.update(names[0], "ann", done=0.5, words="halfway")
    assert [(job.done, job.words) for job in store.jobs.of("cup", "a" * 12)] == [(0.5, "halfway")]
    assert store.jobs.durations("release") == []
    assert store.jobs.queue.end(names[0], State.DONE, holder="ann", started=EARLY)
    took = store.jobs.durations("release")
    assert len(took) == 1
    assert took[0] > 86_400
    assert [job.id for job in unfinished(store, "cup")] == [*names[1:], other]


def test_a_lost_worker_is_told_of_in_the_readers_language(address: str) -> None:
    store = ContestStore(address, KEY, lease=0.0)
    begun(store)
    with store.changing("cup") as change:
        job = change.enqueue("release", queue="judge", order={"round": "final"}, most_attempts=1)
        assert store.jobs.has(change.connection, "cup", "release", {"round": "final"})
        assert not store.jobs.has(change.connection, "cup", "release", {"round": "first"})
    assert store.jobs.queue.claim(["judge"], "ann") is not None
    until(lambda: store.jobs.queue.claim(["judge"], "bob") is None and not unfinished(store, "cup"), "it is given up")
    (found,) = store.jobs.of("cup")
    assert (found.id, found.state, found.error) == (job, State.INTERRUPTED, LOST)
    assert store.jobs.running_count() == 0
    assert not store.jobs.retry("other", job)
    assert store.jobs.retry("cup", job)
    assert not store.jobs.retry("cup", job), "it waits already"
    assert [(one.state, one.error) for one in store.jobs.of("cup")] == [(State.WAITING, "")]
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_database_that_goes_away_in_a_change_leaves_nothing(store: ContestStore) -> None:
    begun(store)

    def cut_off() -> None:
        with store.changing("cup") as change:
            change.append(chained(change.head, EARLY, [EntryContent("paused", "clock", {})]))
            number = change.connection.execute(sa.text("SELECT pg_backend_pid()")).scalar()
            with store.engine.connect() as other:
                other.execute(sa.text("SELECT pg_terminate_backend(:number, 60000)"), {"number": number})
            change.enqueue("release", queue="judge")

    with pytest.raises(sa.exc.OperationalError):
        cut_off()
    assert len(store.entries("cup")) == 1
    said(store, "cup", {"after": "all"})
    verify(store.entries("cup"))


def test_secrets_are_kept_encrypted_under_one_key(store: ContestStore, address: str) -> None:
    salt = b"the salt of the lots of this cup"
    log = chained(None, EARLY, [EntryContent("created", "clock", {})])
    store.create("cup", log, secrets={"lots": salt})
    assert store.secret("cup", "lots") == salt
    assert store.secret("cup", "other") is None
    hook = store.hooks.add("cup", "https://example.org/x", salt)
    assert store.hooks.of("cup") == [hook]
    assert "salt" not in repr(hook)
    assert not store.hooks.disable("other", hook.id)
    assert store.hooks.disable("cup", hook.id)
    assert store.hooks.of("cup")[0].disabled is not None
    with store.engine.connect() as database:
        kept = database.execute(sa.text("SELECT content FROM sealed UNION ALL SELECT secret FROM hooks")).scalars()
        for content in kept:
            assert salt not in bytes(content)
    with pytest.raises(FileError, match="encrypted with another key"):
        ContestStore(address, bytes(32))


def test_a_secret_opens_at_its_own_place_alone(store: ContestStore) -> None:
    for name in ("one", "two"):
        store.create(
            name, chained(None, EARLY, [EntryContent("created", "clock", {})]), secrets={"lots": name.encode()}
        )
    with store.engine.begin() as database:
        kept = database.execute(sa.text("SELECT content FROM sealed WHERE contest = 'two'")).scalar()
        database.execute(sa.text("UPDATE sealed SET content = :kept WHERE contest = 'one'"), {"kept": kept})
    with pytest.raises(FileError, match="one/lots: stored data are damaged or encrypted with another key"):
        store.secret("one", "lots")
    assert store.secret("two", "lots") == b"two"


def test_a_rehearsal_moves_the_clock_of_all(store: ContestStore, address: str) -> None:
    rehearsal, other = (ContestStore(address, KEY, is_rehearsal=True) for _ in range(2))
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=100)
    rehearsal.clock.move_to(later)
    assert abs((other.clock.now() - later).total_seconds()) < PATIENCE
    begun(store)
    with other.changing("cup") as change:
        assert other.clock.now(change.connection) >= later
    with pytest.raises(ValueError, match="only the clock of a rehearsal moves"):
        store.clock.move_to(later)
    assert store.clock.now() < other.clock.now() - dt.timedelta(days=1)
    rehearsal.close()
    other.close()
