"""Take the pictures of the studio that the README and the documentation show: ``make pictures``.

A studio of its own is started in an empty folder, with made-up purchases that its seed fixes. It tries methods and
strengths through the same interface as any program, and a browser photographs the page of a result and the map.
Run it again when these pages have changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
LARGEST = 150_000
"""Bytes of a picture: the README shows two of them."""
WIDTH, HEIGHT = 1200, 760
TRIED: list[dict[str, Any]] = [
    {"method": "pseudonymize", "parameters": {}},
    {"method": "generalize-by-count", "parameters": {"k": [2, 3, 5]}},
    {"method": "generalize", "parameters": {"k": [2, 3, 5, 8]}},
]
SHOWN = {"method": "generalize", "k": 5}
OVER = {"done", "failed", "cancelled", "interrupted"}


@contextmanager
def studio(folder: str) -> Iterator[httpx.Client]:
    """A studio of its own, as a program sees it."""
    options = ["--no-open", "--no-samples", "--data-dir", folder, "--port", "0"]
    command = [sys.executable, "-m", "noren", "studio", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline() if process.stderr else ""
        match = re.search(r"http://[^/\s]+", line)
        if match is None:
            sys.exit("the studio did not start")
        try:
            with httpx.Client(base_url=match[0], timeout=60, headers={"Accept-Language": "en"}) as client:
                client.headers["X-CSRF-Token"] = client.get("/api/v1/session").json()["csrf"]
                yield client
        finally:
            process.terminate()


def posted(client: httpx.Client, path: str, **order: Any) -> Any:
    """Order something from the studio and return its answer."""
    return client.post(f"/api/v1{path}", json=order).raise_for_status().json()


def filled(client: httpx.Client) -> tuple[str, str]:
    """Make a project with its runs; return the addresses of one result and of the map."""
    project = posted(client, "/projects", name="Corner shop, 2026 (made up)", sample="history")["id"]
    while not client.get(f"/api/v1/projects/{project}").json()["ready"]:
        time.sleep(0.5)
    runs = posted(client, f"/projects/{project}/sweeps", methods=TRIED, seed=1)
    while left := [run for run in map(client.get, (f"/api/v1/jobs/{run['id']}" for run in runs)) if not _over(run)]:
        print(f"\r{len(left)} of {len(runs)} runs to go ", end="", file=sys.stderr)
        time.sleep(2)
    print(file=sys.stderr)
    run_id = next(run["id"] for run in runs if _is_shown(run["steps"][0]))
    return f"/projects/{project}/results/{run_id}", f"/projects/{project}/compare#risk-map"


def _is_shown(step: dict[str, Any]) -> bool:
    return bool({"method": step["method"], **step["parameters"]}.items() >= SHOWN.items())


def _over(answer: httpx.Response) -> bool:
    job = answer.json()
    if job["state"] in OVER - {"done"}:
        sys.exit(f"{job['label']}: {job['state']}: {job['error']}")
    return job["state"] in OVER


def photograph(root: str, pages: dict[str, str]) -> None:
    """Write a picture of each page, as it stands in a window, or of the section of it that an address points into."""
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as player:
        program = os.environ.get("NOREN_CHROMIUM") or shutil.which("chromium")
        browser = player.chromium.launch(executable_path=program)
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", locale="en", reduced_motion="reduce"
        )
        for name, address in pages.items():
            page.goto(root + address, wait_until="networkidle")
            _, _, part = address.partition("#")
            target = page.locator("section", has=page.locator(f"#{part}")).last if part else page
            picture = target.screenshot(path=IMAGES / f"{name}.png")
            print(f"docs/images/{name}.png: {len(picture):,} bytes")
            if len(picture) > LARGEST:
                sys.exit(f"docs/images/{name}.png is larger than {LARGEST:,} bytes")
        browser.close()


def main() -> None:
    """Fill a studio and photograph it."""
    with tempfile.TemporaryDirectory() as folder, studio(folder) as client:
        result, compare = filled(client)
        photograph(str(client.base_url).rstrip("/"), {"studio": result, "map": compare})


if __name__ == "__main__":
    main()
