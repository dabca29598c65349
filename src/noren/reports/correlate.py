"""Correlation of utility measures with the error U over many releases of one original (S0 §6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren import api
from noren.data.frames import Records
from noren.data.release import Release
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.judging.statistics import pearson, rejection_limit
from noren.measures import measures as every_measure
from noren.measures.utility.purchases import OnDraws
from noren.progress import Progress, silent
from noren.protocols import Measure

AGAINST = "cell-error"


@dataclass(frozen=True)
class Correlations:
    """The correlation of utility measures with U over a set of releases."""

    releases: tuple[str, ...]
    """The releases' labels."""
    error: tuple[float, ...]
    """U of each release."""
    values: Mapping[str, tuple[float, ...]]
    """The values of each measure, and of each of its parts as ``measure.part``, release by release."""
    alpha: float
    limit: float
    """A correlation beyond it, in either direction, is significant at level ``alpha``."""

    def correlation(self, name: str) -> float | None:
        """Return a measure's correlation with U; None where the measure is the same for every release."""
        return pearson(np.array(self.error), np.array(self.values[name]))

    def beyond_chance(self, name: str) -> bool | None:
        """Tell whether a measure is correlated with U at level ``alpha``; None where there is no correlation."""
        r = self.correlation(name)
        return None if r is None else abs(r) > self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "samples": len(self.releases),
            "alpha": self.alpha,
            "limit": self.limit,
            "correlations": {
                name: {"r": self.correlation(name), "beyond_chance": self.beyond_chance(name)} for name in self.values
            },
            "releases": [
                {"release": label, AGAINST: self.error[i], "values": {n: v[i] for n, v in self.values.items()}}
                for i, label in enumerate(self.releases)
            ],
        }


def usefulness_measures() -> list[str]:
    """Return the names of the measures of what can still be done with the data."""
    return [name for name in every_measure if issubclass(every_measure[name], OnDraws)]


def correlate(
    original: Records,
    releases: Sequence[tuple[str, Release]],
    measures: Sequence[Measure],
    *,
    alpha: float = 0.05,
    progress: Progress = silent,
) -> Correlations:
    """Judge every release by U and by ``measures``, and correlate.

    At least three ``releases`` of the ``original``, by label; ``alpha`` is the level of the two-sided test.
    """
    limit = rejection_limit(len(releases), alpha)
    judges = [m for m in measures if m.name != AGAINST]
    if not judges:
        raise ParameterError(_("cell-error is U itself; name another measure to correlate with it"))
    error: list[float] = []
    values: dict[str, list[float]] = {}
    for i, (label, release) in enumerate(releases):
        progress(i / len(releases), label)
        error.append(api.measure(original, release, AGAINST).value)
        for measure in judges:
            score = api.measure(original, release, measure)
            values.setdefault(measure.name, []).append(score.value)
            for part, value in score.parts.items():
                if part != "spread":
                    values.setdefault(f"{measure.name}.{part}", []).append(value)
    labels = tuple(label for label, _release in releases)
    return Correlations(labels, tuple(error), {n: tuple(v) for n, v in values.items()}, alpha, limit)
