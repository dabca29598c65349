"""Somebody else's package adds a method by entry point: installed for real, used from the command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def call(*words: object, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "noren", *map(str, words)],
        env=os.environ | {"PYTHONPATH": str(path), "NOREN_LANG": "en"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, installed by pip into a folder of its own, without a network."""
    folder = tmp_path_factory.mktemp("site")
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, str(ROOT / "examples" / "noren-round-prices")],
        check=True,
        capture_output=True,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    return folder


@pytest.mark.slow
def test_the_example_is_listed_and_works(installed: Path, small_csv: Path, tmp_path: Path) -> None:
    listed = json.loads(call("methods", "--json", path=installed).stdout)["methods"]
    assert "round-prices" in [m["name"] for m in listed]
    words = ("--schema", "pwscup2018", "--method", "round-prices", "--step", 5, "--seed", 1)
    done = call("protect", small_csv, *words, "--out", tmp_path / "r", "--official", "--json", path=installed)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"] == {"step": 5.0}
    lines = (tmp_path / "r/secret/A.csv").read_text().splitlines()
    originals = small_csv.read_text().splitlines()
    assert len(lines) == len(originals) == 600
    for released, original in zip(lines, originals, strict=True):
        ends = re.search(r"\[([^;]+);([^;]+)\]", released)
        assert ends is not None
        low, high = (float(end) for end in ends.groups())
        assert low <= float(original.split(",")[3]) <= high
        assert high - low in (pytest.approx(4.99), pytest.approx(4.98))
    checked = call("check", small_csv, tmp_path / "r/secret/A.csv", "--schema", "pwscup2018", path=installed)
    assert checked.returncode == 0, checked.stdout


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    twin = tmp_path / "twin-1.0.dist-info"
    twin.mkdir()
    (twin / "METADATA").write_text("Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n")
    (twin / "entry_points.txt").write_text("[noren.methods]\npseudonymize = twin:Twin\n")
    done = call("methods", path=tmp_path)
    assert done.returncode == 2
    assert "pseudonymize (twin:Twin) is already taken in noren.methods; use another name" in done.stderr


def test_the_method_in_the_contributors_guide_works(small) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(\"\"\"Hide when people shop.*?)```", guide, re.DOTALL)
    assert block is not None
    space: dict[str, Any] = {"__name__": "forget_dates"}
    exec(compile(block[1], "CONTRIBUTING.md", "exec"), space)  # the guide's own code
    from noren.api import measure, protect
    from noren.registry import build

    release = protect(small, build(space["ForgetDates"], {"months": 1}), seed=1)
    assert len(release.public) == len(small)
    score = measure(small, release, "cell-error")
    assert score.parts["date"] > 0
    assert [score.parts[p] for p in ("item", "price", "quantity")] == [0, 0, 0]


def test_the_first_hour(tmp_path: Path) -> None:
    from noren.api import sample

    orders = sample(customers=30, rows=400, items=60, seed=1).to_pandas().rename(columns={"customer": "client_id"})
    orders.to_csv(tmp_path / "orders.csv", index=False)
    words = [ROOT / "examples" / "first_hour.py", tmp_path / "orders.csv", "client_id", tmp_path / "to-partner"]
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    first, verdict, *_tables = done.stdout.splitlines()
    assert first.startswith("Release by generalize (default method), k = 5, ")
    assert verdict.startswith("Verdict(Proved: at least 5 customers share each released history")
    assert (tmp_path / "to-partner" / "public.parquet").is_file()
