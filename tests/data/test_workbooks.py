"""Workbooks of every kind, Excel old and new and OpenDocument: the sheet that looks like data, below its titles."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import xlsxwriter

from noren.data.formats.workbooks import excel_sheet
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read
from noren.errors import FileError

ROWS: list[tuple[object, ...]] = [("who", "town", "age"), ("a", "Kyoto", 31), ("b", "Nara", 44), ("c", "Nara", 52)]


def book(path: Path, **sheets: list[tuple[object, ...]]) -> Path:
    with xlsxwriter.Workbook(str(path)) as workbook:
        for name, rows in sheets.items():
            page = workbook.add_worksheet(name)
            for i, row in enumerate(rows):
                page.write_row(i, 0, row)
    return path


def test_a_cover_is_passed_over_and_that_is_said(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", cover=[("Report",), (), ("made by us",)], people=[("People 2024",), (), *ROWS])
    found = guess_schema(path)
    assert found.notes[:2] == (
        "read as Excel (people), 3 columns, 3 rows; 2 lines above the table skipped",
        "other sheets were not read: cover",
    )
    assert found.schema.text.sheet == "people"
    data = read(path).data
    assert data.frame.rows() == [("a", "Kyoto", 31), ("b", "Nara", 44), ("c", "Nara", 52)]
    assert excel_sheet(path).first_row == 4


def test_the_first_table_is_read_unless_another_is_far_larger(tmp_path: Path) -> None:
    assert excel_sheet(book(tmp_path / "a.xlsx", one=ROWS, two=ROWS * 2)).name == "one"
    notes: list[tuple[object, ...]] = [("item", "note"), ("author", "x")]
    assert excel_sheet(book(tmp_path / "b.xlsx", notes=notes, two=ROWS * 20)).name == "two"
    assert excel_sheet(book(tmp_path / "c.xlsx", one=ROWS, two=ROWS * 2), "two").name == "two"
    assert excel_sheet(book(tmp_path / "d.xlsx", one=ROWS, two=[("x", "y"), (1, 2)]), None, ("x", "y")).name == "two"


def test_names_that_are_missing_or_repeated_are_made_up_and_said(tmp_path: Path) -> None:
    found = guess_schema(book(tmp_path / "t.xlsx", one=[("a", None, "a", "n"), ("x", 1, "y", 2), ("z", 3, "w", 4)]))
    assert found.schema.names == ("a", "column2", "a_2", "n")
    assert found.notes[1:3] == ("column 2 ('') is now named column2", "column 3 ('a') is now named a_2")


# --- OpenDocument ----------------------------------------------------------------------------------------------------


def ods(path: Path, rows: str) -> Path:
    spaces = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    spaces += 'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    spaces += 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
            f'<table:table table:name="people">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def ods_row(*cells: object, repeated: int = 1) -> str:
    written = "".join(
        f'<table:table-cell office:value-type="float" office:value="{c}"><text:p>{c}</text:p></table:table-cell>'
        if isinstance(c, int)
        else f'<table:table-cell office:value-type="string"><text:p>{c}</text:p></table:table-cell>'
        for c in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{written}</table:table-row>'


def test_an_open_document_is_read(tmp_path: Path) -> None:
    empty = '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    path = ods(tmp_path / "t.ods", "".join(ods_row(*row) for row in ROWS) + empty)
    assert read(path).data.frame.rows() == [("a", "Kyoto", 31), ("b", "Nara", 44), ("c", "Nara", 52)]


def test_an_open_document_that_repeats_a_cell_a_billion_times(tmp_path: Path) -> None:
    path = ods(tmp_path / "t.ods", ods_row(*range(100), repeated=1_000_000))
    with pytest.raises(FileError, match=r"the sheet content\.xml spans 100,000,000 cells"):
        read(path)


# --- the Excel of before 2007 ----------------------------------------------------------------------------------------


def xls(path: Path, rows: list[tuple[object, ...]]) -> Path:
    """Write a workbook of one sheet as Excel 97 did: records (BIFF8) in a stream of a compound file."""

    def record(kind: int, content: bytes = b"") -> bytes:
        return struct.pack("<HH", kind, len(content)) + content

    cells = b""
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if isinstance(cell, str):
                text = struct.pack("<HB", len(cell), 1) + cell.encode("utf-16-le")
                cells += record(0x0204, struct.pack("<HHH", i, j, 0) + text)
            else:
                cells += record(0x0203, struct.pack("<HHHd", i, j, 0, float(cell)))  # type: ignore[arg-type]
    begin = struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0)
    name = struct.pack("<BB", 6, 0) + b"people"
    head = len(record(0x0809, begin)) + len(record(0x0085, b"\0" * 6 + name)) + len(record(0x000A))
    stream = record(0x0809, begin) + record(0x0085, struct.pack("<IH", head, 0) + name) + record(0x000A)
    stream += record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
    stream += record(0x0200, struct.pack("<IIHHH", 0, len(rows), 0, len(rows[0]), 0)) + cells + record(0x000A)
    stream = stream.ljust(max(4096, -(-len(stream) // 512) * 512), b"\0")
    sectors = len(stream) // 512
    head_block = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    head_block += b"\0" * 6 + struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    head_block += struct.pack("<I", 0) + b"\xff" * (4 * 108)
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, sectors + 2), 0xFFFFFFFE]
    table = b"".join(struct.pack("<I", s) for s in chain).ljust(512, b"\xff")

    def entry(title: str, kind: int, child: int, start: int, size: int) -> bytes:
        written = (title + "\0").encode("utf-16-le")
        return (
            written.ljust(64, b"\0")
            + struct.pack("<HBBIII", len(written), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
            + b"\0" * 36
            + struct.pack("<IQ", start, size)
        )

    root = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, len(stream))
    path.write_bytes(head_block + table + root.ljust(512, b"\0") + stream)
    return path


def test_an_old_workbook_is_read(tmp_path: Path) -> None:
    path = xls(tmp_path / "t.xls", ROWS)
    assert guess_schema(path).notes[0] == "read as Excel (people), 3 columns, 3 rows"
    assert read(path).data.frame.rows() == [("a", "Kyoto", 31), ("b", "Nara", 44), ("c", "Nara", 52)]


def test_text_that_is_named_as_an_old_workbook_is_text(tmp_path: Path) -> None:
    (tmp_path / "t.xls").write_text("who\tage\na\t31\nb\t44\n")
    assert read(tmp_path / "t.xls").data.frame.rows() == [("a", 31), ("b", 44)]


def test_a_binary_workbook_says_what_to_do(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", b"\0")
    with pytest.raises(FileError, match=r"this is \.xlsb, not an Excel workbook \(\.xlsx\); save it as \.xlsx or CSV"):
        read(tmp_path / "t.xlsb")


# --- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_header_alone_ends_in_one_line_every_time(tmp_path: Path) -> None:
    """Readers that work in threads of their own must be done when the interpreter is: a crash is no answer."""
    path = tmp_path / "t.csv"
    path.write_text("customer,date,item\n")
    program = (
        "import sys\nfrom noren.data.reading import read\nfrom noren.errors import NorenError\n"
        "try:\n    read(sys.argv[1])\nexcept NorenError as error:\n    print(error)\n    sys.exit(2)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
        )
        for _ in range(6)
    ]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, err) == (2, b"")
        assert out.decode() == f"{path}: the file has no rows; give a file with at least one row\n"
