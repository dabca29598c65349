"""The page that writes papers: what is known is filled in, what is not is asked for, and all leaves as one archive."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from tests.studio.browsing import watched, without_axe_violations, without_overflow
from tests.studio.finished_runs import Finished, finished_runs
from tests.studio.in_process import Server


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
