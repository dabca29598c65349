"""Layout of the arena's pages (navigation by role), and texts about a contest: schedule, rules and log entries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from noren.contest.actions import too_large
from noren.contest.dependencies import ArenaService, authentication_of, contest_service
from noren.contest.kinds import ContestRole, PhaseKind
from noren.contest.phases import get_time_zone, open_phases, round_label
from noren.contest.results import condition_sentence
from noren.contest.rulebook import Rulebook
from noren.contest.service import NOBODY, ArenaIdentity, ContestAccess
from noren.contest.state import Contest, ContestSettings
from noren.i18n import N_, _
from noren.judgement.numbers import count, number, percent, size
from noren.judgement.sentences import rule_sentence
from noren.tables import Texts, table_of
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


def local_moment(moment: str, zone: str) -> str:
    """Return a moment as a clock in a time zone shows it.

    >>> local_moment("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026/04/01 09:00 (Asia/Tokyo)'
    """
    there = dt.datetime.fromisoformat(moment).astimezone(get_time_zone(zone))
    seconds = f":{there:%S}" if there.second else ""
    return f"{there:%Y/%m/%d %H:%M}{seconds} ({zone})"  # a line never breaks within a date with slashes


def local_time(moment_: str | None, zone: str) -> str:
    """Return a moment as a field of a form holds it.

    >>> local_time("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026-04-01T09:00'
    """
    if moment_ is None:
        return ""
    return f"{dt.datetime.fromisoformat(moment_).astimezone(get_time_zone(zone)):%Y-%m-%dT%H:%M}"


def left(moment: str, now: str) -> str:
    """Return how long it is until a moment, in the largest unit that says something.

    >>> left("2026-04-03T00:00:00+00:00", "2026-04-01T00:00:00+00:00")
    'in 2 days'
    """
    seconds = (dt.datetime.fromisoformat(moment) - dt.datetime.fromisoformat(now)).total_seconds()
    if seconds < 0:
        return say("left.over")
    for unit, length in (("days", 86_400), ("hours", 3600)):
        if seconds >= 2 * length:
            return say(f"left.{unit}", int(seconds // length), count=count(int(seconds // length)))
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


def current_phase(contest: Contest, now: str) -> str:
    """Return which phase is open now, as a sentence: the headline of pages."""
    zone = contest.settings.zone
    if contest.paused is not None:
        return say("now.paused", reason=contest.paused)
    open_ = sorted(open_phases(contest.phases, now), key=lambda phase: _FIRST.index(phase.kind))
    if open_:
        if open_[0].kind == PhaseKind.RESULTS:
            return say("now.results")
        label, closes = open_[0].label, open_[0].closes
        if closes is None:
            return say("now.open", phase=label)
        return say("now.closes", phase=label, moment=local_moment(closes, zone), left=left(closes, now))
    coming = [phase for phase in contest.phases if phase.opens > now]
    if not coming:
        return say("now.over")
    first = min(coming, key=lambda phase: phase.opens)
    return say("now.next", phase=first.label, moment=local_moment(first.opens, zone), left=left(first.opens, now))


def played_rounds(contest: Contest) -> list[str]:
    """Return the rounds of a contest in the order in which they begin."""
    begun = {phase.round: phase.opens for phase in reversed(contest.phases) if phase.round}  # keeps the first phase
    return sorted(contest.rounds, key=lambda name: (begun.get(name, ""), name))


def rules(book: Rulebook, settings: ContestSettings) -> dict[str, Any]:
    """Return a rulebook in words: terms, conditions, and sentences under headings."""
    terms, conditions = [], []
    for term in book.terms:
        part = " × (1 − x)" if book.measured[term.key][0].goal == "higher" else ""
        terms.append(_line(book, term.key, percent(term.weight) + part))
    for condition in book.conditions:
        limit = f"≥ {number(condition.least or 0.0)}" if condition.most is None else f"≤ {number(condition.most)}"
        parameters = ", ".join(f"{name} = {value}" for name, value in condition.parameters.items())
        conditions.append(_line(book, condition.key, f"{limit} ({parameters})" if parameters else limit))
    attacks = ", ".join(attack.key for attack in book.baseline.attacks)
    baseline = say("baseline.counts" if book.baseline.counts else "baseline.reported", names=attacks)
    return {
        "terms": terms,
        "conditions": conditions,
        "otherwise": condition_sentence(book) if book.conditions else "",
        "playing": [
            say("playing.members", count=count(settings.team_size)),
            *([say("playing.most_teams", count=count(settings.most_teams))] if settings.most_teams else []),
            say(f"counting.{settings.counting}"),
            say("playing.quota", releases=count(book.quota.releases), guesses=count(book.quota.guesses)),
            say("playing.files", files=count(book.quota.files_per_day)),
            say(f"outcome.{book.outcome}"),
            say("playing.random_order"),
            *([say("playing.names_hidden")] if settings.names_hidden else []),
            *([say("playing.inserted_rows")] if book.inserted_rows else []),
            *([say("playing.exact_values")] if book.exact_values else []),
            *([baseline] if attacks else []),
        ],
        "verdict": rule_sentence(book.judged_by()),
    }


def _line(book: Rulebook, key: str, part: str) -> dict[str, Any]:
    """Return a measure of the rules: its weight or its limit, and its meaning."""
    measure = book.measured[key][0]
    direction = "higher" if measure.goal == "higher" else "lower"
    texts = {"meaning": _(measure.summary), "unit": _(measure.unit), "direction": direction}
    return {"name": key, "part": part, "by_attacks": "guess" in measure.needs} | texts


def waiting_text(before: int, seconds: tuple[float, float] | None) -> str:
    """Return the position in the queue and the estimated time, if there is an estimate."""
    position = count(before + 1)
    if seconds is None:
        return say("waiting.position", position=position)
    times = dict.fromkeys(duration(bound) for bound in seconds)
    return say("waiting.estimate", position=position, time=" – ".join(times))


def entry_text(contest: Contest, kind: str, body: Mapping[str, Any]) -> str:
    """Return an entry of the log as a sentence."""
    team = contest.teams.get(str(body.get("team", "")))
    both = list(body.get("submissions", ("", "")))
    values = {
        **body,
        "team": team.name if team else body.get("team", ""),
        "reason": _(str(body["reason"])) if kind == "refunded" else body.get("reason", ""),
        "submission": body.get("submission") or both[0],
        "other": both[-1],
        "share": percent(float(body.get("share", 0.0))),
        "round": round_label(str(body.get("round", ""))),
        "digest": str(body.get("digest", ""))[:12],
        "outcome": say("valid" if body.get("valid") else "invalid"),
    }
    return say(f"log.{kind}", **values)


def actor_name(contest: Contest, actor: str) -> str:
    """Return who made an entry of the log: a person's or a team's name, judge or clock."""
    kind, _colon, ident = actor.partition(":")
    members = {account: member.name for team in contest.teams.values() for account, member in team.members.items()}
    names = members | {team.id: team.name for team in contest.teams.values()} | contest.organisers
    return f"{names[ident]} ({say(f'actor.{kind}')})" if names.get(ident) else actor


# --- the frame --------------------------------------------------------------------------------------------------------

FRAME = Frame("noren.contest", home=N_("Contests"))
_DESCRIBED = (PhaseKind.PROTECT, PhaseKind.ATTACK, PhaseKind.RESULTS)
FRAME.surroundings.globals |= {
    "local_moment": local_moment,
    "left": left,
    "size": size,
    "phase_text": lambda phase: say(f"phase.{phase.kind}") if phase.kind in _DESCRIBED else "–",
    "round_label": round_label,
    "outcome_text": lambda book: say(f"outcome.{book.outcome}"),
    "counting_options": lambda: [(name, say(f"counting.{name}")) for name in ("last", "chosen")],
    "played_rounds": played_rounds,
    "too_large": too_large,
}

_RAIL = table_of("noren.contest.pages.rail")
"""The entries of the rail in order, each with the roles that see it; results are for all once they are published."""


def page_identity(request: Request) -> ArenaIdentity:
    """Return who asks for a page: the user whom the browser has logged in."""
    if not hasattr(request.state, "who"):
        request.state.who = authentication_of(request).who(request.state.session)
    who: ArenaIdentity = request.state.who
    return who


PageIdentity = Annotated[ArenaIdentity, Depends(page_identity)]


class LoginNeededError(Exception):
    """A page for people with an account, asked for by nobody in particular: they are sent to where people log in."""


def _person(who: PageIdentity) -> ArenaIdentity:
    if who.account is None:
        raise LoginNeededError
    return who


Person = Annotated[ArenaIdentity, Depends(_person)]
"""The account that is logged in."""


def _visited(contest: str, who: PageIdentity, service: ArenaService) -> ContestAccess:
    return service.visit(who, contest)


def _visited_by_person(contest: str, who: Person, service: ArenaService) -> ContestAccess:
    return service.visit(who, contest)


async def _fields(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.form()).items()}


Fields = Annotated[dict[str, str], Depends(_fields)]
"""The texts of a form."""
Visited = Annotated[ContestAccess, Depends(_visited)]
VisitedByPerson = Annotated[ContestAccess, Depends(_visited_by_person)]


def page(
    request: Request, template: str, *, visit: ContestAccess | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """Render a page of the arena (:meth:`noren.web.frame.Frame.page`)."""
    arena = contest_service(request).arena
    is_well = status < 500  # else the database may be away
    who, now = (page_identity(request), arena.now()) if is_well else (NOBODY, "")
    contest = None if visit is None else visit.contest
    role = ContestRole.VISITOR if visit is None else visit.role
    names = ["contests"] if contest is None else [key for key, entry in _RAIL.items() if str(role) in entry["seen_by"]]
    if contest is not None and contest.has_results(now):
        names.append("results")
    entries = [RailEntry(key, **_RAIL[key]["entry"]) for key in names]
    return FRAME.page(
        request,
        template,
        rail=[entry.filled(contest=contest.id if contest else "") for entry in entries],
        status=status,
        contest=contest,
        own=None if visit is None else visit.own,
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
