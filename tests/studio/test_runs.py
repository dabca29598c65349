"""Runs: the page of one under way, and the list of a project's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow
from tests.studio.conftest import Running, lasting_port, ready_project, until, wait_for
from tests.studio.in_process import InProcess, Program, Server

from noren.judgement.frontier import RiskUtilityPoint
from noren.studio.pages.runs import _finding
from noren.studio.store import Job, State
from noren.studio.work import STAGES, stage_of

FEW: dict[str, Any] = {"attacks": ["unique-rows"], "measures": ["cell-error", "reid-rate", "effective"]}
LONG = {"steps": [{"method": "generalize", "parameters": {"k": 3, "effort": 3600}}], "seed": 5} | FEW
"""It searches for an hour: whoever starts it ends it."""


@pytest.fixture(scope="module")
def history(server: Server) -> str:
    with closing(server.client()) as client:
        return ready_project(client, name="To run")


@pytest.fixture
def long_job(client: httpx.Client, history: str) -> Iterator[str]:
    """A run that goes on for a while, and is cancelled when the test is over."""
    job: str = client.post(f"/api/v1/projects/{history}/runs", json=LONG).json()["id"]
    yield job
    client.post(f"/api/v1/jobs/{job}/cancel")


def started(client: httpx.Client, job: str) -> None:
    until(lambda: client.get(f"/api/v1/jobs/{job}").json()["done"] > 0, "the job begins")


# --- stages ---------------------------------------------------------------------------------------------------


def test_stages_follow_each_other_to_the_end() -> None:
    for kind, stages in STAGES.items():
        ends = [end for _name, end in stages]
        assert ends == sorted(ends)
        assert ends[-1] == 1.0
        assert [stage_of(kind, end - 1e-9) for end in ends] == [name for name, _end in stages]
    assert stage_of("run", dict(STAGES["run"])["protect"]) == "attack"


# --- what all runs say ----------------------------------------------------------------------------------------


def job(state: State) -> Job:
    return Job("a" * 12, "b" * 12, "run", "thin", None, {}, state)


@pytest.mark.parametrize(
    ("jobs", "places", "said"),
    [
        ([], [], "Nothing was protected yet"),
        ([job(State.RUNNING)], [], "1 run is under way"),
        ([job(State.FAILED)], [], "No run finished"),
        (
            [job(State.DONE)] * 2,
            [
                RiskUtilityPoint(label="thin", status="broken", use=0.9, risk=0.5),
                RiskUtilityPoint(label="k = 3", status="withstands", use=0.6),
            ],
            "1 of 2 releases meets the rule: k = 3 (withstands) keeps 60.0% of the utility",
        ),
        (
            [job(State.DONE)],
            [RiskUtilityPoint(label="thin", status="broken", use=0.5, risk=0.5)],
            "thin does not meet the rule: its risk is 50.0%",
        ),
    ],
)
def test_the_list_states_its_finding(jobs: list[Job], places: list[RiskUtilityPoint], said: str) -> None:
    assert _finding(jobs, places) == said


# --- pages ----------------------------------------------------------------------------------------------------


def test_a_run_has_one_address_from_the_order_to_the_result(server: InProcess, client: Program, history: str) -> None:
    order = {"steps": [{"method": "generalize-by-count", "parameters": {"k": 3}}]} | FEW
    with server.holding():
        job = client.post(f"/api/v1/projects/{history}/runs", json=order).json()["id"]
        address = f"/projects/{history}/runs/{job}"
        page = client.get(address)
    assert page.status_code == 200
    assert re.search(r"<h1[^>]*>generalize-by-count, k = 3: (waiting|running)</h1>", page.text)
    assert wait_for(client, job)["state"] == "done"
    over = client.get(address)
    assert (over.status_code, over.headers["location"]) == (303, f"/projects/{history}/results/{job}")
    # the list tells the same numbers as the run
    place = client.get(f"/api/v1/jobs/{job}").json()["summary"]["judged"]["place"]
    row = re.search(rf'<tr data-run="{job}".*?</tr>', client.get(f"/projects/{history}/results").text, re.DOTALL)
    assert row is not None
    assert f"U {1 - place['use']:.3f}" in row[0]
    assert f"{place['risk']:.1%}" in row[0] or place["risk"] in (0, 1)
    assert f'href="/projects/{history}/results/{job}"' in row[0]
    other = ready_project(client, name="Another")
    assert client.get(f"/projects/{other}/runs/{job}").status_code == 404
    # forms
    back = f"/projects/{history}/results"
    assert client.post(f"/jobs/{job}/again", data={"back": back}).status_code == 409
    assert client.post(f"/jobs/{job}/cancel", data={"back": "https://evil.example/"}).headers["location"] == "/"
    asked = client.post(f"/jobs/{job}/remove", data={"back": back})
    assert asked.status_code == 200
    assert "Remove generalize-by-count, k = 3 with its release?</h1>" in asked.text
    assert client.get(f"/api/v1/jobs/{job}").status_code == 200
    gone = client.post(f"/jobs/{job}/remove", data={"back": back, "sure": "yes"})
    assert (gone.status_code, gone.headers["location"]) == (303, back)
    assert client.get(address).status_code == 404
    assert client.get(f"/projects/{history}/runs").headers["location"] == back


def test_a_failed_run_says_why_and_can_be_changed(client: Program) -> None:
    people = ready_project(client, sample="people", name="Failing")
    # nothing can be known before the data are looked at: no class has so many values
    steps = [{"method": "mondrian", "parameters": {"k": 5, "l": 500, "sensitive": "illness"}}]
    job = client.post(f"/api/v1/projects/{people}/runs", json={"steps": steps}).json()["id"]
    said = wait_for(client, job)
    assert said["state"] == "failed"
    page = client.get(f"/projects/{people}/runs/{job}").text
    assert "mondrian, k = 5, l = 500, sensitive = illness: failed" in page
    assert said["error"]["message"].replace("'", "&#39;") in page
    assert f'href="/projects/{people}/protect?from={job}"' in page
    form = client.get(f"/projects/{people}/protect", params={"from": job}).text
    assert re.search(r'name="0.l" value="500"', form)
    again = client.post(f"/jobs/{job}/again")
    assert again.status_code == 303
    assert again.headers["location"].startswith(f"/projects/{people}/runs/")
    assert again.headers["location"] != f"/projects/{people}/runs/{job}"


def test_cancel_by_form_and_start_again(client: httpx.Client, history: str, long_job: str) -> None:
    address = f"/projects/{history}/runs/{long_job}"
    asked = client.post(f"/jobs/{long_job}/cancel", data={"back": address})
    assert asked.status_code == 200
    assert "? Unfinished work is lost.</h1>" in asked.text
    assert f'<a class="button" href="{address}">No, go back</a>' in asked.text
    assert client.get(f"/api/v1/jobs/{long_job}").json()["state"] in ("waiting", "running")
    sure = {"back": address, "sure": "yes"}
    assert client.post(f"/jobs/{long_job}/cancel", data=sure).headers["location"] == address
    page = client.get(address).text
    assert ": cancelled</h1>" in page
    assert f'action="/jobs/{long_job}/again"' in page
    assert client.post(f"/jobs/{long_job}/cancel", data={"back": address}).status_code == 303  # twice does no harm


@pytest.mark.slow
def test_a_long_list_has_pages(client: Program, history: str) -> None:
    project = ready_project(client, name="Many runs")
    methods = [{"method": "thin", "parameters": {"share": [round(0.01 * i, 2) for i in range(1, 53)]}}]
    jobs = client.post(f"/api/v1/projects/{project}/sweeps", json={"methods": methods} | FEW).json()
    assert len(jobs) == 52
    for job in jobs:
        client.post(f"/api/v1/jobs/{job['id']}/cancel")
    first = client.get(f"/projects/{project}/results").text
    second = client.get(f"/projects/{project}/results", params={"start": 50}).text
    assert [page.count("<tr data-run=") for page in (first, second)] == [50, 2]
    assert first.index("share = 0.52") < first.index("share = 0.51")  # the newest first


def test_events_of_a_project_tell_what_moves(client: httpx.Client, history: str, long_job: str) -> None:
    with client.stream("GET", f"/api/v1/projects/{history}/events") as events:
        line = next(line for line in events.iter_lines() if line.startswith("data: "))
    assert f'"id": "{long_job}"' in line
    assert "seed" not in line
    assert client.get("/api/v1/projects/aaaaaaaaaaaa/events").status_code == 404


# --- in a browser ---------------------------------------------------------------------------------------------


NEWS = """() => {
    const [news, enough] = ["news", "enough"].map((id) => document.getElementById(id));
    new MutationObserver(() => heard(news.textContent, enough.hidden)).observe(news, {childList: true});
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_progress_reload_second_tab_and_keeping_the_best(
    server: Server, browser: Any, history: str, long_job: str
) -> None:
    address = f"/projects/{history}/runs/{long_job}"
    news: list[tuple[str, bool]] = []
    with watched(browser, server.address) as page, watched(browser, server.address) as tab:
        page.expose_function("heard", lambda *said: news.append(said))
        page.goto(address)
        page.locator("#best").wait_for()
        expect(page.locator('.stages [aria-current="step"]')).to_have_text("Protect")
        without_axe_violations(page)
        page.reload()
        tab.goto(address)
        for one in (page, tab):
            one.locator("#enough").wait_for()
            expect(one.locator("#best-value")).to_have_text(re.compile(r"^0\.(?!000)\d{3}$"))
        page.evaluate(NEWS)  # the page goes on as soon as the run does
        page.locator("#enough").click()
        for one in (page, tab):
            one.wait_for_url("**/results/**")
    assert ("Stopping; the best result so far is kept.", True) in news


@pytest.mark.slow
@pytest.mark.browser
def test_cancel_in_one_tab_shows_in_the_other_without_events(
    server: Server, browser: Any, client: httpx.Client, history: str, long_job: str
) -> None:
    address = f"/projects/{history}/runs/{long_job}"
    with watched(browser, server.address) as page, watched(browser, server.address) as old:
        old.add_init_script("delete window.EventSource")  # asking now and then must do
        old.goto(address)
        page.goto(address)
        started(client, long_job)
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("dialog").get_by_role("button", name="No, go back").click()
        assert client.get(f"/api/v1/jobs/{long_job}").json()["state"] == "running"
        page.get_by_role("button", name="Cancel").click()
        without_axe_violations(page)
        page.get_by_role("dialog").get_by_role("button", name="Cancel job").click()
        for one in (page, old):
            one.get_by_role("heading", name="generalize, k = 3, effort = 3600: cancelled").wait_for()
        without_axe_violations(page)


@pytest.mark.slow
@pytest.mark.browser
def test_the_list_is_live_and_fits_a_phone(
    server: Server, browser: Any, client: httpx.Client, history: str, long_job: str
) -> None:
    started(client, long_job)
    with watched(browser, server.address, viewport={"width": 390, "height": 800}) as page:
        page.goto(f"/projects/{history}/results")
        row = page.locator(f'[data-run="{long_job}"]')
        row.locator("progress").wait_for()
        without_axe_violations(page)
        without_overflow(page)
        client.post(f"/api/v1/jobs/{long_job}/cancel")
        page.locator(f'[data-run="{long_job}"][data-state="cancelled"]').wait_for()
        row.get_by_role("button", name="Remove").click()
        with another_page(page):
            page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(row).to_have_count(0)


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_outlives_a_restart_of_the_studio(browser: Any, tmp_path: Path) -> None:
    own = Running(tmp_path / "own", "--no-samples", port=lasting_port()).start()
    try:
        with closing(own.client()) as client:
            project = ready_project(client)
            job = client.post(f"/api/v1/projects/{project}/runs", json=LONG).json()["id"]
            started(client, job)
        tab = watched(browser, own.address)
        with tab as page:
            page.goto(f"/projects/{project}/runs/{job}")
            page.locator("#enough").wait_for()
            own.kill()
            page.get_by_text("The server does not answer").wait_for()
            page.evaluate("document.getElementById('enough').hidden = true")  # until the run says more
            own.start()
            expect(page.locator("#news")).to_be_empty()
            page.locator("#enough").wait_for()
            page.get_by_role("button", name="Cancel").click()
            page.get_by_role("dialog").get_by_role("button", name="Cancel job").click()
            page.get_by_role("heading", name=": cancelled").wait_for()
            tab.wrong.clear()  # the browser tells of every request nobody answered
    finally:
        own.stop()
