"""What teams do and see: data, releases, which of them counts, guesses, the answers; boards, results and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.pages.frame import (
    Visited,
    VisitedByPerson,
    finding_now,
    left,
    log_words,
    page,
    played_rounds,
    round_words,
    shown_time,
    status_of,
    to_page,
    waiting_words,
)
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.schemas import SubmissionOut
from noren.contest.service import ContestAccess
from noren.contest.standings import Board, below_chance, verdict_on
from noren.contest.state import Contest, Submission
from noren.errors import NorenError
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, decimal, number, percent
from noren.judgement.verdict import Verdict
from noren.web.errors import NotFoundError
from noren.web.frame import stage_rows

router = APIRouter()

Text = Annotated[str, Form(max_length=200)]


# --- protecting ------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/protect")
def show_protect(request: Request, visit: VisitedByPerson) -> Response:
    """Show the data of each round, the way to hand in a release, and what was handed in."""
    return _protect_page(request, visit)


@router.post("/contests/{contest}/choose")
def choose(request: Request, visit: VisitedByPerson, submission: Text = "") -> Response:
    """Let another release count."""
    try:
        visit.service.do(visit.who, visit.contest.id, actions.choose, submission=submission)
    except NorenError as error:
        return _protect_page(request, visit, str(error), status_of(error))
    return to_page(visit.contest, "protect")


def _protect_page(request: Request, visit: ContestAccess, wrong: str = "", status: int = 200) -> Response:
    contest, team, now = visit.contest, visit.own, visit.now
    if team is None:
        return to_page(contest, "team")
    rounds = _rounds(visit, PhaseKind.PROTECT)
    for one in rounds:  # when its data are handed out, if that is to come, and what was handed in
        name = one["round"].id
        opens = min((phase.opens for phase in contest.phases if phase.round == name), default="")
        one["data_from"] = opens if now < opens else None
        one["used"] = sum(contest.used(team.id, phase.id) for phase in one["phases"])
        one["entries"] = [handed_in(visit, entry) for entry in contest.releases(team.id, name)[::-1]]
    title = finding_now(contest, now)
    if (at := next((one for one in rounds if one["open"]), None)) is not None:
        counting = next((one for one in at["entries"] if one.submission.counts), None)
        if counting is None:
            title = _("No release of yours counts yet: hand one in until {moment} ({left})")
        elif counting.score is None:
            title = _("A valid release of yours counts; replace it until {moment} ({left})")
        else:
            title = _("Your release scores {score} (lower is better); replace it until {moment} ({left})")
        score = "" if counting is None or counting.score is None else decimal(counting.score)
        title = title.format(score=score, **_until(visit, at))
    return page(
        request,
        "protect.html.jinja",
        title=title,
        place="protect",
        visit=visit,
        status=status,
        rounds=rounds,
        own=team,
        quota=contest.rulebook.quota.releases,
        wrong=wrong,
        may_choose=contest.settings.counting == "chosen",
    )


def _rounds(visit: ContestAccess, kind: PhaseKind) -> list[dict[str, Any]]:
    """Return the rounds that have phases of a kind, the one that is played last first, and which phase is open."""
    found: dict[str, list[Phase]] = {}
    for one in visit.contest.phases:
        if one.kind == kind and one.round:
            found.setdefault(one.round, []).append(one)
    open_ = visit.contest.open(visit.now, kind)
    return [
        {
            "round": visit.contest.rounds[name],
            "phases": phases,
            "open": next((one for one in phases if one in open_), None),
        }
        for name, phases in list(found.items())[::-1]
    ]


def _until(visit: ContestAccess, round_: Mapping[str, Any]) -> dict[str, str]:
    """Return until when an open round is open, in words."""
    closes = round_["open"].closes or visit.now
    return {"moment": shown_time(closes, visit.contest.settings.zone), "left": left(closes, visit.now)}


# --- attacking -------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/attack")
def show_attack(request: Request, visit: VisitedByPerson) -> Response:
    """Show targets, the way to hand in a guess against each, and what came of guesses."""
    contest, team = visit.contest, visit.own
    if team is None:
        return to_page(contest, "team")
    rounds = _rounds(visit, PhaseKind.ATTACK)
    for one in rounds:
        name, one["waits"] = one["round"].id, ""
        try:
            targets = visit.targets(name)
        except RefusedError as error:
            targets, one["waits"] = [], str(error)
        one["targets"] = []
        for target in sorted(targets, key=lambda one: one.id):
            own = contest.guesses(name, team=team.id, target=target.id)[::-1]
            used = sum(contest.used(team.id, phase.id, target.id) for phase in one["phases"])
            line = {"target": target, "used": used, "entries": [handed_in(visit, guess) for guess in own]}
            one["targets"].append(line)
    title = finding_now(contest, visit.now)
    if (at := next((one for one in rounds if one["open"]), None)) is not None:
        title = _("{tried} of {targets} targets attacked; hand in guesses until {moment} ({left})").format(
            tried=sum(1 for one in at["targets"] if one["used"]), targets=len(at["targets"]), **_until(visit, at)
        )
    return page(
        request,
        "attack.html.jinja",
        title=title,
        place="attack",
        visit=visit,
        rounds=rounds,
        own=team,
        quota=contest.rulebook.quota.guesses,
        outcome=contest.rulebook.outcome,
    )


# --- one file --------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/files/{submission}")
def show_file(request: Request, submission: str, visit: VisitedByPerson) -> Response:
    """Show one file: every problem the checker reports, its values, and how the baseline attacks did."""
    contest, known, jobs = visit.contest.id, visit.submission(submission), visit.arena.store.jobs
    entry = handed_in(visit, known)
    organises, playing = visit.role == ContestRole.ORGANISER, "protect" if known.kind == "release" else "attack"
    baseline, score = entry.submission.shown.baseline or {}, "" if entry.score is None else decimal(entry.score)
    title = {
        "invalid": _("{what} is invalid, and cost no try: {first}"),
        "valid": _("{what} is valid and scores {score} (lower is better)") if score else _("{what} is valid"),
        "refunded": _("{what} could not be judged because of an internal error; it did not count as a try"),
    }.get(entry.state, _("{what} is being judged"))
    what = _("The release") if known.kind == "release" else _("The guess")
    return page(
        request,
        "file.html.jinja",
        title=title.format(what=what, first=entry.words, score=score),
        place=playing if visit.role == ContestRole.MEMBER else "organise",
        visit=visit,
        entry=entry,
        team=visit.contest.teams[known.team],
        report=entry.submission.report,
        receipt=visit.arena.receipt(visit.contest, known).to_text(),
        judged=entry.verdict,
        failed={key: one["failed"][active_language()] for key, one in baseline.items() if one.get("failed")},
        organises=organises,
        cluster=stage_rows(jobs.stages(contest, submission)) if organises else [],
        notice=next((one.notice for one in jobs.of(contest, submission)[::-1] if one.notice), "") if organises else "",
    )


@dataclass(frozen=True)
class SubmissionView:
    """One file of a team, as a page shows it.

    Attributes
    ----------
    state
        ``waiting``, ``running``, ``valid``, ``invalid`` or ``refunded``.
    words
        The state in words: the place in the queue, the checker's answer in brief, why a try was given back.
    verdict
        What the judgement says of a release by what the baseline attacks found.
    """

    submission: SubmissionOut
    state: str
    words: str
    values: list[dict[str, Any]]
    score: float | None
    verdict: Verdict | None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in ("waiting", "running")


def handed_in(visit: ContestAccess, known: Submission) -> SubmissionView:
    """Return what somebody may see of a file."""
    contest, described = visit.contest, visit.described(known)
    shown, report = described.shown, described.report
    if known.refunded is not None:
        state, words = (
            "refunded",
            _("Internal error; it did not count as a try: {reason}").format(reason=_(known.refunded)),
        )
    elif known.valid:
        state, words = "valid", _("The checker accepts it.")
    elif known.valid is not None:
        state, words = "invalid", _("The checker does not accept it.")
        if report.get("problems"):
            first = report["problems"][0]
            at = [_("row {row}").format(row=f"{first['row']:,}")] if first.get("row") else []
            at += [str(first["column"])] if first.get("column") else []
            words = f"{', '.join(at)}: {first['rule']}" if at else str(first["rule"])
    else:
        state, words = "waiting", waiting_words(described.before, described.seconds)
        if described.state == "running":
            state, words = "running", described.words or _("The judge looks at it.")
        if described.trouble:
            words = _("{said} It was tried again: {trouble}").format(said=words, trouble=described.trouble)
    # what the judgement says given what the baseline attacks found; nothing where the rules keep it back
    is_judged = known.kind == "release" and shown.baseline and (known.judged or {}).get("facts")
    measured = shown.values or {}
    return SubmissionView(
        described,
        state,
        words,
        values_of(contest.rulebook, measured),
        contest.rulebook.score(measured) if known.kind == "release" and measured else None,
        verdict_on(contest, known, (), called=(), baseline=True) if is_judged else None,
    )


def values_of(book: Rulebook, measured: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return measured numbers in the order of the rules, and after them those that the rules do not name.

    Each has its unit and direction, and whether the rules ask for it to be otherwise.
    """
    known, broken = book.measured, set(book.broken(measured))
    made = []
    for key in [*[key for key in known if key in measured], *[key for key in measured if key not in known]]:
        measure = known[key][0] if key in known else None
        about = (_(measure.summary), _(measure.unit), str(measure.goal)) if measure else ("", "", "")
        said = dict(zip(("meaning", "unit", "direction"), about, strict=True))
        made.append({"name": key, "text": number(measured[key]), "broken": key in broken} | said)
    return made


RoundName = Annotated[str, Query(alias="round", max_length=40)]
_SHADES = 5
_A_PAGE = 100


# --- boards ----------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/board")
def show_board(request: Request, visit: Visited, round_: RoundName = "") -> Response:
    """Show the board of a round: live, frozen or final."""
    shown, since = visit.board(_round_asked(visit, round_))
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


def _round_asked(visit: ContestAccess, asked: str) -> str:
    """Return the round that is asked for, else the latest that has begun."""
    contest = visit.contest
    if asked:
        if asked not in contest.rounds:
            raise NotFoundError(_("there is no such round"))
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
            "status": None if one.verdict is None else str(one.verdict.status),
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
    name = _round_asked(visit, round_)
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
        place="organise" if visit.role == ContestRole.ORGANISER else "results",
        visit=visit,
        start=first,
        a_page=_A_PAGE,
        total=found.position + 1,
        lines=[(entry, log_words(found, entry.kind, entry.body)) for entry in entries],
    )
