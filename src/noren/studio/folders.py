"""Where the files of a studio lie, who may read them, and what is removed of those that were left half written."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
from pathlib import Path
from typing import Any, Final

from noren.data.formats.files import writing_file

SOURCE_FILE = "source.bin"
"""The uploaded file; it is replaced by another, never written to."""
DATA_FILE = "data.parquet"
"""The data of a project as they were read."""
STAGES_FILE = "stages.json"
"""What a cluster did for a run, step by step, beside its other files."""
_ID = re.compile(r"[a-z0-9]{12}")


class UnknownIdError(LookupError):
    """What was given is no identifier of ours."""


class Folders:
    """The files below a studio's folder.

    Identifiers come from addresses, which anybody can type: what is not an identifier of ours has no folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def project(self, project: str) -> Path:
        """Return the folder of a project."""
        return self.root / "projects" / _checked(project)

    def job(self, project: str, job: str) -> Path:
        """Return the folder of a job."""
        return self.project(project) / "jobs" / _checked(job)

    def source(self, project: str) -> Path:
        """Return the uploaded file; its name is ours, whatever the person's file was called."""
        return self.project(project) / SOURCE_FILE

    def data(self, project: str) -> Path:
        """Return the data as they were read."""
        return self.project(project) / DATA_FILE

    def schema(self, project: str) -> Path:
        """Return what the columns mean."""
        return self.project(project) / "schema.toml"

    def profile(self, project: str) -> Path:
        """Return the profile of the data."""
        return self.project(project) / "profile.json"

    def ledger(self, project: str) -> Path:
        """Return the ledger of the project's releases."""
        return self.project(project) / "ledger"


def _checked(name: str) -> str:
    if not _ID.fullmatch(name):
        raise UnknownIdError(name)
    return name


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, or None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file, whole or not at all, for its owner alone."""
    with writing_file(path, private=True) as aside:
        aside.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")


_OTHERS: Final = 0o077
_OWN = re.compile(
    r"studio\.(sqlite(-wal|-shm|-journal)?|lock)|secret\.key|password\.hash|machine\.json|bundle|projects"
    r"|\.(secret\.key|password\.hash|machine\.json)\.\w+\.part"
)
_HALF_WRITTEN = re.compile(r"upload-[a-z0-9]{12}\.part|\..+\.(part|old)|published-\w+\.part")
_LINKED_SOURCE = re.compile(r"source\.\w+")


def keep_private(root: Path) -> int:
    """Take from others what they may do with the files and folders of a studio; return how many it was.

    The folder itself is closed, too, where it holds nothing but ours.
    """
    there = list(os.scandir(root))
    ours = [entry for entry in there if _OWN.fullmatch(entry.name)]
    changed = sum(_closed(Path(entry.path)) for entry in ours)
    for entry in ours:
        if entry.is_dir(follow_symlinks=False):
            for place, folders, files in os.walk(entry.path, followlinks=False):
                changed += sum(_closed(Path(place, name)) for name in (*folders, *files))
    if len(ours) == len(there):
        changed += _closed(root)
    return changed


def _closed(path: Path) -> bool:
    """Close one file or folder to others; tell whether it was open. Links, pipes and what is not ours stay."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        if not found.st_mode & _OTHERS or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            return False
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & ~_OTHERS)
        finally:
            os.close(handle)
        return True
    return False


def remove_leftovers(root: Path) -> int:
    """Remove what a studio or a worker that was killed left half-written; return how many it was.

    Nobody may be at work in the folder. Uploads and readers leave raw data: they must not outlive their process.
    """
    removed = 0
    for project in _folders(root / "projects"):
        if not _ID.fullmatch(project.name):
            continue
        removed += sum(_removed(path) for path in _entries(project) if _HALF_WRITTEN.fullmatch(path.name))
        for job in _folders(project / "jobs"):
            removed += remove_half_written(job)
    return removed


def remove_half_written(job: Path) -> int:
    """Remove what a worker that is gone left half-written in the folder of its job; return how many it was."""
    left = [p for p in _entries(job) if _HALF_WRITTEN.fullmatch(p.name) or _LINKED_SOURCE.fullmatch(p.name)]
    return sum(map(_removed, left))


def _entries(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder)]
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.is_dir() and not path.is_symlink()]


def _removed(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return not path.exists()
