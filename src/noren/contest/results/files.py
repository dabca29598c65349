"""Results as tables for programs: CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from noren.contest.results.model import Results
from noren.i18n import speaking

__all__ = ["matrix_csv", "neutral", "results_json", "stability_csv", "standings_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results_json(results: Results) -> str:
    """Return the results as JSON; their digest is that of the same data in canonical form."""
    return (
        json.dumps(results.as_dict() | {"digest": results.digest}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


def standings_csv(results: Results) -> str:
    """Return one line for each team and round, in English."""
    book = results.rulebook
    keys = [one.key for one in book.terms] + [one.key for one in book.conditions if one.key not in _terms(results)]
    header = [
        "round",
        "rank",
        "team",
        "score",
        *keys,
        "broken",
        "attackers",
        "effective_attackers",
        "verdict",
        "why",
        "submission",
    ]
    with speaking("en"):
        rows = [
            [
                each.round,
                one.rank,
                one.name,
                one.score,
                *((one.values or {}).get(key) for key in keys),
                " ".join(one.broken),
                one.attackers,
                one.effective,
                None if one.verdict is None else str(one.verdict.word),
                one.why,
                one.submission,
            ]
            for each in results.rounds
            for one in each.board.standings
        ]
    return _csv(header, rows)


def _terms(results: Results) -> set[str]:
    return {one.key for one in results.rulebook.terms}


def matrix_csv(results: Results) -> str:
    """Return one line for each pair of teams of which one attacked the other."""
    header = ["round", "attacker", "target", "guesses", "named", "right", "needed", "rate", "low", "high", "chance"]
    header += ["customers", "exceeds", "breaks", "side"]
    rows = [
        [
            each.round,
            results.teams[one.attacker],
            results.teams[one.target],
            one.guesses,
            one.found.named,
            one.found.right,
            one.found.needed,
            one.found.rate,
            one.found.low,
            one.found.high,
            one.found.chance,
            one.found.customers,
            one.found.exceeds,
            one.breaks,
            one.side,
        ]
        for each in results.rounds
        for one in each.matrix.cells
    ]
    return _csv(header, rows)


def stability_csv(results: Results) -> str:
    """Return one line for each ranked team and round: how often it keeps its rank."""
    header = ["round", "team", "rank", "kept", "low", "high", "best", "worst", "mean", "mean_low", "mean_high", "draws"]
    rows = []
    for each in results.rounds:
        found = each.stability
        for one in found.teams if found is not None else ():
            said = one.as_dict()
            del said["team"]
            rows.append([each.round, results.teams[one.team], *said.values(), found.draws if found else None])
    return _csv(header, rows)


def neutral(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    >>> neutral("=1+1"), neutral("Team 7"), neutral("-x")
    ("'=1+1", 'Team 7', "'-x")
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_cell(one) for one in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return round(value, 10)
    return neutral(value) if isinstance(value, str) else value
