"""Items get categories."""

from pathlib import Path

import pytest

SCHEMA = ("--schema", "pwscup2018")


@pytest.fixture
def named_csv(noren, tmp_path) -> Path:
    path = tmp_path / "named.csv"
    words = ("--customers", 30, "--rows", 900, "--items", 80, "--seed", 3, "--schema", "sample", "--out", path)
    answer = noren("sample", *words)
    assert answer.code == 0, answer.err
    return path


@pytest.mark.slow
def test_categorize_by_names_and_protect(noren, named_csv, tmp_path) -> None:
    out, page = tmp_path / "c.csv", tmp_path / "c.html"
    answer = noren("categorize", named_csv, "--schema", "sample", "--count", 6, "--out", out, "--page", page, "--json")
    assert answer.code == 0, answer.err
    listed = answer.json["categories"]
    assert len(listed) == 6
    assert sum(c["items"] for c in listed) == answer.json["items"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = noren("categorize", named_csv, "--schema", "sample", "--count", 6, "--out", tmp_path / "again.csv")
    assert out.read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert listed[0]["name"] in again.out
    words = ("--schema", "sample", "--method", "generalize-by-count", "--k", 2, "--seed", 1)
    for name, more in (("raw", ()), ("cat", ("--categories", out))):
        done = noren("protect", named_csv, *words, *more, "--out", tmp_path / name)
        assert done.code == 0, done.err
    errors = [
        noren("measure", named_csv, tmp_path / n, "--schema", "sample", "--measures", "cell-error", "--json").json[
            "results"
        ]["cell-error"]["parts"]["item"]
        for n in ("raw", "cat")
    ]
    assert errors[1] < errors[0]


def test_categorize_by_a_file_of_ones_own(noren, small, small_csv, tmp_path) -> None:
    items = sorted(small["item"].unique().to_list())
    (tmp_path / "own.csv").write_text("".join(f"{item},mine\n" for item in items[:10]))
    answer = noren(
        "categorize", small_csv, *SCHEMA, "--file", tmp_path / "own.csv", "--out", tmp_path / "c.csv", "--json"
    )
    assert answer.code == 0, answer.err
    assert answer.json["categories"] == [
        {"category": "mine", "name": "mine", "items": 10},
        {"category": "unknown", "name": "unknown", "items": len(items) - 10},
    ]


def test_categorize_without_names_says_where_to_get_them(noren, small_csv, tmp_path) -> None:
    answer = noren("categorize", small_csv, *SCHEMA, "--out", tmp_path / "c.csv")
    assert (answer.code, answer.out) == (2, "")
    assert "--names" in answer.err
    assert not (tmp_path / "c.csv").exists()
