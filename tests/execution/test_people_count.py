"""Nobody stands in several rows of a table that is protected on a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.execution.sameness import on_cluster

import noren
from noren.data.frames import Table
from noren.data.guessing import people
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.execution.files import reject_repeated_people

SCHEMA = Schema.of(
    {"kind": "table", "columns": {"patient_id": {"role": "identifier", "optional": True}, "sex": {"role": "quasi"}}}
)


def test_somebody_with_two_rows_stops_both_engines(spark, tmp_path: Path) -> None:
    repeated = Table.of({"patient_id": ["a1", "a2", " ", None, "a1"], "sex": list("fmfmf")}, SCHEMA)
    with pytest.raises(SchemaError) as alone:
        people.reject_repeated_people(repeated)
    with pytest.raises(SchemaError) as together:
        reject_repeated_people(on_cluster(repeated, spark, tmp_path / "repeated", files=2))
    assert str(together.value) == str(alone.value)
    assert "patient_id identifies people, and its 4 values occur in 5 rows" in str(alone.value)
    single = Table.of({"patient_id": ["a1", "a2", "", None, "a3"], "sex": list("fmfmf")}, SCHEMA)
    reject_repeated_people(on_cluster(single, spark, tmp_path / "single", files=2))


def test_purchases_are_of_people_with_many_rows(spark, tmp_path: Path) -> None:
    history = noren.sample(customers=5, rows=40, items=6, seed=3)
    reject_repeated_people(on_cluster(history, spark, tmp_path / "history", files=2))
