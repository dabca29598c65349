"""A studio in one file and back: while it runs, whole or not at all, and only with the trail it was made with."""

from __future__ import annotations

import io
import json
import secrets
import stat
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.studio.quiet import Quiet

from noren.errors import NorenError
from noren.studio import backup
from noren.studio.backup import back_up, restore
from noren.studio.exports import packed
from noren.studio.store import Store

SHOP = (
    "customer,date,item,price,quantity\n"
    "ann,2010/12/1,tea,1.50,2\nann,2010/12/24,mug,3,1\nbob,2011/2/1,tea,1.50,1\ncid,2011/3/9,tea,1.20,4\n"
)
STEP = {"method": "generalize-by-count", "parameters": {"k": 2}}


@pytest.fixture
def run(quiet: Quiet) -> str:
    project = quiet.upload(SHOP)
    order = {"steps": [STEP], "seed": 5, "attacks": ["s1"], "measures": ["rfm"]}
    answer = quiet.client.post(f"/api/v1/projects/{project}/runs", json=order)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in (folder / "projects").rglob("*") if p.is_file()}


def changed(path: Path, name: str, content: bytes | None) -> Path:
    """Return a backup in which a member has another content, or is left out."""
    out = path.with_name(f"{secrets.token_hex(4)}.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
            elif content is not None:
                new.writestr(name, content)
    return out


def test_there_and_back_while_the_server_runs(noren, quiet: Quiet, run: str, tmp_path: Path) -> None:
    old, new, file = tmp_path / "studio", tmp_path / "new", tmp_path / "studio.zip"
    (old / "projects" / "upload-abcdefghijkm.part").touch()
    made = noren("studio", "backup", file, "--data-dir", old, "--json")
    assert made.code == 0, made.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    new.mkdir()  # as systemd makes it
    back = noren("studio", "restore", file, "--data-dir", new, "--json")
    assert back.code == 0, back.err
    assert (back.json["entries"], back.json["last"]) == (made.json["entries"], made.json["last"])
    assert {p.name for p in new.iterdir()} == {"studio.sqlite", "projects"}
    before = contents(old)
    assert contents(new) == {name: content for name, content in before.items() if not name.endswith(".part")}
    assert all(not p.stat().st_mode & 0o077 for p in new.rglob("*"))
    again = Quiet(new)
    try:
        assert again.studio.store.projects() == quiet.studio.store.projects()
        there, here = again.studio.store.job(run), quiet.studio.store.job(run)
        assert there is not None
        assert here is not None
        assert (there.summary, there.state, there.order["root"]) == (here.summary, here.state, str(new))
        assert again.client.get(here.address).status_code == 200
        kinds = [entry.kind for entry in again.studio.store.trail.entries()]
        assert kinds == [entry.kind for entry in quiet.studio.store.trail.entries()]
        assert kinds[-1] == "backed-up"
        with again.studio.store.engine.connect() as database:
            assert database.execute(sa.text("SELECT count(*) FROM sessions")).scalar() == 0
    finally:
        again.studio.close()


def test_nothing_is_replaced(noren, quiet: Quiet, tmp_path: Path) -> None:
    file = tmp_path / "studio.zip"
    file.write_text("mine", encoding="utf-8")
    answer = noren("studio", "backup", file, "--data-dir", tmp_path / "studio")
    assert (answer.code, file.read_text(encoding="utf-8")) == (2, "mine")
    assert "already exists; choose another path" in answer.err
    file.unlink()
    back_up(quiet.studio.store, tmp_path / "studio", file)
    answer = noren("studio", "restore", file, "--data-dir", tmp_path / "studio")
    assert answer.code == 2
    assert "studio is not empty; name another folder\n" in answer.err
    assert noren("studio", "backup", tmp_path / "b.zip", "--data-dir", tmp_path / "nowhere").code == 2


def test_a_trail_that_was_changed_is_not_restored(noren, quiet: Quiet, run: str, tmp_path: Path) -> None:
    file = tmp_path / "studio.zip"
    back_up(quiet.studio.store, tmp_path / "studio", file)
    for act, reason in (
        ("UPDATE trail SET actor = 'mallory' WHERE position = 1", "entry 1 of the log does not fit"),
        ("DELETE FROM trail WHERE position = (SELECT max(position) FROM trail)", "not the one it was made with"),
    ):
        copy = tmp_path / "copy.sqlite"
        with zipfile.ZipFile(file) as archive:
            copy.write_bytes(archive.read("studio.sqlite"))
        with closing(Store(f"sqlite:///{copy}")) as store, store.engine.begin() as database:
            database.execute(sa.text(act))
        answer = noren(
            "studio", "restore", changed(file, "studio.sqlite", copy.read_bytes()), "--data-dir", tmp_path / "new"
        )
        assert answer.code == 2
        assert reason in answer.err
        assert list((tmp_path / "new").iterdir()) == []


def test_what_is_no_backup(noren, quiet: Quiet, run: str, tmp_path: Path) -> None:
    file = tmp_path / "studio.zip"
    back_up(quiet.studio.store, tmp_path / "studio", file)
    damaged = tmp_path / "damaged.zip"
    content = bytearray(file.read_bytes())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        large = max(archive.infolist(), key=lambda member: member.compress_size)
    content[large.header_offset + 200] ^= 0xFF
    damaged.write_bytes(bytes(content))
    for path, reason in (
        (tmp_path / "none.zip", "no such file"),
        (damaged, "damaged"),
        (changed(file, "manifest.json", b'{"form":"noren-contest-1"}'), "not a backup of a studio"),
        (changed(file, "manifest.json", None), "not a backup of a studio"),
    ):
        answer = noren("studio", "restore", path, "--data-dir", tmp_path / "new")
        assert answer.code == 2
        assert reason in answer.err, answer.err
        assert not (tmp_path / "new").exists() or list((tmp_path / "new").iterdir()) == []


def test_names_stay_in_the_folder(quiet: Quiet, tmp_path: Path) -> None:
    file = tmp_path / "studio.zip"
    back_up(quiet.studio.store, tmp_path / "studio", file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("projects/abcdefghijkm/../../../evil", b"x")
    with pytest.raises(NorenError, match="not a backup of a studio"):
        restore(file, tmp_path / "new")
    assert not (tmp_path.parent / "evil").exists()


def test_data_that_change_meanwhile_are_read_again(
    quiet: Quiet, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    def busy(files: Any, pack: Any = packed) -> Iterator[bytes]:
        nonlocal tries
        tries += 1
        if tries <= most:
            quiet.upload(SHOP)
        yield from pack(files)

    monkeypatch.setattr(backup, "packed", busy)
    most = 1
    back_up(quiet.studio.store, tmp_path / "studio", tmp_path / "a.zip")
    assert tries == 2
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert len({name.split("/")[1] for name in archive.namelist() if "/" in name}) == 2
        manifest = json.loads(archive.read("manifest.json"))
    entries = quiet.studio.store.trail.entries()
    assert (manifest["entries"], manifest["head"]) == (len(entries), entries[-1].digest)
    most = 9
    with pytest.raises(NorenError, match="run the backup again when nobody works in the studio"):
        back_up(quiet.studio.store, tmp_path / "studio", tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_rows_go_into_either_database(quiet: Quiet, run: str, tmp_path: Path, address: str) -> None:
    back_up(quiet.studio.store, tmp_path / "studio", tmp_path / "a.zip")
    restore(tmp_path / "a.zip", tmp_path / "new", address)
    assert not (tmp_path / "new" / "studio.sqlite").exists()
    with closing(Store(address)) as store:
        assert store.projects() == quiet.studio.store.projects()
        back_up(store, tmp_path / "new", tmp_path / "b.zip")
        last = restore(tmp_path / "b.zip", tmp_path / "third")
        assert last == store.trail.head()
    with pytest.raises(NorenError, match="the database already holds a studio"):
        restore(tmp_path / "a.zip", tmp_path / "fourth", address)
