"""The documentation builds without a warning, loads nothing from elsewhere, leaves no page out, and can be searched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
# Relations of a <link> that make no browser fetch anything.
POINTING = {"canonical", "next", "prev", "alternate", "license", "author", "edit"}
STYLE_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?\s*([^\"')\s;]+)")


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc) and not address.startswith("data:")


class Page(HTMLParser):
    """What one page loads, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.leads_to: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in LOADING:
            self.loaded.append(given.get(LOADING[tag], ""))
        if tag == "link" and given.get("rel") not in POINTING:
            self.loaded.append(given.get("href", ""))
        self.loaded += STYLE_ADDRESS.findall(given.get("style", ""))
        self.loaded += [candidate.split()[0] for candidate in given.get("srcset", "").split(",") if candidate.strip()]
        if tag == "a" and "md-nav__link" in given.get("class", ""):
            self.leads_to.add(given.get("href", ""))


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(site)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("INFO ")] == []
    return folder


def html_of(page: Path) -> str:
    """Return the address, from the site's root, of a page under ``docs``."""
    name = page.relative_to(DOCS).with_suffix(".html").as_posix()
    return re.sub(r"(^|/)README\.html$", r"\1index.html", name)


def pages() -> Iterator[Path]:
    return (page for page in sorted(DOCS.rglob("*.md")))


@pytest.mark.slow
def test_every_page_is_built(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert built == {html_of(page) for page in pages()} | {"404.html"}


@pytest.mark.slow
def test_every_page_is_in_the_navigation(site: Path) -> None:
    leads_to = read(site / "architecture.html").leads_to
    assert {html_of(page) for page in pages()} - {"architecture.html"} <= leads_to


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    built = list(site.rglob("*.html"))
    loaded = {path: read(path).loaded for path in built}
    assert all(any(address.endswith(".css") for address in found) for found in loaded.values())
    assert [(path.name, a) for path, found in loaded.items() for a in found if is_elsewhere(a)] == []


@pytest.mark.slow
def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    sheets = [*site.rglob("*.css"), *site.rglob("*.html")]
    assert any(sheet.name == "noren.css" for sheet in sheets)
    found = [
        (s.name, a) for s in sheets for a in STYLE_ADDRESS.findall(s.read_text(encoding="utf-8")) if is_elsewhere(a)
    ]
    assert found == []


@pytest.mark.slow
def test_what_a_page_loads_from_the_site_is_there(site: Path) -> None:
    gone = [
        (path.name, address)
        for path in site.rglob("*.html")
        for address in read(path).loaded
        # The page for a wrong address is served from anywhere, so its addresses start at the root.
        if address and not address.startswith("data:") and path.name != "404.html"
        if not (path.parent / urlsplit(address).path).resolve().exists()
    ]
    assert gone == []


@pytest.mark.parametrize(
    "address",
    ["https://example.org/a.js", "http://example.org/a.css", "//example.org/a.woff2", "HTTPS://EXAMPLE.ORG/x"],
)
def test_an_address_elsewhere_is_told(address: str) -> None:
    page = Page()
    page.feed(f'<script src="{address}"></script><link rel="stylesheet" href="{address}"><img srcset="{address} 2x">')
    assert [is_elsewhere(found) for found in page.loaded] == [True, True, False, True]
    assert [is_elsewhere(found) for found in STYLE_ADDRESS.findall(f"a {{ b: url('{address}') }}")] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["[lost](nowhere.md)", "[lost](#nowhere)", '--8<-- "nowhere.md"'])
def test_a_broken_link_fails_the_build(tmp_path: Path, broken: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# Home\n\n{broken}\n", encoding="utf-8")
    (docs / "stylesheets").mkdir()
    (docs / "stylesheets" / "noren.css").write_text("", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(
        (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("- tools/", f"- {ROOT / 'tools'}/"), encoding="utf-8"
    )
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "nowhere" in done.stderr


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the site on a plain server of files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def search(browser: Browser, root: str, words: str) -> list[str]:
    """Return the addresses within the site that a search leads to, best first; nothing may go wrong on the way."""
    from playwright.sync_api import expect

    tab = browser.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    tab.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith((root, "data:")) else None)
    tab.goto(f"{root}/guide/steward.html?q={quote(words)}")
    expect(tab.locator(".md-search-result__meta")).to_have_text(re.compile("matching document"))
    results = tab.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    tab.close()
    assert wrong == []
    return [str(address).removeprefix(f"{root}/") for address in results]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("month matching", "measures/mm.html"),
        ("pseudonym", "methods/monthly-pseudonyms.html"),
        ("Generalisation", "theory/generalization.html"),  # however one spells it
        ('"seven months in a row"', None),
        ("データ管理者", "ja/steward.html"),
        ("５分で始める", "ja/start.html"),  # full-width digits, as Japanese keyboards write them
        ("七か月続けて", None),
    ],
)
def test_the_site_opened_from_a_folder_can_be_searched(
    browser: Browser, site: Path, words: str, first: str | None
) -> None:
    found = search(browser, site.as_uri(), words)
    assert found[:1] == ([first] if first else [])


@pytest.mark.slow
@pytest.mark.browser
def test_a_served_site_answers_the_same(browser: Browser, site: Path, served: str) -> None:
    assert search(browser, served, "同値類") == search(browser, site.as_uri(), "同値類")
