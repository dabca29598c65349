"""What an attack found on a cluster, and what a measure looks at there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.cluster.frames import ClusterRecords
from noren.cluster.places import written_whole
from noren.cluster.release import ClusterRelease

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ClusterEvidence", "ClusterGuess"]


@dataclass(frozen=True)
class ClusterGuess:
    """Who an attacker thinks is behind each pseudonym: ``pseudonym``, ``customer``, ``score``, perhaps ``rank``,
    ``period``; see :class:`noren.protocols.Guess`.
    """

    attack: str
    pairs: DataFrame
    notes: Mapping[str, Any] = field(default_factory=dict)

    def answers(self) -> DataFrame:
        """Return the pairs without further candidates."""
        return self.pairs.filter("rank = 1") if "rank" in self.pairs.columns else self.pairs

    def save(self, folder: str | Path) -> None:
        """Write the pairs as a folder of Parquet files, whole or not at all."""
        with written_whole(self.pairs.sparkSession, folder) as aside:
            self.pairs.write.parquet(aside.address)


@dataclass(frozen=True)
class ClusterEvidence:
    """What a measure may look at on a cluster."""

    original: ClusterRecords
    release: ClusterRelease
    guesses: Mapping[str, ClusterGuess] = field(default_factory=dict)
