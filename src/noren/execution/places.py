"""Folders on whatever Spark reads and writes: this machine's disk, hdfs, s3a."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from noren.data.formats.files import FolderKind, must_be_free
from noren.errors import OutputError
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Place", "address_of", "is_local", "local_path", "written_whole"]


def address_of(given: str | Path) -> str:
    """Return an address as it was meant: a path takes one of the slashes of ``s3a://bucket/data``.

    >>> address_of(Path("s3a://bucket/data")), address_of(Path("hdfs://node:8020/data")), address_of(Path("data/"))
    ('s3a://bucket/data', 'hdfs://node:8020/data', 'data')
    """
    text = str(given).rstrip("/")
    found = re.match(r"([a-z][a-z0-9+.-]+):/+(.*)", text)
    if not found or found[1] == "file":
        return text
    host = found[2].split("/", 1)[0]
    named = found[1] != "hdfs" or "." in host or ":" in host  # hdfs:/data is a folder of the cluster's own system
    return f"{found[1]}://{'' if named else '/'}{found[2]}"


def is_local(address: str | Path) -> bool:
    """Tell whether an address is a path of this machine."""
    text = address_of(address)
    return "://" not in text or text.startswith("file:")


def local_path(address: str | Path) -> Path:
    """Return the path of a local address."""
    return Path(str(address).removeprefix("file://"))


class Place:
    """A folder somewhere, reached as Spark reaches it."""

    def __init__(self, session: SparkSession, address: str | Path) -> None:
        # as it is, not percent-encoded: Hadoop takes signs for what they are
        self.address = f"file://{local_path(address).absolute()}" if is_local(address) else address_of(address)
        self._session = session
        jvm: Any = session._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path(self.address)
        self._system = self._path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())

    def __truediv__(self, name: str) -> Place:
        return Place(self._session, f"{self.address}/{name}")

    def read(self) -> DataFrame:
        """Return the Parquet files of the folder, or the one file; signs of patterns stand for themselves."""
        return self._session.read.parquet(re.sub(r"([\\*?\[\]{}])", r"\\\1", self.address))

    def exists(self) -> bool:
        """Tell whether there is something."""
        return bool(self._system.exists(self._path))

    def names(self) -> list[str]:
        """Return what the folder holds, by name."""
        return sorted(str(entry.getPath().getName()) for entry in self._system.listStatus(self._path))

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._system.delete(self._path, True)

    def write_json(self, content: dict[str, Any]) -> None:
        """Write a small file of plain data."""
        self.write_text(json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n")

    def write_text(self, text: str) -> None:
        """Write a small file."""
        stream = self._system.create(self._path, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def read_json(self) -> Any:
        """Read a small file of plain data; None where there is none."""
        text = self.read_text()
        return None if text is None else json.loads(text)

    def read_text(self) -> str | None:
        """Read a small file; None where there is none."""
        if not self.exists():
            return None
        stream = self._system.open(self._path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def make_private(self) -> None:
        """Make the folder, readable by its owner alone where the system knows of owners."""
        permission = self._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        self._system.mkdirs(self._path, permission)
        self._system.setPermission(self._path, permission)

    def move_to(self, other: Place) -> None:
        """Move the folder to a place where nothing is."""
        if not self._system.rename(self._path, other._path):
            raise OutputError(_("{folder} cannot be put in place").format(folder=other.address))


@contextmanager
def written_whole(session: SparkSession, out: str | Path, *, replace: bool | FolderKind = False) -> Iterator[Place]:
    """Give a hidden folder to write to, which takes its place when all is written, and is gone otherwise."""
    target = Place(session, out)
    if is_local(out):
        must_be_free(local_path(out), replace=replace)
    elif target.exists() and not replace:
        raise OutputError(_("{folder} is there already; choose another, or use --force").format(folder=out))
    parent, _slash, name = target.address.rpartition("/")
    aside = Place(session, f"{parent}/.{name}.{uuid4().hex[:12]}")
    try:
        yield aside
        if replace and target.exists():
            target.remove()
        aside.move_to(target)
    finally:
        aside.remove()
