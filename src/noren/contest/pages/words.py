"""What pages say of a contest: what is open, until when, by which rules, what the log says."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noren.contest.phases import Phase, PhaseKind, open_phases, zone_named
from noren.contest.rulebook import Condition, Rulebook, Term
from noren.contest.state import Contest, Settings
from noren.i18n import N_, _, ngettext
from noren.judgement.numbers import count, number, percent
from noren.judgement.sentences import rule_sentence
from noren.protocols import Measure

__all__ = [
    "RuleLine",
    "duration",
    "finding_now",
    "kind_sentence",
    "left",
    "log_words",
    "phase_words",
    "played_rounds",
    "round_words",
    "rules",
    "shown_time",
    "waiting_words",
]

_OPEN = {
    PhaseKind.REGISTRATION: N_("Teams may register until {moment} ({left})"),
    PhaseKind.PROTECT: N_("Releases may be handed in until {moment} ({left})"),
    PhaseKind.ATTACK: N_("The releases may be attacked until {moment} ({left})"),
    PhaseKind.BREAK: N_("There is a break until {moment} ({left})"),
    PhaseKind.EVALUATION: N_("The judges are at work until {moment} ({left})"),
    PhaseKind.RESULTS: N_("The results are shown until {moment} ({left})"),
}
_OPEN_FOR_GOOD = {
    PhaseKind.REGISTRATION: N_("Teams may register"),
    PhaseKind.BREAK: N_("There is a break"),
    PhaseKind.EVALUATION: N_("The judges are at work"),
    PhaseKind.RESULTS: N_("The results are open"),
}
_SENTENCES = {
    PhaseKind.REGISTRATION: N_("Teams are founded, and people join them by their codes."),
    PhaseKind.PROTECT: N_("Teams get the data, and hand in releases of them."),
    PhaseKind.ATTACK: N_("Teams get the releases of the others without names, and hand in whom they recognise."),
    PhaseKind.BREAK: N_("Nothing is handed in."),
    PhaseKind.EVALUATION: N_("What was handed in is judged to its end."),
    PhaseKind.RESULTS: N_("Names, scores, lots and the log are open to everybody who sees the contest."),
}
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
    there = dt.datetime.fromisoformat(moment).astimezone(zone_named(zone))
    seconds = f":{there:%S}" if there.second else ""
    return f"{there:%Y/%m/%d %H:%M}{seconds} ({zone})"  # a line never breaks within a date with slashes


def left(moment: str, now: str) -> str:
    """Return how long it is until a moment, in the largest unit that says something.

    >>> left("2026-04-03T00:00:00+00:00", "2026-04-01T00:00:00+00:00")
    'in 2 days'
    """
    seconds = (dt.datetime.fromisoformat(moment) - dt.datetime.fromisoformat(now)).total_seconds()
    if seconds < 0:
        return _("over")
    if seconds >= 2 * 86_400:
        return ngettext("in {count} day", "in {count} days", int(seconds // 86_400)).format(
            count=count(int(seconds // 86_400))
        )
    if seconds >= 2 * 3600:
        return ngettext("in {count} hour", "in {count} hours", int(seconds // 3600)).format(count=int(seconds // 3600))
    minutes = max(1, round(seconds / 60))
    return ngettext("in {count} minute", "in {count} minutes", minutes).format(count=minutes)


def duration(seconds: float) -> str:
    """Return how long something takes.

    >>> duration(42), duration(180)
    ('42 seconds', '3 minutes')
    """
    if seconds < 100:
        whole = max(1, round(seconds))
        return ngettext("{count} second", "{count} seconds", whole).format(count=whole)
    minutes = round(seconds / 60)
    return ngettext("{count} minute", "{count} minutes", minutes).format(count=count(minutes))


def finding_now(contest: Contest, now: str) -> str:
    """Return what is open in a contest now, as a sentence: the title of its pages."""
    zone = contest.settings.zone
    if contest.paused is not None:
        return _("The contest is paused: {reason}").format(reason=contest.paused)
    open_ = sorted(open_phases(contest.phases, now), key=lambda one: _FIRST.index(one.kind))
    if open_:
        return _open_sentence(open_[0], now, zone)
    coming = [one for one in contest.phases if one.opens > now]
    if not coming:
        return _("The contest is over")
    first = min(coming, key=lambda one: one.opens)
    return _("Nothing is open now; next is {phase}, from {moment} ({left})").format(
        phase=phase_words(first), moment=shown_time(first.opens, zone), left=left(first.opens, now)
    )


def _open_sentence(phase: Phase, now: str, zone: str) -> str:
    if phase.closes is None:
        return _(_OPEN_FOR_GOOD[phase.kind])
    return _(_OPEN[phase.kind]).format(moment=shown_time(phase.closes, zone), left=left(phase.closes, now))


def round_words(name: str) -> str:
    """Return what a round is called.

    >>> round_words("final"), round_words("third")
    ('final round', 'round third')
    """
    known = {"preliminary": _("preliminary round"), "final": _("final round")}
    return known.get(name) or _("round {name}").format(name=name)


def played_rounds(contest: Contest) -> list[str]:
    """Return the rounds of a contest in the order in which they begin."""
    begun = {one.round: one.opens for one in reversed(contest.phases) if one.round}  # the first phase of each stays
    return sorted(contest.rounds, key=lambda name: (begun.get(name, ""), name))


def phase_words(phase: Phase) -> str:
    """Return what a phase is called."""
    return f"{round_words(phase.round)} · {phase.kind.words}" if phase.round and not phase.title else phase.words


def kind_sentence(phase: Phase) -> str:
    """Return what a phase is for."""
    return _(_SENTENCES[phase.kind])


# --- rules -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuleLine:
    """A measure of the rules: its share of the score or its limit, and what it says."""

    name: str
    part: str
    meaning: str
    unit: str
    direction: str
    by_attacks: bool


def rules(book: Rulebook, settings: Settings) -> dict[str, Any]:
    """Return a rulebook in words: terms, conditions, and sentences under headings."""
    return {
        "terms": [_term(book, one) for one in book.terms],
        "conditions": [_condition(book, one) for one in book.conditions],
        "otherwise": _otherwise(book),
        "playing": _playing(book, settings),
        "house": _house(book),
        "verdict": rule_sentence(book.judged_by),
    }


def _term(book: Rulebook, term: Term) -> RuleLine:
    measure = book.measured[term.key][0]
    higher = measure.goal == "higher"
    share = percent(term.weight) + (" × (1 − x)" if higher else "")
    return _line(term.key, measure, share)


def _condition(book: Rulebook, one: Condition) -> RuleLine:
    limit = (
        _("at most {limit}").format(limit=number(one.most))
        if one.most is not None
        else _("at least {limit}").format(limit=number(one.least or 0.0))
    )
    more = ", ".join(f"{name} = {value}" for name, value in one.parameters.items())
    return _line(one.key, book.measured[one.key][0], f"{limit} ({more})" if more else limit)


def _line(key: str, measure: Measure, part: str) -> RuleLine:
    direction = "higher" if measure.goal == "higher" else "lower"
    return RuleLine(key, part, _(measure.summary), _(measure.unit), direction, "guess" in measure.needs)


def _otherwise(book: Rulebook) -> str:
    if not book.conditions:
        return ""
    if book.otherwise == "after":
        return _("A release that breaks a condition is ranked after all that keep them.")
    return _("A release that breaks a condition has no rank.")


def _playing(book: Rulebook, settings: Settings) -> list[str]:
    counting = (
        _("Of a team's releases the one that it chooses counts; until it does, the last valid one.")
        if settings.counting == "chosen"
        else _("Of a team's releases the last valid one counts.")
    )
    outcome = {
        "valid": _("Before the results an attacker learns only that a guess is valid."),
        "effect": _("Before the results an attacker learns of a guess whether it breaks a condition."),
        "counts": _("An attacker learns at once how many names of a guess are right."),
    }[book.outcome]
    return [
        ngettext(
            "A team has up to {count} member; one person is in one team.",
            "A team has up to {count} members; one person is in one team.",
            settings.team_size,
        ).format(count=count(settings.team_size)),
        counting,
        _(
            "A team may hand in {releases} valid releases in a phase, and {guesses} valid guesses against a target."
        ).format(releases=count(book.quota.releases), guesses=count(book.quota.guesses)),
        _("Invalid files, and what fails by a fault of ours, cost no try; {files} files a day are the most.").format(
            files=count(book.quota.files_a_day)
        ),
        outcome,
        _("Names of teams stand on no target before the results; rows, pseudonyms and numbers are in an order by lot.")
        if settings.names_hidden
        else _("Rows, pseudonyms and numbers of targets are in an order by lot."),
        *(
            [_("Rows that stand for no original row may follow the others (pseudo records).")]
            if book.inserted_rows
            else []
        ),
        *([_("Cells are exact values, no sets or intervals.")] if book.exact_values else []),
    ]


def _house(book: Rulebook) -> str:
    if not book.house.attacks:
        return _("The house attacks nothing itself.")
    names = ", ".join(one.key for one in book.house.attacks)
    counts = (
        _("The house attacks every release by {names}; what it finds counts as what teams find.")
        if book.house.counts
        else _("The house attacks every release by {names}; what it finds is told, and does not count.")
    )
    return counts.format(names=names)


# --- waiting ---------------------------------------------------------------------------------------------------------


def waiting_words(before: int, seconds: tuple[float, float] | None) -> str:
    """Return a place in the queue and how long it may take, as far as anybody knows."""
    place = (
        _("It is the next one.")
        if before == 0
        else ngettext("{count} file is before it.", "{count} files are before it.", before).format(count=count(before))
    )
    if seconds is None:
        return _("{place} How long it takes is not known yet.").format(place=place)
    least, most = (duration(one) for one in seconds)
    if least == most:
        return _("{place} By what the last ones took, it takes about {most}.").format(place=place, most=most)
    return _("{place} By what the last ones took, it takes {least} to {most}.").format(
        place=place, least=least, most=most
    )


# --- the log ---------------------------------------------------------------------------------------------------------

_KINDS = {
    "created": N_("The contest was created."),
    "rescheduled": N_("Times were changed: {reason}"),
    "paused": N_("The contest was paused: {reason}"),
    "resumed": N_("The contest goes on."),
    "settings-changed": N_("Settings were changed: {reason}"),
    "invited": N_("A team was invited."),
    "registered": N_("The team {name} was founded."),
    "joined": N_("{member} joined the team {team}."),
    "left": N_("A member left the team {team}."),
    "code-changed": N_("The team {team} has another code."),
    "release-received": N_("The release {submission} of {team} was received."),
    "release-judged": N_("The release {submission} was judged: {outcome}."),
    "release-chosen": N_("{team} chose the release {submission}."),
    "targets-published": N_("The targets of the {round} were handed out."),
    "guess-received": N_("The guess {submission} of {team} against target {target} was received."),
    "guess-judged": N_("The guess {submission} was judged: {outcome}."),
    "refunded": N_("The try {submission} was given back: {reason}"),
    "flagged": N_("{submission} and {other} agree in {share}."),
    "rescored": N_("All is judged again by {scorer}: {reason}"),
    "disqualified": N_("The team {team} was disqualified: {reason}"),
    "reinstated": N_("The team {team} is back: {reason}"),
    "revealed": N_("The lots were revealed."),
    "results": N_("The results were published: {digest}"),
}


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
        "outcome": _("valid") if body.get("valid") else _("invalid"),
    }
    return _(_KINDS.get(kind, kind)).format(**said)
