"""Samples have the shape that was asked for, and read back."""

import polars as pl
import pytest


def test_sample_prints_the_shape(noren, tmp_path) -> None:
    words = ("sample", "--customers", 40, "--rows", 900, "--items", 120, "--seed", 3)
    answer = noren(*words, "--out", tmp_path / "T.csv", "--json")
    said = answer.json
    assert (said["n"], said["m"]) == (40, 900)
    assert set(said) == {"n", "m", "b", "mu", "h", "out"}
    frame = pl.read_csv(tmp_path / "T.csv", infer_schema=False)
    assert len(frame) == 900
    assert frame["customer"].n_unique() == 40
    sets = frame.group_by("customer").agg(pl.col("item").unique())["item"].to_list()
    assert said["b"] == pytest.approx(sum(map(len, sets)) / 40)
    pairs = [(set(a), set(b)) for i, a in enumerate(sets) for b in sets[:i]]
    assert said["mu"] == pytest.approx(sum(len(a & b) / len(a | b) for a, b in pairs) / len(pairs))
    assert said["h"] == pytest.approx(sum(len(a & b) for a, b in pairs) / len(pairs))
    again = noren(*words, "--out", tmp_path / "again.csv")
    assert "Different items per customer, mean (b)" in again.out
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "T.csv").read_bytes()


@pytest.mark.parametrize("schema", ["pwscup2016", "pwscup2017", "pwscup2018", "online-retail", "sample"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_samples_read_back_by_their_schema(noren, tmp_path, schema, ending) -> None:
    file = tmp_path / f"T.{ending}"
    words = ("sample", "--customers", 10, "--rows", 80, "--items", 30, "--schema", schema, "--out", file)
    assert noren(*words).code == 0
    released = noren(
        "protect", file, "--schema", schema, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "r", "--json"
    )
    assert released.code == 0, released.err
    assert released.json["public_rows"] == 80


def test_sample_master(noren, tmp_path) -> None:
    out, master = tmp_path / "T.csv", tmp_path / "M.csv"
    noren("sample", "--customers", 10, "--rows", 80, "--schema", "pwscup2017", "--out", out, "--master", master)
    people = [line.split(",") for line in master.read_text().splitlines()]
    assert len(people) == 10
    assert {p[0] for p in people} == {line.split(",")[0] for line in out.read_text().splitlines()}
    done = noren(
        "protect",
        out,
        "--schema",
        "pwscup2017",
        "--master",
        master,
        "--method",
        "pseudonymize",
        "--out",
        tmp_path / "r",
    )
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rows", 5, "--customers", 10), "rows"),
        (("--customers", 0), "customers"),
        (("--schema", "adult"), "the schema adult is of kind table; use a schema of kind history"),
        (("--schema", "nonsense"), "no schema 'nonsense'"),
        (("--out", "T.docx"), "the file name ends in '.docx'"),
    ],
)
def test_impossible_samples_are_refused(noren, tmp_path, monkeypatch, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    answer = noren("sample", "--out", "T.csv", *words)
    assert answer.code == 2
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []
