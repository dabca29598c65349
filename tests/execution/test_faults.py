"""What goes wrong on a cluster is told in one line, and nothing is written."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.execution.sameness import on_cluster

import noren
from noren.data.guessing import schema_guess
from noren.data.reading import read
from noren.data.schema import Kind, Schema
from noren.errors import ClusterError, FileError, NorenError, OutputError, ParameterError
from noren.execution.engine import get_engine
from noren.execution.session import explain_error, explain_faults, session
from noren.methods import methods
from noren.work.run import protect_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ("x java.io.IOException: No space left on device\n y", OutputError, "nothing was written, because a worker's"),
        ("ModuleNotFoundError: No module named 'noren'", ClusterError, "a worker does not find Noren"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker", ClusterError, "workers run another version of Python"),
        ("ExecutorLostFailure (executor 3 exited)", ClusterError, "nothing was written, because workers ended four"),
        ("Job aborted: java.lang.OutOfMemoryError: Java heap", ClusterError, "nothing was written, because workers"),
        ("java.lang.OutOfMemoryError: Java heap space", ClusterError, "nothing was written, because Spark's driver"),
        ("noren.errors.FileError: a.parquet: it is odd\n", FileError, "a.parquet: it is odd"),
        ("[FAILED_READ_FILE] x", FileError, "the files of the folder do not have the same columns"),
        ("\nsomething else\nat line 3", ClusterError, "Spark stopped: something else"),
    ],
)
def test_told_in_one_line(words: str, kind: type[NorenError], message: str) -> None:
    error = explain_error(words)
    assert type(error) is kind
    assert str(error).startswith(message)
    assert "\n" not in str(error)


def test_nobody_answers(java: None) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(ParameterError, match=r"no Spark master answers \(Connection refused\); check its host"):
        session(f"spark://127.0.0.1:{port}")


def test_what_a_worker_says_of_a_cell(spark: SparkSession, tmp_path: Path) -> None:
    history = noren.sample(customers=5, rows=40, items=9, seed=1)
    frame = history.frame.with_columns(price=-history.frame["price"])
    lying = on_cluster(noren.History(frame, history.schema), spark, tmp_path / "in")
    with pytest.raises(NorenError, match="column price") as caught, explain_faults(spark):
        lying.frame.write.parquet(str(tmp_path / "out"))
    assert "row" in str(caught.value)


def test_no_plan_and_no_parquet(master: str, tmp_path: Path) -> None:
    (tmp_path / "T.xlsx").write_bytes(b"PK\x03\x04")
    sample = Schema.preset("sample")
    with pytest.raises(ParameterError, match="microaggregate does not run on Spark; use --engine local, or one of"):
        protect_folder("T.xlsx", "microaggregate", "x", k=3, engine=master, schema=sample, seed=1)
    made = methods.create("pseudonymize")
    with pytest.raises(
        FileError, match=r"Spark reads Parquet and text files; convert the file first: noren convert T.xlsx T.parquet"
    ):
        protect_folder(tmp_path / "T.xlsx", made, tmp_path / "x", engine=master, schema=sample, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["T.xlsx"]


def test_a_guessed_schema_is_settled_by_workers(
    master: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first rows are guessed from; what later ones hold widens the guess, and what it cannot read is refused."""
    monkeypatch.setattr(schema_guess, "SAMPLE_ROWS", 20)
    history = noren.sample(customers=9, rows=60, items=12, seed=1)
    late = pl.int_range(pl.len()) > 40
    texts = history.frame.with_columns(pl.col("date").cast(pl.String))
    blank = texts.with_columns(quantity=pl.when(late).then(None).otherwise("quantity"))
    blank.write_parquet(tmp_path / "blank.parquet")
    said: dict[str, Any] = {"kind": Kind.HISTORY, "customer": "customer"}
    data = get_engine(master).read(tmp_path / "blank.parquet", **said)
    assert data.schema == read(tmp_path / "blank.parquet", **said).data.schema
    assert data.schema["quantity"].optional
    odd = texts.with_columns(date=pl.when(late).then(pl.lit("soon")).otherwise("date"))
    odd.write_parquet(tmp_path / "odd.parquet")
    with pytest.raises(NorenError, match=r"date.*soon"):
        get_engine(master).read(tmp_path / "odd.parquet", **said)
