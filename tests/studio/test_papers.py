"""The page that writes papers: what is known is filled in, what is not is asked for, and all leaves as one archive."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.studio.browsing import watched, without_axe_violations, without_overflow
from tests.studio.finished_runs import Finished, finished_runs
from tests.studio.in_process import Server
from tests.studio.staffed import Staffed, run_by


@pytest.fixture(scope="module")
def runs(server: Server) -> Finished:
    return finished_runs(server)


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def asked(client: httpx.Client, runs: Finished, name: str, **typed: str) -> dict[str, bytes]:
    form = {"csrf": client.headers["X-CSRF-Token"]} | typed
    return unpacked(client.post(f"{runs.page(name)}/papers", data=form))


def test_the_papers_of_a_run_are_those_of_the_command(client: httpx.Client, runs: Finished) -> None:
    files = asked(client, runs, "by-count", law="appi", language="ja", company="株式会社のれん")
    assert len(files) == 19
    assert "株式会社のれんは、匿名加工情報を作成しました。" in files["1-making.md"].decode()
    told = json.loads(files["papers.json"])
    assert f"{told['verdict']['evidence'][0]['attack']} | " in files["3-standard.md"].decode()
    assert told["stamped"] is (told["verdict"]["verdict"] in ("broken", "untried"))
    assert "company" not in {one["key"] for one in told["to_fill_in"]}
    secret = json.loads((runs.job_folder("by-count") / "release" / "secret" / "run.json").read_text())
    everything = b"\0".join(content for name, content in files.items() if not name.endswith(".docx"))
    assert str(secret["seed"]).encode() not in everything
    assert secret["digest"].encode() not in everything


def test_a_broken_run_is_stamped_and_only_names_are_never_anonymous(client: httpx.Client, runs: Finished) -> None:
    page = client.get(f"{runs.page('pseudonymize')}/papers").text
    assert "every page carries this verdict" in page
    assert "Only names are replaced, so" in page
    files = asked(client, runs, "pseudonymize", law="appi", language="en")
    assert set(files) >= {"1-standard.md", "4-register.docx", "5-open.html"}
    for name, content in files.items():
        if name.endswith(".md"):
            assert "▲ broken" in content.decode()
    assert "This release is not anonymously processed information" in files["1-standard.md"].decode()


@pytest.mark.parametrize("name", ["hierarchy", "retention"])
def test_tables_have_an_annex(client: httpx.Client, runs: Finished, name: str) -> None:
    files = asked(client, runs, name, law="gdpr", language="en")
    assert "each person has one row" in files["1-dpia.md"].decode()


def test_who_may_not_and_what_cannot_be(client: httpx.Client, runs: Finished) -> None:
    here = f"{runs.page('by-count')}/papers"
    token = client.headers["X-CSRF-Token"]
    assert client.post(here, data={"law": "appi"}, headers={"X-CSRF-Token": ""}).status_code == 403
    assert client.post(here, data={"law": "hipaa", "csrf": token}).status_code == 422
    assert client.get(here, params={"law": "hipaa"}).status_code == 422
    assert client.get(f"/projects/{runs.people}/results/{runs.runs['by-count']}/papers").status_code == 404


# --- what is kept for the next time -----------------------------------------------------------------------------------

ALL = {"company": "Noren Inc.", "contact": "desk@noren.example", "source_data": "orders", "made_on": "2026-11-18"}


@pytest.fixture
def staff(tmp_path: Path) -> Iterator[tuple[Staffed, dict[str, TestClient], list[str]]]:
    """Return a studio with users, their browsers, and the papers of two releases of a project and one of another."""
    made = Staffed(tmp_path / "studio")
    people = made.hire()
    first, second = made.shop(tmp_path), made.shop(tmp_path)
    runs = [(first, run_by(people["ann"], first, k=k)) for k in (3, 4)] + [(second, run_by(people["ann"], second, k=3))]
    yield made, people, [f"/projects/{project}/results/{run}/papers" for project, run in runs]
    made.studio.close()


def filled_in(page: str) -> dict[str, str]:
    """Return the fields of the form that have a text."""
    inputs = re.findall(r'<input type="text" id="[^"]*" name="(\w+)" value="([^"]+)"', page)
    return dict(inputs)


def test_entries_are_filled_in_by_release_project_and_organisation(staff) -> None:
    _made, people, (here, beside, elsewhere) = staff
    ann = people["ann"]
    kept = ann.post(here, data=ALL | {"law": "appi", "keep": "organisation", "only": "keep"})
    assert (kept.status_code, kept.headers["location"]) == (303, f"{here}?law=appi")
    assert filled_in(ann.get(here).text) == ALL
    # no entry reaches further than its heading says: the date is this release's, the source this project's
    without_date = {name: text for name, text in ALL.items() if name != "made_on"}
    assert filled_in(ann.get(beside).text) == without_date
    assert filled_in(ann.get(elsewhere).text) == {"company": "Noren Inc.", "contact": "desk@noren.example"}
    assert "with 19 fields to fill in" in ann.get(elsewhere).text  # of 21
    assert ann.get(elsewhere).text.count("Default of the organisation") == 2
    # a project's own contact, and a release's
    ann.post(elsewhere, data={"contact": "two@noren.example", "law": "appi", "keep": "project", "only": "keep"})
    ann.post(beside, data={"contact": "", "company": "Noren Inc.", "law": "appi", "only": "keep"})
    assert filled_in(ann.get(elsewhere).text)["contact"] == "two@noren.example"
    assert "contact" not in filled_in(ann.get(beside).text)
    assert filled_in(ann.get(here).text)["contact"] == "desk@noren.example"
    # a change of the organisation's reaches projects that did not differ
    ann.post(here, data={"contact": "new@noren.example", "law": "gdpr", "keep": "organisation", "only": "keep"})
    contacts = [filled_in(ann.get(address).text).get("contact") for address in (here, beside, elsewhere)]
    assert contacts == ["new@noren.example", None, "two@noren.example"]
    # and the documents say what the form shows
    files = unpacked(ann.post(elsewhere, data={"law": "appi", "language": "en"}))
    assert "Contact: two@noren.example." in files["1-making.md"].decode().replace("\\_", "_")


def test_the_trail_names_fields_and_not_what_they_say(staff) -> None:
    made, people, (here, *_others) = staff
    people["dan"].post(here, data=ALL | {"law": "appi", "keep": "organisation", "only": "keep"})
    people["dan"].post(here, data=ALL | {"law": "appi", "keep": "organisation", "only": "keep"})  # nothing changed
    entries = made.studio.store.trail.entries(kinds=["papers-changed"])
    project = here.split("/")[2]
    assert [(entry.actor, entry.body) for entry in entries] == [
        ("dan", {"level": "organisation", "fields": ["company", "contact"]}),
        ("dan", {"level": "project", "fields": ["source_data"], "project": project}),
        ("dan", {"level": "release", "fields": ["made_on"], "project": project}),
    ]
    assert "changed entries of the legal documents" in people["ann"].get("/trail").text
    for path in made.folder.rglob("papers.json"):
        assert path.stat().st_mode & 0o077 == 0
    # they go with what they are about, and a copy of the project has the project's
    copied = people["ann"].post(f"/api/v1/projects/{project}/copy", json={"name": "Copy"}).json()["id"]
    assert json.loads((made.folder / "projects" / copied / "papers.json").read_text()) == {"source_data": "orders"}
    people["ann"].delete(f"/api/v1/projects/{project}")
    assert not (made.folder / "projects" / project).exists()


def test_each_role_sees_and_does_what_it_may(staff) -> None:
    _made, people, (here, beside, _elsewhere) = staff
    assert 'name="keep"' in people["ann"].get(here).text
    for level in ("project", "organisation"):
        refused = people["ben"].post(here, data=ALL | {"law": "appi", "keep": level})
        assert refused.status_code == 403
    assert filled_in(people["ann"].get(here).text) == {}
    reviewers = people["ben"].get(here).text
    assert 'name="company"' in reviewers
    assert 'name="keep"' not in reviewers
    assert "1-making.md" in unpacked(people["ben"].post(here, data=ALL | {"law": "appi"}))
    assert filled_in(people["ben"].get(here).text) == ALL
    assert filled_in(people["ben"].get(beside).text) == {}
    assert 'name="company"' not in people["cora"].get(here).text
    assert people["ann"].post(here, data=ALL | {"law": "appi", "keep": "everybody"}).status_code == 422


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ja"])
def test_papers_by_hand(server: Server, browser: Any, runs: Finished, language: str) -> None:
    with watched(browser, server.address, viewport={"width": 1200, "height": 900}, locale=language) as page:
        page.goto(f"{runs.page('by-count')}/publish")
        page.locator("a[href$='/papers']").click()
        without_axe_violations(page)
        page.locator("input[name=company]").fill("Noren & Co")
        with page.expect_download() as archive:
            page.locator("main form button.primary").click()
        assert archive.value.suggested_filename.endswith(".zip")
        with zipfile.ZipFile(archive.value.path()) as received:  # all of it came
            assert "1-making.docx" in received.namelist()
            assert "Noren &amp; Co" in received.read("1-making.html").decode()
        page.set_viewport_size({"width": 390, "height": 800})
        without_overflow(page)
        without_axe_violations(page)
