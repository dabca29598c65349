"""The tables of studio and arena, made step by step: what comes out is what the code expects, on both databases."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.conftest import PATIENCE
from tests.contest.test_store_database import KEY

import noren.contest.store
import noren.studio
from noren.contest.store.database import ContestStore
from noren.contest.store.tables import tables
from noren.errors import FileError, ParameterError
from noren.studio.store import Store
from noren.studio.store import tables as _tables
from noren.work.migrations import migrate
from noren.work.queue import open_database

STUDIO = Path(noren.studio.__file__).with_name("migrations")
ARENA = Path(noren.contest.store.__file__).with_name("migrations")
ROOMS = {"studio": (_tables, "studio_version"), "arena": (tables, "contest_version")}


def opened(room: str, address: str) -> Store | ContestStore:
    return Store(address) if room == "studio" else ContestStore(address, KEY)


def other_default(
    context: object, there: object, wanted: object, now: str | None, told: object, text: str | None
) -> Any:
    """Tell whether two defaults differ; Alembic takes an empty text of SQLite's for another than an empty text."""
    return False if now in ("''", "('')") and text in ("", "''") else None


def differences(engine: sa.Engine, room: str) -> list[Any]:
    metadata, version_table = ROOMS[room]
    opts = {"version_table": version_table, "compare_type": True, "compare_server_default": other_default}
    with engine.connect() as database:
        return list(compare_metadata(MigrationContext.configure(database, opts=opts), metadata))


@pytest.mark.parametrize("room", ROOMS)
def test_the_steps_make_the_tables_that_the_code_expects(room: str, address: str) -> None:
    store = opened(room, address)
    assert differences(store.engine, room) == []
    with store.engine.begin() as database:
        database.execute(sa.text("ALTER TABLE sessions ADD COLUMN extra INTEGER"))
    assert len(differences(store.engine, room)) == 1, "the comparison can fail"
    store.close()


@pytest.mark.parametrize("folder", [STUDIO, ARENA])
def test_the_steps_are_a_line(folder: Path) -> None:
    steps = ScriptDirectory(folder)
    numbers = [step.revision for step in steps.walk_revisions()][::-1]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


@pytest.mark.parametrize("room", ROOMS)
def test_a_database_at_an_unknown_step_is_left_alone(room: str, address: str) -> None:
    store = opened(room, address)
    with store.engine.begin() as database:
        database.execute(sa.text(f"UPDATE {ROOMS[room][1]} SET version_num = '9999'"))
    with pytest.raises(FileError, match=r"at step 9999, which this version of Noren does not know; use another"):
        opened(room, address)
    store.close()


@pytest.mark.parametrize("room", ROOMS)
def test_tables_of_something_else_are_left_alone(room: str, address: str) -> None:
    other = opened("arena" if room == "studio" else "studio", address)
    with pytest.raises(FileError, match=r"has a table '(accounts|jobs|sessions)' of another program; use an empty"):
        opened(room, address)
    with other.engine.connect() as database:
        assert not sa.inspect(database).has_table(ROOMS[room][1])
    other.close()


def test_a_database_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"this is a letter, and no database at all" * 100)
    with pytest.raises(
        FileError, match=r"a\.sqlite: the database does not answer .*not a database.*; check its address"
    ):
        Store(f"sqlite:///{tmp_path / 'a.sqlite'}")
    with pytest.raises(FileError, match=r"the database does not answer .*; check its address") as caught:
        ContestStore("postgresql://ann:geheim@127.0.0.1:1/x", KEY)
    assert "geheim" not in str(caught.value)
    for address in ("mysql://x/y", "nonsense", "", str(tmp_path)):
        with pytest.raises(ParameterError, match="is not a database address"):
            ContestStore(address, KEY)
    with pytest.raises(ParameterError, match=r"mysql://ann:\*\*\*@host/x"):
        ContestStore("mysql://ann:geheim@host/x", KEY)


@pytest.mark.parametrize("room", ROOMS)
def test_several_who_open_an_empty_database_at_once_make_its_tables_once(room: str, address: str) -> None:
    together = threading.Barrier(4)

    def open_it(_: int) -> list[Any]:
        together.wait(PATIENCE)
        store = opened(room, address)
        found = differences(store.engine, room)
        store.close()
        return found

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(open_it, range(4))) == [[], [], [], []]


def test_a_new_file_opened_by_several_at_once_is_opened_by_all(tmp_path: Path) -> None:
    """SQLite does not wait by itself for whoever switches the same new file to its write-ahead log."""
    for turn in range(40):
        together = threading.Barrier(6)
        engines = [open_database(f"sqlite:///{tmp_path / f'{turn}.sqlite'}") for _ in range(6)]

        def modes(engine: sa.Engine, together: threading.Barrier = together) -> str:
            together.wait(PATIENCE)
            with engine.connect() as database:
                return str(database.execute(sa.text("PRAGMA journal_mode")).scalar())

        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(modes, engines)) == ["wal"] * 6
        for engine in engines:
            engine.dispose()


STEPS = {
    "0001_tea": "op.create_table('tea', sa.Column('id', sa.Integer, primary_key=True))",
    "0002_cup": "op.create_table('cup', sa.Column('id', sa.Integer)); op.execute('INSERT INTO nowhere VALUES (1)')",
}


def test_steps_that_fail_change_nothing(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    before = None
    for name, done in STEPS.items():
        number = name[:4]
        text = f"import sqlalchemy as sa\nfrom alembic import op\nrevision = {number!r}\ndown_revision = {before!r}\n"
        (folder / "versions" / f"{name}.py").write_text(text + f"def upgrade():\n    {done}\n")
        before = number
    engine = open_database(address)
    with pytest.raises(sa.exc.DatabaseError, match="nowhere"):
        migrate(engine, sa.MetaData(), folder, version_table="tea_version")
    assert sa.inspect(engine).get_table_names() == []
    engine.dispose()


def test_nothing_is_printed_and_logging_stays_as_it_was(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.root.manager.disable)
    ContestStore(f"sqlite:///{tmp_path / 'a.sqlite'}", KEY).close()
    Store(f"sqlite:///{tmp_path / 'b.sqlite'}").close()
    assert (root.level, list(root.handlers), logging.root.manager.disable) == before
    assert capfd.readouterr() == ("", "")
