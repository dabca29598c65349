"""Many files of hierarchies at once: every problem of every file, also beside the data."""

from pathlib import Path

import pytest

from noren.data.frames import Table
from noren.data.hierarchies.levels import CheckedFile, check_files, check_hierarchy, files_in
from noren.data.reading import read
from noren.data.schema import Schema
from noren.errors import FileError

PEOPLE = Table.of(
    {"age": [20, 31, 31], "city": ["Bern", "?", "Genf"]},
    Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}, "city": {"role": "quasi"}}}),
)


def written(folder: Path, **files: str) -> list[Path]:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return [folder / f"{name}.csv" for name in files]


def told(found: CheckedFile) -> list[str]:
    return [problem.sentence() for problem in found.problems]


def test_every_problem_of_a_file_is_told(tmp_path: Path) -> None:
    lines = ["a;x;p;*", "b;x;q;*", "c;y", "d;;r;*", "a;z;p;*", "e;f;g;*", "h;g;f;*", "a;x;p;*"]
    (file,) = written(tmp_path, a="\n".join(lines))
    assert [(one.row, one.value, one.rule) for one in check_hierarchy(file).problems] == [
        (3, "c;y", "this row has 2 levels, the first one 4"),
        (4, "d;;r;*", "level 1 is empty"),
        (5, "a", "the value is listed twice with different labels"),
        (2, "b", "above 'x' on level 1 is 'q' here and 'p' in row 1"),
        (6, "f", "the hierarchy is circular: f → g → f"),
    ]


def test_several_circles_are_told_one_by_one(tmp_path: Path) -> None:
    (file,) = written(tmp_path, a="a;b;c;*\nd;c;b;*\ne;f;g;*\nh;g;f;*\n")
    circles = [one.rule for one in check_hierarchy(file).problems]
    assert len(circles) == 2
    assert all("the hierarchy is circular: " in rule for rule in circles)


def test_lines_that_agree_are_accepted(tmp_path: Path) -> None:
    (file,) = written(tmp_path, age="20;young;*\n20;young;*\n31;old;*\n")
    assert check_hierarchy(file).problems == ()


def test_many_files_beside_the_data(tmp_path: Path) -> None:
    files = written(tmp_path, age="020;young;*\n20;young;*\n", my_city="Bern;CH;*\nBern;DE;*\n", other="x;*\n")
    files.append(tmp_path / "nowhere.csv")
    age, city, other, nowhere = check_files(files, PEOPLE)
    # 020 is the number 20, and agrees with it; ? says that a cell is empty
    assert told(age) == [
        "column age, '31': the data has this value (2 rows, the first is row 2) but the file does not list it; "
        "add a row for it"
    ]
    assert (city.column, told(city)) == ("city", ["row 2, 'Bern': the value is listed twice with different labels; "
                                                  "list each value once"])  # fmt: skip
    assert told(other) == ["the file name matches no column of the data; name each file after its column: age.csv"]
    assert len(nowhere.problems) == 2
    assert told(nowhere)[0] == "there is no such file; check the path"


def test_two_files_for_one_column_and_numbers_with_two_spellings(tmp_path: Path) -> None:
    files = written(tmp_path, age="20;a;*\n31;a;*\n", my_age="20;a;*\n020;b;*\n31;a;*\n")
    first, second = check_files(files, PEOPLE)
    assert told(first) == ["the column age has several hierarchies: age.csv, my_age.csv; keep one"]
    assert told(second)[0] == told(first)[0]
    assert "the value is listed twice with different labels" in told(second)[1]


def test_a_column_may_be_named_and_levels_bounded(tmp_path: Path) -> None:
    (file,) = written(tmp_path, ages="20;a;*\n31;a;*\n")
    assert check_files([file], PEOPLE, column="age")[0].problems == ()
    assert told(check_files([file], PEOPLE, column="born")[0]) == [
        "the data has no column 'born'; its columns are age, city"
    ]
    assert "this row has 3 levels, more than 2" in told(check_files([file], most_levels=2)[0])[0]


def test_a_last_level_of_several_labels_is_noted(tmp_path: Path) -> None:
    (file,) = written(tmp_path, age="20;young\n31;old\n")
    found = check_files([file], PEOPLE)[0]
    assert (found.problems, found.notes) == (
        (),
        ("the last level has several labels, so some rows may stay different; end each row with *",),
    )


def test_a_folder_means_its_files(tmp_path: Path) -> None:
    files = written(tmp_path, a="x;*\n", b="y;*\n")
    assert files_in([tmp_path]) == files
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="there are no hierarchies"):
        files_in([tmp_path / "empty"])


def test_the_files_of_arx_are_fine(shared: Path) -> None:
    found = check_files(
        files_in([shared / "data" / "adult_hierarchies"]), read(shared / "data" / "adult.data", "adult").data
    )
    assert [(one.file.name, told(one)) for one in found if one.problems] == []
    assert len(found) == 9
