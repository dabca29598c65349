"""The arena's judge on a cluster: the same entry of the log, to the last digit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.contest.judging_cases import made

from noren import api
from noren.contest.judging import scorer
from noren.contest.judging.scorer import CLUSTER_LOST
from noren.contest.judging.scoring import ClusterLostError, on_cluster, score_release
from noren.contest.rulebook import Rulebook, read_rulebook
from noren.data.release import Release
from noren.errors import ClusterError
from noren.execution.engine import OriginalInput, ReleaseInput
from noren.execution.session import ClusterStep, report_stages
from noren.execution.spark import SparkEngine
from noren.work.hash_chain import canonical

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOOK = """
name = "ties"
schema = "pwscup2018"
[[terms]]
measure = "cell-error"
[baseline]
counts = true
attacks = [{ attack = "jaccard" }, { attack = "s3", knowledge = 0.5 }]
"""


def files(tmp_path: Path) -> tuple[Rulebook, Path, Path]:
    case = made("pwscup2018", tmp_path)
    return read_rulebook(BOOK), case.original, case.submitted


def test_a_cluster_writes_the_same_entry_of_the_log(master: str, spark: SparkSession, tmp_path: Path) -> None:
    book = files(tmp_path / "case")
    alone = score_release(*book)
    heard: list[list[ClusterStep]] = []
    with on_cluster(master, tmp_path / "handed") as engine, report_stages(heard.append):
        together = score_release(*book, engine=engine)
    assert canonical(together) == canonical(alone)
    right = alone["baseline"]["jaccard"]["tried"]["right_at"]
    assert 0 < len(right) < alone["baseline"]["jaccard"]["tried"]["named"], "who is right depends on the order of ties"
    steps = {step.step["en"]: step for step in heard[-1]}
    # a stage has the name of the step in which it was noticed: reading may be over before anybody looks
    assert steps.keys() | {"reading"} == {"reading", "cell-error", "jaccard"}, "who knows a part has no plan"
    assert all(step.over and step.done == step.tasks for step in steps.values())
    assert steps["jaccard"].bytes > steps["jaccard"].rows > 0
    assert list((tmp_path / "handed").iterdir()) == [], "nothing of the release is left"
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0, "nor on the workers' disks"


def test_a_cluster_that_does_not_answer_is_said(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    with (
        pytest.raises(ClusterLostError, match=r"no Spark master answers|Spark needs Java"),
        on_cluster("spark://127.0.0.1:1", tmp_path / "handed"),
    ):
        pass


def test_a_cluster_lost_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second piece fails: what the first found is not told, and no attack is said to have failed."""
    asked: list[str] = []

    def measure(_engine: SparkEngine, original: OriginalInput, release: ReleaseInput, one: Any, **_how: Any) -> Any:
        asked.append(one.name)
        assert original.path is not None
        assert release.path is not None
        return api.measure(pl.read_parquet(original.path), Release.load(release.path), one, schema=original.schema)

    def attack(_engine: SparkEngine, _original: OriginalInput, _release: ReleaseInput, one: Any, **_how: Any) -> Any:
        asked.append(one.name)
        raise ClusterError("all workers of the cluster are gone")

    book, original, submitted = files(tmp_path)

    monkeypatch.setattr("noren.execution.session.session", lambda engine: None)
    monkeypatch.setattr(SparkEngine, "measure", measure)
    monkeypatch.setattr(SparkEngine, "attack", attack)
    order = {
        "kind": "release", "rulebook": book.to_toml(), "original": str(original), "submitted": str(submitted),
        "engine": "spark://gone:7077", "folder": str(tmp_path / "handed"),
    }  # fmt: skip
    said: list[Any] = []
    assert scorer._answer(order, said.append) == {"fault": CLUSTER_LOST}
    assert asked == ["cell-error", "jaccard"]
    assert all("result" not in line for line in said)
    assert list((tmp_path / "handed").iterdir()) == []


def test_steps_are_said_with_the_progress(tmp_path: Path) -> None:
    said: list[Any] = []
    teller = scorer._ScorerProgress(said.append)
    teller(0.25, "jaccard")
    step = ClusterStep({"en": "jaccard"}, 2, 5, 6, 100, 8500, 2.5, over=False)
    teller.hear([step])
    assert said[-1] == {"done": 0.25, "words": "jaccard", "stages": [asdict(step)]}
