"""Nothing acknowledged is lost, nothing half-written stays, and whatever was changed is named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ledger.books import LINES, MONTHS, everything_in, history, ledger

from noren.errors import FileError, OutputError
from noren.ledger import Ledger


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    made = ledger(tmp_path / "l")
    for _month in MONTHS[:2]:
        made.add(history(), seed=1)
    return made


def flip(path: Path, place: float = 0.5) -> None:
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)


FILES = [
    "public.parquet", "statement.json", "entry.json", "secret/seal.json", "secret/original.parquet",
    "secret/pseudonyms.parquet", "secret/origin.parquet", "secret/run.json", "secret/exposed.parquet",
]  # fmt: skip


@pytest.mark.parametrize("month", ["2010-12", "2011-1"])
@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_found(book: Ledger, month: str, name: str) -> None:
    file = book.folder / "releases" / month / name
    flip(file)
    wrong = book.check()
    assert wrong
    named = {str(error.file) for error in wrong}
    # a changed entry may be named by the entry or the head that counts on it
    assert str(file) in named or (name == "entry.json" and any(n.endswith((".json", "releases")) for n in named))
    before = everything_in(book.folder)
    with pytest.raises(FileError, match="restore the ledger from a backup"):
        book.add(history(), seed=1)
    assert everything_in(book.folder) == before


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9, 0.999])
@pytest.mark.parametrize("month", ["2010-12", "2011-1"])
def test_no_place_of_an_entry_may_change(book: Ledger, month: str, place: float) -> None:
    flip(book.folder / "releases" / month / "entry.json", place)
    assert book.check()
    with pytest.raises(FileError):
        _ = book.entries


@pytest.mark.parametrize("name", FILES)
def test_a_lost_file_is_named(book: Ledger, name: str) -> None:
    file = book.release_folder("2010/12") / name
    file.unlink()
    assert str(file) in {str(error.file) for error in book.check()}
    with pytest.raises(FileError):
        book.add(history(), seed=1)


@pytest.mark.parametrize(
    ("month", "said"), [("2010-12", "entry 1 is missing"), ("2011-1", "1 of 2 releases are missing")]
)
def test_a_lost_release_is_named(book: Ledger, month: str, said: str) -> None:
    shutil.rmtree(book.folder / "releases" / month)
    assert said in str(book.check()[0])
    with pytest.raises(FileError, match=said):
        book.add(history(), seed=1)


def test_an_older_entry_put_back_is_found(book: Ledger, tmp_path: Path) -> None:
    other = ledger(tmp_path / "other")
    other.add(history(), seed=2)
    place = book.release_folder("2010/12")
    shutil.rmtree(place)
    shutil.copytree(other.release_folder("2010/12"), place)
    assert [error.problem.rule for error in book.check()] == ["it does not follow from the previous entry"]


def test_a_renamed_release_and_a_strange_folder_are_found(book: Ledger) -> None:
    place = book.release_folder("2011/1")
    place.rename(place.with_name("2011-2"))
    assert "the entry belongs to another folder" in str(book.check()[0])
    place.with_name("2011-2").rename(place)
    (place.parent / "notes").mkdir()
    assert "entry.json: it is missing; restore the ledger from a backup" in str(book.check()[0])


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"entries": -1, "digest": null}', '{"entries": 0, "digest": null}']
)
def test_a_damaged_head_is_named(book: Ledger, content: str) -> None:
    (book.folder / "head.json").write_text(content)
    assert [str(error.file) for error in book.check()] == [str(book.folder / "head.json")]


def test_a_ledger_without_releases_folder(book: Ledger) -> None:
    shutil.rmtree(book.folder / "releases")
    assert "releases: it is missing" in str(book.check()[0])


def test_a_seal_that_lost_its_names_is_damage(book: Ledger) -> None:
    seal = book.release_folder("2010/12") / "secret/seal.json"
    seal.write_text("[]")
    assert str(seal) in str(book.check()[0])


# --- ends half-way -----------------------------------------------------------------------------------------


def fails_at(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    def fail(*_words: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(target, fail)


@pytest.mark.parametrize(
    "target",
    [
        "noren.data.release.pq.ParquetWriter",
        "noren.ledger.entries.content_digest",
        "noren.ledger.entries._json",
        "pathlib.Path.replace",
    ],
)
def test_a_write_that_fails_changes_nothing(book: Ledger, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    before = everything_in(book.folder)
    with monkeypatch.context() as broken:
        fails_at(broken, target)
        with pytest.raises(OutputError, match="the disk is full"):
            book.add(history(), seed=1)
    assert everything_in(book.folder) == before
    assert sorted(path.name for path in (book.folder / "releases").iterdir()) == ["2010-12", "2011-1"]
    assert book.check() == []
    assert book.add(history(), seed=1).period == "2011/2"


KILLED = """
import os, sys
from pathlib import Path
import noren.ledger.entries as entries
from noren.ledger import Ledger
from tests.ledger.books import history

{patch}
Ledger.open(sys.argv[1]).add(history(), seed=1)
"""


def killed(book: Ledger, patch: str) -> int:
    """Add in a process of its own that ends at once, as by a power cut, where ``patch`` says."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(patch=patch), str(book.folder)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        check=False,
    )
    return done.returncode


def test_a_process_that_is_killed_before_the_end_leaves_no_release(book: Ledger) -> None:
    before = everything_in(book.folder)
    assert killed(book, "entries.to_disk = lambda path: os._exit(9)") == 9
    left = [path for path in (book.folder / "releases").iterdir() if path.name.startswith(".")]
    assert left, "the test should leave an unfinished release"
    assert {name: content for name, content in everything_in(book.folder).items() if "/." not in name} == before
    assert book.check() == []
    assert [entry.period for entry in book.entries] == MONTHS[:2]
    assert book.add(history(), seed=1).period == "2011/2"
    assert not [path for path in (book.folder / "releases").iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_a_process_that_is_killed_after_the_release_lost_nothing(book: Ledger) -> None:
    assert killed(book, "entries.new_head = lambda *words, **changes: os._exit(9)") == 9
    assert json.loads((book.folder / "head.json").read_text())["entries"] == 2
    assert book.check() == []
    assert [entry.period for entry in book.entries] == MONTHS
    more = history([*LINES, "ann 2011/3/1 tea 1.5 4"])
    assert book.add(more, seed=1).number == 4
    assert book.check() == []
