"""Work that a server hands to a cluster: data and release lie in folders that both see, answers come back whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.execution import working
from noren.execution.plans import plan_of
from noren.methods.chain import Chain
from noren.progress import Progress, silent
from noren.protocols import Attack, Component, Guess, Measure, Method, Score

__all__ = ["Handed", "has_plan"]


def has_plan(component: Component) -> bool:
    """Tell whether a component can run on a cluster; a chain can where each of its steps can."""
    try:
        plan_of(component)
    except ParameterError:
        return False
    return not isinstance(component, Chain) or all(has_plan(step) for step in component.steps)


@dataclass(frozen=True)
class Handed:
    """One file of data, and the folder of its release, on the way to a cluster.

    What comes back is what one machine would find, in its order, that of answers that are equally sure included.
    """

    engine: str
    original: Path
    schema: Schema
    release: Path

    def protect(self, method: Method, *, seed: int, progress: Progress = silent) -> tuple[Release, bool | None]:
        """Make the release; return it with whether its claim was audited, None where it claims nothing."""
        with TemporaryDirectory(dir=self.release.parent, prefix="cluster-") as place:
            made = Path(place) / "release"
            done = working.protect(
                self.original, method, engine=self.engine, out=made, schema=self.schema, seed=seed, progress=progress
            )
            return Release.load(made), done.audited

    def attack(self, attack: Attack, *, seed: int = 0, progress: Progress = silent) -> Guess:
        """Attack the release."""
        with TemporaryDirectory(dir=self.release.parent, prefix="cluster-") as place:
            found = working.attack(
                *(self.original, self.release, [attack]),
                engine=self.engine,
                schema=self.schema,
                out=place,
                seed=seed,
                progress=progress,
            )[attack.name]
            pairs = pl.read_parquet(f"{place}/{attack.name}.parquet/*.parquet")
        notes = {name: value for name, value in found.items() if name not in ("parameters", "file", "named")}
        return Guess(attack.name, pairs, notes)

    def measure(self, measure: Measure, *, guesses: Path | None = None, progress: Progress = silent) -> Score:
        """Measure the release; ``guesses`` is a folder with those of the attacks, where there were any."""
        scores = working.measure(
            *(self.original, self.release, [measure]),
            engine=self.engine,
            schema=self.schema,
            guesses=guesses,
            progress=progress,
        )
        return scores[measure.name]
