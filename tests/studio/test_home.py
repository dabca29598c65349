"""The first page: every project with its finding, and the way to a new one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient
from tests.studio.browsing import another_page, at_rest, watched, without_axe_violations, without_overflow
from tests.studio.in_process import Server

from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.rule import DEFAULT
from noren.studio.app import make_app
from noren.studio.store import State, Store
from noren.web.settings import ServerSettings

FACTS = {"rows": 12_000, "kind": "history", "people": 400}


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[TestClient]:
    """A studio without its background work, so that its store can be written by hand."""
    app = make_app(ServerSettings(tmp_path, samples=False))
    yield TestClient(app, base_url="http://127.0.0.1:8321", follow_redirects=False, headers={"Accept-Language": "en"})
    app.state.studio.close()


def store_of(client: TestClient) -> Store:
    found: Store = client.app.state.studio.store  # type: ignore[attr-defined]
    return found


def judged(verdict: str, use: float | None) -> dict[str, Any]:
    """Return the summary of a run that was judged by the rule of a new project."""
    place = RiskUtilityPoint(label="x", status=verdict, use=use, risk=0.1)
    return {"judged": {"rule": DEFAULT.as_dict(), "place": place.model_dump(mode="json")}}


def add_run(store: Store, project: str, verdict: str, use: float | None) -> None:
    job = store.add_job(project, "run", "thin", {})
    store.change_job(job.id, state=State.DONE, summary=judged(verdict, use))


def heading(answer: Any) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", answer.text, re.DOTALL)
    assert found
    return found[1]


def test_the_name_of_a_project_is_no_html(quiet: TestClient) -> None:
    project = store_of(quiet).add_project("<b onclick=x>Shop</b>", {})
    for address in ("/", f"/projects/{project.id}/data"):
        page = quiet.get(address)
        assert page.status_code == 200
        assert "<b onclick" not in page.text
        assert "&lt;b onclick=x&gt;Shop&lt;/b&gt;" in page.text


# --- what it tells -----------------------------------------------------------------------------------------


def test_an_empty_studio_says_what_to_do_first(quiet: TestClient) -> None:
    answer = quiet.get("/")
    assert heading(answer) == "There are no projects yet. Begin with a file or synthetic data."
    assert "Shop purchases (synthetic)" in answer.text
    intro = re.search(r'<section class="intro".*?</section>', answer.text, re.DOTALL)
    assert intro is not None
    assert intro[0].count(". ") + intro[0].count(".</p>") == 2  # two sentences, an example, and one click to try
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', intro[0]))
    assert (fields["name"], fields["source"]) == ("Shop purchases (synthetic)", "sample:history")


def test_a_project_tells_what_it_holds(quiet: TestClient) -> None:
    store = store_of(quiet)
    project = store.add_project("Shop <A>", {"sample": "history"})
    store.change_project(project.id, facts=FACTS)
    answer = quiet.get("/")
    assert heading(answer) == "1 project is not protected yet"
    assert "Shop &lt;A&gt;" in answer.text
    assert "Purchase history · 12,000 rows of 400 people" in answer.text
    assert f'href="/projects/{project.id}/protect"' in answer.text


def test_the_best_verdict_leads(quiet: TestClient) -> None:
    store = store_of(quiet)
    first, second = (store.add_project(name, {}).id for name in ("One", "Two"))
    for project in (first, second):
        store.change_project(project, facts=FACTS)
    add_run(store, first, "broken", 0.9)
    answer = quiet.get("/")
    assert heading(answer) == "No project has a release that can be shared yet"
    assert "Utility kept 0.900" in answer.text
    add_run(store, first, "withstands", 0.25)
    add_run(store, first, "withstands", 0.5)
    answer = quiet.get("/")
    assert heading(answer) == "1 of 2 projects has a release that can be shared"
    assert "● withstands" in answer.text
    assert "Utility kept 0.500" in answer.text
    assert "3 runs" in answer.text


def test_reading_and_its_failure_are_told_in_place(quiet: TestClient) -> None:
    store = store_of(quiet)
    project = store.add_project("File", {"file": "a.csv"})
    job = store.add_job(project.id, "read", "File", {})
    assert f'data-job="{job.id}"' in quiet.get("/").text
    store.change_job(job.id, state=State.FAILED, error={"message": "row 3: “x” is no number", "cure": "write one"})
    answer = quiet.get("/").text
    assert "row 3: “x” is no number" in answer
    assert "write one" in answer


# --- what it does ------------------------------------------------------------------------------------------


def test_a_project_is_begun_by_a_form(client: httpx.Client) -> None:
    answer = client.post("/projects", data={"name": "  By   form ", "source": "sample:people"})
    assert answer.status_code == 303
    project = answer.headers["location"].split("/")[2]
    said = client.get(f"/api/v1/projects/{project}").json()
    assert (said["name"], said["source"]) == ("By form", {"sample": "people"})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"name": " ", "source": ""}, "a name or reason needs 1 to 120 characters; change it"),
        ({"name": "Kept words", "source": "sample:gold"}, "use one of history, people"),
        ({"name": "Kept words", "source": "dataset:gold"}, "gold"),
    ],
)
def test_a_wrong_form_says_why_and_keeps_what_was_typed(client: httpx.Client, typed: dict[str, str], said: str) -> None:
    before = len(client.get("/api/v1/projects").json())
    answer = client.post("/projects", data=typed)
    assert answer.status_code == 422
    assert said in answer.text
    assert f'value="{typed["name"]}"' in answer.text
    assert len(client.get("/api/v1/projects").json()) == before


def test_a_page_that_answers_a_form_comes_back_to_the_form(client: httpx.Client) -> None:
    answer = client.post("/projects", data={"name": " "}, headers={"Referer": str(client.base_url) + "?tour=1"})
    assert 'name="back" value="/?tour=1"' in answer.text
    strange = client.post("/projects", data={"name": " "}, headers={"Referer": "https://evil.example/about"})
    assert 'name="back" value="/"' in strange.text


def test_a_project_is_renamed(client: httpx.Client) -> None:
    project = client.post("/api/v1/projects", json={"name": "Old"}).json()["id"]
    assert client.post(f"/projects/{project}/rename", data={"name": "New"}).headers["location"] == "/"
    assert client.get(f"/api/v1/projects/{project}").json()["name"] == "New"
    wrong = client.post(f"/projects/{project}/rename", data={"name": " "})
    assert wrong.status_code == 422
    assert "a name or reason needs 1 to 120 characters; change it" in wrong.text


def test_a_project_is_removed_only_by_who_is_sure(client: httpx.Client) -> None:
    project = client.post("/api/v1/projects", json={"name": "Short-lived"}).json()["id"]
    asked = client.post(f"/projects/{project}/remove")
    assert asked.status_code == 200
    assert "Remove “Short-lived” with its data and 0 runs?" in asked.text
    assert client.get(f"/api/v1/projects/{project}").status_code == 200
    assert client.post(f"/projects/{project}/remove", data={"sure": "yes"}).status_code == 303
    assert client.get(f"/api/v1/projects/{project}").status_code == 404
    assert client.post(f"/projects/{project}/remove", data={"sure": "yes"}).status_code == 404


@pytest.mark.parametrize("project", ["..", "x", "nothere23456"])
def test_what_is_no_project_is_not_there(client: httpx.Client, project: str) -> None:
    answer = client.post(f"/projects/{project}/remove", data={"sure": "yes"})
    assert answer.status_code in (404, 405, 422)


# --- in a browser ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("locale", "scheme", "width"), [("en-GB", "light", 1280), ("ja-JP", "dark", 1280), ("ja-JP", "light", 390)]
)
def test_the_page_fits_everybody(
    server: Server, client: httpx.Client, browser: Any, locale: str, scheme: str, width: int
) -> None:
    client.post("/api/v1/projects", json={"name": "W" * 120})
    viewport = {"width": width, "height": 800}
    with watched(browser, server.address, locale=locale, color_scheme=scheme, viewport=viewport) as page:
        page.goto("/")
        expect(page.locator("html")).to_have_attribute("lang", locale[:2])
        paper = "rgb(251, 250, 247)" if scheme == "light" else "rgb(20, 23, 28)"
        expect(page.locator("body")).to_have_css("background-color", paper)
        without_overflow(page)
        without_axe_violations(page)


@pytest.mark.slow
@pytest.mark.browser
def test_the_theme_is_chosen_in_the_bar(browser_page: Any) -> None:
    browser_page.goto("/about")
    browser_page.get_by_role("button", name="Dark").click()
    expect(browser_page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(browser_page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    browser_page.wait_for_url("**/about")
    browser_page.get_by_role("button", name="日本語").click()
    expect(browser_page.locator("html")).to_have_attribute("lang", "ja")
    browser_page.wait_for_url("**/about")


@pytest.mark.slow
@pytest.mark.browser
def test_removing_asks_first(browser_page: Any, client: httpx.Client) -> None:
    project = client.post("/api/v1/projects", json={"name": "To be removed"}).json()["id"]
    browser_page.goto("/")
    at_rest(browser_page)
    card = browser_page.locator(".project-card", has=browser_page.get_by_role("link", name="To be removed"))
    card.locator("summary").click()
    card.get_by_role("button", name="Remove").click()
    asked = browser_page.get_by_role("dialog")
    expect(asked).to_contain_text("Remove “To be removed” with its data and 0 runs?")
    browser_page.keyboard.press("Escape")
    expect(asked).to_be_hidden()
    assert client.get(f"/api/v1/projects/{project}").status_code == 200
    card.get_by_role("button", name="Remove").click()
    with another_page(browser_page):
        asked.get_by_role("button", name="Remove").click()
    expect(card).to_have_count(0)
    assert client.get(f"/api/v1/projects/{project}").status_code == 404


@pytest.mark.slow
@pytest.mark.browser
def test_what_is_read_meanwhile_takes_nothing_away(server: Server, browser_page: Any) -> None:
    store, page = Store(f"sqlite:///{server.folder / 'studio.sqlite'}"), browser_page
    project = store.add_project("Being read", {"file": "a.csv"}).id
    job = store.add_job(project, "read", "Being read", {}).id
    store.change_job(job, state=State.RUNNING, done=0.5)
    page.goto("/")
    page.locator("#new-name").fill("Half typed")
    card = page.locator(f"#project-{project}")
    card.locator("summary").click()
    card.get_by_role("button", name="Remove").click()
    asked = page.get_by_role("dialog")
    expect(asked).to_be_visible()
    store.change_project(project, facts=FACTS)
    store.change_job(job, state=State.DONE, done=1.0)
    expect(page.locator("#live")).to_have_text("done")
    expect(asked).to_be_visible()  # the question is answered first
    expect(card.locator("progress")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(card).to_contain_text("12,000 rows")
    expect(card.locator("progress")).to_have_count(0)
    expect(card.locator("details")).to_have_attribute("open", "")
    expect(page.locator("#new-name")).to_have_value("Half typed")
    store.remove_project(project)
    store.close()


@pytest.mark.slow
@pytest.mark.browser
def test_it_works_without_scripts(server: Server, browser: Any) -> None:
    with watched(browser, server.address, java_script_enabled=False) as page:
        page.goto("/")
        page.locator("#new-name").fill("No script")
        page.locator("#new-source").select_option("sample:people")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/projects/*/data")
