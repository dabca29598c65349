"""Every deliberate fault of `tools/seeded_faults.toml` can still be applied, and is of a package there is."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import seeded_faults  # noqa: E402

FAULTS = seeded_faults.faults()


def test_every_fault_can_be_applied() -> None:
    assert [problem for fault in FAULTS for problem in seeded_faults.problems(fault)] == []


def test_there_are_62_faults_and_two_at_least_in_each_package() -> None:
    assert len({fault.id for fault in FAULTS}) == len(FAULTS) == 62
    packages = {path.parent.name for path in (ROOT / "src" / "noren").glob("*/__init__.py")} | {"top level"}
    counts = Counter(fault.package for fault in FAULTS)
    assert set(counts) == packages
    assert min(counts.values()) >= 2
    for fault in FAULTS:
        assert fault.package in ("top level", fault.path.parts[2]), fault.id


def test_what_is_wrong_with_a_fault_is_told(tmp_path: Path) -> None:
    file = tmp_path / "src" / "noren" / "a.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\ny = 1\n")

    def told(old: str, new: str) -> list[str]:
        return seeded_faults.problems(seeded_faults.Fault("f", "a", "", "a.py", old, new, ("src",)), tmp_path)

    assert told("x = 1", "x = 2") == []
    assert told("= 1", "= 2") == ["f: the old text occurs 2 times in src/noren/a.py"]
    assert told("z", "y") == ["f: the old text occurs 0 times in src/noren/a.py", "f: changes nothing"]
    assert "does not compile" in told("x = 1", "x =")[0]
