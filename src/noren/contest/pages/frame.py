"""The frame of the arena's pages: its rail by who looks, and the contest that a page is about.

What pages say of a contest is here as well: what is open, until when, by which rules, what the log says.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from noren.contest.dependencies import ArenaService, contest_service, entrance_of
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.phases import Phase, get_time_zone, open_phases
from noren.contest.rulebook import Rulebook
from noren.contest.service import NOBODY, ArenaIdentity, ContestAccess
from noren.contest.state import Contest, ContestSettings
from noren.errors import NorenError
from noren.i18n import N_, _
from noren.judgement.numbers import count, number, percent, size
from noren.judgement.sentences import rule_sentence
from noren.tables import Texts
from noren.web.frame import Frame, RailEntry

say = Texts(__name__)
_FIRST = (
    PhaseKind.PROTECT,
    PhaseKind.ATTACK,
    PhaseKind.RESULTS,
    PhaseKind.REGISTRATION,
    PhaseKind.EVALUATION,
    PhaseKind.BREAK,
)


# --- time ------------------------------------------------------------------------------------------------------------


def shown_time(moment: str, zone: str) -> str:
    """Return a moment as a clock in a time zone shows it.

    >>> shown_time("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026/04/01 09:00 (Asia/Tokyo)'
    """
    there = dt.datetime.fromisoformat(moment).astimezone(get_time_zone(zone))
    seconds = f":{there:%S}" if there.second else ""
    return f"{there:%Y/%m/%d %H:%M}{seconds} ({zone})"  # a line never breaks within a date with slashes


def left(moment: str, now: str) -> str:
    """Return how long it is until a moment, in the largest unit that says something.

    >>> left("2026-04-03T00:00:00+00:00", "2026-04-01T00:00:00+00:00")
    'in 2 days'
    """
    seconds = (dt.datetime.fromisoformat(moment) - dt.datetime.fromisoformat(now)).total_seconds()
    if seconds < 0:
        return say("left.over")
    if seconds >= 2 * 86_400:
        return say("left.days", int(seconds // 86_400), count=count(int(seconds // 86_400)))
    if seconds >= 2 * 3600:
        return say("left.hours", int(seconds // 3600), count=int(seconds // 3600))
    minutes = max(1, round(seconds / 60))
    return say("left.minutes", minutes, count=minutes)


def duration(seconds: float) -> str:
    """Return how long something takes.

    >>> duration(42), duration(180)
    ('42 seconds', '3 minutes')
    """
    if seconds < 100:
        whole = max(1, round(seconds))
        return say("duration.seconds", whole, count=whole)
    minutes = round(seconds / 60)
    return say("duration.minutes", minutes, count=count(minutes))


def finding_now(contest: Contest, now: str) -> str:
    """Return what is open in a contest now, as a sentence: the title of its pages."""
    zone = contest.settings.zone
    if contest.paused is not None:
        return say("now.paused", reason=contest.paused)
    open_ = sorted(open_phases(contest.phases, now), key=lambda one: _FIRST.index(one.kind))
    if open_:
        kind, closes = open_[0].kind, open_[0].closes
        if closes is None:
            return say(f"open_for_good.{kind}")
        return say(f"open.{kind}", moment=shown_time(closes, zone), left=left(closes, now))
    coming = [one for one in contest.phases if one.opens > now]
    if not coming:
        return say("now.over")
    first = min(coming, key=lambda one: one.opens)
    return say("now.next", phase=phase_words(first), moment=shown_time(first.opens, zone), left=left(first.opens, now))


def round_words(name: str) -> str:
    """Return what a round is called.

    >>> round_words("final"), round_words("third")
    ('final round', 'round third')
    """
    return say(f"round.{name}") if name in ("preliminary", "final") else say("round.other", name=name)


def played_rounds(contest: Contest) -> list[str]:
    """Return the rounds of a contest in the order in which they begin."""
    begun = {one.round: one.opens for one in reversed(contest.phases) if one.round}  # the first phase of each stays
    return sorted(contest.rounds, key=lambda name: (begun.get(name, ""), name))


def phase_words(phase: Phase) -> str:
    """Return what a phase is called."""
    return f"{round_words(phase.round)} · {phase.kind.words}" if phase.round and not phase.title else phase.words


# --- rules -----------------------------------------------------------------------------------------------------------


def rules(book: Rulebook, settings: ContestSettings) -> dict[str, Any]:
    """Return a rulebook in words: terms, conditions, and sentences under headings."""
    terms, conditions = [], []
    for term in book.terms:
        part = " × (1 − x)" if book.measured[term.key][0].goal == "higher" else ""
        terms.append(_line(book, term.key, percent(term.weight) + part))
    for one in book.conditions:
        bound, limit = ("least", one.least or 0.0) if one.most is None else ("most", one.most)
        limit_words = say(f"limit.{bound}", limit=number(limit))
        more = ", ".join(f"{name} = {value}" for name, value in one.parameters.items())
        conditions.append(_line(book, one.key, f"{limit_words} ({more})" if more else limit_words))
    attacks = ", ".join(one.key for one in book.baseline.attacks)
    return {
        "terms": terms,
        "conditions": conditions,
        "otherwise": say(f"otherwise.{book.otherwise}") if book.conditions else "",
        "playing": [
            say("playing.members", settings.team_size, count=count(settings.team_size)),
            say(f"counting.{settings.counting}"),
            say("playing.quota", releases=count(book.quota.releases), guesses=count(book.quota.guesses)),
            say("playing.files", files=count(book.quota.files_per_day)),
            say(f"outcome.{book.outcome}"),
            say("playing.names_hidden" if settings.names_hidden else "playing.names_shown"),
            *([say("playing.inserted_rows")] if book.inserted_rows else []),
            *([say("playing.exact_values")] if book.exact_values else []),
        ],
        "baseline": say("baseline.counts" if book.baseline.counts else "baseline.told", names=attacks)
        if attacks
        else say("baseline.none"),
        "verdict": rule_sentence(book.judged_by),
    }


def _line(book: Rulebook, key: str, part: str) -> dict[str, Any]:
    """Return a measure of the rules: its share of the score or its limit, and what it says."""
    measure = book.measured[key][0]
    direction = "higher" if measure.goal == "higher" else "lower"
    said = {"meaning": _(measure.summary), "unit": _(measure.unit), "direction": direction}
    return {"name": key, "part": part, "by_attacks": "guess" in measure.needs} | said


# --- waiting ---------------------------------------------------------------------------------------------------------


def waiting_words(before: int, seconds: tuple[float, float] | None) -> str:
    """Return a place in the queue and how long it may take, as far as anybody knows."""
    place = say("waiting.next") if before == 0 else say("waiting.before", before, count=count(before))
    if seconds is None:
        return say("waiting.unknown", place=place)
    least, most = (duration(one) for one in seconds)
    return say("waiting.about" if least == most else "waiting.range", place=place, least=least, most=most)


# --- the log ---------------------------------------------------------------------------------------------------------


def log_words(contest: Contest, kind: str, body: Mapping[str, Any]) -> str:
    """Return what an entry of the log says."""
    team = contest.teams.get(str(body.get("team", "")))
    both = list(body.get("submissions", ("", "")))
    said = {
        "team": team.name if team else body.get("team", ""),
        "name": body.get("name", ""),
        "member": body.get("member", ""),
        "reason": _(str(body["reason"])) if kind == "refunded" else body.get("reason", ""),
        "submission": body.get("submission") or both[0],
        "other": both[-1],
        "share": percent(float(body.get("share", 0.0))),
        "target": body.get("target", ""),
        "round": round_words(str(body.get("round", ""))),
        "scorer": body.get("scorer", ""),
        "digest": str(body.get("digest", ""))[:12],
        "outcome": say("valid" if body.get("valid") else "invalid"),
    }
    return say(f"log.{kind}", **said)


# --- the frame --------------------------------------------------------------------------------------------------------

FRAME = Frame("noren.contest", home=N_("To the contests"))
FRAME.surroundings.globals |= {
    "shown_time": shown_time,
    "left": left,
    "size": size,
    "kind_sentence": lambda phase: say(f"phase.{phase.kind}"),
    "phase_words": phase_words,
    "round_words": round_words,
    "played_rounds": played_rounds,
    "round_title": lambda name: round_words(name)[:1].upper() + round_words(name)[1:],
}

_HOME = RailEntry("contests", N_("Contests"), "/", "curtain")
_OVERVIEW = RailEntry("overview", N_("Rules"), "/contests/{contest}", "book")
_BOARD = RailEntry("board", N_("Board"), "/contests/{contest}/board", "map")
_RESULTS = RailEntry("results", N_("Results"), "/contests/{contest}/results", "cup")
_TEAM = RailEntry("team", N_("Team"), "/contests/{contest}/team", "person")
_PROTECT = RailEntry("protect", N_("Protect"), "/contests/{contest}/protect", "shield")
_ATTACK = RailEntry("attack", N_("Attack"), "/contests/{contest}/attack", "eye")
_ORGANISE = RailEntry("organise", N_("Organise"), "/contests/{contest}/organise", "table")
_RAILS = {
    ContestRole.VISITOR: (_HOME, _OVERVIEW, _BOARD, _TEAM),
    ContestRole.MEMBER: (_HOME, _OVERVIEW, _PROTECT, _ATTACK, _BOARD, _TEAM),
    ContestRole.ORGANISER: (_HOME, _OVERVIEW, _BOARD, _ORGANISE),
}


def asker(request: Request) -> ArenaIdentity:
    """Return who asks for a page: whoever is logged in by its browser."""
    if not hasattr(request.state, "who"):
        request.state.who = entrance_of(request).who(request.state.session)
    who: ArenaIdentity = request.state.who
    return who


Asker = Annotated[ArenaIdentity, Depends(asker)]


class LoginNeededError(Exception):
    """A page for people with an account, asked for by nobody in particular: they are sent to where people log in."""


def _person(who: Asker) -> ArenaIdentity:
    if who.account is None:
        raise LoginNeededError
    return who


Person = Annotated[ArenaIdentity, Depends(_person)]
"""The account that is logged in."""


def _visited(contest: str, who: Asker, service: ArenaService) -> ContestAccess:
    return service.visit(who, contest)


def _visited_by_person(contest: str, who: Person, service: ArenaService) -> ContestAccess:
    return service.visit(who, contest)


Visited = Annotated[ContestAccess, Depends(_visited)]
VisitedByPerson = Annotated[ContestAccess, Depends(_visited_by_person)]


def page(
    request: Request,
    template: str,
    *,
    title: str,
    place: str,
    visit: ContestAccess | None = None,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page of the arena (:meth:`noren.web.frame.Frame.page`)."""
    arena = contest_service(request).arena
    is_well = status < 500  # else the database may be away
    who, now = (asker(request), arena.now()) if is_well else (NOBODY, "")
    contest = None if visit is None else visit.contest
    role = ContestRole.VISITOR if visit is None else visit.role
    places = (_HOME,) if contest is None else _RAILS[role]
    if contest is not None and contest.has_results(now):
        places = (*places, _RESULTS)
    return FRAME.page(
        request,
        template,
        title=title,
        place=place,
        rail=[one.filled(contest=contest.id if contest else "") for one in places],
        status=status,
        contest=contest,
        who=who,
        role=str(role),
        now=now,
        zone=contest.settings.zone if contest else "UTC",
        rehearsal=arena.rehearsal,
        **context,
    )


def to_page(contest: Contest, name: str) -> Response:
    """Send somebody to a page of a contest."""
    return RedirectResponse(f"/contests/{contest.id}/{name}", 303)


def status_of(error: NorenError) -> int:
    """Return the status of a page that says what cannot be."""
    return int(getattr(error, "status", 422))
