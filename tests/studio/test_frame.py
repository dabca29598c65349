"""What every page has: its frame, the rules it keeps, the script that draws charts."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from playwright.sync_api import expect
from starlette.testclient import TestClient
from tests.studio.browsing import at_rest, watched, without_axe_violations, without_overflow
from tests.studio.in_process import Server

from noren.drawing.bars import bars, paired_histogram
from noren.drawing.base import live
from noren.drawing.risk_map import risk_utility_map
from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.glossary import chapters
from noren.judgement.verdict import VerdictStatus
from noren.studio.app import make_app
from noren.studio.pages.frame import FRAME
from noren.web.frame import BUNDLE_ADDRESS, Bundle, as_json, common_words, local_path
from noren.web.guard import CONTENT_POLICY
from noren.web.settings import ServerSettings


class Words(HTMLParser):
    """The texts of a page that a person sees."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]


def test_data_in_a_page_cannot_end_their_element() -> None:
    assert as_json({"a": "</script><b>&"}) == '{"a": "\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'


# --- answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/", "/about", "/static/base.css", "/nowhere", "/api/v1/session", BUNDLE_ADDRESS])
def test_every_answer_has_the_policy(client: httpx.Client, address: str) -> None:
    answer = client.get(address)
    assert answer.headers["content-security-policy"] == CONTENT_POLICY
    assert "unsafe" not in CONTENT_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_wrong_address_is_a_page_that_leads_on(client: httpx.Client) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text
    assert 'href="/"' in answer.text


def test_another_name_is_refused(client: httpx.Client) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/healthz").json() == {"status": "ready", "database": "ok", "worker": "ok"}


def test_what_has_a_digest_is_kept_and_scripts_are_asked_for(client: httpx.Client) -> None:
    assert "immutable" in client.get(FRAME.static_address("base.css")).headers["cache-control"]
    assert FRAME.static_address("base.js") == "/static/base.js"
    script = client.get("/static/base.js")
    assert script.headers["cache-control"] == "no-cache"
    again = client.get("/static/base.js", headers={"If-None-Match": script.headers["etag"]})
    assert again.status_code == 304
    assert client.get("/").headers["cache-control"] == "no-store"


# --- preferences -------------------------------------------------------------------------------------------


def test_language_and_theme_are_remembered(client: httpx.Client) -> None:
    answer = client.post("/preferences", data={"language": "ja", "back": "/about?x=1#k"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/about?x=1#k")
    client.post("/preferences", data={"theme": "dark"})
    page = client.get("/about").text
    assert '<html lang="ja" data-theme="dark">' in page
    client.post("/preferences", data={"theme": "auto", "language": "en"})
    assert '<html lang="en" data-theme="auto">' in client.get("/about").text


@pytest.mark.parametrize(
    "back",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "about",
     "/a\r\nSet-Cookie: x=1", "/\t/evil.example", ""],
)  # fmt: skip
def test_going_back_stays_here(client: httpx.Client, back: str) -> None:
    answer = client.post("/preferences", data={"theme": "dark", "back": back})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert local_path(back, "/about") == "/about"


def test_preferences_are_ours_alone(client: httpx.Client) -> None:
    assert client.post("/preferences", data={"language": "fr"}).status_code == 422
    del client.headers["X-CSRF-Token"]
    assert client.post("/preferences", data={"theme": "dark"}).status_code == 403


# --- login -------------------------------------------------------------------------------------------------


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[TestClient]:
    """A studio with a password, without its background work."""
    (tmp_path / "password.hash").write_text(PasswordHasher(time_cost=1, memory_cost=64).hash("open sesame"))
    app = make_app(ServerSettings(tmp_path))
    yield TestClient(app, base_url="http://127.0.0.1:8321", follow_redirects=False)
    app.state.studio.close()


def test_a_password_opens_the_studio_and_leaving_closes_it(locked: TestClient) -> None:
    assert locked.get("/").headers["location"] == "/login"
    shown = locked.get("/login")
    token = re.search(r'name="csrf" value="(\w+)"', shown.text)
    assert token
    locked.post("/preferences", data={"csrf": token[1], "theme": "dark", "back": "/login"})
    assert 'data-theme="dark"' in locked.get("/login").text
    wrong = locked.post("/login", data={"csrf": token[1], "password": "sesame"})
    assert wrong.status_code == 403
    assert "That is not your password" in wrong.text
    assert "sesame" not in wrong.text
    right = locked.post("/login", data={"csrf": token[1], "password": "open sesame"})
    assert (right.status_code, right.headers["location"]) == (303, "/")
    inside = locked.get("/")
    assert inside.status_code == 200
    token = re.search(r'name="csrf" value="(\w+)"', inside.text)
    assert token
    assert locked.post("/logout", data={"csrf": token[1]}).headers["location"] == "/login"
    assert locked.get("/").headers["location"] == "/login"


# --- the charts' script ------------------------------------------------------------------------------------


def test_the_bundle_is_made_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make() -> str:
        made.append(1)
        if len(made) == 1:
            raise MemoryError
        return "window.vegaEmbed = 1;"

    monkeypatch.setattr("vl_convert.javascript_bundle", make)
    mine = Bundle(tmp_path)
    with pytest.raises(MemoryError):
        mine.ready()
    assert list(tmp_path.rglob("*.gz")) == []
    (mine.path.parent / "vega-0.0-1.js.gz").write_bytes(b"of an older vl-convert")
    threads = [threading.Thread(target=mine.ready) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2
    assert gzip.decompress(mine.path.read_bytes()) == b"window.vegaEmbed = 1;"
    assert [path.name for path in mine.path.parent.iterdir()] == [mine.path.name]
    Bundle(tmp_path).start()
    assert len(made) == 2


def test_the_bundle_goes_out_packed_and_is_kept(client: httpx.Client) -> None:
    packed = client.get(BUNDLE_ADDRESS)
    assert packed.headers["content-encoding"] == "gzip"
    assert "immutable" in packed.headers["cache-control"]
    assert packed.headers["content-type"].startswith("text/javascript")
    assert "window.vegaEmbed=" in packed.text
    plain = client.get(BUNDLE_ADDRESS, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == packed.content
    assert client.get("/bundle/vega-0.0-1.js").status_code == 404
    assert client.get("/bundle/..%2Fsecret.key").status_code == 404


# --- words -------------------------------------------------------------------------------------------------


def test_every_word_has_its_own_place(client: httpx.Client) -> None:
    found = Words()
    found.feed(client.get("/about").text)
    assert len(found.ids) == len(set(found.ids))
    anchors = {entry.anchor for chapter in chapters() for entry in chapter.entries}
    assert anchors <= set(found.ids)
    told = {
        "k",
        "chance",
        "proved",
        "withstands",
        "broken",
        "untried",
        "rule",
        "risk",
        "needed",
        "pk",
        "precision",
        "class",
        "ledger",
        "cell-error",
        "jaccard",
        "thin",
    }
    assert told <= anchors


# --- in a browser ------------------------------------------------------------------------------------------

CHARTS = """{% extends "base.html.jinja" %}
{% from "parts.html.jinja" import chart, chart_scripts, tip with context %}
{% block scripts %}{{ chart_scripts() }}{% endblock %}
{% block content %}<h1>{{ title }}</h1>
<p>Number {{ tip("What a number means.", "k") }}</p>
{{ chart("bars", bars, "Two bars", ["letter", "rows"], [["a", 3], ["b", 7]]) }}
{{ chart("pair", pair, "Before and after") }}
{{ chart("map", map, "A map", ["release", "use"], [[{"text": "k = 2", "href": "/about"}, 0.9]]) }}
{% endblock %}"""


def charts_page(theme: str = "light") -> str:
    """Return a page with charts, as the studio would render it."""
    age = {
        "column": "age",
        "nominal": False,
        "unit": "number",
        "width": 5.0,
        "labels": ["0", "5", "10"],
        "others": False,
    }
    places = [
        RiskUtilityPoint(label="k = 2", use=0.9, risk=0.5, status=VerdictStatus.BROKEN),
        RiskUtilityPoint(label="k = 5", use=0.5, risk=0.1, status=VerdictStatus.WITHSTANDS),
    ]
    given = {
        "bars": live(bars(["a", "b"], {"rows": [3, 7]}, label_title="letter", value_title="rows")),
        "pair": live(
            paired_histogram(
                age | {"original": [1, 4, 5], "released": [2, 4, 3], "reconstructed": None, "unsaid": 0.1, "values": 3}
            )
        ),
        "map": live(risk_utility_map(places, near=True, addresses=["/about"] * 2)),
    }
    return (
        FRAME.surroundings.from_string(CHARTS)
        .render(
            title="Charts", place="", rail=[], project=None, language="en", languages=[("en", "English")], theme=theme,
            csrf="", here="/", who=None, can_leave=False, publications_listed=[], inbox_count=0, version="1",
            words=common_words(), **given,
        )
    )  # fmt: skip


def show_charts(page: Any, theme: str = "light") -> None:
    headers = {"Content-Security-Policy": CONTENT_POLICY, "Content-Type": "text/html; charset=utf-8"}
    page.route("**/charts-page", lambda route: route.fulfill(body=charts_page(theme), headers=headers))
    page.goto("/charts-page")
    at_rest(page)


@pytest.mark.slow
@pytest.mark.browser
def test_charts_are_drawn_under_the_policy(browser_page: Any) -> None:
    show_charts(browser_page)
    expect(browser_page.locator("#bars svg path[aria-roledescription='bar']")).to_have_count(2)
    expect(browser_page.locator("#pair svg")).to_have_count(2)
    expect(browser_page.locator("#pair svg path[aria-roledescription='bar']")).to_have_count(6)
    expect(browser_page.locator(".is-wrong")).to_have_count(0)
    expect(browser_page.locator("#bars [aria-label]").first).to_have_attribute("aria-label", "Two bars")
    without_axe_violations(browser_page)


@pytest.mark.slow
@pytest.mark.browser
def test_charts_follow_the_theme(browser_page: Any) -> None:
    show_charts(browser_page)
    bar = browser_page.locator("#bars svg path[aria-roledescription='bar']").first
    expect(bar).to_have_attribute("fill", "#26456e")
    browser_page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(bar).to_have_attribute("fill", "#8fb3e0")


@pytest.mark.slow
@pytest.mark.browser
def test_a_point_tells_and_opens_its_run(browser_page: Any) -> None:
    show_charts(browser_page)
    point = browser_page.locator("#map svg path[aria-roledescription='point']").first
    point.hover()
    told = browser_page.locator("#vg-tooltip-element")
    expect(told).to_be_visible()
    expect(told).to_contain_text("k = 2")
    expect(told).to_contain_text("50.0%")
    point.click()
    browser_page.wait_for_url("**/about")


@pytest.mark.slow
@pytest.mark.browser
def test_charts_fit_a_phone(server: Server, browser: Any) -> None:
    with watched(browser, server.address, viewport={"width": 390, "height": 800}) as page:
        show_charts(page, "dark")
        without_overflow(page)
        boxes = [box.bounding_box() for box in page.locator("#pair svg").all()]
        assert boxes[1]["y"] > boxes[0]["y"]  # below each other where there is no room beside


@pytest.mark.slow
@pytest.mark.browser
def test_a_tip_is_shown_on_focus_and_shut_by_escape(browser_page: Any) -> None:
    show_charts(browser_page)
    text = browser_page.get_by_text("What a number means.")
    expect(text).to_be_hidden()
    browser_page.locator(".tip-mark").focus()
    expect(text).to_be_visible()
    browser_page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    browser_page.locator(".tip").hover()


@pytest.mark.slow
@pytest.mark.browser
def test_the_first_key_leads_past_the_rail(browser_page: Any) -> None:
    browser_page.goto("/about")
    browser_page.keyboard.press("Tab")
    expect(browser_page.locator("a.skip")).to_be_focused()
    browser_page.keyboard.press("Enter")
    expect(browser_page.locator("#content")).to_be_focused()


@pytest.mark.slow
@pytest.mark.browser
def test_the_tour_comes_when_asked_and_is_left_by_keyboard(browser_page: Any) -> None:
    tour = browser_page.locator("#tour")
    browser_page.goto("/")
    expect(tour).to_be_hidden()
    browser_page.goto("/?tour=1")
    expect(tour).to_be_visible()
    without_axe_violations(browser_page)
    for step in range(1, 6):
        expect(browser_page.get_by_text(f"{step} / 5")).to_be_visible()
        browser_page.locator('[data-tour="next"]').press("Enter")
    expect(tour).to_be_hidden()
    assert browser_page.evaluate("localStorage.getItem('noren-tour')") == "seen"
    browser_page.get_by_role("link", name="Help").click()
    expect(browser_page.get_by_text("1 / 5")).to_be_visible()
    browser_page.keyboard.press("Escape")
    expect(tour).to_be_hidden()


@pytest.mark.slow
@pytest.mark.browser
def test_a_person_is_shown_around_once(browser_page: Any) -> None:
    browser_page.add_init_script("Object.defineProperty(navigator, 'webdriver', {get: () => false})")
    browser_page.goto("/about")
    expect(browser_page.locator("#tour")).to_be_hidden()
    browser_page.goto("/")
    expect(browser_page.get_by_text("1 / 5")).to_be_visible()
    browser_page.goto("/")
    expect(browser_page.locator("h1")).to_be_visible()
    expect(browser_page.locator("#tour")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("locale", "scheme", "width"), [("en-GB", "light", 1280), ("ja-JP", "dark", 390)])
def test_the_words_are_read_by_everybody(server: Server, browser: Any, locale: str, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 800}
    with watched(browser, server.address, locale=locale, color_scheme=scheme, viewport=viewport) as page:
        page.goto("/about#k")
        expect(page.locator("html")).to_have_attribute("lang", locale[:2])
        without_overflow(page)
        without_axe_violations(page)


@pytest.mark.slow
@pytest.mark.browser
def test_nothing_of_the_frame_is_printed(browser_page: Any) -> None:
    browser_page.goto("/about")
    browser_page.emulate_media(media="print")
    expect(browser_page.locator(".rail")).to_be_hidden()
    expect(browser_page.locator(".bar")).to_be_hidden()
    expect(browser_page.locator("h1")).to_be_visible()
