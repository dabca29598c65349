"""The commands on a cluster: the same answers as on one machine."""

from pathlib import Path
from typing import Any

import pytest

import noren as package
from noren.data.release import Release
from noren.data.samples.people import sample_people

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


METHOD = ("--method", "generalize-by-count", "--k", 3, "--seed", 1)


def protected(noren: Any, original: Path, release: Path, engine: str) -> list[Any]:
    """Protect by the command line, and return what it says of the release, and the digest of its rows."""
    done = noren("protect", original, *SCHEMA, *METHOD, "--engine", engine, "--out", release, "--json")
    assert done.code == 0, done.err
    told = ("original_rows", "public_rows", "deleted_rows", "added_rows", "promise", "notes")
    return [*(done.json[key] for key in told), noren("digest", release).out]


@pytest.mark.slow
def test_a_release_is_that_of_one_machine(master: str, noren, original: Path, tmp_path: Path) -> None:
    together = protected(noren, original, tmp_path / "cluster", master)
    assert together == protected(noren, original, tmp_path / "alone", "local")
    lines = [sorted(Release.load(tmp_path / name).public.lines()) for name in ("cluster", "alone")]
    assert lines[0] == lines[1]


def test_attack_measure_and_digest(spark, master: str, noren, original: Path, tmp_path: Path) -> None:
    told = {}
    for engine, name in ((master, "cluster"), ("local", "alone")):
        release, guesses = tmp_path / name, tmp_path / f"{name}-guesses"
        digest = protected(noren, original, release, engine)[-1]
        found = noren(
            "attack", original, release, *SCHEMA, "--attacks", "jaccard", "--engine", engine, "--out", guesses, "--json"
        )
        assert found.code == 0, found.err
        judged = found.json["results"]["jaccard"], found.json["verdict"]
        for at in ("file", "candidates_file"):
            judged[0].pop(at, None)
        judged[0]["mean_similarity"] = round(judged[0]["mean_similarity"], 9)  # added up in another order
        score = noren("measure", original, release, *SCHEMA, "--measures", "cell-error", "--engine", engine, "--json")
        assert score.code == 0, score.err
        told[name] = digest, judged, round(score.json["results"]["cell-error"]["value"], 9)
    assert told["cluster"] == told["alone"]
    again = noren("digest", tmp_path / "cluster", "--engine", master, "--json")
    assert again.json["digest"] == told["alone"][0].strip()
    rate = noren(
        "measure", original, tmp_path / "cluster", *SCHEMA, "--measures", "reid-rate", "--engine", master,
        "--guess", tmp_path / "cluster-guesses",
    )  # fmt: skip
    assert rate.code == 0, rate.err
    assert "reid-rate" in rate.out


def test_what_does_not_work_there(spark, master: str, noren, original: Path, tmp_path: Path) -> None:
    told = noren(
        "protect", original, *SCHEMA, "--method", "pseudonymize", "--official", "--engine", master, "--out", "x"
    )
    assert told.code == 2
    assert "--official does not work on Spark" in told.err
    told = noren("attack", original, tmp_path, *SCHEMA, "--knowledge", 0.5, "--engine", master)
    assert told.code == 2
    assert "--knowledge does not work on Spark" in told.err


def test_classes_of_a_table_decide_where_no_attack_runs(spark, master: str, noren, tmp_path: Path) -> None:
    file, release = tmp_path / "people.parquet", tmp_path / "release"
    sample_people(400, seed=3).frame.write_parquet(file)
    schema = ("--schema", "people")
    for k, status in ((2, "broken"), (20, "proved")):
        how = ("--method", "mondrian", "--k", k, "--seed", 1, "--force", "--out", release)
        assert noren("protect", file, *schema, *how, "--engine", master).code == 0
        together = noren("attack", file, release, *schema, "--engine", master, "--json")
        alone = noren("attack", file, release, *schema, "--attacks", "none", "--json")
        assert together.json == alone.json
        assert alone.json["verdict"]["verdict"] == status
