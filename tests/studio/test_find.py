"""Find me a release for a partner, the public or inside: one button, a few runs, and what to take on Compare."""

from __future__ import annotations

import datetime as dt
import html
import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow
from tests.studio.conftest import small_project, wait_for
from tests.studio.in_process import Program, Server
from tests.studio.quiet import PEOPLE, SHOP, Quiet, heading

from noren.data.reading import read
from noren.data.schema import Schema
from noren.i18n import use_language
from noren.studio.actions.projects import answer, set_schema
from noren.studio.actions.runs import Search, more_seeds, search_for, start_run, start_search
from noren.studio.forms.columns import open_stops
from noren.studio.store import Job, State
from noren.sweeps.sweep import build_request, run


@pytest.fixture
def waiting(quiet: Quiet) -> Quiet:
    """A studio whose runs wait; readings are done at once."""
    submit = quiet.studio.jobs.submit

    def only_read(job: Job, **_values: Any) -> None:
        if job.kind == "read":
            submit(job)

    quiet.studio.jobs.submit = only_read  # type: ignore[method-assign]
    return quiet


def shop(quiet: Quiet, customers: int) -> str:
    """Return a project of purchases, two of each customer."""
    lines = [f"c{n},2010/12/{1 + n % 28},tea{n % 3},1.50,{1 + n % 4}" for n in range(customers) for _row in range(2)]
    project = quiet.upload("\n".join(["customer,date,item,price,quantity", *lines]) + "\n", "shop.csv")
    if open_stops(quiet.studio.project(project).facts):
        answer(quiet.studio, project=project, about="kind", column=None, value="history")
    return project


def names(search: Search) -> tuple[str, ...]:
    return tuple(one["method"] for one in search.methods)


def ks(search: Search) -> list[int]:
    return list(search.methods[0]["parameters"]["k"])


def test_what_is_tried_follows_the_rule(waiting: Quiet) -> None:
    project = shop(waiting, 30)
    asked = {rule: search_for(waiting.studio, project, rule) for rule in ("partner", "public", "inside")}
    assert {names(one) for one in asked.values()} == {("generalize", "generalize-by-count")}
    with use_language("ja"):
        assert search_for(waiting.studio, project, "partner") == asked["partner"]
    assert {rule: ks(one) for rule, one in asked.items()} == {
        "partner": [4, 5, 8],
        "public": [10, 11, 17],
        "inside": [2, 3, 5],
    }


def test_where_only_quick_attacks_judge_nothing_unproved_is_tried(
    waiting: Quiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = shop(waiting, 30)
    monkeypatch.setattr("noren.studio.actions.runs._MANY_ROWS", 59)
    asked = search_for(waiting.studio, project, "partner")
    assert ks(asked) == [5, 8]
    assert asked.attacks is not None
    assert "cell-error" in (asked.measures or ())
    assert "ensemble" not in asked.attacks
    assert names(asked) == ("generalize", "generalize-by-count")
    assert "measures that take long are left out" in waiting.client.get(f"/projects/{project}/protect").text
    monkeypatch.setattr("noren.studio.actions.runs._TOO_MANY_ROWS", 59)
    assert names(search_for(waiting.studio, project, "partner")) == ("generalize-by-count",)


def test_a_button_judges_by_its_rule_and_starts_the_runs_once(waiting: Quiet) -> None:
    project = shop(waiting, 30)
    page = waiting.client.get(f"/projects/{project}/protect").text
    assert page.index("Find me a release for") < page.index("Or choose yourself")
    for _time in range(2):
        answer = waiting.client.post(f"/projects/{project}/find", data={"rule": "public", "csrf": waiting.csrf})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/projects/{project}/compare")
        jobs = waiting.studio.store.jobs(project, kind="run")
        assert [job.label for job in jobs] == [
            f"{method}, k = {k}" for method in ("generalize", "generalize-by-count") for k in (10, 11, 17)
        ]
        assert {job.order["rule"] for job in jobs} == {"public"}
    assert waiting.studio.project(project).rule == "public"
    page = waiting.client.get(f"/projects/{project}/compare").text
    assert heading(page) == "Searching: 0 of 6 settings tried"
    assert "6 runs are under way · 0%" in page
    stopped = waiting.client.post(f"/projects/{project}/compare/stop", data={"csrf": waiting.csrf})
    assert (stopped.status_code, stopped.headers["location"]) == (303, f"/projects/{project}/compare")
    assert {job.state for job in waiting.studio.store.jobs(project, kind="run")} == {State.CANCELLED}
    assert 'id="searching"' not in waiting.client.get(f"/projects/{project}/compare").text


def test_a_search_says_how_far_it_is_and_what_is_best_so_far(waiting: Quiet) -> None:
    project = shop(waiting, 30)
    jobs = start_search(waiting.studio, project=project, rule="partner")
    store, began = waiting.studio.store, dt.datetime.now(dt.UTC) - dt.timedelta(minutes=2)
    waiting._do(jobs[-1])
    for job in jobs[:-1]:
        store.change_job(job.id, state=State.RUNNING, done=0.4, started=began.isoformat())
    state = waiting.client.get(f"/projects/{project}/compare/state.json").json()
    done = (1 + 0.4 * (len(jobs) - 1)) / len(jobs)
    assert state["done"] == pytest.approx(done)
    assert state["finding"].startswith(f"So far, 1 of {len(jobs)} settings tried. ")
    assert re.fullmatch(
        rf"{len(jobs) - 1} runs are under way · [\d.]+% · Time left, about [23]:[024]0", state["waiting"]
    )


def test_another_rule_is_announced_before_it_is_set(waiting: Quiet) -> None:
    project = shop(waiting, 30)
    page = html.unescape(waiting.client.get(f"/projects/{project}/protect").text)
    for rule in ("public", "inside"):
        assert f"The rule of this project changes from partner to {rule}, for every release of it." in page
    assert "changes from partner to partner" not in page


def test_columns_that_a_search_empties_are_named_before(waiting: Quiet) -> None:
    project = waiting.upload(SHOP)
    answer(waiting.studio, project, "role", "shelf", "other")
    page = waiting.client.get(f"/projects/{project}/protect").text
    assert "shelf: empty in every release that is found here" in page
    assert "empty in every release" not in waiting.client.get(f"/projects/{shop(waiting, 30)}/protect").text


def test_a_table_with_sensitive_values_is_asked_for_two_in_each_class(waiting: Quiet) -> None:
    rows = "".join(f"P{n},{20 + n},805{n % 4},1990-05-{1 + n % 28:02},{'low' if n % 2 else 'high'}\n" for n in range(9))
    project = waiting.upload(PEOPLE.splitlines()[0] + "\n" + rows, "people.csv")
    schema = waiting.studio.schema(project)
    columns = [
        one.model_copy(update={"role": "sensitive" if one.name == "income" else one.role}) for one in schema.columns
    ]
    set_schema(waiting.studio, project=project, toml=schema.model_copy(update={"columns": tuple(columns)}).to_toml())
    jobs = start_search(waiting.studio, project=project, rule="inside")
    assert {job.order["steps"][0]["parameters"]["l"] for job in jobs} == {2}


@pytest.mark.parametrize("customers", [1, 2, 4])
def test_too_few_people_are_told_and_change_nothing(waiting: Quiet, customers: int) -> None:
    project = shop(waiting, customers)
    answer = waiting.client.post(f"/projects/{project}/find", data={"rule": "partner", "csrf": waiting.csrf})
    assert answer.status_code == 422
    assert f"describe {customers} people, and this rule requires classes of 5; use" in html.unescape(answer.text)
    assert waiting.studio.store.jobs(project, kind="run") == []
    assert "disabled" in waiting.client.get(f"/projects/{project}/protect").text


def test_a_rule_that_no_button_has_is_refused(waiting: Quiet) -> None:
    project = shop(waiting, 9)
    answer = waiting.client.post(f"/projects/{project}/find", data={"rule": "/etc/x.toml", "csrf": waiting.csrf})
    assert answer.status_code == 422
    assert "use one of partner, public, inside" in answer.text
    stranger = waiting.client.post(f"/projects/{project}/find", data={"rule": "inside"}, headers={"X-CSRF-Token": ""})
    assert stranger.status_code == 403
    assert waiting.client.post(f"/api/v1/projects/{project}/find", json={"rule": "pwscup2018"}).status_code == 422


def test_more_seeds_are_runs_of_the_same_setting(waiting: Quiet) -> None:
    project = shop(waiting, 30)
    studio = waiting.studio
    first = start_run(
        studio,
        project=project,
        steps=[{"method": "thin", "parameters": {"share": 0.3}}],
        attacks=["jaccard"],
        measures=[],
    )
    studio.store.change_job(first.id, state=State.DONE)
    jobs = more_seeds(studio, first.id)
    assert len({job.order["seed"] for job in [first, *jobs]}) == 5
    assert {job.label for job in jobs} == {first.label}
    assert all(job.order["attacks"] == ["jaccard"] and job.order["measures"] == [] for job in jobs)


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
def test_a_first_visit_ends_with_what_to_take(server: Server, browser: Any, client: Program, tmp_path: Any) -> None:
    project = small_project(client, tmp_path, customers=20, rows=200)
    with watched(browser, server.address, viewport={"width": 1200, "height": 800}) as page:
        page.goto(f"/projects/{project}/protect")
        without_axe_violations(page)
        with another_page(page):
            page.get_by_role("button", name="Inside").click()
        page.locator('#map[data-active="0"]').wait_for()
        page.locator("#risk-map svg").first.wait_for()
        expect(page.locator("h1")).to_contain_text("Recommended: generalize")
        expect(page.locator("#answer")).to_contain_text("These numbers are from one run")
        expect(page.locator(".rule-in-force summary")).to_have_text("Rule: inside")
        without_axe_violations(page)
        said = [line.strip() for line in page.locator("#answer dd").all_inner_texts()]
        found = page.locator("h1").inner_text()
    # the command line says the same
    folder = server.folder / "projects" / project
    original = read(folder / "data.parquet", Schema.from_toml((folder / "schema.toml").read_text())).data
    asked, _left = build_request(
        original, "generalize,generalize-by-count", {"k": [2, 3, 5]}, cache=folder, rule="inside"
    )
    study = run(original, asked, cache=folder, workers=1)
    assert study.answer[0] == found
    assert study.answer[-1] in said
    options = {"viewport": {"width": 390, "height": 844}, "locale": "ja-JP", "color_scheme": "dark"}
    with watched(browser, server.address, **options) as page:
        page.goto(f"/projects/{project}/compare")
        page.locator("#risk-map svg").first.wait_for()
        without_overflow(page)
        for part in page.locator("#map-legend li").all():  # nothing of the legend is cut off
            box = part.bounding_box()
            assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
        verdict = page.locator("#runs tr td").first.bounding_box()
        assert verdict["x"] + verdict["width"] <= 390
        without_axe_violations(page)
        page.goto(f"/projects/{project}/protect")
        without_overflow(page)
        without_axe_violations(page)
    for job in client.get(f"/api/v1/projects/{project}/runs").json():
        assert wait_for(client, job["id"])["state"] == "done"
