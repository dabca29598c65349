"""The demo runs everything, twice the same."""

from pathlib import Path

import pytest


@pytest.mark.slow
def test_demo_runs_everything_twice(noren, tmp_path) -> None:
    out = tmp_path / "demo"
    answer = noren("demo", "--customers", 40, "--rows", 900, "--out", out, "--json")
    assert answer.code == 0, answer.err
    said = answer.json
    assert [r["release"] for r in said["releases"]] == [
        "pseudonymize", "generalize-by-count k=2", "generalize-by-count k=3", "generalize-by-count k=5",
        "generalize k=5",
    ]  # fmt: skip
    errors = [r["scores"]["cell-error"] for r in said["releases"]]
    assert errors[0] == 0
    assert errors[:4] == sorted(errors[:4])
    assert errors[4] < errors[3]  # the better method at the same k
    assert [r["verdict"] for r in said["releases"]] == ["broken", "broken", "broken", "proved", "proved"]
    for release in said["releases"]:
        safe, tolerance = release["verdict"] in ("proved", "withstands"), release["rule"]["tolerance"]
        assert safe is (release["place"]["risk"] <= tolerance)
    assert Path(said["report"]).exists()
    again = noren("demo", "--customers", 40, "--rows", 900, "--out", out)
    assert again.code == 0, again.err
    assert "2 of 5 releases meet the rule; generalize k=5 (proved) keeps the most utility" in again.out
    assert "report.html" in again.out
    table = [line for line in again.out.splitlines() if line[:1] in "┏┃┡│└"]
    assert len(table) >= 9
    assert max(map(len, table)) <= 80
