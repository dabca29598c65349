"""What attackers guessed and judges said of a run, kept as soon as each is finished, so that nothing is done twice.

Guesses name customers: they lie in the job's private folder and no page shows them. ``outcome.json`` holds the scores,
what the attacks noted, what failed and why, and whether the release was audited. ``doing.json`` names what is under
way; where a worker dies, it tells what it died of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict

import polars as pl

from noren.attacks import attacks as every_attack
from noren.data.release import Release
from noren.judgement.outcome import Outcome, label_of
from noren.measures import measures as every_measure
from noren.protocols import Guess, Score
from noren.studio.folders import read_json, write_json
from noren.work.run import RunStore

_OUTCOME, _DOING, _GUESSES = "outcome.json", "doing.json", "guesses"
_EMPTY: dict[str, Any] = {"label": "", "notes": {}, "scores": {}, "failed": [], "audited": None, "engines": {}}
Part = Literal["attack", "measure", "audit"]


class Failure(TypedDict):
    """A component that did not come to its end, and why, in each language."""

    component: str
    kind: Part
    reason: dict[str, str]


class Kept(RunStore):
    """What a run has so far, in the folder of its job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._content: dict[str, Any] = _EMPTY | (read_json(folder / _OUTCOME) or {})
        guesses = {
            name: Guess(name, pl.read_parquet(folder / _GUESSES / f"{name}.parquet"), notes)
            for name, notes in self._content["notes"].items()
        }
        scores = {
            name: Score(said["value"], said["parts"], said.get("notes", {}))
            for name, said in self._content["scores"].items()
        }
        super().__init__(guesses, scores)

    @property
    def failed(self) -> list[Failure]:
        """What did not come to its end."""
        failed: list[Failure] = self._content["failed"]
        return failed

    @property
    def audited(self) -> bool | None:
        """Whether the claim of the release was checked: None before it was made, and where it claims nothing."""
        audited: bool | None = self._content["audited"]
        return audited

    @property
    def engines(self) -> dict[str, str]:
        """Where each component ran, where a cluster was asked for."""
        engines: dict[str, str] = self._content["engines"]
        return engines

    @property
    def has_release(self) -> bool:
        """Whether the release is there, and its audit is behind it: it came to its end, or it failed as told."""
        return self._content.get("released", False) and (self.folder / "release").is_dir()

    def was_tried(self, kind: Part, name: str) -> bool:
        """Tell whether a component came to its end, or failed and is not to be tried again."""
        done = name in (self.guesses if kind == "attack" else self.scores)
        return done or any((one["kind"], one["component"]) == (kind, name) for one in self.failed)

    def note_release(self, label: str, *, audited: bool | None) -> None:
        """Keep that the release is there, and whether it was audited."""
        self._write(label=label, audited=audited, released=True)

    def add_guess(self, name: str, guess: Guess, seconds: float | None) -> None:
        """Keep what an attack guessed."""
        (self.folder / _GUESSES).mkdir(exist_ok=True, mode=0o700)
        guess.pairs.write_parquet(self.folder / _GUESSES / f"{name}.parquet")
        super().add_guess(name, guess, seconds)
        notes = json.loads(json.dumps(dict(guess.notes), default=str))
        self._write(notes=self._content["notes"] | {name: notes})

    def add_score(self, name: str, score: Score, seconds: float | None) -> None:
        """Keep what a measure said."""
        super().add_score(name, score, seconds)
        said = json.loads(json.dumps(score.as_dict(), default=str, allow_nan=False))
        self._write(scores=self._content["scores"] | {name: said})

    def add_engine(self, component: str, engine: str) -> None:
        """Keep where a component ran."""
        self._write(engines=self.engines | {component: engine})

    def add_failure(self, kind: Part, name: str, reason: dict[str, str]) -> None:
        """Keep that a component failed, and why."""
        failure = Failure(component=name, kind=kind, reason=reason)
        self._write(failed=[*self.failed, failure])

    @contextmanager
    def doing(self, kind: Part, name: str) -> Iterator[None]:
        """Say what is under way, for whoever finds the worker dead."""
        write_json(self.folder / _DOING, {"kind": kind, "component": name})
        yield
        (self.folder / _DOING).unlink(missing_ok=True)

    def outcome(self, release: Release) -> Outcome:
        """Return all of it together with the release, which says so where its audit failed."""
        statement = release.statement
        if self.audited is False and "audit" not in statement.notes:
            noted = replace(statement, notes={**statement.notes, "audit": "failed"})
            release = replace(release, statement=noted)
        failed = {one["component"]: one["reason"]["en"] for one in self.failed if one["kind"] != "audit"}
        return Outcome(self._content["label"], release, self.guesses, self.scores, failed)

    def _write(self, **values: Any) -> None:
        self._content |= values
        write_json(self.folder / _OUTCOME, self._content)


def set_aside(folder: Path, reason: dict[str, str]) -> bool:
    """Set aside the attack, the measure or the audit at which a worker was killed; tell whether there was one."""
    doing = read_json(folder / _DOING)
    if doing is None:
        return False
    (folder / _DOING).unlink()
    kept = Kept(folder)
    if doing["kind"] == "audit":
        kept.note_release(label_of(Release.load(folder / "release").statement), audited=False)
    kept.add_failure(doing["kind"], doing["component"], reason)
    return True


def forget_failures(folder: Path) -> None:
    """Let everything be tried again that failed; a release whose audit failed is made and audited anew."""
    kept = read_json(folder / _OUTCOME)
    if kept is not None:
        released = kept.get("released", False) and kept.get("audited") is not False
        failed = kept.get("failed", [])
        kept |= {"failed": [], "released": released}
        if any(one["kind"] == "attack" for one in failed):  # who counts on all attacks counted without these
            kept["notes"] = {n: said for n, said in kept["notes"].items() if not every_attack[n].listens}
            kept["scores"] = {n: said for n, said in kept["scores"].items() if "guess" not in every_measure[n].needs}
        write_json(folder / _OUTCOME, kept)
    (folder / _DOING).unlink(missing_ok=True)


def load_outcome(folder: Path, label: str | None = None) -> Outcome:
    """Return the outcome of a run."""
    found = Kept(folder).outcome(Release.load(folder / "release"))
    return replace(found, label=label) if label else found
