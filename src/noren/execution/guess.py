"""What an attack found on a cluster, and what a measure looks at there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.execution.frames import ClusterRecords
from noren.execution.places import written_whole
from noren.execution.release import ClusterRelease

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ClusterEvidence", "ClusterGuess"]

_COLUMNS = ("pseudonym", "customer", "score", "rank", "period")


@dataclass(frozen=True)
class ClusterGuess:
    """Who an attacker thinks is behind each pseudonym: ``pseudonym``, ``customer``, ``score``, perhaps ``rank``,
    ``period``; see :class:`noren.protocols.Guess`.

    ``ties`` names the columns that order pairs of one rank and score as one machine orders them; those that are no part
    of a guess are left out where it is written.
    """

    attack: str
    pairs: DataFrame
    notes: Mapping[str, Any] = field(default_factory=dict)
    ties: tuple[str, ...] = ()

    def answers(self) -> DataFrame:
        """Return the pairs without further candidates."""
        return self.pairs.filter("rank = 1") if "rank" in self.pairs.columns else self.pairs

    def save(self, folder: str | Path) -> None:
        """Write the pairs as a folder of Parquet files, surest first, whole or not at all."""
        from pyspark.sql import functions as f

        there = self.pairs.columns
        order = [f.col("rank")] if "rank" in there else []
        order += [f.desc("score")] if "score" in there else []
        kept = [name for name in _COLUMNS if name in there]
        with written_whole(self.pairs.sparkSession, folder) as aside:
            self.pairs.orderBy(*order, *self.ties).select(*kept).write.parquet(aside.address)


@dataclass(frozen=True)
class ClusterEvidence:
    """What a measure may look at on a cluster."""

    original: ClusterRecords
    release: ClusterRelease
    guesses: Mapping[str, ClusterGuess] = field(default_factory=dict)
