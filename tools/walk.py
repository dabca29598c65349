"""Walk through the studio as a first visitor does, from an empty studio to a downloaded release, and count.

A browser opens the first page of a studio that has nothing, brings a file, answers what is asked, lets the studio find
a release for a partner, records a recipient and a purpose, and downloads its public part. Printed are clicks, fields,
seconds and words of every page, and every wait of more than a second in which the page showed no progress::

    python tools/walk.py ../shared/data/groceries_members.parquet
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
from screenshots import studio

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "groceries_members.parquet"
MOST_CLICKS, MOST_WORDS = 12, 3_000
_PATIENCE = 1_200.0
_SHOWS_PROGRESS = """() => [...document.querySelectorAll("progress, [role=status]")].some(
    one => one.offsetWidth > 0 && (one.tagName === "PROGRESS" || one.textContent.trim()))"""


class Walk:
    """What a visitor did so far."""

    def __init__(self, page: Page, pictures: Path | None) -> None:
        self.page, self.pictures = page, pictures
        self.clicks = self.fields = 0
        self.unseen: list[str] = []
        self.pages: list[dict[str, Any]] = []
        self._begun = time.monotonic()

    def click(self, target: Locator) -> None:
        """Press something."""
        target.scroll_into_view_if_needed()
        target.click()
        self.clicks += 1

    def fill(self, target: Locator, text: str) -> None:
        """Write into a field."""
        target.fill(text)
        self.fields += 1

    def wait(self, what: str, ready: Callable[[], bool]) -> None:
        """Wait for something; from the first second on the page must say how far it is."""
        begun = time.monotonic()
        while not ready():
            waited = time.monotonic() - begun
            if waited > _PATIENCE:
                sys.exit(f"{what}: nothing came in {_PATIENCE:.0f} seconds")
            if waited > 1 and what not in self.unseen and not self.page.evaluate(_SHOWS_PROGRESS) and not ready():
                self.unseen.append(what)
            self.page.wait_for_timeout(200)

    def leave(self, name: str) -> None:
        """Count the words of a page that was read."""
        text = self.page.locator("body").inner_text()
        height = self.page.evaluate("document.documentElement.scrollHeight")
        now = time.monotonic()
        seconds, self._begun = now - self._begun, now
        self.pages.append({"page": name, "words": len(text.split()), "pixels": height, "seconds": round(seconds, 1)})
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=self.pictures / f"{len(self.pages)}-{name}.png", full_page=True)


def bring(walk: Walk, file: Path) -> None:
    """Begin a project with a file."""
    page = walk.page
    page.goto("/")
    tour = page.locator("#tour[open] [data-tour=close]")
    if tour.count():
        walk.click(tour)
    page.locator("#file").set_input_files(file)
    walk.fields += 1
    walk.leave("home")
    walk.click(page.locator("#new-button"))
    walk.wait("sending", lambda: "/data" in page.url)


def answer(walk: Walk) -> None:
    """Read what the columns were taken for, and take what is proposed."""
    page = walk.page
    walk.wait("reading", lambda: page.locator("#rows").count() > 0)
    while page.locator("#questions .question").count():
        walk.click(page.locator("#questions .question button").first)
        walk.wait("answering", lambda: page.locator("#rows").count() > 0)
    walk.leave("data")
    walk.click(page.locator('a[href$="/protect"]').last)


def find(walk: Walk) -> None:
    """Let the studio find a release for a partner, and open it."""
    page = walk.page
    page.locator("#find").wait_for()
    walk.leave("protect")
    walk.click(page.locator("#find button").first)
    page.wait_for_url("**/compare")
    taken = page.locator('#advice a.button.primary[href*="/results/"]')
    walk.wait("searching", lambda: taken.count() > 0 and page.locator("#map").get_attribute("data-active") == "0")
    walk.leave("compare")
    walk.click(taken.first)
    page.wait_for_url("**/results/*")


def release(walk: Walk) -> None:
    """Read the result, say to whom it goes and for what, and download the public part."""
    page = walk.page
    walk.leave("result")
    walk.click(page.locator('a.button[href$="/publish"]').first)
    page.wait_for_url("**/publish*")
    walk.fill(page.locator("[name=to]"), "Analysts of Acme")
    walk.fill(page.locator("[name=purpose]"), "Planning of the assortment")
    walk.click(page.locator("#release form button.primary"))
    walk.wait("recording", lambda: page.locator("#public .button.primary").count() > 0)
    with page.expect_download() as download:
        walk.click(page.locator("#public .button.primary"))
    walk.leave("release")
    Path(download.value.path()).stat()


def main(arguments: Iterable[str] | None = None) -> None:
    """Walk, print, and fail where it takes more than a visitor is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=DATA, help="the file to bring")
    parser.add_argument("--language", default="en", choices=("en", "ja"))
    parser.add_argument("--pictures", type=Path, help="write a picture of every page into this folder")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(None if arguments is None else list(arguments))
    with tempfile.TemporaryDirectory() as folder, studio(folder) as client, sync_playwright() as player:
        program = os.environ.get("NOREN_CHROMIUM") or shutil.which("chromium")
        browser = player.chromium.launch(executable_path=program)
        height = 800 if options.width > 600 else 844
        view: Any = {"width": options.width, "height": height}
        page = browser.new_page(base_url=str(client.base_url), viewport=view, locale=options.language)
        page.set_default_timeout(60_000)
        walk = Walk(page, options.pictures)
        bring(walk, options.file)
        answer(walk)
        find(walk)
        release(walk)
        browser.close()
    words, seconds = (sum(one[name] for one in walk.pages) for name in ("words", "seconds"))
    counted = {"clicks": walk.clicks, "fields": walk.fields, "seconds": round(seconds, 1), "words": words}
    if options.json:
        print(json.dumps(counted | {"pages": walk.pages, "without_progress": walk.unseen}))
    else:
        for one in walk.pages:
            print("{page:10} {words:6,} words {pixels:6,} px {seconds:7.1f} s".format(**one))
        print("{clicks} clicks, {fields} fields, {seconds:.1f} s, {words:,} words".format(**counted))
        print("waits without progress: " + (", ".join(walk.unseen) or "none"))
    if walk.clicks > MOST_CLICKS or walk.unseen or (options.language == "en" and words > MOST_WORDS):
        sys.exit(1)


if __name__ == "__main__":
    main()
