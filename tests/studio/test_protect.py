"""The page Protect: only what fits is offered, what is wrong stands at its field, and a form runs without scripts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import httpx
import pytest
from tests.studio.conftest import laid_project, ready_project, wait_for
from tests.studio.in_process import Program, Server

from noren.attacks import attacks as every_attack
from noren.data.schema import Kind
from noren.kernels.reconstruction.retention import keep_probabilities
from noren.measures import measures as every_measure


@pytest.fixture(scope="module")
def history(server: Server) -> str:
    return laid_project(server, "To protect", sample="history")


@pytest.fixture(scope="module")
def people(server: Server) -> str:
    return laid_project(server, "People to protect", sample="people")


def form_of(page: str) -> dict[str, list[str]]:
    """Return what a browser would send of the form as it stands."""
    sent: dict[str, list[str]] = {}
    form = page[page.index('id="order"') : page.index("</form>", page.index('id="order"'))]
    for tag in re.findall(r"<(?:input|select|textarea|option)\b[^>]*>", form):
        said = dict(re.findall(r'([\w.-]+)="([^"]*)"', tag))
        if tag.startswith("<select"):
            name = said["name"]
        elif tag.startswith("<option"):
            if " selected" in tag:
                sent.setdefault(name, []).append(said["value"])
        elif said.get("type") != "checkbox" or " checked" in tag:
            sent.setdefault(said["name"], []).append(said.get("value", ""))
    return sent


def test_only_what_fits_is_offered(client: httpx.Client, history: str, people: str) -> None:
    for project, names in (
        (
            history,
            "generalize generalize-by-count microaggregate perturb swap thin pseudo-records monthly-pseudonyms "
            "pseudonymize",
        ),
        (people, "mondrian hierarchy microaggregate retention"),
    ):
        page = client.get(f"/projects/{project}/protect")
        assert page.status_code == 200
        chosen = re.findall(rf'href="/projects/{project}/protect\?method=([\w-]+)"', page.text)
        assert chosen == names.split()


def test_a_form_without_scripts_runs(client: httpx.Client, history: str) -> None:
    page = client.get(f"/projects/{history}/protect", params={"method": "thin"}).text
    sent = form_of(page)
    assert sent["method.0"] == ["thin"]
    assert sent["attack"] == [name for name in every_attack if Kind.HISTORY in every_attack[name].accepts]
    sent |= {"0.share": ["0.25"], "attack": ["unique-rows"], "measure": ["cell-error", "e6"], "seed": ["9"]}
    answer = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert answer.status_code == 303
    job = answer.headers["location"].rsplit("/", 1)[1]
    said = wait_for(client, job)
    assert said["state"] == "done"
    assert said["label"] == "thin, share = 0.25"
    result = client.get(f"/api/v1/runs/{job}/result").json()
    assert result["rows"]["deleted"] == 3000
    assert [m["name"] for m in result["measures"]] == ["cell-error", "e6"]
    # prefilled with what was ordered; the seed is a secret
    again = form_of(client.get(f"/projects/{history}/protect", params={"from": job}).text)
    assert again["0.share"] == ["0.25"]
    assert again["attack"] == ["unique-rows"]
    assert again["seed"] == [""]


def test_what_is_wrong_is_said_and_what_was_typed_is_kept(client: httpx.Client, history: str) -> None:
    sent = {"method.0": "generalize", "0.k": "1", "0.effort": "other", "0.effort.other": "soon", "seed": "x"}
    answer = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert answer.status_code == 422
    page = answer.text
    assert 'value="1"' in page
    assert 'value="soon"' in page
    assert "k = 1 is out of range" in page
    assert "write a number" in page
    assert "3 things are not right yet" in page
    invalid = re.findall(r'<(?:input|select)[^>]*id="([\w-]+)"[^>]*aria-invalid="true"', page)
    assert invalid == ["s0-k", "s0-effort", "seed"]
    assert client.get(f"/api/v1/projects/{history}/runs").json() == [
        run for run in client.get(f"/api/v1/projects/{history}/runs").json() if run["label"] != "generalize, k = 1"
    ]


def test_more_people_than_there_are_is_said_before_it_runs(client: httpx.Client, history: str, people: str) -> None:
    sent = {"method.0": "generalize-by-count", "0.k": "401"}
    page = client.post(f"/projects/{history}/protect", data=sent | {"act": "run"})
    assert page.status_code == 422
    assert "there are only 400 people; use 400 or less" in page.text
    sent = {"method.0": "retention", "0.k": "5000", "0.attributes": "sex"}
    page = client.post(f"/projects/{people}/protect", data=sent | {"act": "run"})
    assert page.status_code == 422
    assert "k = 5000 is out of range; use 1 &lt;= k &lt;= 4,000" in page.text
    several = {"method.0": ["mondrian"], "0.k": ["5"], "0.quasi": ["age", "sex"], "0.t": ["0.3"], "act": ["run"]}
    page = client.post(f"/projects/{people}/protect", data=several)
    assert page.status_code == 422
    assert "use one of income, illness" in page.text


def test_steps_are_added_and_taken_away(client: httpx.Client, history: str) -> None:
    sent = {"method.0": "thin", "0.share": "0.3", "then": "monthly-pseudonyms", "act": "add"}
    page = client.post(f"/projects/{history}/protect", data=sent).text
    assert "<h1>thin → monthly-pseudonyms</h1>" in page
    longer = form_of(page) | {"act": ["remove-0"]}
    assert longer["0.share"] == ["0.3"]
    fewer = form_of(client.post(f"/projects/{history}/protect", data=longer).text)
    assert fewer["method.0"] == ["monthly-pseudonyms"]
    assert "method.1" not in fewer
    none = client.post(f"/projects/{history}/protect", data={"method.0": "thin", "act": "remove-0"})
    assert none.status_code == 303
    sent = {
        "method.0": "thin",
        "0.share": "0.3",
        "method.1": "swap",
        "1.share": "0.2",
        "1.period": "month",
        "act": "run",
    }
    job = client.post(f"/projects/{history}/protect", data=sent).headers["location"].rsplit("/", 1)[1]
    said = client.get(f"/api/v1/jobs/{job}").json()
    assert said["label"] == "thin, share = 0.3 → swap, share = 0.2"
    assert client.post(f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"


def test_the_form_is_judged_while_it_is_typed(client: httpx.Client, history: str, people: str) -> None:
    address = f"/projects/{history}/protect/check"
    rows = client.get(f"/api/v1/projects/{history}").json()["facts"]["rows"]
    said = client.post(address, data={"method.0": "generalize", "0.k": "4", "0.effort": "quick"}).json()
    assert said["errors"] == {}
    assert "at least 4 of 400 customers, in 100 groups or fewer" in said["meanings"]["0"]
    assert said["takes"] == {
        "time": "minutes for tens of thousands of rows",
        "note": f"The slowest part is generalize; these data have {rows:,} rows.",
        "long": rows >= 10_000,
    }
    quick = {"method.0": "thin", "judges": "shown", "attack": ["jaccard"], "measure": ["cell-error"]}
    assert client.post(address, data=quick).json()["takes"] == {
        "time": "seconds for tens of thousands of rows",
        "note": f"{rows:,} rows",
        "long": False,
    }
    assert client.post(address, data={"judges": "shown"}).json()["takes"]["long"] is False
    wrong = client.post(address, data={"method.0": "generalize", "0.k": "0"}).json()
    assert list(wrong["errors"]) == ["0.k"]
    sent = {"method.0": "retention", "0.k": "5", "0.attributes": ["sex", "region"]}
    plan = client.post(f"/projects/{people}/protect/check", data=sent).json()["plans"]["0"]
    known = {f"{k:g}": f"{keep_probabilities(k, [2, 12], 4000)[0]:.4f}" for k in (2, 3, 5, 10, 20, 50)}
    assert {line["k"]: line["rho"][0] for line in plan["lines"]} == known
    assert [line["k"] for line in plan["lines"] if line["own"]] == ["5"]
    assert "24 combinations of values for 4,000 rows" in plan["summary"]


def test_the_interface_says_the_same(client: httpx.Client, history: str, people: str) -> None:
    plan = client.get(f"/api/v1/projects/{people}/plan", params={"attributes": ["sex", "region"], "k": [2, 5]}).json()
    assert plan["attributes"] == [{"name": "sex", "values": 2}, {"name": "region", "values": 12}]
    assert [line["rho"] for line in plan["plans"]] == [keep_probabilities(k, [2, 12], 4000) for k in (2, 5)]
    fitting = client.get(f"/api/v1/projects/{people}/attacks/fitting").json()
    assert fitting == ["row-linkage"]
    bad = client.post(f"/api/v1/projects/{history}/runs", json={"steps": [{"method": "thin", "parameters": {"k": 2}}]})
    assert bad.status_code == 422


def test_no_form_and_no_order_names_a_file(client: httpx.Client, history: str, tmp_path: Path) -> None:
    (tmp_path / "categories.csv").write_text("item,category\n")
    file = str(tmp_path / "categories.csv")
    sent = {"method.0": "generalize-by-count", "0.k": "3", "0.categories": file}
    said = client.post(f"/projects/{history}/protect/check", data=sent).json()
    assert said["errors"] == {}  # there is no such field, so nobody reads it
    for steps in (
        [{"method": "generalize", "parameters": {"k": 3, "categories": file}}],
        [{"method": "chain", "parameters": {"steps": [{"method": "generalize", "k": 3, "categories": file}]}}],
    ):
        assert client.post(f"/api/v1/projects/{history}/runs", json={"steps": steps}).status_code == 422


def test_an_empty_project_says_what_to_do_first(client: httpx.Client) -> None:
    project = client.post("/api/v1/projects", json={"name": "Empty"}).json()["id"]
    page = client.get(f"/projects/{project}/protect")
    assert page.status_code == 200
    assert f'href="/projects/{project}/data"' in page.text
    assert client.post(f"/projects/{project}/protect", data={"method.0": "thin"}).status_code == 409


def test_hierarchies_are_made_where_there_are_none(server: Server, client: Program) -> None:
    project = ready_project(client, sample="people", name="Without hierarchies")
    shutil.rmtree(server.folder / "projects" / project / "hierarchies")
    assert "method=hierarchy" in client.get(f"/projects/{project}/protect").text
    page = client.post(f"/projects/{project}/protect", data={"method.0": "hierarchy", "0.k": "2", "act": "check"})
    assert page.status_code == 200, page.text


def test_a_measure_that_cannot_judge_is_left_out(client: httpx.Client, history: str) -> None:
    order = {"steps": [{"method": "generalize-by-count", "parameters": {"k": 4}}], "attacks": []}
    measures = ["cell-error", "e1", "reid-rate"]  # the second wants exact values, the third attacks
    assert all(name in every_measure for name in measures)
    job = client.post(f"/api/v1/projects/{history}/runs", json=order | {"measures": measures}).json()
    assert wait_for(client, job["id"])["state"] == "done"
    result = client.get(f"/api/v1/runs/{job['id']}/result").json()
    assert [m["name"] for m in result["measures"]] == ["cell-error"]
    assert (result["verdict"]["verdict"], result["verdict"]["reason"]) == ("broken", "class-too-small")
