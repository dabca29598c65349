"""From a finished run to a record, by two people in their browsers, in both languages; and a tab that is shut out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow
from tests.studio.in_process import InProcess, Server
from tests.studio.staffed import PASSWORD, Staffed, quickly_hashed, run_by

from noren.i18n import _, use_language
from noren.studio import approvals
from noren.studio.pages.frame import sentence
from noren.studio.store import Store
from noren.studio.users import UserRole

pytestmark = [pytest.mark.slow, pytest.mark.browser]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str, str]]:
    """A studio that wants four eyes, with its users, and a run of Ann's."""
    folder = tmp_path_factory.mktemp("house")
    staffed = Staffed(folder / "studio")
    ann = staffed.hire()["ann"]
    project = staffed.shop(folder)
    run = run_by(ann, project, k=6)
    staffed.studio.close()
    server = InProcess(folder / "studio", four_eyes=True)
    yield server, project, run
    server.stop()


def enter(page: Any, login: str) -> None:
    page.goto("/login")
    page.locator("[name=login]").fill(login)
    page.locator("[name=password]").fill(PASSWORD)
    with another_page(page):
        page.locator("main form button").click()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_two_people_release_data(house: tuple[Server, str, str], browser: Any, language: str) -> None:
    server, project, run = house
    there = f"/projects/{project}/results/{run}/publish"
    store = Store(f"sqlite:///{server.folder / 'studio.sqlite'}")
    store.trail.add("resumed", project=project, job=run)  # what was released in the other language counts no more
    store.share(project, ["cora"])
    store.close()
    locale = {"en": "en-GB", "ja": "ja-JP"}[language]
    with use_language(language):
        own, reviewer = sentence(approvals.say("unapproved")), _("reviewer")
        already, inbox = _("Approved by {who}").format(who="ben"), _("Inbox")
    with watched(browser, server.address, locale=locale) as page:
        enter(page, "ada")
        expect(page.locator("#users")).to_contain_text(reviewer)
        without_axe_violations(page)
        without_overflow(page)
    with watched(browser, server.address, locale=locale) as page:
        enter(page, "ann")
        page.goto(there)
        expect(page.locator("#public")).to_have_count(0)
        if page.locator("#release details").count() and not page.locator("[name=to]").is_visible():
            page.locator("#release summary").click()
        page.locator("[name=to]").fill("Example University 研究室")
        page.locator("[name=purpose]").fill("teaching 授業")
        page.locator("[name=until]").fill("2099-03-31")
        without_axe_violations(page)
        with another_page(page):
            page.locator("#release details form button").click()
        expect(page.locator("#release .waiting")).to_contain_text(own)
        expect(page.locator("#release .waiting form")).to_have_count(0)
        expect(page.locator("#public")).to_have_count(0)
        without_axe_violations(page)
    with watched(browser, server.address, locale=locale, viewport=PHONE) as page:
        enter(page, "ben")
        with another_page(page):
            page.get_by_role("link", name=f"{inbox} (1)").click()
        expect(page.locator(".waiting")).to_contain_text("teaching 授業")
        without_axe_violations(page)
        without_overflow(page)
        with another_page(page):
            page.locator(".waiting button.primary").click()
        expect(page.locator(".waiting")).to_have_count(0)
        page.goto(there)
        expect(page.locator("#secret")).to_have_count(0)
        without_axe_violations(page)
        without_overflow(page)
    with watched(browser, server.address, locale=locale) as page:
        enter(page, "ann")
        page.goto(there)
        expect(page.locator("#public .button.primary")).to_have_count(1)
        with page.expect_download() as public:
            page.locator("#public .button.primary").click()
        assert public.value.suggested_filename.endswith("public.zip")
        expect(page.locator("#release .records")).to_contain_text("Example University 研究室")
        expect(page.locator("#release .records")).to_contain_text(already)
        page.goto(f"/projects/{project}/protect")
        expect(page.locator("#already")).to_contain_text("2099-03-31")
        page.goto(f"/projects/{project}/ledger")
        expect(page.locator("#sharing .records")).to_contain_text("Example University 研究室")
        without_axe_violations(page)
        without_overflow(page)
        page.goto("/trail")
        expect(page.locator("table")).to_contain_text("2099-03-31")
        without_axe_violations(page)
        with page.expect_download() as sent:
            page.locator("a[download]").click()
        written = Path(sent.value.path()).read_bytes()
        assert all(f'"kind":"{kind}"'.encode() in written for kind in ("requested", "approved", "downloaded"))
    with watched(browser, server.address, locale=locale) as page:  # pages that miss their forms work all the same
        enter(page, "cora")
        for place in ("", "/data", "/results", f"/results/{run}", f"/results/{run}/publish", "/compare", "/ledger"):
            page.goto(f"/projects/{project}{place}" if place else "/")
            expect(page.locator("main form[method=post]")).to_have_count(0)
            without_axe_violations(page)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_tab_that_is_shut_out_gets_one_clear_line(
    house: tuple[Server, str, str], browser: Any, language: str
) -> None:
    server, project, run = house
    login = f"guest-{language}"
    store = Store(f"sqlite:///{server.folder / 'studio.sqlite'}")
    with mock.patch("noren.web.accounts.hashed", return_value=quickly_hashed()):
        store.users.add(login, "", PASSWORD, UserRole.REVIEWER)
    with use_language(language):
        line = _("your access was revoked; contact an administrator")
    with watched(browser, server.address, locale={"en": "en-GB", "ja": "ja-JP"}[language]) as page:
        enter(page, login)
        page.goto(f"/projects/{project}/results/{run}/publish")
        store.users.revoke(login)
        with another_page(page):
            page.locator("#report form button").first.click()
        expect(page.locator(".error-box")).to_have_text(f"▲ {line}")
        without_axe_violations(page)
        without_overflow(page)
    store.close()
