"""Measures that move together."""

import pytest

SCHEMA = ("--schema", "pwscup2018")


def test_correlate(noren, small_csv, releases) -> None:
    answer = noren("correlate", small_csv, *releases, *SCHEMA, "--draws", 2, "--json")
    assert answer.code == 0, answer.err
    said = answer.json
    assert said["samples"] == 3
    assert said["limit"] == pytest.approx(0.9969, abs=1e-4)
    assert {"frequent-itemsets", "rfm", "item-similarity.wholesale", "statistics.price.mean"} <= set(
        said["correlations"]
    )
    assert [r["release"] for r in said["releases"]] == [str(path) for path in releases]
    shown = noren("correlate", small_csv, *releases, *SCHEMA, "--draws", 1, "--measures", "rfm")
    assert "rfm" in shown.out
    assert "item-similarity" not in shown.out
    assert "3 releases, U from" in shown.err
    assert "a correlation beyond ±0.997 is significant (level 0.05)" in shown.err


def test_correlate_needs_three(noren, small_csv, releases) -> None:
    answer = noren("correlate", small_csv, *releases[:2], *SCHEMA)
    assert (answer.code, answer.out) == (2, "")
    assert "compare at least 3" in answer.err
