"""What a team does: gets data, hands in releases, chooses which counts, attacks the others, and reads the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest import acts
from noren.contest.acts import RefusedError
from noren.contest.desk import Desk, Place, Who
from noren.contest.kinds import PhaseKind, Role
from noren.contest.pages.frame import Asker, TheDesk, address, page, to_login
from noren.contest.pages.words import finding_now, left, shown_time, waiting_words
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.standings import verdict_on
from noren.contest.state import Contest, Round, Submission, Target, Team
from noren.errors import NorenError
from noren.i18n import _, active_language
from noren.judgement.numbers import decimal, number
from noren.judgement.verdict import Verdict
from noren.web.frame import stage_rows

router = APIRouter()

Text = Annotated[str, Form(max_length=200)]


@dataclass(frozen=True)
class RoundOfTeam:
    """A round as a team sees it: whether its data are handed out, what is open, and what was handed in."""

    round: Round
    phases: Sequence[Phase]
    open: Phase | None
    data_from: str | None
    used: int
    entries: Sequence[HandedIn]


@dataclass(frozen=True)
class TargetLine:
    """A target, with one's own guesses against it."""

    target: Target
    used: int
    entries: Sequence[HandedIn]


# --- protecting ------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/protect")
def show_protect(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Show the data of each round, the way to hand in a release, and what was handed in."""
    return to_login() if who.account is None else _protect_page(request, contest, who, desk)


@router.post("/contests/{contest}/choose")
def choose(request: Request, contest: str, who: Asker, desk: TheDesk, submission: Text = "") -> Response:
    """Let another release count."""
    if who.account is None:
        return to_login()
    try:
        desk.do(who, contest, acts.choose, submission=submission)
    except NorenError as error:
        return _protect_page(request, contest, who, desk, str(error), int(getattr(error, "status", 422)))
    return RedirectResponse(address(contest, "protect"), 303)


def _protect_page(request: Request, contest: str, who: Who, desk: Desk, wrong: str = "", status: int = 200) -> Response:
    found, now = desk.contest(who, contest), desk.arena.now()
    team = found.teams.get(found.team_of.get(who.id, ""))
    if team is None:
        return RedirectResponse(address(found, "team"), 303)
    rounds = [_round_of(desk, who, found, team, one, now) for one in _rounds(found, PhaseKind.PROTECT)]
    return page(
        request,
        "protect.html.jinja",
        title=_protect_title(found, rounds, now),
        place="protect",
        contest=found,
        status=status,
        rounds=rounds,
        own=team,
        quota=found.rulebook.quota.releases,
        wrong=wrong,
        may_choose=found.settings.counting == "chosen",
        send_words=_send_words(),
    )


def _rounds(contest: Contest, kind: PhaseKind) -> list[Round]:
    """Return the rounds that have a phase of a kind, the one that is played last first."""
    names = dict.fromkeys(one.round for one in contest.phases if one.kind == kind and one.round)
    return [contest.rounds[name] for name in names][::-1]


def _round_of(desk: Desk, who: Who, contest: Contest, team: Team, round_: Round, now: str) -> RoundOfTeam:
    phases = [one for one in contest.phases if one.round == round_.id and one.kind == PhaseKind.PROTECT]
    open_ = next((one for one in contest.open(now, PhaseKind.PROTECT) if one.round == round_.id), None)
    opens = min((one.opens for one in contest.phases if one.round == round_.id), default="")
    entries = [handed_in(desk, who, contest, one) for one in contest.releases(team.id, round_.id)[::-1]]
    used = sum(contest.used(team.id, one.id) for one in phases)
    return RoundOfTeam(round_, phases, open_, opens if now < opens else None, used, entries)


def _protect_title(contest: Contest, rounds: Sequence[RoundOfTeam], now: str) -> str:
    at = next((one for one in rounds if one.open is not None), None)
    if at is None:
        return finding_now(contest, now)
    closes = at.open.closes if at.open is not None and at.open.closes else now
    until = {"moment": shown_time(closes, contest.settings.zone), "left": left(closes, now)}
    counting = next((one for one in at.entries if one.counts), None)
    if counting is None:
        return _("No release of yours counts yet: hand one in until {moment} ({left})").format(**until)
    if counting.score is None:
        return _("A valid release of yours counts; replace it until {moment} ({left})").format(**until)
    return _("Your release scores {score} (lower is better); replace it until {moment} ({left})").format(
        score=decimal(counting.score), **until
    )


def _send_words() -> dict[str, str]:
    return {
        "sending": _("{name} is sent"),
        "received": _("Received. The receipt is kept; the judge looks at it now."),
        "too_large": _("it is larger than this contest takes"),
    }


# --- attacking -------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/attack")
def show_attack(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Show targets, the way to hand in a guess against each, and what came of guesses."""
    if who.account is None:
        return to_login()
    found, now = desk.contest(who, contest), desk.arena.now()
    team = found.teams.get(found.team_of.get(who.id, ""))
    if team is None:
        return RedirectResponse(address(found, "team"), 303)
    rounds = [_attacked(desk, who, found, team, one, now) for one in _rounds(found, PhaseKind.ATTACK)]
    return page(
        request,
        "attack.html.jinja",
        title=_attack_title(found, rounds, now),
        place="attack",
        contest=found,
        rounds=rounds,
        own=team,
        quota=found.rulebook.quota.guesses,
        outcome=found.rulebook.outcome,
        send_words=_send_words(),
    )


def _attacked(desk: Desk, who: Who, contest: Contest, team: Team, round_: Round, now: str) -> dict[str, Any]:
    phases = [one for one in contest.phases if one.round == round_.id and one.kind == PhaseKind.ATTACK]
    open_ = next((one for one in contest.open(now, PhaseKind.ATTACK) if one.round == round_.id), None)
    try:
        targets = desk.targets(who, contest.id, round_.id)
        waits = ""
    except RefusedError as error:
        targets, waits = [], str(error)
    lines = []
    for target in sorted(targets, key=lambda one: one.id):
        own = contest.guesses(round_.id, team=team.id, target=target.id)[::-1]
        used = sum(contest.used(team.id, phase.id, target.id) for phase in phases)
        lines.append(TargetLine(target, used, [handed_in(desk, who, contest, one) for one in own]))
    return {"round": round_, "phases": phases, "open": open_, "targets": lines, "waits": waits}


def _attack_title(contest: Contest, rounds: Sequence[dict[str, Any]], now: str) -> str:
    at = next((one for one in rounds if one["open"] is not None), None)
    if at is None:
        return finding_now(contest, now)
    closes = at["open"].closes or now
    tried = sum(1 for one in at["targets"] if one.used)
    return _("{tried} of {targets} targets attacked; hand in guesses until {moment} ({left})").format(
        tried=tried,
        targets=len(at["targets"]),
        moment=shown_time(closes, contest.settings.zone),
        left=left(closes, now),
    )


# --- one file --------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/files/{submission}")
def show_file(request: Request, contest: str, submission: str, who: Asker, desk: TheDesk) -> Response:
    """Show all that may be known of one file: the checker's complete answer, values, what the house found."""
    if who.account is None:
        return to_login()
    found = desk.contest(who, contest)
    known = desk.submission(who, contest, submission)
    entry = handed_in(desk, who, found, known)
    organises, jobs = desk.role(who, found) == Role.ORGANISER, desk.arena.store.jobs
    house: Mapping[str, Mapping[str, Any]] = entry.shown.get("house") or {}
    return page(
        request,
        "file.html.jinja",
        title=_file_title(entry),
        place=("protect" if known.kind == "release" else "attack")
        if desk.role(who, found) == Role.MEMBER
        else "organise",
        contest=found,
        entry=entry,
        team=found.teams[known.team],
        report=entry.report,
        receipt=desk.receipt(who, contest, submission).to_text(),
        judged=entry.verdict,
        failed={key: one["failed"][active_language()] for key, one in house.items() if one.get("failed")},
        organises=organises,
        cluster=stage_rows(jobs.stages(contest, submission)) if organises else [],
        notice=next((one.notice for one in jobs.of(contest, submission)[::-1] if one.notice), "") if organises else "",
    )


def _file_title(entry: HandedIn) -> str:
    what = _("The release") if entry.submission.kind == "release" else _("The guess")
    if entry.state == "invalid":
        return _("{what} is invalid, and cost no try: {first}").format(what=what, first=entry.words)
    if entry.state == "valid":
        if entry.score is not None:
            return _("{what} is valid and scores {score} (lower is better)").format(
                what=what, score=decimal(entry.score)
            )
        return _("{what} is valid").format(what=what)
    if entry.state == "refunded":
        return _("{what} could not be judged by a fault of ours; it cost no try").format(what=what)
    return _("{what} is being judged").format(what=what)


@dataclass(frozen=True)
class Value:
    """One measured number, with its unit, its direction, and whether the rules ask for it to be otherwise."""

    name: str
    text: str
    meaning: str
    unit: str
    direction: str
    broken: bool


@dataclass(frozen=True)
class HandedIn:
    """One file of a team.

    Attributes
    ----------
    state
        ``waiting``, ``running``, ``valid``, ``invalid`` or ``refunded``.
    words
        The state in words: the place in the queue, the checker's answer in brief, why a try was given back.
    counts
        Whether it is the one that counts.
    report
        The checker's answer, in the language now spoken.
    verdict
        What the judgement says of a release by what the house found.
    """

    submission: Submission
    state: str
    words: str
    done: float
    values: tuple[Value, ...]
    score: float | None
    counts: bool
    shown: Mapping[str, Any]
    report: Mapping[str, Any]
    place: Place
    verdict: Verdict | None

    @property
    def tried(self) -> Mapping[str, Any] | None:
        """How many names of a guess are right, where the rules let its team know."""
        found: Mapping[str, Any] | None = self.shown.get("tried")
        return found

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in ("waiting", "running")


def handed_in(desk: Desk, who: Who, contest: Contest, submission: Submission) -> HandedIn:
    """Return what somebody may see of a file."""
    place = desk.place(who, contest.id, submission.id)
    shown = desk.shown(who, contest.id, submission.id)
    if submission.refunded is not None:
        state = "refunded"
    elif submission.valid is not None:
        state = "valid" if submission.valid else "invalid"
    else:
        state = "running" if place.state == "running" else "waiting"
    # what the judgement says given what the house found; nothing where the rules keep it back
    is_judged = submission.kind == "release" and shown.get("house") and (submission.judged or {}).get("facts")
    report = (shown.get("report") or {}).get(active_language()) or {}
    counting = contest.counting_release(submission.team, submission.round)
    measured: Mapping[str, float] = shown.get("values") or {}
    return HandedIn(
        submission,
        state,
        _words(submission, state, place, report),
        place.done,
        values_of(contest.rulebook, measured),
        contest.rulebook.score(measured) if submission.kind == "release" and measured else None,
        counting is not None and counting.id == submission.id,
        shown,
        report,
        place,
        verdict_on(contest, submission, (), called=(), house=True) if is_judged else None,
    )


def _words(submission: Submission, state: str, place: Place, report: Mapping[str, Any]) -> str:
    if state == "refunded":
        return _("A fault of ours; it cost no try: {reason}").format(reason=_(submission.refunded or ""))
    if state == "valid":
        return _("The checker accepts it.")
    if state == "invalid":
        return _first_problem(report)
    said = (
        place.words or _("The judge looks at it.") if state == "running" else waiting_words(place.before, place.seconds)
    )
    return _("{said} It was tried again: {trouble}").format(said=said, trouble=place.trouble) if place.trouble else said


def _first_problem(report: Mapping[str, Any]) -> str:
    problems: Sequence[Mapping[str, Any]] = report.get("problems") or []
    if not problems:
        return _("The checker does not accept it.")
    first = problems[0]
    at = [_("row {row}").format(row=f"{first['row']:,}")] if first.get("row") else []
    at += [str(first["column"])] if first.get("column") else []
    where = ", ".join(at)
    return f"{where}: {first['rule']}" if where else str(first["rule"])


def values_of(book: Rulebook, measured: Mapping[str, float]) -> tuple[Value, ...]:
    """Return measured numbers in the order of the rules, and after them those that the rules do not name."""
    known = book.measured
    broken = set(book.broken(measured))
    order = [*[key for key in known if key in measured], *[key for key in measured if key not in known]]
    made = []
    for key in order:
        measure = known[key][0] if key in known else None
        made.append(
            Value(
                key,
                number(measured[key]),
                _(measure.summary) if measure else "",
                _(measure.unit) if measure else "",
                str(measure.goal) if measure else "",
                key in broken,
            )
        )
    return tuple(made)
