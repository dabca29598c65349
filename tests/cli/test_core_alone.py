"""The library and the commands that need no server run with the dependencies of the core alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.conftest import ROOT

IMPORTED = {"argon2-cffi": "argon2", "python-multipart": "multipart"}
"""What packages are imported as, where that is not their name."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    extra: [Requirement(line).name for line in lines if not line.startswith("noren[")]
    for extra, lines in PROJECT["optional-dependencies"].items()
    if extra in ("studio", "arena", "spark", "gpu")
}
HIDDEN = {IMPORTED.get(name, name) for names in EXTRAS.values() for name in names} | {"starlette", "torch", "pandas"}
WITHOUT = f"""
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(HIDDEN)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python where no package of an extra can be imported."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=folder, capture_output=True, text=True, check=False
    )


def noren(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(f"from noren.cli import main; main({list(words)!r})", folder)


@pytest.mark.slow
def test_the_library_protects_attacks_and_judges(tmp_path: Path) -> None:
    code = """
import noren
data = noren.sample(customers=12, rows=120, seed=1)
release = noren.protect(data, "generalize-by-count", k=3, seed=1)
print(noren.verdict(data, release).status)
"""
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "broken"), done.stderr


@pytest.mark.slow
def test_commands_work(tmp_path: Path) -> None:
    assert noren(tmp_path, "--help").returncode == 0
    assert noren(tmp_path, "contest", "--help").returncode == 0
    assert noren(tmp_path, "sample", "--customers", "12", "--rows", "120", "--out", "T.csv").returncode == 0
    words = (
        "protect",
        "T.csv",
        "--schema",
        "sample",
        "--method",
        "generalize-by-count",
        "--k",
        "3",
        "--out",
        "release",
    )
    done = noren(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release" / "statement.json").exists()


@pytest.mark.parametrize(
    ("words", "extra"),
    [(("studio", "--no-open", "--port", "0"), "studio"), (("contest", "simulate", "--teams", "2"), "arena")],
)
def test_a_server_names_the_extra_that_brings_it(words: tuple[str, ...], extra: str, tmp_path: Path) -> None:
    done = noren(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"is not installed; pip install 'noren[{extra}]'")
    assert len(done.stderr.strip().splitlines()) == 1
