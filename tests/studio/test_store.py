"""Projects and jobs in the database, and where their files lie."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.studio.conftest import until

from noren.errors import FileError
from noren.studio.folders import Folders, UnknownIdError, read_json, write_json
from noren.studio.service import Studio
from noren.studio.store import HEAVY, LIGHT, State, Store
from noren.web.settings import Settings
from noren.web.uploads import shown_name
from noren.work.ids import new_id
from noren.work.queue import open_database


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'studio.sqlite'}")


def test_a_project_is_kept_with_what_is_known_of_it(store: Store, tmp_path: Path) -> None:
    project = store.add_project("茶屋", {"sample": "history"})
    assert not project.is_ready
    store.change_project(project.id, facts={"rows": 3}, name="Tea")
    again = Store(f"sqlite:///{tmp_path / 'studio.sqlite'}").project(project.id)
    assert again is not None
    assert (again.name, again.source, again.facts, again.is_ready) == ("Tea", {"sample": "history"}, {"rows": 3}, True)
    assert not again.archived
    store.change_project(project.id, archived=True)
    assert [kept.archived for kept in store.projects()] == [True]
    assert store.project("nothere23456") is None


def test_jobs_are_found_by_project_kind_and_state(store: Store) -> None:
    one, other = (store.add_project(name, {}).id for name in "ab")
    first = store.add_job(one, "run", "first", {"seed": 7})
    store.add_job(one, "read", "second", {})
    store.add_job(other, "run", "third", {})
    assert [job.label for job in store.jobs(one)] == ["first", "second"]
    assert [job.label for job in store.jobs(kind="run")] == ["first", "third"]
    assert store.change_job(first.id, state=State.DONE, summary={"U": 0.25}, done=1.0)
    assert [job.label for job in store.jobs(states=(State.DONE,))] == ["first"]
    found = store.job(first.id)
    assert found is not None
    assert (found.order, found.summary, found.state, found.done) == ({"seed": 7}, {"U": 0.25}, State.DONE, 1.0)


def test_a_change_may_be_bound_to_states(store: Store) -> None:
    job = store.add_job(store.add_project("a", {}).id, "run", "first", {})
    assert store.change_job(job.id, only_from=(State.WAITING,), state=State.CANCELLED)
    assert not store.change_job(job.id, only_from=(State.WAITING, State.RUNNING), state=State.DONE)
    again = store.job(job.id)
    assert again is not None
    assert again.state == State.CANCELLED


def test_the_seed_is_not_printed(store: Store) -> None:
    job = store.add_job(store.add_project("a", {}).id, "run", "first", {"seed": 123456789})
    assert "123456789" not in repr(job)


def test_a_removed_project_takes_its_jobs_along(store: Store) -> None:
    project = store.add_project("a", {}).id
    store.add_job(project, "run", "first", {})
    store.remove_project(project)
    assert store.jobs() == []
    assert store.projects() == []


def test_a_job_needs_its_project(store: Store) -> None:
    with pytest.raises(sa.exc.IntegrityError):
        store.add_job("nothere23456", "run", "first", {})


def test_sessions_end(store: Store) -> None:
    store.add_session("a" * 64, "2000-01-01T00:00:00.000000+00:00")
    store.add_session("b" * 64, "2999-01-01T00:00:00.000000+00:00")
    assert not store.has_session("a" * 64)
    assert store.has_session("b" * 64)


def test_data_of_a_newer_noren_are_left_alone(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    with Store(address).engine.begin() as database:
        database.execute(sa.text("UPDATE studio SET version = 3"))
    with pytest.raises(FileError, match="newer Noren"):
        Store(address)


VERSION_1 = """
CREATE TABLE studio (version INTEGER NOT NULL);
CREATE TABLE projects (id VARCHAR(12) PRIMARY KEY, name TEXT NOT NULL, created VARCHAR(32) NOT NULL,
  source TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE jobs (id VARCHAR(12) PRIMARY KEY, project VARCHAR(12) NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind VARCHAR(16) NOT NULL, label TEXT NOT NULL, sweep VARCHAR(12), "order" TEXT NOT NULL, state VARCHAR(16) NOT NULL,
  done FLOAT NOT NULL, words TEXT NOT NULL, best FLOAT, summary TEXT NOT NULL, error TEXT NOT NULL,
  attempts INTEGER NOT NULL, created VARCHAR(32) NOT NULL, started VARCHAR(32), ended VARCHAR(32));
CREATE INDEX ix_jobs_state ON jobs (state);
CREATE INDEX ix_jobs_project ON jobs (project);
CREATE TABLE sessions (digest VARCHAR(64) PRIMARY KEY, until VARCHAR(32) NOT NULL);
CREATE TABLE dbos_migrations (version BIGINT NOT NULL);
CREATE TABLE workflow_status (workflow_uuid VARCHAR(80) PRIMARY KEY);
CREATE TABLE operation_outputs (workflow_uuid VARCHAR(80) NOT NULL REFERENCES workflow_status (workflow_uuid));
INSERT INTO workflow_status VALUES ('rrrrrrrrrrrr-x');
INSERT INTO operation_outputs VALUES ('rrrrrrrrrrrr-x');
INSERT INTO studio VALUES (1);
INSERT INTO projects VALUES ('pppppppppppp', 'Tea', '2026-11-01T08:00:00.000000+00:00', '{}', '{"rows": 3}')
"""
"""What a studio of version 1 left in its folder, less its jobs."""
OLD_JOBS = [
    # name, kind, state, attempts, minute in which it was ordered
    ("w" * 12, "run", "waiting", 0, 4),
    ("r" * 12, "run", "running", 2, 3),
    ("s" * 12, "run", "running", 3, 2),
    ("f" * 12, "read", "waiting", 0, 5),
    ("d" * 12, "run", "done", 1, 1),
]


def laid_version_1(address: str) -> None:
    engine = open_database(address)
    with engine.begin() as database:
        for statement in VERSION_1.split(";"):
            database.execute(sa.text(statement.replace(":", "\\:")))
        for name, kind, state, attempts, minute in OLD_JOBS:
            created = f"2026-11-01T09:{minute:02}:00.000000+00:00"
            values = f"'{name}', 'pppppppppppp', '{kind}', '{name[0]}', NULL, '{{}}', '{state}', 0.5, '', NULL, '{{}}'"
            text = f"INSERT INTO jobs VALUES ({values}, '{{}}', {attempts}, '{created}', NULL, NULL)"
            database.execute(sa.text(text.replace(":", "\\:")))
    engine.dispose()


def test_what_a_studio_of_version_1_had_begun_goes_on(address: str) -> None:
    laid_version_1(address)
    for _ in range(2):  # opened once more, nothing changes
        store = Store(address)
        assert [job.label for job in store.jobs()] == ["d", "s", "r", "w", "f"]
        assert [(project.facts, project.archived) for project in store.projects()] == [({"rows": 3}, False)]
        assert [(job.state, job.attempts) for job in store.jobs(states=(State.RUNNING,))] == [
            ("running", 3),
            ("running", 2),
        ]
        store.close()
    store = Store(address)
    claims = [store.queue.claim([HEAVY], "us") for _ in range(3)]
    assert [claim and (claim.id[0], claim.attempt) for claim in claims] == [("r", 3), ("w", 1), None]
    light = store.queue.claim([LIGHT], "us")
    assert light is not None
    assert light.id == "f" * 12
    given_up = store.job("s" * 12)
    assert given_up is not None
    assert given_up.state == State.INTERRUPTED
    assert given_up.error["message"] == "the studio was stopped 3 times while this ran; start it again"
    job = store.add_job("p" * 12, "run", "new", {})
    assert store.queue.enqueue(job.id, HEAVY)
    tables = set(sa.inspect(store.engine).get_table_names())
    if not store.queue.is_shared:
        assert tables == {"jobs", "projects", "sessions", "studio", "studio_version", "trail", "user_sessions", "users"}
    with store.engine.connect() as database:
        assert database.execute(sa.text("SELECT version FROM studio")).scalars().all() == [2]
    store.close()


def test_a_folder_of_version_1_opens_and_its_jobs_are_taken_up(tmp_path: Path) -> None:
    laid_version_1(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    studio = Studio(Settings(tmp_path, samples=False))
    try:
        studio.start()
        until(lambda: all(job.state.is_over for job in studio.store.jobs()), "all are over")
        states = {job.label: (job.state, job.attempts) for job in studio.store.jobs()}
    finally:
        studio.close()
    # these orders ask for nothing that could be done: each was begun, and said so
    begun = {"r": ("failed", 3), "w": ("failed", 1), "f": ("failed", 1)}
    assert states == {"d": ("done", 1), "s": ("interrupted", 3)} | begun


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc", "a" * 11, "a" * 13, "ABCDEFGHIJKL", "abc/def/ghij", "a" * 11 + "\n"]
)
def test_only_identifiers_have_folders(tmp_path: Path, name: str) -> None:
    folders = Folders(tmp_path)
    with pytest.raises(UnknownIdError):
        folders.project(name)
    with pytest.raises(UnknownIdError):
        folders.job("a" * 12, name)


def test_identifiers_differ_and_are_ones(tmp_path: Path) -> None:
    names = {new_id() for _ in range(1000)}
    assert len(names) == 1000
    for name in names:
        Folders(tmp_path).project(name)


def test_json_is_written_for_the_owner_alone(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": "茶"})
    assert read_json(tmp_path / "x.json") == {"a": "茶"}
    assert (tmp_path / "x.json").stat().st_mode & 0o077 == 0
    assert read_json(tmp_path / "y.json") is None
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "z.json", float("nan"))
    assert not (tmp_path / "z.json").exists()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a.csv", "a.csv"),
        ("C:\\Users\\me\\a.csv", "a.csv"),
        ("../../etc/passwd", "passwd"),
        ("a\x00\x1b[31m.csv", "a??[31m.csv"),
        ("", "?"),
        ("茶.csv", "茶.csv"),
        ("x" * 500, "x" * 120),
    ],
)
def test_names_of_files_are_shown_and_nothing_else(given: str, shown: str) -> None:
    assert shown_name(given) == shown
