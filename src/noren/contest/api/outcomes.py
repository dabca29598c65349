"""How it stands and what came of it: boards, the attack matrix, results, the log, the archive."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel

from noren.contest.acts import RefusedError
from noren.contest.dependencies import Asking, ContestName, RoundName, TheDesk, described_file
from noren.contest.desk import Visit
from noren.contest.results import RESULTS_FILES, RoundResults, results_html, results_json
from noren.contest.standings import BoardKind
from noren.i18n import _

router = APIRouter(tags=["outcomes"])

_LINES = "application/x-ndjson"


class TermOut(BaseModel):
    """A term of the score."""

    measure: str
    weight: float
    value: float | None


class StandingOut(BaseModel):
    """How one team stands; where it has no rank, ``status`` and ``reason`` say why."""

    rank: int | None
    team: str
    name: str
    number: int
    status: str
    reason: str
    submission: str | None
    score: float | None
    terms: list[TermOut]
    values: dict[str, float]
    broken: list[str]
    attackers: int
    effective: int
    verdict: str | None
    sentence: str | None


class BoardOut(BaseModel):
    """The leaderboard of a round: live, frozen since ``at``, or final."""

    round: str
    kind: BoardKind
    at: str
    attacks_over: bool
    withheld: bool
    note: str
    standings: list[StandingOut]


@router.get("/contests/{contest}/rounds/{round}/leaderboard")
def leaderboard(contest: ContestName, round: RoundName, who: Asking, desk: TheDesk) -> BoardOut:  # noqa: A002
    """Return the leaderboard of a round as one may see it now."""
    made, _since = _with_round(desk.visit(who, contest), round).board(round)
    return BoardOut(**made.as_dict(), note=made.note)


@router.get("/contests/{contest}/rounds/{round}/matrix")
def matrix(contest: ContestName, round: RoundName, who: Asking, desk: TheDesk) -> dict[str, Any]:  # noqa: A002
    """Return who broke whom: named, right, needed, chance and interval of every pair of teams."""
    return _round(desk.visit(who, contest), round).matrix.as_dict()


@router.get("/contests/{contest}/rounds/{round}/stability")
def stability(
    contest: ContestName,
    round: RoundName,  # noqa: A002
    who: Asking,
    desk: TheDesk,
) -> dict[str, Any] | None:
    """Return how firm ranks are under resampling of customers; nothing where nothing can be resampled."""
    found = _round(desk.visit(who, contest), round).stability
    return None if found is None else asdict(found)


# --- results ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/results.json", response_class=Response, responses=described_file("application/json"))
def results_as_json(contest: ContestName, who: Asking, desk: TheDesk) -> Response:
    """Return all results as plain data."""
    return _sent(results_json(desk.visit(who, contest).results()), "application/json", f"{contest}-results.json")


@router.get("/contests/{contest}/results.html", response_class=Response, responses=described_file("text/html"))
def results_as_page(contest: ContestName, who: Asking, desk: TheDesk) -> Response:
    """Return all results as a page to keep, in the language one speaks."""
    text = results_html(desk.visit(who, contest).results())
    return _sent(text, "text/html; charset=utf-8", f"{contest}-results.html")


@router.get("/contests/{contest}/results.csv", response_class=Response, responses=described_file("text/csv"))
def results_as_table(
    contest: ContestName,
    who: Asking,
    desk: TheDesk,
    table: Annotated[Literal["standings", "matrix", "stability"], Query()] = "standings",
) -> Response:
    """Return a table of the results; no cell of it is a formula."""
    text = RESULTS_FILES[f"{table}.csv"](desk.visit(who, contest).results())
    return _sent(text, "text/csv; charset=utf-8", f"{contest}-{table}.csv")


# --- the log ---------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/log", response_class=StreamingResponse, responses=described_file(_LINES))
def download_log(
    contest: ContestName, who: Asking, desk: TheDesk, start: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
) -> Response:
    """Return the log, one entry a line: to the organiser at any time, to everybody when results are open."""
    entries = desk.visit(who, contest).log(start)
    lines = (json.dumps(one.as_dict(), ensure_ascii=False, sort_keys=True).encode() + b"\n" for one in entries)
    return StreamingResponse(lines, media_type=_LINES)


@router.get("/contests/{contest}/archive", response_class=FileResponse, responses=described_file("application/zip"))
def download_archive(contest: ContestName, who: Asking, desk: TheDesk) -> Response:
    """Return the whole contest as one file that anybody can replay; there is none before the results."""
    path = desk.visit(who, contest).archive()
    return FileResponse(path, media_type="application/zip", filename=f"{contest}.zip")


def _with_round(visit: Visit, round_: str) -> Visit:
    if round_ not in visit.contest.rounds:
        raise RefusedError(_("there is no such round"), status=404)
    return visit


def _round(visit: Visit, round_: str) -> RoundResults:
    results = _with_round(visit.with_results(), round_).results()
    return next(one for one in results.rounds if one.round == round_)


def _sent(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
