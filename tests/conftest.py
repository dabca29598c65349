"""Where the tests find the published data, and how they call the command line."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from noren.data.frames import History

# Properties are tried on the same examples everywhere; `--hypothesis-profile default` looks for new ones.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("ci")

QUIET_BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE = 180.0
"""Seconds to wait for what must come: however busy the machine, only what never comes takes as long."""

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


# Two processes share the tests: one begins at the front, the other in the middle, and who is ready first takes from the
# end of what the other has left. So what is dear to set up stands where only one begins: the studio's servers and
# browsers, and the kernels, which are compiled when first used.
ORDER = (
    "studio",
    "data",
    "",
    "kernels",
    "methods",
    "docs",
    "cli",
    "study",
    "reproduce",
    "attacks",
    "measures",
    "ledger",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests into the order of their folders above; a folder that is not named stands with the files of none."""
    places = {folder: place for place, folder in enumerate(ORDER)}
    items.sort(key=lambda item: places.get(item.path.relative_to(ROOT / "tests").parts[0], places[""]))


def _compile_untraced() -> None:
    """Let Numba compile without being traced: its own Python is no part of what is covered, and a third slower so."""
    from numba.core.dispatcher import Dispatcher

    traced = Dispatcher.compile

    def compile_untraced(self: Any, signature: Any) -> Any:
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return traced(self, signature)
        finally:
            sys.settrace(tracer)

    Dispatcher.compile = compile_untraced


if sys.gettrace() is not None:  # coverage is measured
    _compile_untraced()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data and official judges' outputs beside the checkout; skips where it is absent."""
    if not (SHARED / "oracles" / "INDEX.json").exists():
        pytest.skip("the published data are not beside this checkout")
    return SHARED


class Answer(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON: one object and nothing else."""
        return json.loads(self.out)


Command = Callable[..., Answer]


@pytest.fixture
def noren(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run ``noren`` in this process: ``noren("check", T, A).code``."""
    from noren.cli import run

    monkeypatch.setenv("NOREN_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Answer:
        capsys.readouterr()
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def small() -> History:
    """A generated history of 30 customers in the columns of PWS Cup 2018."""
    from noren.api import sample

    return sample(customers=30, rows=600, items=80, seed=7, schema="pwscup2018")


@pytest.fixture
def small_csv(small: History, tmp_path: Path) -> Path:
    """The small history as an official file."""
    from noren.data.formats.official import write_rows

    write_rows(small, tmp_path / "T.csv")
    return tmp_path / "T.csv"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests that drive a browser; skips where there is none, and fails in CI."""
    from playwright.sync_api import expect, sync_playwright

    found = os.environ.get("NOREN_CHROMIUM") or shutil.which("chromium")
    if not found or not Path(found).exists():
        said = "no Chromium: install it, or name it in NOREN_CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(said)
        pytest.skip(said)
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found, headless=True, args=QUIET_BROWSER)
        yield browser
        browser.close()
