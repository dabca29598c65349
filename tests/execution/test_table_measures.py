"""What is measured of a table on a cluster is what one machine measures."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.execution.sameness import on_cluster
from tests.execution.test_alike_rows import SCHEMA, people, written_ladders
from tests.methods import test_retention

from noren.api import protect
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Column
from noren.execution.plans import plan_of
from noren.execution.release import ClusterEvidence, load_release
from noren.measures.safety.classes import Classes
from noren.measures.utility.l1_precision import L1Precision
from noren.measures.utility.table_losses import ClassSize, Discernibility, EntropyLoss, TableLoss
from noren.protocols import Evidence, Measure, Score


def said(score: Score) -> dict:
    """Return all that a score says, numbers rounded: sums are added up in another order."""

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return {name: plain(its) for name, its in value.items()}
        return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value

    return {"value": plain(score.value), "parts": plain(dict(score.parts)), "notes": plain(dict(score.notes))}


def same_scores(original: Table, release: Release, measures: tuple[Measure, ...], spark, tmp_path: Path) -> list[Score]:
    release.save(tmp_path / "release")
    lying = on_cluster(original, spark, tmp_path / "original")
    evidence = ClusterEvidence(lying, load_release(spark, tmp_path / "release"))
    found = []
    for one in measures:
        together = plan_of(one).run(one, evidence)
        assert said(together) == said(one.measure(Evidence(original, release)))
        found.append(together)
    return found


def test_classes_cut_one_by_one(spark, tmp_path: Path) -> None:
    # numbers as sensitive values, told apart and in order
    roles = {"visits": "sensitive", "illness": "other"}
    columns = [c.model_copy(update={"role": roles.get(c.name, c.role)}) for c in SCHEMA.columns]
    original = Table(people(400).frame, SCHEMA.model_copy(update={"columns": tuple(columns)}))
    release = protect(original, "mondrian", k=4, l=2, seed=1)
    classes, _loss = same_scores(original, release, (Classes(), EntropyLoss()), spark, tmp_path)
    assert classes.notes["holds"]
    assert classes.notes["sensitive"]["visits"]["t_ordered"] > 0


def test_rows_that_are_lost_and_claims_that_are_not_real(spark, tmp_path: Path) -> None:
    schema = SCHEMA.model_copy(
        update={"columns": (Column(name="city", role="quasi", optional=True), Column(name="sex", role="sensitive"))}
    )
    original = Table.of({"city": ["a", "a", "b", "b", "b", "c", None], "sex": list("ffmfmmf")}, schema)
    shown = pl.DataFrame({"city": ["x", "x", "x", "y", "y", None, None], "sex": ["f", "f", "m", "m", "m", None, "f"]})
    aligned = Table(shown, schema)
    claim = Statement("by hand", {"k": 3, "l": 2}, notes={"classes": 2})
    release = Release.of_aligned(original, aligned, claim)
    measures = (Classes(), Discernibility(), ClassSize())
    classes, discernibility, size = same_scores(original, release, measures, spark, tmp_path)
    assert (classes.value, classes.notes["holds"]) == (2.0, False)
    assert classes.notes["unlinked_rows"] == 1
    assert discernibility.value == 9 + 4 + 2 * 7
    assert size.value == pytest.approx(7 / 3)


def test_labels_on_their_hierarchy(spark, tmp_path: Path) -> None:
    original, ladders = people(300), written_ladders(tmp_path)
    release = protect(original, "hierarchy", k=3, suppression=0.1, hierarchies=ladders, seed=1)
    loss, _share = same_scores(original, release, (TableLoss(hierarchies=ladders), L1Precision()), spark, tmp_path)
    assert release.statement.notes["levels"]["age"] == 3
    assert loss.parts["age"] == 1  # the top says nothing of an age


def test_cross_tabulations(spark, tmp_path: Path) -> None:
    original = test_retention.people(300)
    release = protect(original, "retention", attributes=["sex", "pay"], rho=0.5, seed=3)
    (found,) = same_scores(original, release, (L1Precision(model="auto"),), spark, tmp_path)
    assert 0 < found.value < 1
