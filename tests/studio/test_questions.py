"""Questions about a file: asked with a button for each answer, kept, and in the way until they are answered."""

from __future__ import annotations

import html
from typing import Any

import pytest
from tests.studio.quiet import PEOPLE, SHOP, Quiet, fields_in, heading

from noren.errors import ParameterError
from noren.studio.actions.projects import answer, set_schema
from noren.studio.forms.columns import open_stops, problems_of, with_answer
from noren.studio.forms.run_form import checked_methods
from noren.studio.service import Studio
from noren.studio.store import State
from noren.web.errors import ConflictError

SPEND = "customer,date,cds,paid\n" + "".join(f"{i % 4},1997010{i % 9 + 1},{i % 3},{i}.5\n" for i in range(12))
SLASHED = "id,when\nA,01/02/2010\nB,03/04/2010\n"
KIND = {
    "about": "kind",
    "column": None,
    "chosen": "table",
    "stops": True,
    "text": {"en": "4 names stand in 12 rows: is each row a purchase?", "ja": "12 行に 4 人です。行は購買ですか。"},
    "answers": [
        {"value": "history", "label": {"en": "rows are purchases", "ja": "行は購買です"}},
        {"value": "table", "label": {"en": "rows are people", "ja": "行は人です"}},
    ],
}


def asked(quiet: Quiet, project: str, *questions: dict[str, Any]) -> None:
    """Let a project have these questions."""
    facts = quiet.studio.project(project).facts
    quiet.studio.store.change_project(project, facts=facts | {"questions": list(questions), "answers": [], "open": []})


def order(quiet: Quiet, project: str) -> None:
    steps = [{"method": "mondrian", "parameters": {"k": 2}}]
    checked_methods(quiet.studio.project(project), *quiet.studio.columns(project), steps)


def test_a_question_that_stops_is_asked_with_its_answers_and_nothing_is_protected(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    asked(quiet, project, KIND)
    text = quiet.page(project)
    assert "One question before these data can be protected" in text
    assert "4 names stand in 12 rows: is each row a purchase?" in text
    for value in ("history", "table"):
        assert f'<button name="value" value="{value}"' in text
    assert f'href="/projects/{project}/protect">Protect' not in text
    told = quiet.client.get(f"/projects/{project}/data", headers={"Accept-Language": "ja"}).text
    assert "行は購買です" in told
    protect = quiet.client.get(f"/projects/{project}/protect").text
    assert heading(protect) == "4 names stand in 12 rows: is each row a purchase?"
    with pytest.raises(ConflictError, match="4 names stand in 12 rows"):
        order(quiet, project)


def test_who_says_that_the_guess_is_right_need_not_wait(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    asked(quiet, project, KIND)
    reads = len(quiet.studio.store.jobs(project, kind="read"))
    assert quiet.post(project, "answer", about="kind", value="table").status_code == 303
    assert len(quiet.studio.store.jobs(project, kind="read")) == reads  # nothing changed, so nothing is read
    text = quiet.page(project)
    assert "You answered one question about this file" in text
    assert f'href="/projects/{project}/protect">Protect' in text
    order(quiet, project)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        *((PEOPLE, value) for value in ("leave-out", "other", "identifier", "sensitive")),
        *((SHOP, value) for value in ("leave-out", "other", "identifier")),
    ],
)
def test_a_role_is_given_to_the_data_as_they_were_read(
    quiet: Quiet, content: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = "city" if content == PEOPLE else "shelf"

    def known(project: str) -> list[Any]:
        place = quiet.studio.folders.project(project)
        texts = [(place / name).read_bytes() for name in ("schema.toml", "profile.json", "data.parquet")]
        ladders = [path.read_text() for path in sorted(place.glob("hierarchies*/**/*.csv"))]
        facts = {name: fact for name, fact in quiet.studio.project(project).facts.items() if name != "replaced"}
        return [texts, ladders, facts]

    project, again = quiet.upload(content), quiet.upload(content)
    assert answer(quiet.studio, project, "role", column, value) is None  # nothing is read
    monkeypatch.setattr(Studio, "give_role", lambda *_arguments: False)
    assert answer(quiet.studio, again, "role", column, value) is not None
    assert known(project) == known(again)


def test_a_column_of_purchases_is_read_again_for_another_role(quiet: Quiet) -> None:
    project = quiet.upload(SHOP)
    assert answer(quiet.studio, project, "role", "item", "other") is not None
    assert answer(quiet.studio, project, "role", "shelf", "leave-out") is None
    assert answer(quiet.studio, project, "role", "shelf", "other") is not None  # it was left out, the file has it


def test_another_answer_reads_the_file_again_with_roles_guessed(quiet: Quiet) -> None:
    project = quiet.upload(SPEND)
    assert quiet.post(project, "answer", about="kind", value="history").status_code == 303
    schema = quiet.studio.schema(project)
    assert (str(schema.kind), str(schema["customer"].role)) == ("history", "customer")
    assert "12 purchases by 4 customers" in heading(quiet.page(project))
    assert quiet.studio.project(project).facts["answers"] == [{"about": "kind", "column": None, "value": "history"}]


def test_rows_turned_into_purchases_in_the_form_keep_no_empty_roles(quiet: Quiet) -> None:
    project = quiet.upload(SPEND)
    turned = {"history": "table", "table": "history"}[quiet.form(project)["kind"]]
    for kind in (turned, "history"):
        assert quiet.post(project, "columns", **quiet.form(project) | {"kind": kind}).status_code == 303
        assert str(quiet.studio.schema(project).kind) == kind
    assert fields_in(quiet.page(project))["role-0"] == "customer"


def test_an_answer_about_a_column_is_remembered_and_can_be_changed(quiet: Quiet) -> None:
    project = quiet.upload(SLASHED)
    chosen = quiet.studio.schema(project)["when"].format
    assert chosen is not None
    other = next(one for one in ("%d/%m/%Y", "%m/%d/%Y") if one != chosen)
    assert quiet.post(project, "answer", about="format", column="when", value=other).status_code == 303
    assert quiet.studio.schema(project)["when"].format == other
    assert "<td>2010/2/1</td>" in quiet.page(project) or "<td>2010/1/2</td>" in quiet.page(project)
    text = quiet.page(project)
    assert f'value="{other}" class="is-given" aria-pressed="true"' in text
    assert quiet.post(project, "answer", about="format", column="when", value=chosen).status_code == 303
    assert quiet.studio.schema(project)["when"].format == chosen


def test_a_column_nobody_named_is_left_out_or_kept_with_one_click(quiet: Quiet) -> None:
    for value, names in (("leave-out", 5), ("other", 6)):
        project = quiet.upload(SHOP)
        assert "What is “shelf” for?" in quiet.page(project)
        assert quiet.post(project, "answer", about="role", column="shelf", value=value).status_code == 303
        text = quiet.page(project)
        assert "What is “shelf” for?" not in text
        assert len(quiet.studio.schema(project).names) == names
        assert f'href="/projects/{project}/protect">Protect' in text


@pytest.mark.parametrize(
    ("about", "column", "value"),
    [
        ("kind", None, "galaxy"),
        ("role", "nobody", "other"),
        ("format", "when", "%Q"),
        ("weather", None, "rain"),
        ("customer", None, "x"),
    ],
)
def test_what_is_no_answer_is_refused(quiet: Quiet, about: str, column: str | None, value: str) -> None:
    project = quiet.upload(SLASHED)
    with pytest.raises(ParameterError, match="this question has no such answer"):
        answer(quiet.studio, project=project, about=about, column=column, value=value)
    refused = quiet.post(project, "answer", about=about, column=column or "", value=value)
    assert refused.status_code == 422
    assert "this question has no such answer" in refused.text


def test_saving_the_columns_leaves_a_question_open_that_was_not_touched(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    asked(quiet, project, KIND)
    assert quiet.post(project, "columns", **quiet.form(project) | {"role-1": "other"}).status_code == 303
    assert open_stops(quiet.studio.project(project).facts) == [KIND]
    assert "is each row a purchase?" in quiet.page(project)


def test_who_says_what_rows_are_says_roles_anew() -> None:
    given = with_answer(with_answer([], "role", "a", "quasi"), "role", "b", "leave-out")
    assert with_answer(given, "kind", None, "history") == [
        {"about": "role", "column": "b", "value": "leave-out"},
        {"about": "kind", "column": None, "value": "history"},
    ]


# --- no dead ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "fixed"),
    [(State.FAILED, False), (State.CANCELLED, False), (State.INTERRUPTED, False), (State.DONE, True)],
)
def test_only_a_run_that_left_a_release_locks_the_columns(quiet: Quiet, state: State, fixed: bool) -> None:
    project = quiet.upload(PEOPLE)
    job = quiet.studio.store.add_job(project, "run", "mondrian, k = 2", {"steps": []})
    quiet.studio.store.change_job(job.id, state=state)
    half = quiet.studio.job_folder(job) / "release"
    half.mkdir(parents=True)
    answer = quiet.post(project, "columns", **quiet.form(project) | {"role-1": "other"})
    assert answer.status_code == (422 if fixed else 303)
    assert half.exists() == fixed  # of a run that failed nothing may be taken up with other columns
    assert ("copy its data into a new project" in quiet.page(project)) == fixed


def test_locked_data_can_be_copied_and_changed(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE, "people.csv")
    job = quiet.studio.store.add_job(project, "run", "mondrian, k = 2", {"steps": []})
    quiet.studio.store.change_job(job.id, state=State.DONE)
    answer = quiet.post(project, "copy")
    assert answer.status_code == 303
    made = answer.headers["location"].split("/")[2]
    assert made != project
    assert quiet.studio.schema(made) == quiet.studio.schema(project)
    assert quiet.post(made, "columns", **quiet.form(made) | {"role-1": "other"}).status_code == 303
    assert str(quiet.studio.schema(made)["age"].role) == "other"


def test_a_role_that_the_values_cannot_play_is_said_at_once_with_a_button_that_cures_it(quiet: Quiet) -> None:
    columns = {
        "a": {"role": "customer"},
        "b": {"role": "price", "type": "text"},
        "c": {"role": "date", "type": "integer"},
    }
    content = {"kind": "history", "columns": [{"name": name} | about for name, about in columns.items()]}
    assert [(p.column, p.message) for p in problems_of(content)] == [
        ("b", "the values are text, but “Price” needs whole numbers or decimal numbers"),
        ("c", "the values are whole numbers, but “Date” needs dates or dates with times"),
    ]
    project = quiet.upload(SHOP)
    fields = quiet.form(project) | {"role-5": "other", "type-3": "text"}
    refused = quiet.post(project, "columns", **fields)
    assert refused.status_code == 422
    assert "but “Price” needs whole numbers or decimal numbers" in html.unescape(refused.text)
    assert '<button name="convert-3" value="decimal">Read them as decimal numbers' in refused.text
    assert quiet.post(project, "columns", **fields | {"convert-3": "decimal"}).status_code == 303
    assert str(quiet.studio.schema(project)["price"].type) == "decimal"


def test_values_that_cannot_be_converted_are_counted_with_an_example(quiet: Quiet) -> None:
    project = quiet.upload("customer,date,item,cost\nann,2010/12/1,tea,cheap\nbob,2010/12/2,mug,3\n")
    fields = quiet.form(project)
    refused = quiet.post(project, "columns", **fields | {"role-3": "price"})
    assert refused.status_code == 422
    assert "1 value is not decimal numbers, such as cheap" in refused.text
    assert "convert-3" not in refused.text


def test_a_guess_stays_a_guess_until_somebody_says_something_of_the_values(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    guessed = quiet.studio.schema(project).model_copy(update={"guessed": True})
    set_schema(quiet.studio, project=project, toml=guessed.to_toml())
    assert quiet.post(project, "columns", **quiet.form(project) | {"role-1": "other"}).status_code == 303
    assert quiet.studio.schema(project).guessed
    assert quiet.post(project, "columns", **quiet.form(project) | {"maximum-1": "99"}).status_code == 303
    assert not quiet.studio.schema(project).guessed


def test_an_error_of_many_lines_is_a_list(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    job = quiet.studio.store.jobs(project, kind="read")[-1]
    said = "data.csv has 2 problems:\n- row 2, column age, 'x': no number\n- row 3, column born: no day"
    quiet.studio.store.change_job(job.id, state=State.FAILED, error={"message": said})
    text = html.unescape(quiet.page(project))
    assert "▲ </span>data.csv has 2 problems:</p>" in text
    assert "<li>row 2, column age, 'x': no number</li><li>row 3, column born: no day</li>" in text


def test_names_and_contacts_are_left_out_unless_somebody_keeps_them(quiet: Quiet) -> None:
    rows = "".join(f"{n % 4},2024-01-{n + 1:02},tea{n % 3},C{n % 4},x,090-1234-000{n % 4}\n" for n in range(12))
    project = quiet.upload("顧客ID,購入日,商品,氏名,メールアドレス,電話\n" + rows)
    text = html.unescape(quiet.page(project))
    assert str(quiet.studio.schema(project)["氏名"].role) == "identifier"
    assert "氏名: the column name suggests personal names (4 different values); does it identify people?" in text
    assert '<button name="value" value="identifier" class="primary">' in text
    assert '<button name="value" value="other" class="quiet">' in text
    assert "because they identify people: 氏名, 電話." in text
    # a column whose values say nothing is asked about; leaving it out is the button to press
    assert "What is “メールアドレス” for? Its name says that it tells who a person is" in text
    assert '<button class="primary" name="value" value="leave-out">' in text
    assert "Keep it as it is: Releases that Noren suggests leave it empty" in text
