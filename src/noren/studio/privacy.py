"""The data folder is for its owner alone, and holds nothing half-written.

Whoever shares the machine must not read seeds, sessions or raw data, whatever mode a folder had before we came and
whatever a shell's umask says. Only what a studio writes is touched, links are not followed, and a folder that others
keep things in, too, stays open to them: what is ours in it is not.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["keep_private", "remove_half_written", "remove_leftovers"]

_OTHERS: Final = 0o077
_OWN = re.compile(
    r"studio\.(sqlite(-wal|-shm|-journal)?|lock)|secret\.key|password\.hash|machine\.json|bundle|projects"
    r"|\.(secret\.key|password\.hash|machine\.json)\.\w+\.part"
)
_ID = re.compile(r"[a-z0-9]{12}")
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
            changed += sum(_closed(path) for path in _below(Path(entry.path)))
    if len(ours) == len(there):
        changed += _closed(root)
    return changed


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, followlinks=False):
        for name in (*folders, *files):
            yield Path(place, name)


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
