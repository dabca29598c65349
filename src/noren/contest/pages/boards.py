"""Boards, results and the log: who stands where, who broke whom, how firm that is, and how to make it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from noren.contest.desk import Visit
from noren.contest.kinds import Role
from noren.contest.pages.frame import Visited, page
from noren.contest.pages.playing import values_of
from noren.contest.pages.words import log_words, played_rounds, round_words, shown_time
from noren.contest.standings import Board, below_chance
from noren.contest.state import Contest
from noren.i18n import _, ngettext
from noren.judgement.numbers import count, decimal, percent
from noren.web.refusals import NotThereError

router = APIRouter()

RoundName = Annotated[str, Query(alias="round", max_length=40)]
_SHADES = 5
_A_PAGE = 100


# --- boards ----------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/board")
def show_board(request: Request, visit: Visited, round_: RoundName = "") -> Response:
    """Show the board of a round: live, frozen or final."""
    shown, since = visit.board(_round(visit, round_))
    return page(
        request,
        "board.html.jinja",
        title=_board_title(visit.contest, shown),
        place="board",
        visit=visit,
        since=since,
        own=visit.contest.team_of.get(visit.who.id, ""),
        **_table(visit.contest, shown),
    )


def _round(visit: Visit, asked: str) -> str:
    """Return the round that is asked for, else the latest that has begun."""
    contest = visit.contest
    if asked:
        if asked not in contest.rounds:
            raise NotThereError(_("there is no such round"))
        return asked
    begun = [one.round for one in contest.phases if one.round and one.opens <= visit.now]
    return begun[-1] if begun else played_rounds(contest)[0]


def _board_title(contest: Contest, shown: Board) -> str:
    ranked = [one for one in shown.standings if one.rank is not None]
    where = {"live": "", "final": ""}.get(
        shown.kind, _("Frozen at {moment}: ").format(moment=shown_time(shown.at, contest.settings.zone))
    )
    if not ranked:
        return where + _("No team has a rank in the {round} yet").format(round=round_words(shown.round))
    first = [one for one in ranked if one.rank == 1]
    names = ", ".join(one.name for one in first[:3])
    score = decimal(first[0].score or 0.0)
    if shown.kind == "final":
        said = _("{name} wins the {round} with {score} (lower is better)")
    elif shown.attacks_over:
        said = _("{name} leads the {round} with {score} (lower is better)")
    else:
        said = _("{name} leads the {round} with {score} (lower is better); attacks are to come")
    return where + said.format(name=names, round=round_words(shown.round), score=score)


def _table(contest: Contest, board: Board) -> dict[str, Any]:
    """Return what the table of a board shows."""
    lines = [
        {
            "standing": one,
            "score": "–" if one.score is None else decimal(one.score),
            "values": {value["name"]: value for value in values_of(contest.rulebook, one.values or {})},
            "word": None if one.verdict is None else str(one.verdict.word),
            "sentence": "" if one.verdict is None else one.verdict.sentence,
        }
        for one in board.standings
    ]
    terms, conditions = ([one.key for one in some] for some in (contest.rulebook.terms, contest.rulebook.conditions))
    rounds = played_rounds(contest)
    return {"board": board, "rounds": rounds, "lines": lines, "terms": terms, "conditions": conditions}


# --- results ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/results")
def show_results(request: Request, visit: Visited, round_: RoundName = "") -> Response:
    """Show the final tables: ranks, who broke whom, how firm ranks are, lots, and how to replay."""
    found = visit.contest
    if not found.has_results(visit.now):
        return page(
            request, "no_results.html.jinja", title=_("The results are not out yet"), place="results", visit=visit
        )
    name = _round(visit, round_)
    results = next(one for one in visit.results().rounds if one.round == name)
    title, cells = _board_title(found, results.board), results.matrix.cells
    if cells:
        broken = sum(cell.breaks for cell in cells)
        title += "; " + ngettext(
            "{count} attack in {all} broke a release", "{count} attacks in {all} broke a release", broken
        ).format(count=count(broken), all=count(len(cells)))
    by_pair: dict[tuple[str, str], dict[str, Any]] = {}
    for pair, cell in results.matrix.by_pair.items():
        one = cell.found
        by_pair[pair] = {"breaks": cell.breaks, "side": cell.side, "shade": 0, "names": bool(one.named)}
        if one.named:  # shaded by the share that is right
            by_pair[pair] |= {
                "shade": min(_SHADES, round(one.rate * _SHADES)),
                "right": count(one.right),
                "named": count(one.named),
                "needed": _("needs {needed} of {named}").format(needed=count(one.needed), named=count(one.best_named)),
                "chance": _("chance {chance}").format(chance=percent(one.chance)),
                "interval": f"{percent(one.low)}–{percent(one.high)}",
            }
    names = {team.id: team.name for team in found.teams.values()}
    return page(
        request,
        "results.html.jinja",
        title=title,
        place="results",
        visit=visit,
        round=name,
        matrix=[
            {
                "name": names[attacker],
                "cells": [
                    {"own": attacker == target, "target": names[target], "cell": by_pair.get((attacker, target))}
                    for target in results.matrix.teams
                ],
            }
            for attacker in results.matrix.teams
        ],
        below=below_chance() if any(cell.side == "below" for cell in cells) else "",
        found=results,
        names=names,
        **_table(found, results.board),
    )


# --- the log ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/log")
def show_log(request: Request, visit: Visited, start: Annotated[int | None, Query(ge=0)] = None) -> Response:
    """Show the log, its chain, and where it is downloaded."""
    found = visit.contest
    first = max(0, found.position + 1 - _A_PAGE) if start is None else min(start, found.position)
    entries: Sequence[Any] = visit.log(first)[:_A_PAGE]
    return page(
        request,
        "log.html.jinja",
        title=_("{count} entries; the last digest is {digest}").format(
            count=count(found.position + 1), digest=found.digest[:16]
        ),
        place="organise" if visit.role == Role.ORGANISER else "results",
        visit=visit,
        start=first,
        a_page=_A_PAGE,
        total=found.position + 1,
        lines=[(entry, log_words(found, entry.kind, entry.body)) for entry in entries],
    )
