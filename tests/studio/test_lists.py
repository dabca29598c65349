"""Lists of projects and runs: searched, filtered, sorted and paged, by the service, the REST interface and pages."""

from __future__ import annotations

import datetime as dt
import os
import re
from typing import Any

import pytest
from tests.studio.quiet import PEOPLE, Quiet
from tests.studio.test_home import FACTS, judged

from noren.studio.actions.projects import change_project, remove_project, set_schema, upload
from noren.studio.folders import SOURCE_FILE
from noren.studio.jobs import JobProgress
from noren.studio.service import ProjectQuery, RunQuery, find_projects, find_runs, methods_of
from noren.studio.store import State

TABLE = {"rows": 90, "kind": "table", "people": 90}


@pytest.fixture
def shops(quiet: Quiet) -> dict[str, str]:
    """Four projects: two histories, one with a release, a table that is archived, and one without data."""
    store = quiet.studio.store
    made = {name: store.add_project(name, {}).id for name in ("Beta 2026", "alpha 2026", "Gamma", "店 Ａ")}
    for name, facts in (("Beta 2026", FACTS), ("alpha 2026", FACTS), ("Gamma", TABLE)):
        store.change_project(made[name], facts=facts)
    run(quiet, made["alpha 2026"], "thin", "withstands", 0.5)
    change_project(quiet.studio, project=made["Gamma"], archived=True)
    return made


def run(quiet: Quiet, project: str, method: str, verdict: str = "", use: float | None = None, risk: float = 0.1) -> str:
    store = quiet.studio.store
    job = store.add_job(project, "run", f"{method}, k = 3", {"steps": [{"method": method}], "seed": 5})
    if verdict:
        summary: dict[str, Any] = judged(verdict, use)
        summary["judged"]["place"]["risk"] = risk
        store.change_job(job.id, state=State.DONE, summary=summary, ended="2030-01-01T00:00:00+00:00")
    return job.id


# --- projects ---------------------------------------------------------------------------------------------------


PROJECTS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["店 Ａ", "alpha 2026", "Beta 2026"]),
    ({"sort": "oldest"}, ["Beta 2026", "alpha 2026", "店 Ａ"]),
    ({"sort": "name"}, ["alpha 2026", "Beta 2026", "店 Ａ"]),
    ({"sort": "used"}, ["alpha 2026", "店 Ａ", "Beta 2026"]),  # its run ended last
    ({"search": " 2026 BETA"}, ["Beta 2026"]),
    ({"search": "a"}, ["店 Ａ", "alpha 2026", "Beta 2026"]),  # the width of a letter does not count
    ({"search": "gamma"}, []),
    ({"archived": "only"}, ["Gamma"]),
    ({"archived": "all", "kind": "table"}, ["Gamma"]),
    ({"kind": "history"}, ["alpha 2026", "Beta 2026"]),
    ({"release": "with"}, ["alpha 2026"]),
    ({"release": "without"}, ["店 Ａ", "Beta 2026"]),
]


def test_projects_are_found_everywhere_alike(quiet: Quiet, shops: dict[str, str]) -> None:
    for asked, names in PROJECTS:
        assert [one.project.name for one in find_projects(quiet.studio, ProjectQuery(**asked))] == names
        said = quiet.client.get("/api/v1/projects", params={"sort": "newest"} | asked)
        assert [one["name"] for one in said.json()] == names
        assert said.headers["X-Total-Count"] == str(len(names))
        page = quiet.client.get("/", params=asked).text
        assert re.findall(r'<h2><a href="[^"]+">(.*?)</a></h2>', page) == names


def test_a_list_comes_in_parts(quiet: Quiet) -> None:
    for at in range(27):
        quiet.studio.store.add_project(f"No. {at:02}", {})
    part = quiet.client.get("/api/v1/projects", params={"start": 2, "count": 3})
    assert [one["name"] for one in part.json()] == ["No. 02", "No. 03", "No. 04"]
    assert part.headers["X-Total-Count"] == "27"
    first = quiet.client.get("/", params={"sort": "name", "search": "no."}).text
    second = quiet.client.get("/", params={"sort": "name", "search": "no.", "start": 24}).text
    assert [page.count('id="project-') for page in (first, second)] == [24, 3]
    assert 'rel="next" href="/?sort=name&amp;search=no.&amp;start=24"' in first
    assert "<h1>27 of 27 match</h1>" in second


def test_what_cannot_be_asked_for_is_refused(quiet: Quiet) -> None:
    for address in ("/?sort=colour", "/?kind=gold", "/api/v1/projects?sort=colour", "/api/v1/projects?x=1"):
        assert quiet.client.get(address).status_code == 422


def test_an_archived_project_is_out_of_the_way_and_whole(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    before = quiet.studio.project(project)
    back = "/?search=mine"
    answer = quiet.client.post(f"/projects/{project}/archive", data={"csrf": quiet.csrf, "back": back})
    assert (answer.status_code, answer.headers["location"]) == (303, back)
    assert "<h1>Every project is archived</h1>" in quiet.client.get("/").text
    assert quiet.client.get("/api/v1/projects").json() == []
    archived = quiet.client.get("/", params={"archived": "only"}).text
    assert f'action="/projects/{project}/unarchive"' in archived
    assert quiet.client.get(f"/projects/{project}/data").status_code == 200
    answer = quiet.client.post(f"/projects/{project}/unarchive", data={"csrf": quiet.csrf, "back": "//evil.example"})
    assert answer.headers["location"] == "/"
    assert quiet.studio.project(project) == before
    assert quiet.client.patch(f"/api/v1/projects/{project}", json={"archived": True}).json()["archived"]
    assert quiet.client.post("/projects/nothere23456/archive", data={"csrf": quiet.csrf}).status_code == 404


def test_a_duplicate_has_the_data_and_its_columns_can_be_changed(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    folders = quiet.studio.folders
    (folders.project(project) / "hierarchies" / "own.csv").write_text("a;*\n", encoding="utf-8")
    run(quiet, project, "mondrian", "withstands", 0.5)
    assert quiet.studio.is_fixed(project)
    answer = quiet.client.post(f"/projects/{project}/copy", data={"csrf": quiet.csrf})
    made = answer.headers["location"].split("/")[2]
    assert answer.headers["location"] == f"/projects/{made}/data"
    copy = quiet.studio.project(made)
    assert (copy.name, copy.archived, copy.source) == ("Copy of Mine", False, quiet.studio.project(project).source)
    assert (folders.project(made) / SOURCE_FILE).read_text(encoding="utf-8") == PEOPLE
    assert quiet.studio.schema(made) == quiet.studio.schema(project)
    assert not quiet.studio.is_fixed(made)
    assert quiet.studio.store.jobs(made, kind="run") == []
    private = [path for path in folders.project(made).rglob("*") if path.name in ("source.bin", "hierarchies")]
    assert [oct(path.stat().st_mode & 0o077) for path in private] == ["0o0"] * 2
    # what becomes of one is nothing to the other
    set_schema(
        quiet.studio, project=made, toml=quiet.studio.schema(made).without(["income"]).to_toml(), leave_out=["income"]
    )
    assert "income" not in quiet.studio.schema(made).names
    upload(quiet.studio, project=made, name="other.csv", chunks=iter([b"name,age\nDan,5\n"]))
    assert (folders.project(project) / SOURCE_FILE).read_text(encoding="utf-8") == PEOPLE
    remove_project(quiet.studio, project=made)
    assert (folders.project(project) / SOURCE_FILE).read_text(encoding="utf-8") == PEOPLE
    by_rest = quiet.client.post(f"/api/v1/projects/{project}/copy")
    assert (by_rest.status_code, by_rest.json()["ready"]) == (201, True)


def test_half_a_duplicate_is_nobodys(quiet: Quiet, monkeypatch: pytest.MonkeyPatch) -> None:
    project = quiet.upload(PEOPLE)

    def full(*_given: Any, **_more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr("noren.studio.folders.shutil.copyfile", full)
    assert quiet.client.post(f"/api/v1/projects/{project}/copy").status_code == 507
    assert [one.id for one in quiet.studio.store.projects()] == [project]
    assert [path.name for path in (quiet.studio.settings.folder / "projects").iterdir()] == [project]


# --- runs -------------------------------------------------------------------------------------------------------


RUNS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["swap", "thin", "mondrian", "thin"]),
    ({"sort": "oldest"}, ["thin", "mondrian", "thin", "swap"]),
    ({"sort": "name"}, ["mondrian", "swap", "thin", "thin"]),
    ({"sort": "use"}, ["mondrian", "thin", "thin", "swap"]),  # those without a number are last
    ({"sort": "risk"}, ["thin", "mondrian", "thin", "swap"]),
    ({"search": "K = 3 thin"}, ["thin", "thin"]),
    ({"state": "done"}, ["mondrian", "thin"]),
    ({"state": "waiting", "method": "swap"}, ["swap"]),
    ({"verdict": "broken"}, ["thin"]),
    ({"verdict": "proved"}, []),
]


def test_runs_are_found_everywhere_alike(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    run(quiet, project, "thin", "broken", 0.2, risk=0.05)
    run(quiet, project, "mondrian", "withstands", 0.7, risk=0.2)
    quiet.studio.store.change_job(run(quiet, project, "thin"), state=State.FAILED)
    run(quiet, project, "swap")
    for asked, methods in RUNS:
        labels = [f"{method}, k = 3" for method in methods]
        assert [one.job.label for one in find_runs(quiet.studio, project, RunQuery(**asked))] == labels
        said = quiet.client.get(f"/api/v1/projects/{project}/runs", params={"sort": "newest"} | asked).json()
        assert [one["label"] for one in said] == labels
        page = quiet.client.get(f"/projects/{project}/results", params=asked).text
        assert re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', page) == labels
        assert ("Nothing matches" in page) == (labels == [])
    assert methods_of(quiet.studio.store.jobs(project, kind="run")) == ["mondrian", "swap", "thin"]


def test_a_run_under_way_shows_the_time_left_once_enough_is_done(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    job = run(quiet, project, "thin")
    began = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=25)
    quiet.studio.store.change_job(job, state=State.RUNNING, started=began.isoformat())
    for done, left, words in ((0.04, None, ""), (0.2, 120, "2:00"), (0.8, 7, "0:07")):
        quiet.studio.jobs._live[job] = JobProgress(State.RUNNING, done, "counting", None)
        assert quiet.client.get(f"/api/v1/jobs/{job}").json()["left"] == left
        page = quiet.client.get(f"/projects/{project}/runs/{job}").text
        assert f'<dd class="tabular" id="left">{words}</dd>' in page
        assert ('<div id="remaining" hidden>' in page) == (left is None)
        assert (f"left, about {words}" in quiet.client.get(f"/projects/{project}/results").text) == (left is not None)
    quiet.studio.store.change_job(job, state=State.CANCELLED, ended=dt.datetime.now(dt.UTC).isoformat())
    assert quiet.client.get(f"/api/v1/jobs/{job}").json()["left"] is None
    assert re.search(r"<small>Duration 0:2\d</small>", quiet.client.get(f"/projects/{project}/results").text)
