"""A stranger's walk in the studio: from a file to signed papers, clicks and minutes counted, in both languages.

Two people, each in a browser of her own, in a studio that wants four eyes: Ann sends a file, has a release found for a
partner, takes what Compare recommends; Ben approves it; Ann records the recipient, downloads the public part and the
papers. What is typed and what is clicked is counted, and the minutes are those of the clock with nobody reading.

python benchmarks/bench_walk.py [--file ../shared/data/groceries_members.parquet] [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine import facts, report, table

SHARED = Path(__file__).parents[2] / "shared"
PASSWORD = "a long walk to signed papers"
USUAL, LONGEST = 120_000, 1_800_000
"""Milliseconds that a page may take, and the search for a release."""
LOCALES = {"en": "en-GB", "ja": "ja-JP"}


@dataclass
class Steps:
    """What two people did: clicks, fields typed into, and when each step was over."""

    pictures: Path | None
    language: str
    clicks: int = 0
    typed: int = 0
    began: float = field(default_factory=time.monotonic)
    lines: list[list[str]] = field(default_factory=list)

    def click(self, page: Any, where: str) -> None:
        """Click something that leads to another page."""
        page.evaluate("window.isThePageBefore = true")
        page.locator(where).first.click()
        page.wait_for_function("() => !window.isThePageBefore")
        page.wait_for_load_state()
        self.clicks += 1

    def type(self, page: Any, name: str, text: str) -> None:
        """Fill in a field."""
        page.locator(f"[name='{name}']").first.fill(text)
        self.typed += 1

    def over(self, page: Any, what: str) -> None:
        """Write down that a step is over."""
        seconds = time.monotonic() - self.began
        self.lines.append([what, str(self.clicks), str(self.typed), f"{seconds:,.0f}"])
        print(self.language, *self.lines[-1], flush=True)
        if self.pictures:
            page.screenshot(path=self.pictures / f"{len(self.lines):02}-{self.language}.png", full_page=True)


@contextlib.contextmanager
def staffed(folder: Path) -> Iterator[str]:
    """Run a studio that wants four eyes, with a steward and a reviewer, and give its address."""
    noren = [sys.executable, "-m", "noren", "studio"]
    at = ["--data-dir", str(folder)]
    for login, role in (("ann", "steward"), ("ben", "reviewer")):
        known = os.environ | {"NOREN_STUDIO_PASSWORD": PASSWORD}
        subprocess.run([*noren, "user", "add", login, "--role", role, *at], env=known, check=True)
    command = [*noren, "--no-open", "--no-samples", "--four-eyes", "--port", "0", *at]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            match = re.search(r"http://\S+", process.stderr.readline() if process.stderr else "")
            if match is None:
                sys.exit("the studio did not start")
            yield match[0].rstrip("/")
        finally:
            process.send_signal(2)
            process.wait(60)


def entered(steps: Steps, browser: Any, address: str, login: str) -> Any:
    """Return a page of somebody who logged in."""
    context = browser.new_context(base_url=address, locale=LOCALES[steps.language])
    context.set_default_timeout(USUAL)
    page = context.new_page()
    page.goto("/login")
    steps.type(page, "login", login)
    steps.type(page, "password", PASSWORD)
    steps.click(page, "main form button")
    return page


def walk(steps: Steps, browser: Any, address: str, file: Path) -> list[str]:
    """Walk from a file to signed papers, and return the names of the papers."""
    ann = entered(steps, browser, address, "ann")
    steps.over(ann, "Ann is in")
    ann.locator("#file").set_input_files(file)
    steps.clicks += 1
    steps.type(ann, "name", f"Walk {steps.language}")
    steps.click(ann, "#new-button")
    ann.locator("a[href$='/protect'].button.primary").first.wait_for()
    steps.over(ann, "the file is read")
    steps.click(ann, "a[href$='/protect'].button.primary")
    steps.click(ann, "#find button[value=partner]")
    ann.wait_for_function("() => document.getElementById('map')?.dataset.active === '0'", timeout=LONGEST)
    steps.over(ann, "Compare says what to take")
    steps.click(ann, "#answer a.button.primary")
    steps.over(ann, "its result is open")
    steps.click(ann, "a[href$='/publish']")
    there = ann.url
    steps.over(ann, "Ann is told that somebody else must approve")
    ben = entered(steps, browser, address, "ben")
    ben.goto(there)  # Ann sent him the address
    steps.clicks += 1
    steps.click(ben, "#approval button.primary")
    steps.over(ben, "Ben approved")
    ann.reload()
    steps.clicks += 1
    steps.type(ann, "to", "Example University 研究室")
    steps.type(ann, "until", "2099-03-31")
    steps.click(ann, "#handed-out form button")
    steps.over(ann, "the record is written")
    with ann.expect_download() as sent:
        ann.locator("#public a.button.primary").click()
    steps.clicks += 1
    public = zipfile.ZipFile(sent.value.path()).namelist()
    steps.over(ann, f"the public part is there: {', '.join(sorted(public))}")
    steps.click(ann, "a[href$='/papers']")
    steps.type(ann, "company", "Example Shop 株式会社")
    with ann.expect_download() as sent:
        ann.locator("main form button.primary").first.click()
    steps.clicks += 1
    papers = zipfile.ZipFile(sent.value.path()).namelist()
    steps.over(ann, "the papers are there")
    return papers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=SHARED / "data" / "groceries_members.parquet")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("NOREN_CHROMIUM") or shutil.which("chromium")
    parts: list[str] = []
    with tempfile.TemporaryDirectory() as folder, staffed(Path(folder)) as address, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for language, name in (("en", "English"), ("ja", "Japanese")):
            steps = Steps(options.pictures, language)
            papers = walk(steps, browser, address, options.file)
            head = ["step", "clicks so far", "fields so far", "seconds so far"]
            parts += [f"## {name}", table(head, steps.lines), f"{len(papers)} files of papers: {', '.join(papers)}."]
        browser.close()
    report("walk", f"From {options.file.name} to signed papers", __doc__.split("\n\n")[1], *parts, facts("noren"))


if __name__ == "__main__":
    main()
