"""What attackers guessed and judges said of a run, kept so that a report needs nothing done twice.

Guesses name customers: they lie in the job's private folder and no page shows them.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from noren.data.release import Release
from noren.protocols import Guess, Score
from noren.studio.folders import read_json, write_json
from noren.study.outcomes import Outcome

__all__ = ["load_outcome", "save_outcome"]


def save_outcome(outcome: Outcome, folder: Path) -> None:
    """Keep the guesses and scores of an outcome whose release lies in the folder."""
    (folder / "guesses").mkdir(exist_ok=True, mode=0o700)
    for name, guess in outcome.guesses.items():
        guess.pairs.write_parquet(folder / "guesses" / f"{name}.parquet")
    notes = {name: json.loads(json.dumps(dict(g.notes), default=str)) for name, g in outcome.guesses.items()}
    scores = {
        name: json.loads(json.dumps(score.as_dict(), default=str, allow_nan=False))
        for name, score in outcome.scores.items()
    }
    write_json(folder / "outcome.json", {"label": outcome.label, "notes": notes, "scores": scores})


def load_outcome(folder: Path, label: str | None = None) -> Outcome:
    """Return the outcome of a run."""
    kept = read_json(folder / "outcome.json")
    guesses = {
        name: Guess(name, pl.read_parquet(folder / "guesses" / f"{name}.parquet"), notes)
        for name, notes in kept["notes"].items()
    }
    scores = {name: Score(said["value"], said["parts"], said.get("notes", {})) for name, said in kept["scores"].items()}
    return Outcome(label or kept["label"], Release.load(folder / "release"), guesses, scores)
