"""The cluster that the tests run on: a master and two workers of their own; NOREN_TEST_SPARK names another engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from noren.cluster.java import java_home
from noren.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    with ExitStack() as stack:
        address = os.environ.get("NOREN_TEST_SPARK")
        if address is None:
            from tests.cluster.standalone import Standalone

            address = stack.enter_context(Standalone(tmp_path_factory.mktemp("cluster"))).address
        yield address


@pytest.fixture(scope="session")
def spark(master: str) -> Iterator[SparkSession]:
    """A session on the cluster."""
    from noren.cluster.session import close, session

    yield session(master)
    close()
