"""Leaderboards and the attack matrix of a round, computed from the log.

A live board shows the current state; a frozen one is the fold of the entries before it froze; the final one includes
everything. Until the attack phases of a round are over, results of attacks are those so far, as far as the rules
publish them, and the board says so.

The attack matrix shows the most damaging guess of every team about every other team's release, as the judgement orders
them. A rate far below chance is not a failure: reversing such a guess discloses something. It is marked only if chance
cannot explain it in any cell of the table (Clopper–Pearson interval, its error shared by all cells).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import PlainSerializer, SkipValidation, TypeAdapter, computed_field

from noren.contest.kinds import PhaseKind
from noren.contest.phases import PRACTICE, round_label
from noren.contest.rulebook import Rulebook
from noren.contest.state import Contest, Submission, Team
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.judging import judge
from noren.judgement.numbers import decimal
from noren.judgement.verdict import AttackEvidence, Verdict
from noren.kernels.judging.shares import share_interval
from noren.tables import Texts

say = Texts(__name__)
BEST_ATTACK = ("named", "right", "best_named", "best_right", "needed")
"""What is displayed of the best attack on a release."""
BoardKind = Literal["live", "frozen", "final"]


class Status(StrEnum):
    """Whether a team has a rank, and the reason if not."""

    RANKED = "ranked"
    DISQUALIFIED = "disqualified"
    NOTHING = "nothing"
    WAITING = "waiting"
    INVALID = "invalid"
    UNSCORED = "unscored"
    CONDITION = "condition"

    @property
    def label(self) -> str:
        """Why a team has no rank, in the active language; empty if it has one."""
        return "" if self == Status.RANKED else say(f"status.{self}")


@dataclass(frozen=True)
class ScoreTerm:
    """A term of the score."""

    measure: str
    weight: float
    value: float | None


_PLAIN_ATTACK = PlainSerializer(
    lambda attack: attack and attack.model_dump(include={*BEST_ATTACK}), return_type=dict[str, int] | None
)
_PLAIN_VERDICT = PlainSerializer(lambda verdict: verdict and str(verdict.status), return_type=str | None)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The line of one team on a leaderboard.

    Attributes
    ----------
    submission
        The release that counts.
    rank
        Its rank, shared by equals; None if it has none, for the reason in ``status`` and ``reason``.
    values
        All measured values: of attacks the worst.
    broken
        The broken conditions.
    attackers, effective
        How many teams attacked it by a valid guess, and how many of them broke a condition, or exceed what the
        judgement allows where no condition looks at attacks.
    verdict
        What the one judgement says of the release.
    best_attack
        The displayed attack that comes nearest to the number of right answers it needs, or farthest beyond it: of
        ``best_named`` answers that count ``best_right`` are right, and ``needed`` break the release.
    """

    rank: int | None = None
    team: str
    name: str
    number: int
    status: Status
    reason: str = ""
    submission: str | None = None
    score: float | None = None
    terms: tuple[ScoreTerm, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    attackers: int = 0
    effective: int = 0
    best_attack: Annotated[AttackEvidence | None, _PLAIN_ATTACK, SkipValidation] = None
    verdict: Annotated[Verdict | None, _PLAIN_VERDICT, SkipValidation] = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sentence(self) -> str | None:
        """The verdict as a sentence in the active language."""
        return None if self.verdict is None else self.verdict.sentence

    @property
    def why(self) -> str:
        """Why it has no rank, in the active language."""
        label = self.status.label
        return f"{label}: {self.reason}" if label and self.reason else label


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
    history
        Team, time and score, whenever another release of a team counted; attacks of teams are in the last score alone.
    """

    round: str
    kind: BoardKind
    at: str
    attacks_over: bool
    withheld: bool
    standings: tuple[Standing, ...]
    history: tuple[tuple[str, str, float], ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def note(self) -> str:
        """A note that ranks may change, in the active language."""
        if self.attacks_over:
            return ""
        return say("withheld" if self.withheld else "attacks_open")

    def as_dict(self) -> dict[str, Any]:
        """Return the board as plain data."""
        plain: dict[str, Any] = TypeAdapter(Board).dump_python(self, mode="json", exclude={"note"})
        return plain


def board(contest: Contest, round_: str, now: str, *, kind: BoardKind = "live", everything: bool = False) -> Board:
    """Return the leaderboard of a round, ranked teams first."""
    attacks = [phase for phase in contest.phases if phase.kind == PhaseKind.ATTACK and phase.round == round_]
    over = kind == "final" or all(phase.is_over(now) for phase in attacks)
    # a row that changes after a guess would disclose whose release the target is
    public: _Visible = "valid" if contest.settings.names_hidden else contest.rulebook.outcome
    visible: _Visible = "all" if over or everything else public
    standings = [_standing(contest, team, round_, visible, final=kind == "final") for team in contest.teams.values()]
    ranked = Status.RANKED if round_ != PRACTICE else None
    places = ranks(
        [(bool(s.broken), s.score) if s.status == ranked and s.score is not None else None for s in standings]
    )
    placed = [replace(standing, rank=rank) for standing, rank in zip(standings, places, strict=True)]
    placed.sort(key=lambda standing: (standing.rank or len(standings) + 1, standing.number))
    withheld = bool(contest.rulebook.of_guess()) and visible not in ("all", "counts")
    book, history = contest.rulebook, []
    baseline = visible == "all" or (book.baseline.visible and book.baseline.counts)
    for standing in placed:
        if standing.score is not None:
            for at, release in contest.counted_releases(standing.team, round_):
                history.append(
                    (standing.team, at, book.score(worst_values(book, release, (), baseline=baseline)) or 0.0)
                )
            history.append((standing.team, now, standing.score))
    return Board(round_, kind, now, over, withheld, tuple(placed), tuple(history))


_Visible = Literal["all", "valid", "effect", "counts"]


def _standing(contest: Contest, team: Team, round_: str, visible: _Visible, *, final: bool) -> Standing:
    fields: dict[str, Any] = {"team": team.id, "name": team.name, "number": team.number}
    entry = counting_entry(contest, team.id, round_)
    if entry is None or not entry.counts:
        tries = [release for release in contest.releases(team.id, round_) if release.refunded is None]
        status = Status.WAITING if any(release.judged is None for release in tries) else Status.INVALID
        fields["status"] = status if tries else Status.NOTHING
        return Standing(**fields | ({} if team.out is None else {"status": Status.DISQUALIFIED, "reason": team.out}))
    book = contest.rulebook
    guesses = guesses_against(contest, round_, entry.id)
    known = guesses if visible in ("all", "counts") else ()
    # results of baseline attacks are only for the team, unless they are part of every score
    baseline = visible == "all" or (book.baseline.visible and book.baseline.counts)
    values = worst_values(book, entry, known, baseline=baseline)
    score, broken = book.score(values), set(book.broken(values))
    by_attack = guesses if visible != "valid" else ()
    broken |= {key for guess in by_attack for key in book.broken(guess.values)}
    if visible in ("valid", "effect"):  # withheld values
        withheld = set(book.of_guess()) - {term.key for term in book.terms}
        values = {key: value for key, value in values.items() if key not in withheld}
    named = attack_names(known, contest if final else None)
    verdict = verdict_on(contest, entry, known, names=named, baseline=baseline)
    by_name = {result.attack: result for result in verdict.evidence}
    names = zip(by_attack, attack_names(by_attack, contest if final else None), strict=True)
    effective = {guess.team for guess, name in names if _breaks(book, guess, by_name.get(name))}
    attacks = evidence_of(book, verdict)
    status, reason = Status.RANKED, ""
    if team.out is not None:
        status, reason = Status.DISQUALIFIED, team.out
    elif score is None:
        status = Status.UNSCORED
    elif broken and book.otherwise == "none":
        status, reason = Status.CONDITION, ", ".join(sorted(broken))
    return Standing(
        **fields,
        status=status,
        reason=reason,
        submission=entry.id,
        score=score,
        terms=tuple(ScoreTerm(term.key, term.weight, values.get(term.key)) for term in book.terms),
        values=values,
        broken=tuple(condition.key for condition in book.conditions if condition.key in broken),
        attackers=0 if visible == "valid" and contest.settings.names_hidden else len({guess.team for guess in guesses}),
        effective=len(effective),
        verdict=verdict,
        best_attack=max(attacks, key=lambda result: result.best_right / result.needed, default=None),
    )


def _breaks(book: Rulebook, guess: Submission, evidence: AttackEvidence | None) -> bool:
    """Tell whether a guess breaks a release: by a condition on attacks, or without one by the judgement."""
    if any(condition.key in book.of_guess() for condition in book.conditions):
        return bool(book.broken(guess.values))
    return evidence is not None and evidence.exceeds


def board_headline(board: Board) -> str:
    """Return who leads or has won, as a sentence in the active language."""
    first = [standing for standing in board.standings if standing.rank == 1]
    if board.round == PRACTICE:
        return say("headline.practice")
    if not first:
        return say("headline.nobody", round=round_label(board.round))
    names, score = ", ".join(standing.name for standing in first[:3]), decimal(first[0].score or 0.0)
    key = "headline.wins" if board.kind == "final" else "headline.leads"
    return say(key, round=round_label(board.round), names=names, score=score)


def ranks(keys: Sequence[tuple[bool, float] | None]) -> list[int | None]:
    """Return ranks by (breaks a condition, score), lower is better; equals share a rank, None has none.

    >>> ranks([(False, 0.3), (True, 0.1), None, (False, 0.2), (False, 0.3)])
    [2, 4, None, 1, 2]
    """
    ordered = sorted(key for key in keys if key is not None)
    return [None if key is None else bisect_left(ordered, key) + 1 for key in keys]


# --- what counts -----------------------------------------------------------------------------------------------------


def counting_entry(contest: Contest, team: str, round_: str) -> Submission | None:
    """Return the release of a team that is ranked: the attacked one; before attacks, the one that counts."""
    for target in contest.targets.get(round_, {}).values():
        if target.team == team:
            return contest.submissions[target.submission]
    return contest.counting_release(team, round_)


def guesses_against(contest: Contest, round_: str, submission: str) -> tuple[Submission, ...]:
    """Return the valid guesses about a release, the oldest first."""
    targets = contest.targets.get(round_, {}).values()
    target = next((candidate for candidate in targets if candidate.submission == submission), None)
    if target is None:
        return ()
    return tuple(guess for guess in contest.guesses(round_, target=target.id) if guess.counts)


def worst_values(
    book: Rulebook, entry: Submission, guesses: Iterable[Submission], *, baseline: bool = True
) -> dict[str, float]:
    """Return the values of a release: its own, and of attacks the worst; without attacks, the best possible.

    ``baseline`` tells whether the baseline attacks may be known, where they count.
    """
    values = dict(entry.values)
    attacks: list[Mapping[str, float]] = [guess.values for guess in guesses]
    if baseline and book.baseline.counts:
        attacks += [result.get("values") or {} for result in ((entry.judged or {}).get("baseline") or {}).values()]
    for key, (measure, _part) in book.of_guess().items():
        nothing = float(measure.bounds[0] if measure.goal == "lower" else measure.bounds[1] or 0.0)
        worst = min if measure.goal == "higher" else max
        values[key] = worst([nothing, *(phase[key] for phase in attacks if key in phase)])
    return values


# --- verdicts --------------------------------------------------------------------------------------------------------


def verdict_on(
    contest: Contest, entry: Submission, guesses: Sequence[Submission], *, names: Sequence[str], baseline: bool
) -> Verdict:
    """Return the verdict on a release, given guesses and, if they are visible, the baseline attacks.

    ``names`` are the names of the attacks.
    """
    facts = Facts.model_validate((entry.judged or {})["facts"])
    own = facts.tried if baseline else ()
    tried = [
        AttackResult.model_validate({**guess.judged["tried"], "attack": name})
        for guess, name in zip(guesses, names, strict=True)
        if guess.judged is not None
    ]
    rule = contest.rulebook.judged_by(len(own) + len(tried))
    return judge(facts.model_copy(update={"tried": (*own, *tried)}), rule)


def evidence_of(book: Rulebook, verdict: Verdict) -> tuple[AttackEvidence, ...]:
    """Return the evidence of a verdict, with the thresholds of the contest's own condition where it has one.

    Every place that displays how many right answers were needed takes them from here.
    """
    if (test := book.test) is None:
        return verdict.evidence
    tried = {result.attack: result for result in verdict.facts.tried}
    made = []
    for evidence in verdict.evidence:
        best = test.best_of(evidence.named, tried[evidence.attack].right_at)
        made.append(evidence.model_copy(update=dict(zip(("best_named", "best_right", "needed"), best, strict=True))))
    return tuple(made)


def attack_names(guesses: Sequence[Submission], contest: Contest | None) -> list[str]:
    """Return the names of attacks: their team, numbered if it has several.

    Without the contest, attackers are numbered: who attacked whom is published with the results.
    """
    order = list(dict.fromkeys(guess.team for guess in guesses))
    names: list[str] = []
    for at, guess in enumerate(guesses):
        number = order.index(guess.team) + 1
        name = say("attacker", number=number) if contest is None else contest.teams[guess.team].name
        before = sum(1 for other in guesses[:at] if other.team == guess.team)
        names.append(f"{name} ({before + 1})" if before else name)
    return names


ERROR = 0.05
"""The error probability of marking any cell of a table above or below chance."""

Side = Literal["above", "below", "open"]


@dataclass(frozen=True)
class MatrixCell:
    """The most damaging guess of a team about another team's release.

    Attributes
    ----------
    guesses
        Number of valid guesses of the attacker.
    evidence
        What the judgement shows of the best of them, with the thresholds of the contest.
    breaks
        Whether any of them breaks a condition of the rules, or the rule of the verdicts where no condition looks at
        attacks.
    side
        Whether the rate is above chance, below chance, or undecided.
    """

    attacker: str
    target: str
    submission: str
    guesses: int
    evidence: AttackEvidence
    breaks: bool
    side: Side

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        data = {name: value for name, value in vars(self).items() if name != "evidence"}
        return data | self.evidence.model_dump(exclude={"attack", "beyond_chance"})


@dataclass(frozen=True)
class Matrix:
    """All cells of a round; teams are in the order of their numbers."""

    teams: tuple[str, ...]
    cells: tuple[MatrixCell, ...]

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], MatrixCell]:
        """The cells by attacker and target."""
        return {(cell.attacker, cell.target): cell for cell in self.cells}

    def as_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"teams": list(self.teams), "cells": [cell.as_dict() for cell in self.cells]}


def below_chance() -> str:
    """Return the explanation of a cell that is far below chance, in the active language."""
    return say("below_chance")


def matrix_of(contest: Contest, round_: str) -> Matrix:
    """Return the attack matrix of a round."""
    entries = {team: counting_entry(contest, team, round_) for team in contest.teams}
    against = {team: guesses_against(contest, round_, file.id) for team, file in entries.items() if file is not None}
    pairs = sum(len({guess.team for guess in guesses}) for guesses in against.values())
    order = {team: place for place, team in enumerate(contest.teams)}
    cells: list[MatrixCell] = []
    for team, guesses in against.items():
        entry = entries[team]
        if entry is None or not entry.counts or not guesses:
            continue
        verdict = verdict_on(contest, entry, guesses, baseline=True, names=[entry_.id for entry_ in guesses])
        place = {result.attack: at for at, result in enumerate(verdict.evidence)}
        of_teams: dict[str, list[Submission]] = {}
        for guess in sorted(guesses, key=lambda guess: place[guess.id]):
            of_teams.setdefault(guess.team, []).append(guess)
        for attacker, own in of_teams.items():
            best = own[0]  # the most damaging first, as the judgement has them
            evidence = evidence_of(contest.rulebook, verdict)[place[best.id]]
            breaks = any(_breaks(contest.rulebook, entry_, verdict.evidence[place[entry_.id]]) for entry_ in own)
            low, high = share_interval(evidence.right, evidence.named, ERROR / max(pairs, 1))
            side: Side = "below" if high < evidence.chance else "above" if low > evidence.chance else "open"
            cells.append(MatrixCell(attacker, team, best.id, len(own), evidence, breaks, side))
    playing = [
        team for team in contest.teams if entries[team] is not None or any(cell.attacker == team for cell in cells)
    ]
    return Matrix(tuple(playing), tuple(sorted(cells, key=lambda cell: (order[cell.attacker], order[cell.target]))))
