"""The final table of a round from raw files alone: no log, no server, no board; to hold theirs against."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.rulebook import Rulebook


@dataclass(frozen=True)
class ReleaseMade:
    """A release as its team kept it."""

    submission: str
    content: bytes


@dataclass(frozen=True)
class GuessMade:
    """A guess as its team kept it, and the submission that it is against."""

    against: str
    content: bytes


@dataclass(frozen=True)
class Line:
    """A team's line in the final table."""

    rank: int | None
    score: float | None
    values: dict[str, float]
    broken: tuple[str, ...]


def final_table(
    rulebook: Rulebook,
    original: Path,
    releases: Mapping[str, Sequence[ReleaseMade]],
    guesses: Sequence[GuessMade],
    salt: bytes,
    label: str,
) -> dict[str, Line]:
    """Return each team's line.

    Parameters
    ----------
    releases
        What each team handed in, the oldest first: the last valid one counts.
    label
        Contest and round, by which the lots were drawn: ``cup/final``.
    """
    values: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="noren-") as folder:
        file, guess = Path(folder) / "release", Path(folder) / "guess"
        for team, made in releases.items():
            for one in reversed(made):
                file.write_bytes(one.content)
                found = score_release(rulebook, original, file)
                if not found["valid"]:
                    continue
                counted = [found["values"]]
                if rulebook.baseline.counts:
                    counted += [part.get("values", {}) for part in found["baseline"].values()]
                for tried in (other for other in guesses if other.against == one.submission):
                    guess.write_bytes(tried.content)
                    judged = score_guess(rulebook, original, file, salt, f"{label}/{one.submission}", guess)
                    counted.append(judged["values"] if judged["valid"] else {})
                values[team] = _worst(rulebook, counted)
                break
    return _ranked(rulebook, releases, values)


def _worst(rulebook: Rulebook, counted: Sequence[Mapping[str, float]]) -> dict[str, float]:
    worst: dict[str, float] = {}
    for values in counted:
        for key, value in values.items():
            worse = min if rulebook.measured[key][0].goal == "higher" else max
            worst[key] = worse(worst[key], value) if key in worst else value
    return worst


def _ranked(
    rulebook: Rulebook, teams: Mapping[str, object], values: Mapping[str, Mapping[str, float]]
) -> dict[str, Line]:
    """Rank by the sum of the terms, whoever breaks a condition after the others or not at all; equals share a rank."""
    scores = {team: rulebook.score(found) for team, found in values.items()}
    broken = {team: tuple(sorted(rulebook.broken(found))) for team, found in values.items()}
    keys = {
        team: (bool(broken[team]), score)
        for team, score in scores.items()
        if score is not None and (rulebook.otherwise == "after" or not broken[team])
    }
    return {
        team: Line(
            1 + sum(1 for other in keys.values() if other < keys[team]) if team in keys else None,
            scores.get(team),
            dict(values.get(team, {})),
            broken.get(team, ()),
        )
        for team in teams
    }
