"""The page Data in a browser: files chosen, columns said, by keyboard, on a phone, with a million rows."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from playwright.sync_api import expect
from tests.studio.browsing import another_page, at_rest, watched, without_axe_violations, without_overflow
from tests.studio.conftest import ready_project, wait_for
from tests.studio.in_process import Program, Server
from tests.studio.quiet import PEOPLE, SHOP

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def own_client(server: Server) -> Iterator[Program]:
    with contextlib.closing(server.client()) as client:
        yield client


def new_project(client: httpx.Client, name: str = "Browser") -> str:
    return str(client.post("/api/v1/projects", json={"name": name}).json()["id"])


@contextlib.contextmanager
def refused_at_times(server: Server, browser: Any) -> Iterator[Any]:
    """A page on which wrong things are tried: the browser notes each refusal of the studio as an error."""
    watching = watched(browser, server.address)
    with watching as page:
        yield page
        watching.wrong = [said for said in watching.wrong if "status of 422" not in said]


def choose(page: Any, name: str, content: str | bytes) -> None:
    buffer = content.encode() if isinstance(content, str) else content
    page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": buffer})


def test_from_a_wrong_file_to_saved_columns(browser_page: Any, own_client: Program) -> None:
    page, project = browser_page, new_project(own_client)
    page.goto(f"/projects/{project}/data")
    without_axe_violations(page)
    with another_page(page):
        choose(page, "broken.csv", "customer,date,item\nann,2010/12/1,tea\nann,2010/12")
    page.get_by_text("broken.csv, row 3, 'ann,2010/12': the row has 2 cells, the others 3").first.wait_for()
    without_axe_violations(page)
    # another file, at once
    with another_page(page):
        choose(page, "shop.csv", SHOP)
    page.get_by_role("heading", name="4 purchases by 3 customers").wait_for()
    question = page.get_by_text("What is “shelf” for?", exact=True)
    question.wait_for()
    without_axe_violations(page)
    # what a choice makes wrong is told at once
    role = page.get_by_label("What it is for shelf")
    page.get_by_label("What it is for date").select_option("time")
    misfit = page.locator("#columns-said").get_by_text("the values are dates, but “Time of day” needs times of day")
    misfit.wait_for()
    page.get_by_label("What it is for date").select_option("date")
    misfit.wait_for(state="detached")
    page.locator("#columns-said").get_by_text("shelf: What is “shelf” for?").wait_for()
    role.select_option("other")
    page.get_by_text("Nothing is wrong with this").wait_for()
    with another_page(page):
        page.get_by_role("button", name="Save and read again").click()
    page.get_by_role("link", name="Protect", exact=True).last.wait_for()
    expect(question).to_have_count(0)
    expect(page.get_by_label("What it is for shelf")).to_have_value("other")
    # the chart is drawn, the histogram of a column too
    page.locator("#rows-per-customer svg").wait_for()
    expect(page.locator("#column-2 svg rect")).to_have_count(2)
    without_axe_violations(page)


def test_with_the_keyboard_alone(server: Server, browser: Any, own_client: Program) -> None:
    with refused_at_times(server, browser) as page:
        by_keyboard(page, own_client)


def by_keyboard(page: Any, own_client: Program) -> None:
    project = new_project(own_client)
    own_client.put(f"/api/v1/projects/{project}/file", params={"name": "people.csv"}, content=PEOPLE.encode())
    page.goto(f"/projects/{project}/data")
    page.get_by_role("heading", name="3 people in 5 columns").wait_for()
    at_rest(page)

    def tab_to(selector: str) -> None:
        for _press in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"{selector} is not reached")

    tab_to("details.another > summary")
    page.keyboard.press("Enter")
    tab_to("#file")
    tab_to("#role-2")
    page.keyboard.press("s")  # Sensitive attribute
    expect(page.locator("#role-2")).to_have_value("sensitive")
    expect(page.locator("#column-2 .role-meaning")).to_have_text("nobody should learn whose it is")
    tab_to("#column-3 .column-more summary")
    page.keyboard.press("Enter")
    tab_to("#minimum-3")
    page.keyboard.type("1980-01-01")
    tab_to("#columns-form button.primary")
    with another_page(page):
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="3 people in 5 columns, 2 of which are quasi-identifiers").wait_for()
    tab_to("#hierarchy-1 > summary")
    page.keyboard.press("Enter")
    tab_to("#widths-1")
    page.keyboard.press("Control+a")
    page.keyboard.type("7, 15")
    page.keyboard.press("Enter")
    page.get_by_text("ranges of 15 cannot be made of ranges of 7").wait_for()
    expect(page.locator("#widths-1")).to_have_value("7, 15")


def test_small_files_and_pages_of_rows(server: Server, browser: Any, own_client: Program) -> None:
    with refused_at_times(server, browser) as page:
        small_files_and_rows(page, own_client)


def small_files_and_rows(page: Any, own_client: Program) -> None:
    project = ready_project(own_client, "people", "Rows")
    page.goto(f"/projects/{project}/data")
    page.get_by_role("link", name="Next").last.click()
    page.locator("#rows .pager-place", has_text="51 to 100 of 4,000").wait_for()
    page.wait_for_url("**start=50#rows")
    page.locator("#hierarchy-2 > summary").click()
    own = {"name": "sex.csv", "mimeType": "text/csv", "buffer": b"Female;*\n"}
    page.locator("#hierarchy-2 input[type=file]").set_input_files(own)
    page.get_by_text("sex = 'Male'").wait_for()
    own["buffer"] = b"Female;person;*\nMale;person;*\n"
    with another_page(page):
        page.locator("#hierarchy-2 input[type=file]").set_input_files(own)
    page.locator("#hierarchy-2[open]").get_by_text("your file").wait_for()
    without_axe_violations(page)


@pytest.fixture(scope="module")
def odd(own_client: Program) -> str:
    """A project of odd names and long words, each as long as it may be."""
    project = new_project(own_client)
    names = ["<b>x</b>", "w" * 180, "a b"]
    content = ",".join(names) + "\n" + "\n".join(f"{'long' * 40},{i},{i % 3}" for i in range(40))
    sent = own_client.put(
        f"/api/v1/projects/{project}/file", params={"name": "n" * 100 + ".csv"}, content=content.encode()
    )
    assert wait_for(own_client, sent.json()["id"])["state"] == "done"
    return project


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone(server: Server, browser: Any, odd: str, theme: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": theme}
    with watched(browser, server.address, **phone) as page:
        page.goto(f"/projects/{odd}/data")
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        without_overflow(page)
        without_axe_violations(page)


def test_a_million_rows(browser_page: Any, own_client: Program, tmp_path: Path) -> None:
    million = pl.DataFrame({"i": pl.int_range(1_000_000, eager=True)}).select(
        customer=(pl.col("i") * 7919 % 20_011).cast(pl.String),
        date=dt.date(2010, 12, 1) + pl.duration(days=pl.col("i") % 365),
        item=(pl.col("i") * 104_729 % 2_003).cast(pl.String),
        price=(pl.col("i") % 97 / 4).cast(pl.Float64),
        quantity=pl.col("i") % 12 + 1,
    )
    file = tmp_path / "million.parquet"
    million.write_parquet(file)
    page, project = browser_page, new_project(own_client, "A million")
    page.goto(f"/projects/{project}/data")
    began = time.perf_counter()
    page.set_input_files("#file", str(file))
    page.locator("#rows-per-customer svg").wait_for()
    drawn = time.perf_counter()
    found = "1,000,000 purchases by 20,011 customers between 2010/12/1 and 2011/11/30; no cell is empty"
    expect(page).to_have_title(re.compile(re.escape(found)))
    print(f"1,000,000 rows, {file.stat().st_size / 1e6:.1f} MB: {drawn - began:.1f} s from file to first chart")
