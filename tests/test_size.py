"""No package, and no folder of tests, grows beyond its ceiling in `tests/size.toml`."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import size  # noqa: E402


def test_nothing_is_larger_than_its_ceiling() -> None:
    ceilings = tomllib.loads(size.CEILINGS.read_text(encoding="utf-8"))
    assert size.excesses(ceilings, size.measured()) == [], "see Size in CONTRIBUTING.md"


def test_an_excess_names_package_count_and_ceiling() -> None:
    ceilings = {"packages": {"web": {"lines": 1700, "files": 20, "goal": 2200}}}
    sizes = {"packages": {"web": {"lines": 1743, "files": 20}, "new": {"lines": 5}}}
    assert size.excesses(ceilings, sizes) == [
        "packages, web: 1,743 lines, ceiling 1,700",
        "packages, new: 5 lines, ceiling 0",
    ]


def test_lowering_never_raises() -> None:
    ceilings = {"packages": {"web": {"lines": 1700, "files": 20, "goal": 2200}, "gone": {"lines": 9}}}
    sizes = {"packages": {"web": {"lines": 1743, "files": 19}, "new": {"lines": 5}}}
    assert size.lowered(ceilings, sizes) == {"packages": {"web": {"lines": 1700, "files": 19, "goal": 2200}}}
