"""Folders of Parquet files: read as one, in the order of their paths, or refused with one line."""

from pathlib import Path

import polars as pl
import pytest

import noren
from noren.data.formats.parquet import parquet_names, parquet_parts, parquet_rows
from noren.errors import FileError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six rows in four files, one of them empty, under Hive-style names."""
    rows = noren.sample(customers=3, rows=6, items=5, seed=1).frame
    for place, first, last in (("month=1/b", 2, 3), ("month=1/a", 0, 2), ("month=2/c", 3, 6), ("month=2/d", 6, 6)):
        path = tmp_path / "in" / f"{place}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows[first:last].write_parquet(path)
    (tmp_path / "in" / "_SUCCESS").touch()
    return tmp_path / "in"


def test_rows_in_the_order_of_paths(folder: Path) -> None:
    data = noren.read(folder, "sample")
    assert data.lines().to_list() == noren.sample(customers=3, rows=6, items=5, seed=1).lines().to_list()
    assert parquet_rows(folder) == 6
    assert parquet_names(folder)[-1] == "month"


def test_names_of_folders_are_a_column(folder: Path) -> None:
    schema = noren.Schema.of(
        {"columns": {"customer": {"role": "customer"}, "month": {"role": "quantity", "type": "integer"}}}
    )
    assert noren.read(folder, schema).frame["month"].to_list() == [1, 1, 1, 2, 2, 2]


def test_a_guess_reads_it_too(folder: Path) -> None:
    assert len(noren.read(folder, kind=noren.Schema.preset("sample").kind, customer="customer")) == 6


def test_without_its_marker(folder: Path) -> None:
    (folder / "_SUCCESS").unlink()
    with pytest.raises(FileError, match="the folder has no file _SUCCESS, so it may be incomplete"):
        noren.read(folder, "sample")


def test_mixed_schemas(folder: Path) -> None:
    path = folder / "month=2" / "c.parquet"
    pl.read_parquet(path).with_columns(pl.col("price").cast(pl.String)).write_parquet(path)
    with pytest.raises(FileError, match=r"column price: .* have different columns: text and"):
        noren.read(folder, "sample")


def test_a_column_that_one_file_lacks(folder: Path) -> None:
    path = folder / "month=2" / "c.parquet"
    pl.read_parquet(path).drop("price").write_parquet(path)
    with pytest.raises(FileError, match=r"column price: .* have different columns: none and"):
        parquet_parts(folder)


def test_a_damaged_file(folder: Path) -> None:
    (folder / "month=2" / "c.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(FileError, match=r"c.parquet: this is not a readable Parquet file"):
        noren.read(folder, "sample")


def test_a_release_is_no_such_folder(tmp_path: Path) -> None:
    history = noren.sample(customers=6, rows=30, items=5, seed=1)
    noren.protect(history, "pseudonymize", seed=1).save(tmp_path / "release")
    with pytest.raises(FileError, match="this is a folder"):
        noren.read(tmp_path / "release", "sample")
