"""draw, correlate and categorize as a person types them."""

from pathlib import Path

import polars as pl
import pytest

SCHEMA = ("--schema", "pwscup2018")


@pytest.fixture
def releases(noren, small_csv, tmp_path) -> list[Path]:
    folders = []
    for k in (2, 3, 6):
        folders.append(tmp_path / f"k{k}")
        words = ("--method", "generalize-by-count", "--k", k, "--seed", 1, "--out", folders[-1], "--official")
        assert noren("protect", small_csv, *SCHEMA, *words).code == 0
    return folders


def test_draw(noren, small_csv, releases, tmp_path) -> None:
    out = tmp_path / "draws.parquet"
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--draws", 4, "--seed", 1, "--out", out, "--json")
    assert answer.code == 0, answer.err
    frame = pl.read_parquet(out)
    assert answer.json == {"out": str(out), "draws": 4, "rows": len(frame), "seed": 1}
    assert frame["draw"].unique().to_list() == [0, 1, 2, 3]
    # a published copy gives the same draws, and fewer draws are the first of more
    noren("publish", releases[0], "--out", tmp_path / "public")
    shown = noren("draw", small_csv, tmp_path / "public", *SCHEMA, "--draws", 2, "--out", tmp_path / "two.parquet")
    assert "2 data sets of" in shown.out
    assert pl.read_parquet(tmp_path / "two.parquet").equals(frame.filter(pl.col("draw") < 2))
    official = noren(
        "draw", small_csv, releases[0] / "secret/A.csv", *SCHEMA, "--draws", 1, "--out", tmp_path / "A.parquet"
    )
    assert official.code == 0, official.err
    assert len(pl.read_parquet(tmp_path / "A.parquet")) == len(frame) / 4


def test_draw_refuses_another_ending_and_leaves_nothing(noren, small_csv, releases, tmp_path) -> None:
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--out", tmp_path / "draws.csv")
    assert (answer.code, answer.out) == (2, "")
    assert "let the name end in .parquet" in answer.err
    assert not (tmp_path / "draws.csv").exists()


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
    shown = noren("correlate", small_csv, *releases, *SCHEMA, "--draws", 1, "--with", "rfm")
    assert "rfm" in shown.out
    assert "item-similarity" not in shown.out
    assert "3 releases, U from" in shown.err
    assert "±0.997" in shown.err


def test_correlate_needs_three(noren, small_csv, releases) -> None:
    answer = noren("correlate", small_csv, *releases[:2], *SCHEMA)
    assert (answer.code, answer.out) == (2, "")
    assert "compare at least 3" in answer.err


@pytest.fixture
def named_csv(noren, tmp_path) -> Path:
    path = tmp_path / "named.csv"
    words = ("--customers", 30, "--rows", 900, "--items", 80, "--seed", 3, "--schema", "sample", "--out", path)
    answer = noren("sample", *words)
    assert answer.code == 0, answer.err
    return path


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
        noren("measure", named_csv, tmp_path / n, "--schema", "sample", "--with", "cell-error", "--json").json[
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


@pytest.mark.parametrize("command", ["draw", "correlate", "categorize"])
def test_every_command_helps_with_an_example(noren, command) -> None:
    answer = noren(command, "--help")
    assert answer.code == 0
    assert "Example: noren " + command in " ".join(answer.out.split())
