"""The settings that a project tried, each over its finished runs: what Compare sets on one map and recommends from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from noren.judgement.place import Place, over_runs
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.studio.service import Studio
from noren.studio.store import Job
from noren.sweeps.usual import strength_words

__all__ = ["TriedSetting", "tried_settings"]


@dataclass(frozen=True)
class TriedSetting:
    """A setting and its finished runs, the oldest first, each with its place."""

    studio: Studio = field(repr=False)
    runs: Sequence[tuple[Job, Place]]

    @property
    def label(self) -> str:
        """The method and its parameters."""
        return self.runs[0][0].label

    @property
    def method(self) -> str:
        """The name of its method; ``chain`` where it has several."""
        steps = self.runs[0][0].order["steps"]
        return str(steps[0]["method"]) if len(steps) == 1 else "chain"

    @property
    def strength(self) -> str:
        """How strong the protection is: ``k = 5``; empty where nothing tells."""
        return strength_words(self.method, self.runs[0][0].order["steps"][0]["parameters"])

    @cached_property
    def place(self) -> Place:
        """Where it stands."""
        return over_runs([place for _job, place in self.runs]).model_copy(update={"label": self.label})

    @cached_property
    def verdict(self) -> Verdict:
        """How safe the worst run is."""
        worst, _place = min(self.runs, key=lambda run: (run[1].word.order, -(run[1].risk or 0.0)))
        return self.studio.verdict(worst.id)

    @cached_property
    def scores(self) -> dict[str, float]:
        """The mean of each measure over the runs that have it."""
        values: dict[str, list[float]] = {}
        for job, _place in self.runs:
            for one in self.studio.result(job.id).measures:
                if one.value is not None:
                    values.setdefault(one.name, []).append(one.value)
        return {name: fmean(some) for name, some in values.items()}

    @property
    def uses(self) -> list[float]:
        """The use that each run keeps."""
        return [place.use for _job, place in self.runs if place.use is not None]

    @property
    def newest(self) -> Job:
        """The run that a click opens."""
        return self.runs[-1][0]


def tried_settings(studio: Studio, done: Sequence[Job], rule: Rule) -> list[TriedSetting]:
    """Return the settings of finished runs, by their first ones; runs of one setting differ in their seeds."""
    groups: dict[str, list[tuple[Job, Place]]] = {}
    for job in done:
        groups.setdefault(job.label, []).append((job, studio.place(job, rule)))
    return [TriedSetting(studio, runs) for runs in groups.values()]
