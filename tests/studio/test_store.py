"""Projects and jobs in the database, and where their files lie."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from noren.studio.folders import Folders, UnknownIdError, read_json, write_json
from noren.studio.store import State, Store, tables
from noren.studio.users import UserRole
from noren.web.accounts import digest_of
from noren.web.uploads import display_name
from noren.work.queue import new_id


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
    old, new = (store.users.open_session(None, "hash") for _ in range(2))
    with store.engine.begin() as database:
        over = store.users.sessions.update().where(store.users.sessions.c.digest == digest_of(old, "hash"))
        database.execute(over.values(until="2000-01-01T00:00:00.000000+00:00"))
    assert not store.users.has_session(old, "hash")
    assert store.users.has_session(new, "hash")
    assert not store.users.has_session(new, "another hash")


_LATER = {"accounts": {"created_by"}, "trail": {"key"}}
"""What tables have that were made by a later step than the first."""


def test_a_database_of_the_first_step_is_brought_up_to_date(store: Store, tmp_path: Path) -> None:
    store.users.add("ada", "", "correct horse battery", UserRole.ADMINISTRATOR)
    with store.engine.begin() as database:
        database.exec_driver_sql("DROP INDEX trail_key")
        for name, columns in _LATER.items():
            for column in columns:
                database.exec_driver_sql(f"ALTER TABLE {name} DROP COLUMN {column}")
        database.exec_driver_sql("DROP TABLE shares")
        database.exec_driver_sql("UPDATE studio_version SET version_num = '0001'")
    again = Store(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    there = sa.inspect(again.engine)
    for table in tables.tables.values():
        assert {one["name"] for one in there.get_columns(table.name)} == set(table.c.keys())
        assert {index["name"] for index in there.get_indexes(table.name)} == {index.name for index in table.indexes}
    assert [(user.login, user.created_by) for user in again.users.all()] == [("ada", "")]


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
    assert display_name(given) == shown
