"""What the documents leave open, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from noren.drawing.base import layer, picture, scaled
from noren.i18n import N_, _
from noren.kernels.judging.shares import mean_high, mean_low
from noren.kernels.judging.threshold import thresholds
from noren.reproduce import beyond_work as work
from noren.reproduce import s4
from noren.reproduce.frame import (
    Chart,
    Comparison,
    Datum,
    Extent,
    Findings,
    Line,
    Look,
    PaperDocument,
    PaperSection,
    lines,
    unit_of,
)
from noren.reproduce.s0 import BEST, KINDS, TABLE_3
from noren.tables import Texts
from noren.work.store import WorkUnit

say = Texts(__name__)
NAMED = (7, 10, 17, 18, 24, 49, 60, 99, 126, 200, 300, 500, 999)
SIZES = (2, 3, 4, 5, 6, 7, 10)
KS = (2, 3, 4, 6, 10)


# --- the sharp bound -------------------------------------------------------------------------------------------------


def bound(_found: Findings) -> Comparison:
    """Set what S0's bound asks of an attacker beside what H0 allows at all."""
    paper, sharp = thresholds(999, "paper"), thresholds(999, "sharp")
    cells = []
    for n in NAMED:
        row = f"n' = {n}"
        cells += [
            Datum(row, _("S0's bound"), ours=paper[n], digits=0),
            Datum(row, _("sharp bound"), ours=sharp[n], digits=0),
            Datum(row, _("fewer"), ours=paper[n] - sharp[n], digits=0),
        ]

    asked = (7, 10, 13, 17, 20, 24, 30, 38, 49, 70, 99, 126, 160, *range(200, 1_000, 100), 999)
    chart = lines(
        _("How many right answers are proof"),
        asked,
        {
            "": [
                (_("S0's bound"), [paper[n] / n for n in asked], "paper"),
                (_("sharp bound"), [sharp[n] / n for n in asked], "ours"),
            ]
        },
        across_title=_("customers named"),
        up_title=_("share that must be right to prove a release unsafe"),
        up=(0.3, 1.0),
        height=220,
    )
    first = next(n for n in range(7, 1_000) if paper[n] != sharp[n])
    says = [say("bounds_agree", n=first - 1, sharp=sharp[999], paper=paper[999])]
    return Comparison(cells, says, [chart])


_plan = unit_of(work.plan)
OF_CLASSES = tuple(_plan(size, bound) for size in SIZES for bound in ("paper", "sharp"))


def classes(found: Findings) -> Comparison:
    """Say what the best attacker does to 1,000 customers in classes of one size, for each of the two bounds."""
    cells = []
    for size in SIZES:
        row = f"k = {size}"
        for bound, words in (("paper", _("S0's bound")), ("sharp", _("sharp bound"))):
            best = found[_plan(size, bound)]
            said = _("{right} right of {named}").format(right=best["needed"], named=best["named"])
            cells += [
                Datum(row, _("{bound}: best attack").format(bound=words), ours=said),
                Datum(row, _("{bound}: its chance").format(bound=words), ours=best["chance"], digits=4),
                Datum(row, _("{bound}: 13 survived").format(bound=words), ours=best["survival"]),
            ]
    count, survived = KINDS["pairs"]
    pairs = found[_plan(2, "paper")]["survival"]
    return Comparison(cells, [say("pairs", count=count, survived=survived, pairs=pairs), say("larger_classes")])


# --- groups ----------------------------------------------------------------------------------------------------------


_by_count = unit_of(work.by_count, work.HISTORIES)


def _grouped(k: int) -> WorkUnit:
    return BEST if k == 2 else WorkUnit(work.grouped, (k, "normal"), data=(work.HISTORIES,))


def frontier_units(asked: Extent) -> list[WorkUnit]:
    """Return the work for the frontier; quick searches the best pairs alone."""
    counted = [_by_count(k, suppress) for k in KS for suppress in (False, True)]
    return [*counted, *map(_grouped, KS[:1] if asked.quick else KS)] + [_plan(k, "sharp") for k in KS]


def frontier(found: Findings) -> Comparison:
    """Set the best groups of k that are found beside S1's groups, a lower bound, and the teams' 13 releases."""
    cells, points = [], []
    for k in KS:
        row = f"k = {k}"
        plain, suppressed = found[_by_count(k, False)], found[_by_count(k, True)]
        best: dict[str, Any] | None = found.get(_grouped(k))
        survival = found[_plan(k, "sharp")]["survival"]
        note = _("no groups of {k} are better").format(k=k) if best and best["optimal"] else ""
        cells += [
            Datum(row, _("S1's groups"), ours=plain["U"], digits=4),
            Datum(row, _("cells suppressed"), ours=suppressed["U"], digits=4),
            Datum(row, "generalize", ours=best["U"] if best else None, digits=4, note=note),
            Datum(row, _("lower bound"), ours=best["lower_bound"] if best else None, digits=4),
            Datum(row, _("rows deleted"), ours=best["deleted"] if best else None, digits=0),
            Datum(row, _("13 survived, sharp"), ours=survival),
        ]
        kinds = ((_("S1's groups"), plain), (_("generalize"), best))
        points += [{"kind": kind, "U": one["U"], "safe": survival, "name": row} for kind, one in kinds if one]
    for team, (u, hit) in TABLE_3.items():
        kind = _("team, found out") if hit else _("team, never found out")
        points.append({"kind": kind, "U": u, "safe": 0.0 if hit else 1.0, "name": team})
    return Comparison(cells, [say("teams_stand"), say("ours_stand")], [_map(points)])


def _map(points: list[dict[str, Any]]) -> Chart:
    """Return the map of error and survival: ours with their k, the teams with their number."""
    looks = {
        _("S1's groups"): ("$muted", "square"),
        _("generalize"): ("$indigo", "circle"),
        _("team, found out"): ("$persimmon", "cross"),
        _("team, never found out"): ("$teal", "triangle-up"),
    }
    there = [kind for kind in looks if any(point["kind"] == kind for point in points)]
    said = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 300}
    colour, shape = (
        {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": there, "range": [looks[kind][at] for kind in there]},
            "legend": said,
        }
        for at in range(2)
    )
    encoding = {
        "x": scaled("U", _("U, the error of a cell"), [0.15, 0.75], ""),
        "y": scaled("safe", _("chance to outlive 13 attackers"), [-0.05, 1.1], ""),
        "color": colour,
    }
    ours = [point for point in points if point["kind"] in (_("generalize"), _("S1's groups"))]
    best = [point for point in ours if point["kind"] == _("generalize")]
    words = {"type": "text", "dy": -11, "fontSize": 10}
    marks = {"type": "point", "filled": True, "size": 70, "opacity": 0.9}
    layers = [
        layer(best, {"type": "line", "strokeWidth": 1.5}, encoding),
        layer(points, marks, encoding | {"shape": shape}),
        layer(ours, words, encoding | {"text": {"field": "name"}}),
    ]
    spec = {"layer": layers, "width": 620, "height": 300}
    return Chart(_("Error and survival on the final data of 2018"), lambda: picture(spec))


# --- What ``auto`` gains on S4's own tables; the work is S4's ---------------------------------------------------------


def gains(found: Findings) -> Comparison:
    """Set the paper's reconstruction and ``auto`` beside each other, and what is left to the truth."""
    cells: list[Datum] = []
    paper: dict[str, float] = {}
    ours: dict[str, float | None] = {}
    for table, (_rho, _perturbed, reconstructed) in s4.TABLE_5.items():
        for k, said in zip(s4.KS, reconstructed, strict=True):
            row = f"{table}, k = {k}"
            runs = found.of([s4.adult_unit(table, k, seed, "auto") for seed in found.asked.seeds(full=s4.SEEDS)])
            auto = fmean(run["reconstructed"] for run in runs) if runs else None
            paper[row], ours[row] = said, auto
            cells += [
                Datum(row, _("the paper"), ours=said, digits=1),
                Datum(row, "auto", ours=auto, digits=1),
                Datum(row, _("gain"), ours=None if auto is None else auto - said, digits=1),
            ]
    gained = [auto - paper[row] for row, auto in ours.items() if auto is not None]
    says = []
    if gained:
        says.append(say("gained", gain=fmean(gained), cells=len(gained), best=max(gained), worst=min(gained)))
    chart = lines(
        _("What is left of the truth, by table and k"),
        list(paper),
        {"": [(_("the paper"), list(paper.values()), "paper"), ("auto", list(ours.values()), "better")]},
        across_title="",
        up_title=_("L1 precision, per cent"),
        up=(60, 95),
        height=220,
    )
    return Comparison(cells, says, [chart])


# --- A year of a ledger: what each month adds to what can be found; and which way to publish every month --------------


BUDGET = 0.265
LOOKS: dict[str, Look] = {"thin 10 %, light noise": "paper", "groups of 3": "ours", "groups of 5": "better"}
"""How lines are drawn; of pseudonyms alone all are found at once, and there is nothing to draw."""
CERTIFIED = ("groups of 3", "groups of 5")
STORY = "thin 10 %, light noise"
ATTACKS = ("s1-s8", "linkage")
SHOWN = (0, 1, 2, 3, 5, 8, 11)
SEEDS = 3
WAYS = ("months", "year", "cut")
K = 3


# --- a year of a ledger ----------------------------------------------------------------------------------------------


_kept = unit_of(work.kept_books, work.MONTHS)


def year_units(asked: Extent) -> list[WorkUnit]:
    """Return the work for a year; quick looks at one way to protect it, by S1 to S8 alone."""
    if asked.quick:
        return [_kept(STORY, "s1-s8")]
    return [_kept(name, attack) for name in work.CHAINS for attack in ATTACKS]


def year(found: Findings) -> Comparison:
    """Say MM after months for each way to protect one, what is certified, and when a budget would be spent."""
    cells, says = [], []
    after = [_("after {count} months").format(count=at + 1) if at else _("after a month") for at in SHOWN]
    for name in work.CHAINS:
        words, certified = say(f"chains.{name}"), None
        for attack in ATTACKS:
            book = found.get(_kept(name, attack))
            row = _("{chain}, by {attack}").format(chain=words, attack="S1–S8" if attack == "s1-s8" else attack)
            cells += _after(row, after, book, "mm")
            if book and name in CERTIFIED:
                certified = book
            elif book:
                low, high = book["interval"][-1]
                says += [_refusal(row, book, "emm")]
                says += [say("after_the_year", case=row, mean=book["mm"][-1], low=low, high=high)]
        if name in CERTIFIED:
            row = _("{chain}, certified").format(chain=words)
            cells += _after(row, after, certified, "certified")
            says += [_refusal(row, certified, "certified")] if certified else []
    # a panel for each attacker, a line for each way to protect the months, and the budget
    panels: dict[str, list[Line]] = {}
    months: list[str] = []
    for attack, title in zip(ATTACKS, (_("S1 to S8"), "linkage"), strict=True):
        books = {name: book for name in work.CHAINS if (book := found.get(_kept(name, attack)))}
        if books:
            months = next(iter(books.values()))["months"]
            shown = [(name, look) for name, look in LOOKS.items() if name in books]
            panels[title] = [(say(f"chains.{name}"), books[name]["mm"], look) for name, look in shown]
            panels[title].append((_("the budget of the story"), [BUDGET] * len(months), "chance"))
    title = _("MM after each month")
    chart = lines(
        title, months, panels, across_title="", up_title="MM", up=(0.0, 1.0), columns=2, width=340, height=240
    )
    return Comparison(cells, says, [chart])


def _after(row: str, columns: Sequence[str], book: dict[str, Any] | None, what: str) -> list[Datum]:
    """Return what a book says after the months that are shown."""
    return [
        Datum(row, column, ours=book[what][at] if book else None) for at, column in zip(SHOWN, columns, strict=True)
    ]


def _refusal(case: str, book: dict[str, Any], what: str) -> str:
    over = [month for month, value in zip(book["months"], book[what], strict=True) if value > BUDGET]
    if over:
        return say("over_budget", case=case, budget=BUDGET, month=over[0])
    return say("within_budget", case=case, budget=BUDGET)


# --- which way to publish every month --------------------------------------------------------------------------------


_published = unit_of(work.published, work.MONTHS)


def monthly_units(asked: Extent) -> list[WorkUnit]:
    """Return the work for three ways to publish a year; quick leaves the searches over the whole year out."""
    ways = ["months"] if asked.quick else list(WAYS)
    return [_published(way, K, "quick", seed) for way in ways for seed in asked.seeds(full=SEEDS)]


def monthly(found: Findings) -> Comparison:
    """Set U of monthly groups beside that of groups of the whole year, whole and cut by month."""
    cells = []
    for way in WAYS:
        words = say(f"ways.{way}")
        books = found.over_seeds(_published, way, K, "quick", full=SEEDS)
        cells += [
            Datum.over(words, "U", [book["U"] for book in books], digits=4),
            Datum.over(words, _("rows deleted"), [book["deleted"] for book in books], digits=0),
        ]
    return Comparison(cells, [say("monthly_search", k=K), say("monthly_promise", k=K)])


# --- What releases tell of who is in the data and of what was not known, beside what they tell of people outside ------


INFERENCE_SEEDS = 5
INFERRED_KS = tuple(range(2, 11))
RHOS = (0.0, 0.3, 0.6, 0.9)
COLUMNS = {
    "auc": N_("AUC"),
    "tpr at 0.1": N_("TPR at FPR 0.1"),
    "tpr at 0.01": N_("TPR at FPR 0.01"),
    "rare tpr at 0.1": N_("rarest tenth: TPR at FPR 0.1"),
    "success": N_("secret guessed"),
    "control": N_("of people outside"),
    "risk": N_("risk beyond control"),
}


_histories = unit_of(work.held_out_histories, work.HISTORIES)
_people = unit_of(work.held_out_people, work.TABLE)


def _rows(seeds: Sequence[int]) -> dict[str, list[WorkUnit]]:
    """Return the units of each row of the table."""
    rows = {_("pseudonyms alone"): [_histories(1, seed) for seed in seeds]}
    rows |= {f"generalize-by-count, k = {k}": [_histories(k, seed) for seed in seeds] for k in INFERRED_KS}
    return rows | {f"retention, ρ = {rho:g}": [_people(rho, seed) for seed in seeds] for rho in RHOS}


def inference_units(asked: Extent) -> list[WorkUnit]:
    """Return the work: people held out of histories and of Adult; quick looks at one k and one ρ."""
    seeds = asked.seeds(full=INFERENCE_SEEDS)
    if asked.quick:
        return [unit for seed in seeds for unit in (_histories(5, seed), _people(0.6, seed))]
    return [unit for units in _rows(seeds).values() for unit in units]


def inferences(found: Findings) -> Comparison:
    """Say for each release how well members are told from people outside, and what is guessed of both."""
    cells = []
    for row, units in _rows(found.asked.seeds(full=INFERENCE_SEEDS)).items():
        runs = found.of(units)
        for key, column in COLUMNS.items():
            values = [run[key] for run in runs if key in run]
            note = ""
            if len(values) > 1:
                low, high = mean_low(values, 0.025), min(mean_high(values, 0.025), 1.0)
                note = _("95 %: {low:.3f} to {high:.3f}").format(low=low, high=high)
            cells.append(Datum.over(row, _(column), values, note=note))
    everybody, rarest = _means(found, "tpr at 0.1"), _means(found, "rare tpr at 0.1")
    known = [(k, mean) for k, mean in zip(INFERRED_KS, everybody, strict=True) if mean]
    says = [say("members_found", k=k, rate=mean) for k, mean in known[-1:]]
    chart = lines(
        _("TPR at FPR 0.1, by k"),
        [str(k) for k in INFERRED_KS],
        {
            "": [
                (_("everybody"), everybody, "ours"),
                (_("rarest tenth"), rarest, "better"),
                (_("chance"), [0.1] * len(INFERRED_KS), "chance"),
            ]
        },
        across_title="k",
        up_title=_("TPR at FPR 0.1"),
        up=(0.0, 1.0),
        height=220,
    )
    return Comparison(cells, says, [chart])


def _means(found: Findings, key: str) -> list[float | None]:
    """Return the mean of a number over seeds, for each k."""
    runs = [found.over_seeds(_histories, k, full=INFERENCE_SEEDS) for k in INFERRED_KS]
    return [sum(run[key] for run in some) / len(some) if some else None for some in runs]


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = PaperDocument(
    key="beyond",
    title=N_("Past the documents: the sharp bound, the best groups, reconstruction, the ledger"),
    citation="What S0, S1, S3 and S4 leave open.",
    parts=(
        PaperSection("check", "bound", N_("How many right answers prove a release unsafe"), (), bound),
        PaperSection("check", "classes", N_("What the best attacker does to classes of k"), OF_CLASSES, classes),
        PaperSection("check", "frontier", N_("The best groups of k beside the 13 teams"), frontier_units, frontier),
        PaperSection("check", "reconstruction", N_("What auto gains on S4's tables"), s4.adult_units, gains),
        PaperSection("check", "ledger", N_("What a year of monthly releases adds up to"), year_units, year),
        PaperSection(
            "check", "inference", N_("What releases reveal about who is in the data"), inference_units, inferences
        ),
        PaperSection("check", "monthly", N_("Which way to publish every month"), monthly_units, monthly),
    ),
)
