"""Tables of counts and sums from the command line, and beside a published release."""

import polars as pl
import pytest
from tests.cli.conftest import SCHEMA

from noren.tabulations.tabulation import read_tables


def test_totals_are_written_into_a_folder(noren, small_csv, tmp_path) -> None:
    answer = noren("totals", small_csv, *SCHEMA, "--k", 2, "--p", 5, "--out", tmp_path / "totals", "--json")
    assert set(answer.json["tables"]) == {"item-quarter", "month", "rfm"}
    tables = {table.name: table for table in read_tables(tmp_path / "totals")}
    assert tables["month"].notes == answer.json["tables"]["month"]["notes"] == {"kind": "exact", "k": 2, "p": 5.0}
    assert answer.json["tables"]["rfm"]["suppressed"] == tables["rfm"].frame["customers"].null_count()
    again = noren("totals", small_csv, *SCHEMA, "--tables", "rfm", "--out", tmp_path / "totals")
    assert (again.code, "--force" in again.err) == (2, True)
    wrong = noren("totals", small_csv, *SCHEMA, "--k", 0, "--out", tmp_path / "none")
    assert (wrong.code, (tmp_path / "none").exists()) == (2, False)


def test_both_tables_of_a_shop_with_categories_are_warned_of(noren, small, small_csv, tmp_path) -> None:
    names = small["item"].cast(pl.String).unique().sort()
    pl.DataFrame({"item": names, "category": "all"}).write_csv(tmp_path / "categories.csv")
    words = ["totals", small_csv, *SCHEMA, "--categories", tmp_path / "categories.csv"]
    answer = noren(*words, "--out", tmp_path / "safe")
    assert (answer.code, "rare items" in answer.err) == (0, False)
    assert [table.name for table in read_tables(tmp_path / "safe")] == ["month-category", "rfm"]
    both = noren(*words, "--tables", "month-category,item-quarter", "--out", tmp_path / "both")
    assert both.code == 0
    assert "publish month-category or item-quarter, not both" in both.err
    assert len(read_tables(tmp_path / "both")) == 2


def test_counts_of_people_are_noisy_and_domains_are_declared(noren, tmp_path) -> None:
    pytest.importorskip("opendp")
    (tmp_path / "people.toml").write_text(
        'name = "survey"\nkind = "table"\n[columns]\nsex = { role = "quasi", domain = ["f", "m"] }\n'
        'age = { role = "quasi", type = "integer" }\n'
    )
    pl.DataFrame({"sex": ["f", "m"] * 200, "age": [20, 30, 40, 50] * 100}).write_csv(tmp_path / "people.csv")
    words = ["dp-counts", tmp_path / "people.csv", "--columns", "age=25..55:10,sex", "--columns", "sex"]
    answer = noren(*words, "--schema", tmp_path / "people.toml", "--epsilon", 4, "--out", tmp_path / "counts")
    assert answer.code == 0
    tables = {table.name: table for table in read_tables(tmp_path / "counts")}
    assert tables["age-sex"].frame["rows"].sum() == 400
    assert sum(table.notes["epsilon"] for table in tables.values()) == pytest.approx(4)
    guessed = noren(*words, "--rows", "people", "--out", tmp_path / "none")
    assert guessed.code == 2
    assert "not private" in guessed.err
    wrong = noren(*words, "--contributions", "rows=many", "--out", tmp_path / "none")
    assert wrong.code == 2
    assert "rows=20,quantity=500" in wrong.err


def test_totals_are_published_beside_a_release(noren, small_csv, tmp_path) -> None:
    release, totals, out = tmp_path / "release", tmp_path / "totals", tmp_path / "public"
    noren("protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--out", release)
    noren("totals", small_csv, *SCHEMA, "--k", 3, "--out", totals)
    publish = ["publish", release, "--rule", "inside", "--totals", totals, "--out", out]
    assert noren(*publish).code == 0
    assert [table.name for table in read_tables(out / "totals")] == [table.name for table in read_tables(totals)]
    card = (out / "card.en.md").read_text(encoding="utf-8")
    assert "at least 3 customers in each cell" in card
    assert "保護の方法" in (out / "card.ja.md").read_text(encoding="utf-8")
    # what was published is replaced, a folder with a file of one's own is not
    assert noren(*publish, "--force").code == 0
    (out / "totals" / "mine.csv").write_text("a\n")
    assert noren(*publish, "--force").code == 2
    # two customers in a cell are fewer than the rule needs alike
    noren("totals", small_csv, *SCHEMA, "--k", 2, "--out", tmp_path / "two")
    few = noren(*publish[:5], tmp_path / "two", "--out", tmp_path / "other")
    assert few.code == 1
    assert "make the totals with --k 3" in few.err


def test_totals_by_k_need_the_original(small, tmp_path) -> None:
    import noren as package
    from noren.errors import ParameterError

    release = package.protect(small, "generalize-by-count", k=3)
    release.publish(tmp_path / "public", "inside", totals=3)
    assert {table.notes["k"] for table in read_tables(tmp_path / "public" / "totals")} == {3}
    with pytest.raises(ParameterError, match="publish to a folder"):
        release.publish(tmp_path / "rows.csv", "inside", totals=3)
