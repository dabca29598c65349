"""Archives: the same contest elsewhere, and nothing believed that an archive says."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.contest.cups import board_at, unfinished
from tests.contest.played import CUP, Played, once_played

from noren.contest.actions import RefusedError
from noren.contest.archive import export, import_archive, open_archive, read_log
from noren.contest.arena import Arena
from noren.contest.kinds import ContestRole
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService
from noren.contest.state import fold
from noren.errors import FileError, NorenError
from noren.work.hash_chain import BrokenChainError

Change = Callable[[dict[str, bytes]], None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return once_played(tmp_path_factory)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Arena]:
    arena = Arena(tmp_path / "elsewhere", rehearsal=True)
    yield arena
    arena.close()


def changed(archive: Path, target: Path, change: Change) -> Path:
    """Write an archive with other parts."""
    with zipfile.ZipFile(archive) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    change(parts)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)
    return target


def _flip(name: str) -> Change:
    def change(parts: dict[str, bytes]) -> None:
        middle = len(parts[name]) // 2
        parts[name] = parts[name][:middle] + bytes([parts[name][middle] ^ 1]) + parts[name][middle + 1 :]

    return change


# --- the same elsewhere ----------------------------------------------------------------------------------------------


def test_the_same_contest_gives_the_same_bytes(played: Played, tmp_path: Path) -> None:
    for sealed, name in ((False, "cup.zip"), (True, "sealed.zip")):
        one = export(played.arena, CUP, tmp_path / name, sealed=sealed)
        other = export(played.arena, CUP, tmp_path / f"again-{name}", sealed=sealed)
        assert one.read_bytes() == other.read_bytes()
    assert (tmp_path / "cup.zip").read_bytes() == (played.folder / "cup.zip").read_bytes()


def test_boards_and_log_are_identical_elsewhere(played: Played, elsewhere: Arena) -> None:
    assert import_archive(elsewhere, played.folder / "cup.zip") == CUP
    ours, theirs = played.arena.store.entries(CUP), elsewhere.store.entries(CUP)
    assert ours == theirs
    now = played.arena.now()
    assert board_at(theirs, "final", now).as_dict() == board_at(ours, "final", now).as_dict()
    for one in fold(theirs).submissions.values():
        assert elsewhere.files.read(one.digest) == played.arena.files.read(one.digest)
    kept = b"".join(file.read_bytes() for file in (elsewhere.folder / "files").rglob("*") if file.is_file())
    release = next(one for one in fold(ours).submissions.values() if one.kind == "release" and one.counts)
    assert played.arena.files.read(release.digest)[:200] not in kept  # sealed there, too


def test_an_open_archive_has_to_wait_for_the_results(played: Played, tmp_path: Path) -> None:
    early = Arena(tmp_path / "early", rehearsal=True)
    try:
        _with_key_of(played, early.folder)
    finally:
        early.close()
    moved = Arena(tmp_path / "early", rehearsal=True)
    try:
        import_archive(moved, played.folder / "backup.zip")
        with pytest.raises(RefusedError, match="the results are not published yet"):
            export(moved, CUP, tmp_path / "open.zip", sealed=False)
    finally:
        moved.close()
    assert not (tmp_path / "open.zip").exists()


def test_nothing_secret_is_readable_in_a_backup(played: Played) -> None:
    contest = fold(read_log(played.folder / "backup.zip"))
    assert contest.salt is None
    salt = bytes.fromhex(played.judges.salt(contest))
    with zipfile.ZipFile(played.folder / "backup.zip") as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert salt not in everything
    assert salt.hex().encode() not in everything
    assert (played.arena.folder / "secret.key").read_bytes() not in everything
    for one in contest.submissions.values():
        assert played.arena.files.read(one.digest)[:100] not in everything


def _with_key_of(played: Played, folder: Path) -> None:
    """Give a server another's key, as its steward would: before it is used."""
    shutil.rmtree(folder)
    folder.mkdir()
    shutil.copy(played.arena.folder / "secret.key", folder / "secret.key")


def test_a_contest_moves_to_a_server_with_its_key(played: Played, tmp_path: Path, address: str) -> None:
    """From SQLite to another SQLite or to PostgreSQL, whence the backup has the same bytes."""
    folder = tmp_path / "moved"
    folder.mkdir()
    shutil.copy(played.arena.folder / "secret.key", folder / "secret.key")
    moved = Arena(folder, database=address, rehearsal=True)
    try:
        import_archive(moved, played.folder / "backup.zip")
        with zipfile.ZipFile(export(moved, CUP, tmp_path / "again.zip")) as again:
            found = {name: again.read(name) for name in again.namelist() if name != "secrets/salt"}
        with zipfile.ZipFile(played.folder / "backup.zip") as archive:  # the salt is sealed anew
            assert found == {name: archive.read(name) for name in archive.namelist() if name != "secrets/salt"}
        state = moved.state(CUP)
        assert state is not None
        assert state.digest == played.arena.store.entries(CUP)[state.position].digest
        assert moved.signing.public == state.public_key  # it signs as the old server did
        one = next(iter(state.submissions.values()))
        assert moved.receipt(state, one) == played.arena.receipt(state, one)
        assert moved.store.secret(CUP, "salt") == played.arena.store.secret(CUP, "salt")
        account = moved.store.accounts.enter("ann", "ann correct horse")
        assert account is not None
        service = ContestService(moved)
        assert ContestAccess(service, ArenaIdentity(account), state).role == ContestRole.MEMBER
        organiser = moved.store.accounts.enter("olga", "correct horse battery")
        assert ContestAccess(service, ArenaIdentity(organiser), state).role == ContestRole.ORGANISER
        # what waited for the judge waits there
        assert [job.submission for job in unfinished(moved.store, CUP)] == [one.id for one in state.unjudged()]
        assert len(state.unjudged()) == 1
    finally:
        moved.close()
    assert Arena(folder).signing.public == played.arena.signing.public


def test_a_backup_opens_with_its_key_alone(played: Played, elsewhere: Arena) -> None:
    with pytest.raises(FileError, match="encrypted with another key"):
        import_archive(elsewhere, played.folder / "backup.zip")
    assert elsewhere.store.contests() == []


def test_no_contest_is_imported_over_another(played: Played, elsewhere: Arena) -> None:
    import_archive(elsewhere, played.folder / "cup.zip")
    with pytest.raises(RefusedError, match="already"):
        import_archive(elsewhere, played.folder / "cup.zip")


def test_a_contest_that_is_not_there(elsewhere: Arena, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="'nothing' was not found"):
        export(elsewhere, "nothing", tmp_path / "x.zip")


def test_what_an_open_archive_has(played: Played) -> None:
    with zipfile.ZipFile(played.folder / "cup.zip") as archive:
        names = archive.namelist()
        assert {about.date_time for about in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert json.loads(archive.read("results/results.json"))["contest"] == CUP
    parts = [name for name in names if not name.startswith(("files/", "receipts/"))]
    assert parts == [
        "README",
        "log.jsonl",
        "manifest.json",
        "public_key",
        "results/matrix.csv",
        "results/results.en.html",
        "results/results.ja.html",
        "results/results.json",
        "results/stability.csv",
        "results/standings.csv",
    ]
    contest = fold(read_log(played.folder / "cup.zip"))
    assert len([name for name in names if name.startswith("receipts/")]) == len(contest.submissions) == 6
    assert len([name for name in names if name.startswith("files/")]) == 1 + 3 + 6  # data, targets, submissions


# --- nothing is believed ---------------------------------------------------------------------------------------------


def _name_of(played: Played, kind: str) -> str:
    contest = fold(read_log(played.folder / "cup.zip"))
    digests: Mapping[str, str] = {
        "data": contest.rounds["final"].data,
        "target": next(iter(contest.targets["final"].values())).digest,
        "release": next(one.digest for one in contest.submissions.values() if one.kind == "release"),
        "guess": next(one.digest for one in contest.submissions.values() if one.kind == "guess"),
    }
    return f"files/{digests[kind]}"


@pytest.mark.parametrize("part", ["manifest.json", "log.jsonl", "public_key", "data", "target", "release", "guess"])
def test_one_bit_in_any_part_is_seen_before_anything_is_imported(
    played: Played, elsewhere: Arena, tmp_path: Path, part: str
) -> None:
    name = part if "." in part or "_" in part else _name_of(played, part)
    wrong = changed(played.folder / "cup.zip", tmp_path / "wrong.zip", _flip(name))
    with pytest.raises((FileError, BrokenChainError)):
        import_archive(elsewhere, wrong)
    assert elsewhere.store.contests() == []


@pytest.mark.parametrize("part", ["secrets/salt", "accounts.json", "release"])
def test_one_bit_in_a_backup_is_seen(played: Played, tmp_path: Path, part: str) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    shutil.copy(played.arena.folder / "secret.key", folder / "secret.key")
    name = f"{_name_of(played, 'release')}.sealed" if part == "release" else part
    flip = _flip(name)
    if part == "accounts.json":

        def flip(parts: dict[str, bytes]) -> None:
            parts[name] = parts[name].replace(b'"login"', b'"logan"')

    wrong = changed(played.folder / "backup.zip", tmp_path / "wrong.zip", flip)
    moved = Arena(folder, rehearsal=True)
    try:
        with pytest.raises(FileError):
            import_archive(moved, wrong)
        assert moved.store.contests() == []
    finally:
        moved.close()


@pytest.mark.parametrize("missing", ["manifest.json", "log.jsonl", "public_key", "data", "guess"])
def test_a_part_that_is_missing_is_named(played: Played, elsewhere: Arena, tmp_path: Path, missing: str) -> None:
    name = missing if "." in missing or "_" in missing else _name_of(played, missing)

    def left_out(parts: dict[str, bytes]) -> None:
        del parts[name]

    wrong = changed(played.folder / "cup.zip", tmp_path / "wrong.zip", left_out)
    with pytest.raises(FileError, match="is missing"):
        import_archive(elsewhere, wrong)


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "files/../../x", "files\\x", "files/" + "0" * 63, "C:x", "results/a/b.csv", "x" * 300],
)
def test_names_that_no_archive_has(played: Played, tmp_path: Path, name: str) -> None:
    def add(parts: dict[str, bytes]) -> None:
        parts[name] = b"x"

    wrong = changed(played.folder / "cup.zip", tmp_path / "wrong.zip", add)
    with pytest.raises(FileError, match="does not belong there"), open_archive(wrong):
        pass


def test_a_name_that_stands_twice(played: Played, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.zip"
    shutil.copy(played.folder / "cup.zip", wrong)
    with zipfile.ZipFile(wrong, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("log.jsonl", b"{}")
    with pytest.raises(FileError, match=r"'log\.jsonl' does not belong there"), open_archive(wrong):
        pass


def test_bombs_are_refused_before_they_are_unpacked(played: Played, elsewhere: Arena, tmp_path: Path) -> None:
    """A guess of 100 bytes that holds a mebibyte, and data that unpack to a thousand times their size."""

    def larger(name: str, size: int) -> Change:
        def change(parts: dict[str, bytes]) -> None:
            parts[name] = bytes(size)

        return change

    guess = changed(played.folder / "cup.zip", tmp_path / "guess.zip", larger(_name_of(played, "guess"), 2**20))
    with pytest.raises(FileError, match="is too large"):
        import_archive(elsewhere, guess)
    data = changed(played.folder / "cup.zip", tmp_path / "data.zip", larger(_name_of(played, "data"), 2**26 + 1))
    assert data.stat().st_size < 2**20
    with pytest.raises(FileError, match="is too large"):
        import_archive(elsewhere, data)


def test_a_part_that_holds_more_than_it_says(played: Played, tmp_path: Path) -> None:
    """The directory says 10 bytes; what is packed is the log."""
    content = (played.folder / "cup.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = archive.getinfo("log.jsonl").file_size
    lying = content.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    lying = lying.replace(size.to_bytes(8, "little"), (10).to_bytes(8, "little"))
    wrong = tmp_path / "wrong.zip"
    wrong.write_bytes(lying)
    with pytest.raises(FileError, match="not a contest archive"), open_archive(wrong):
        pass


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_archive(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.zip"
    file.write_bytes(content)
    with pytest.raises(FileError), open_archive(file):
        pass
    with pytest.raises(FileError), open_archive(tmp_path):
        pass
    with pytest.raises(FileError), open_archive(tmp_path / "nothing.zip"):
        pass


def test_an_archive_that_was_cut_off(played: Played, elsewhere: Arena, tmp_path: Path) -> None:
    whole = (played.folder / "cup.zip").read_bytes()
    file = tmp_path / "cut.zip"
    for share in (0.2, 0.9, 0.999):
        file.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(NorenError):
            import_archive(elsewhere, file)
    assert elsewhere.store.contests() == []


@pytest.mark.parametrize("line", [b"[]", b"{", b'{"position": 0}', b"\xff", b"[" * 100_000])
def test_lines_that_are_no_entry(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(line + b"\n")
    with pytest.raises(FileError, match=r"log\.jsonl:1 cannot be read"):
        read_log(file)
