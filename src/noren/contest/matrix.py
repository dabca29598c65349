"""Who broke whom: every team's best guess against every other team's release.

Of several guesses of a team against one release the most damaging counts, as the judgement orders them. A share of
right names far below chance is not a failure: whoever turns such an attack around learns something. It is told only
where chance cannot explain it in any cell of the table (Clopper and Pearson's interval, its error shared by all cells).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from noren.contest.standings import counting_entry, guesses_against, verdict_on
from noren.contest.state import Contest, Submission
from noren.i18n import _
from noren.judgement.verdict import Exhibit
from noren.kernels.judging.shares import share_interval

__all__ = ["ERROR", "Cell", "Matrix", "matrix_of"]

ERROR = 0.05
"""The chance that any cell of a table is called above or below chance though it is not."""

Side = Literal["above", "below", "open"]


@dataclass(frozen=True)
class Cell:
    """What the best guess of a team against another's release comes to.

    Attributes
    ----------
    guesses
        How many valid guesses the attacker handed in.
    found
        What the judgement shows of the best of them.
    breaks
        Whether a condition of the rules is broken by any of them.
    side
        Whether the rate is beyond chance, below it, or whether both are open.
    """

    attacker: str
    target: str
    submission: str
    guesses: int
    found: Exhibit
    breaks: bool
    side: Side

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        one = self.found
        return {
            "attacker": self.attacker,
            "target": self.target,
            "submission": self.submission,
            "guesses": self.guesses,
            "named": one.named,
            "right": one.right,
            "rate": one.rate,
            "low": one.low,
            "high": one.high,
            "chance": one.chance,
            "customers": one.customers,
            "best_named": one.best_named,
            "best_right": one.best_right,
            "needed": one.needed,
            "exceeds": one.exceeds,
            "breaks": self.breaks,
            "side": self.side,
        }


@dataclass(frozen=True)
class Matrix:
    """All cells of a round; teams are in the order of their numbers."""

    teams: tuple[str, ...]
    cells: tuple[Cell, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"teams": list(self.teams), "cells": [one.as_dict() for one in self.cells]}


def below_chance() -> str:
    """Return what is said of a cell that is far below chance, in the language now spoken."""
    return _("far below chance: whoever inverts the guess learns something")


def matrix_of(contest: Contest, round_: str) -> Matrix:
    """Return who broke whom in a round."""
    entries = {team: counting_entry(contest, team, round_) for team in contest.teams}
    against = {team: guesses_against(contest, round_, one.id) for team, one in entries.items() if one is not None}
    pairs = sum(len({guess.team for guess in guesses}) for guesses in against.values())
    order = {team: place for place, team in enumerate(contest.teams)}
    cells: list[Cell] = []
    for team, guesses in against.items():
        entry = entries[team]
        if entry is not None and entry.counts and guesses:
            cells += _cells(contest, team, entry, guesses, ERROR / max(pairs, 1))
    playing = [
        team for team in contest.teams if entries[team] is not None or any(one.attacker == team for one in cells)
    ]
    return Matrix(tuple(playing), tuple(sorted(cells, key=lambda one: (order[one.attacker], order[one.target]))))


def _cells(contest: Contest, team: str, entry: Submission, guesses: Sequence[Submission], error: float) -> list[Cell]:
    verdict = verdict_on(contest, entry, guesses, house=True, called=[one.id for one in guesses])
    place = {one.attack: at for at, one in enumerate(verdict.evidence)}
    of_teams: dict[str, list[Submission]] = {}
    for one in guesses:
        of_teams.setdefault(one.team, []).append(one)
    made = []
    for attacker, own in of_teams.items():
        best = min(own, key=lambda one: place[one.id])  # the most damaging first, as the judgement has them
        shown = verdict.evidence[place[best.id]]
        breaks = any(contest.rulebook.broken(one.values) for one in own)
        made.append(Cell(attacker, team, best.id, len(own), shown, breaks, _side(shown, error)))
    return made


def _side(one: Exhibit, error: float) -> Side:
    low, high = share_interval(one.right, one.named, error)
    if high < one.chance:
        return "below"
    return "above" if low > one.chance else "open"
