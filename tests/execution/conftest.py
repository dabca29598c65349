"""Spark for the tests: two threads of this machine, so that processes of tests run side by side.

NOREN_TEST_SPARK names another engine, such as a cluster's master. ``test_lost_workers`` starts a master and workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noren.errors import ParameterError
from noren.execution.session import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAST = "test_a_release_is_that_of_one_machine"
"""The one test on Spark that is in the fast tier."""
SMALL = {
    "spark.driver.memory": "512m",
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "3",
}
"""What makes Spark quick on a few hundred rows: little compiling, few parts."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for Java, directly or by a session on Spark."""
    for item in items:
        if item.path.parent == Path(__file__).parent and "java" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
            if item.name != FAST:
                item.add_marker("slow")


@pytest.fixture(scope="session")
def java() -> None:
    pytest.importorskip("pyspark")
    try:
        java_home()
    except ParameterError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def master(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the cluster."""
    folder = tmp_path_factory.mktemp("spark")
    settings = SMALL | {"spark.local.dir": folder / "scratch", "spark.sql.warehouse.dir": folder / "warehouse"}
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        yield os.environ.get("NOREN_TEST_SPARK", "local[2]")


@pytest.fixture(scope="session")
def spark(master: str) -> Iterator[SparkSession]:
    """A session on the cluster."""
    from noren.execution.session import close, session

    yield session(master)
    close()
