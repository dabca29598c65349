"""The final of 2018 played again: 13 teams of Table 5's kinds, attacking each other, by either bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from noren.contest.standings import ranks
from noren.i18n import _
from noren.kernels.judging.shares import share_interval
from noren.kernels.judging.threshold import Bound
from noren.reproduce import s0_work as work
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Line, lines, unit_of
from noren.reproduce.s0_work import DATA, ENTRIES
from noren.tables import Texts, table_of
from noren.work.store import Unit

say = Texts(__name__)
KINDS: dict[str, tuple[int, int]] = {
    kind: tuple(said) for kind, said in table_of("noren.reproduce.s0_printed")["kinds"].items()
}
"""Table 5: releases of a kind, and those never re-identified effectively."""
QUICK = ("A", "J", "M")
"""One team each without a group, of pairs and of triples, whose releases take a second to make."""
REGISTERED = ("consistency", "item-candidates", "jaccard", "nearest")
"""Attacks of ours that purchase histories can be attacked with as they stand; two are the rulebook's own."""
QUICK_ATTACKS = ("consistency", "jaccard")
SELDOM = 0.005
"""Chances below that are in the table alone."""
TEAM_10 = (0.193, 1_912)
"""U and deleted rows that Tables 3 and 7 print for it."""


# --- the work --------------------------------------------------------------------------------------------------------


_made = unit_of(work.made, DATA)


def _entered(team: str) -> Unit:
    return Unit(work.entered, (team,), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


def _played(team: str, bound: Bound, seed: int) -> Unit:
    return Unit(work.played, (team, bound, seed), data=(DATA,), needs=(_entered(team),))


def _registered(team: str, attack: str, seed: int) -> Unit:
    return Unit(work.registered, (team, attack, seed), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


def _same(team: str) -> str:
    """Return the first team with the release of this one: three have the same."""
    return next(other for other in ENTRIES if ENTRIES[other] == ENTRIES[team])


def units(asked: Extent) -> list[Unit]:
    """Return the work; quick takes the teams whose releases are made at once, the quick attacks, and one seed."""
    teams = [team for team in ENTRIES if not asked.quick or team in QUICK]
    tried = QUICK_ATTACKS if asked.quick else REGISTERED
    recipes = list(dict.fromkeys(ENTRIES[team].recipe for team in teams))
    different = [team for team in teams if _same(team) == team]
    return [
        *map(_made, recipes),
        *map(_entered, teams),
        *(_played(*one) for one in product(teams, work.BOUNDS, asked.seeds(full=5))),
        *(_registered(*one) for one in product(different, tried, asked.seeds(full=2))),
    ]


# --- who wins --------------------------------------------------------------------------------------------------------


def win_chances(scores: Sequence[float], survival: Sequence[float]) -> list[float]:
    """Return each team's chance of the first place, shared or not, given independent chances to survive.

    The best score among those who survive wins; where nobody does, nobody wins.

    >>> win_chances([0.1, 0.2, 0.3], [0.5, 0.5, 0.25])
    [0.5, 0.25, 0.0625]
    """
    found = []
    for score, alive in zip(scores, survival, strict=True):
        before = prod(1 - other for at, other in zip(scores, survival, strict=True) if at < score)
        found.append(alive * before)
    return found


class _Outcome:
    """What comes of the teams that were run, by one bound."""

    def __init__(self, found: Findings, entries: Mapping[str, Any], bound: Bound):
        self.book, self.entries = work.rules(bound), entries
        played = {team: found.over_seeds(_played, team, bound, full=5) for team in entries}
        self.effective = {team: np.array(counts) for team, counts in played.items()}  # seed by cup
        self.chance = {team: float(entry["plans"][bound]["chance"]) for team, entry in entries.items()}
        self.whole = len(entries) == len(ENTRIES)
        none = dict.fromkeys(self.book.of_guess(), 0.0)
        self.scores = {team: self.book.score(entry["values"] | none) or 0.0 for team, entry in entries.items()}

    def survival(self, guesses: int = 1) -> dict[str, float]:
        """How likely each team is to outlive all others, who hand in so many guesses each."""
        return {team: (1 - one) ** (work.OTHERS * guesses) for team, one in self.chance.items()}

    @cached_property
    def wins(self) -> dict[str, float]:
        """How likely each team is to be first; nothing is said where some teams were left out."""
        chances = win_chances(list(self.scores.values()), list(self.survival().values()))
        return dict(zip(self.entries, chances, strict=True)) if self.whole else {}

    @cached_property
    def first(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Who was first, by the rulebook: seed by cup by team."""
        shape = next(iter(self.effective.values())).shape
        won = np.zeros((*shape, len(self.entries)), dtype=np.bool_)
        for place in np.ndindex(shape):
            keys: list[tuple[bool, float] | None] = []
            for team, entry in self.entries.items():
                hit = float(self.effective[team][place] > 0)
                found = entry["values"] | dict.fromkeys(self.book.of_guess(), hit)
                score, fails = self.book.score(found), bool(self.book.broken(found))
                keys.append(None if score is None or (fails and self.book.otherwise == "none") else (fails, score))
            won[place] = [rank == 1 for rank in ranks(keys)]
        return won

    def likeliest(self, guesses: int = 1) -> list[tuple[str, list[str], float]]:
        """Return what is handed in, by whom, and how likely it wins, the likeliest first; what hardly ever does is not.

        Teams with one release have equal scores. Which of them survive does not matter to those after them, so they
        stand as one team that survives as they do.
        """
        alive = self.survival(guesses)
        teams: dict[str, list[str]] = {}
        for team in self.entries:
            teams.setdefault(say(f"words.{team}"), []).append(team)
        groups = []
        for words, members in teams.items():
            others = [team for team in self.entries if team not in members]
            scores = [self.scores[team] for team in (members[0], *others)]
            one = 1 - prod(1 - alive[team] for team in members)
            groups.append((words, members, win_chances(scores, [one, *(alive[team] for team in others)])[0]))
        return sorted((group for group in groups if group[2] >= SELDOM), key=lambda group: -group[2])


# --- the page --------------------------------------------------------------------------------------------------------


def contest(found: Findings) -> Comparison:
    """Say who survives and who wins, exactly and as played, by S0's bound and by the sharp one."""
    entries = {team: found[_entered(team)] for team in ENTRIES if _entered(team) in found}
    # U is all that the rulebook measures of a release alone
    u = {team: float(next(iter(entry["values"].values()))) for team, entry in entries.items()}
    outcomes = {bound: _Outcome(found, entries, bound) for bound in work.BOUNDS}
    cells = [cell for team in ENTRIES for cell in _of_team(team, found, entries.get(team), u.get(team), outcomes)]
    cells += [cell for kind in KINDS for cell in _of_kind(kind, outcomes)]
    says = [say("cup"), say("chances", cups=work.CUPS)]
    if "D" in entries:
        deleted = entries["D"]["deleted"]
        says.append(say("team_10", u=u["D"], rows=deleted, said=TEAM_10[0], printed=TEAM_10[1]))
    charts = []
    if len(entries) == len(ENTRIES):
        says += [sentence for bound, outcome in outcomes.items() for sentence in _verdicts(bound, outcome)]
        nobody = {bound: prod(1 - one for one in outcome.survival().values()) for bound, outcome in outcomes.items()}
        says.append(say("nobody", words=say(f"words.{min(u, key=lambda team: u[team])}"), **nobody))
        order = sorted(entries, key=lambda team: (outcomes["paper"].scores[team], team))
        panels: dict[str, list[Line]] = {
            words: [
                (_("survives"), [outcome.survival()[team] for team in order], "paper"),
                (_("wins"), [outcome.wins[team] for team in order], "ours"),
            ]
            for words, outcome in zip((_("S0's bound"), _("sharp bound")), outcomes.values(), strict=True)
        }
        title = _("How likely each team is to survive and to win, by either bound")
        across, up = _("team, by U"), _("chance")
        charts = [lines(title, order, panels, across_title=across, up_title=up, up=(0.0, 1.0), columns=2, width=280)]
    return Comparison(cells, [*says, say("registered")], charts)


def _of_team(
    team: str, found: Findings, entry: Any, u: float | None, outcomes: Mapping[Bound, _Outcome]
) -> list[Datum]:
    row = f"{team}: {say(f'words.{team}')}"
    sizes = "" if entry is None else ", ".join(f"{count:,} × {size}" for size, count in entry["classes"].items())
    cells = [Datum(row, "U", ours=u, note=_("classes: {sizes}").format(sizes=sizes) if entry else "")]
    tries = found.of([_registered(_same(team), *one) for one in product(REGISTERED, found.asked.seeds(full=2))])
    paper = _("survives, S0's bound"), _("wins, S0's bound"), _("won, S0's bound"), _("registered attacks, S0's bound")
    sharp = (
        *(_("survives, sharp bound"), _("wins, sharp bound")),
        *(_("won, sharp bound"), _("registered attacks, sharp bound")),
    )
    for (bound, outcome), (survives, wins, won, attacked) in zip(outcomes.items(), (paper, sharp), strict=True):
        at = list(outcome.entries).index(team) if outcome.whole else 0
        effective = sum(one["effective"][bound] for one in tries)
        some = _("{some} of {all}").format(some=effective, all=len(tries)) if tries else None
        cells += [
            Datum(row, survives, ours=outcome.survival().get(team)),
            Datum(row, wins, ours=outcome.wins.get(team)),
            Datum.over(row, won, outcome.first[:, :, at].mean(axis=1).tolist() if outcome.whole else []),
            Datum(row, attacked, ours=some),
        ]
    return cells


def _of_kind(kind: str, outcomes: Mapping[Bound, _Outcome]) -> list[Datum]:
    count, survived = KINDS[kind]
    teams = [team for team, entry in ENTRIES.items() if entry.kind == kind]
    if len(teams) != count:
        raise ValueError(kind)
    cells = []
    columns: dict[Bound, str] = {"paper": _("survivors, S0's bound"), "sharp": _("survivors, sharp bound")}
    for bound, column in columns.items():
        outcome = outcomes[bound]
        values: list[float] = []
        if all(team in outcome.entries for team in teams):
            alive = sum(outcome.effective[team] == 0 for team in teams)
            values = [float(one) for one in np.asarray(alive).ravel()]
        said = survived if bound == "paper" else None
        cells.append(Datum.over(say(f"kinds.{kind}"), column, values, paper=said, digits=2))
    return cells


def _verdicts(bound: Bound, outcome: _Outcome) -> list[str]:
    """Return who wins by one bound, for groups of teams with one release, the likeliest first."""
    cups = outcome.first.shape[0] * outcome.first.shape[1]
    teams = list(outcome.entries)
    rows = []
    for words, members, chance in outcome.likeliest():
        won = int(outcome.first[:, :, [teams.index(team) for team in members]].any(axis=2).sum())
        low, high = share_interval(won, cups)
        rows.append(say("winner", words=words, chance=chance, won=won / cups, low=low, high=high))
    quota = outcome.book.quota.guesses
    more = "; ".join(f"{words} {chance:.1%}" for words, _who, chance in outcome.likeliest(quota))
    return [say(f"title.{bound}", rows="; ".join(rows)), say("quota", guesses=quota, rows=more)]
