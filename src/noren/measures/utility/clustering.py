"""Whether clusters found in a release are those of the original."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.measures.utility.table_rows import OfTables, encoded, rows_of
from noren.progress import Progress, silent
from noren.protocols import Evidence, Score

_STARTS = 4
_BLOCK_ROWS = 1 << 16


class Clustering(OfTables):
    """How well clusters learnt from the release sort the original's people as the original's own clusters do.

    k-means is run on the original and on the release, texts as columns of 0 and 1, numbers by the original's spread.
    Both then sort the original's rows, and the adjusted Rand index compares: 1 the same clusters, 0 no better than
    chance. k-means starts at random, so even two runs on the original differ; the part ``original`` says by how much.

    References
    ----------
    S4 §5; Hubert & Arabie (1985).

    Examples
    --------
    Two groups that nobody could miss, and a release that keeps them.

    >>> from noren.data.frames import Table
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"sex": {"role": "quasi"}, "town": {"role": "quasi"}}})
    >>> original = Table.of({"sex": list("ffmm"), "town": list("aabb")}, schema)
    >>> release = Release.of_aligned(original, original, Statement("hand"))
    >>> Clustering(clusters=2).measure(Evidence(original, release)).value
    1.0
    """

    name = "clustering"
    summary = N_("How well clusters learned from the release agree with those of the original.")
    source = "S4"
    goal = "higher"
    bounds = (-0.5, 1.0)
    unit = N_("adjusted Rand index; 0 is chance")
    part_names: ClassVar[Mapping[str, str]] = {"original": N_("trained on the original")}
    needs = frozenset({"original", "public", "exact"})

    clusters: int = Field(
        default=5, ge=2, le=1000, description=N_("number of clusters, at most that of different rows")
    )
    most_rows: int = Field(default=20_000, ge=100, description=N_("number of rows to learn from, drawn at random"))

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Cluster both and compare."""
        from sklearn.cluster import KMeans
        from sklearn.metrics import adjusted_rand_score

        rows = rows_of(self, evidence)
        clusters = self.clusters  # no more than different rows on either side; a blank number is 0
        for side in (rows.original, rows.released):
            seen = side[:0]
            for start in range(0, len(side), _BLOCK_ROWS):
                block = side[start : start + _BLOCK_ROWS].with_columns(pl.col(pl.Float64).fill_null(0.0))
                seen = pl.concat([seen, block]).unique()
                if len(seen) >= self.clusters:
                    break
            clusters = min(clusters, len(seen))
        if clusters < 2:
            raise ParameterError(_("all rows are the same, so there are no clusters; release more attributes"))
        draws = np.random.Generator(np.random.Philox(key=self.seed))
        some = (np.sort(draws.permutation(len(t))[: self.most_rows]) for t in (rows.original, rows.released))
        original, released = encoded(rows, rows.names, *some)
        labels = []
        for at, (data, seed) in enumerate(((original, self.seed), (original, self.seed + 1), (released, self.seed))):
            progress(at / 3, _("learning"))
            learnt = KMeans(clusters, n_init=_STARTS, random_state=seed % (1 << 32)).fit(data)
            labels.append(learnt.predict(original))
        value = float(adjusted_rand_score(labels[0], labels[2]))
        parts = {"original": float(adjusted_rand_score(labels[0], labels[1]))}
        return Score(value, parts, {"clusters": clusters})
