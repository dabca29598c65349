"""Blocks that workers search are those that one machine searches."""

from pathlib import Path

import pytest
from tests.execution.histories import bare, uneven
from tests.execution.sameness import on_cluster, same_release

from noren.errors import ParameterError
from noren.execution.plans import plan_of
from noren.methods.generalize import Generalize


def test_several_blocks_blanks_and_a_long_history(spark, tmp_path: Path) -> None:
    release = same_release(Generalize(k=3, effort="quick", block=15), uneven(), spark, tmp_path)
    assert release.statement.notes["blocks"] == 3


def test_one_block_of_items_alone(spark, tmp_path: Path) -> None:
    release = same_release(Generalize(k=2, effort="quick"), bare(), spark, tmp_path)
    assert "blocks" not in release.statement.notes


def test_what_one_machine_does(spark, tmp_path: Path) -> None:
    method = Generalize(survival=0.5)
    with pytest.raises(ParameterError, match="does not run on Spark with survival"):
        plan_of(method).run(method, on_cluster(bare(), spark, tmp_path / "original"), seed=1)
