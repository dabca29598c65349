"""L1 precision: hand-worked tables, margins, and releases by other methods."""

import numpy as np
import polars as pl
import pytest

from noren.api import measure, protect
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.measures.utility.l1_precision import precision

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
        },
    }
)


def people(rows: int = 600) -> Table:
    draws = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[i] for i in draws.integers(0, 2, rows)],
            "town": [("a", "b", "c")[i] for i in draws.choice(3, rows, p=[0.7, 0.2, 0.1])],
            "age": draws.integers(0, 100, rows),
        }
    )
    return Table.of(frame, SCHEMA)


def test_the_papers_definition() -> None:
    assert precision(np.array([[2.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 2.0]])) == 0
    assert precision(np.array([3.0, 1.0]), np.array([3.0, 1.0])) == 1
    assert precision(np.array([3.0, 1.0]), np.array([2.5, 1.5])) == 0.875


def test_perturbed_reconstructed_and_every_margin() -> None:
    original = people()
    release = protect(original, "retention", attributes=["sex", "town", "age"], k=2, classes=["age=49..99:50"], seed=3)
    score = measure(original, release, "l1-precision", model="em")
    for what in ("perturbed", "reconstructed"):
        for name in ("sex", "town", "age", "sex × town", "sex × age", "town × age"):
            assert 0 < score.parts[f"{name}, {what}"] <= 1
        # a coarser table cannot be less precise
        assert score.parts[f"sex, {what}"] >= score.parts[f"sex × town, {what}"] >= score.parts[what]
    assert score.value == score.parts["reconstructed"]
    assert score.notes["model"] == "em"
    # by hand: towns as they were released
    counts = [(original.frame["town"] == t).sum() - (release.public.frame["town"] == t).sum() for t in "abc"]  # type: ignore[operator]
    assert score.parts["town, perturbed"] == pytest.approx(1 - sum(map(abs, counts)) / 1200)


def test_without_reconstruction_the_value_is_the_perturbed_tables() -> None:
    original = people()
    release = protect(original, "retention", attributes=["sex", "town"], k=2, reconstruct="none", seed=3)
    score = measure(original, release, "l1-precision")
    assert score.value == score.parts["perturbed"]
    assert "reconstructed" not in score.parts
    assert measure(original, release, "l1-precision", model="auto").parts.keys() > score.parts.keys()


def test_other_releases_are_compared_as_they_stand() -> None:
    original = people(4)
    frame = original.frame.with_columns(town=pl.lit("a"))
    release = Release.of_aligned(original, Table(frame, SCHEMA), Statement("hand"))
    score = measure(original, release, "l1-precision")
    assert score.parts["sex"] == 1
    assert score.parts["town"] == pytest.approx((original.frame["town"] == "a").mean())
    deleted = pl.DataFrame({n: pl.Series([None] * 4, dtype=frame[n].dtype) for n in frame.columns})
    gone = Table(pl.concat([original.frame[:2], deleted[:2]]), SCHEMA)
    assert measure(original, Release.of_aligned(original, gone, Statement("hand")), "l1-precision").value == 0.5


def test_an_original_of_other_columns_is_refused() -> None:
    release = protect(people(), "retention", attributes=["sex"], k=2, seed=1)
    other = Table.of({"x": ["1"] * 5}, Schema.of({"kind": "table", "columns": {"x": {"role": "quasi"}}}))
    with pytest.raises(SchemaError, match="no column 'sex'"):
        measure(other, release, "l1-precision")
    plain = Release(people(5), release.secret, Statement("hand"))
    with pytest.raises(SchemaError, match="no column of the original"):
        measure(other, plain, "l1-precision")


def test_a_table_too_large_is_judged_by_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    original = people()
    release = protect(original, "retention", attributes=["sex", "town", "age"], k=2, classes=["age=49..99:50"], seed=3)
    whole = measure(original, release, "l1-precision", model="independence")
    for room in ("measures.utility.l1_precision", "retention.reconstruction"):
        monkeypatch.setattr(f"noren.{room}.LARGEST_TABLE", 8)
    parts = measure(original, release, "l1-precision", model="independence")
    names = ("sex × town", "sex × age", "town × age")
    for what in ("perturbed", "reconstructed"):
        for name in names:
            assert parts.parts[f"{name}, {what}"] == pytest.approx(whole.parts[f"{name}, {what}"])
    assert parts.value == pytest.approx(sum(whole.parts[f"{n}, reconstructed"] for n in names) / 3)
    assert parts.notes == {"tables": "pairs", "cells": 12, "model": "independence"}
    # a model of whole tables is asked of each pair by itself
    em = measure(original, release, "l1-precision", model="em")
    assert em.parts["sex × town, perturbed"] == parts.parts["sex × town, perturbed"]
    assert em.value != parts.value
    assert measure(original, release, "l1-precision", model="none").value == pytest.approx(
        sum(whole.parts[f"{n}, perturbed"] for n in names) / 3
    )
