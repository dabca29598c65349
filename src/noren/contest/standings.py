"""The leaderboard of a round, as the log tells it: who stands where, by which values, and who has no rank and why.

Live boards show how the contest stands now; a frozen one is the fold of the entries before the moment it froze, so it
cannot move; the final one counts everything. Before the attack phases of a round are over, values that judge attacks
are those found so far, as far as the rules let anybody know them, and the board says so.

The attack matrix says who broke whom: every team's best guess against every other team's release. Of several guesses of
a team against one release the most damaging counts, as the judgement orders them. A share of right names far below
chance is not a failure: whoever turns such an attack around learns something. It is told only where chance cannot
explain it in any cell of the table (Clopper and Pearson's interval, its error shared by all cells).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from noren.contest.kinds import PhaseKind
from noren.contest.rulebook import Rulebook
from noren.contest.state import Contest, Submission, Team
from noren.i18n import _
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.judging import judge
from noren.judgement.verdict import AttackEvidence, Verdict
from noren.kernels.judging.shares import share_interval
from noren.tables import Texts

say = Texts(__name__)
BoardKind = Literal["live", "frozen", "final"]


class Status(StrEnum):
    """Whether a team has a rank, and if not why."""

    RANKED = "ranked"
    DISQUALIFIED = "disqualified"
    NOTHING = "nothing"
    WAITING = "waiting"
    INVALID = "invalid"
    UNSCORED = "unscored"
    CONDITION = "condition"

    @property
    def words(self) -> str:
        """Why a team has no rank, in the language now spoken; nothing where it has one."""
        return "" if self == Status.RANKED else say(f"status.{self}")


@dataclass(frozen=True)
class Standing:
    """How one team stands.

    Attributes
    ----------
    submission
        The release that counts.
    rank
        Its place, shared by equals; None where it has none, ``status`` and ``reason`` saying why.
    terms
        The ``measure``, ``weight`` and ``value`` of each term of the score.
    values
        All that was measured: of attacks the worst.
    broken
        The conditions that it does not keep.
    attackers, effective
        How many teams attacked it by a valid guess, and how many of them broke a condition, or exceed what the
        judgement allows where no condition looks at attacks.
    verdict
        What the one judgement says of the release.
    """

    team: str
    name: str
    number: int
    status: Status
    reason: str = ""
    rank: int | None = None
    submission: str | None = None
    score: float | None = None
    terms: tuple[Mapping[str, Any], ...] = ()
    values: Mapping[str, float] | None = None
    broken: tuple[str, ...] = ()
    attackers: int = 0
    effective: int = 0
    verdict: Verdict | None = None

    @property
    def why(self) -> str:
        """Why it has no rank, in the language now spoken."""
        said = self.status.words
        return f"{said}: {self.reason}" if said and self.reason else said

    def as_dict(self) -> dict[str, Any]:
        """Return the standing as plain data."""
        found = self.verdict
        return vars(self) | {
            "status": str(self.status),
            "terms": list(self.terms),
            "values": dict(self.values or {}),
            "broken": list(self.broken),
            "verdict": None if found is None else str(found.status),
            "sentence": None if found is None else found.sentence,
        }


@dataclass(frozen=True)
class Board:
    """The leaderboard of a round at a moment.

    Attributes
    ----------
    at
        The moment it shows.
    attacks_over
        Whether all attacks are in; before, what attacks found is what is known so far.
    withheld
        Whether the rules keep back some of what attacks found until then.
    """

    round: str
    kind: BoardKind
    at: str
    attacks_over: bool
    withheld: bool
    standings: tuple[Standing, ...]

    @property
    def note(self) -> str:
        """What the board does not tell yet, in the language now spoken."""
        if self.attacks_over:
            return ""
        return say("note.withheld" if self.withheld else "note.so_far")

    def as_dict(self) -> dict[str, Any]:
        """Return the board as plain data."""
        return vars(self) | {"standings": [one.as_dict() for one in self.standings]}


# --- boards ----------------------------------------------------------------------------------------------------------


def board(contest: Contest, round_: str, now: str, *, kind: BoardKind = "live", everything: bool = False) -> Board:
    """Return the board of a round as a contest stands; who is ranked comes first."""
    attacks = [one for one in contest.phases if one.kind == PhaseKind.ATTACK and one.round == round_]
    over = kind == "final" or all(one.is_over(now) for one in attacks)
    # a row that moves when one hands in a guess would tell whose release the target is
    told: _Shown = "valid" if contest.settings.names_hidden else contest.rulebook.outcome
    shown: _Shown = "all" if over or everything else told
    found = [_standing(contest, team, round_, shown, final=kind == "final") for team in contest.teams.values()]
    keys = [
        (bool(one.broken), one.score) if one.status == Status.RANKED and one.score is not None else None
        for one in found
    ]
    placed = [replace(one, rank=rank) for one, rank in zip(found, ranks(keys), strict=True)]
    last = len(placed) + 1
    placed.sort(key=lambda one: (one.rank or last, one.number))
    withheld = bool(contest.rulebook.of_guess()) and shown not in ("all", "counts")
    return Board(round_, kind, now, over, withheld, tuple(placed))


_Shown = Literal["all", "valid", "effect", "counts"]


def _standing(contest: Contest, team: Team, round_: str, shown: _Shown, *, final: bool) -> Standing:
    whose: dict[str, Any] = {"team": team.id, "name": team.name, "number": team.number}
    entry = counting_entry(contest, team.id, round_)
    if entry is None or not entry.counts:
        tries = [one for one in contest.releases(team.id, round_) if one.refunded is None]
        status = Status.WAITING if any(one.judged is None for one in tries) else Status.INVALID
        if team.out is not None:
            return Standing(**whose, status=Status.DISQUALIFIED, reason=team.out)
        return Standing(**whose, status=status if tries else Status.NOTHING)
    book = contest.rulebook
    guesses = guesses_against(contest, round_, entry.id)
    known = guesses if shown in ("all", "counts") else ()
    # what the baseline attacks found is for the team alone, unless it is a part of every score
    baseline = shown == "all" or (book.baseline.visible and book.baseline.counts)
    values = worst_values(book, entry, known, baseline=baseline)
    score, broken = book.score(values), set(book.broken(values))
    by_attack = guesses if shown != "valid" else ()
    broken |= {key for one in by_attack for key in book.broken(one.values)}
    if shown in ("valid", "effect"):  # what is kept back has no value
        kept_back = set(book.of_guess()) - {one.key for one in book.terms}
        values = {key: value for key, value in values.items() if key not in kept_back}
    named = attack_names(known, contest if final else None)
    verdict = verdict_on(contest, entry, known, called=named, baseline=baseline)
    # who broke it: by a condition on attacks, or where there is none by the judgement
    if any(one.key in book.of_guess() for one in book.conditions):
        effective = {one.team for one in by_attack if book.broken(one.values)}
    else:
        exceeding = {one.attack for one in verdict.evidence if one.exceeds}
        names = attack_names(by_attack, contest if final else None)
        effective = {one.team for one, name in zip(by_attack, names, strict=True) if name in exceeding}
    status, reason = Status.RANKED, ""
    if team.out is not None:
        status, reason = Status.DISQUALIFIED, team.out
    elif score is None:
        status = Status.UNSCORED
    elif broken and book.otherwise == "none":
        status, reason = Status.CONDITION, ", ".join(sorted(broken))
    return Standing(
        **whose,
        status=status,
        reason=reason,
        submission=entry.id,
        score=score,
        terms=tuple({"measure": one.key, "weight": one.weight, "value": values.get(one.key)} for one in book.terms),
        values=values,
        broken=tuple(one.key for one in book.conditions if one.key in broken),
        attackers=0 if shown == "valid" and contest.settings.names_hidden else len({one.team for one in guesses}),
        effective=len(effective),
        verdict=verdict,
    )


# --- ranks -----------------------------------------------------------------------------------------------------------


def ranks(keys: Sequence[tuple[bool, float] | None]) -> list[int | None]:
    """Return places by (breaks a condition, score), less being better; equals share a place, None has none.

    >>> ranks([(False, 0.3), (True, 0.1), None, (False, 0.2), (False, 0.3)])
    [2, 4, None, 1, 2]
    """
    ordered = sorted(one for one in keys if one is not None)
    return [None if one is None else bisect_left(ordered, one) + 1 for one in keys]


# --- what counts -----------------------------------------------------------------------------------------------------


def counting_entry(contest: Contest, team: str, round_: str) -> Submission | None:
    """Return the release by which a team is judged: the one that was attacked; before that, the one that counts."""
    for target in contest.targets.get(round_, {}).values():
        if target.team == team:
            return contest.submissions[target.submission]
    return contest.counting_release(team, round_)


def guesses_against(contest: Contest, round_: str, submission: str) -> tuple[Submission, ...]:
    """Return the valid guesses against a release, the oldest first."""
    targets = contest.targets.get(round_, {}).values()
    target = next((one for one in targets if one.submission == submission), None)
    if target is None:
        return ()
    return tuple(one for one in contest.guesses(round_, target=target.id) if one.counts)


def worst_values(
    book: Rulebook, entry: Submission, guesses: Iterable[Submission], *, baseline: bool = True
) -> dict[str, float]:
    """Return the values of a release: its own, and of attacks the worst; what nobody tried found nothing.

    ``baseline`` tells whether the baseline attacks may be known, where they count.
    """
    values = dict(entry.values)
    attacks: list[Mapping[str, float]] = [one.values for one in guesses]
    if baseline and book.baseline.counts:
        attacks += [one.get("values") or {} for one in ((entry.judged or {}).get("baseline") or {}).values()]
    for key, (measure, _part) in book.of_guess().items():
        nothing = float(measure.bounds[0] if measure.goal == "lower" else measure.bounds[1] or 0.0)
        worst = min if measure.goal == "higher" else max
        values[key] = worst([nothing, *(one[key] for one in attacks if key in one)])
    return values


# --- verdicts --------------------------------------------------------------------------------------------------------


def verdict_on(
    contest: Contest, entry: Submission, guesses: Sequence[Submission], *, called: Sequence[str], baseline: bool
) -> Verdict:
    """Return the verdict on a release, given guesses and, if they are visible, the baseline attacks.

    ``called`` are the names of the attacks.
    """
    facts = Facts.model_validate((entry.judged or {})["facts"])
    own = facts.tried if baseline else ()
    tried = [
        AttackResult.model_validate({**one.judged["tried"], "attack": name})
        for one, name in zip(guesses, called, strict=True)
        if one.judged is not None
    ]
    return judge(facts.model_copy(update={"tried": (*own, *tried)}), contest.rulebook.judged_by)


def attack_names(guesses: Sequence[Submission], contest: Contest | None) -> list[str]:
    """Return what attacks are called: by their team, numbered where it has several.

    Without the contest attackers have numbers for names: who attacked whom is told at the end.
    """
    order = list(dict.fromkeys(one.team for one in guesses))
    called: list[str] = []
    for at, one in enumerate(guesses):
        if contest is None:
            name = _("attacker {number}").format(number=order.index(one.team) + 1)
        else:
            name = contest.teams[one.team].name
        before = sum(1 for other in guesses[:at] if other.team == one.team)
        called.append(f"{name} ({before + 1})" if before else name)
    return called


ERROR = 0.05
"""The chance that any cell of a table is called above or below chance though it is not."""

Side = Literal["above", "below", "open"]


@dataclass(frozen=True)
class MatrixCell:
    """What the best guess of a team against another's release comes to.

    Attributes
    ----------
    guesses
        How many valid guesses the attacker handed in.
    found
        What the judgement shows of the best of them.
    breaks
        Whether a condition of the rules is broken by any of them.
    side
        Whether the rate is beyond chance, below it, or whether both are open.
    """

    attacker: str
    target: str
    submission: str
    guesses: int
    found: AttackEvidence
    breaks: bool
    side: Side

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        told = {name: value for name, value in vars(self).items() if name != "found"}
        return told | self.found.model_dump(exclude={"attack", "beyond_chance"})


@dataclass(frozen=True)
class Matrix:
    """All cells of a round; teams are in the order of their numbers."""

    teams: tuple[str, ...]
    cells: tuple[MatrixCell, ...]

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], MatrixCell]:
        """The cells by attacker and target."""
        return {(one.attacker, one.target): one for one in self.cells}

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"teams": list(self.teams), "cells": [one.as_dict() for one in self.cells]}


def below_chance() -> str:
    """Return what is said of a cell that is far below chance, in the language now spoken."""
    return _("far below chance: an attacker who inverts the guess learns something")


def matrix_of(contest: Contest, round_: str) -> Matrix:
    """Return who broke whom in a round."""
    entries = {team: counting_entry(contest, team, round_) for team in contest.teams}
    against = {team: guesses_against(contest, round_, one.id) for team, one in entries.items() if one is not None}
    pairs = sum(len({guess.team for guess in guesses}) for guesses in against.values())
    order = {team: place for place, team in enumerate(contest.teams)}
    cells: list[MatrixCell] = []
    for team, guesses in against.items():
        entry = entries[team]
        if entry is None or not entry.counts or not guesses:
            continue
        verdict = verdict_on(contest, entry, guesses, baseline=True, called=[one.id for one in guesses])
        place = {one.attack: at for at, one in enumerate(verdict.evidence)}
        of_teams: dict[str, list[Submission]] = {}
        for guess in sorted(guesses, key=lambda one: place[one.id]):
            of_teams.setdefault(guess.team, []).append(guess)
        for attacker, own in of_teams.items():
            best = own[0]  # the most damaging first, as the judgement has them
            shown = verdict.evidence[place[best.id]]
            breaks = any(contest.rulebook.broken(one.values) for one in own)
            low, high = share_interval(shown.right, shown.named, ERROR / max(pairs, 1))
            side: Side = "below" if high < shown.chance else "above" if low > shown.chance else "open"
            cells.append(MatrixCell(attacker, team, best.id, len(own), shown, breaks, side))
    playing = [
        team for team in contest.teams if entries[team] is not None or any(one.attacker == team for one in cells)
    ]
    return Matrix(tuple(playing), tuple(sorted(cells, key=lambda one: (order[one.attacker], order[one.target]))))
