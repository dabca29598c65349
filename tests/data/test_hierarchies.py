"""Hierarchies come and go as ARX writes them, and contradictions are named."""

import datetime as dt
from pathlib import Path

import pytest

from noren.data.hierarchies import (
    Hierarchy,
    date_hierarchy,
    hierarchy_file_name,
    interval_hierarchy,
    mask_hierarchy,
    read_hierarchies,
    read_hierarchy,
    write_hierarchy,
)
from noren.errors import FileError, FormatError, InputError, ParameterError

EDUCATION = "Bachelors;Undergraduate;Higher;*\nMasters;Graduate;Higher;*\n11th;School;Secondary;*\n"


def written(folder: Path, text: str, name: str = "education.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_file_is_read_and_written_back(tmp_path: Path) -> None:
    path = written(tmp_path, EDUCATION)
    hierarchy = read_hierarchy(path)
    assert (hierarchy.name, hierarchy.depth, hierarchy.values.to_list()) == (
        "education",
        4,
        ["Bachelors", "Masters", "11th"],
    )
    assert hierarchy.labels["2"].to_list() == ["Higher", "Higher", "Secondary"]
    write_hierarchy(hierarchy, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == EDUCATION


def test_quotes_marks_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"a;b";"x";*\r\n\r\nc;x;*')
    assert read_hierarchy(path).labels.rows() == [("a;b", "x", "*"), ("c", "x", "*")]
    write_hierarchy(read_hierarchy(path), tmp_path / "b.csv")
    assert read_hierarchy(tmp_path / "b.csv").labels.rows() == read_hierarchy(path).labels.rows()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;x;*\nb;x\n", r"row 2, 'b;x': this row has 2 levels, the first one 3"),
        ("a;x;*\nb;;*\n", r"row 2, 'b;;\*': level 1 is empty; give every value"),
        ("a;x;*\nb;x;*\na;y;*\n", r"row 3, 'a': the value is listed twice with different labels"),
        ("a;x;*\na;x;*\nb;x;*\nb;y;*\n", r"row 4, 'b': the value is listed twice with different labels"),
        ("a;x;p;*\nb;x;q;*\n", r"row 2, 'b': above 'x' on level 1 is 'q' here and 'p' in row 1"),
        ("a;b;a\n", r"'a': the hierarchy is circular: a → b → a"),
        ("a;b;c;*\nd;c;b;*\n", r"the hierarchy is circular"),
        ("", "the file has no rows"),
        ('a;"x;*\n', "the hierarchy cannot be read"),
    ],
)
def test_what_contradicts_itself_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as stopped:
        read_hierarchy(written(tmp_path, text))
    assert "education.csv" in str(stopped.value)


def test_a_line_repeated_as_it_is_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("20;young;*\n20;young;*\n50;old;*\n20;young;*\n", encoding="utf-8")
    assert read_hierarchy(path).labels.rows() == [("20", "young", "*"), ("50", "old", "*")]


def test_a_label_may_stay_itself_for_some_levels() -> None:
    assert Hierarchy.of("race", [("White", "White", "*"), ("Black", "other", "*")]).depth == 3


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("å;*".encode("latin-1"))
    with pytest.raises(FormatError, match="not UTF-8"):
        read_hierarchy(tmp_path / "a.csv")


def test_a_folder_gives_each_column_its_file(tmp_path: Path) -> None:
    written(tmp_path, "1;*\n", "age.csv")
    written(tmp_path, "b;*\n", "adult_hierarchy_marital-status.csv")
    found = read_hierarchies(tmp_path, ["age", "marital-status", "status", "race"])
    assert {name: hierarchy.values.to_list() for name, hierarchy in found.items()} == {
        "age": ["1"],
        "marital-status": ["b"],
    }
    written(tmp_path, "1;*\n", "my_age.csv")
    with pytest.raises(FileError, match=r"the column age has several hierarchies: age\.csv, my_age\.csv"):
        read_hierarchies(tmp_path, ["age"])
    with pytest.raises(FileError, match=r"has no hierarchy for race.*race\.csv"):
        read_hierarchies(tmp_path, ["race"])
    with pytest.raises(FileError, match="there are no hierarchies; name CSV files, or a folder"):
        read_hierarchies(tmp_path / "nowhere", ["age"])


@pytest.mark.parametrize(
    "column", ["../../x", "..", "a/b", "a\\b", "a\0b", ".hidden", " a ", "x%2Fy", "a.b", "<b>", "年齢", "*"]
)
def test_every_name_has_a_file_inside_the_folder(tmp_path: Path, column: str) -> None:
    name = hierarchy_file_name(column, ["x", "age"])
    assert name is not None
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()
    write_hierarchy(Hierarchy.of_values(column, ["v"]), tmp_path / name)
    assert list(read_hierarchies(tmp_path, [column])) == [column]


def test_a_name_that_ends_as_another_is_not_taken_for_it(tmp_path: Path) -> None:
    columns = ["age", "my_age"]
    for column in columns:
        name = hierarchy_file_name(column, columns)
        assert name is not None
        write_hierarchy(Hierarchy.of_values(column, [column]), tmp_path / name)
    assert {c: h.values.to_list() for c, h in read_hierarchies(tmp_path, columns).items()} == {c: [c] for c in columns}


def test_a_name_too_long_for_a_file_has_none() -> None:
    assert hierarchy_file_name("a" * 196) == "a" * 196 + ".csv"
    assert hierarchy_file_name("a" * 197) is None


def test_intervals() -> None:
    assert interval_hierarchy("age", [-1, 0, 4, 5], [5, 10]).labels.rows() == [
        ("-1", "-5--1", "-10--1", "*"),
        ("0", "0-4", "0-9", "*"),
        ("4", "0-4", "0-9", "*"),
        ("5", "5-9", "0-9", "*"),
    ]
    with pytest.raises(ParameterError, match="ranges of 8 cannot be made of ranges of 5"):
        interval_hierarchy("age", [1], [5, 8])


def test_masks_of_values_of_different_length() -> None:
    assert mask_hierarchy("zip", ["12", "123"]).labels.rows() == [("12", "12*", "1**", "*"), ("123", "12*", "1**", "*")]


def test_dates_by_month_quarter_and_year() -> None:
    days = [dt.date(2010, 12, 31), dt.date(2011, 1, 1)]
    assert date_hierarchy("day", days).labels.rows() == [
        ("2010/12/31", "2010-12", "2010-Q4", "2010", "*"),
        ("2011/1/1", "2011-01", "2011-Q1", "2011", "*"),
    ]
