"""The commands on a cluster: the same answers as on one machine."""

import json
from pathlib import Path

import pytest

import noren as package

SCHEMA = ("--schema", "sample")


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "purchases"
    history = package.sample(customers=24, rows=500, items=40, seed=4)
    for at in range(2):
        part = folder / f"half={at}"
        part.mkdir(parents=True)
        history.frame[250 * at : 250 * (at + 1)].write_parquet(part / "rows.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def test_protect_attack_measure_and_digest(spark, master: str, noren, original: Path, tmp_path: Path) -> None:
    method = ("--method", "generalize-by-count", "--k", 3, "--seed", 1)
    told = {}
    for engine, name in ((master, "cluster"), ("local", "alone")):
        release, guesses = tmp_path / name, tmp_path / f"{name}-guesses"
        done = noren("protect", original, *SCHEMA, *method, "--engine", engine, "--out", release, "--json")
        assert done.code == 0, done.err
        made = json.loads(done.out)
        rows = [made[key] for key in ("original_rows", "public_rows", "deleted_rows", "added_rows", "promise", "notes")]
        digest = noren("digest", release).out
        found = noren(
            "attack", original, release, *SCHEMA, "--with", "jaccard", "--engine", engine, "--out", guesses, "--json"
        )
        assert found.code == 0, found.err
        named = json.loads(found.out)["results"]["jaccard"]["named"]
        score = noren("measure", original, release, *SCHEMA, "--with", "cell-error", "--engine", engine, "--json")
        assert score.code == 0, score.err
        told[name] = (rows, digest, named, round(json.loads(score.out)["results"]["cell-error"]["value"], 9))
    assert told["cluster"] == told["alone"]
    again = noren("digest", tmp_path / "cluster", "--engine", master, "--json")
    assert json.loads(again.out)["digest"] == told["alone"][1].strip()
    rate = noren(
        "measure", original, tmp_path / "cluster", *SCHEMA, "--with", "reid-rate", "--engine", master,
        "--guess", tmp_path / "cluster-guesses",
    )  # fmt: skip
    assert rate.code == 0, rate.err
    assert "reid-rate" in rate.out


def test_what_does_not_work_there(spark, master: str, noren, original: Path, tmp_path: Path) -> None:
    told = noren(
        "protect", original, *SCHEMA, "--method", "pseudonymize", "--official", "--engine", master, "--out", "x"
    )
    assert told.code == 2
    assert "--official does not work on a cluster" in told.err
    told = noren("attack", original, tmp_path, *SCHEMA, "--knowledge", 0.5, "--engine", master)
    assert told.code == 2
    assert "--knowledge does not work on a cluster" in told.err
