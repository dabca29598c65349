"""Runs that the studio hands to a cluster: by a setting, where there is a plan, and the run says what ran where."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from noren import api
from noren.attacks.jaccard import Jaccard
from noren.data.release import Release
from noren.errors import ParameterError
from noren.execution import spark
from noren.execution.engine import OriginalInput, ReleaseInput
from noren.execution.session import Stages
from noren.execution.spark import SparkEngine
from noren.methods.chain import Chain
from noren.methods.pseudonymize import Pseudonymize
from noren.progress import silent
from noren.studio.folders import Folders, read_json
from noren.studio.work import running
from noren.studio.work.results import engine_sentences
from noren.web.settings import ServerSettings

ENGINE = "local[2]"


@pytest.fixture
def place(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """The order of a run and the folder of its job."""
    history = api.sample(customers=12, rows=150, items=20, seed=1)
    project, job = "p" * 12, "j" * 12
    folders = Folders(tmp_path)
    folder = folders.job(project, job)
    folder.mkdir(parents=True)
    history.frame.select(history.schema.names).write_parquet(folders.data(project))
    folders.schema(project).write_text(history.schema.to_toml(), encoding="utf-8")
    order = {
        "kind": "run", "project": project, "root": str(tmp_path), "language": "en", "seed": 5, "engine": ENGINE,
        "steps": [{"method": "pseudonymize", "parameters": {}}], "attacks": ["jaccard"], "measures": ["reid-rate"],
    }  # fmt: skip
    return order, folder


def test_an_engine_that_is_none_is_refused_when_the_studio_is_set_up(tmp_path: Path) -> None:
    assert ServerSettings(tmp_path, engine=ENGINE).engine == ENGINE
    with pytest.raises(ParameterError, match="'spark:/host' is not an engine"):
        ServerSettings(tmp_path, engine="spark:/host")


def test_a_chain_has_a_plan_where_each_step_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "has_plan", lambda component: component.name in ("chain", "pseudonymize"))
    engine = SparkEngine(ENGINE)
    assert engine.runs(Pseudonymize())
    assert engine.runs(Chain(steps=["pseudonymize"]))
    assert not engine.runs(Chain(steps=["pseudonymize", {"method": "thin", "share": 0.5}]))
    assert not engine.runs(Jaccard())


def test_what_ran_where_is_told() -> None:
    assert engine_sentences({}) == []
    assert engine_sentences({"thin": ENGINE, "jaccard": "local", "reid-rate": "local"}) == [
        "On the cluster local[2]: thin.",
        "On this machine, because they cannot run on a cluster: jaccard, reid-rate.",
    ]


def test_what_has_a_plan_is_handed_over_and_the_rest_is_done_here(
    place: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    order, folder = place
    asked: list[str] = []

    def attack(engine: SparkEngine, original: OriginalInput, release: ReleaseInput, one: Any, **how: Any) -> Any:
        asked.append(f"{one.name} on {engine.address}")
        assert original.path is not None
        assert release.path is not None
        assert len(pl.read_parquet(original.path)) == 150
        return api.attack(running.original_of(order), Release.load(release.path), one)

    monkeypatch.setattr(spark, "has_plan", lambda component: component.name == "jaccard")
    monkeypatch.setattr(SparkEngine, "attack", attack)
    words: list[str] = []
    running.do(order, folder, lambda done, said="", best=None: words.append(said))
    assert asked == ["jaccard on local[2]"]
    engines = {"pseudonymize": "local", "jaccard": ENGINE, "reid-rate": "local"}
    assert read_json(folder / "result.json")["engines"] == engines
    assert any("pseudonymize: on this machine (not available on Spark)" in said for said in words)
    alone = folder.with_name("k" * 12)
    alone.mkdir()
    running.do({**order, "engine": "local"}, alone, silent)
    ours, theirs = (read_json(one / "result.json") for one in (folder, alone))
    assert theirs["engines"] == {}
    assert ours["measures"] == theirs["measures"]


def test_stages_are_told_behind_the_step() -> None:
    """Two stages run, with 3 + 1 of 4 + 8 tasks done; then none does, and nothing is told."""
    stages = {3: SimpleNamespace(stageId=3, numTasks=4, numCompletedTasks=3)}
    stages[5] = SimpleNamespace(stageId=5, numTasks=8, numCompletedTasks=1)
    running_now = [3, 5, 7]  # 7 has just ended: nothing is known of it
    tracker = SimpleNamespace(getActiveStageIds=lambda: running_now, getStageInfo=stages.get)
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))
    told: list[tuple[float, str]] = []
    progress = Stages(session, lambda done, words="", best=None: told.append((done, words)))
    progress(0.25, "reading")
    progress.look()
    running_now.clear()
    progress.look()
    assert told == [(0.25, "reading"), (0.25, "reading: stage 3, 5, 4 of 12 tasks")]


@pytest.mark.slow
@pytest.mark.spark
def test_a_run_on_spark_makes_the_release_of_one_machine(place: tuple[dict[str, Any], Path]) -> None:
    pytest.importorskip("pyspark")
    from noren.execution.session import close, java_home

    try:
        java_home()
    except ParameterError as error:
        pytest.skip(str(error))
    order, folder = place
    try:
        running.do({**order, "attacks": [], "measures": []}, folder, silent)
    finally:
        close()
    made = Release.load(folder / "release")
    alone = api.protect(running.original_of(order), "pseudonymize", seed=5)
    assert made.public.lines().to_list() == alone.public.lines().to_list()
    assert made.statement == alone.statement
    assert read_json(folder / "result.json")["engines"] == {"pseudonymize": ENGINE}
