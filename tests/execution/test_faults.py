"""What goes wrong on a cluster is told in one line, and nothing is written."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.execution.sameness import on_cluster

import noren
from noren.data.schema import Schema
from noren.errors import ClusterError, FileError, NorenError, OutputError, ParameterError, SchemaError
from noren.execution.faults import saying_faults, told
from noren.execution.session import session
from noren.execution.working import protect, schema_for
from noren.methods import methods

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ("x java.io.IOException: No space left on device\n y", OutputError, "a worker's disk is full"),
        ("ModuleNotFoundError: No module named 'noren'", ClusterError, "a worker does not find Noren"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker", ClusterError, "workers run another Python than this one"),
        ("ExecutorLostFailure (executor 3 exited)", ClusterError, "workers ended in the middle of the work"),
        ("Job aborted: java.lang.OutOfMemoryError: Java heap", ClusterError, "workers ended in the middle"),
        (
            "java.lang.OutOfMemoryError: Java heap space",
            ClusterError,
            "Spark's driver has too little memory for this",
        ),
        ("noren.errors.FileError: a.parquet: it is odd\n", FileError, "a.parquet: it is odd"),
        ("[FAILED_READ_FILE] x", FileError, "the files of the folder do not have the same columns"),
        ("\nsomething else\nat line 3", ClusterError, "Spark stopped: something else"),
    ],
)
def test_told_in_one_line(words: str, kind: type[NorenError], said: str) -> None:
    error = told(words)
    assert type(error) is kind
    assert str(error).startswith(said)
    assert "\n" not in str(error)


def test_nobody_answers(java: None) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(ParameterError, match=r"no Spark master answers \(Connection refused\); check host and port"):
        session(f"spark://127.0.0.1:{port}")


def test_what_a_worker_says_of_a_cell(spark: SparkSession, tmp_path: Path) -> None:
    history = noren.sample(customers=5, rows=40, items=9, seed=1)
    frame = history.frame.with_columns(price=-history.frame["price"])
    lying = on_cluster(noren.History(frame, history.schema), spark, tmp_path / "in")
    with pytest.raises(NorenError, match="column price") as caught, saying_faults(spark):
        lying.frame.write.parquet(str(tmp_path / "out"))
    assert "row" in str(caught.value)


def test_no_plan_and_no_parquet(master: str, tmp_path: Path) -> None:
    history = noren.sample(customers=5, rows=40, items=9, seed=1)
    (tmp_path / "T.csv").write_text(history.frame.write_csv())
    sample = Schema.preset("sample")
    with pytest.raises(ParameterError, match="microaggregate does not run on a cluster; use --engine local, or one of"):
        protect("T.csv", methods.create("microaggregate", k=3), engine=master, out="x", schema=sample, seed=1)
    made = methods.create("pseudonymize")
    with pytest.raises(FileError, match=r"a cluster reads Parquet; convert it first: noren convert T.csv T.parquet"):
        protect(tmp_path / "T.csv", made, engine=master, out=tmp_path / "x", schema=sample, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["T.csv"]


def test_a_schema_of_far_away_is_not_guessed() -> None:
    with pytest.raises(SchemaError, match="what is not on this machine is not guessed; name a schema"):
        schema_for("s3a://bucket/data", None)
