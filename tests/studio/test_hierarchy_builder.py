"""Hierarchies in the studio: built, looked at before they are kept, sent many at once; in a browser, too."""

from __future__ import annotations

import base64
import contextlib
import html
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow
from tests.studio.conftest import wait_for
from tests.studio.in_process import Program, Server
from tests.studio.quiet import Quiet

PEOPLE = (
    "age,city,canton,born,job,income\n20,Bern,BE,1989-01-07,nurse,low\n27,Thun,BE,1989-01-08,teacher,high\n"
    "31,Genf,GE,2001-02-03,nurse,low\n38,Genf,GE,2001-02-04,cook,low\n"
)
ROLES = {"age": "quasi", "city": "quasi", "canton": "other", "born": "quasi", "job": "quasi", "income": "sensitive"}
TYPES = {"age": "integer", "born": "date"}
SCHEMA = {
    "kind": "table",
    "columns": [{"name": name, "role": role, "type": TYPES.get(name, "text")} for name, role in ROLES.items()],
}


@pytest.fixture
def people(quiet: Quiet) -> tuple[Quiet, str]:
    project = quiet.upload(PEOPLE)
    assert quiet.client.put(f"/api/v1/projects/{project}/schema", json={"content": SCHEMA}).status_code == 202
    return quiet, project


def built(quiet: Quiet, project: str, column: str, **asked: Any) -> Any:
    return quiet.client.post(f"/api/v1/projects/{project}/hierarchy", params={"column": column}, json=asked)


def file_of(quiet: Quiet, project: str, column: str) -> str:
    return quiet.client.get(f"/api/v1/projects/{project}/hierarchy", params={"column": column}).text


def test_a_builder_by_the_interface(people: tuple[Quiet, str]) -> None:
    quiet, project = people
    seen = built(quiet, project, "city", by="column", **{"with": "canton"}, keep=False).json()
    assert [(level["labels"], level["least"]) for level in seen["levels"]] == [(3, 1), (2, 2), (1, 4)]
    assert (seen["file"], file_of(quiet, project, "city")) == (None, "Bern;*\nGenf;*\nThun;*\n")  # nothing is kept
    kept = built(quiet, project, "city", by="column", **{"with": "canton"}).json()
    assert (kept["made"], kept["request"]) == ("built", {"by": "column", "text": "canton", "other": ""})
    assert file_of(quiet, project, "city") == "Bern;BE;*\nGenf;GE;*\nThun;BE;*\n"
    # data that are read again are grouped again
    assert quiet.client.put(f"/api/v1/projects/{project}/schema", json={"content": SCHEMA}).status_code == 202
    assert file_of(quiet, project, "city") == "Bern;BE;*\nGenf;GE;*\nThun;BE;*\n"
    assert built(quiet, project, "city").json()["made"] == "default"
    born = built(quiet, project, "born", by="dates", **{"with": "era-year, era"}).json()
    assert ["昭和64年", 1] in born["levels"][1]["examples"]
    widths = built(quiet, project, "age", by="widths", **{"with": "10, 20"}).json()
    assert (widths["made"], widths["widths"]) == ("widths", [10, 20])


@pytest.mark.parametrize(
    ("column", "asked", "said"),
    [
        ("city", {"by": "widths", "with": "5"}, "widths does not apply to values of type text; use one of usual"),
        ("city", {"by": "nothing"}, "there is no builder 'nothing'"),
        ("city", {"by": "column", "with": "nowhere"}, "no column 'nowhere'"),
        ("city", {"by": "groups", "with": "/etc/passwd"}, "groups expects lines value;group;wider group, or JSON"),
        ("city", {"by": "groups", "with": "Bern;a\nBern;b"}, "the value is listed twice"),
        ("income", {"by": "values"}, "only quasi-identifiers have a hierarchy"),
        ("city", {"keep": False}, "choose a builder"),
    ],
)
def test_wrong_orders_are_told(people: tuple[Quiet, str], column: str, asked: dict[str, Any], said: str) -> None:
    quiet, project = people
    answer = built(quiet, project, column, **asked)
    assert answer.status_code == 422
    assert said in answer.json()["error"]["message"]


def test_builders_are_offered_by_type(people: tuple[Quiet, str]) -> None:
    quiet, project = people
    found = quiet.client.get(f"/api/v1/projects/{project}/builders", params={"column": "born"}).json()
    assert {"usual", "dates"} <= {one["by"] for one in found}
    assert "widths" not in {one["by"] for one in found}


def test_many_names_are_left_to_the_command_line(people: tuple[Quiet, str], monkeypatch: pytest.MonkeyPatch) -> None:
    quiet, project = people
    monkeypatch.setattr("noren.studio.hierarchies._MOST_COMPARED", 2)
    answer = built(quiet, project, "city", by="similarity")
    assert "comparing 3 names with each other takes too long here" in answer.json()["error"]["message"]


def sent(quiet: Quiet, project: str, **files: bytes) -> Any:
    listed = [{"name": f"{name}.csv", "content": base64.b64encode(content).decode()} for name, content in files.items()]
    return quiet.client.post(f"/api/v1/projects/{project}/hierarchies", json={"files": listed})


def test_many_files_at_once_with_all_their_problems(people: tuple[Quiet, str]) -> None:
    quiet, project = people
    before = file_of(quiet, project, "job")
    answer = sent(
        quiet,
        project,
        my_city=b"Bern;CH;*\nBern;CH;*\nThun;CH;*\nGenf;CH;*\n",
        job=b"cook;food;*\ncook;care;*\nnurse;care\n",
        age=b"20;x;*\n",
        born=b"\xff\xfe",
        nobody=b"a;*\n",
    )
    assert answer.status_code == 200, answer.text
    found = {one["name"]: one for one in answer.json()}
    assert (found["my_city.csv"]["column"], found["my_city.csv"]["accepted"]) == ("city", True)
    assert file_of(quiet, project, "city") == "Bern;CH;*\nThun;CH;*\nGenf;CH;*\n"
    assert [one.partition(":")[0] for one in found["job.csv"]["problems"]] == ["row 3, 'nurse;care'", "row 2, 'cook'"]
    assert found["age.csv"]["total"] == 3
    assert "'27'" in found["age.csv"]["problems"][0]
    assert "the file is not UTF-8" in found["born.csv"]["problems"][0]
    assert "the file name matches no column" in found["nobody.csv"]["problems"][0]
    assert file_of(quiet, project, "job") == before
    assert [p for p in (quiet.studio.folders.project(project)).iterdir() if p.name.startswith("tmp")] == []


def test_odd_names_and_large_files_are_refused(people: tuple[Quiet, str]) -> None:
    quiet, project = people
    found = sent(quiet, project, **{"../../city": b"Bern;*\n"}).json()
    assert found[0]["name"] == "city.csv"
    deep = sent(quiet, project, city=b";".join([b"Bern"] * 40)).json()
    assert any("40 levels, more than 30" in one for one in deep[0]["problems"])
    large = sent(quiet, project, city=b"a;*\n" * 700_000)
    assert large.status_code in (413, 422)
    empty = sent(quiet, project, city=b"").json()
    assert (empty[0]["accepted"], "the file has no rows" in empty[0]["problems"][0]) == (False, True)


def test_the_form_shows_before_it_keeps(people: tuple[Quiet, str]) -> None:
    quiet, project = people
    fields = {"column": "4", "by": "groups", "with": "nurse;care\r\ncook;food", "other": "rest"}
    seen = quiet.post(project, "hierarchy", **fields, act="look")
    assert seen.status_code == 200
    assert "Preview: 3 levels: 3 → 3 → 1" in seen.text
    assert "care <small>2</small>" in seen.text
    assert "nurse;care\ncook;food</textarea>" in seen.text  # what was typed stays
    assert file_of(quiet, project, "job") == "cook;*\nnurse;*\nteacher;*\n"
    assert quiet.post(project, "hierarchy", **fields, act="keep").status_code == 303
    assert file_of(quiet, project, "job") == "cook;food;*\nnurse;care;*\nteacher;rest;*\n"
    assert "built by groups" in quiet.page(project)
    wrong = quiet.post(project, "hierarchy", **fields | {"other": ""}, act="keep")
    assert wrong.status_code == 422
    assert "groups cannot group these values: 'teacher'" in html.unescape(wrong.text)
    assert quiet.post(project, "hierarchy", column="4", first="yes").status_code == 303
    assert file_of(quiet, project, "job") == "cook;*\nnurse;*\nteacher;*\n"


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_client(server: Server) -> Iterator[Program]:
    with contextlib.closing(server.client()) as client:
        yield client


@pytest.fixture
def project(own_client: Program) -> str:
    made = str(own_client.post("/api/v1/projects", json={"name": "Groups"}).json()["id"])
    at = f"/api/v1/projects/{made}"
    job = own_client.put(f"{at}/file", params={"name": "people.csv"}, content=PEOPLE.encode())
    assert wait_for(own_client, job.json()["id"])["state"] == "done"
    job = own_client.put(f"{at}/schema", json={"content": SCHEMA})
    assert wait_for(own_client, job.json()["id"])["state"] == "done"
    return made


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("locale", "theme", "width"), [("en-GB", "light", 1200), ("ja-JP", "dark", 390)], ids=["en", "ja-phone"]
)
def test_groups_by_mouse_and_by_keyboard(
    server: Server, browser: Any, project: str, own_client: Program, locale: str, theme: str, width: int
) -> None:
    looks = {"locale": locale, "color_scheme": theme, "viewport": {"width": width, "height": 900}}
    with watched(browser, server.address, **looks) as page:
        page.goto(f"/projects/{project}/data")
        page.locator("#hierarchy-4 > summary").click()
        page.locator("#hierarchy-4 .builder > summary").click()
        page.locator("#by-4").select_option("groups")
        boxes, new = page.locator("#hierarchy-4 .group-box"), page.locator("#hierarchy-4 .group-new input")
        for name in ("food", "care"):
            new.fill(name)
            page.keyboard.press("Enter")
        expect(boxes).to_have_count(3)
        # by mouse: cook to food; without one: nurse to care
        page.locator("#hierarchy-4 .group-value", has_text="cook").drag_to(boxes.nth(2))
        expect(page.locator("#with-4")).to_have_value("cook;food")
        page.locator("#hierarchy-4 .group-value", has_text="nurse").locator("select").focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#with-4")).to_have_value("cook;food\nnurse;care")
        page.locator("#other-4").fill("rest")
        without_axe_violations(page)
        without_overflow(page)
        with another_page(page):
            page.locator("#hierarchy-4 button[value=look]").click()
        page.locator("#hierarchy-4 .builder-form > h3").wait_for()
        without_axe_violations(page)
        with another_page(page):
            page.locator("#hierarchy-4 button[value=keep]").click()
        page.locator("#hierarchy-4[open] > summary .badge").wait_for()
        kept = own_client.get(f"/api/v1/projects/{project}/hierarchy", params={"column": "job"}).text
        assert kept == "cook;food;*\nnurse;care;*\nteacher;rest;*\n"


@pytest.mark.slow
@pytest.mark.browser
def test_many_files_in_a_browser(server: Server, browser: Any, project: str) -> None:
    with watched(browser, server.address) as page:
        page.goto(f"/projects/{project}/data")
        files = [
            {"name": "city.csv", "mimeType": "text/csv", "buffer": b"Bern;CH;*\nThun;CH;*\nGenf;CH;*\n"},
            {"name": "job.csv", "mimeType": "text/csv", "buffer": b"cook;food;*\ncook;care;*\n"},
        ]
        page.locator("form.many input[type=file]").set_input_files(files)
        page.get_by_text("job.csv: not used").wait_for()
        page.get_by_text("row 2, 'cook': the value is listed twice").wait_for()
        without_axe_violations(page)
        with another_page(page):
            page.locator("form.many").get_by_role("button", name="Show", exact=True).click()
        page.locator("#hierarchy-1 > summary .badge", has_text="your file").wait_for()
