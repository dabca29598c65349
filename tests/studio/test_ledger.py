"""The ledger in the studio: begun, weighed, added to, stopped by its budget; the numbers are the ledger's own."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, without_axe_violations
from tests.studio.conftest import ready_project, small_project, wait_for
from tests.studio.in_process import Program, Server

from noren.api import sample
from noren.data.reading import read
from noren.data.schema import Schema
from noren.ledger import Ledger

ATTACKS = ["s1", "s7"]


def begun(client: Program, folder: Path, **settings: Any) -> str:
    project = small_project(client, folder)
    made = client.post(f"/api/v1/projects/{project}/ledger", json={"attacks": ATTACKS} | settings)
    assert made.status_code == 201, made.text
    return project


def test_a_period_is_weighed_and_then_released(client: Program, server: Server, tmp_path: Path) -> None:
    project = begun(client, tmp_path, attacks=["s7"])  # whose answers do not depend on the draw of names
    first = client.get(f"/api/v1/projects/{project}/ledger").json()["to_come"][0]
    weighed = wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/weigh", json={}).json()["id"])
    assert (weighed["summary"]["period"], weighed["summary"]["released"]) == (first, False)
    assert weighed["summary"]["verdict"]["rule"]["name"] == "partner"
    assert weighed["summary"]["verdict"]["sentence"] in client.get(f"/projects/{project}/ledger").text
    assert "right_at" not in str(weighed["summary"])
    assert client.get(f"/api/v1/projects/{project}/ledger").json()["entries"] == []
    added = wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/releases", json={}).json()["id"])
    assert added["summary"]["released"] is True
    told = client.get(f"/api/v1/projects/{project}/ledger").json()
    assert [entry["period"] for entry in told["entries"]] == [first]
    assert told["entries"][0]["verdict"]["sentence"] == weighed["summary"]["verdict"]["sentence"]
    assert "Rule partner" in client.get(f"/projects/{project}/ledger").text
    assert told["entries"][0]["risk"]["emm"] == added["summary"]["after"]["emm"]
    assert first not in told["to_come"]
    assert client.get(f"/api/v1/projects/{project}/ledger/releases/1/public").status_code == 409
    terms = {"to": "A", "purpose": "B", "reason": "for tests of what is released"}
    released = client.post(f"/api/v1/projects/{project}/ledger/releases/1/publications", json=terms)
    assert released.status_code == 201
    packed = client.get(f"/api/v1/projects/{project}/ledger/releases/1/public")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert sorted(archive.namelist()) == ["public.parquet", "statement.json"]
    assert client.get(f"/api/v1/projects/{project}/ledger/releases/2/public").status_code == 404
    book = Ledger.open(server.folder / "projects" / project / "ledger")
    assert book.check() == []
    assert book.risk() is not None
    assert book.risk().emm == added["summary"]["after"]["emm"]  # type: ignore[union-attr]


def test_it_is_what_the_ledger_itself_would_do(client: Program, server: Server, tmp_path: Path) -> None:
    steps = [{"method": "monthly-pseudonyms", "parameters": {}}]
    project = begun(client, tmp_path, steps=steps)
    job = wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/releases", json={}).json()["id"])
    folder = server.folder / "projects" / project
    schema = Schema.load(folder / "schema.toml")
    own = Ledger.create(tmp_path / "own", schema=schema, chain=["monthly-pseudonyms"], attacks=ATTACKS)
    # fresh names alone: whatever the seed, the same keys give the same answers
    entry = own.add(read(folder / "data.parquet", schema).data, seed=1)
    assert job["summary"]["after"] == entry.risk.model_dump(mode="json")


def test_a_broken_budget_releases_nothing(client: Program, tmp_path: Path) -> None:
    project = begun(client, tmp_path, steps=[{"method": "monthly-pseudonyms"}], budget={"emm": 0.0})
    job = wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/releases", json={}).json()["id"])
    assert job["state"] == "done"
    assert job["summary"]["released"] is False
    assert set(job["summary"]["broken"]) == {"emm"}
    assert client.get(f"/api/v1/projects/{project}/ledger").json()["entries"] == []
    page = client.get(f"/projects/{project}/ledger").text
    assert "it would exceed the budget" in page


def test_what_is_certified_is_shown_with_the_budget(client: Program, tmp_path: Path) -> None:
    steps = [{"method": "generalize-by-count", "parameters": {"k": 2}}]
    project = begun(client, tmp_path, steps=steps, budget={"emm": 0.6})
    month = {"period": "2011/10"}  # eight people bought something
    weighed = wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/weigh", json=month).json()["id"])
    assert weighed["state"] == "done", weighed
    certificate = weighed["summary"]["certificate"]
    assert certificate["rate"]["mm"] == pytest.approx(certificate["classes"] / certificate["live"])
    assert certificate["rate"]["mm"] <= 1 / 2
    said = "Certified against every attacker"
    assert said in client.get(f"/projects/{project}/ledger").text
    wait_for(client, client.post(f"/api/v1/projects/{project}/ledger/releases", json=month).json()["id"])
    told = client.get(f"/api/v1/projects/{project}/ledger").json()
    assert told["certificate"] == told["entries"][0]["certificate"] == certificate
    page = client.get(f"/projects/{project}/ledger").text
    assert said in page
    assert "Budget for EMM: 60.0%; left: " in page


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"budget": {"emm": 2}}, 422, "emm"),
        ({"period": "day"}, 422, "period"),
        ({"rule": "../../schema.toml"}, 422, "rule"),
        ({"attacks": ["nobody"]}, 422, "nobody"),
        ({"steps": [{"method": "hierarchy", "parameters": {"k": 2}}]}, 422, "hierarchy works on a table"),
    ],
)
def test_wrong_settings_are_refused(client: Program, shop: str, asked: dict[str, Any], status: int, said: str) -> None:
    answer = client.post(f"/api/v1/projects/{shop}/ledger", json=asked)
    assert answer.status_code == status
    assert said in answer.json()["error"]["message"]
    assert client.get(f"/api/v1/projects/{shop}/ledger").status_code == 404


def test_there_is_one_ledger_and_only_for_histories(client: Program, tmp_path: Path) -> None:
    project = begun(client, tmp_path)
    assert client.post(f"/api/v1/projects/{project}/ledger", json={}).status_code == 409
    wrong = client.post(f"/api/v1/projects/{project}/ledger/weigh", json={"period": "1999/1"})
    assert wrong.status_code == 422
    people = ready_project(client, "people")
    assert client.post(f"/api/v1/projects/{people}/ledger", json={}).status_code == 422
    assert "A ledger is for purchase histories" in client.get(f"/projects/{people}/ledger").text


def test_a_wrong_budget_is_said_and_kept(client: Program, shop: str) -> None:
    token = client.headers["X-CSRF-Token"]
    answer = client.post(f"/projects/{shop}/ledger", data={"budget": "nonsense", "csrf": token})
    assert answer.status_code == 422
    assert "is not a share; write 0.3 or 30%" in answer.text
    assert 'value="nonsense"' in answer.text


@pytest.mark.slow
@pytest.mark.browser
def test_begin_weigh_and_release_in_the_browser(client: Program, browser_page: Any, tmp_path: Path) -> None:
    project = small_project(client, tmp_path)
    page = browser_page
    page.goto(f"/projects/{project}/ledger")
    page.locator("input[name=budget]").fill("100%")
    with another_page(page):
        page.get_by_role("button", name="Begin the ledger").click()
    with another_page(page):  # and that again, when it was weighed
        page.get_by_role("button", name="Check its risk").click()
    page.get_by_text("is within the budget").wait_for()
    page.locator("#risk-lines svg, #risk-lines canvas").first.wait_for(state="attached")
    without_axe_violations(page)
    with another_page(page):
        page.get_by_role("button", name="Release if within the budget").click()
    page.get_by_text("What was released").first.wait_for()
    expect(page.locator("h1")).to_have_text(re.compile("^Up to "))


def test_the_sample_is_large_enough_to_show_months() -> None:
    assert sample(customers=30, rows=600, items=80, seed=7).frame["date"].dt.month().n_unique() > 6
