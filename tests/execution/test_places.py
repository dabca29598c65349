"""Folders are called what people call them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.execution.sameness import on_cluster

import noren
from noren.data.release import public_digest
from noren.execution.files import ClusterPath, address_of, is_local, local_path
from noren.execution.plans import plan_of
from noren.execution.release import digest_of, load_release
from noren.methods.pseudonymize import Pseudonymize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_signs_and_letters_in_names(spark: SparkSession, tmp_path: Path) -> None:
    history = noren.sample(customers=8, rows=60, items=9, seed=1)
    odd = tmp_path / "購入 [2] 50% #1 {a}"
    lying = on_cluster(history, spark, odd / "in")
    plan_of(Pseudonymize()).run(Pseudonymize(), lying, seed=1).save(odd / "release?")
    assert sorted(path.name for path in odd.iterdir()) == ["in", "release?"]
    told, rows = public_digest(odd / "release?")
    assert rows == 60
    assert digest_of(load_release(spark, odd / "release?").public) == told
    assert (ClusterPath(spark, odd) / "in").names()[0] == "_SUCCESS"


@pytest.mark.parametrize(
    ("given", "meant", "local"),
    [
        (Path("s3a://bucket/a/b"), "s3a://bucket/a/b", False),
        ("hdfs://node.example:8020/a", "hdfs://node.example:8020/a", False),
        (Path("hdfs:///a/b"), "hdfs:///a/b", False),
        (Path("a/b"), "a/b", True),
        ("file:///a/b", "file:///a/b", True),
    ],
)
def test_addresses(given: str | Path, meant: str, local: bool) -> None:
    assert address_of(given) == meant
    assert is_local(given) is local


def test_a_local_address_is_a_path() -> None:
    assert local_path("file:///a b/c") == Path("/a b/c")
    assert local_path(Path("a/b")) == Path("a/b")
