"""S0's tables beside ours: its test of safety, what releases are useful for, the final played again, and the errata."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np

from noren.contest.standings import ranks
from noren.i18n import N_, _
from noren.kernels.judging.shares import share_interval
from noren.kernels.judging.statistics import pearson, rejection_limit
from noren.kernels.judging.survival import satisfies_h0
from noren.kernels.judging.threshold import Bound, threshold, thresholds, union_probability
from noren.reproduce import s0_work as work
from noren.reproduce.frame import (
    Comparison,
    Datum,
    Erratum,
    Extent,
    Findings,
    Line,
    PaperDocument,
    PaperSection,
    lines,
    unit_of,
)
from noren.reproduce.s0_work import DATA, ENTRIES
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_SAID = table_of("noren.reproduce.s0_printed")
TABLE_3: dict[str, tuple[float, bool]] = _SAID["table_3"]
TABLE_4: dict[int, int | None] = dict.fromkeys(range(7)) | {
    first + at: needed for first, all_needed in _SAID["table_4"] for at, needed in enumerate(all_needed)
}
"""How many of so many named customers must be right; ``None`` where no number is enough."""
KINDS: dict[str, tuple[int, int]] = _SAID["kinds"]
"""Table 5: releases of a kind, and those never re-identified effectively."""
LIMIT: float = _SAID["limit"]
BEYOND: list[str] = _SAID["beyond"]
COLUMNS: dict[int, list[str]] = {int(number): names for number, names in _SAID["columns"].items()}
TABLES: dict[int, dict[str, list[float]]] = {int(number): lines for number, lines in _SAID["tables"].items()}
"""Tables 6 to 10, by team."""
CORRELATIONS: dict[str, float] = _SAID["correlations"]
"""The last line of each: Pearson's correlation with U."""
PAIRS, TRIPLES, TWO_ALONE, UNIQUE = (0, 2), (0, 3), (2, 2), (100, 2)
"""Customers whom nobody is like, and the size of the classes that the others are in."""
_useful, _surviving = unit_of(work.useful, work.DATA), unit_of(work.surviving)
WINNER = "generalize, k = 2"
BEST = _useful(WINNER, 2)
"""The best pairs; two draws of them, for Table 3 asks for none."""


# --- Table 3 ---------------------------------------------------------------------------------------------------------


def results(found: Findings) -> Comparison:
    """Set U of the best pairs that there are beside the teams'; the teams' own releases are not public."""
    ours = found.get(BEST)
    cells = []
    for team, (u, hit) in TABLE_3.items():
        row, same = _("team {team}").format(team=team), u == 0.206
        words = _("ours: the best groups of two") if same else _("the release is not public")
        best = ours["U"] if ours and same else None
        cells += [
            Datum(row, "U", u, best, exact=same, tolerance=0.0005, note=words),
            Datum(row, _("effective"), _("yes") if hit else _("no")),
        ]
    says = [say("three_teams")]
    if ours:
        says.append(say("our_pairs", u=ours["U"], rows=ours["deleted"], bound=ours["lower_bound"]))
    return Comparison(cells, says)


# --- Table 4 ---------------------------------------------------------------------------------------------------------


def table_4(_found: Findings) -> Comparison:
    """Compare all values of r, and set beside them what the sharp bound asks for."""
    sharp = thresholds(999, "sharp")
    cells = []
    for n, said in TABLE_4.items():
        ours = threshold(n)
        row = f"n' = {n}"
        cells += [
            Datum.exactly(row, "r(n')", "*" if said is None else said, "*" if ours > n else ours, digits=0),
            Datum(row, _("sharp bound"), ours="*" if sharp[n] > n else sharp[n], digits=0),
        ]
    return Comparison(cells, [say("none_is_enough"), say("sharp_asks")])


# --- what the text works out -----------------------------------------------------------------------------------------


SURVIVING = tuple(_surviving(0, k, bound) for k in (2, 3, 4, 6, 7) for bound in ("paper", "sharp"))


def examples(found: Findings) -> Comparison:
    """Compare what the text works out, and say how often each k outlives 13 attackers by either bound."""
    pairs = found[_surviving(*PAIRS, "paper")]
    yes, no = _("yes"), _("no")
    paper, sharp = _("S0's bound"), _("sharp bound")
    cells = [
        Datum.exactly("7! ", paper, 5040, factorial(7), digits=0),
        Datum.exactly("3^7", paper, 2187, 1 / float(union_probability(7, 7)), tolerance=1e-6, digits=0),
        Datum.exactly("6!", paper, 720, factorial(6), digits=0),
        Datum(_("7-anonymous satisfies H0"), paper, yes, yes if satisfies_h0([7]) else no, exact=True),
        Datum(_("6-anonymous satisfies H0"), paper, no, yes if satisfies_h0([6]) else no, exact=True),
        Datum.exactly(_("pairs, chance of one attacker"), paper, 0.073, pairs["chance"], tolerance=0.0005),
        Datum.exactly(_("k = 2: survives 13 attackers"), paper, 0.37, pairs["survival"], tolerance=0.005),
    ]
    for k in (2, 3, 4, 6, 7):
        row = _("k = {k}: survives 13 attackers").format(k=k)
        if k > 2:
            cells.append(Datum(row, paper, ours=found[_surviving(0, k, "paper")]["survival"]))
        cells.append(Datum(row, sharp, ours=found[_surviving(0, k, "sharp")]["survival"]))
    return Comparison(cells, [say("sharp_on_pairs"), say("left_to_luck"), say("independent_attackers")])


# --- Table 5 ---------------------------------------------------------------------------------------------------------

_CLASSES = {"unique": UNIQUE, "two alone": TWO_ALONE, "pairs": PAIRS, "triples": TRIPLES}

OF_KINDS = tuple(_surviving(*classes, bound) for classes in _CLASSES.values() for bound in ("paper", "sharp"))


def kinds(found: Findings) -> Comparison:
    """Set the number of releases that survived beside the number to expect against the best attackers."""
    cells = []
    for kind, (count, survived) in KINDS.items():
        row = say(f"kinds.{kind}")
        cells.append(Datum(row, _("releases"), ours=count, digits=0))
        for column, bound in ((_("survived"), "paper"), (_("survived, sharp bound"), "sharp")):
            ours = count * found[_surviving(*_CLASSES[kind], bound)]["survival"] if kind in _CLASSES else None
            cells.append(Datum(row, column, survived if bound == "paper" else None, ours, digits=2))
    return Comparison(cells, [say("kinds_expected"), say("based_on_triples")])


# --- Tables 6 to 10 and their correlations with U: the published draws of team 01, and releases of ours ---------------


QUICK = (*(f"by count, k = {k}{more}" for k in (2, 3, 6) for more in ("", ", cells suppressed")), WINNER)
TEAM_01 = WorkUnit(work.team_01, data=(work.DATA,))
FROM_DIGITS = 0.004
"""How far a correlation of printed numbers may be from the printed one: they have three digits."""
UNEXPLAINED: dict[str, str] = _SAID["unexplained"]
"""Errors of team 01 that nobody has explained, and the erratum that tells of each."""


def release_unit(name: str, asked: Extent) -> WorkUnit:
    """Return the work for one release of ours."""
    return _useful(name, 2 if asked.quick else 20)


def units(asked: Extent) -> list[WorkUnit]:
    """Return the work for Tables 6 to 10; quick takes fewer releases, and fewer draws of them."""
    quick = [release_unit(name, Extent(quick=True)) for name in QUICK]
    if asked.quick:
        return [TEAM_01, *quick]
    return [TEAM_01, *quick, *(release_unit(name, asked) for name in work.RELEASES)]


def _ours(found: Findings) -> dict[str, dict[str, Any]]:
    """Return what was run of our releases, by U."""
    done = {name: found.get(release_unit(name, found.asked)) for name in work.RELEASES}
    return dict(sorted(((name, one) for name, one in done.items() if one), key=lambda pair: float(pair[1]["U"])))


def _words() -> dict[str, str]:
    """Return what the columns of Tables 6 to 10 are called."""
    texts = table_of(__name__)
    titles = {"rfm": "RFM"} | {part: say(f"parts.{part}") for part in texts["parts"]}
    for column in texts["columns"]:
        for name in texts["statistics"]:
            titles[f"{column}.{name}"] = f"{say(f'columns.{column}')}, {say(f'statistics.{name}')}"
    return titles


def table(number: int, found: Findings) -> Comparison:
    """Compare one of Tables 6 to 10."""
    words, ours = _words(), _ours(found)
    team_01, best = found[TEAM_01], ours.get(WINNER)
    cells = []
    for team, printed in TABLES[number].items():
        row = _("team {team} (U {u:.3f})").format(team=team, u=TABLE_3[team][0])
        own = team_01 if team == "01" else best if team == "14" else None
        for part, value in zip(COLUMNS[number], printed, strict=True):
            facts: dict[str, Any] = {"paper": value, "digits": 0 if part == "rows" else 3}
            if own is not None:
                facts |= {"ours": own["errors"][part], "spread": own["spread"][part], "seeds": own["draws"]}
                facts["note"] = _("published draws") if team == "01" else _("ours: the best groups of two")
            if team == "01":
                # four standard errors of the difference between a mean of five and one of a hundred
                facts["tolerance"] = 4 * team_01["spread"][part] * math.sqrt(1 / team_01["draws"] + 1 / 100) + 0.0005
                facts |= {"erratum": UNEXPLAINED.get(part, ""), "unexplained": part in UNEXPLAINED}
            cells.append(Datum(row, words[part], **facts))
    for name, result in ours.items():
        row = f"{name} (U {result['U']:.3f})"
        for part in COLUMNS[number]:
            error, spread = result["errors"][part], result["spread"][part]
            cells.append(Datum(row, words[part], ours=error, spread=spread, seeds=result["draws"]))
    printed_r, our_r = _("correlation with U, printed lines"), _("correlation with U, our releases")
    for part in COLUMNS[number]:
        said, column, r = CORRELATIONS.get(part), words[part], _of_lines(part, number)
        cells.append(Datum.exactly(printed_r, column, said, r, tolerance=FROM_DIGITS))
        cells.append(Datum(our_r, column, said, _of_ours(part, ours)))
    says = [say("team_01"), say("others"), *([say("team_14")] if WINNER in ours else [])]
    says += [say("teams_07_and_08")] if number == 7 else []
    return Comparison(cells, says)


def _of_lines(part: str, number: int, without: Sequence[str] = ()) -> float | None:
    """Return the correlation with U of a table's printed numbers."""
    teams = [team for team in TABLES[number] if team not in without]
    at = COLUMNS[number].index(part)
    values = np.array([TABLES[number][team][at] for team in teams])
    return pearson(np.array([TABLE_3[team][0] for team in teams]), values)


def _of_ours(part: str, ours: dict[str, dict[str, Any]]) -> float | None:
    if len(ours) < 3:
        return None
    u, values = zip(*((float(one["U"]), one["errors"][part]) for one in ours.values()), strict=True)
    return pearson(np.array(u), np.array(values))


def correlations(found: Findings) -> Comparison:
    """Compare which errors go with U beyond chance, over the 13 teams and over our releases."""
    words, ours = _words(), _ours(found)
    limit = rejection_limit(len(ours)) if len(ours) > 2 else None
    yes, no = _("yes"), _("no")
    cells = [
        Datum.exactly(_("limit, 13 releases"), _("correlation"), LIMIT, rejection_limit(13), tolerance=0.001),
        Datum(_("limit, {count} releases").format(count=len(ours)), _("correlation, ours"), ours=limit),
    ]
    agree, shaky = [], []
    for number, columns in COLUMNS.items():
        for part in columns:
            if part not in CORRELATIONS:
                continue
            row, printed, r = words[part], _of_lines(part, number) or 0.0, _of_ours(part, ours)
            told = yes if part in BEYOND else no
            mine = None if r is None or limit is None else yes if abs(r) > limit else no
            fewer = _of_lines(part, number, without=("12",)) or 0.0
            if part in BEYOND and abs(fewer) <= rejection_limit(12):
                shaky.append(row)
            agree += [] if mine is None else [mine == told]
            cells += [
                Datum.exactly(row, _("correlation"), CORRELATIONS[part], printed, tolerance=FROM_DIGITS),
                Datum(row, _("beyond chance"), told, yes if abs(printed) > LIMIT else no, exact=True),
                Datum(row, _("correlation, ours"), ours=r),
                Datum(row, _("beyond chance, ours"), ours=mine),
            ]
    says = [say("without_team_12", shaky=", ".join(shaky))]
    if agree:
        says.append(say("agreement", count=len(ours), same=sum(agree), all=len(agree)))
    return Comparison(cells, says)


# --- The final of 2018 played again: 13 teams of Table 5's kinds, attacking each other, by either bound ---------------


QUICK_TEAMS = ("A", "J", "M")
"""One team each without a group, of pairs and of triples, whose releases take a second to make."""
REGISTERED = ("consistency", "item-candidates", "jaccard", "nearest")
"""Attacks of ours that purchase histories can be attacked with as they stand; two are the rulebook's own."""
QUICK_ATTACKS = ("consistency", "jaccard")
SELDOM = 0.005
"""Chances below that are in the table alone."""
TEAM_10 = (0.193, 1_912)
"""U and deleted rows that Tables 3 and 7 print for it."""

_made = unit_of(work.made, DATA)


def _entered(team: str) -> WorkUnit:
    return WorkUnit(work.entered, (team,), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


def _played(team: str, bound: Bound, seed: int) -> WorkUnit:
    return WorkUnit(work.played, (team, bound, seed), data=(DATA,), needs=(_entered(team),))


def _registered(team: str, attack: str, seed: int) -> WorkUnit:
    return WorkUnit(work.registered, (team, attack, seed), data=(DATA,), needs=(_made(ENTRIES[team].recipe),))


def _same(team: str) -> str:
    """Return the first team with the release of this one: three have the same."""
    return next(other for other in ENTRIES if ENTRIES[other] == ENTRIES[team])


def cup_units(asked: Extent) -> list[WorkUnit]:
    """Return the work; quick takes the teams whose releases are made at once, the quick attacks, and one seed."""
    teams = [team for team in ENTRIES if not asked.quick or team in QUICK_TEAMS]
    tried = QUICK_ATTACKS if asked.quick else REGISTERED
    recipes = list(dict.fromkeys(ENTRIES[team].recipe for team in teams))
    different = [team for team in teams if _same(team) == team]
    return [
        *map(_made, recipes),
        *map(_entered, teams),
        *(_played(*one) for one in product(teams, work.BOUNDS, asked.seeds(full=5))),
        *(_registered(*one) for one in product(different, tried, asked.seeds(full=2))),
    ]


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
        for bound, outcome in outcomes.items():  # who wins by either, the likeliest first
            first, teams, rows = outcome.first, list(entries), []
            cups = first.shape[0] * first.shape[1]
            for words, members, chance in outcome.likeliest():
                won = int(first[:, :, [teams.index(team) for team in members]].any(axis=2).sum())
                low, high = share_interval(won, cups)
                rows.append(say("winner", words=words, chance=chance, won=won / cups, low=low, high=high))
            quota = outcome.book.quota.guesses
            more = "; ".join(f"{words} {chance:.1%}" for words, _who, chance in outcome.likeliest(quota))
            says += [say(f"title.{bound}", rows="; ".join(rows)), say("quota", guesses=quota, rows=more)]
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


# --- What S0 gets wrong, with what follows from its own numbers -------------------------------------------------------


ROWS = 89_278
"""Rows of the final round."""
MEAN_DAY = 541.973_23
"""Their mean date, in days from 2010/1/1."""


def errata() -> Iterator[Erratum]:
    """Yield the errata."""
    yield Erratum.of("S0", "caption")
    numbers = [TABLES[6][team][0] for team in sorted(TABLE_3, key=lambda team: TABLE_3[team][0])]
    yield Erratum.of("S0", "itemsets", least=numbers[0], most=numbers[-1])
    sums = []
    for team in ("01", "11", "14"):
        row, deleted = _("team {team}, sum of dates").format(team=team), TABLES[7][team][0]
        printed, mean, *_rest = TABLES[8][team]
        ours = deleted * MEAN_DAY - (ROWS - deleted) * mean
        sums.append(Datum.exactly(row, "", printed, ours, tolerance=60.0, digits=0))
    yield Erratum.of("S0", "dates", sums)
    yield Erratum.of("S0", "medians")


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = PaperDocument(
    key="S0",
    title=N_("Report of PWS Cup 2018: safety and usefulness of generalised purchase histories"),
    citation="Hamada et al. Report of PWS Cup 2018, the contest of anonymisation and re-identification (in Japanese).",
    parts=(
        PaperSection("check", "examples", N_("What the text works out"), SURVIVING, examples),
        PaperSection("table", "3", N_("U of the 13 releases, and who was re-identified"), (BEST,), results),
        PaperSection("table", "4", N_("Right answers that prove a release unsafe"), (), table_4),
        PaperSection("table", "5", N_("Kinds of releases, and how many survived"), OF_KINDS, kinds),
        PaperSection("table", "6", N_("Errors of use cases"), units, partial(table, 6)),
        PaperSection("table", "7", N_("Errors of rows and top items"), units, partial(table, 7)),
        PaperSection("table", "8", N_("Errors of dates, in days"), units, partial(table, 8)),
        PaperSection("table", "9", N_("Errors of prices, in pence"), units, partial(table, 9)),
        PaperSection("table", "10", N_("Errors of quantities"), units, partial(table, 10)),
        PaperSection("check", "correlations", N_("What goes with U beyond chance"), units, correlations),
        PaperSection("check", "contest", N_("The final played again: who would have won"), cup_units, contest),
    ),
    errata=errata,
)
