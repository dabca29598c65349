"""No CSV file or sheet that Noren writes makes a spreadsheet compute something, and each is read back as it was."""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import noren
from noren.data.categories import Categories, read_categories, write_categories
from noren.data.formats.text_layout import neutral, neutral_cells, plain, plain_cells
from noren.data.frames import History, Table
from noren.data.hierarchies.levels import Hierarchy, read_hierarchy, write_hierarchy
from noren.data.reading import read, write
from noren.data.schema import Schema

SIGNS = ("=", "+", "-", "@", "\t", "\r")
ODD = ["=HYPERLINK(1)", "+cmd|'/C calc'!A0", "-x", "@SUM(A1)", "\tx", "'=x", "''-x", "x=1", "'x", "-"]
PEOPLE = Schema.of({"kind": "table", "columns": {"=name": {}, "balance": {"role": "quasi", "type": "integer"}}})


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@given(st.lists(st.text(st.sampled_from("=+-@\t\r'1.e a;"), max_size=6), min_size=1, max_size=8))
def test_every_text_is_given_back(texts: list[str]) -> None:
    frame = pl.DataFrame({"x": texts})
    written = neutral_cells(frame)
    assert plain_cells(written).equals(frame)
    assert [plain(neutral(text)) for text in texts] == texts
    for text in written["x"]:
        assert not text.startswith(SIGNS) or re.fullmatch(r"[+-][0-9.][0-9.,:/ %+-]*(e[+-]?[0-9]+)?", text)


def test_a_table_is_read_back(tmp_path: Path) -> None:
    people = Table.of({"=name": ODD, "balance": [-5, *range(len(ODD) - 1)]}, PEOPLE)
    write(people, tmp_path / "t.csv")
    header, first, *rest = cells(tmp_path / "t.csv")
    assert header == ["'=name", "balance"]
    assert first == ["'=HYPERLINK(1)", "-5"]
    assert not any(row[0].startswith(SIGNS) for row in rest)
    for schema in (PEOPLE, None):
        again = read(tmp_path / "t.csv", schema).data
        assert again.frame.to_dict(as_series=False) == people.frame.to_dict(as_series=False)


def test_a_release_keeps_its_numbers(tmp_path: Path) -> None:
    rows = {"=name": ["=a", "=a", "-b", "-b"], "balance": [-5, -5, -7, -9]}
    schema = PEOPLE.model_copy(
        update={"columns": tuple(c.model_copy(update={"role": "quasi"}) for c in PEOPLE.columns)}
    )
    release = noren.protect(Table.of(rows, schema), "mondrian", k=2, seed=1)
    write(release.public, tmp_path / "public.csv")
    assert sorted(cells(tmp_path / "public.csv")[1:]) == [["'-b", "[-9;-7]"]] * 2 + [["'=a", "-5"]] * 2


def test_contest_files_stay_byte_exact(tmp_path: Path) -> None:
    content = "c1,2010/12/1,=x,2.10,1\nc2,2010/12/1,'@y,3,1\n"
    (tmp_path / "T.csv").write_text(content, encoding="utf-8")
    data = read(tmp_path / "T.csv", "pwscup2018").data
    assert isinstance(data, History)
    assert data.frame["item"].cast(pl.String).to_list() == ["=x", "'@y"]
    write(data, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == content


def test_categories_and_hierarchies(tmp_path: Path) -> None:
    shelf = Categories({"=x": "c1", "-3": "c1", "@y": "c2"}, {"c1": "=one", "c2": "two"})
    assert read_categories(write_categories(shelf, tmp_path / "c.csv")) == shelf
    ages = Hierarchy.of("x", [("=1", "-10--6", "*"), ("-5", "-5--1", "*")])
    path = write_hierarchy(ages, tmp_path / "x.csv")
    assert path.read_text(encoding="utf-8") == "'=1;-10--6;*\n-5;-5--1;*\n"
    assert read_hierarchy(path).labels.equals(ages.labels)


def test_sheets_hold_texts(tmp_path: Path) -> None:
    write(Table.of({"=name": ODD, "balance": range(len(ODD))}, PEOPLE), tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
    assert read(tmp_path / "t.xlsx", PEOPLE).data.frame["=name"].to_list() == ODD


def test_every_writer_goes_through_one_function() -> None:
    root = Path(noren.__file__).parent
    writers = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"write_csv\(|csv\.writer\(", text := path.read_text(encoding="utf-8")) and "neutral" not in text
    }
    assert writers == {"sweeps/plan.py"}  # bytes for a digest
