"""What a team does: gets data, hands in releases, chooses which counts, attacks the others, and reads the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from noren.contest import acts
from noren.contest.acts import RefusedError
from noren.contest.desk import Visit
from noren.contest.kinds import PhaseKind, Role
from noren.contest.pages.frame import VisitedByPerson, page, status_of, to_page
from noren.contest.pages.words import finding_now, left, shown_time, waiting_words
from noren.contest.phases import Phase
from noren.contest.rulebook import Rulebook
from noren.contest.schemas import SubmissionOut
from noren.contest.standings import verdict_on
from noren.contest.state import Submission
from noren.errors import NorenError
from noren.i18n import _, active_language
from noren.judgement.numbers import decimal, number
from noren.judgement.verdict import Verdict
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
        visit.desk.do(visit.who, visit.contest.id, acts.choose, submission=submission)
    except NorenError as error:
        return _protect_page(request, visit, str(error), status_of(error))
    return to_page(visit.contest, "protect")


def _protect_page(request: Request, visit: Visit, wrong: str = "", status: int = 200) -> Response:
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


def _rounds(visit: Visit, kind: PhaseKind) -> list[dict[str, Any]]:
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


def _until(visit: Visit, round_: Mapping[str, Any]) -> dict[str, str]:
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
    """Show all that may be known of one file: the checker's complete answer, values, what the house found."""
    contest, known, jobs = visit.contest.id, visit.submission(submission), visit.arena.store.jobs
    entry = handed_in(visit, known)
    organises, playing = visit.role == Role.ORGANISER, "protect" if known.kind == "release" else "attack"
    house, score = entry.submission.shown.house or {}, "" if entry.score is None else decimal(entry.score)
    title = {
        "invalid": _("{what} is invalid, and cost no try: {first}"),
        "valid": _("{what} is valid and scores {score} (lower is better)") if score else _("{what} is valid"),
        "refunded": _("{what} could not be judged by a fault of ours; it cost no try"),
    }.get(entry.state, _("{what} is being judged"))
    what = _("The release") if known.kind == "release" else _("The guess")
    return page(
        request,
        "file.html.jinja",
        title=title.format(what=what, first=entry.words, score=score),
        place=playing if visit.role == Role.MEMBER else "organise",
        visit=visit,
        entry=entry,
        team=visit.contest.teams[known.team],
        report=entry.submission.report,
        receipt=visit.arena.receipt(visit.contest, known).to_text(),
        judged=entry.verdict,
        failed={key: one["failed"][active_language()] for key, one in house.items() if one.get("failed")},
        organises=organises,
        cluster=stage_rows(jobs.stages(contest, submission)) if organises else [],
        notice=next((one.notice for one in jobs.of(contest, submission)[::-1] if one.notice), "") if organises else "",
    )


@dataclass(frozen=True)
class HandedIn:
    """One file of a team, as a page shows it.

    Attributes
    ----------
    state
        ``waiting``, ``running``, ``valid``, ``invalid`` or ``refunded``.
    words
        The state in words: the place in the queue, the checker's answer in brief, why a try was given back.
    verdict
        What the judgement says of a release by what the house found.
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


def handed_in(visit: Visit, known: Submission) -> HandedIn:
    """Return what somebody may see of a file."""
    contest, described = visit.contest, visit.described(known)
    shown, report = described.shown, described.report
    if known.refunded is not None:
        state, words = "refunded", _("A fault of ours; it cost no try: {reason}").format(reason=_(known.refunded))
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
    # what the judgement says given what the house found; nothing where the rules keep it back
    is_judged = known.kind == "release" and shown.house and (known.judged or {}).get("facts")
    measured = shown.values or {}
    return HandedIn(
        described,
        state,
        words,
        values_of(contest.rulebook, measured),
        contest.rulebook.score(measured) if known.kind == "release" and measured else None,
        verdict_on(contest, known, (), called=(), house=True) if is_judged else None,
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
