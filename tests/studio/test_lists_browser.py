"""Lists in a browser, in both languages: find, rename, duplicate, archive, cancel, send and stop sending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow
from tests.studio.conftest import laid_project, until
from tests.studio.in_process import Program, Server
from tests.studio.test_runs import FEW, started

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MINUTE = {"steps": [{"method": "generalize", "parameters": {"k": 3, "effort": 60}}], "seed": 5} | FEW
"""It searches for a minute: long enough to be watched, and the time left is shown after some seconds."""
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
"""Bytes a second: a file of a few megabytes is under way long enough to be stopped."""


@pytest.mark.parametrize(
    ("locale", "scheme", "width"), [("en-GB", "light", 1280), ("ja-JP", "dark", 390)], ids=["en", "ja"]
)
def test_projects_are_found_renamed_duplicated_and_archived(
    server: Server, client: Program, browser: Any, locale: str, scheme: str, width: int
) -> None:
    name = f"Desk {locale}"
    project = laid_project(server, name, sample="people")
    with watched(
        browser, server.address, locale=locale, color_scheme=scheme, viewport={"width": width, "height": 800}
    ) as page:
        card = page.locator(f"#project-{project}")
        page.goto("/")
        first, second = (page.locator(part).bounding_box() for part in (".new-project", ".projects"))
        assert first["y"] <= second["y"]  # the way to a new project comes first on a phone
        page.locator("#find-name").fill(f"{locale} desk".upper())
        page.locator("#find-order").select_option("used")
        with another_page(page):
            page.locator("form.finder button").click()
        expect(page.locator(".project-card")).to_have_count(1)
        without_axe_violations(page)
        without_overflow(page)
        card.locator("summary").click()
        card.locator("form.rename input[name=name]").fill(f"{name}, new")
        with another_page(page):
            card.locator("form.rename button").click()
        expect(card.locator("h2")).to_have_text(f"{name}, new")
        assert "search=" in page.url  # and the search is kept
        card.locator("summary").click()
        with another_page(page):
            card.locator('button[formaction$="/copy"]').click()
        page.wait_for_url("**/data")
        made = page.url.split("/")[-2]
        assert made != project
        assert client.get(f"/api/v1/projects/{made}").json()["source"] == {"sample": "people"}
        page.goto(f"/?search={name}")
        card.locator("summary").click()
        with another_page(page):
            card.locator('form[action$="/archive"] button:not([formaction])').click()
        expect(card).to_have_count(0)
        page.locator("#find-archived").select_option("only")
        with another_page(page):
            page.locator("form.finder button").click()
        expect(card).to_have_count(1)
        without_axe_violations(page)


@pytest.mark.parametrize("locale", ["en-GB", "ja-JP"])
def test_cancelling_asks_first_with_and_without_scripts(
    server: Server, client: Program, browser: Any, locale: str
) -> None:
    history = laid_project(server, f"To cancel {locale}", sample="history")
    job = client.post(f"/api/v1/projects/{history}/runs", json=MINUTE).json()["id"]
    started(client, job)
    try:
        with watched(browser, server.address, locale=locale, java_script_enabled=False) as page:
            page.goto(f"/projects/{history}/runs/{job}")
            page.locator("#cancel").click()
            page.locator('form[action$="/cancel"] a.button').click()  # no
            page.wait_for_url(f"**/runs/{job}")
        assert client.get(f"/api/v1/jobs/{job}").json()["state"] == "running"
        with watched(browser, server.address, locale=locale) as page:
            page.goto(f"/projects/{history}/results?state=running")
            row = page.locator(f'[data-run="{job}"]')
            until(lambda: row.locator('[data-part="left"]').text_content(), "the time left is told")
            row.locator('button[formaction$="/cancel"]').click()
            dialog = page.get_by_role("dialog")
            expect(dialog).to_be_visible()
            without_axe_violations(page)
            dialog.locator('button[value="no"]').click()
            expect(dialog).to_have_count(0)
            assert client.get(f"/api/v1/jobs/{job}").json()["state"] == "running"
            row.locator('button[formaction$="/cancel"]').click()
            with another_page(page):
                dialog.locator('button[value="yes"]').click()
            expect(row).to_have_count(0)  # none is running any more
        assert client.get(f"/api/v1/jobs/{job}").json()["state"] == "cancelled"
    finally:
        client.post(f"/api/v1/jobs/{job}/cancel")


@pytest.mark.parametrize("locale", ["en-GB", "ja-JP"])
def test_sending_is_told_and_can_be_stopped(
    server: Server, client: Program, browser: Any, tmp_path: Path, locale: str
) -> None:
    name = f"Sent {locale}"
    file = tmp_path / "large.csv"
    file.write_text("name,age\n" + "Ann,20\n" * 600_000, encoding="utf-8")
    empty = client.post("/api/v1/projects", json={"name": f"{name} later"}).json()["id"]
    with watched(browser, server.address, locale=locale) as page:
        slow = page.context.new_cdp_session(page)
        page.goto("/")
        slow.send("Network.emulateNetworkConditions", SLOW)
        page.locator("#file").set_input_files(file)
        page.locator("#new-name").fill(name)
        page.locator("#new-button").click()
        page.wait_for_function("() => document.getElementById('sent').value > 0")
        without_axe_violations(page)
        page.locator("#stop-sending").click()
        expect(page.locator("#sending")).to_be_hidden()
        expect(page.locator("#new-button")).to_be_enabled()
        assert client.get("/api/v1/projects", params={"search": name}).json()[1:] == []  # the other one alone
        slow.detach()
        page.goto(f"/projects/{empty}/data")
        slow = page.context.new_cdp_session(page)
        slow.send("Network.emulateNetworkConditions", SLOW)
        page.locator("#file").set_input_files(file)
        page.wait_for_function("() => document.querySelector('.drop-progress progress').value > 0")
        page.locator(".drop-stop").click()
        expect(page.locator(".drop-ask")).to_be_visible()
        without_axe_violations(page)
    said = client.get(f"/api/v1/projects/{empty}").json()
    assert (said["source"], said["ready"]) == ({}, False)
    folder = server.folder / "projects" / empty
    until(lambda: list(folder.iterdir()) == [], "nothing is left behind")
