"""``noren hierarchy``: from a column to a file that the method reads, and all problems of many files."""

from pathlib import Path

import polars as pl
import pytest

PEOPLE = (
    "age,city,canton,born,illness\n20,Bern,BE,1989-01-07,flu\n27,Thun,BE,1989-01-08,cold\n31,Genf,GE,2001-02-03,flu\n"
    "38,Genf,GE,2001-02-04,flu\n"
)
SCHEMA = """kind = "table"
[columns.age]
role = "quasi"
type = "integer"
[columns.city]
role = "quasi"
[columns.canton]
role = "other"
[columns.born]
role = "quasi"
type = "date"
[columns.illness]
role = "sensitive"
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "people.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path / "people.csv"


def test_from_columns_to_a_release(noren, people, tmp_path) -> None:
    schema = ("--schema", tmp_path / "people.toml")
    folder = tmp_path / "hierarchies"
    for column, by, words in (
        ("age", "widths", "10,20"), ("city", "column", "canton"), ("born", "dates", "era-year,era"),
    ):  # fmt: skip
        out = folder / f"{column}.csv"
        answer = noren(
            "hierarchy", "build", people, *schema, "--column", column, "--by", by, "--with", words, "--out", out
        )
        assert answer.code == 0, answer.err
        assert f"written to {out}" in answer.err
    assert (folder / "city.csv").read_text(encoding="utf-8") == "Bern;BE;*\nGenf;GE;*\nThun;BE;*\n"
    assert "1989/1/7;昭和64年;昭和;*\n1989/1/8;平成元年;平成;*\n" in (folder / "born.csv").read_text(encoding="utf-8")
    assert noren("hierarchy", "check", folder, "--data", people, *schema).code == 0
    method = ("--method", "hierarchy", "--k", 2, "--hierarchies", folder, "--seed", 1, "--out", tmp_path / "release")
    answer = noren("protect", people, *schema, *method)
    assert answer.code == 0, answer.err
    public = pl.read_parquet(tmp_path / "release" / "public.parquet")
    assert public.group_by("age", "city", "born").len()["len"].min() >= 2  # type: ignore[operator]


def test_a_look_before_it_is_kept(noren, people, tmp_path) -> None:
    words = ("hierarchy", "build", people, "--column", "city", "--by", "frequency", "--with", "2")
    answer = noren(*words, "--json")
    assert answer.code == 0, answer.err
    assert answer.json == {
        "column": "city",
        "by": "frequency",
        "out": None,
        "values": 3,
        "levels": [
            {"labels": 3, "smallest": 1, "examples": [["Genf", 2], ["Bern", 1], ["Thun", 1]]},
            {"labels": 2, "smallest": 2, "examples": [["other", 2], ["Genf", 2]]},
            {"labels": 1, "smallest": 4, "examples": [["*", 4]]},
        ],
    }
    shown = noren(*words)
    assert "Rows of the rarest" in shown.out
    assert "nothing was written" in shown.err


def test_a_hierarchy_is_replaced_with_force_and_nothing_else_is(noren, people, tmp_path) -> None:
    out = tmp_path / "city.csv"
    out.write_text("mine")
    words = ("hierarchy", "build", people, "--column", "city", "--out", out)
    answer = noren(*words)
    assert (answer.code, out.read_text()) == (2, "mine")
    assert "city.csv already exists; choose another path, or add --force to replace it" in answer.err
    answer = noren(*words, "--force")
    assert (answer.code, out.read_text()) == (2, "mine")
    assert "city.csv is not a hierarchy and is not replaced; name another file" in answer.err
    out.write_text("Bern;CH;*\n")
    assert noren(*words, "--force").code == 0
    assert out.read_text() == "Bern;*\nGenf;*\nThun;*\n"


def test_groups_of_a_file(noren, people, tmp_path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text('{"german": ["Bern", "Thun"], "french": ["Genf"]}', encoding="utf-8")
    words = ("hierarchy", "build", people, "--column", "city", "--by", "groups", "--with")
    answer = noren(*words, groups, "--out", tmp_path / "city.csv")
    assert answer.code == 0, answer.err
    assert (tmp_path / "city.csv").read_text() == "Bern;german;*\nGenf;french;*\nThun;german;*\n"
    missing = noren(*words, tmp_path / "nowhere.json")
    assert missing.code == 2
    assert "nowhere.json" in missing.err
    latin = tmp_path / "latin.csv"
    latin.write_bytes("Bern;Bärn".encode("latin-1"))
    assert "the file is not UTF-8" in noren(*words, latin).err


def test_all_columns_into_a_folder(noren, people, tmp_path) -> None:
    schema = ("--schema", tmp_path / "people.toml")
    answer = noren("hierarchy", "build", people, *schema, "--out", tmp_path / "all", "--json")
    assert answer.code == 0, answer.err
    assert [one["column"] for one in answer.json["hierarchies"]] == ["age", "city", "born"]
    assert sorted(file.name for file in (tmp_path / "all").iterdir()) == ["age.csv", "born.csv", "city.csv"]
    again = noren("hierarchy", "build", people, *schema, "--out", tmp_path / "all")
    assert again.code == 2
    assert "age.csv already exists" in again.err
    alone = noren("hierarchy", "build", people, "--by", "widths")
    assert alone.code == 2
    assert "--column is missing; add it, such as --column age" in alone.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--column", "nowhere"), "nowhere"),
        (("--column", "city", "--by", "colum"), "did you mean column?"),
        (("--column", "canton", "--by", "column", "--with", "city"), "'BE' (Bern 1, Thun 1)"),
        (("--column", "city", "--by", "postcode"), "postcode cannot group these values: 'Bern'"),
    ],
)
def test_wrong_words_are_one_line(noren, people, words, said) -> None:
    answer = noren("hierarchy", "build", people, *words)
    assert answer.code == 2
    assert said in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_all_problems_of_all_files(noren, people, tmp_path) -> None:
    (tmp_path / "age.csv").write_text("20;young;*\n27;young;*\n27;old;*\n31;old\n", encoding="utf-8")
    (tmp_path / "city.csv").write_text("Bern;Genf;*\nGenf;Bern;*\n", encoding="utf-8")
    (tmp_path / "canton.csv").write_text("BE;*\n", encoding="utf-8")
    files = [tmp_path / f"{name}.csv" for name in ("age", "city", "canton")]
    answer = noren("hierarchy", "check", *files, "--data", people)
    assert answer.code == 2
    assert answer.out.splitlines() == [
        "age.csv, row 4, '31;old': this row has 2 levels, the first one 3; give every value a label on every level",
        "age.csv, row 3, '27': the value is listed twice with different labels; list each value once",
        "age.csv is not valid. Problems: 2",
        "city.csv, row 1, 'Bern': the hierarchy is circular: Bern → Genf → Bern; make labels wider from level to level",
        "city.csv is not valid. Problems: 1",
        "canton.csv, column canton, 'GE': the data has this value (2 rows, the first is row 3) "
        "but the file does not list it; add a row for it",
        "canton.csv is not valid. Problems: 1",
    ]
    as_json = noren("hierarchy", "check", *files, "--data", people, "--json")
    assert (as_json.code, as_json.json["valid"]) == (2, False)
    assert [len(one["problems"]) for one in as_json.json["files"]] == [2, 1, 1]
    few = noren("hierarchy", "check", files[0], "--limit", 1)
    assert few.out.endswith("\n…\nage.csv is not valid. Problems: 2\n")


def test_builders_are_listed(noren) -> None:
    answer = noren("hierarchy", "builders", "--json")
    assert {"widths", "dates", "municipality", "similarity", "column"} <= {one["by"] for one in answer.json["builders"]}
    assert "--with" in noren("hierarchy", "builders").out
