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
from noren.reproduce.frame import Chart, ChartLine, Comparison, Datum, Extent, Findings, lines
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


def units(asked: Extent) -> list[Unit]:
    """Return the work; quick takes the teams whose releases are made at once, the quick attacks, and one seed."""
    teams = [team for team in ENTRIES if not asked.quick or team in QUICK]
    tried = QUICK_ATTACKS if asked.quick else REGISTERED
    recipes = list(dict.fromkeys(ENTRIES[team].recipe for team in teams))
    different = [team for team in teams if _same(team) == team]
    return [
        *(_made(recipe) for recipe in recipes),
        *(_entered(team) for team in teams),
        *(_played(*one) for one in product(teams, work.BOUNDS, asked.seeds(full=5))),
        *(_registered(*one) for one in product(different, tried, asked.seeds(full=2))),
    ]


def _made(recipe: str) -> Unit:
    return Unit(work.made, (recipe,), data=(DATA,))


def _same(team: str) -> str:
    """Return the first team with the release of this one: three have the same."""
    return next(other for other in ENTRIES if ENTRIES[other] == ENTRIES[team])


def _entered(team: str) -> Unit:
    return Unit(work.entered, (team,), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


def _played(team: str, bound: Bound, seed: int) -> Unit:
    return Unit(work.played, (team, bound, seed), data=(DATA,), needs=(_entered(team),))


def _registered(team: str, attack: str, seed: int) -> Unit:
    return Unit(work.registered, (team, attack, seed), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


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


def _winners(bound: Bound, values: Mapping[str, Mapping[str, float]], effective: Mapping[str, int]) -> list[str]:
    """Return who is first in one cup, by the rulebook, given how many attackers were effective against each team."""
    book = work.rules(bound)
    keys: list[tuple[bool, float] | None] = []
    for team, own in values.items():
        found = dict(own) | {key: float(effective[team] > 0) for key in book.of_guess()}
        score = book.score(found)
        fails = bool(book.broken(found))
        keys.append(None if score is None or (fails and book.otherwise == "none") else (fails, score))
    return [team for team, rank in zip(values, ranks(keys), strict=True) if rank == 1]


# --- the page --------------------------------------------------------------------------------------------------------


def contest(found: Findings) -> Comparison:
    """Say who survives and who wins, exactly and as played, by S0's bound and by the sharp one."""
    entries = {team: found[_entered(team)] for team in ENTRIES if _entered(team) in found}
    outcomes = {bound: _Outcome(found, entries, bound) for bound in work.BOUNDS}
    cells = [cell for team in ENTRIES for cell in _of_team(team, found, entries, outcomes)]
    cells += [cell for kind in KINDS for cell in _of_kind(kind, outcomes)]
    charts = [_chart(entries, outcomes)] if len(entries) == len(ENTRIES) else []
    return Comparison(cells, _says(found, entries, outcomes), charts)


class _Outcome:
    """What comes of the teams that were run, by one bound."""

    def __init__(self, found: Findings, entries: Mapping[str, Any], bound: Bound):
        self.bound, self.entries = bound, entries
        seeds = found.asked.seeds(full=5)
        played = {team: found.of([_played(team, bound, seed) for seed in seeds]) for team in entries}
        self.effective = {team: np.array(counts) for team, counts in played.items()}  # seed by cup
        self.chance = {team: float(entry["plans"][bound]["chance"]) for team, entry in entries.items()}
        self.whole = len(entries) == len(ENTRIES)

    def survival(self, guesses: int = 1) -> dict[str, float]:
        """How likely each team is to outlive all others, who hand in so many guesses each."""
        return {team: (1 - one) ** (work.OTHERS * guesses) for team, one in self.chance.items()}

    def scores(self) -> list[float]:
        book = work.rules(self.bound)
        none = dict.fromkeys(book.of_guess(), 0.0)
        return [book.score(entry["values"] | none) or 0.0 for entry in self.entries.values()]

    def wins(self, guesses: int = 1) -> dict[str, float]:
        """How likely each team is to be first; nothing is said where some teams were left out."""
        if not self.whole:
            return {}
        alive = list(self.survival(guesses).values())
        return dict(zip(self.entries, win_chances(self.scores(), alive), strict=True))

    @cached_property
    def first(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Who was first: seed by cup by team."""
        values = {team: entry["values"] for team, entry in self.entries.items()}
        shape = next(iter(self.effective.values())).shape
        won = np.zeros((*shape, len(values)), dtype=np.bool_)
        for place in np.ndindex(shape):
            winners = _winners(self.bound, values, {team: int(self.effective[team][place]) for team in values})
            won[place] = [team in winners for team in values]
        return won


def _u(entry: Mapping[str, Any]) -> float:
    """Return U, all that the rulebook measures of a release alone."""
    (value,) = entry["values"].values()
    return float(value)


def _of_team(team: str, found: Findings, entries: Mapping[str, Any], outcomes: Mapping[Bound, _Outcome]) -> list[Datum]:
    row, entry = f"{team}: {say(f'words.{team}')}", entries.get(team)
    sizes = "" if entry is None else ", ".join(f"{count:,} × {size}" for size, count in entry["classes"].items())
    cells = [Datum(row, "U", ours=entry and _u(entry), note=_("classes: {sizes}").format(sizes=sizes) if entry else "")]
    tries = found.of([_registered(_same(team), *one) for one in product(REGISTERED, found.asked.seeds(full=2))])
    effective = {
        bound: _("{some} of {all}").format(some=sum(one["effective"][bound] for one in tries), all=len(tries))
        for bound in outcomes
    }
    paper = _("survives, S0's bound"), _("wins, S0's bound"), _("won, S0's bound"), _("registered attacks, S0's bound")
    sharp = (
        *(_("survives, sharp bound"), _("wins, sharp bound")),
        *(_("won, sharp bound"), _("registered attacks, sharp bound")),
    )
    for (bound, outcome), (survives, wins, won, attacked) in zip(outcomes.items(), (paper, sharp), strict=True):
        at = list(outcome.entries).index(team) if outcome.whole else 0
        cells += [
            Datum(row, survives, ours=outcome.survival().get(team)),
            Datum(row, wins, ours=outcome.wins().get(team)),
            Datum.over(row, won, outcome.first[:, :, at].mean(axis=1).tolist() if outcome.whole else []),
            Datum(row, attacked, ours=effective[bound] if tries else None),
        ]
    return cells


def kind_title(kind: str) -> str:
    """Return what Table 5 calls a kind of releases."""
    return say(f"kinds.{kind}")


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
        cells.append(Datum.over(kind_title(kind), column, values, paper=said, digits=2))
    return cells


def _says(found: Findings, entries: Mapping[str, Any], outcomes: Mapping[Bound, _Outcome]) -> list[str]:
    says = [say("cup"), say("chances", cups=work.CUPS)]
    if "D" in entries:
        u, rows = _u(entries["D"]), entries["D"]["deleted"]
        says.append(say("team_10", u=u, rows=rows, said=TEAM_10[0], printed=TEAM_10[1]))
    for bound, outcome in outcomes.items():
        if outcome.whole:
            says += _verdicts(bound, outcome)
    if all(outcome.whole for outcome in outcomes.values()):
        nobody = {bound: prod(1 - one for one in outcome.survival().values()) for bound, outcome in outcomes.items()}
        least = min(entries, key=lambda team: _u(entries[team]))
        says.append(say("nobody", words=say(f"words.{least}"), **nobody))
    return [*says, say("registered")]


def _verdicts(bound: Bound, outcome: _Outcome) -> list[str]:
    """Return who wins by one bound, for groups of teams with one release, the likeliest first."""
    cups = outcome.first.shape[0] * outcome.first.shape[1]
    teams = list(outcome.entries)
    rows = []
    for words, members, chance in _likeliest(outcome):
        won = int(outcome.first[:, :, [teams.index(team) for team in members]].any(axis=2).sum())
        low, high = share_interval(won, cups)
        rows.append(say("winner", words=words, chance=chance, won=won / cups, low=low, high=high))
    quota = work.rules(bound).quota.guesses
    more = "; ".join(f"{words} {chance:.1%}" for words, _who, chance in _likeliest(outcome, quota))
    return [say(f"title.{bound}", rows="; ".join(rows)), say("quota", guesses=quota, rows=more)]


def _likeliest(outcome: _Outcome, guesses: int = 1) -> list[tuple[str, list[str], float]]:
    """Return what is handed in, by whom, and how likely it wins, the likeliest first; what hardly ever does is not."""
    teams: dict[str, list[str]] = {}
    for team in outcome.entries:
        teams.setdefault(say(f"words.{team}"), []).append(team)
    groups = [(words, who, _together(outcome, who, guesses)) for words, who in teams.items()]
    return sorted((one for one in groups if one[2] >= SELDOM), key=lambda one: -one[2])


def _together(outcome: _Outcome, members: Sequence[str], guesses: int = 1) -> float:
    """Return the chance that one of some teams with equal scores is first: that of one team that survives as they do.

    Which of them survive does not matter to those after them, so they may stand as one.
    """
    alive = outcome.survival(guesses)
    scores = dict(zip(outcome.entries, outcome.scores(), strict=True))
    others = [team for team in outcome.entries if team not in members]
    one = 1 - prod(1 - alive[team] for team in members)
    return win_chances(
        [scores[members[0]], *(scores[team] for team in others)], [one, *(alive[team] for team in others)]
    )[0]


def _chart(entries: Mapping[str, Any], outcomes: Mapping[Bound, _Outcome]) -> Chart:
    order = sorted(entries, key=lambda team: (outcomes["paper"].scores()[list(entries).index(team)], team))
    words: dict[Bound, str] = {"paper": _("S0's bound"), "sharp": _("sharp bound")}

    def draw() -> str:
        panels = {
            words[bound]: [
                ChartLine(_("survives"), [outcome.survival()[team] for team in order], "paper"),
                ChartLine(_("wins"), [outcome.wins()[team] for team in order], "ours"),
            ]
            for bound, outcome in outcomes.items()
        }
        return lines(
            order, panels, across_title=_("team, by U"), up_title=_("chance"), up=(0.0, 1.0), columns=2, width=280
        )

    return Chart(_("How likely each team is to survive and to win, by either bound"), draw)
