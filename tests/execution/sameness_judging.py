"""Attacks and measures on both engines, and whether they say the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from tests.execution.sameness import on_cluster

from noren.data.frames import Records
from noren.data.release import Release
from noren.execution.plans import plan_of
from noren.execution.release import ClusterEvidence, ClusterGuess, load_release
from noren.protocols import Attack, Evidence, Guess, Measure, Score

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Judged:
    """A release that lies on a cluster beside its original, and the same on one machine."""

    def __init__(self, original: Records, release: Release, spark: SparkSession, tmp_path: Path) -> None:
        self.folder = tmp_path
        release.save(tmp_path / "judged")
        self.spark, self.original, self.release = spark, original, Release.load(tmp_path / "judged")
        self.lying = on_cluster(original, spark, tmp_path / "original")
        self.released = load_release(spark, tmp_path / "judged")

    def _lying(self, name: str, guess: Guess) -> ClusterGuess:
        file = self.folder / f"{name}.parquet"
        guess.pairs.write_parquet(file)
        return ClusterGuess(name, self.spark.read.parquet(str(file)), guess.notes)

    def same_guess(self, attack: Attack, seed: int = 1) -> Guess:
        """Assert that both engines name the same people, as surely and in one order; return that of one machine."""
        alone = attack.attack(self.original, self.release.public, seed=seed)
        together = plan_of(attack).run(attack, self.lying, self.released.public, seed=seed)
        folder = self.folder / f"guess-{len(list(self.folder.iterdir()))}"
        together.in_order().write.parquet(str(folder))
        pairs = pl.read_parquet(folder / "*.parquet")
        assert set(pairs.columns) == set(alone.pairs.columns)
        assert pairs.select(alone.pairs.columns).rows() == alone.pairs.rows()
        same_values(together.notes, alone.notes)
        return alone

    def same_score(self, measure: Measure, guesses: Mapping[str, Guess] | None = None) -> Score:
        """Assert that both engines give the same score; return that of one machine."""
        guesses = guesses or {}
        there = {name: self._lying(name, guess) for name, guess in guesses.items()}
        alone = measure.measure(Evidence(self.original, self.release, guesses))
        together = plan_of(measure).run(measure, ClusterEvidence(self.lying, self.released, there))
        same_values(together.value, alone.value)
        same_values(together.parts, alone.parts)
        same_values(together.notes, alone.notes)
        return alone


def same_values(one: Any, other: Any) -> None:
    """Assert that plain data are equal, floats to 1e-9."""
    if isinstance(other, Mapping):
        assert dict(one).keys() == dict(other).keys()
        for name in other:
            same_values(one[name], other[name])
    elif isinstance(other, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same_values(a, b)
    elif isinstance(other, float):
        assert _close(one, other), (one, other)
    else:
        assert one == other


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
