"""A whole studio as one file: the rows of its database and the files of its projects, to start again from elsewhere.

The server may run meanwhile. All rows are read in one transaction, then the files, which are replaced whole and never
written to. Where the trail tells that data were read, replaced or removed in between, all is read again. Runs that were
under way go on after a restore. Sessions and the key that signs pages stay behind: everybody logs in again.

The rows are kept as SQLite, whatever database the studio has, and can be restored into either. A restored studio is in
its place only when the chain of its audit trail holds and ends where it did. A backup holds originals and secret parts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from noren.data.formats.files import explain_write_errors, reason_of, writing_file
from noren.data.formats.source import require_readable
from noren.errors import FileError, OutputError
from noren.progress import Progress, silent
from noren.studio.audit_trail import tables
from noren.studio.exports import packed
from noren.studio.folders import HALF_WRITTEN, PAPER_FACTS_FILE, keep_private
from noren.studio.store import Store
from noren.tables import Texts
from noren.work.hash_chain import LogEntry, canonical, verify

say = Texts(__name__)
_FORM: Final = "noren-studio-1"
_DATABASE, _MANIFEST, _PASSWORD = "studio.sqlite", "manifest.json", "password.hash"
_NAMES: Final = re.compile(
    rf"{_MANIFEST}|{_DATABASE}|{_PASSWORD}|{PAPER_FACTS_FILE}|projects/[a-z0-9]{{12}}(/(?!\.\.?(/|$))[^/\0\\]+)+"
)
_CHANGES: Final = frozenset({"uploaded", "removed", "project-removed", "papers-changed"})
_TRIES: Final = 3
_ROWS: Final = 1_000


class _ChangedError(Exception):
    """Files are no longer those that the copied rows are about."""


def back_up(store: Store, folder: Path, path: Path, progress: Progress = silent) -> LogEntry:
    """Write the studio of a folder to one private file, and return the last entry of the trail in it."""
    if path.exists():
        raise OutputError(say("exists", path=path))
    store.trail.add("backed-up")
    for _try in range(_TRIES):
        with contextlib.suppress(_ChangedError):
            return _write(store, folder, path, progress)
    raise OutputError(say("changing"))


def _write(store: Store, folder: Path, path: Path, progress: Progress) -> LogEntry:
    with writing_file(path, private=True) as aside, tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as own:
        copy = Path(own, _DATABASE)
        with contextlib.closing(Store(f"sqlite:///{copy.resolve()}")) as copied:
            _copy_rows(store.engine, copied.engine)
            head, projects = copied.trail.newest(1)[0], [project.id for project in copied.projects()]
        manifest = {"form": _FORM, "entries": head.position + 1, "head": head.digest}
        try:
            files = {_DATABASE: copy} | _files(folder, projects)
            total, written = sum(file.stat().st_size for file in files.values()), 0
            with aside.open("wb") as archive:
                for chunk in packed([(_MANIFEST, canonical(manifest)), *files.items()]):
                    written += archive.write(chunk)
                    progress(min(written / total, 1.0))
        except FileNotFoundError:
            raise _ChangedError from None
        for entry in store.trail.newest(store.trail.newest(1)[0].position - head.position):
            if entry.kind in _CHANGES or entry.body.get("work") == "read":
                raise _ChangedError
    return head


def _files(folder: Path, projects: Sequence[str]) -> dict[str, Path]:
    """Return the files of a studio by their names in a backup; not what is half-written."""
    roots = [folder / "projects" / project for project in projects]
    inside = [Path(place, name) for root in roots for place, _folders, names in os.walk(root) for name in names]
    whole = [file for file in inside if not HALF_WRITTEN.fullmatch(file.name) and not file.is_symlink()]
    own = [path for name in (_PASSWORD, PAPER_FACTS_FILE) if (path := folder / name).exists()]
    return {file.relative_to(folder).as_posix(): file for file in (*own, *sorted(whole))}


def _copy_rows(source: sa.Engine, target: sa.Engine) -> None:
    """Copy the rows of all tables but sessions, as they are at one moment."""
    with source.connect() as reading, target.begin() as writing:
        if source.dialect.name == "sqlite":
            reading.exec_driver_sql("BEGIN")
        else:
            reading.execution_options(isolation_level="REPEATABLE READ")
        for table in (table for table in tables.sorted_tables if table.name != "sessions"):
            for rows in reading.execute(table.select()).mappings().partitions(_ROWS):
                writing.execute(table.insert(), [dict(row) for row in rows])


def restore(path: Path, folder: Path, database: str | None = None, progress: Progress = silent) -> LogEntry:
    """Put the studio of a backup into an empty folder, and its rows into an empty ``database`` where one is named.

    Return the last entry of its trail, whose chain was verified.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise OutputError(say("folder_not_empty", path=folder))
    with explain_write_errors(folder), _opened(path) as archive:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = folder / ".restore.part"
        try:
            aside.mkdir(mode=0o700)
            names = [name for name in archive.namelist() if name != _MANIFEST]
            for done, name in enumerate(names):  # of these, none leads out of the folder
                progress(done / len(names))
                archive.extract(name, aside)
            with contextlib.closing(Store(f"sqlite:///{(aside / _DATABASE).resolve()}")) as copied:
                entries = copied.trail.entries()
                verify(entries, say("another_copy"))
                manifest = json.loads(archive.read(_MANIFEST))
                if not entries or (len(entries), entries[-1].digest) != (manifest["entries"], manifest["head"]):
                    raise FileError(say("other_trail"), file=path)
                jobs = tables.tables["jobs"]
                with copied.engine.begin() as rows:  # their orders name the folder of the files
                    for job, order in rows.execute(sa.select(jobs.c.id, jobs.c.order)).all():
                        moved = json.dumps(json.loads(order) | {"root": str(folder.resolve())}, ensure_ascii=False)
                        rows.execute(jobs.update().where(jobs.c.id == job).values(order=moved))
                if database is not None:
                    with contextlib.closing(Store(database)) as target:
                        if target.trail.head() is not None:
                            raise OutputError(say("not_empty"))
                        _copy_rows(copied.engine, target.engine)
            if database is not None:
                (aside / _DATABASE).unlink()
            keep_private(aside)
            for part in sorted(aside.iterdir(), key=lambda part: part.name == _DATABASE):  # without it there is none
                part.replace(folder / part.name)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return entries[-1]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield a backup that has the members of one, under names that stay in its folder; explain damage."""
    try:
        with zipfile.ZipFile(require_readable(path)) as archive:
            names = archive.namelist()
            whole = {_MANIFEST, _DATABASE} <= set(names) and len(set(names)) == len(names)
            if not (
                whole and all(map(_NAMES.fullmatch, names)) and json.loads(archive.read(_MANIFEST))["form"] == _FORM
            ):
                raise FileError(say("not_a_backup"), file=path)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError) as error:
        raise FileError(say("damaged", reason=reason_of(error)), file=path) from None
