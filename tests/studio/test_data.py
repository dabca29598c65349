"""The page Data: what a file holds, what its columns mean, hierarchies, rows; by program, by form and in a browser."""

from __future__ import annotations

import contextlib
import copy
import datetime as dt
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.studio.conftest import Running, ready_project, wait_for, watched
from tests.studio.test_frame import without_axe_violations, without_overflow

from noren.api import sample
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, read_hierarchies
from noren.data.samples.people import sample_people
from noren.data.schema import Column, Schema
from noren.errors import ParameterError
from noren.explore.profile import profile
from noren.methods.hierarchy import HierarchyMethod
from noren.progress import silent
from noren.studio import data_words, hierarchies
from noren.studio.app import make_app
from noren.studio.columns import problems_of, schema_of
from noren.studio.service import Studio
from noren.studio.settings import Settings
from noren.studio.store import Job, State
from noren.studio.work import reading

SHOP = (
    "customer,date,item,price,quantity,shelf\n"
    "ann,2010/12/1,tea,1.50,2,A\nann,2010/12/24,mug,3,1,B\nbob,2011/2/1,tea,1.50,1,A\ncid,2011/3/9,tea,1.20,4,\n"
)
PEOPLE = (
    "name,age,city,born,income\nAnn,20,8053,2001-02-03,low\nBob,31,8037,1990-05-17,high\nCid,31,8053,1990-05-17,low\n"
)


class Quiet:
    """A studio in this process whose jobs are done at once, by hand."""

    def __init__(self, folder: Path) -> None:
        app = make_app(Settings(folder, samples=False))
        self.studio: Studio = app.state.studio
        self.studio.jobs.submit = self._do
        self.client = TestClient(
            app, base_url="http://127.0.0.1:8321", follow_redirects=False, headers={"Accept-Language": "en"}
        )
        self.csrf = self.client.get("/api/v1/session").json()["csrf"]
        self.client.headers["X-CSRF-Token"] = self.csrf

    def _do(self, job: Job) -> None:
        from noren.errors import NorenError
        from noren.studio.worker import _told

        folder = self.studio.job_folder(job)
        folder.mkdir(parents=True)
        try:
            summary = reading.do(job.order, folder, silent)
        except NorenError as error:
            self.studio.store.change_job(job.id, state=State.FAILED, error=_told(error, job.order.get("file_name")))
        else:
            self.studio._done(job, summary)
            self.studio.store.change_job(job.id, state=State.DONE, summary=summary)

    def upload(self, content: str | bytes, name: str = "data.csv") -> str:
        project = self.studio.new_project("Mine").id
        self.studio.receive(project, name, iter([content.encode() if isinstance(content, str) else content]))
        return project

    def page(self, project: str, more: str = "") -> str:
        answer = self.client.get(f"/projects/{project}/data{more}")
        assert answer.status_code == 200
        return answer.text

    def form(self, project: str) -> dict[str, str]:
        """Return the fields of the columns' form, as a browser without scripts would send them."""
        return fields_in(self.page(project))

    def post(self, project: str, where: str, **fields: str) -> httpx.Response:
        return self.client.post(f"/projects/{project}/data/{where}", data=fields)  # type: ignore[return-value]


def fields_in(text: str) -> dict[str, str]:
    form = text[text.index('id="columns-form"') : text.index("</form>", text.index('id="columns-form"'))]
    fields = {}
    for tag in re.findall(r"<input\b[^>]*>", form):
        found = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if found.get("type") in ("checkbox", "radio") and " checked" not in tag:
            continue
        if "name" in found:
            fields[found["name"]] = html.unescape(found.get("value", ""))
    for name, options in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    for name, value in re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        fields[name] = html.unescape(value)
    return fields


def heading(text: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
    assert found
    return html.unescape(found[1])


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Quiet]:
    made = Quiet(tmp_path / "studio")
    yield made
    made.studio.close()


# --- what is told ----------------------------------------------------------------------------------------------------


def test_an_empty_project_asks_for_a_file(quiet: Quiet) -> None:
    text = quiet.page(quiet.studio.new_project("Mine").id)
    assert heading(text) == "Bring your data: purchases of customers, or a table of people"
    assert 'id="drop"' in text
    assert "Take a sample instead." in text


def test_a_history_is_told_as_a_finding(quiet: Quiet) -> None:
    text = quiet.page(quiet.upload(SHOP, "shop.csv"))
    assert heading(text) == "4 purchases by 3 customers between 2010/12/1 and 2011/3/9; 1 cell is empty"
    assert "read as UTF-8, comma-separated, 6 columns, with a header" in text
    assert "Half of the customers have no more than 1 purchase; the one with most has 2" in text
    assert "Half of the customers bought in no more than 1 month; at most in 1" in text
    assert "mostly tea (75.0%), mug (25.0%)" in text


def test_a_table_is_told_as_a_finding(quiet: Quiet) -> None:
    text = quiet.page(quiet.upload(PEOPLE, "people.csv"))
    assert heading(text) == "3 people in 5 columns, 3 of which could link them; no cell is empty"
    assert "What the columns mean was guessed" in text
    assert "1990/5/17 to 2001/2/3" in text
    assert "every value once, such as Ann" in text


def test_the_profile_is_the_librarys(quiet: Quiet) -> None:
    made = {"people": sample_people(4_000, seed=1), "history": sample(customers=400, rows=12_000, items=900, seed=1)}
    for name, records in made.items():
        project = quiet.studio.new_project(name, sample=name).id
        assert quiet.client.get(f"/api/v1/projects/{project}/profile").json() == profile(records)


def test_bars_say_what_they_stand_for() -> None:
    bars = {"labels": ["a", "b", ""], "weights": [6.0, 3.0, 90.0], "others": True}
    drawn = data_words.bars_drawn({"bars": bars}, 99)
    assert [bar["height"] for bar in drawn] == [40.0, 20.0]  # all others would dwarf them
    assert drawn[1]["said"] == "b: 3 rows (3.0%)"
    assert data_words.bars_drawn({"bars": None}, 9) == []


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
    assert "What is this column for?" in unanswered.text
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
    assert text.count("data.csv, row 2, column age, &#39;20&#39;: the value must be at least 25") == 2  # above, beside
    assert fields_in(text)["minimum-1"] == "25"
    assert heading(text).startswith("3 people in 5 columns")
    kept = quiet.client.get(f"/api/v1/projects/{project}/schema").json()["content"]["columns"][1]
    assert "minimum" not in kept


def test_columns_left_out_can_come_back(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    quiet.post(project, "columns", **quiet.form(project) | {"out-0": "yes"})
    text = quiet.page(project)
    assert heading(text) == "3 people in 4 columns, 3 of which could link them; no cell is empty"
    assert "Left out, as you said: name." in text
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
    project = quiet.studio.new_project("Made up", sample="people").id
    fields = quiet.form(project) | {"role-7": "other"}
    assert quiet.post(project, "columns", **fields).status_code == 303
    text = quiet.page(project)
    assert "6 of which could link them" in heading(text)
    assert "Made up by Noren, 10 columns" in text


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
            [(None, "no column says: The day"), (None, "no column says: What was bought")],
        ),
        (
            "history",
            {"a": {"role": "quasi"}},
            [("a", "this is something of a person, and rows are purchases here; choose again")],
        ),
        (
            "table",
            {"a": {"role": "customer"}},
            [("a", "this is a part of a purchase, and rows are people here; choose again")],
        ),
        ("table", {"a": {}, "b": {"role": "quasi"}}, [("a", "What is this column for?")]),
        (
            "table",
            {"a": {"role": "quasi", "domain": ["x", "x"]}},
            [("a", "a domain needs at least one value, each once")],
        ),
        (
            "table",
            {"a": {"role": "quasi", "type": "date", "maximum": "soon"}},
            [("a", "the bounds of a column of type date are written like 2010-12-01")],
        ),
        (
            "table",
            {"a": {"role": "quasi", "type": "date", "format": "%Q"}},
            [("a", "the format '%Q' does not spell a date; write it like %Y/%m/%d, %H:%M, %Y-%m-%d %H:%M:%S")],
        ),
        (
            "table",
            {"a": {"role": "quasi"}, "full": {"role": "quasi"}},
            [("full", "2 cells are empty, and the column may not have empty cells")],
        ),
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


# --- hierarchies -----------------------------------------------------------------------------------------------------


def table_of(**columns: tuple[dict[str, Any], list[Any]]) -> Table:
    schema = Schema.of(
        {"kind": "table", "columns": {name: {"role": "quasi"} | about for name, (about, _v) in columns.items()}}
    )
    return Table.of({name: values for name, (_about, values) in columns.items()}, schema)


def made_for(tmp_path: Path, **columns: tuple[dict[str, Any], list[Any]]) -> dict[str, list[tuple[str, ...]]]:
    table = table_of(**columns)
    assert hierarchies.make_hierarchies(table, tmp_path) == []
    return {
        name: made.labels.rows() for name, made in read_hierarchies(tmp_path / "hierarchies", list(columns)).items()
    }


def test_first_hierarchies_by_what_values_are(tmp_path: Path) -> None:
    day, moment = dt.date(1990, 5, 17), dt.datetime(1990, 5, 17, 8, 26)
    made = made_for(
        tmp_path,
        age=({"type": "integer", "minimum": 20.0, "maximum": 22.0}, [20, 22]),
        price=({"type": "decimal", "width": 0.5}, [1.0, 2.5]),
        born=({"type": "date"}, [day, day]),
        seen=({"type": "datetime"}, [moment, moment]),
        hour=({"type": "time"}, [dt.time(8, 26), dt.time(9, 0)]),
        code=({"domain": ["E119", "E110", "J450"]}, ["E119", "J450"]),
        long=({}, ["1234567890", "1234500000"]),
        city=({}, ["Bern", "?"]),
    )
    assert made["age"] == [("20", "20-21", "*"), ("21", "20-21", "*"), ("22", "22-23", "*")]  # every year there can be
    assert made["price"] == [("1", "1-1.5", "*"), ("1.5", "1-1.5", "*"), ("2", "2-2.5", "*"), ("2.5", "2-2.5", "*")]
    assert made["born"] == [("1990/5/17", "1990-05", "1990-Q2", "1990", "*")]
    assert made["seen"] == [("1990/5/17 8:26", "1990/5/17", "1990-05", "1990", "*")]
    assert made["hour"] == [("8:26", "8:00-8:59", "*"), ("9:00", "9:00-9:59", "*")]
    assert made["code"][0] == ("E110", "E11*", "E1**", "E***", "*")  # what the domain declares, seen or not
    assert made["long"][1] == ("1234567890", "1234567***", "1234******", "1*********", "*")
    assert made["city"] == [("Bern", "*")]  # ? says that a value is missing


def test_numbers_beyond_a_grid_keep_their_digits(tmp_path: Path) -> None:
    high = 10**17 + 1
    made = made_for(tmp_path, a=({"type": "integer"}, [high, 3]), b=({"type": "decimal"}, [0.12345, 1.98765]))
    assert made["a"][1][:2] == (str(high), "100000000000000000-109999999999999999")
    assert made["b"] == [
        ("0.12345", "0-0.2", "0-0.4", "0-0.8", "0-1.6", "*"),
        ("1.98765", "1.8-2", "1.6-2", "1.6-2.4", "1.6-3.2", "*"),
    ]


def test_levels_tell_labels_and_rows(tmp_path: Path) -> None:
    table = table_of(age=({"type": "integer"}, [20, 20, 21, 27]))
    hierarchies.make_hierarchies(table, tmp_path)
    about = hierarchies.hierarchy_facts(tmp_path)[0]
    assert about["widths"] == [2, 4]
    assert [(level["labels"], level["least"]) for level in about["levels"]] == [(8, 1), (4, 1), (2, 1), (1, 4)]
    assert about["levels"][1]["shown"] == [["20-21", 3], ["26-27", 1]]
    assert data_words.levels_sentence(about) == "4 levels: 8 → 4 → 2 → 1"


def test_columns_without_a_hierarchy_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchies, "MOST_VALUES", 2)
    table = table_of(
        many=({}, ["x", "y", "z"]), none=({"optional": True}, [None] * 3), **{"n" * 199: ({}, ["a", "b", "a"])}
    )
    hierarchies.make_hierarchies(table, tmp_path)
    assert [about["reason"] for about in hierarchies.hierarchy_facts(tmp_path)] == [
        "too-many",
        "no-values",
        "name-too-long",
    ]
    assert not (tmp_path / "hierarchies").exists()  # an empty folder would stop the methods
    assert "more than 50,000 different values" in data_words.levels_sentence(hierarchies.hierarchy_facts(tmp_path)[0])


def test_what_a_person_gave_stays_while_it_fits(tmp_path: Path) -> None:
    table = table_of(city=({}, ["Bern", "Genf"]), age=({"type": "integer"}, [20, 40]))
    hierarchies.make_hierarchies(table, tmp_path)
    own = Hierarchy.of("city", [("Bern", "CH", "*"), ("Genf", "CH", "*")])
    hierarchies.keep_hierarchy(Table(table.frame, table.schema.without(["age"])), table.schema, tmp_path, given=own)
    hierarchies.keep_hierarchy(Table(table.frame, table.schema.without(["city"])), table.schema, tmp_path, widths=[10])
    assert hierarchies.make_hierarchies(table, tmp_path) == []
    assert [about["made"] for about in hierarchies.hierarchy_facts(tmp_path)] == ["uploaded", "widths"]
    other = table_of(city=({}, ["Bern", "Chur"]), age=({"type": "integer"}, [5, 6]))
    assert hierarchies.make_hierarchies(other, tmp_path) == ["city"]
    assert [about["made"] for about in hierarchies.hierarchy_facts(tmp_path)] == ["default", "widths"]
    assert hierarchies.make_hierarchies(table_of(sex=({}, ["f", "m"])), tmp_path) == ["age"]
    assert [file.name for file in (tmp_path / "hierarchies").iterdir()] == ["sex.csv"]


def test_ranges_are_made_of_whole_ranges() -> None:
    column = Column(name="age", role="quasi", type="integer")
    for widths in ([5, 12], [1], [5, 5], [0.5]):
        with pytest.raises(ParameterError, match="are not made of whole ranges of"):
            hierarchies.number_hierarchy(column, pl.Series([20, 21]), widths)


def test_first_hierarchies_let_the_method_run(tmp_path: Path) -> None:
    people = sample_people(300, seed=2)
    hierarchies.make_hierarchies(people, tmp_path)
    release = HierarchyMethod(k=4, suppression=0.05, hierarchies=tmp_path / "hierarchies").protect(people, seed=1)
    quasi = [column.name for column in people.schema.with_role("quasi")]
    assert release.public.texts().group_by(quasi).len()["len"].min() >= 4  # type: ignore[operator]


def test_adult_gets_hierarchies(shared: Path, tmp_path: Path) -> None:
    order = {"kind": "read", "project": "p" * 12, "root": str(tmp_path), "language": "en", "dataset": "adult"}
    folder = tmp_path / "projects" / ("p" * 12) / "jobs" / ("j" * 12)
    folder.mkdir(parents=True)
    facts = reading.do(order, folder, silent)
    assert (facts["rows"], facts["kind"], facts["open"]) == (32_561, "table", [])
    made = {about["name"]: about for about in hierarchies.hierarchy_facts(tmp_path / "projects" / ("p" * 12))}
    assert made["age"]["widths"] == [5, 10, 20, 40]
    assert made["sex"]["levels"][0]["shown"] == [["Male", 21_790], ["Female", 10_771]]
    assert len(made) == 9


def test_widths_typed_on_the_page(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    assert quiet.post(project, "hierarchy", column="1", widths="10, 20").status_code == 303
    text = quiet.page(project)
    assert "by your widths" in text
    assert "30-39 <small>2</small>" in text
    for typed, said in (
        ("10, 25", "ranges of 25 are not made of whole ranges of 10"),
        ("ten", "widths are numbers"),
        ("nan", "one to 20 widths"),
    ):
        wrong = quiet.post(project, "hierarchy", column="1", widths=typed)
        assert wrong.status_code == 422
        assert said in html.unescape(wrong.text)
        assert f'value="{typed}"' in wrong.text
    assert quiet.post(project, "hierarchy", column="1", first="yes").status_code == 303
    assert "by your widths" not in quiet.page(project)


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_client(server: Running) -> Iterator[httpx.Client]:
    with contextlib.closing(server.client()) as client:
        yield client


def new_project(client: httpx.Client, name: str = "Browser") -> str:
    return str(client.post("/api/v1/projects", json={"name": name}).json()["id"])


@contextlib.contextmanager
def refused_at_times(server: Running, browser: Any) -> Iterator[Any]:
    """A page on which wrong things are tried: the browser notes each refusal of the studio as an error."""
    watching = watched(browser, server.address)
    with watching as page:
        yield page
        watching.wrong = [said for said in watching.wrong if "status of 422" not in said]


def choose(page: Any, name: str, content: str | bytes) -> None:
    buffer = content.encode() if isinstance(content, str) else content
    page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": buffer})


@pytest.mark.browser
def test_from_a_wrong_file_to_saved_columns(browser_page: Any, own_client: httpx.Client) -> None:
    page, project = browser_page, new_project(own_client)
    page.goto(f"/projects/{project}/data")
    without_axe_violations(page)
    choose(page, "broken.csv", "customer,date,item\nann,2010/12/1,tea\nann,2010/12")
    page.get_by_text("broken.csv, row 3, 'ann,2010/12': the row has 2 cells, the others 3").first.wait_for()
    without_axe_violations(page)
    # another file, at once
    choose(page, "shop.csv", SHOP)
    page.get_by_role("heading", name="4 purchases by 3 customers").wait_for()
    question = page.get_by_role("link", name="What is “shelf” for?")
    question.wait_for()
    without_axe_violations(page)
    # what a choice makes wrong is told at once
    role = page.get_by_label("What it is for shelf")
    page.get_by_label("What it is for date").select_option("time")
    page.get_by_text("no column says: The day").wait_for()
    page.get_by_label("What it is for date").select_option("date")
    page.locator("#columns-said").get_by_text("shelf: What is this column for?").wait_for()
    role.select_option("other")
    page.get_by_text("Nothing is wrong with this").wait_for()
    page.get_by_role("button", name="Save and read again").click()
    page.get_by_role("link", name="Protect", exact=True).last.wait_for()
    question.wait_for(state="detached")
    assert page.get_by_label("What it is for shelf").input_value() == "other"
    # the chart is drawn, the histogram of a column too
    page.locator("#rows-per-customer svg").wait_for()
    assert page.locator("#column-2 svg rect").count() == 2
    without_axe_violations(page)


@pytest.mark.browser
def test_with_the_keyboard_alone(server: Running, browser: Any, own_client: httpx.Client) -> None:
    with refused_at_times(server, browser) as page:
        by_keyboard(page, own_client)


def by_keyboard(page: Any, own_client: httpx.Client) -> None:
    project = new_project(own_client)
    own_client.put(f"/api/v1/projects/{project}/file", params={"name": "people.csv"}, content=PEOPLE.encode())
    page.goto(f"/projects/{project}/data")
    page.get_by_role("heading", name="3 people in 5 columns").wait_for()

    def tab_to(selector: str) -> None:
        for _press in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"{selector} is not reached")

    tab_to("details.another > summary")
    page.keyboard.press("Enter")
    tab_to("#file")
    tab_to("#role-2")
    page.keyboard.press("a")  # A secret of the person
    assert page.locator("#role-2").input_value() == "sensitive"
    assert page.locator("#column-2 .role-meaning").text_content() == "nobody should learn whose it is"
    tab_to("#column-3 .column-more summary")
    page.keyboard.press("Enter")
    tab_to("#minimum-3")
    page.keyboard.type("1980-01-01")
    tab_to("#columns-form button.primary")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="3 people in 5 columns, 2 of which could link them").wait_for()
    tab_to("#hierarchy-1 > summary")
    page.keyboard.press("Enter")
    tab_to("#widths-1")
    page.keyboard.press("Control+a")
    page.keyboard.type("7, 15")
    page.keyboard.press("Enter")
    page.get_by_text("ranges of 15 are not made of whole ranges of 7").wait_for()
    assert page.locator("#widths-1").input_value() == "7, 15"


@pytest.mark.browser
def test_small_files_and_pages_of_rows(server: Running, browser: Any, own_client: httpx.Client) -> None:
    with refused_at_times(server, browser) as page:
        small_files_and_rows(page, own_client)


def small_files_and_rows(page: Any, own_client: httpx.Client) -> None:
    project = ready_project(own_client, "people", "Rows")
    page.goto(f"/projects/{project}/data")
    page.get_by_role("link", name="Later").last.click()
    page.locator("#rows .pager-place", has_text="51 to 100 of 4,000").wait_for()
    assert page.url.endswith("start=50#rows")
    page.locator("#hierarchy-2 > summary").click()
    own = {"name": "sex.csv", "mimeType": "text/csv", "buffer": b"Female;*\n"}
    page.locator("#hierarchy-2 input[type=file]").set_input_files(own)
    page.get_by_text("sex = 'Male'").wait_for()
    own["buffer"] = b"Female;person;*\nMale;person;*\n"
    page.locator("#hierarchy-2 input[type=file]").set_input_files(own)
    page.locator("#hierarchy-2").get_by_text("your file").wait_for()
    assert page.locator("#hierarchy-2").get_attribute("open") is not None
    without_axe_violations(page)


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone(server: Running, browser: Any, own_client: httpx.Client, theme: str) -> None:
    project = new_project(own_client)
    names = ["<b>x</b>", "w" * 180, "a b"]
    content = ",".join(names) + "\n" + "\n".join(f"{'long' * 40},{i},{i % 3}" for i in range(40))
    sent = own_client.put(
        f"/api/v1/projects/{project}/file", params={"name": "n" * 100 + ".csv"}, content=content.encode()
    )
    assert wait_for(own_client, sent.json()["id"])["state"] == "done"
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": theme}
    with watched(browser, server.address, **phone) as page:
        page.goto(f"/projects/{project}/data")
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        without_overflow(page)
        without_axe_violations(page)


@pytest.mark.browser
def test_a_million_rows(browser_page: Any, own_client: httpx.Client, tmp_path: Path) -> None:
    million = pl.DataFrame({"i": pl.int_range(1_000_000, eager=True)}).select(
        customer=(pl.col("i") * 7919 % 20_011).cast(pl.String),
        date=dt.date(2010, 12, 1) + pl.duration(days=pl.col("i") % 365),
        item=(pl.col("i") * 104_729 % 2_003).cast(pl.String),
        price=(pl.col("i") % 97 / 4).cast(pl.Float64),
        quantity=pl.col("i") % 12 + 1,
    )
    file = tmp_path / "million.parquet"
    million.write_parquet(file)
    page, project = browser_page, new_project(own_client, "A million")
    page.goto(f"/projects/{project}/data")
    page.evaluate("window.began = performance.timeOrigin + performance.now()")
    began = page.evaluate("window.began")
    page.set_input_files("#file", str(file))
    page.locator("#rows-per-customer svg").wait_for(timeout=120_000)
    drawn = page.evaluate("performance.timeOrigin + performance.now()")
    assert "1,000,000 purchases by 20,011 customers between 2010/12/1 and 2011/11/30; no cell is empty" in page.title()
    print(
        f"1,000,000 rows, {file.stat().st_size / 1e6:.1f} MB: {(drawn - began) / 1000:.1f} s from file to first chart"
    )
