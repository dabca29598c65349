"""Boards, results and the log: who stands where, who broke whom, how firm that is, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from noren.contest.kinds import Role
from noren.contest.pages.frame import Asker, TheDesk, page
from noren.contest.pages.playing import values_of
from noren.contest.pages.words import log_words, played_rounds, round_words, shown_time
from noren.contest.standings import Board, Cell, Matrix, Standing, below_chance
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
def show_board(request: Request, contest: str, who: Asker, desk: TheDesk, round_: RoundName = "") -> Response:
    """Show the board of a round: live, frozen or final."""
    found = desk.contest(who, contest)
    name = _round(found, round_, desk.arena.now())
    shown, since = desk.board(who, contest, name)
    return page(
        request,
        "board.html.jinja",
        title=_board_title(found, shown),
        place="board",
        contest=found,
        board=shown,
        since=since,
        rounds=played_rounds(found),
        lines=[_line(found, one) for one in shown.standings],
        own=found.team_of.get(who.id, ""),
        terms=[one.key for one in found.rulebook.terms],
        conditions=[one.key for one in found.rulebook.conditions],
    )


def _round(contest: Contest, asked: str, now: str) -> str:
    """Return the round that is asked for, else the latest that has begun."""
    if asked:
        if asked not in contest.rounds:
            raise NotThereError(_("there is no such round"))
        return asked
    begun = [one.round for one in contest.phases if one.round and one.opens <= now]
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


def _line(contest: Contest, one: Standing) -> dict[str, Any]:
    values = {value.name: value for value in values_of(contest.rulebook, one.values or {})}
    return {
        "standing": one,
        "score": "–" if one.score is None else decimal(one.score),
        "values": values,
        "word": None if one.verdict is None else str(one.verdict.word),
        "sentence": "" if one.verdict is None else one.verdict.sentence,
    }


# --- results ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/results")
def show_results(request: Request, contest: str, who: Asker, desk: TheDesk, round_: RoundName = "") -> Response:
    """Show the final tables: ranks, who broke whom, how firm ranks are, lots, and how to replay."""
    found = desk.contest(who, contest)
    now = desk.arena.now()
    if not found.has_results(now):
        return page(
            request, "no_results.html.jinja", title=_("The results are not out yet"), place="results", contest=found
        )
    name = _round(found, round_, now)
    results = next(one for one in desk.results(who, contest).rounds if one.round == name)
    title, cells = _board_title(found, results.board), results.matrix.cells
    if cells:
        broken = sum(cell.breaks for cell in cells)
        title += "; " + ngettext(
            "{count} attack in {all} broke a release", "{count} attacks in {all} broke a release", broken
        ).format(count=count(broken), all=count(len(cells)))
    return page(
        request,
        "results.html.jinja",
        title=title,
        place="results",
        contest=found,
        board=results.board,
        rounds=played_rounds(found),
        round=name,
        lines=[_line(found, one) for one in results.board.standings],
        terms=[one.key for one in found.rulebook.terms],
        conditions=[one.key for one in found.rulebook.conditions],
        matrix=_matrix(found, results.matrix),
        below=below_chance() if any(cell.side == "below" for cell in cells) else "",
        found=results,
        names={team.id: team.name for team in found.teams.values()},
    )


def _matrix(contest: Contest, matrix: Matrix) -> list[dict[str, Any]]:
    """Return a row for each attacker with a cell for each attacked team, shaded by the share that is right."""
    cells: Mapping[tuple[str, str], Cell] = {(one.attacker, one.target): one for one in matrix.cells}
    return [
        {
            "name": contest.teams[attacker].name,
            "cells": [
                {
                    "own": attacker == target,
                    "target": contest.teams[target].name,
                    "cell": _cell(cells.get((attacker, target))),
                }
                for target in matrix.teams
            ],
        }
        for attacker in matrix.teams
    ]


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    one = cell.found
    if not one.named:
        return {"shade": 0, "names": False, "breaks": cell.breaks, "side": cell.side}
    return {
        "names": True,
        "shade": min(_SHADES, round(one.rate * _SHADES)),
        "right": count(one.right),
        "named": count(one.named),
        "needed": _("needs {needed} of {named}").format(needed=count(one.needed), named=count(one.best_named)),
        "chance": _("chance {chance}").format(chance=percent(one.chance)),
        "interval": f"{percent(one.low)}–{percent(one.high)}",
        "breaks": cell.breaks,
        "side": cell.side,
    }


# --- the log ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/log")
def show_log(
    request: Request, contest: str, who: Asker, desk: TheDesk, start: Annotated[int | None, Query(ge=0)] = None
) -> Response:
    """Show the log, its chain, and where it is downloaded."""
    found = desk.contest(who, contest)
    first = max(0, found.position + 1 - _A_PAGE) if start is None else min(start, found.position)
    entries: Sequence[Any] = desk.log(who, contest, first)[:_A_PAGE]
    return page(
        request,
        "log.html.jinja",
        title=_("{count} entries; the last digest is {digest}").format(
            count=count(found.position + 1), digest=found.digest[:16]
        ),
        place="organise" if desk.role(who, found) == Role.ORGANISER else "results",
        contest=found,
        start=first,
        a_page=_A_PAGE,
        total=found.position + 1,
        lines=[(entry, log_words(found, entry.kind, entry.body)) for entry in entries],
    )
