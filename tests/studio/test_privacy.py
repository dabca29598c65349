"""The data folder is for its owner alone and holds nothing half-written."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from noren.studio.actions.projects import add_project
from noren.studio.folders import keep_private, remove_leftovers
from noren.studio.service import Studio
from noren.studio.store import Store
from noren.web.settings import ServerSettings
from noren.work.queue import new_id


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """A shell that lets everybody read what it makes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(root: Path) -> list[str]:
    return sorted(
        str(path.relative_to(root)) for path in (root, *root.rglob("*")) if path.lstat().st_mode & 0o077
    )  # fmt: skip


def laid(root: Path) -> Path:
    """Lay out an old studio that everybody can read."""
    job = root / "projects" / new_id() / "jobs" / new_id()
    (job / "release" / "secret").mkdir(parents=True)
    (root / "bundle").mkdir()
    for path in (job / "release" / "secret" / "run.json", job / "error.log", root / "secret.key"):
        path.write_text("x")
    for name in ("studio.sqlite", "studio.sqlite-wal", "studio.sqlite-shm", "studio.lock", "password.hash"):
        (root / name).write_text("x")
    return job


def test_what_others_could_read_they_cannot(tmp_path: Path) -> None:
    laid(tmp_path)
    tmp_path.chmod(0o755)
    everything = len(list(tmp_path.rglob("*"))) + 1
    assert keep_private(tmp_path) == everything == 16
    assert open_to_others(tmp_path) == []
    assert keep_private(tmp_path) == 0


def test_what_is_not_ours_stays_as_it_is(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir(mode=0o755)
    elsewhere.mkdir()
    (elsewhere / "diary.txt").write_text("x")
    job = laid(root)
    (root / "notes.txt").write_text("x")
    (job / "link.txt").symlink_to(elsewhere / "diary.txt")
    (job / "folder").symlink_to(elsewhere)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(root / "projects" / "line"))
        keep_private(root)
    assert (elsewhere / "diary.txt").stat().st_mode & 0o777 == 0o644
    assert elsewhere.stat().st_mode & 0o777 == 0o755
    # somebody keeps things of their own here: the folder stays open, what is ours in it does not
    left = [path for path in open_to_others(root) if not (root / path).is_symlink()]
    assert left == [".", "notes.txt", "projects/line"]


def test_a_database_in_an_open_folder_is_private_from_its_first_byte(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = Store(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    store.add_project("a", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "studio.sqlite",
        "studio.sqlite-shm",
        "studio.sqlite-wal",
    ]
    assert open_to_others(tmp_path) == ["."]
    store.close()


def test_a_studio_closes_its_folder_when_it_opens(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "projects").mkdir()
    studio = Studio(ServerSettings(tmp_path))
    assert studio.tightened == 2
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    studio.close()


HALF = [
    "upload-abcdefghjkmn.part", "jobs/{job}/.data.parquet.x1y2.part", "jobs/{job}/source.csv",
    "jobs/{job}/.release.abc.part/secret/run.json", "jobs/{job}/published-csv.part/public.csv", ".schema.toml.q.old",
]  # fmt: skip
WHOLE = [
    "source.bin", "data.parquet", "jobs/{job}/result.json", "jobs/{job}/release/secret/run.json",
    "jobs/{job}/release/upload-abcdefghjkmn.part", "../../upload-abcdefghjkmn.part", "upload-notes.part.txt",
    "../Not ours/upload-abcdefghjkmn.part",
]  # fmt: skip


def test_what_a_kill_left_half_written_is_swept_and_nothing_else(tmp_path: Path) -> None:
    project = tmp_path / "projects" / new_id()
    for name in (*HALF, *WHOLE):
        path = project / name.format(job="j" * 12)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raw")
    assert remove_leftovers(tmp_path) == len(HALF)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {os.path.relpath(project / name.format(job="j" * 12), tmp_path) for name in WHOLE}
    assert remove_leftovers(tmp_path) == 0


def test_an_upload_that_a_killed_studio_left_is_gone_when_it_stops_or_starts(tmp_path: Path) -> None:
    studio = Studio(ServerSettings(tmp_path, samples=False))
    project = add_project(studio, name="x").id
    left = studio.folders.project(project) / f"upload-{new_id()}.part"
    left.write_bytes(b"name,age\nAnn,20\n")
    studio.close()
    assert not left.exists()
