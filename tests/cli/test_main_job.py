"""protect → attack → measure → report → publish, as a person types it."""

import json
from pathlib import Path

import polars as pl
import pytest

from noren.data.schema import Kind
from noren.measures import measures

SCHEMA = ("--schema", "pwscup2018")


def of_histories() -> list[str]:
    """Name the measures of purchase histories."""
    return [name for name in measures if Kind.HISTORY in measures[name].accepts]


@pytest.fixture
def release(noren, small_csv, tmp_path) -> Path:
    folder = tmp_path / "release"
    answer = noren(
        "protect",
        small_csv,
        *SCHEMA,
        "--method",
        "generalize-by-count",
        "--k",
        3,
        "--seed",
        1,
        "--out",
        folder,
        "--json",
    )
    assert answer.code == 0, answer.err
    return folder


def test_protect_tells_what_it_did(noren, small_csv, tmp_path) -> None:
    folder = tmp_path / "r"
    answer = noren(
        "protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--out", folder, "--json"
    )
    said = answer.json
    assert (said["release"], said["method"]) == (str(folder), "generalize-by-count")
    assert said["parameters"]["k"] == 3
    assert said["parameters"]["suppress_cells"] is False
    assert said["original_rows"] == 600
    assert said["public_rows"] + said["deleted_rows"] == 600
    assert sorted(p.name for p in folder.iterdir()) == ["public.parquet", "secret", "statement.json"]
    table = noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--out", tmp_path / "p")
    assert "600" in table.out
    assert "next: noren measure" in table.err


def test_the_seed_is_secret_and_repeats_the_bytes(noren, small_csv, tmp_path) -> None:
    for name in ("a", "b"):
        noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 5, "--out", tmp_path / name)
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--out", tmp_path / "c")
    same = [p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file()]
    assert len(same) == 5
    for file in same:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert (tmp_path / "a/public.parquet").read_bytes() != (tmp_path / "c/public.parquet").read_bytes()
    assert "seed" not in (tmp_path / "a/statement.json").read_text()
    assert json.loads((tmp_path / "a/secret/run.json").read_text())["seed"] == 5


def test_attack_and_measure(noren, small_csv, release, tmp_path) -> None:
    found = noren("attack", small_csv, release, *SCHEMA, "--with", "all", "--out", tmp_path / "g", "--json")
    assert found.code == 0, found.err
    results = found.json["results"]
    assert results["unique-rows"]["named"] == 0
    worst = results[found.json["most_damaging"]]
    assert worst["right"] == worst["hits"][-1] > 0
    assert worst["best"]["paper"]["effective"] is worst["best"]["sharp"]["effective"] is False
    assert (tmp_path / "g/unique-rows.csv").read_text() == ""
    judged = noren("measure", small_csv, release, *SCHEMA, "--guess", tmp_path / "g", "--json")
    assert judged.code == 0, judged.err
    scores = judged.json["results"]
    assert set(scores) == {name for name in of_histories() if "exact" not in measures[name].needs}
    assert 0 < scores["cell-error"]["value"] < 1.5
    assert set(scores["cell-error"]["parts"]) == {"date", "item", "price", "quantity"}
    assert scores["cell-error"]["value"] == pytest.approx(sum(scores["cell-error"]["parts"].values()) / 4, rel=1e-12)
    assert scores["effective"]["value"] == 0
    shown = noren("measure", small_csv, release, *SCHEMA, "--guess", tmp_path / "g")
    assert "lower is better" in shown.out
    shown = noren("attack", small_csv, release, *SCHEMA, "--out", tmp_path / "g2")
    assert "unique-rows" in shown.out
    assert f"most damaging: {found.json['most_damaging']}; the release is not refuted by either rule" in shown.err


def test_pseudonyms_alone_are_broken(noren, small_csv, tmp_path) -> None:
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p", "--official")
    broken = noren("attack", small_csv, tmp_path / "p", *SCHEMA, "--with", "unique-rows", "--out", tmp_path / "g")
    assert "most damaging: unique-rows; the release is unsafe by the paper's rule and the sharp one" in broken.err
    scores = noren("measure", small_csv, tmp_path / "p", *SCHEMA, "--guess", tmp_path / "g", "--json").json["results"]
    assert scores["cell-error"]["value"] == 0
    assert scores["reid-rate"]["value"] > 0.9
    assert scores["effective"]["value"] == 1
    # the official files beside it give the same answers
    again = noren(
        "measure", small_csv, tmp_path / "p/secret/A.csv", *SCHEMA, "--guess", tmp_path / "g/unique-rows.csv", "--json"
    ).json["results"]
    assert again["reid-rate"]["value"] == scores["reid-rate"]["value"]
    checked = noren("check", small_csv, tmp_path / "p/secret/A.csv", *SCHEMA, "--json")
    assert (checked.code, checked.json["valid"]) == (0, True)
    guessed = noren("check", small_csv, tmp_path / "p/public.csv", "--guess", tmp_path / "g/unique-rows.csv", *SCHEMA)
    assert guessed.code == 0, guessed.out


def test_attacks_need_no_secret_and_measures_say_when_they_do(noren, small_csv, release, tmp_path) -> None:
    assert noren("publish", release, "--out", tmp_path / "public").code == 0
    found = noren("attack", small_csv, tmp_path / "public", *SCHEMA, "--json")
    assert (found.code, found.json["most_damaging"]) == (0, None)
    assert all("right" not in about for about in found.json["results"].values())
    refused = noren("measure", small_csv, tmp_path / "public", *SCHEMA, "--with", "cell-error")
    assert (refused.code, refused.out) == (2, "")
    assert "needs the secret part" in refused.err
    left = noren("measure", small_csv, tmp_path / "public", *SCHEMA, "--json")
    assert set(left.json["results"]) == {
        n for n in of_histories() if not measures[n].needs & {"secret", "guess", "exact"}
    }
    assert "left out" in left.err
    no_guess = noren("measure", small_csv, release, *SCHEMA, "--with", "effective")
    assert no_guess.code == 2
    assert "there is no guess" in no_guess.err


def test_publish_hands_out_the_public_part_alone(noren, small, release, tmp_path) -> None:
    out = tmp_path / "public"
    answer = noren("publish", release, "--out", out, "--official", "--json")
    assert answer.json["files"] == ["public.csv", "public.parquet", "statement.json"]
    assert "small seed" in answer.err
    content = b"".join(p.read_bytes() for p in out.iterdir() if p.suffix != ".parquet").decode()
    for customer in small.customers.to_list():
        assert f"{customer}," not in content
    frame = pl.read_parquet(out / "public.parquet")
    assert not set(frame["customer"].to_list()) & set(small.customers.to_list())
    again = noren("publish", release, "--out", out)
    assert (again.code, again.out) == (2, "")
    assert "--force" in again.err
    assert noren("publish", release, "--out", out, "--force").code == 0
    inside = noren("publish", release, "--out", release / "public")
    assert inside.code == 2
    assert "inside the release" in inside.err


def test_report(noren, small_csv, release, tmp_path) -> None:
    answer = noren("report", small_csv, release, *SCHEMA, "--out", tmp_path / "report.html")
    assert answer.code == 0, answer.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "generalize-by-count" in page


def test_demo_runs_everything_twice(noren, tmp_path) -> None:
    out = tmp_path / "demo"
    answer = noren("demo", "--customers", 40, "--rows", 900, "--out", out, "--json")
    assert answer.code == 0, answer.err
    said = answer.json
    assert [r["release"] for r in said["releases"]] == [
        "pseudonymize", "generalize-by-count k=2", "generalize-by-count k=3", "generalize-by-count k=6",
    ]  # fmt: skip
    errors = [r["scores"]["cell-error"] for r in said["releases"]]
    assert errors[0] == 0
    assert errors == sorted(errors)
    assert said["releases"][0]["scores"]["effective"] == 1
    assert Path(said["report"]).exists()
    again = noren("demo", "--customers", 40, "--rows", 900, "--out", out)
    assert again.code == 0, again.err
    assert "report: file://" in again.out


def test_threshold(noren) -> None:
    assert noren("threshold", "--n", 999, "--json").json == {"n": 999, "r": 612}
    assert noren("threshold", "--n", 999, "--bound", "sharp", "--json").json == {"n": 999, "r": 392}
    assert noren("threshold", "--n", 24).out == "18 of 24 must be right\n"
    assert noren("threshold", "--n", 6).out == "no number of hits among 6 is effective\n"
    wrong = noren("threshold", "--n", 24, "--p", "two")
    assert (wrong.code, wrong.out) == (2, "")
