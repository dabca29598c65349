"""A method and an attack of somebody's own, for tests: the method waits at a gate, refuses or breaks as it is told."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from pydantic import Field

from noren.data.frames import History
from noren.data.release import Release
from noren.errors import ParameterError
from noren.methods.pseudonymize import Pseudonymize
from noren.progress import Progress, silent
from noren.protocols import Attack, Guess, Method


class Gated(Method):
    """Hide names; first leave a trace, and wait where a pipe named ``gate-<number>`` lies in the folder."""

    name: ClassVar[str] = "gated"
    summary: ClassVar[str] = "Hides names when the gate is open."

    number: int = Field(description="which gate")
    folder: str = Field(default="", description="where gates are")
    act: str = Field(default="", description="refuse, break or nothing")

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        if self.act == "refuse":
            raise ParameterError(f"number = {self.number} is not wanted here", "choose another")
        if self.act == "break":
            raise KeyError("a bug")
        if self.folder:
            with (Path(self.folder) / "runs").open("a") as file:
                file.write(f"{self.number}\n")
            gate = Path(self.folder) / f"gate-{self.number}"
            if gate.exists():
                (Path(self.folder) / "waiting").write_text(str(os.getpid()))
                gate.read_bytes()  # a pipe that nobody writes to
        return Pseudonymize().protect(original, seed=seed)


class Listening(Attack):
    """Say again what another attack said."""

    name: ClassVar[str] = "listening"
    summary: ClassVar[str] = "Repeats what others found."
    listens: ClassVar[bool] = True

    def with_other_guesses(self, guesses: Mapping[str, Guess]) -> Attack:
        told = self.model_copy()
        told.__dict__["heard"] = guesses
        return told

    def attack(self, original: Any, public: Any, *, seed: int, progress: Progress = silent) -> Guess:
        heard: Mapping[str, Guess] = self.__dict__.get("heard", {})
        pairs = [guess.pairs.select("pseudonym", "customer", "score") for guess in heard.values()]
        nobody = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64})
        return Guess(self.name, pairs[0] if pairs else nobody, {"heard": sorted(heard)})


def main(folder: str, cache: str) -> None:
    """Sweep over three gates, one process."""
    from noren.api import sample
    from noren.sweeps.sweep import sweep

    methods = [Gated(number=number, folder=folder) for number in (1, 2, 3)]
    history = sample(customers=12, rows=120, items=20, seed=1)
    sweep(history, methods, attacks=[], measures=[], seeds=[5], cache=cache, workers=1)
