"""One walk through the studio in a browser, in both languages: a file, its columns, a run, its result, the public part.

Each page has tests of its own, by program and in a browser; this one shows that they lead from one to the next.
"""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, at_rest, watched, without_axe_violations, without_overflow
from tests.studio.in_process import InProcess, Program
from tests.studio.quiet import SHOP


@pytest.mark.browser
def test_from_a_file_to_the_public_part(server: InProcess, client: Program, browser: Any) -> None:
    with watched(browser, server.address, viewport={"width": 1280, "height": 900}) as page:
        page.goto("/")
        file = {"name": "Shop B.csv", "mimeType": "text/csv", "buffer": SHOP.encode()}
        page.locator("#file").set_input_files(file)
        expect(page.locator("#new-name")).to_have_value("Shop B")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/projects/*/data")
        made = client.get(f"/api/v1/projects/{page.url.split('/')[-2]}").json()
        assert (made["name"], made["source"]["file"]) == ("Shop B", "Shop B.csv")

        page.get_by_role("heading", name="4 purchases by 3 customers").wait_for()
        page.locator("#rows-per-customer svg").wait_for()
        page.get_by_label("What it is for shelf").select_option("other")
        page.get_by_text("Nothing is wrong with this").wait_for()
        with another_page(page):
            page.get_by_role("button", name="Save and read again").click()
        without_axe_violations(page)
        with another_page(page):
            page.get_by_role("link", name="Protect", exact=True).last.click()

        page.get_by_text("Or choose yourself").click()
        page.get_by_role("link", name="Choose: generalize-by-count").click()
        k = page.get_by_label("Minimum size of a group (k)")
        k.fill("1")
        page.get_by_text("k = 1 is out of range").wait_for()
        k.fill("3")
        page.get_by_text("at least 3 of 3 customers").wait_for()
        page.get_by_text("is out of range").wait_for(state="detached")
        with server.holding():
            page.get_by_role("button", name="Protect", exact=True).click()
            page.wait_for_url("**/runs/*")
            run = page.url.rsplit("/", 1)[1]
            expect(page.locator("h1")).to_contain_text("generalize-by-count, k = 3")
        page.wait_for_url(f"**/results/{run}*")
        expect(page.locator("#key .figure")).to_have_count(3)
        without_axe_violations(page)

        with another_page(page):
            page.get_by_role("button", name="日本語").click()
        expect(page.locator("html")).to_have_attribute("lang", "ja")
        expect(page.locator("#key .figure")).to_have_count(3)
        page.set_viewport_size({"width": 390, "height": 844})
        without_overflow(page)
        with another_page(page):
            page.locator(f'a[href$="/results/{run}/publish"]').first.click()
        at_rest(page)
        page.locator("[name=to]").fill("分析会社")
        page.locator("[name=purpose]").fill("売上の分析")
        page.locator("[name=reason]").fill("試験データなので影響はありません")  # k = 3 breaks the rule
        with another_page(page):
            page.locator("#release form button.danger").click()
        with page.expect_download() as public:
            page.locator("#public .button").first.click()
        with zipfile.ZipFile(public.value.path()) as archive:
            assert {"public.parquet", "statement.json"} <= set(archive.namelist())
