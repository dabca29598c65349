"""The wheel holds everything a run needs: installed into an empty environment, offline, in a place it cannot write to.

The environment is new and holds the wheel alone. The packages it needs are looked up where these tests have them, so
that nothing is downloaded; the checkout is not on its path. Its Python code can open no connection but to this machine
itself. ``tools/wheel_check.sh`` installs everything from a package index instead.

The wheel takes along kernels compiled ahead where they are there (``make setup`` makes them): then the demo runs on
them and compiles nothing. Where they are not, as after an edit of a kernel, it runs as plain Python.
"""

from __future__ import annotations

import email
import json
import os
import re
import signal
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.conftest import PATIENCE

import noren

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "noren"
GUARD = """
import socket

def _only_here(address):
    host = address[0] if isinstance(address, tuple) else ""
    if host and host not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network in this test: {host}")

def _guarded(name):
    own = getattr(socket.socket, name)
    def call(self, address, *rest):
        _only_here(address)
        return own(self, address, *rest)
    setattr(socket.socket, name, call)

for name in ("connect", "connect_ex", "sendto"):
    _guarded(name)
_look_up = socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    _only_here((host or "",))
    return _look_up(host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""
DEAD = "http://127.0.0.1:9"


class Installed:
    """An environment with the wheel in it, and the surroundings of somebody who has nothing else."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.work = folder / "environment", folder / "work"
        self.ahead = not wheel.name.endswith("-none-any.whl")
        self.work.mkdir()
        venv.EnvBuilder(symlinks=True, with_pip=False).create(self.folder)
        self.python = self.folder / "bin" / "python"
        asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
        self.site = Path(
            subprocess.run([self.python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
        )
        words = ["--python", str(self.python), "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
        subprocess.run(
            [sys.executable, "-m", "pip", *words, str(wheel)],
            check=True,
            capture_output=True,
            env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
        there = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        (self.site / "needed.pth").write_text("\n".join(there) + "\n")
        (self.site / "offline_guard.py").write_text(GUARD)
        (self.site / "offline.pth").write_text("import offline_guard\n")
        # a file where Python and Numba would keep what they compile: nothing can be written there, not even by root
        for place in (self.site / "noren").rglob("*"):
            if place.is_dir():
                (place / "__pycache__").touch()

    def environment(self, **more: str) -> dict[str, str]:
        """An empty home, no network, Japanese."""
        (self.work / "home").mkdir(exist_ok=True)
        said = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "HOME": str(self.work / "home"), "LANG": "C.UTF-8"}
        said |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD)
        # what was not compiled ahead would take most of a minute; one kernel is compiled below
        return said | {"NOREN_LANG": "ja", "NUMBA_DISABLE_JIT": "0" if self.ahead else "1"} | more

    def run(self, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.folder / "bin" / str(words[0])), *map(str, words[1:])]
        return subprocess.run(
            command, cwd=self.work, env=self.environment(**more), capture_output=True, encoding="utf-8", check=False
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as ``uv build`` and pip build it: by hatchling."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("empty"), wheel)


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    own = {name.removeprefix("noren/") for name in packed if name.startswith("noren/")}
    about = {name for name in packed if not name.startswith("noren/")}
    assert about == {
        f"noren-{noren.__version__}.dist-info/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    there = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
    if wheel.name.endswith("-none-any.whl"):
        there = {name for name in there if not name.startswith("kernels/objects/")}
    assert own == {name for name in there if "__pycache__" not in name}
    endings = {Path(name).suffix for name in own} - {""}
    assert {".py", ".typed", ".toml", ".mo", ".css", ".js", ".svg", ".jinja"} <= endings
    needed = {"py.typed", "data/catalog.toml", "locale/ja/LC_MESSAGES/noren.mo", "data/presets/adult.toml"}
    assert needed <= own
    assert [name for name in own if re.search(r"(?<!con)test|secret|\.env|\.key\b|\.pem", Path(name).name)] == []


def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = [name for name in archive.namelist() if ".dist-info/" in name]
        read = {name.rsplit("/", 1)[1]: archive.read(name).decode() for name in about}
    said, said_of_wheel = (email.message_from_string(read[name]) for name in ("METADATA", "WHEEL"))
    assert (said["Name"], said["Version"]) == ("noren", noren.__version__)
    assert said["License-Expression"] == "Apache-2.0"
    tags = said_of_wheel["Tag"].rsplit("-", 2)
    assert wheel.name == f"noren-{noren.__version__}-{'-'.join(tags)}.whl"
    compiled = (said_of_wheel["Root-Is-Purelib"], *tags[:2])
    here = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert compiled in (("true", "py3", "none"), ("false", here, here))
    assert read["entry_points.txt"].split() == ["[console_scripts]", "noren", "=", "noren.cli:main"]
    assert "# Noren" in said.get_payload()
    required = said.get_all("Requires-Dist")
    assert required is not None
    optional = [line for line in required if "pandas" in line]
    assert all("extra ==" in line for line in optional), "pandas is not needed to run"


# --- does it run -----------------------------------------------------------------------------------------------------

PROBE = """
import json, socket, sys
import noren
from noren.data.schema import PRESETS, Schema
said = {"file": noren.__file__, "version": noren.__version__, "path": sys.path}
said["presets"] = [Schema.preset(name).name for name in PRESETS]
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    said["network"] = str(error)
print(json.dumps(said))
"""


@pytest.mark.slow
def test_it_is_the_wheel_that_runs_and_nothing_can_be_fetched(installed: Installed) -> None:
    done = installed.run("python", "-c", PROBE)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert Path(said["file"]).is_relative_to(installed.site)
    assert said["version"] == noren.__version__
    assert len(said["presets"]) == 7
    assert str(SOURCE.parent) not in said["path"]
    assert said["network"] == "no network in this test: 192.0.2.1"


@pytest.mark.slow
def test_the_demo_runs_offline(installed: Installed) -> None:
    done = installed.run("noren", "demo", "--out", "demo", "--customers", 12, "--rows", 120)
    assert done.returncode == 0, done.stderr
    assert re.search("[ぁ-んァ-ン]", done.stdout), "the translations are inside"
    report = (installed.work / "demo" / "report.html").read_text(encoding="utf-8")
    assert '<html lang="ja"' in report
    assert "--indigo" in report, "the styles are inside"
    assert report.count("<svg") >= 2, "the charts are drawn"
    assert len(list((installed.work / "demo").rglob("public.parquet"))) == 5
    compiled = [path.name for path in (installed.work / "home").rglob("*.nbi")]  # where Numba keeps what it compiles
    assert compiled == [], "compiled ahead, or not at all"


@pytest.mark.slow
def test_kernels_compile_where_neither_the_package_nor_a_home_can_be_written(installed: Installed) -> None:
    temporary = installed.work / "temporary"
    temporary.mkdir()
    done = installed.run(
        "python",
        "-c",
        "import numpy as np; from noren.kernels.lattice.scores import _entropy_passes as passes;"
        "print([passes(2, np.array(counts, np.int16), 4) for counts in ([2, 2], [3, 1], [4])])",
        HOME="/dev/null/nobody",
        TMPDIR=str(temporary),
        NUMBA_DISABLE_JIT="0",
    )
    assert done.returncode == 0, done.stderr
    # nobody counts in so few bits, so it was not compiled ahead
    # two values are as many as two only where both are equally frequent
    assert done.stdout.strip() == "[True, False, False]"
    (place,) = temporary.iterdir()
    assert place.name == f"noren-kernels-{os.getuid()}"
    assert [path.suffix for path in place.rglob("scores._entropy_passes*.nbi")] == [".nbi"], "kept for next time"


@pytest.fixture
def studio(installed: Installed) -> Iterator[str]:
    """The address of a studio that runs in the new environment."""
    words = [str(installed.folder / "bin" / "noren"), "studio", "--no-open", "--no-samples", "--port", "0"]
    process = subprocess.Popen(
        [*words, "--data-dir", str(installed.work / "studio")],
        cwd=installed.work,
        env=installed.environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stderr is not None
    told = process.stderr.readline()
    found = re.search(r"http://\S+", told)
    assert found, told + process.stderr.read()
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            if httpx.get(f"{found[0]}healthz", timeout=30).status_code == 200:
                break
        except httpx.TransportError:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < limit, "the studio does not answer"
            time.sleep(0.1)
    yield found[0]
    process.send_signal(signal.SIGINT)
    process.wait(60)
    process.stderr.close()


@pytest.mark.slow
def test_the_studio_answers_with_style_and_in_japanese(studio: str) -> None:
    with httpx.Client(base_url=studio, headers={"Accept-Language": "ja"}, timeout=60) as client:
        page = client.get("/")
        assert page.status_code == 200
        assert '<html lang="ja"' in page.text
        assert re.search("[ぁ-ん]", page.text)
        sheets = re.findall(r'<link[^>]+href="([^"]+\.css[^"]*)"', page.text)
        assert sheets
        for sheet in sheets:
            style = client.get(sheet)
            assert style.status_code == 200
            assert style.headers["content-type"].startswith("text/css")
            assert len(style.text) > 100
