"""A source is looked at once, however many ask what it is."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from noren.api import sample
from noren.data.formats.source import Source
from noren.data.formats.workbooks import excel_sheet
from noren.data.reading import write
from noren.errors import FileError

COUNTING = """
import os, sys
import polars, pyarrow, pyarrow.parquet
from noren.cli import main

path, opened = os.path.realpath(sys.argv[1]), []

def note(given):
    if isinstance(given, (str, bytes, os.PathLike)) and os.path.realpath(os.fsdecode(given)) == path:
        opened.append(given)

def noted(function):
    return lambda given, *rest, **more: (note(given), function(given, *rest, **more))[1]

sys.addaudithook(lambda event, about: note(about[0]) if event == "open" else None)
# native code opens files that Python does not hear of
natives = {pyarrow: ("OSFile", "memory_map"), polars: ("read_csv", "scan_csv"), pyarrow.parquet: ("ParquetFile",)}
for module, names in natives.items():
    for name in names:
        setattr(module, name, noted(getattr(module, name)))
try:
    main(sys.argv[2:])
finally:
    print("opened", len(opened))
"""


def test_a_command_opens_its_input_a_few_times(tmp_path: Path) -> None:
    path = tmp_path / "S.csv"
    write(sample(customers=50, rows=600, items=80, seed=1), path)
    command = ["protect", str(path), "--method", "generalize-by-count", "--k", "3", "--out", str(tmp_path / "release")]
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, str(path), *command], capture_output=True, text=True, check=True
    )
    count = int(done.stdout.split()[-1])
    # what kind it is, all of its bytes, the first rows to guess by, all rows
    assert 1 < count <= 4


@pytest.mark.parametrize(
    ("name", "content", "kind", "compressed"),
    [
        ("a.csv", b"a,b\n1,2\n", "text", False),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "text", True),
        ("a.csv", b"PAR1", "parquet", False),
        ("a", b"PK\x03\x04....", "excel", False),
        ("a.csv", b"PK\x03\x04....", "text", False),
        ("a.xls", b"a\tb\n", "text", False),
        ("a.xlsx", b"a\tb\n", "excel", False),
    ],
)
def test_the_first_bytes_tell_the_kind(tmp_path: Path, name: str, content: bytes, kind: str, compressed: bool) -> None:
    (tmp_path / name).write_bytes(content)
    source = Source.open(tmp_path / name)
    assert (source.kind, source.compressed, source.size) == (kind, compressed, len(content))
    assert Source.open(source) is source
    assert repr(source) == f"Source({str(tmp_path / name)!r}, {kind})"


def test_what_was_found_outlasts_the_file(tmp_path: Path) -> None:
    text, book = tmp_path / "t.csv", tmp_path / "t.xlsx"
    text.write_text("a,b\n1,2\n")
    pl.DataFrame({"a": [1, 3], "b": [2, 4]}).write_excel(book)
    sources = [Source.open(path) for path in (text, book)]
    form, sheet = sources[0].text_form(), excel_sheet(sources[1])
    text.unlink()
    book.unlink()
    assert sources[0].text_form() is form
    assert excel_sheet(sources[1], "Sheet1", ("b",)).frame is sheet.frame
    with pytest.raises(FileError, match="there is no such file"), sources[0].unpacked():
        pass


def test_a_folder_of_parquet_files_has_no_bytes(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    source = Source.open(tmp_path)
    assert source.kind == "parquet"
    with pytest.raises(FileError, match="this is a folder; name a file in it"), source.unpacked():
        pass
    (tmp_path / "statement.json").touch()  # a release: its secret part must not be mixed with the public one
    with pytest.raises(FileError, match="this is a folder"):
        Source.open(tmp_path)
