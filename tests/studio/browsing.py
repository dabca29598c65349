"""People's browsers: pages that fail on errors, and ways to wait for what a page comes to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from tests.conftest import PATIENCE

_AT_REST = """() => document.readyState === "complete"
    && !document.querySelector("section.progress:is([data-state=waiting], [data-state=running])")
    && ![...document.querySelectorAll("[aria-busy=true]")].some(one => one.offsetWidth > 0)"""


class watched:  # noqa: N801 - used as a function
    """A page whose errors and strange requests are collected and fail at the end."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(base_url=address, **{"locale": "en-GB"} | options)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.address, self.wrong = address, []  # type: ignore[var-annotated]

    def __enter__(self) -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        page.on("request", self._inside)
        return page

    def _inside(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"a request leaves the machine: {request.url}")

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        self.context.close()
        if kind is None:
            assert self.wrong == []


def at_rest(page: Any) -> None:
    """Wait until a page is loaded with its scripts, its charts are drawn, and it waits for no work that changes it."""
    page.wait_for_function(_AT_REST)


@contextlib.contextmanager
def another_page(page: Any) -> Iterator[None]:
    """Do what leads to another page, or to the same one loaded again, and wait until that is at rest."""
    page.evaluate("window.isThePageBefore = true")
    yield
    page.wait_for_function("() => !window.isThePageBefore")
    at_rest(page)


def without_axe_violations(page: Any) -> None:
    """Fail with what axe finds on a page at rest, in a few words."""
    at_rest(page)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


def without_overflow(page: Any) -> None:
    """Fail when a page at rest is broader than the window."""
    at_rest(page)
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window
