"""Opening and writing: what goes wrong is said, and nothing is left half-written."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import resource
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from noren.data.contest_files import write_pairs, write_rows
from noren.data.formats import files
from noren.data.formats import source as sources
from noren.data.formats.files import writing_file, writing_folder
from noren.data.formats.source import Source, read_all_bytes, require_readable
from noren.data.frames import History
from noren.data.reading import convert, read, write
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import FileError, OutputError

SHOP = Schema.of({"columns": {role: {"role": role} for role in ("customer", "date", "item", "price", "quantity")}})
CSV = b"customer,date,item,price,quantity\n" + b"a,2010/12/1,x,1.5,2\n" * 2000


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


# --- reading ---------------------------------------------------------------------------------------------------------


def test_plain_and_compressed_files_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(CSV)
    (tmp_path / "packed").write_bytes(gzip.compress(CSV))
    (tmp_path / "twice").write_bytes(gzip.compress(CSV[:100]) + gzip.compress(CSV[100:]))
    assert [Source.open(tmp_path / name).compressed for name in ("plain", "packed")] == [False, True]
    for name in ("plain", "packed", "twice"):
        assert read_all_bytes(tmp_path / name) == CSV


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shop.csv"
    path.write_bytes(CSV)

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)  # the superuser may read anything
    with pytest.raises(FileError) as caught:
        read(path, SHOP)
    assert str(caught.value) == f"{path}: you may not read this file"


@pytest.mark.parametrize("bad", ["x" * 5000, "a\0b", "a/b"])
def test_a_path_that_names_no_file(tmp_path: Path, bad: str) -> None:
    (tmp_path / "a").write_bytes(CSV)
    with pytest.raises(FileError, match="check the path"):
        require_readable(tmp_path / bad)


def test_a_pipe_is_refused_before_it_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="this is not a regular file; save its content to a file first"):
        require_readable(tmp_path / "pipe")


def test_a_disk_that_fails_while_reading(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_bytes(CSV)
    with pytest.raises(FileError, match=r"shop\.csv: the file cannot be read \(Input/output error\); check the path$"):
        _fail_while_reading(tmp_path / "shop.csv")


def _fail_while_reading(path: Path) -> None:
    with Source.open(path).unpacked():
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_compression_bomb_stops_at_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 500_000))
    assert path.stat().st_size < 5000
    monkeypatch.setattr(sources, "BOMB_BYTES", 100_000)
    taken: list[bytes] = []
    with pytest.raises(FileError) as caught, Source.open(path).unpacked() as file:
        taken.extend(iter(lambda: file.read(10_000), b""))
    bound = max(100_000, 100 * path.stat().st_size)
    assert f"the file decodes to more than {bound:,} bytes; split it, or remove columns that are not needed" in str(
        caught.value
    )
    assert 0 < sum(map(len, taken)) <= bound
    with pytest.raises(FileError, match=r"bomb\.csv\.gz: the file decodes to more than"):
        read(path, SHOP)


def test_the_largest_file_taken_whole(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x" * 11)
    (tmp_path / "packed").write_bytes(gzip.compress(b"x" * 11))
    for name in ("plain", "packed"):
        assert read_all_bytes(tmp_path / name, largest=11) == b"x" * 11
        with pytest.raises(FileError, match="more than 10 bytes"):
            read_all_bytes(tmp_path / name, largest=10)


@pytest.mark.parametrize("cut", [3, 12, 30])
def test_a_damaged_gzip_file(tmp_path: Path, cut: int) -> None:
    (tmp_path / "shop.gz").write_bytes(gzip.compress(CSV)[:cut])
    with pytest.raises(FileError, match="the compressed file is damaged"):
        read_all_bytes(tmp_path / "shop.gz")
    (tmp_path / "shop.gz").write_bytes(gzip.compress(CSV)[:10] + zlib.compress(CSV)[cut:])
    with pytest.raises(FileError, match="the compressed file is damaged"):
        read_all_bytes(tmp_path / "shop.gz")


# --- writing ---------------------------------------------------------------------------------------------------------


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.csv"
    with writing_file(target) as aside:
        aside.write_bytes(b"whole")
        assert not target.exists()
        assert aside.name.startswith(".out.csv.")
        assert aside.suffix == ".part"
    assert target.read_bytes() == b"whole"
    assert target.stat().st_mode & 0o777 == 0o666 & ~files._umask()
    assert names(tmp_path) == {"new", "out.csv"}


def test_a_folder_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with writing_folder(target) as aside:
        (aside / "deep").mkdir()
        (aside / "deep" / "a").write_bytes(b"1")
        assert not target.exists()
    assert names(tmp_path) == {"release", "deep", "a"}
    with pytest.raises(OutputError, match="is not empty; name another folder, or add --force"), writing_folder(target):
        pass
    with writing_folder(target, replace=True) as aside:
        (aside / "b").write_bytes(b"2")
    assert names(tmp_path) == {"release", "b"}
    (tmp_path / "empty").mkdir()
    with writing_folder(tmp_path / "empty") as aside:
        (aside / "c").write_bytes(b"3")
    assert names(tmp_path / "empty") == {"c"}


def test_a_replaced_folder_comes_back_when_the_change_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_bytes(b"1")
    rename = Path.replace

    def replace(self: Path, other: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, other)

    monkeypatch.setattr(Path, "replace", replace)
    with (
        pytest.raises(OutputError, match="was not written: Input/output error"),
        writing_folder(target, replace=True) as aside,
    ):
        (aside / "new").write_bytes(b"2")
    assert names(tmp_path) == {"release", "old"}


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("folder", "folder is a folder; name a file"),
        ("file/out.csv", "a part of the path is a file; choose another folder"),
        ("x" * 300, "is not a valid file name; choose another"),
        ("a\0b", r"a\x00b is not a valid file name; choose another"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, where: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"kept")
    with pytest.raises(OutputError) as caught, writing_file(tmp_path / where):
        pytest.fail("there is nothing to write to")
    assert says in str(caught.value)
    assert names(tmp_path) == {"folder", "file"}


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    with pytest.raises(OutputError, match="file is a file; name a folder"), writing_folder(tmp_path / "file"):
        pytest.fail("there is nothing to write to")
    assert (tmp_path / "file").read_bytes() == b"kept"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "x"), "was not written: the disk is full; free some space and run again"),
        (OSError(errno.EDQUOT, "x"), "was not written: the disk is full; free some space and run again"),
        (OSError(errno.EROFS, "x"), "you may not write to"),
        (OSError(errno.EIO, "Input/output error"), "was not written: Input/output error"),
        (OSError("two\nlines"), "was not written: two"),
        (PermissionError(errno.EACCES, "x"), "you may not write to"),
    ],
    ids=lambda value: str(value)[:20],
)
@pytest.mark.parametrize("writing", [writing_file, writing_folder])
def test_a_failed_write_is_said_in_one_line(
    tmp_path: Path, writing: Callable[[Path], Any], error: OSError, says: str
) -> None:
    with pytest.raises(OutputError) as caught, writing(tmp_path / "out"):
        raise error
    assert says in str(caught.value)
    assert f"{tmp_path / 'out'}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == set()


# --- every writer, on a disk that fills up, and interrupted ----------------------------------------------------------


@cache
def _release(method: str = "test") -> Release:
    original = History.of(pl.read_csv(CSV), Schema.preset("pwscup2018"))
    aligned = original.take(pl.Series(range(len(original))))
    return Release.of_aligned(original, aligned, Statement(method), seed=1)


WRITERS: dict[str, Callable[[Path, Path], object]] = {
    "out.csv": lambda source, target: write(read(source, SHOP).data, target),
    "out.tsv": lambda source, target: convert(source, target, SHOP),
    "out.parquet": lambda source, target: convert(source, target, SHOP),
    "out.xlsx": lambda source, target: convert(source, target, SHOP),
    "A.csv": lambda source, target: write_rows(_release().public, target),  # type: ignore[arg-type]
    "F.csv": lambda source, target: write_pairs(pl.DataFrame({"p": ["a"] * 2000, "c": ["b"] * 2000}), target),
    "release": lambda source, target: _release().save(target, replace_existing=True),
    "public": lambda source, target: _release().publish(target, official=True, replace_existing=True),
}
FOLDERS = ("release", "public")


@contextlib.contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """Let no file grow over ``size`` bytes: the system itself refuses to write on, in native code as well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


STEPS: dict[str, tuple[object, str]] = {
    "flush": (os, "fsync"),
    "parquet": (pq.ParquetWriter, "write_table"),
    "text": (pl.DataFrame, "write_csv"),
    "sheet": (xlsxwriter.worksheet.Worksheet, "write_column"),
    "bytes": (Path, "write_bytes"),
    "json": (Path, "write_text"),
}
WRITTEN_BY = {
    "out.csv": ("flush", "text"),
    "out.tsv": ("flush", "text"),
    "out.parquet": ("flush", "parquet"),
    "out.xlsx": ("flush", "sheet"),
    "A.csv": ("flush", "bytes"),
    "F.csv": ("flush", "bytes"),
    "release": ("flush", "json"),
    "public": ("flush", "json", "bytes"),
}
FAILURES = [(writer, step) for writer, steps in WRITTEN_BY.items() for step in steps]


def _prepared(tmp_path: Path, writer: str, *, existing: bool) -> tuple[Path, Path]:
    """Return a source to write from and where to; with ``existing``, something stands there already."""
    source, target = tmp_path / "in" / "shop.csv", tmp_path / "out" / writer
    source.parent.mkdir()
    target.parent.mkdir()
    source.write_bytes(CSV)
    if existing and writer in FOLDERS:
        _release("an older one").publish(target)
    elif existing:
        target.write_bytes(b"kept")
    return source, target


def _check_untouched(target: Path, writer: str, *, existing: bool) -> None:
    if not existing:
        assert names(target.parent) == set()
        return
    if writer in FOLDERS:
        assert names(target.parent) == {writer, "public.parquet", "statement.json"}
        assert Release.load(target).statement.method == "an older one"
        return
    assert target.read_bytes() == b"kept"
    assert names(target.parent) == {writer}


@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize(("writer", "step"), FAILURES)
def test_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, step: str, existing: bool
) -> None:
    source, target = _prepared(tmp_path, writer, existing=existing)
    monkeypatch.setattr(*STEPS[step], _full)
    with pytest.raises(OutputError) as caught:
        WRITERS[writer](source, target)
    assert str(caught.value).startswith(str(target.parent))
    assert "was not written: the disk is full; free some space and run again" in str(caught.value)
    _check_untouched(target, writer, existing=existing)


@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize(("writer", "step"), FAILURES)
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, step: str, existing: bool
) -> None:
    source, target = _prepared(tmp_path, writer, existing=existing)
    monkeypatch.setattr(*STEPS[step], _interrupted)
    with pytest.raises(KeyboardInterrupt):
        WRITERS[writer](source, target)
    _check_untouched(target, writer, existing=existing)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_write_that_the_system_stops_leaves_nothing(tmp_path: Path, writer: str) -> None:
    source, target = _prepared(tmp_path, writer, existing=True)
    with pytest.raises(OutputError, match="was not written: "), no_file_over(256):
        WRITERS[writer](source, target)
    _check_untouched(target, writer, existing=True)


def test_an_interrupt_between_two_blocks_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_bytes(CSV)

    def stop(_share: float, rows: int) -> None:
        assert rows > 0
        raise KeyboardInterrupt

    for name in ("out.csv", "out.parquet", "out.xlsx"):
        with pytest.raises(KeyboardInterrupt):
            convert(tmp_path / "shop.csv", tmp_path / name, SHOP, progress=stop)
        assert names(tmp_path) == {"shop.csv"}
