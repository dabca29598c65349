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
def test_two_people_hand_out_a_release(house: tuple[Server, str, str], browser: Any, language: str) -> None:
    server, project, run = house
    there = f"/projects/{project}/results/{run}/publish"
    store = Store(f"sqlite:///{server.folder / 'studio.sqlite'}")
    store.trail.add("resumed", project=project, job=run)  # what was approved in the other language counts no more
    store.close()
    locale = {"en": "en-GB", "ja": "ja-JP"}[language]
    with use_language(language):
        own, revoked = _("You made this release, so you cannot approve it."), _("reviewer")
        already = _("Approved by {who}").format(who="ben")
    with watched(browser, server.address, locale=locale) as page:
        enter(page, "ann")
        page.goto(there)
        expect(page.locator("#approval")).to_contain_text(own)
        expect(page.locator("#public .button.primary")).to_have_count(0)
        without_axe_violations(page)
        page.goto("/users")
        expect(page.locator("#users")).to_contain_text(revoked)
        without_axe_violations(page)
        without_overflow(page)
    with watched(browser, server.address, locale=locale, viewport=PHONE) as page:
        enter(page, "ben")
        page.goto(there)
        expect(page.locator("#secret")).to_have_count(0)
        with another_page(page):
            page.locator("#approval button.primary").click()
        expect(page.locator("#approval strong")).to_contain_text("ben")
        without_axe_violations(page)
        without_overflow(page)
    with watched(browser, server.address, locale=locale) as page:
        enter(page, "ann")
        page.goto(there)
        expect(page.locator("#public .button.primary")).to_have_count(1)
        page.locator("[name=to]").fill("Example University 研究室")
        page.locator("[name=until]").fill("2099-03-31")
        with another_page(page):
            page.locator("#sharing form button").click()
        expect(page.locator("#sharing .records")).to_contain_text("Example University 研究室")
        expect(page.locator("#sharing .records")).to_contain_text(already)
        without_axe_violations(page)
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
        assert Path(sent.value.path()).read_bytes().count(b'"kind":"published"') >= 1


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
        line = _("your access was revoked; contact a data steward")
    with watched(browser, server.address, locale={"en": "en-GB", "ja": "ja-JP"}[language]) as page:
        enter(page, login)
        page.goto(f"/projects/{project}/results/{run}/publish")
        store.users.revoke(login)
        with another_page(page):
            page.locator("#approval form button").first.click()
        expect(page.locator(".error-box")).to_have_text(f"▲ {line}")
        without_axe_violations(page)
        without_overflow(page)
    store.close()
