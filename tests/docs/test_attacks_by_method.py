"""The table of attacks by method has every registered component, and is what the benchmark wrote."""

from __future__ import annotations

import re
from pathlib import Path

from noren.attacks import attacks
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "attacks-by-method.md").read_text(encoding="utf-8")
RESULT = (ROOT / "benchmarks" / "results" / "attacks-by-method.md").read_text(encoding="utf-8")
TABLES = PAGE.partition("<!-- attacks by method: begin -->")[2].partition("<!-- attacks by method: end -->")[0]
LINK = re.compile(r"\[([a-z0-9-]+)\]\((methods|attacks)/\1\.md\)")


def test_every_method_and_attack_is_there() -> None:
    linked: dict[str, list[str]] = {"methods": [], "attacks": []}
    for name, folder in LINK.findall(TABLES):
        linked[folder].append(name)
    told = "run python benchmarks/bench_attacks_by_method.py"
    assert sorted(linked["methods"]) == sorted(methods), told
    assert sorted(linked["attacks"]) == sorted(attacks), told


def test_cells_are_a_share_with_its_interval() -> None:
    rows = [line.strip("| ").split(" | ") for line in TABLES.splitlines() if line.startswith("| [")]
    widths = [len(line.split(" | ")) for line in TABLES.splitlines() if line.startswith("| attack ")]
    assert {len(row) for row in rows} == set(widths)
    assert all(re.fullmatch(r"\d+\.\d% ± \d+\.\d", cell) for row in rows for cell in row[1:])


def test_the_page_shows_the_last_run() -> None:
    assert LINK.sub(r"\1", TABLES).strip() in RESULT
