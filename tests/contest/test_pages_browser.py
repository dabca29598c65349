"""A cup played by hand in browsers: an organiser, two teams, both languages, light and dark, a desk and a phone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import argon2
import pytest
import uvicorn
from playwright.sync_api import expect
from tests.contest.served import PASSWORD, Served
from tests.studio.browsing import another_page, watched, without_axe_violations, without_overflow

from noren.contest.judging.prepared import write_attack
from noren.contest.rulebook import preset

PHONE = {"locale": "ja-JP", "color_scheme": "dark", "viewport": {"width": 390, "height": 844}}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """An arena that answers browsers; judges work when they are told to."""
    monkeypatch.setattr(argon2, "PasswordHasher", partial(argon2.PasswordHasher, time_cost=1, memory_cost=64))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        made = Served(tmp_path, port=listening.getsockname()[1])
        server = uvicorn.Server(uvicorn.Config(made.app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield made
        server.should_exit = True
        thread.join()
    made.close()


def address(served: Served) -> str:
    return f"http://127.0.0.1:{served.app.state.settings.port}/"


def sign_up(page: Any, login: str, name: str, code: str = "") -> None:
    page.goto("/sign-up")
    if code:
        page.locator("[name=code]").fill(code)
    for field, text in (("login", login), ("name", name), ("password", PASSWORD)):
        page.locator(f"form.card [name={field}]").fill(text)
    with another_page(page):
        page.locator("form.card button").click()


def found_team(page: Any, name: str) -> None:
    page.goto("/contests/tea-cup/team")
    page.locator("#create [name=name]").fill(name)
    with another_page(page):
        page.locator("#create button").click()


def hand_in(page: Any, place: str, path: Path) -> None:
    """Hand a file in, and wait until the page says that the judge has it."""
    page.locator(f"{place} input[type=file]").set_input_files(path)
    page.locator("section.progress[data-submission]").first.wait_for()


def read_by_all(page: Any) -> None:
    without_overflow(page)
    without_axe_violations(page)


@pytest.mark.browser
def test_a_cup_is_played_by_hand(served: Served, browser: Any, tmp_path: Path) -> None:
    with (
        watched(browser, address(served)) as olga,
        watched(browser, address(served)) as ann,
        watched(browser, address(served), **PHONE) as bob,
    ):
        # the organiser
        sign_up(olga, "olga", "Olga", served.app.state.authentication.first_code)
        olga.get_by_role("link", name="New contest").first.click()
        olga.get_by_label("Title").fill("Tea cup")
        olga.get_by_label("Name in the address").fill("tea-cup")
        olga.get_by_label("Rounds", exact=True).select_option("one")
        for phase in ("Registration", "Protection", "Attack"):
            olga.get_by_label(f"Days: {phase}").fill("1")
        with another_page(olga):
            olga.get_by_role("button", name="Update the schedule").click()
        expect(olga.get_by_label("Title")).to_have_value("Tea cup")
        read_by_all(olga)
        olga.get_by_label("Parquet", exact=False).and_(olga.locator("[type=radio]")).check()
        case = served.case()
        olga.locator("[name=file-final]").set_input_files(case.original)
        with another_page(olga):
            olga.get_by_role("button", name="Create contest").click()
        expect(olga.locator("h1")).to_have_text("Teams: 0, submissions: 0, waiting: 0, stuck: 0")
        read_by_all(olga)

        # two teams
        served.go_to("tea-cup", "registration")
        sign_up(ann, "ann", "Ann")
        found_team(ann, "Greens")
        expect(ann.get_by_text("Team code: ")).to_be_visible()
        sign_up(bob, "bob", "ボブ")
        found_team(bob, "煎茶")
        read_by_all(bob)

        # protecting: one invalid first
        served.go_to("tea-cup", "final-protect")
        ann.goto("/contests/tea-cup/protect")
        with ann.expect_download() as got:
            ann.get_by_role("link", name="Data").click()
        data = tmp_path / "data.csv"
        got.value.save_as(data)
        assert data.read_bytes() == case.original.read_bytes()
        short = tmp_path / "short.csv"
        short.write_text("\n".join(case.lines[:50]) + "\n", encoding="utf-8")
        hand_in(ann, ".drop", short)
        served.judge()
        ann.locator(".state.is-invalid").wait_for()
        read_by_all(ann)
        ann.locator(".entries th a").click()
        expect(ann.locator("#checker")).to_contain_text("the file has 50 rows, the original has 200")
        ann.goto("/contests/tea-cup/protect")
        hand_in(ann, ".drop", case.submitted)
        served.judge()
        ann.locator(".state.is-valid").wait_for()
        expect(ann.locator("h1")).to_contain_text("Release: valid, with a score of")
        bob.goto("/contests/tea-cup/protect")
        hand_in(bob, ".drop", served.case(4).submitted)
        served.judge()
        bob.locator(".state.is-valid").wait_for()
        read_by_all(bob)
        bob.locator(".entries th a").click()
        read_by_all(bob)

        # attacking each other
        served.go_to("tea-cup", "final-attack")
        for page in (ann, bob):
            page.goto("/contests/tea-cup/attack")
            with page.expect_download() as got:
                page.locator(".target a[download]").first.click()
            target, guess = tmp_path / "target.csv", tmp_path / "guess.csv"
            got.value.save_as(target)
            write_attack(preset("pwscup2018"), data, target, "nearest", guess)
            hand_in(page, ".target .drop", guess)
            served.judge()
            page.locator(".state.is-valid").wait_for()
            read_by_all(page)

        # the organiser looks, and freezes the board
        olga.goto("/contests/tea-cup/organise")
        expect(olga.locator("h1")).to_have_text("Teams: 2, submissions: 5, waiting: 0, stuck: 0")
        opens = olga.locator("[name=opens-final-attack]").input_value()
        olga.locator("[name=frozen_from-final-attack]").fill(opens)
        olga.locator("#times [name=reason]").fill("as announced")
        with another_page(olga):
            olga.locator("#times").get_by_role("button", name="Save").click()
        ann.goto("/contests/tea-cup/board")
        expect(ann.locator(".verdict")).to_contain_text("frozen since")
        read_by_all(ann)
        olga.goto("/contests/tea-cup/log")
        read_by_all(olga)

        # results
        served.go_to("tea-cup", "results")
        served.judge()
        ann.goto("/contests/tea-cup/results")
        expect(ann.locator("h1")).to_contain_text("Final round: first place for")
        expect(ann.locator(".matrix")).to_contain_text("needed")
        read_by_all(ann)
        bob.goto("/contests/tea-cup/results")
        expect(bob.locator("html")).to_have_attribute("lang", "ja")
        read_by_all(bob)
        bob.goto("/contests/tea-cup")
        read_by_all(bob)
        ann.goto("/account")
        read_by_all(ann)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("how", [{"color_scheme": "dark"}, PHONE])
def test_the_way_in_is_read_by_everybody(served: Served, browser: Any, how: dict[str, Any]) -> None:
    with watched(browser, address(served), **how) as page:
        for path in ("/sign-up", "/login", "/about"):
            page.goto(path)
            read_by_all(page)
