"""Compare: every run a point on the map, and a form that adds many."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, without_axe_violations
from tests.studio.conftest import ready_project, small_project, wait_for
from tests.studio.in_process import Program

from noren.data.reading import read
from noren.data.schema import Schema
from noren.judgement.frontier import RiskUtilityPoint, frontier
from noren.studio.pages.compare import _ranges
from noren.sweeps.advice import rule_text
from noren.sweeps.study import SweepStudy
from noren.sweeps.sweep import build_request, run

QUICK: dict[str, Any] = {"attacks": ["unique-rows"], "measures": ["cell-error", "reid-rate", "effective"]}


def swept(client: Program) -> tuple[str, list[dict[str, Any]]]:
    """Return a project with three finished runs."""
    project = ready_project(client)
    methods = [
        {"method": "generalize-by-count", "parameters": {"k": "2..3"}},
        {"method": "pseudonymize", "parameters": {}},
    ]
    started = client.post(f"/api/v1/projects/{project}/sweeps", json=QUICK | {"methods": methods, "seed": 3})
    assert started.status_code == 202
    jobs = [wait_for(client, job["id"]) for job in started.json()]
    assert {job["state"] for job in jobs} == {"done"}
    return project, jobs


def test_a_sweep_is_a_run_for_each_value(client: Program) -> None:
    project, jobs = swept(client)
    labels = ["generalize-by-count, k = 2", "generalize-by-count, k = 3", "pseudonymize"]
    assert [job["label"] for job in jobs] == labels
    assert len({job["sweep"] for job in jobs}) == 1
    state = client.get(f"/projects/{project}/compare/state.json").json()
    assert [run["label"] for run in state["runs"]] == labels[::-1]
    by_label = {run["label"]: run for run in state["runs"]}
    assert by_label["pseudonymize"]["use"] == 1.0
    for job in jobs:
        result = client.get(f"/api/v1/runs/{job['id']}/result").json()
        error = next(m["value"] for m in result["measures"] if m["name"] == "cell-error")
        assert by_label[job["label"]]["use"] == pytest.approx(1 - error, abs=1e-12)
        assert by_label[job["label"]]["risk"] == result["place"]["risk"]
        assert by_label[job["label"]]["verdict"] == result["verdict"]["verdict"]
    points = client.get(f"/api/v1/projects/{project}/map").json()
    best = frontier(
        [RiskUtilityPoint.model_validate({n: p[n] for n in RiskUtilityPoint.model_fields}) for p in points["points"]]
    )
    assert points["frontier"] == best


def test_compare_says_what_explore_says(client: Program) -> None:
    project, _jobs = swept(client)
    state = client.get(f"/projects/{project}/compare/state.json").json()
    folder = client.server.folder / "projects" / project
    original = read(folder / "data.parquet", Schema.from_toml((folder / "schema.toml").read_text())).data

    def explored(rule: str) -> SweepStudy:
        methods, values = "generalize-by-count,pseudonymize", {"k": "2..3"}
        asked, _left = build_request(original, methods, values, seeds=[3], rule=rule, **QUICK)
        return run(original, asked, cache=folder, workers=1)

    study = explored("partner")
    assert study.computed == 0  # the studio did all of it
    assert [state["finding"], *state["answer"]] == study.answer
    assert state["rule"] == rule_text(study.request.rule, study.choices)
    taken = [one.label for one in study.settings if one.recommended]
    assert {run["label"] for run in state["runs"] if run["mark"] == "taken"} == set(taken)
    page = html.unescape(client.get(f"/projects/{project}/compare").text)
    assert all(line in page for line in study.answer[1:])
    client.patch(f"/api/v1/projects/{project}", json={"rule": "inside"})
    other = client.get(f"/projects/{project}/compare/state.json").json()
    assert [other["finding"], *other["answer"]] == explored("inside").answer


def test_several_seeds_are_one_place(client: Program) -> None:
    project = ready_project(client)
    steps = [{"method": "thin", "parameters": {"share": 0.3}}]
    for seed in (1, 2):
        job = client.post(f"/api/v1/projects/{project}/runs", json=QUICK | {"steps": steps, "seed": seed}).json()
        wait_for(client, job["id"])
    state = client.get(f"/projects/{project}/compare/state.json").json()
    assert len(state["runs"]) == 2
    assert state["finding"].startswith("No setting meets your rule. The safest is thin, share = 0.3")
    rows = [layer["data"]["values"] for layer in state["chart"]["layer"] if "data" in layer]
    assert max(len(some) for some in rows) == 1


def test_a_sweep_without_seed_and_values_is_that_of_explore(client: Program) -> None:
    project = ready_project(client)
    order = {"methods": [{"method": "thin", "parameters": {}}], "attacks": [], "measures": ["cell-error"]}
    jobs = client.post(f"/api/v1/projects/{project}/sweeps", json=order).json()
    assert [wait_for(client, job["id"])["state"] for job in jobs] == ["done"] * 3
    folder = client.server.folder / "projects" / project
    original = read(folder / "data.parquet", Schema.from_toml((folder / "schema.toml").read_text())).data
    asked, _left = build_request(original, "thin", attacks=[], measures=["cell-error"], cache=folder)
    assert run(original, asked, cache=folder, workers=1).computed == 0


@pytest.mark.parametrize(
    ("text", "values"), [("2..4", ["2..4"]), ("2, 3 ,5", ["2", "3", "5"]), ("2…4", ["2..4"]), ("2、3", ["2", "3"])]
)
def test_values_are_read_as_people_write_them(text: str, values: list[str]) -> None:
    assert _ranges({"method": "m", "parameter": "k"}, {"values-m": text}) == {"k": values}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "choose at least one method"),
        ({"use-generalize-by-count": "1", "values-generalize-by-count": ""}, "no value is given"),
        ({"use-generalize-by-count": "1", "values-generalize-by-count": "2..x"}, "k"),
        ({"use-generalize-by-count": "1", "values-generalize-by-count": "2..999"}, "runs"),
        ({"use-generalize-by-count": "1", "values-generalize-by-count": "1"}, "k"),
    ],
)
def test_a_wrong_form_says_why_and_keeps_what_was_typed(
    client: httpx.Client, shop: str, typed: dict[str, str], said: str
) -> None:
    token = client.headers["X-CSRF-Token"]
    answer = client.post(f"/projects/{shop}/compare", data=typed | {"csrf": token})
    assert answer.status_code == 422
    box = re.search(r'class="error-message">(.*?)</p>', answer.text, re.DOTALL)
    assert box is not None
    assert said in box[1]
    for name, value in typed.items():
        if name.startswith("values-"):
            assert f'name="{name}" value="{value}"' in answer.text
    assert client.get(f"/api/v1/projects/{shop}/runs").json() == []


@pytest.mark.slow
@pytest.mark.browser
def test_the_map_fills_while_runs_go_on(client: Program, browser_page: Any, tmp_path: Path) -> None:
    project = small_project(client, tmp_path)
    page = browser_page
    page.goto(f"/projects/{project}/compare")
    expect(page.locator("h1")).to_have_text("There is nothing to compare yet")
    page.locator('input[name="use-generalize"]').uncheck()
    page.locator('input[name="use-generalize-by-count"]').check()
    page.locator('input[name="values-generalize-by-count"]').fill("3, 5")
    with another_page(page):
        page.get_by_role("button", name="Compare").click()
    # the page shows each run that ends, and is made anew when all are over
    page.locator('#map[data-active="0"]').wait_for()
    page.locator("#risk-map svg, #risk-map canvas").first.wait_for()
    expect(page.locator("#searching")).to_have_count(0)
    page.locator("tr.best").first.wait_for()
    expect(page.locator("h1")).to_have_text(
        re.compile(r"Recommended: generalize-by-count, k = \d|No setting meets your rule")
    )
    expect(page.locator("#runs tr")).to_have_count(2)
    without_axe_violations(page)
    page.locator("#runs a").first.click()
    page.wait_for_url("**/results/**")
