"""Data sets drawn from a release."""

import polars as pl
import pytest

from noren.tabulations.tabulation import Tabulation, write_tables

SCHEMA = ("--schema", "pwscup2018")


@pytest.mark.parametrize("how", [(), ("--uniform",)])
def test_draw(noren, small_csv, releases, tmp_path, how) -> None:
    out = tmp_path / "draws.parquet"
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--draws", 4, "--seed", 1, "--out", out, "--json", *how)
    assert answer.code == 0, answer.err
    frame = pl.read_parquet(out)
    assert answer.json == {"out": str(out), "draws": 4, "rows": len(frame), "seed": 1}
    assert frame["draw"].unique().to_list() == [0, 1, 2, 3]
    # a published copy gives the same draws, and fewer draws are the first of more
    noren("publish", releases[0], "--out", tmp_path / "public", "--override", "a test")
    shown = noren(
        "draw", small_csv, tmp_path / "public", *SCHEMA, "--draws", 2, "--out", tmp_path / "two.parquet", *how
    )
    assert f"{len(frame) // 2:,} rows written to" in shown.out
    assert pl.read_parquet(tmp_path / "two.parquet").equals(frame.filter(pl.col("draw") < 2))
    official = noren(
        "draw", small_csv, releases[0] / "secret/A.csv", *SCHEMA, "--draws", 1, "--out", tmp_path / "A.parquet"
    )
    assert official.code == 0, official.err
    assert len(pl.read_parquet(tmp_path / "A.parquet")) == len(frame) / 4


def test_draw_refuses_another_ending_and_leaves_nothing(noren, small_csv, releases, tmp_path) -> None:
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--out", tmp_path / "draws.csv")
    assert (answer.code, answer.out) == (2, "")
    assert "use a file name that ends in .parquet" in answer.err
    assert not (tmp_path / "draws.csv").exists()


def test_draws_meet_published_totals(noren, small, small_csv, releases, tmp_path) -> None:
    months = small["date"].dt.strftime("%Y-%m")
    counts = months.alias("month").value_counts(name="rows").sort("month")
    folder = write_tables(tmp_path / "totals", [Tabulation("month", ("month",), ("rows",), counts)])
    out = tmp_path / "draws.parquet"
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--draws", 1, "--totals", folder, "--out", out)
    assert answer.code == 0, answer.err
    drawn = pl.read_parquet(out).group_by(month=pl.col("date").dt.strftime("%Y-%m")).agg(pl.col("weight").sum())
    both = drawn.join(counts, on="month")
    assert both["weight"].to_list() == pytest.approx(both["rows"].to_list())
    answer = noren("draw", small_csv, releases[0], *SCHEMA, "--totals", folder, "--uniform", "--out", out)
    assert (answer.code, "--uniform" in answer.err) == (2, True)
