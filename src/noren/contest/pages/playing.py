"""Pages of teams: releases, guesses, submitted files, leaderboards, results and the log."""

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
    actor_name,
    current_phase,
    entry_text,
    local_time,
    page,
    played_rounds,
    to_page,
    waiting_text,
)
from noren.contest.phases import PRACTICE, Phase
from noren.contest.results import best_attack, matrix_cell
from noren.contest.rulebook import Rulebook
from noren.contest.schemas import SubmissionOut
from noren.contest.service import ContestAccess
from noren.contest.standings import Board, below_chance, board_headline, evidence_of, verdict_on
from noren.contest.state import Contest, Submission
from noren.drawing.base import live
from noren.errors import NorenError
from noren.i18n import _, active_language
from noren.judgement.numbers import count, decimal, number
from noren.judgement.verdict import Verdict
from noren.tables import Texts, table_of
from noren.web.errors import status_of
from noren.web.frame import stage_rows

say = Texts("noren.contest.pages.messages")

router = APIRouter()

Text = Annotated[str, Form(max_length=200)]


@router.get("/contests/{contest}/protect")
def show_protect(request: Request, visit: VisitedByPerson) -> Response:
    """Show the data of each round, the upload form and the submitted releases."""
    return _protect_page(request, visit)


@router.post("/contests/{contest}/choose")
def choose_release(request: Request, visit: VisitedByPerson, submission: Text = "") -> Response:
    """Choose the release that counts."""
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
    for round_ in rounds:  # when its data are published, if that is to come, and the submissions
        name = round_["round"].id
        opens = min((phase.opens for phase in contest.phases if phase.round == name), default="")
        round_["data_from"] = opens if now < opens else None
        round_["used"] = sum(contest.used(team.id, phase.id) for phase in round_["phases"])
        round_["entries"] = [submission_view(visit, release) for release in contest.releases(team.id, name)[::-1]]
    title = current_phase(contest, now)
    current = next((round_ for round_ in rounds if round_["open"]), None)
    if current is not None and current["round"].id != PRACTICE:
        counting = next((entry for entry in current["entries"] if entry.submission.counts), None)
        result = _("You have no valid release yet") if counting is None else _result(counting)
        title = f"{result}; {title}"
    return page(
        request,
        "protect.html.jinja",
        title=title,
        place="protect",
        visit=visit,
        status=status,
        rounds=rounds,
        wrong=wrong,
    )


def _rounds(visit: ContestAccess, kind: PhaseKind) -> list[dict[str, Any]]:
    """Return the rounds that have phases of a kind, the latest first, and which phase is open."""
    by_round: dict[str, list[Phase]] = {}
    for phase in visit.contest.phases:
        if phase.kind == kind and phase.round:
            by_round.setdefault(phase.round, []).append(phase)
    open_ = visit.contest.open(visit.now, kind)
    return [
        {
            "round": visit.contest.rounds[name],
            "phases": phases,
            "open": next((phase for phase in phases if phase in open_), None),
        }
        for name, phases in list(by_round.items())[::-1]
    ]


def _result(view: SubmissionView) -> str:
    """Return the state of a submission as a headline."""
    kind = _("Release") if view.submission.kind == "release" else _("Guess")
    texts = {"refunded": view.text, "invalid": f"{_('invalid')}: {view.text}", "valid": _("valid")}
    if view.score is None or view.state != "valid":
        return f"{kind}: {texts.get(view.state, _('being scored'))}"
    return _("{kind}: valid, with a score of {score} (lower is better)").format(kind=kind, score=decimal(view.score))


@router.get("/contests/{contest}/attack")
def show_attack(request: Request, visit: VisitedByPerson) -> Response:
    """Show the targets, their upload forms and the submitted guesses."""
    contest, team = visit.contest, visit.own
    if team is None:
        return to_page(contest, "team")
    rounds = _rounds(visit, PhaseKind.ATTACK)
    for round_ in rounds:
        name, round_["waits"] = round_["round"].id, ""
        try:
            targets = visit.targets(name)
        except RefusedError as error:
            targets, round_["waits"] = [], str(error)
        round_["targets"] = []
        for target in sorted(targets, key=lambda target: target.id):
            guesses = contest.guesses(name, team=team.id, target=target.id)[::-1]
            used = sum(contest.used(team.id, phase.id, target.id) for phase in round_["phases"])
            line = {"target": target, "used": used, "entries": [submission_view(visit, guess) for guess in guesses]}
            round_["targets"].append(line)
    title = current_phase(contest, visit.now)
    if (current := next((round_ for round_ in rounds if round_["open"]), None)) is not None:
        attacked = sum(1 for line in current["targets"] if line["used"])
        progress = _("{attacked} of {targets} targets attacked")
        title = f"{progress.format(attacked=attacked, targets=len(current['targets']))}; {title}"
    return page(request, "attack.html.jinja", title=title, place="attack", visit=visit, rounds=rounds)


@router.get("/contests/{contest}/files/{submission}")
def show_file(request: Request, submission: str, visit: VisitedByPerson) -> Response:
    """Show one file: its problems, values and baseline attacks."""
    contest, known, jobs = visit.contest.id, visit.submission(submission), visit.arena.store.jobs
    entry = submission_view(visit, known)
    organises, playing = visit.role == ContestRole.ORGANISER, "protect" if known.kind == "release" else "attack"
    attacks = entry.submission.judgement.baseline or {}
    return page(
        request,
        "file.html.jinja",
        title=_result(entry),
        place=playing if visit.role == ContestRole.MEMBER else "organise",
        visit=visit,
        entry=entry,
        team=visit.contest.teams[known.team],
        receipt=visit.arena.receipt(visit.contest, known).to_text(),
        baseline=evidence_of(visit.contest.rulebook, entry.verdict) if entry.verdict else (),
        failed={key: result["failed"][active_language()] for key, result in attacks.items() if result.get("failed")},
        cluster=stage_rows(jobs.stages(contest, submission)) if organises else [],
        notice=next((job.notice for job in jobs.of(contest, submission)[::-1] if job.notice), "") if organises else "",
    )


@dataclass(frozen=True)
class SubmissionView:
    """One file of a team, as a page shows it.

    Attributes
    ----------
    state
        ``waiting``, ``running``, ``valid``, ``invalid`` or ``refunded``.
    text
        The state as a sentence: the position in the queue, the first problem, why an attempt does not count.
    verdict
        What the judgement says of a release by what the baseline attacks found.
    """

    submission: SubmissionOut
    state: str
    text: str
    values: list[dict[str, Any]]
    score: float | None
    verdict: Verdict | None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in ("waiting", "running")


def submission_view(visit: ContestAccess, known: Submission) -> SubmissionView:
    """Return a file as the person of a visit may see it."""
    contest, described = visit.contest, visit.described(known)
    judgement, report = described.judgement, described.report
    if known.refunded is not None:
        state, text = "refunded", say("refunded", reason=_(known.refunded))
    elif known.valid:
        state, text = "valid", _("The file follows the format.")
    elif known.valid is not None:
        state, text = "invalid", ""
        if report.get("problems"):
            first = report["problems"][0]
            place = [_("row {row}").format(row=f"{first['row']:,}")] if first.get("row") else []
            place += [str(first["column"])] if first.get("column") else []
            text = f"{', '.join(place)}: {first['rule']}" if place else str(first["rule"])
    else:
        state, text = "waiting", waiting_text(described.before, described.seconds)
        if described.state == "running":
            state, text = "running", described.words or _("being scored")
        if described.trouble:
            text = f"{text} ({described.trouble})"
    # the verdict from the results of the baseline attacks, if the rules publish them
    is_judged = known.kind == "release" and judgement.baseline and (known.judged or {}).get("facts")
    measured = judgement.values or {}
    return SubmissionView(
        described,
        state,
        text,
        values_of(contest.rulebook, measured),
        contest.rulebook.score(measured) if known.kind == "release" and measured else None,
        verdict_on(contest, known, (), names=(), baseline=True) if is_judged else None,
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
        texts = dict(zip(("meaning", "unit", "direction"), about, strict=True))
        made.append({"name": key, "text": number(measured[key]), "broken": key in broken} | texts)
    return made


RoundName = Annotated[str, Query(alias="round", max_length=40)]
_SHADES = 5
_MOST_NAMED = 6
_CHART = table_of(__name__)
"""The chart of scores over time."""
_A_PAGE = 100


@router.get("/contests/{contest}/board")
def show_board(request: Request, visit: Visited, round_: RoundName = "") -> Response:
    """Show the board of a round: live, frozen or final."""
    board, since = visit.board(_requested_round(visit, round_, played_rounds(visit.contest)))
    return page(
        request,
        "board.html.jinja",
        title=board_headline(board),
        place="board",
        visit=visit,
        since=since,
        **_table(visit.contest, board),
    )


def _requested_round(visit: ContestAccess, name: str, rounds: Sequence[str]) -> str:
    """Return the round of a request, by default the latest that has begun."""
    if name and name not in rounds:
        raise actions.not_found(name)
    begun = [phase.round for phase in visit.contest.phases if phase.round in rounds and phase.opens <= visit.now]
    return name or (begun[-1] if begun else None) or rounds[0]


def _table(contest: Contest, board: Board) -> dict[str, Any]:
    """Return what the table of a board shows."""
    lines = [
        {
            "standing": standing,
            "score": "–" if standing.score is None else decimal(standing.score),
            "values": {value["name"]: value for value in values_of(contest.rulebook, standing.values)},
            "attack": best_attack(standing),
            "sentence": "" if standing.verdict is None else standing.verdict.sentence,
        }
        for standing in board.standings
    ]
    terms = [term.key for term in contest.rulebook.terms]
    conditions = [condition.key for condition in contest.rulebook.conditions]
    rounds = played_rounds(contest)
    table = {"board": board, "rounds": rounds, "lines": lines, "terms": terms, "conditions": conditions}
    return table | _score_chart(contest, board)


def _score_chart(contest: Contest, board: Board) -> dict[str, Any]:
    """Return the chart of scores over time and its table, in the contest's time zone; the first teams have labels."""
    names, zone = {standing.team: standing.name for standing in board.standings}, contest.settings.zone
    rows: list[dict[str, Any]] = [
        {"team": names[team], "time": local_time(at, zone), "score": score, "label": ""}
        for team, at, score in board.history
    ]
    last = {row["team"]: row for row in rows}  # by rank
    for row in rows:
        row["first"] = row["team"] in [*last][:1]
    for row in [*last.values()][:_MOST_NAMED]:
        row["label"] = row["team"]
    titles = {"x": _("Time ({zone})").format(zone=zone), "y": _("Score (lower is better)")}
    encoding = {name: axis | {"title": titles[name]} for name, axis in _CHART["encoding"].items()}
    spec = {"height": 260, "data": {"values": rows}, "encoding": encoding, "layer": _CHART["layer"]}
    table = [(row["team"], row["time"].replace("T", " "), decimal(row["score"])) for row in rows]
    return {"chart_spec": live(spec) if rows else None, "history": table}


@router.get("/contests/{contest}/results")
def show_results(request: Request, visit: Visited, round_: RoundName = "") -> Response:
    """Show the results: standings, attack matrix, stability of ranks, and how to replay."""
    contest = visit.contest
    if not contest.has_results(visit.now):
        return page(request, "no_results.html.jinja", title=say("no_results"), place="results", visit=visit)
    rounds = [name for name in played_rounds(contest) if name != PRACTICE]
    name = _requested_round(visit, round_, rounds)
    results = next(result for result in visit.results().rounds if result.round == name)
    title, cells = board_headline(results.board), results.matrix.cells
    if cells:
        broken, attacks = count(sum(cell.breaks for cell in cells)), count(len(cells))
        title += "; " + _("{count} of {all} attacks broke a release").format(count=broken, all=attacks)
    by_pair = {  # shaded by the share of correct guesses
        pair: matrix_cell(cell) | {"shade": min(_SHADES, round(cell.evidence.rate * _SHADES)), "side": cell.side}
        for pair, cell in results.matrix.by_pair.items()
    }
    return page(
        request,
        "results.html.jinja",
        title=title,
        place="results",
        visit=visit,
        cells=by_pair,
        below=below_chance() if any(cell.side == "below" for cell in cells) else "",
        results=results,
        names={team.id: team.name for team in contest.teams.values()},
        **_table(contest, results.board) | {"rounds": rounds},
    )


@router.get("/contests/{contest}/log")
def show_log(request: Request, visit: Visited, start: Annotated[int | None, Query(ge=0)] = None) -> Response:
    """Show the log."""
    contest = visit.contest
    first = max(0, contest.position + 1 - _A_PAGE) if start is None else min(start, contest.position)
    entries: Sequence[Any] = visit.log(first)[:_A_PAGE]
    return page(
        request,
        "log.html.jinja",
        title=say("log", count=count(contest.position + 1), digest=contest.digest[:16]),
        place="organise" if visit.role == ContestRole.ORGANISER else "results",
        visit=visit,
        start=first,
        a_page=_A_PAGE,
        lines=[
            (entry, entry_text(contest, entry.kind, entry.body), actor_name(contest, entry.actor)) for entry in entries
        ],
    )
