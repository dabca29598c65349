"""Compare: every run a point on the map, and a form that adds many."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, without_axe_violations
from tests.studio.conftest import Program, ready_project, small_project, wait_for

from noren.studio.pages.compare import _ranges
from noren.study.risk_map import risk_map

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
        found = next(m["value"] for m in result["measures"] if m["name"] == "reid-rate")
        assert by_label[job["label"]]["use"] == pytest.approx(1 - error, abs=1e-12)
        assert by_label[job["label"]]["risk"] == found
    points = client.get(f"/api/v1/projects/{project}/map").json()
    assert points == risk_map(points["points"])


@pytest.mark.parametrize(
    ("text", "values"), [("2..4", ["2..4"]), ("2, 3 ,5", ["2", "3", "5"]), ("2…4", ["2..4"]), ("2、3", ["2", "3"])]
)
def test_values_are_read_as_people_write_them(text: str, values: list[str]) -> None:
    assert _ranges({"method": "m", "parameter": "k"}, {"values-m": text}) == {"k": values}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "no method is chosen"),
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
    expect(page.locator("#waiting")).to_be_empty()
    page.locator("tr.best").first.wait_for()
    expect(page.locator("h1")).to_have_text(re.compile(r"Of 2 releases, \d withstand|None of the 2 releases"))
    expect(page.locator("#runs tr")).to_have_count(2)
    without_axe_violations(page)
    page.locator("#runs a").first.click()
    page.wait_for_url("**/results/**")
