"""Reproduction of S0: its test of safety, the utility of releases, the final played again, and the errata."""

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
    Line,
    PaperDocument,
    PaperSection,
    UnitResults,
    join_labels,
    lines,
    unit_of,
)
from noren.reproduce.s0_work import DATA, ENTRIES
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_PRINTED = table_of("noren.reproduce.s0_printed")
TABLE_3: dict[str, tuple[float, bool]] = _PRINTED["table_3"]
TABLE_4: dict[int, int | None] = dict.fromkeys(range(7)) | {
    first + at: needed for first, all_needed in _PRINTED["table_4"] for at, needed in enumerate(all_needed)
}
"""How many of so many named customers must be right; ``None`` where no number is enough."""
KINDS: dict[str, tuple[int, int]] = _PRINTED["kinds"]
"""Table 5: releases of a kind, and those never re-identified effectively."""
LIMIT: float = _PRINTED["limit"]
BEYOND: list[str] = _PRINTED["beyond"]
COLUMNS: dict[int, list[str]] = {int(number): names for number, names in _PRINTED["columns"].items()}
TABLES: dict[int, dict[str, list[float]]] = {int(number): lines for number, lines in _PRINTED["tables"].items()}
"""Tables 6 to 10, by team."""
CORRELATIONS: dict[str, float] = _PRINTED["correlations"]
"""The last line of each: Pearson's correlation with U."""
PAIRS, TRIPLES, TWO_ALONE, UNIQUE = (0, 2), (0, 3), (2, 2), (100, 2)
"""Unprotected customers, and the size of the classes of the others."""
_useful, _surviving = unit_of(work.useful, work.DATA), unit_of(work.surviving)
WINNER = "generalize, k = 2"
BEST = _useful(WINNER, 2)
"""The best pairs; two draws of them, since Table 3 needs none."""


def bound_labels() -> dict[Bound, str]:
    """Return the labels of the two bounds."""
    return {"paper": _("S0's bound"), "sharp": _("sharp bound")}


def table_3(results: UnitResults) -> Comparison:
    """Compare U of the best pairs with the teams'; the teams' own releases are not public."""
    ours = results[BEST]
    cells = []
    for team, (u, broken) in TABLE_3.items():
        row, same = _("team {team}").format(team=team), u == 0.206
        best, note = (ours["U"], WINNER) if same else (None, "")
        cells += [
            Datum(row, "U", u, best, exact=same, tolerance=0.0005, note=note),
            Datum(row, _("effective"), _("yes") if broken else _("no")),
        ]
    return Comparison(cells, [say("three_teams", u=ours["U"], rows=ours["deleted"], bound=ours["lower_bound"])])


def table_4(_results: UnitResults) -> Comparison:
    """Compare all values of r, and show those of the sharp bound."""
    sharp = thresholds(999, "sharp")
    cells = []
    for n, printed in TABLE_4.items():
        ours = threshold(n)
        row = f"n' = {n}"
        cells += [
            Datum.exactly(row, "r(n')", "*" if printed is None else printed, "*" if ours > n else ours, digits=0),
            Datum(row, _("sharp bound"), ours="*" if sharp[n] > n else sharp[n], digits=0),
        ]
    return Comparison(cells, [say("table_4")])


SURVIVING = tuple(_surviving(0, k, bound) for k in (2, 3, 4, 6, 7) for bound in ("paper", "sharp"))


def examples(results: UnitResults) -> Comparison:
    """Compare the worked examples, and show how often each k survives 13 attackers by either bound."""
    pairs = results[_surviving(*PAIRS, "paper")]
    yes, no = _("yes"), _("no")
    paper, sharp = bound_labels().values()
    satisfies, survives = _("{k}-anonymous data satisfy H0"), _("probability of surviving 13 attackers")
    chance = _("success probability of the best attack")
    cells = [
        Datum.exactly("7! ", paper, 5040, factorial(7), digits=0),
        Datum.exactly("3^7", paper, 2187, 1 / float(union_probability(7, 7)), tolerance=1e-6, digits=0),
        Datum.exactly("6!", paper, 720, factorial(6), digits=0),
        Datum(satisfies.format(k=7), paper, yes, yes if satisfies_h0([7]) else no, exact=True),
        Datum(satisfies.format(k=6), paper, no, yes if satisfies_h0([6]) else no, exact=True),
        Datum.exactly(f"k = 2: {chance}", paper, 0.073, pairs["chance"], tolerance=0.0005),
        Datum.exactly(f"k = 2: {survives}", paper, 0.37, pairs["survival"], tolerance=0.005),
    ]
    for k in (2, 3, 4, 6, 7):
        row = f"k = {k}: {survives}"
        if k > 2:
            cells.append(Datum(row, paper, ours=results[_surviving(0, k, "paper")]["survival"]))
        cells.append(Datum(row, sharp, ours=results[_surviving(0, k, "sharp")]["survival"]))
    return Comparison(cells, [say("survival")])


_CLASSES = {"unique": UNIQUE, "two alone": TWO_ALONE, "pairs": PAIRS, "triples": TRIPLES}

OF_KINDS = tuple(_surviving(*classes, bound) for classes in _CLASSES.values() for bound in ("paper", "sharp"))


def kinds(results: UnitResults) -> Comparison:
    """Compare the number of releases that survived with the number to expect against optimal attackers."""
    cells = []
    for kind, (count, survived) in KINDS.items():
        row = say(f"kinds.{kind}")
        cells.append(Datum(row, _("releases"), ours=count, digits=0))
        for bound, label in bound_labels().items():
            ours = count * results[_surviving(*_CLASSES[kind], bound)]["survival"] if kind in _CLASSES else None
            printed = survived if bound == "paper" else None
            cells.append(Datum(row, join_labels(label, _("survivors")), printed, ours, digits=2))
    return Comparison(cells, [say("kinds_expected")])


# --- Tables 6 to 10 and their correlations with U: the published draws of team 01, and releases of ours ---------------


QUICK = (*(f"by count, k = {k}{more}" for k in (2, 3, 6) for more in ("", ", cells suppressed")), WINNER)
TEAM_01 = WorkUnit(work.team_01, data=(work.DATA,))
FROM_DIGITS = 0.004
"""How far a correlation of printed numbers may be from the printed one: they have three digits."""
UNEXPLAINED: dict[str, str] = _PRINTED["unexplained"]
"""Unexplained errors of team 01, and the erratum of each."""


def release_unit(name: str, extent: Extent) -> WorkUnit:
    """Return the work for one of our releases."""
    return _useful(name, 2 if extent.quick else 20)


def units(extent: Extent) -> list[WorkUnit]:
    """Return the work for Tables 6 to 10; quick takes fewer releases, and fewer draws of them."""
    quick = [release_unit(name, Extent(quick=True)) for name in QUICK]
    if extent.quick:
        return [TEAM_01, *quick]
    return [TEAM_01, *quick, *(release_unit(name, extent) for name in work.RELEASES)]


def _ours(results: UnitResults) -> dict[str, dict[str, Any]]:
    """Return the results of our releases that were run, sorted by U."""
    all_results = {name: results.get(release_unit(name, results.extent)) for name in work.RELEASES}
    run = [(name, result) for name, result in all_results.items() if result]
    return dict(sorted(run, key=lambda pair: float(pair[1]["U"])))


def column_titles() -> dict[str, str]:
    """Return the titles of the columns of Tables 6 to 10."""
    texts = table_of(__name__)
    titles = {"rfm": "RFM"} | {part: say(f"parts.{part}") for part in texts["parts"]}
    for column in texts["columns"]:
        for name in texts["statistics"]:
            titles[f"{column}.{name}"] = f"{say(f'columns.{column}')}, {say(f'statistics.{name}')}"
    return titles


def table(number: int, results: UnitResults) -> Comparison:
    """Compare one of Tables 6 to 10."""
    titles, ours = column_titles(), _ours(results)
    team_01, best = results[TEAM_01], ours.get(WINNER)
    cells = []
    for team, printed in TABLES[number].items():
        row = _("team {team}").format(team=team) + f" (U {TABLE_3[team][0]:.3f})"
        own = team_01 if team == "01" else best if team == "14" else None
        for part, value in zip(COLUMNS[number], printed, strict=True):
            facts: dict[str, Any] = {"paper": value, "digits": 0 if part == "rows" else 3}
            if own is not None:
                facts |= {"ours": own["errors"][part], "spread": own["spread"][part], "seeds": own["draws"]}
                facts["note"] = "" if team == "01" else WINNER
            if team == "01":
                # four standard errors of the difference between a mean of five and one of a hundred
                facts["tolerance"] = 4 * team_01["spread"][part] * math.sqrt(1 / team_01["draws"] + 1 / 100) + 0.0005
                facts |= {"erratum": UNEXPLAINED.get(part, ""), "unexplained": part in UNEXPLAINED}
            cells.append(Datum(row, titles[part], **facts))
    for name, result in ours.items():
        row = f"{name} (U {result['U']:.3f})"
        for part in COLUMNS[number]:
            error, spread = result["errors"][part], result["spread"][part]
            cells.append(Datum(row, titles[part], ours=error, spread=spread, seeds=result["draws"]))
    row = _("correlation with U")
    for part in COLUMNS[number]:
        printed_r, column, r = CORRELATIONS.get(part), titles[part], _of_lines(part, number)
        cells.append(Datum.exactly(row, column, printed_r, r, tolerance=FROM_DIGITS))
        cells.append(Datum(join_labels(_("our releases"), row), column, printed_r, _of_ours(part, ours)))
    return Comparison(cells, [say("team_01"), say("others"), *([say("teams_07_and_08")] if number == 7 else [])])


def _of_lines(part: str, number: int, without: Sequence[str] = ()) -> float | None:
    """Return the correlation with U of a table's printed numbers."""
    teams = [team for team in TABLES[number] if team not in without]
    at = COLUMNS[number].index(part)
    values = np.array([TABLES[number][team][at] for team in teams])
    return pearson(np.array([TABLE_3[team][0] for team in teams]), values)


def _of_ours(part: str, ours: dict[str, dict[str, Any]]) -> float | None:
    if len(ours) < 3:
        return None
    u, values = zip(*((float(result["U"]), result["errors"][part]) for result in ours.values()), strict=True)
    return pearson(np.array(u), np.array(values))


def correlations(results: UnitResults) -> Comparison:
    """Compare which errors correlate significantly with U, over the 13 teams and over our releases."""
    titles, ours = column_titles(), _ours(results)
    limit = rejection_limit(len(ours)) if len(ours) > 2 else None
    yes, no = _("yes"), _("no")
    row, correlation, significant = _("significance limit, {count} releases"), _("correlation with U"), _("significant")
    our_correlation, our_significant = (join_labels(_("our releases"), label) for label in (correlation, significant))
    cells = [
        Datum.exactly(row.format(count=13), correlation, LIMIT, rejection_limit(13), tolerance=0.001),
        Datum(row.format(count=len(ours)), our_correlation, ours=limit),
    ]
    agree, shaky = [], []
    for number, columns in COLUMNS.items():
        for part in columns:
            if part not in CORRELATIONS:
                continue
            row, printed, r = titles[part], _of_lines(part, number) or 0.0, _of_ours(part, ours)
            stated = yes if part in BEYOND else no
            mine = None if r is None or limit is None else yes if abs(r) > limit else no
            fewer = _of_lines(part, number, without=("12",)) or 0.0
            if part in BEYOND and abs(fewer) <= rejection_limit(12):
                shaky.append(row)
            agree += [] if mine is None else [mine == stated]
            cells += [
                Datum.exactly(row, correlation, CORRELATIONS[part], printed, tolerance=FROM_DIGITS),
                Datum(row, significant, stated, yes if abs(printed) > LIMIT else no, exact=True),
                Datum(row, our_correlation, ours=r),
                Datum(row, our_significant, ours=mine),
            ]
    remarks = [say("without_team_12", shaky=", ".join(shaky))]
    if agree:
        remarks.append(say("agreement", count=len(ours), same=sum(agree), all=len(agree)))
    return Comparison(cells, remarks)


# --- The final of 2018 played again: 13 teams of Table 5's kinds, attacking each other, by either bound ---------------


QUICK_TEAMS = ("A", "J", "M")
"""One team each without groups, with pairs and with triples, whose releases take a second to make."""
REGISTERED = ("consistency", "item-candidates", "jaccard", "nearest")
"""Our attacks that need nothing but the purchase histories; two are the rulebook's own."""
QUICK_ATTACKS = ("consistency", "jaccard")
SELDOM = 0.005
"""Smaller probabilities are only in the table."""
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
    """Return the first team with the same release: three teams share one."""
    return next(other for other in ENTRIES if ENTRIES[other] == ENTRIES[team])


def cup_units(extent: Extent) -> list[WorkUnit]:
    """Return the work; quick takes the teams whose releases are made quickly, the quick attacks, and one seed."""
    teams = [team for team in ENTRIES if not extent.quick or team in QUICK_TEAMS]
    tried = QUICK_ATTACKS if extent.quick else REGISTERED
    recipes = list(dict.fromkeys(ENTRIES[team].recipe for team in teams))
    different = [team for team in teams if _same(team) == team]
    return [
        *map(_made, recipes),
        *map(_entered, teams),
        *(_played(*arguments) for arguments in product(teams, work.BOUNDS, extent.seeds(full=5))),
        *(_registered(*arguments) for arguments in product(different, tried, extent.seeds(full=2))),
    ]


def entry_label(team: str) -> str:
    """Return the label of a team's release."""
    entry = ENTRIES[team]
    return say("entry", recipe=entry.recipe, count=entry.unprotected) if entry.unprotected else entry.recipe


def win_chances(scores: Sequence[float], survival: Sequence[float]) -> list[float]:
    """Return each team's probability of winning, shared or not, given independent probabilities of survival.

    The best score among the survivors wins; without survivors, nobody wins.

    >>> win_chances([0.1, 0.2, 0.3], [0.5, 0.5, 0.25])
    [0.5, 0.25, 0.0625]
    """
    chances = []
    for score, alive in zip(scores, survival, strict=True):
        before = prod(1 - other for at, other in zip(scores, survival, strict=True) if at < score)
        chances.append(alive * before)
    return chances


class _Outcome:
    """The outcome for the teams that were run, by one bound."""

    def __init__(self, results: UnitResults, entries: Mapping[str, Any], bound: Bound):
        self.book, self.entries = work.rules(bound), entries
        played = {team: results.over_seeds(_played, team, bound, full=5) for team in entries}
        self.effective = {team: np.array(counts) for team, counts in played.items()}  # seed by cup
        self.chance = {team: float(entry["plans"][bound]["chance"]) for team, entry in entries.items()}
        self.whole = len(entries) == len(ENTRIES)
        none = dict.fromkeys(self.book.of_guess(), 0.0)
        self.scores = {team: self.book.score(entry["values"] | none) or 0.0 for team, entry in entries.items()}

    def survival(self, guesses: int = 1) -> dict[str, float]:
        """Return the probability that each team survives all others, who submit so many guesses each."""
        return {team: (1 - chance) ** (work.OTHERS * guesses) for team, chance in self.chance.items()}

    @cached_property
    def wins(self) -> dict[str, float]:
        """The probability that each team wins; empty where some teams were left out."""
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
                values = entry["values"] | dict.fromkeys(self.book.of_guess(), hit)
                score, fails = self.book.score(values), bool(self.book.broken(values))
                keys.append(None if score is None or (fails and self.book.otherwise == "none") else (fails, score))
            won[place] = [rank == 1 for rank in ranks(keys)]
        return won

    def likeliest(self, guesses: int = 1) -> list[tuple[str, list[str], float]]:
        """Return releases, their teams and their probability of winning, the likeliest first, without the unlikely.

        Teams with the same release have equal scores. Which of them survive does not matter to those after them, so
        they count as one team that survives if any of them does.
        """
        alive = self.survival(guesses)
        teams: dict[str, list[str]] = {}
        for team in self.entries:
            teams.setdefault(entry_label(team), []).append(team)
        groups = []
        for label, members in teams.items():
            others = [team for team in self.entries if team not in members]
            scores = [self.scores[team] for team in (members[0], *others)]
            any_alive = 1 - prod(1 - alive[team] for team in members)
            groups.append((label, members, win_chances(scores, [any_alive, *(alive[team] for team in others)])[0]))
        return sorted((group for group in groups if group[2] >= SELDOM), key=lambda group: -group[2])


def contest(results: UnitResults) -> Comparison:
    """Show who survives and who wins, exactly and as played, by S0's bound and by the sharp one."""
    entries = {team: results[_entered(team)] for team in ENTRIES if _entered(team) in results}
    # U is all that the rulebook measures of a release alone
    u = {team: float(next(iter(entry["values"].values()))) for team, entry in entries.items()}
    outcomes = {bound: _Outcome(results, entries, bound) for bound in work.BOUNDS}
    cells = [cell for team in ENTRIES for cell in _of_team(team, results, entries.get(team), u.get(team), outcomes)]
    cells += [cell for kind in KINDS for cell in _of_kind(kind, outcomes)]
    remarks = [say("cup", cups=work.CUPS)]
    if "D" in entries:
        deleted = entries["D"]["deleted"]
        remarks.append(say("team_10", u=u["D"], rows=deleted, printed_u=TEAM_10[0], printed_rows=TEAM_10[1]))
    charts = []
    if len(entries) == len(ENTRIES):
        labels = bound_labels()
        for bound, outcome in outcomes.items():  # who wins by either, the likeliest first
            first, teams, winners = outcome.first, list(entries), []
            cups = first.shape[0] * first.shape[1]
            for label, members, chance in outcome.likeliest():
                won = int(first[:, :, [teams.index(team) for team in members]].any(axis=2).sum())
                low, high = share_interval(won, cups)
                played = join_labels(_("won"), f"{won / cups:.1%}, 95 %: {low:.1%}–{high:.1%}")
                winners.append(f"{label} {chance:.1%} ({played})")
            quota = outcome.book.quota.guesses
            with_quota = "; ".join(f"{label} {chance:.1%}" for label, _teams, chance in outcome.likeliest(quota))
            names = "; ".join(winners)
            remarks.append(say("winners", bound=labels[bound], winners=names, guesses=quota, with_quota=with_quota))
        nobody = {
            bound: prod(1 - alive for alive in outcome.survival().values()) for bound, outcome in outcomes.items()
        }
        remarks.append(say("nobody", label=entry_label(min(u, key=lambda team: u[team])), **nobody))
        order = sorted(entries, key=lambda team: (outcomes["paper"].scores[team], team))
        panels: dict[str, list[Line]] = {
            label: [
                (_("survives"), [outcome.survival()[team] for team in order], "paper"),
                (_("wins"), [outcome.wins[team] for team in order], "ours"),
            ]
            for label, outcome in zip(labels.values(), outcomes.values(), strict=True)
        }
        title = _("The final played again: who would have won")
        across, up = _("team, by U"), _("probability")
        charts = [lines(title, order, panels, across_title=across, up_title=up, up=(0.0, 1.0), columns=2, width=280)]
    return Comparison(cells, remarks, charts)


def _of_team(
    team: str, results: UnitResults, entry: Any, u: float | None, outcomes: Mapping[Bound, _Outcome]
) -> list[Datum]:
    row = f"{team}: {entry_label(team)}"
    sizes = "" if entry is None else ", ".join(f"{count:,} × {size}" for size, count in entry["classes"].items())
    cells = [Datum(row, "U", ours=u, note=_("classes: {sizes}").format(sizes=sizes) if entry else "")]
    attacks, seeds = REGISTERED, results.extent.seeds(full=2)
    tries = results.of([_registered(_same(team), attack, seed) for attack, seed in product(attacks, seeds)])
    for bound, label in bound_labels().items():
        outcome = outcomes[bound]
        at = list(outcome.entries).index(team) if outcome.whole else 0
        effective = sum(result["effective"][bound] for result in tries)
        share = f"{effective}/{len(tries)}" if tries else None
        won = outcome.first[:, :, at].mean(axis=1).tolist() if outcome.whole else []
        cells += [
            Datum(row, join_labels(label, _("survives")), ours=outcome.survival().get(team)),
            Datum(row, join_labels(label, _("wins")), ours=outcome.wins.get(team)),
            Datum.over(row, join_labels(label, _("won")), won),
            Datum(row, join_labels(label, _("registered attacks")), ours=share),
        ]
    return cells


def _of_kind(kind: str, outcomes: Mapping[Bound, _Outcome]) -> list[Datum]:
    count, survived = KINDS[kind]
    teams = [team for team, entry in ENTRIES.items() if entry.kind == kind]
    if len(teams) != count:
        raise ValueError(kind)
    cells = []
    for bound, label in bound_labels().items():
        outcome = outcomes[bound]
        values: list[float] = []
        if all(team in outcome.entries for team in teams):
            alive = sum(outcome.effective[team] == 0 for team in teams)
            values = [float(count) for count in np.asarray(alive).ravel()]
        column, printed = join_labels(label, _("survivors")), survived if bound == "paper" else None
        cells.append(Datum.over(say(f"kinds.{kind}"), column, values, paper=printed, digits=2))
    return cells


ROWS = 89_278
"""Rows of the final round."""
MEAN_DAY = 541.973_23
"""Their mean date, in days from 2010/1/1."""


def errata() -> Iterator[Erratum]:
    """Yield the errata, recomputed from S0's own numbers."""
    yield Erratum.of("S0", "caption")
    numbers = [TABLES[6][team][0] for team in sorted(TABLE_3, key=lambda team: TABLE_3[team][0])]
    yield Erratum.of("S0", "itemsets", least=numbers[0], most=numbers[-1])
    sums = []
    for team in ("01", "11", "14"):
        row, deleted = _("team {team}").format(team=team), TABLES[7][team][0]
        printed, mean, *_rest = TABLES[8][team]
        ours = deleted * MEAN_DAY - (ROWS - deleted) * mean
        sums.append(Datum.exactly(row, column_titles()["date.sum"], printed, ours, tolerance=60.0, digits=0))
    yield Erratum.of("S0", "dates", sums)
    yield Erratum.of("S0", "medians")


DOCUMENT = PaperDocument.of(
    "S0",
    PaperSection("check", "examples", N_("Worked examples of the text"), SURVIVING, examples),
    PaperSection("table", "3", N_("U of the 13 releases, and which were re-identified"), (BEST,), table_3),
    PaperSection("table", "4", N_("Right answers that prove a release unsafe"), (), table_4),
    PaperSection("table", "5", N_("Kinds of releases and their survivors"), OF_KINDS, kinds),
    PaperSection("table", "6", N_("Errors of use cases"), units, partial(table, 6)),
    PaperSection("table", "7", N_("Errors of rows and top items"), units, partial(table, 7)),
    PaperSection("table", "8", N_("Errors of dates, in days"), units, partial(table, 8)),
    PaperSection("table", "9", N_("Errors of prices, in pence"), units, partial(table, 9)),
    PaperSection("table", "10", N_("Errors of quantities"), units, partial(table, 10)),
    PaperSection("check", "correlations", N_("Errors that correlate with U"), units, correlations),
    PaperSection("check", "contest", N_("The final played again: who would have won"), cup_units, contest),
    errata=errata,
)
