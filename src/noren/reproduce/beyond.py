"""Results beyond the documents: the sharp bound, the best groups, reconstruction, repeated releases, inference."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from noren.drawing.base import layer, look_channels, picture, scaled
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
    Line,
    Look,
    PaperDocument,
    PaperSection,
    UnitResults,
    join_labels,
    lines,
    unit_of,
)
from noren.reproduce.s0 import BEST, KINDS, TABLE_3, bound_labels
from noren.tables import Texts
from noren.work.store import WorkUnit

say = Texts(__name__)
NAMED = (7, 10, 17, 18, 24, 49, 60, 99, 126, 200, 300, 500, 999)
SIZES = (2, 3, 4, 5, 6, 7, 10)
KS = (2, 3, 4, 6, 10)


def bound(_results: UnitResults) -> Comparison:
    """Compare the right answers that S0's bound and the sharp bound require."""
    paper, sharp = thresholds(999, "paper"), thresholds(999, "sharp")
    labels = bound_labels()
    columns = (*labels.values(), _("difference"))
    cells = [
        Datum(f"n' = {n}", column, ours=number, digits=0)
        for n in NAMED
        for column, number in zip(columns, (paper[n], sharp[n], paper[n] - sharp[n]), strict=True)
    ]
    tried = (7, 10, 13, 17, 20, 24, 30, 38, 49, 70, 99, 126, 160, *range(200, 1_000, 100), 999)
    chart = lines(
        _("Right answers that prove a release unsafe"),
        tried,
        {
            "": [
                (labels["paper"], [paper[n] / n for n in tried], "paper"),
                (labels["sharp"], [sharp[n] / n for n in tried], "ours"),
            ]
        },
        across_title=_("customers named"),
        up_title="r(n') / n'",
        up=(0.3, 1.0),
        height=220,
    )
    first = next(n for n in range(7, 1_000) if paper[n] != sharp[n])
    remarks = [say("bounds_agree", n=first - 1, sharp=sharp[999], paper=paper[999])]
    return Comparison(cells, remarks, [chart])


_plan = unit_of(work.plan)
OF_CLASSES = tuple(_plan(size, bound) for size in SIZES for bound in ("paper", "sharp"))


def classes(results: UnitResults) -> Comparison:
    """Show the best attack on 1,000 customers in classes of one size, for each of the two bounds."""
    cells = []
    for size in SIZES:
        row = f"k = {size}"
        for bound, label in bound_labels().items():
            best = results[_plan(size, bound)]
            chance, survives = _("success probability of the best attack"), _("probability of surviving 13 attackers")
            cells += [
                Datum(row, join_labels(label, _("right answers / names")), ours=f"{best['needed']}/{best['named']}"),
                Datum(row, join_labels(label, chance), ours=best["chance"], digits=4),
                Datum(row, join_labels(label, survives), ours=best["survival"]),
            ]
    count, survived = KINDS["pairs"]
    pairs = results[_plan(2, "paper")]["survival"]
    return Comparison(cells, [say("pairs", count=count, survived=survived, pairs=pairs)])


# --- groups ----------------------------------------------------------------------------------------------------------


_by_count = unit_of(work.by_count, work.HISTORIES)


def _grouped(k: int) -> WorkUnit:
    return BEST if k == 2 else WorkUnit(work.grouped, (k, "normal"), data=(work.HISTORIES,))


def frontier_units(extent: Extent) -> list[WorkUnit]:
    """Return the work for the frontier; quick searches only the best pairs."""
    counted = [_by_count(k, suppress) for k in KS for suppress in (False, True)]
    return [*counted, *map(_grouped, KS[:1] if extent.quick else KS)] + [_plan(k, "sharp") for k in KS]


def frontier(results: UnitResults) -> Comparison:
    """Compare the best groups of k with S1's groups, a lower bound, and the teams' 13 releases."""
    cells, points = [], []
    for k in KS:
        row = f"k = {k}"
        plain, suppressed = results[_by_count(k, False)], results[_by_count(k, True)]
        best: dict[str, Any] = results.get(_grouped(k), {})
        survival = results[_plan(k, "sharp")]["survival"]
        note = _("proved optimal") if best.get("optimal") else ""
        cells += [
            Datum(row, _("S1's groups"), ours=plain["U"], digits=4),
            Datum(row, _("cells suppressed"), ours=suppressed["U"], digits=4),
            Datum(row, "generalize", ours=best.get("U"), digits=4, note=note),
            Datum(row, _("lower bound"), ours=best.get("lower_bound"), digits=4),
            Datum(row, _("rows deleted"), ours=best.get("deleted"), digits=0),
            Datum(row, _("probability of surviving 13 attackers"), ours=survival),
        ]
        kinds = ((_("S1's groups"), plain), ("generalize", best))
        points += [{"kind": kind, "U": groups["U"], "safe": survival, "name": row} for kind, groups in kinds if groups]
    for team, (u, broken) in TABLE_3.items():
        kind = _("team, re-identified") if broken else _("team, not re-identified")
        points.append({"kind": kind, "U": u, "safe": 0.0 if broken else 1.0, "name": team})
    return Comparison(cells, [say("frontier")], [_map(points)])


def _map(points: list[dict[str, Any]]) -> Chart:
    """Return the map of error and survival: our releases labelled with k."""
    looks = {
        _("S1's groups"): ("$muted", "square"),
        "generalize": ("$indigo", "circle"),
        _("team, re-identified"): ("$persimmon", "cross"),
        _("team, not re-identified"): ("$teal", "triangle-up"),
    }
    kinds = [kind for kind in looks if any(point["kind"] == kind for point in points)]
    legend = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 300}
    colour, shape = look_channels("kind", {kind: looks[kind] for kind in kinds}, 2, legend)
    encoding = {
        "x": scaled("U", "U", [0.15, 0.75], ""),
        "y": scaled("safe", _("probability of surviving 13 attackers"), [-0.05, 1.1], ""),
        "color": colour,
    }
    ours = [point for point in points if point["kind"] in ("generalize", _("S1's groups"))]
    best = [point for point in ours if point["kind"] == "generalize"]
    labels = {"type": "text", "dy": -11, "fontSize": 10}
    marks = {"type": "point", "filled": True, "size": 70, "opacity": 0.9}
    layers = [
        layer(best, {"type": "line", "strokeWidth": 1.5}, encoding),
        layer(points, marks, encoding | {"shape": shape}),
        layer(ours, labels, encoding | {"text": {"field": "name"}}),
    ]
    spec = {"layer": layers, "width": 620, "height": 300}
    return Chart(_("The best groups of k and the 13 teams"), lambda: picture(spec))


# --- Gains of ``auto`` on S4's own tables; the work is S4's -----------------------------------------------------------


def gains(results: UnitResults) -> Comparison:
    """Compare the paper's reconstruction with ``auto``."""
    cells: list[Datum] = []
    paper: dict[str, float] = {}
    ours: dict[str, float | None] = {}
    for table, (_rho, _perturbed, reconstructed) in s4.TABLE_5.items():
        for k, printed in zip(s4.KS, reconstructed, strict=True):
            row = f"{table}, k = {k}"
            runs = results.of([s4.adult_unit(table, k, seed, "auto") for seed in results.extent.seeds(full=s4.SEEDS)])
            auto = fmean(run["reconstructed"] for run in runs) if runs else None
            paper[row], ours[row] = printed, auto
            cells += [
                Datum(row, _("paper"), ours=printed, digits=1),
                Datum(row, "auto", ours=auto, digits=1),
                Datum(row, _("difference"), ours=None if auto is None else auto - printed, digits=1),
            ]
    gained = [auto - paper[row] for row, auto in ours.items() if auto is not None]
    chart = lines(
        _("Gains of auto on S4's tables"),
        list(paper),
        {"": [(_("paper"), list(paper.values()), "paper"), ("auto", list(ours.values()), "better")]},
        across_title="",
        up_title=_("L1 precision, per cent"),
        up=(60, 95),
        height=220,
    )
    return Comparison(cells, s4.gain_remarks(gained), [chart])


# --- A year of a ledger: the risk that each month adds; and three ways to publish every month -------------------------


BUDGET = 0.265
STORY = "thin 10 %, perturb"
CERTIFIED = ("by count, k = 3", "by count, k = 5, cells suppressed")
LOOKS: dict[str, Look] = {STORY: "paper", CERTIFIED[0]: "ours", CERTIFIED[1]: "better"}
"""Style of each line; with monthly-pseudonyms only, everyone is found at once, so there is no line."""
ATTACKS = ("s1-s8", "linkage")
DISPLAYED_MONTHS = (0, 1, 2, 3, 5, 8, 11)
SEEDS = 3
WAYS = ("months", "year", "cut")
K = 3


_year_of = unit_of(work.ledger_year, work.MONTHS)


def year_units(extent: Extent) -> list[WorkUnit]:
    """Return the work for a year; quick takes one chain and only the attacks S1 to S8."""
    if extent.quick:
        return [_year_of(STORY, "s1-s8")]
    return [_year_of(name, attack) for name in work.CHAINS for attack in ATTACKS]


def year(results: UnitResults) -> Comparison:
    """Show MM after months for each chain, the certified risk, and when a budget would be exceeded."""
    cells, remarks = [], []
    after = [_("after month {number}").format(number=at + 1) for at in DISPLAYED_MONTHS]
    for name in work.CHAINS:
        certified = None
        for attack in ATTACKS:
            book = results.get(_year_of(name, attack))
            row, note = join_labels(name, "S1–S8" if attack == "s1-s8" else attack), ""
            if book and name in CERTIFIED:
                certified = book
            elif book:
                low, high = book["interval"][-1]
                remarks.append(_budget_remark(row, book, "emm"))
                note = f"95 %: {low:.3f}–{high:.3f}"
            cells += _after(row, after, book, "mm", note)
        if name in CERTIFIED:
            row = join_labels(name, _("certified"))
            cells += _after(row, after, certified, "certified")
            remarks += [_budget_remark(row, certified, "certified")] if certified else []
    # one panel per attacker, one line per chain, and the budget
    panels: dict[str, list[Line]] = {}
    months: list[str] = []
    for attack, title in zip(ATTACKS, ("S1–S8", "linkage"), strict=True):
        books = {name: book for name in work.CHAINS if (book := results.get(_year_of(name, attack)))}
        if books:
            months = next(iter(books.values()))["months"]
            panels[title] = [(name, books[name]["mm"], look) for name, look in LOOKS.items() if name in books]
            panels[title].append((_("budget"), [BUDGET] * len(months), "chance"))
    title = _("MM after every month")
    chart = lines(
        title, months, panels, across_title="", up_title="MM", up=(0.0, 1.0), columns=2, width=340, height=240
    )
    return Comparison(cells, remarks, [chart])


def _after(row: str, columns: Sequence[str], book: dict[str, Any] | None, measure: str, note: str = "") -> list[Datum]:
    """Return a measure of a ledger after the displayed months; the note is that of the last."""
    return [
        Datum(row, column, ours=book[measure][at] if book else None, note=note if column == columns[-1] else "")
        for at, column in zip(DISPLAYED_MONTHS, columns, strict=True)
    ]


def _budget_remark(case: str, book: dict[str, Any], measure: str) -> str:
    """Return in which month the budget is exceeded, or that it is enough."""
    over = [month for month, value in zip(book["months"], book[measure], strict=True) if value > BUDGET]
    if over:
        return say("over_budget", case=case, budget=BUDGET, month=over[0])
    return say("within_budget", case=case, budget=BUDGET)


_published = unit_of(work.published, work.MONTHS)


def monthly_units(extent: Extent) -> list[WorkUnit]:
    """Return the work for three ways to publish a year; quick leaves out the searches over the whole year."""
    ways = ["months"] if extent.quick else list(WAYS)
    return [_published(way, K, "quick", seed) for way in ways for seed in extent.seeds(full=SEEDS)]


def monthly(results: UnitResults) -> Comparison:
    """Compare U of monthly groups with that of groups of the whole year, whole and cut by month."""
    cells = []
    for way in WAYS:
        row = say(f"ways.{way}")
        books = results.over_seeds(_published, way, K, "quick", full=SEEDS)
        cells += [
            Datum.over(row, "U", [book["U"] for book in books], digits=4),
            Datum.over(row, _("rows deleted"), [book["deleted"] for book in books], digits=0),
        ]
    return Comparison(cells, [say("monthly", k=K)])


# --- What releases reveal about who is in the data and about unknown values, compared with a control group ------------


INFERENCE_SEEDS = 5
INFERRED_KS = tuple(range(2, 11))
RHOS = (0.0, 0.3, 0.6, 0.9)
RATE = "TPR (FPR 0.1)"


_histories = unit_of(work.held_out_histories, work.HISTORIES)
_people = unit_of(work.held_out_people, work.TABLE)


def _rows(seeds: Sequence[int]) -> dict[str, list[WorkUnit]]:
    """Return the units of each row of the table."""
    rows = {"pseudonymize": [_histories(1, seed) for seed in seeds]}
    rows |= {f"generalize-by-count, k = {k}": [_histories(k, seed) for seed in seeds] for k in INFERRED_KS}
    return rows | {f"retention, ρ = {rho:g}": [_people(rho, seed) for seed in seeds] for rho in RHOS}


def inference_units(extent: Extent) -> list[WorkUnit]:
    """Return the work: people held out of histories and of Adult; quick takes one k and one ρ."""
    seeds = extent.seeds(full=INFERENCE_SEEDS)
    if extent.quick:
        return [unit for seed in seeds for unit in (_histories(5, seed), _people(0.6, seed))]
    return [unit for units in _rows(seeds).values() for unit in units]


def inferences(results: UnitResults) -> Comparison:
    """Show for each release how well members are told from the control group, and what is guessed about both."""
    columns = {"auc": "AUC", "tpr at 0.1": RATE, "tpr at 0.01": "TPR (FPR 0.01)"}
    columns |= {"rare tpr at 0.1": join_labels(_("rarest tenth"), RATE), "success": _("values guessed")}
    columns |= {"control": _("control group: values guessed"), "risk": _("risk above the control group")}
    cells = []
    for row, units in _rows(results.extent.seeds(full=INFERENCE_SEEDS)).items():
        runs = results.of(units)
        for key, column in columns.items():
            values = [run[key] for run in runs if key in run]
            note = ""
            if len(values) > 1:
                low, high = mean_low(values, 0.025), min(mean_high(values, 0.025), 1.0)
                note = f"95 %: {low:.3f}–{high:.3f}"
            cells.append(Datum.over(row, column, values, note=note))
    everybody, rarest = _means(results, "tpr at 0.1"), _means(results, "rare tpr at 0.1")
    known = [(k, mean) for k, mean in zip(INFERRED_KS, everybody, strict=True) if mean]
    remarks = [say("members_found", k=k, rate=mean) for k, mean in known[-1:]]
    chart = lines(
        _("What releases reveal about who is in the data"),
        [str(k) for k in INFERRED_KS],
        {
            "": [
                (_("everybody"), everybody, "ours"),
                (_("rarest tenth"), rarest, "better"),
                (_("chance"), [0.1] * len(INFERRED_KS), "chance"),
            ]
        },
        across_title="k",
        up_title=RATE,
        up=(0.0, 1.0),
        height=220,
    )
    return Comparison(cells, remarks, [chart])


def _means(results: UnitResults, key: str) -> list[float | None]:
    """Return the mean of a number over seeds, for each k."""
    runs = [results.over_seeds(_histories, k, full=INFERENCE_SEEDS) for k in INFERRED_KS]
    return [sum(run[key] for run in of_k) / len(of_k) if of_k else None for of_k in runs]


DOCUMENT = PaperDocument.of(
    "beyond",
    PaperSection("check", "bound", N_("Right answers that prove a release unsafe"), (), bound),
    PaperSection("check", "classes", N_("The best attack on classes of k"), OF_CLASSES, classes),
    PaperSection("check", "frontier", N_("The best groups of k and the 13 teams"), frontier_units, frontier),
    PaperSection("check", "reconstruction", N_("Gains of auto on S4's tables"), s4.adult_units, gains),
    PaperSection("check", "ledger", N_("The risk of a year of monthly releases"), year_units, year),
    PaperSection(
        "check", "inference", N_("What releases reveal about who is in the data"), inference_units, inferences
    ),
    PaperSection("check", "monthly", N_("Three ways to publish every month"), monthly_units, monthly),
)
