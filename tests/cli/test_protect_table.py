"""Tables from the command line: protect, reconstruct, measure, chart."""

import json
from pathlib import Path

import polars as pl
import pytest

from noren.cli import run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_from_table_to_chart(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t, schema, out = str(files / "t.csv"), str(files / "t.toml"), str(files / "r")
    method = ["--schema", schema, "--method", "retention", "--attributes", "sex,town", "--k", "2", "--seed", "1"]
    answer = said(capsys, "protect", t, *method, "--out", out)
    assert answer["notes"]["k"] == pytest.approx(2)  # type: ignore[index]
    score = said(capsys, "measure", t, out, "--schema", schema, "--measures", "l1-precision")["results"]
    assert 0.8 < score["l1-precision"]["value"] <= 1  # type: ignore[index]
    rebuilt = said(
        capsys, "reconstruct", out, "--out", str(files / "x.csv"), "--bootstrap", "2", "--model", "em",
        "--cells", str(files / "cells.csv"),
    )  # fmt: skip
    assert rebuilt["records"] == 500
    assert len(rebuilt["intervals"]["town"]) == 3  # type: ignore[index]
    assert len(pl.read_csv(files / "x.csv")) == 500
    assert pl.read_csv(files / "cells.csv")["records"].sum() == pytest.approx(500)
    assert run(["reconstruct", out, "--out", str(files / "y.csv"), "--model", "independence"]) == 0
    assert "independence" in capsys.readouterr().out
    chart = ["chart", "crosstab", out, "--attributes", "sex,town", "--original", t, "--schema", schema]
    shown = said(capsys, *chart, "--out", str(files / "c.svg"), "--model", "em")
    assert shown["attributes"] == ["sex", "town"]
    assert (files / "c.svg").read_text().startswith("<svg")
    assert run(["chart", "histogram", out, "--attribute", "sex", "--out", str(files / "h.html"), "--model", "em"]) == 0
    assert run(["chart", "histogram", out, "--attribute", "sex"]) == 2
    assert "--out / --json is missing; add it, such as --out chart.html" in capsys.readouterr().err


def test_a_stream_writes_what_may_be_published(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["protect", str(files / "t.csv"), "--schema", str(files / "t.toml"), "--stream", "--out", str(files / "s")]
    answer = said(capsys, *common, "--method", "retention", "--k", "2", "--seed", "1")
    assert answer["notes"]["rows"] == 500  # type: ignore[index]
    assert sorted(p.name for p in (files / "s").iterdir()) == ["public.parquet", "statement.json"]
    assert run([*common, "--force", "--method", "pseudonymize"]) == 2
    assert "--stream works with retention only" in capsys.readouterr().err
    assert run([*common, "--force", "--method", "retention", "--rho", "0.3"]) == 0
    assert "retention" in capsys.readouterr().out


def test_rows_of_a_table_are_named_and_the_guess_is_judged(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, release = str(files / "t.csv"), str(files / "r")
    said(
        capsys,
        "protect",
        table,
        "--schema",
        str(files / "t.toml"),
        "--method",
        "mondrian",
        "--k",
        "5",
        "--out",
        release,
    )
    schema, guesses = ("--schema", str(files / "t.toml")), files / "g"
    told = said(capsys, "attack", table, release, *schema, "--out", str(guesses))
    about = told["results"]["row-linkage"]  # type: ignore[index]
    assert about["named"] == len((guesses / "row-linkage.csv").read_text().splitlines())
    assert 0 <= about["right"] < about["named"]
    assert told["verdict"]["evidence"][0]["attack"] == "row-linkage"  # type: ignore[index]


def test_a_file_that_is_called_like_a_preset_is_not_read_by_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{20 + n % 7},{'ab'[n % 2]}\n" for n in range(28))
    table, release = tmp_path / "people.csv", str(tmp_path / "r")
    table.write_text("age,town\n" + rows, encoding="utf-8")
    said(capsys, "protect", str(table), "--method", "mondrian", "--k", "2", "--out", release)
    scores = said(capsys, "measure", str(table), release, "--measures", "class-size")["results"]
    assert scores["class-size"]["value"] >= 2  # type: ignore[index]
