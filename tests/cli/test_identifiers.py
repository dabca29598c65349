"""``noren identifiers`` and ``noren population``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROWS = "age,town,illness\n20,Bern,flu\n20,Basel,flu\n30,Basel,cold\n30,Bern,flu\n"
SCHEMA = (
    '[columns]\nage = {role = "quasi", type = "integer"}\ntown = {role = "quasi"}\nillness = {role = "sensitive"}\n'
)


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "t.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "t.toml").write_text('name = "t"\nkind = "table"\n' + SCHEMA, encoding="utf-8")
    return str(tmp_path / "t.csv"), "--schema", str(tmp_path / "t.toml")


def test_identifiers(noren, table) -> None:
    found = noren("identifiers", *table, "--max-columns", 2, "--json").json
    best = found["sets"][0]
    assert (best["columns"], best["separation"], best["alone"], best["distinction"]) == (["age", "town"], 1.0, 1.0, 1.0)
    shown = noren("identifiers", *table, "--max-columns", 2, "--columns", "age,town")
    assert "age + town" in shown.out
    assert "illness" not in shown.out
    wrong = noren("identifiers", *table, "--columns", "weight")
    assert (wrong.code, wrong.out) == (2, "")


def test_population(noren, table) -> None:
    found = noren("population", *table, "--population", 400, "--json").json
    assert (found["alone"], found["chosen"], found["share"]) == (4, "zayatz", 1.0)
    shown = noren("population", *table, "--fraction", 0.01)
    assert "every row is unique" in shown.out.replace("\n", " ") or "every row" in shown.out
    wrong = noren("population", *table, "--population", 3)
    assert wrong.code == 2
    assert "a population of 3 is smaller than the table" in wrong.err


def test_rows_of_a_file_without_a_schema(noren, tmp_path) -> None:
    people = tmp_path / "t.csv"
    people.write_text(ROWS, encoding="utf-8")
    for words in (("identifiers", people, "--columns", "age,town"), ("population", people, "--population", 400)):
        answer = noren(*words, "--rows", "people", "--json")
        assert (answer.code, answer.json) == (0, noren(*words, "--json").json), answer.err
        refused = noren(*words, "--rows", "people", "--schema", "people")
        assert refused.code == 2
        assert "--rows and --schema exclude each other" in refused.err
    people.write_text("client,day,item\na1,2024-01-01,milk\na1,2024-01-02,tea\nb2,2024-01-01,tea\n", encoding="utf-8")
    for command in (("identifiers", people), ("population", people, "--population", 400)):
        refused = noren(*command, "--rows", "purchases")
        assert refused.code == 2
        assert "these are purchases; give a table with one row per person" in refused.err
    built = noren("hierarchy", "build", people, "--rows", "purchases", "--column", "item", "--json")
    assert [level["labels"] for level in built.json["levels"]] == [2, 1], built.err
