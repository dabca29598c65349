"""The page Data: what a file holds and what its columns mean, by program and by form."""

from __future__ import annotations

import copy
import html
from typing import Any

import pytest
from tests.studio.quiet import PEOPLE, SHOP, Quiet, fields_in, heading

from noren.api import sample
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.reports.profile import profile
from noren.studio.actions.projects import add_project
from noren.studio.forms.columns import problems_of, schema_of
from noren.studio.pages import data_parts
from noren.studio.pages.data_parts import unicity_context

# --- what is told ----------------------------------------------------------------------------------------------------


def test_an_empty_project_asks_for_a_file(quiet: Quiet) -> None:
    text = quiet.page(add_project(quiet.studio, name="Mine").id)
    assert heading(text) == "This project has no data yet; upload a file first."
    assert 'id="drop"' in text
    assert "Use a sample." in text


def test_a_history_is_told_as_a_finding(quiet: Quiet) -> None:
    text = quiet.page(quiet.upload(SHOP, "shop.csv"))
    assert heading(text) == "4 purchases by 3 customers between 2010/12/1 and 2011/3/9; 1 cell is empty"
    assert "read as UTF-8, delimiter &#39;,&#39;, 6 columns, with a header" in text
    assert "Half of the customers have at most 1 purchase; the maximum is 2" in text
    assert "Half of the customers bought in at most 1 month; the maximum is 1" in text
    assert "mostly tea (75.0%), mug (25.0%)" in text


def test_a_table_is_told_as_a_finding(quiet: Quiet) -> None:
    text = quiet.page(quiet.upload(PEOPLE, "people.csv"))
    assert heading(text) == "3 people in 5 columns, 3 of which are quasi-identifiers; no cell is empty"
    assert "The roles of the columns were guessed" in text
    assert "1990/5/17 to 2001/2/3" in text
    assert "all values differ, such as Ann" in text


def test_the_profile_is_the_librarys(quiet: Quiet) -> None:
    made = {"people": sample_people(4_000, seed=1), "history": sample(customers=400, rows=12_000, items=900, seed=1)}
    for name, records in made.items():
        project = add_project(quiet.studio, name=name, sample=name).id
        assert quiet.client.get(f"/api/v1/projects/{project}/profile").json() == profile(records)


def test_how_many_known_purchases_single_a_customer_out(quiet: Quiet) -> None:
    """Tea on one day three times, a mug by one of them: nobody is told apart by tea, and by two things the one is."""
    rows = "customer,date,item,price,quantity\n" + "".join(f"{who},2010/12/1,tea,1,1\n" for who in "abc")
    project = quiet.upload(rows + "c,2010/12/1,mug,1,1\n", "shop.csv")
    text = html.unescape(quiet.page(project))
    assert "2 known purchases single out 100% of the customers who have as many (2.5% – 100%); 33.3% have" in text
    assert "The attacker knows of a purchase: date (exact), item (exact). 3 of 3 customers were drawn at random" in text
    curve = quiet.client.get(f"/api/v1/projects/{project}/profile").json()["history"]["unicity"]["curve"]
    assert [(step["known"], step["tried"]) for step in curve] == [(1, 3), (2, 1)]


def test_of_one_customer_and_of_people_there_is_no_unicity(quiet: Quiet) -> None:
    alone = "customer,date,item,price,quantity\na,2010/12/1,tea,1,1\na,2010/12/2,tea,1,1\n"
    for content in (alone, PEOPLE):
        assert "unicity-title" not in quiet.page(quiet.upload(content))


def test_a_profile_made_before_has_no_unicity() -> None:
    assert unicity_context({"customers": 3}) is None
    assert unicity_context(None) is None


def test_bars_say_what_they_stand_for() -> None:
    bars = {"labels": ["a", "b", ""], "weights": [6.0, 3.0, 90.0], "others": True}
    drawn = data_parts.bars_drawn({"bars": bars}, 99)
    assert [bar["height"] for bar in drawn] == [40.0, 20.0]  # all others would dwarf them
    assert drawn[1]["text"] == "b: 3 rows (3.0%)"
    assert data_parts.bars_drawn({"bars": None}, 9) == []


def test_rows_are_shown_in_pages_as_the_command_line_writes_them(quiet: Quiet) -> None:
    rows = "".join(f"p{i},{i}.50,2010-12-{i % 28 + 1:02d}\n" for i in range(120))
    project = quiet.upload("name,score,day\n" + rows)
    text = quiet.page(project, "?start=50")
    assert "<td>50.5</td><td>2010/12/23</td>" in text
    assert "51 to 100 of 120" in text
    assert "p49<" not in text
    answer = quiet.client.get(f"/api/v1/projects/{project}/rows?start=119&count=5").json()
    assert answer == {
        "columns": ["name", "score", "day"],
        "start": 119,
        "total": 120,
        "rows": [["p119", "119.5", "2010/12/8"]],
    }


def test_both_languages_tell_the_questions_of_the_guess(quiet: Quiet) -> None:
    project = quiet.upload("id,when\nA,01/02/2010\nB,03/04/2010\n")
    assert "day first or month first?" in quiet.page(project)
    told = quiet.client.get(f"/projects/{project}/data", headers={"Accept-Language": "ja"}).text
    assert "日と月のどちらが先ですか" in told


# --- what columns mean -----------------------------------------------------------------------------------------------


def test_a_form_says_what_a_column_is_for(quiet: Quiet) -> None:
    project = quiet.upload(SHOP)
    fields = quiet.form(project)
    assert (fields["kind"], fields["role-0"], fields["role-5"], fields["type-3"]) == (
        "history",
        "customer",
        "",
        "decimal",
    )
    unanswered = quiet.post(project, "columns", **fields)
    assert unanswered.status_code == 422
    assert "What is “shelf” for?" in unanswered.text
    assert quiet.post(project, "columns", **fields | {"role-5": "other"}).status_code == 303
    text = quiet.page(project)
    assert "What is “shelf” for?" not in text
    assert fields_in(text)["role-5"] == "other"
    assert quiet.client.get(f"/api/v1/projects/{project}/schema").json()["content"]["columns"][5]["role"] == "other"


def test_what_was_typed_is_kept_on_an_error(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    typed = quiet.form(project) | {"minimum-1": "young", "domain-2": "8053\r\n8037\r\n9000", "optional-4": "yes"}
    answer = quiet.post(project, "columns", **typed)
    assert answer.status_code == 422
    assert "the bounds of a column of type integer are written like 0" in answer.text
    again = fields_in(answer.text)
    assert (again["minimum-1"], again["optional-4"]) == ("young", "yes")
    assert again["domain-2"].split() == ["8053", "8037", "9000"]


def test_rows_that_break_the_new_rules_are_named_and_the_old_data_stay(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    assert quiet.post(project, "columns", **quiet.form(project) | {"minimum-1": "25"}).status_code == 303
    text = quiet.page(project)
    assert text.count("data.csv, row 2, column age, &#39;20&#39;: the value must be ≥ 25") == 2  # above, beside
    assert fields_in(text)["minimum-1"] == "25"
    assert heading(text).startswith("3 people in 5 columns")
    kept = quiet.client.get(f"/api/v1/projects/{project}/schema").json()["content"]["columns"][1]
    assert "minimum" not in kept


def test_columns_left_out_can_come_back(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    quiet.post(project, "columns", **quiet.form(project) | {"out-0": "yes"})
    text = quiet.page(project)
    assert heading(text) == "3 people in 4 columns, 3 of which are quasi-identifiers; no cell is empty"
    assert "Left out, as you chose: name." in text
    fields = fields_in(text)
    assert fields["out-0"] == "yes"
    del fields["out-0"]
    assert quiet.post(project, "columns", **fields).status_code == 422  # nobody said what it is for
    assert quiet.post(project, "columns", **fields | {"role-0": "identifier"}).status_code == 303
    assert "5 columns" in heading(quiet.page(project))


def test_names_of_customers_stay_names(quiet: Quiet) -> None:
    project = quiet.upload("who,when,what\n007,2010/12/1,1\n7,2010/12/2,2\n")
    fields = quiet.form(project)
    assert fields["kind"] == "table"
    roles = {"kind": "history", "role-0": "customer", "role-1": "date", "role-2": "item"}
    assert quiet.post(project, "columns", **fields | roles).status_code == 303
    types = [c["type"] for c in quiet.client.get(f"/api/v1/projects/{project}/schema").json()["content"]["columns"]]
    assert types == ["text", "date", "text"]
    assert heading(quiet.page(project)).startswith("2 purchases by 2 customers")


def test_a_preset_reads_files_without_a_header(quiet: Quiet) -> None:
    project = quiet.upload("ann,2010/12/1,tea,1.5,2\nbob,2010/12/2,mug,3,1\n")
    assert quiet.post(project, "preset", preset="pwscup2018").status_code == 303
    assert [c.name for c in quiet.studio.schema(project).columns] == ["customer", "date", "item", "price", "quantity"]
    assert quiet.post(project, "columns", **quiet.form(project)).status_code == 303
    wrong = quiet.post(project, "preset", preset="nonsense")
    assert wrong.status_code == 422
    assert "there is no schema &#39;nonsense&#39;" in wrong.text


def test_samples_and_data_sets_can_be_said_otherwise(quiet: Quiet) -> None:
    project = add_project(quiet.studio, name="Made up", sample="people").id
    fields = quiet.form(project) | {"role-7": "other"}
    assert quiet.post(project, "columns", **fields).status_code == 303
    text = quiet.page(project)
    assert "6 of which are quasi-identifiers" in heading(text)
    assert "synthetic data, 10 columns" in text


def test_many_columns_come_in_pages_and_each_page_is_saved_alone(quiet: Quiet) -> None:
    names = [f"c{i}" for i in range(150)]
    project = quiet.upload(
        ",".join(names) + "\n" + ("a" * 150).replace("a", "x,")[:-1] + "\n" + ("y," * 150)[:-1] + "\n"
    )
    text = quiet.page(project, "?columns=100")
    assert "columns 101 to 150 of 150" in text
    fields = fields_in(text)
    assert "row-0" not in fields
    assert quiet.post(project, "columns", **fields | {"role-149": "sensitive"}).status_code == 303
    roles = [str(c.role) for c in quiet.studio.schema(project).columns]
    assert (roles[0], roles[149]) == ("identifier", "sensitive")


@pytest.mark.parametrize(
    ("kind", "columns", "said"),
    [
        (
            "history",
            {"a": {"role": "customer"}},
            [(None, "no column has one of these roles: Date, Item, Price, Quantity")],
        ),
        ("history", {"a": {"role": "item"}}, [(None, "no column has the role “Customer”")]),
        ("history", {"a": {"role": "quasi"}}, [("a", "the role quasi does not fit this kind of rows")]),
        ("table", {"a": {"role": "customer"}}, [("a", "the role customer does not fit this kind of rows")]),
        ("table", {"a": {}, "b": {"role": "quasi"}}, [("a", "What is “a” for?")]),
        (
            "table",
            {"a": {"role": "quasi", "domain": ["x", "x"]}},
            [("a", "a domain needs at least one value, without duplicates")],
        ),
        (
            "table",
            {"a": {"role": "quasi", "type": "date", "maximum": "soon"}},
            [("a", "the bounds of a column of type date are written like 2010-12-01")],
        ),
        (
            "table",
            {"a": {"role": "quasi", "type": "date", "format": "%Q"}},
            [("a", "the format '%Q' does not describe a date; write it like %Y/%m/%d, %H:%M, %Y-%m-%d %H:%M:%S")],
        ),
        ("table", {"a": {"role": "quasi"}, "full": {"role": "quasi"}}, [("full", "2 cells are empty")]),
        ("table", {}, [(None, "every column is left out")]),
        (
            "table",
            {"a": {"role": "quasi", "minimum": "2010/1/1", "type": "integer"}},
            [("a", "the bounds of a column of type integer are written like 0")],
        ),
        ("table", {"a": {"role": "quasi", "minimum": "1", "maximum": "9", "type": "integer"}}, []),
    ],
)
def test_every_problem_is_told_at_once(kind: str, columns: dict[str, Any], said: list[tuple[str | None, str]]) -> None:
    content = {"kind": kind, "columns": [{"name": name} | about for name, about in columns.items()]}
    found = problems_of(content, {"full": 2})
    assert [(problem.column, problem.message) for problem in found] == said
    if not found:
        assert schema_of(content)["a"].maximum == 9.0


def test_a_schema_is_checked_without_being_saved(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    before = quiet.client.get(f"/api/v1/projects/{project}/schema").json()
    content = copy.deepcopy(before["content"])
    for column in content["columns"]:
        column.pop("role")
    address = f"/api/v1/projects/{project}/schema/check"
    answer = quiet.client.post(address, json={"content": content}).json()
    assert [p["column"] for p in answer["problems"]] == ["name", "age", "city", "born", "income"]
    assert all(p["is_question"] for p in answer["problems"])
    assert quiet.client.post(address, json={"toml": before["toml"]}).json() == {"problems": [], "toml": before["toml"]}
    broken = quiet.client.post(address, json={"toml": "kind = "}).json()
    assert "this is not TOML" in broken["problems"][0]["message"]
    assert quiet.client.get(f"/api/v1/projects/{project}/schema").json() == before
    assert quiet.client.put(f"/api/v1/projects/{project}/schema", json={"content": content}).status_code == 422


def test_the_schema_can_be_taken_away(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    answer = quiet.client.get(f"/api/v1/projects/{project}/schema.toml")
    assert 'filename="schema.toml"' in answer.headers["content-disposition"]
    assert Schema.from_toml(answer.text).names == ("name", "age", "city", "born", "income")


def test_the_values_of_a_column_can_be_its_domain(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    answer = quiet.client.get(f"/api/v1/projects/{project}/values", params={"column": "city"}).json()
    assert answer == {"values": ["8037", "8053"], "total": 2}


def test_widths_typed_on_the_page(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    assert quiet.post(project, "hierarchy", column="1", widths="10, 20").status_code == 303
    text = quiet.page(project)
    assert "built by widths" in text
    assert "30-39 <small>2</small>" in text
    for typed, said in (
        ("10, 25", "ranges of 25 cannot be made of ranges of 10"),
        ("ten", "widths expects widths from fine to wide"),
        ("nan", "each a multiple of the previous one"),
    ):
        wrong = quiet.post(project, "hierarchy", column="1", widths=typed)
        assert wrong.status_code == 422
        assert said in html.unescape(wrong.text)
        assert f'value="{typed}"' in wrong.text
    assert quiet.post(project, "hierarchy", column="1", first="yes").status_code == 303
    assert "built by widths" not in quiet.page(project)
