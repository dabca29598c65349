"""S0's Tables 6 to 10 and their correlations with U: for the published draws of team 01, and for releases of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noren.i18n import _
from noren.kernels.judging.correlation import pearson, rejection_limit
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s0 import work
from noren.reproduce.s0.printed import BEYOND, COLUMNS, CORRELATIONS, LIMIT, TABLE_3, TABLES

__all__ = ["correlations", "release_unit", "table", "units"]

DRAWS = {"quick": 2, "full": 20}
WINNER = "generalize, k = 2"
QUICK = (*(f"by count, k = {k}{more}" for k in (2, 3, 6) for more in ("", ", cells suppressed")), WINNER)
TEAM_01 = Unit(work.team_01, data=(work.DATA,))
FROM_DIGITS = 0.004
"""How far a correlation of printed numbers may be from the printed one: they have three digits."""
UNEXPLAINED = {
    "date.mean": "dates",
    "date.sum": "dates",
    "date.median": "medians",
    "price.median": "medians",
    "quantity.median": "medians",
}


def release_unit(name: str, asked: Extent) -> Unit:
    """Return the work for one release of ours."""
    return Unit(work.useful, (name, DRAWS["quick" if asked.quick else "full"]), data=(work.DATA,))


def units(asked: Extent) -> list[Unit]:
    """Return the work for Tables 6 to 10; quick takes fewer releases, and fewer draws of them."""
    quick = [release_unit(name, Extent(quick=True)) for name in QUICK]
    if asked.quick:
        return [TEAM_01, *quick]
    return [TEAM_01, *quick, *(release_unit(name, asked) for name in work.RELEASES)]


def _ours(found: Findings) -> dict[str, dict[str, Any]]:
    """Return what was run of our releases, by U."""
    done = {
        name: found[release_unit(name, found.asked)]
        for name in work.RELEASES
        if release_unit(name, found.asked) in found
    }
    return dict(sorted(done.items(), key=lambda pair: float(pair[1]["U"])))


def _words() -> dict[str, str]:
    parts = {
        "itemsets": _("frequent itemsets"),
        "rfm": "RFM",
        "wholesale": _("similarity, wholesale"),
        "retail": _("similarity, retail"),
        "top": _("similarity, top"),
        "rows": _("rows"),
        "items": _("top 100 items"),
    }
    columns = {"date": _("date"), "price": _("price"), "quantity": _("quantity")}
    statistics = {
        "sum": _("sum"),
        "mean": _("mean"),
        "variance": _("variance"),
        "sd": _("standard deviation"),
        "max": _("greatest"),
        "min": _("least"),
        "median": _("median"),
    }
    return parts | {f"{c}.{s}": f"{columns[c]}, {statistics[s]}" for c in columns for s in statistics}


def table(number: int) -> Callable[[Findings], Comparison]:
    """Return what compares one of Tables 6 to 10."""

    def compare(found: Findings) -> Comparison:
        words, ours = _words(), _ours(found)
        team_01 = found[TEAM_01]
        cells = []
        for team, printed in TABLES[number].items():
            for part, said in zip(COLUMNS[number], printed, strict=True):
                cells.append(_of_team(team, part, said, team_01, ours.get(WINNER), words[part]))
        for name, result in ours.items():
            row = f"{name} (U {result['U']:.3f})"
            cells += [
                Datum(
                    row, words[part], ours=result["errors"][part], spread=result["spread"][part], seeds=result["draws"]
                )
                for part in COLUMNS[number]
            ]
        cells += [cell for part in COLUMNS[number] for cell in _correlated(part, number, ours, words[part])]
        says = [
            _("Team 01 is judged by the five draws that are published, beside the mean of S0's 100."),
            _("The other teams' releases are not public; below them stand releases of ours, by U."),
        ]
        if WINNER in ours:
            says.append(_("Team 14, the winner, stands beside our best groups of two: its U and its number of rows."))
        if number == 7:
            says.append(_("Team 08 lost as many rows as groups of two by count do, team 07 as many as of three."))
        return Comparison(cells, says)

    return compare


def _of_team(
    team: str, part: str, said: float | None, drawn: dict[str, Any], best: dict[str, Any] | None, column: str
) -> Datum:
    row = _("team {team} (U {u:.3f})").format(team=team, u=TABLE_3[team][0])
    if team == "01":
        # four standard errors of the difference between a mean of five and one of a hundred
        near = 4 * drawn["spread"][part] * math.sqrt(1 / drawn["draws"] + 1 / 100) + 0.0005
        return Datum(row, column, said, drawn["errors"][part], drawn["spread"][part], drawn["draws"], tolerance=near,
                    erratum=UNEXPLAINED.get(part, ""), unexplained=part in UNEXPLAINED,
                    note=_("published draws"), digits=_digits(part))  # fmt: skip
    if team == "14" and best is not None:
        return replace(_of_release(row, column, best, part), paper=said, note=_("ours: the best groups of two"))
    return Datum(row, column, said, digits=_digits(part))


def _of_release(row: str, column: str, result: dict[str, Any], part: str) -> Datum:
    error, spread = result["errors"][part], result["spread"][part]
    return Datum(row, column, ours=error, spread=spread, seeds=result["draws"], digits=_digits(part))


def _digits(part: str) -> int:
    return 0 if part == "rows" else 3


def _of_lines(part: str, number: int, without: Sequence[str] = ()) -> float | None:
    """Return the correlation with U of a table's printed numbers."""
    teams = [team for team in TABLES[number] if team not in without]
    at = COLUMNS[number].index(part)
    values = np.array([TABLES[number][team][at] for team in teams], dtype=float)
    return pearson(np.array([TABLE_3[team][0] for team in teams]), values)


def _of_ours(part: str, ours: dict[str, dict[str, Any]]) -> float | None:
    if len(ours) < 3:
        return None
    u, values = ([float(one["U"]) for one in ours.values()], [one["errors"][part] for one in ours.values()])
    return pearson(np.array(u), np.array(values))


def _correlated(part: str, number: int, ours: dict[str, dict[str, Any]], column: str) -> list[Datum]:
    said = CORRELATIONS[part]
    return [
        Datum(_("correlation with U, printed lines"), column, said, _of_lines(part, number), exact=True,
             tolerance=FROM_DIGITS),
        Datum(_("correlation with U, our releases"), column, said, _of_ours(part, ours)),
    ]  # fmt: skip


def correlations(found: Findings) -> Comparison:
    """Compare which errors go with U beyond chance, over the 13 teams and over our releases."""
    words, ours = _words(), _ours(found)
    limit = rejection_limit(len(ours)) if len(ours) > 2 else None
    yes, no = _("yes"), _("no")
    cells = [
        Datum(_("limit, 13 releases"), _("correlation"), LIMIT, rejection_limit(13), exact=True, tolerance=0.001),
        Datum(_("limit, {count} releases").format(count=len(ours)), _("correlation, ours"), ours=limit),
    ]
    agree, shaky = [], []
    for number, columns in COLUMNS.items():
        for part in columns:
            said = CORRELATIONS[part]
            if said is None:
                continue
            lines, r = _of_lines(part, number) or 0.0, _of_ours(part, ours)
            told = yes if part in BEYOND else no
            mine = None if r is None or limit is None else yes if abs(r) > limit else no
            fewer = _of_lines(part, number, without=("12",)) or 0.0
            if part in BEYOND and abs(fewer) <= rejection_limit(12):
                shaky.append(words[part])
            agree += [] if mine is None else [mine == told]
            row = words[part]
            cells += [
                Datum(row, _("correlation"), said, lines, exact=True, tolerance=FROM_DIGITS),
                Datum(row, _("beyond chance"), told, yes if abs(lines) > LIMIT else no, exact=True),
                Datum(row, _("correlation, ours"), ours=r),
                Datum(row, _("beyond chance, ours"), ours=mine),
            ]
    says = [
        _("Without team 12, whose release is like no other, these are no longer beyond chance: {shaky}.").format(
            shaky=", ".join(shaky)
        )
    ]
    if agree:
        words_ = _("Our {count} releases and S0's 13 agree on {same} of {all} errors whether they go with U.")
        says.append(words_.format(count=len(ours), same=sum(agree), all=len(agree)))
    return Comparison(cells, says)
