"""The pages of measurements: known exponents, pages of a few points, and that ours are as the results make them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measured_pages", ROOT / "tools" / "measured_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def point(name: str, rows: int, *, room: str = "attacks", on: str = "history", **told: Any) -> dict[str, Any]:
    return {"room": room, "name": name, "on": on, "rows": rows} | told


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0])
def test_the_exponent_of_a_power_is_the_power(pages: ModuleType, power: float) -> None:
    points = [point("x", rows, seconds=3.0 * rows**power) for rows in (10, 1_000, 100)]
    assert pages.exponent(points) == pytest.approx(power)


def test_short_times_and_lone_points_have_no_exponent(pages: ModuleType) -> None:
    assert pages.exponent([point("x", 10, seconds=0.01), point("x", 100, seconds=1.0)]) is None
    assert pages.exponent([point("x", 10, refused="no"), point("x", 100, seconds=1.0)]) is None


def test_the_page_tells_bars_growth_and_what_was_left_out(pages: ModuleType, tmp_path: Path) -> None:
    command = {"room": "commands", "on": "history"}
    points = [
        point("pairs", 10_000, seconds=1.0, peak=2e8),
        point("pairs", 100_000, seconds=100.0, peak=3e8),
        point("pairs", 1_000_000, left_out="about 10,000 s"),
        point("plain", 10_000, seconds=1.0, peak=2e8),
        point("plain", 100_000, seconds=10.0, peak=2.9e8),
        point("shy", 100_000, refused="1,000 pairs are too many; use less"),
        point("protect by count", 10_000_000, **command, seconds=60.0, peak=3.5e9),
        point("audit (classes)", 10_000_000, **command, seconds=60.0, peak=4.5e9),
    ]
    kept = {"machine": "Measured on a slide rule.", "limit": 600, "memory": 4.5e9, "points": points}
    (tmp_path / "scale.json").write_text(json.dumps(kept), encoding="utf-8")
    (tmp_path / "scale_spark.md").write_text("## On a cluster\n\nFar.\n", encoding="utf-8")
    sets = "# Sets\n\n## First\n\nYes.\n\n## What others report\n\nNo.\n\nMeasured on an abacus.\n"
    (tmp_path / "scale_sets.md").write_text(sets, encoding="utf-8")
    page, rest = pages.scale(tmp_path), pages.details(tmp_path)
    bars, faster = page.split("\n## ")[1:3]
    assert "| protect by count | history | 10,000,000 | 60 | 3.50 | yes |" in bars
    assert "| audit (classes) | history | 10,000,000 | 60 | 4.50 | **no** |" in bars
    assert "| `pairs` | history | 2.00 | 100,000 |  |" in faster
    assert "`plain`" not in faster
    assert "100,000 rows: 1,000 pairs are too many; use less" in faster
    assert "| `pairs` | history | 1.00 | 100 | (about 10,000 s) | 2.00 | 300 | 1,111 |" in rest
    assert "| `plain` | history | 1.00 | 10 | – | 1.00 | 290 | 1,000 |" in rest
    assert page.endswith("\n\n## Sets\n\n### First\n\nYes.\n\nMeasured on an abacus.\n\n## On a cluster\n\nFar.\n")
    assert rest.endswith("\n\nMeasured on a slide rule.\n")


def test_without_results_the_page_says_what_to_run(pages: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"bench_scale\.py"):
        pages.main(tmp_path, tmp_path)


def test_peers_stand_beside_ours_and_those_that_did_not_run_are_named(pages: ModuleType, tmp_path: Path) -> None:
    ours = {"who": "`classes`", "spent": 0.5, "peak": 1e9, "answer": {"k": 5, "t": 0.25}}
    rows = [
        ours,
        {"who": "fast 1.0", "spent": 0.25, "peak": 2e9, "answer": {"k": 5.0, "other": 1}},
        {"who": "slow 2.0", "spent": 5.0, "peak": 5e8, "answer": {"t": 0.5}},
        {"who": "late 3.0", "failed": "more than 900 s"},
        {"who": "absent", "failed": "not run: no jar given"},
    ]
    kept = {"tasks": [{"task": "check", "rows": rows}], "machine": "Measured on a slide rule."}
    (tmp_path / "peers.json").write_text(json.dumps(kept), encoding="utf-8")
    table, absent, machine = pages.figures(tmp_path).split("\n\n")
    assert table.splitlines()[2:] == [
        "| check | fast 1.0 | 0.5 | 0.25 | **0.50** | 1.00 | 2.00 | yes |",
        "| check | slow 2.0 | 0.5 | 5 | 10.0 | 1.00 | 0.50 | 0.25 apart |",
        "| check | late 3.0 | 0.5 | more than 900 s | – | 1.00 | – | – |",
    ]
    assert (absent, machine) == ("- absent: not run: no jar given.", "Measured on a slide rule.")


def test_itemsets_agree_only_where_they_are_equal(pages: ModuleType) -> None:
    assert pages.agreement({"itemsets": "ab"}, {"itemsets": "ab"}) == "yes"
    assert pages.agreement({"itemsets": "ab"}, {"itemsets": "cd"}) == "**no**"
    assert pages.agreement({"k": 1}, {}) == "–"


@pytest.mark.parametrize("name", ["scale", "comparison"])
def test_the_page_is_what_its_results_make(pages: ModuleType, name: str) -> None:
    made = getattr(pages, name)(ROOT / "benchmarks" / "results")
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == made, "run python tools/measured_pages.py"
