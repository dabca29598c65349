"""A table is reconstructed from counts of a cluster as from rows of one machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.methods.test_retention import people

from noren.api import protect
from noren.api import reconstruct as on_one_machine
from noren.execution.engine import get_engine


def test_the_same_tables_of_one_too_large(spark, master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = protect(people(600), "retention", attributes=["sex", "town", "pay"], rho=0.5, seed=3)
    release.save(tmp_path / "release")
    for module in ("noren.retention.reconstruction", "noren.execution.plans.utility"):
        monkeypatch.setattr(f"{module}.LARGEST_TABLE", 10)
    asked = ["pay", "sex"]  # some of the attributes, in another order: 63 cells
    alone = on_one_machine(release, "auto", attributes=asked, seed=4)
    together, schema = get_engine(master).reconstruct(tmp_path / "release", model="auto", attributes=asked, seed=4)
    assert schema == release.public.schema
    assert type(together) is type(alone)
    assert together.made_of == alone.made_of
    assert together.cells().equals(alone.cells())
    assert together.records(4).equals(alone.records(4))
