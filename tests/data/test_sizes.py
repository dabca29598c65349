"""What a file decodes to, told before it is read."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from noren.data import reading
from noren.data.formats import source
from noren.data.formats.source import decoded_size, limit_decoded_size
from noren.data.reading import read
from noren.errors import FileError


def test_rows_that_repeat_are_counted_as_they_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame(
        {"n": pl.repeat(7, 3_000_000, dtype=pl.Int64, eager=True), "t": pl.repeat("x", 3_000_000, eager=True)}
    )
    frame.write_parquet(path)
    assert path.stat().st_size < 100_000
    assert decoded_size(path) == (3_000_000 * (8 + 16), 3_000_000)  # a whole number, and a view of a text
    limit_decoded_size(path, 72_000_000)
    with pytest.raises(FileError, match="the file decodes to more than 71,999,999 bytes"):
        limit_decoded_size(path, 71_999_999)


def test_texts_are_as_long_as_their_pages(tmp_path: Path) -> None:
    pl.DataFrame({"note": [f"{i:0>1000}" for i in range(100)]}).write_parquet(tmp_path / "long.parquet")
    assert 100_000 <= decoded_size(tmp_path / "long.parquet")[0] < 110_000


def test_every_part_of_a_nested_column_counts(tmp_path: Path) -> None:
    pl.DataFrame({"b": [{"x": 1.0, "y": 2.0}] * 1000}).write_parquet(tmp_path / "nested.parquet")
    assert 2 * 1000 * 8 <= decoded_size(tmp_path / "nested.parquet")[0] < 17_000


@pytest.mark.parametrize("content", [b"PAR1nothing", gzip.compress(b"a" * 99, mtime=0)[:-9]])
def test_damage_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileError, match=r"damaged|not a readable Parquet file"):
        decoded_size(tmp_path / "x")


def test_compressed_text_is_counted_no_further_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 1_000_000))
    assert decoded_size(path)[0] == 8_000_000
    with pytest.raises(FileError, match="the file decodes to more than 1,000,000 bytes; split it"):
        limit_decoded_size(path, 1_000_000)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n")
    assert decoded_size(tmp_path / "t.csv")[0] == 8


def test_a_workbook_is_counted_by_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    pl.DataFrame({"a": ["x" * 100] * 5000, "b": range(5000)}).write_excel(path)
    assert decoded_size(path)[0] > 2 * path.stat().st_size
    with pytest.raises(FileError, match="more than 1,000 bytes"):
        limit_decoded_size(path, 1000)


def test_reading_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"a": [1] * 10}).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(reading, "limit_decoded_size", lambda path: source.limit_decoded_size(path, 50))
    with pytest.raises(FileError, match=r"t\.parquet: the file decodes to more than 50 bytes"):
        read(tmp_path / "t.parquet")
