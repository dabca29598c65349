"""What a team handed in, as its pages show it: how far the judge is, the checker's answer, what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noren.contest.desk import Desk, Place, Who
from noren.contest.pages.words import waiting_words
from noren.contest.rulebook import Rulebook
from noren.contest.standings import verdict_on
from noren.contest.state import Contest, Submission
from noren.i18n import _, active_language
from noren.judgement.numbers import number
from noren.judgement.verdict import Verdict

__all__ = ["HandedIn", "Value", "handed_in", "values_of"]


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
    state = _state(submission, place)
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
        _verdict(contest, submission, shown),
    )


def _verdict(contest: Contest, submission: Submission, shown: Mapping[str, Any]) -> Verdict | None:
    """Return what the judgement says of a release, given what the house found; nothing where the rules keep it back."""
    if submission.kind != "release" or not shown.get("house") or not (submission.judged or {}).get("facts"):
        return None
    return verdict_on(contest, submission, (), called=(), house=True)


def _state(submission: Submission, place: Place) -> str:
    if submission.refunded is not None:
        return "refunded"
    if submission.valid is not None:
        return "valid" if submission.valid else "invalid"
    return "running" if place.state == "running" else "waiting"


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
