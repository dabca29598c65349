"""Reproduction of S4: what follows by arithmetic, Adult, synthetic data, and the errata."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from statistics import fmean
from typing import Any

import numpy as np

from noren.drawing.base import picture
from noren.drawing.table_charts import View, crosstab, histogram
from noren.i18n import N_, _
from noren.kernels.reconstruction.estimates import em_step, expectation_maximisation
from noren.kernels.reconstruction.retention import k_of, keep_probabilities, mixed
from noren.reproduce import s4_work as work
from noren.reproduce.frame import (
    Chart,
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
from noren.reproduce.s4_work import AGES, ATTRIBUTES, BLOOD, MONTH, SIZES
from noren.retention.attributes import class_ends
from noren.retention.reconstruction import EPSILON
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_PRINTED = table_of("noren.reproduce.s4_printed")
_Shares = list[float]
"""For k = 2, 5, 10."""

KS: list[int] = _PRINTED["ks"]
ROWS: int = _PRINTED["rows"]
DOMAINS: dict[str, int] = _PRINTED["domains"]
TABLE_4: dict[str, int] = _PRINTED["table_4"]
TABLE_5: dict[str, tuple[_Shares, _Shares, _Shares]] = _PRINTED["table_5"]
"""Rho, perturbed and reconstructed."""
RHO_SYNTHETIC: dict[int, _Shares] = {int(rows): rhos for rows, rhos in _PRINTED["rho_synthetic"].items()}
MONTH_SHARES: dict[str, tuple[float, float]] = _PRINTED["month_shares"]
TABLE_8: dict[str, tuple[_Shares, _Shares]] = _PRINTED["table_8"]
"""Perturbed and reconstructed, by pattern."""
TABLE_9: dict[str, tuple[_Shares, _Shares]] = _PRINTED["table_9"]
MEANS: dict[int, tuple[_Shares, _Shares]] = {int(n): means for n, means in _PRINTED["means"].items()}
"""The last line of Tables 8 and 9."""
PATTERNS = tuple(TABLE_8)
TRIALS: int = _PRINTED["trials"]
NEARLY = 0.006
"""How far a printed mean may be from ours, rounded or truncated."""
COARSE = 0.002
"""How far the paper's ρ may be from the formula's; the paper does not say how it searched for ρ."""


def sizes_of(table: str) -> list[int]:
    """Return the domains of a set of attributes, as Table 3 gives them.

    >>> sizes_of("t1")
    [5, 2, 42]
    """
    return [DOMAINS[name] for name in ATTRIBUTES[table]]


def rho(_results: UnitResults) -> Comparison:
    """Compare every ρ that the paper prints with its own formula."""
    cells = [cell for table, numbers in TABLE_5.items() for cell in _rhos(table, sizes_of(table), ROWS, numbers[0])]
    cells += [cell for rows, rhos in RHO_SYNTHETIC.items() for cell in _rhos(f"n = {rows:,}", SIZES, rows, rhos)]
    worst = max(abs(cell.difference or 0.0) for cell in cells)
    return Comparison(cells, [say("rho", worst=worst)])


def _rhos(row: str, sizes: Sequence[int], rows: int, printed: _Shares) -> list[Datum]:
    """Return the paper's ρ for each k beside those of its formula."""
    return [
        Datum.exactly(row, f"k = {k}", paper, keep_probabilities(k, sizes, rows)[0], tolerance=COARSE, digits=4)
        for k, paper in zip(KS, printed, strict=True)
    ]


def table_4(_results: UnitResults) -> Comparison:
    """Multiply the domains of each set of attributes."""
    cells = []
    for table, paper in TABLE_4.items():
        sizes, row = sizes_of(table), f"{table}: {', '.join(ATTRIBUTES[table])}"
        note = " · ".join(map(str, sizes))
        cells.append(Datum.exactly(row, "", paper, math.prod(sizes), digits=0, note=note))
    return Comparison(cells)


def _share(pattern: str, column: str, paper: float | None, ours: float, erratum: str = "") -> Datum:
    """Return a cell of Table 6 or 7, in per cent; nothing is claimed where the paper gives no number."""
    claim: dict[str, Any] = {} if paper is None else {"exact": True, "tolerance": 0.05}
    return Datum(pattern, column, paper, 100 * ours, digits=1, erratum=erratum, **claim)


def table_6(_results: UnitResults) -> Comparison:
    """Compute the shares that Table 6 describes in words."""
    printed = {"A": (80,), "B": (40, 40, 10, 10), "C": (40, 30, 20, 10), "D": (None, None, None, 10), "E": (25,) * 4}
    cells = [
        _share(pattern, blood, paper, share, "blood" if pattern == "B" and blood in ("O", "AB") else "")
        for pattern, shares in BLOOD.items()
        for blood, share, paper in zip_longest(("A", "B", "O", "AB"), shares, printed[pattern])
    ]
    return Comparison(cells)


def table_7(_results: UnitResults) -> Comparison:
    """Compute the shares that Table 7 describes in words: January and December, and the first half of the year."""
    cells = []
    column = _("month {number}")
    stated = {"1": (45.0, 5.0), "4": (9.0, 1.0)} | MONTH_SHARES
    for pattern, shares in MONTH.items():
        first, last = stated.get(pattern, (None, None))
        cells += [
            _share(pattern, column.format(number=1), first, shares[0]),
            _share(pattern, column.format(number=12), last, shares[-1]),
            _share(pattern, column.format(number="1–6"), 80.0 if pattern == "2" else None, sum(shares[:6])),
        ]
    return Comparison(cells)


def mean_of_patterns(number: int, at: int, k_at: int, first: str = "A-1", last: str = "E-5") -> float:
    """Return the mean of a column of Table 8 or 9 as printed, over the patterns from ``first`` to ``last``.

    >>> round(mean_of_patterns(8, 0, 0), 2), round(mean_of_patterns(8, 0, 0, "B-2", "D-4"), 2)
    (77.18, 78.97)
    """
    table = TABLE_8 if number == 8 else TABLE_9
    names = list(table)
    patterns = names[names.index(first) : names.index(last) + 1]
    return math.fsum(table[name][at][k_at] for name in patterns) / len(patterns)


def _means(erratum: str = "", **patterns: str) -> list[Datum]:
    """Compare the last lines of Tables 8 and 9 with the means of some of their patterns."""
    return [
        Datum.exactly(
            join_labels(_("Table {number}").format(number=number), kind),
            f"k = {k}",
            MEANS[number][at][k_at],
            mean_of_patterns(number, at, k_at, **patterns),
            tolerance=NEARLY,
            digits=2,
            erratum=erratum,
        )
        for number in MEANS
        for at, kind in enumerate((_("perturbed"), _("reconstructed")))
        for k_at, k in enumerate(KS)
    ]


def worked(_results: UnitResults) -> Comparison:
    """Recompute the worked examples of the text, and the last lines of Tables 8 and 9."""
    cells = _means("means")
    t3, t4 = (keep_probabilities(2, sizes_of(table), ROWS)[0] for table in ("t3", "t4"))
    cells.append(Datum.exactly("ρ(t4) - ρ(t3)", "k = 2", 0.0, t4 - t3, tolerance=1e-9))
    return Comparison(cells)


# --- The experiment on Adult: Tables 3 and 5, figures 2 to 4 ----------------------------------------------------------


SEEDS = 5
# for five seeds; wider for fewer
PERTURBED_TOLERANCE = 0.5
EM_TOLERANCE = 2.0
DOMAIN_SIZES = WorkUnit(work.adult_domains, data=("adult",))
adult_unit = unit_of(work.adult, "adult")
synthetic_unit = unit_of(work.synthetic)


def tolerance_for(tolerance: float, seeds: int) -> float:
    """Return how far the paper's mean of five runs and our mean of ``seeds`` runs may differ, from that of five each.

    >>> tolerance_for(2.0, 5), round(tolerance_for(2.0, 1), 2)
    (2.0, 3.46)
    """
    return tolerance * math.sqrt((1 / TRIALS + 1 / max(seeds, 1)) / (2 / TRIALS))


def _runs(
    results: UnitResults, unit: Callable[..., WorkUnit], *arguments: Any, model: str
) -> tuple[list[float], list[float]]:
    """Return the precision of what was perturbed and of what was reconstructed, seed by seed."""
    runs = results.of([unit(*arguments, seed, model) for seed in results.extent.seeds(full=SEEDS)])
    return [run["perturbed"] for run in runs], [run["reconstructed"] for run in runs]


def table_3(results: UnitResults) -> Comparison:
    """Compare how many values each attribute may take."""
    ours = results[DOMAIN_SIZES]
    return Comparison([Datum.exactly(name, paper=size, ours=ours[name], digits=0) for name, size in DOMAINS.items()])


def adult_units(extent: Extent) -> list[WorkUnit]:
    """Return the work for Table 5; quick leaves out ``auto`` for k = 5 and 10."""
    return [
        adult_unit(table, k, seed, model)
        for model in ("em", "auto")
        for table in TABLE_5
        for k in (KS[:1] if extent.quick and model == "auto" else KS)
        for seed in extent.seeds(full=SEEDS)
    ]


def table_5(results: UnitResults) -> Comparison:
    """Compare the paper's twelve cells: perturbed, ``em`` (the paper's reconstruction) and ``auto``."""
    cells, gains, differences, near_cells = [], [], [], 0
    for table, (_rho, perturbed, reconstructed) in TABLE_5.items():
        for k, before, after in zip(KS, perturbed, reconstructed, strict=True):
            row = f"{table}, k = {k}"
            noisy, by_em = _runs(results, adult_unit, table, k, model="em")
            _noisy, by_auto = _runs(results, adult_unit, table, k, model="auto")
            near, near_em = (tolerance_for(within, len(noisy)) for within in (PERTURBED_TOLERANCE, EM_TOLERANCE))
            em = Datum.over(row, "em", by_em, paper=after, tolerance=near_em, digits=1)
            auto = Datum.over(row, "auto", by_auto, paper=after, tolerance=0.0, aim="at-least", digits=1)
            cells += [Datum.over(row, _("perturbed"), noisy, paper=before, tolerance=near, digits=1), em, auto]
            gains += [auto.difference] if auto.difference is not None else []
            differences += [em.difference] if em.difference is not None else []
            near_cells += em.ok is True
    return Comparison(cells, [*_em_remarks(differences, near_cells), *gain_remarks(gains)])


def _em_remarks(differences: Sequence[float], near_cells: int) -> list[str]:
    """Return how far ``em`` is from the paper; nothing where it was not run."""
    found = {"near": near_cells, "cells": len(differences)}
    return [say("em", mean=fmean(differences), **found)] if differences else []


def gain_remarks(gains: Sequence[float]) -> list[str]:
    """Return what ``auto`` gains over the paper's reconstruction; nothing where it was not run."""
    if not gains:
        return []
    text = _("auto gains {gain:+.1f} points on average over {cells} cells ({worst:+.1f} to {best:+.1f}).")
    return [text.format(gain=fmean(gains), cells=len(gains), worst=min(gains), best=max(gains))]


# --- S4's figures 2 and 4 (histograms) and 3 (a cross tabulation): original, perturbed, reconstructed -----------------


K, SEED = 2, 1
FIGURES = {2: ("t3", ("age",)), 3: ("t3", ("workclass", "education")), 4: ("t4", ("occupation",))}
"""The table of each figure, and its attributes.

The paper prints no number with its figures and does not name their attributes and k; ours are those of Table 5 that
have these attributes, for k = 2.
"""


def figure_units(table: str) -> tuple[WorkUnit, ...]:
    """Return the work for a figure: the tables before and after perturbation; what was reconstructed is Table 5's."""
    before = WorkUnit(work.adult_tables, (table, K, SEED), data=("adult",))
    return (before, *(adult_unit(table, K, SEED, model) for model in ("em", "auto")))


def figure(table: str, names: tuple[str, ...], results: UnitResults) -> Comparison:
    """Return the precision of the attributes, and a chart per reconstruction."""
    before, *reconstructed = (results[unit] for unit in figure_units(table))
    places = [work.ATTRIBUTES[table].index(name) for name in names]
    away = tuple(axis for axis in range(len(before["labels"])) if axis not in places)
    labels = tuple(tuple(before["labels"][place]) for place in places)
    row, charts = f"{' × '.join(names)} ({table}, k = {K})", []
    cells: dict[str, Datum] = {}
    for model, after in zip(("em", "auto"), reconstructed, strict=True):
        whole = {"original": before["original"], "perturbed": before["perturbed"], "reconstructed": after["table"]}
        tables = {panel: np.asarray(counts, dtype=np.float64).sum(axis=away) for panel, counts in whole.items()}
        view = View(names, labels, tables)
        for column, panel in ((_("perturbed"), "perturbed"), (model, "reconstructed")):
            cells[column] = Datum(row, column, ours=100 * (view.precision(panel) or 0.0), digits=1, seeds=1)
        spec = histogram(view) if len(names) == 1 else crosstab(view)
        charts.append(Chart(join_labels(_("reconstructed"), model), partial(picture, spec)))
    return Comparison(list(cells.values()), [_("The paper prints no numbers for this figure.")], charts)


# --- The experiment on synthetic data: Tables 8 and 9, figure 5 -------------------------------------------------------


QUICK_PATTERNS = ("A-1", "C-3", "E-5")
TABLES = {1_000: TABLE_8, 10_000: TABLE_9}
# about three standard errors of the difference between two means of five runs, by the spread over our own seeds
# rows: perturbed, em
TOLERANCES = {1_000: (2.8, 8.2), 10_000: (0.9, 2.2)}
ODD = (1_000, "E-1, k = 10")
SLACK = 0.5
"""How far ``auto`` may be below the better of the paper's two numbers."""


def synthetic_units(tables: Iterable[int], extent: Extent) -> list[WorkUnit]:
    """Return the work for the tables of so many rows each; quick runs ``auto`` on three patterns alone."""
    return [
        synthetic_unit(rows, pattern, k, seed, model)
        for rows in tables
        for model in ("em", "auto")
        for pattern in (QUICK_PATTERNS if extent.quick and model == "auto" else PATTERNS)
        for k in KS
        for seed in extent.seeds(full=SEEDS)
    ]


def synthetic_table(rows: int, results: UnitResults) -> Comparison:
    """Compare the table of so many rows."""
    cells, from_em, near_em, gains, short = [], [], 0, [], []
    for pattern, (perturbed, reconstructed) in TABLES[rows].items():
        for k, before, after in zip(KS, perturbed, reconstructed, strict=True):
            row = f"{pattern}, k = {k}"
            noisy, by_em = _runs(results, synthetic_unit, rows, pattern, k, model="em")
            _noisy, by_auto = _runs(results, synthetic_unit, rows, pattern, k, model="auto")
            near, near_paper = (tolerance_for(within, len(noisy)) for within in TOLERANCES[rows])
            odd = say("odd") if (rows, row) == ODD else ""
            best = max(before, after)
            em = Datum.over(row, "em", by_em, paper=after, tolerance=near_paper, note=odd, digits=1)
            auto = Datum.over(row, "auto", by_auto, paper=best, tolerance=SLACK, aim="at-least", digits=1)
            cells += [Datum.over(row, _("perturbed"), noisy, paper=before, tolerance=near, digits=1), em, auto]
            if em.difference is not None:
                from_em.append(em.difference)
                near_em += em.ok is True
            if auto.difference is not None:
                gains.append(fmean(by_auto) - after)
                short += [f"{row} ({auto.difference:+.1f})"] if auto.ok is False else []
    remarks = [*_em_remarks(from_em, near_em), *gain_remarks(gains)]
    if gains:
        below = say("short", slack=SLACK, short=", ".join(short) or _("none"))
        remarks.append(say("better_of_two") + " " + below)
    return Comparison(cells, remarks)


def figure_5(results: UnitResults) -> Comparison:
    """Draw the precision of reconstruction by pattern: the paper's, ``em`` and ``auto``."""
    spans, charts = [], []
    column = _("range over patterns, em")
    for rows, table in TABLES.items():
        panels: dict[str, list[Line]] = {}
        for at, k in enumerate(KS):
            printed = [reconstructed[at] for _perturbed, reconstructed in table.values()]
            means: dict[str, list[float | None]] = {}
            for model in ("em", "auto"):
                values = [_runs(results, synthetic_unit, rows, pattern, k, model=model)[1] for pattern in PATTERNS]
                means[model] = [round(fmean(runs), 2) if runs else None for runs in values]
            panels[f"k = {k}"] = [
                (_("paper"), printed, "paper"),
                ("em", means["em"], "ours"),
                ("auto", means["auto"], "better"),
            ]
            row, run = f"n = {rows:,}, k = {k}", [m for m in means["em"] if m is not None]
            span, seeds = max(run) - min(run) if run else None, len(results.extent.seeds(full=SEEDS))
            spans.append(Datum(row, column, max(printed) - min(printed), span, seeds=seeds, digits=1))
        charts.append(
            lines(
                join_labels(_("L1 precision after reconstruction, per cent"), f"n = {rows:,}"),
                PATTERNS,
                panels,
                across_title=_("pattern"),
                up_title=_("L1 precision, per cent"),
                up=(50 if rows == 1_000 else 85, 100),
                width=900,
                height=130,
            )
        )
    return Comparison(spans, [say("patterns")], charts)


ROUNDED = 0.0005
"""How far a ρ of three decimals may be from the one it was rounded from."""


def errata() -> Iterator[Erratum]:
    """Yield the errata, recomputed from S4's own formulas and tables."""
    rhos = keep_probabilities(2, SIZES, 1_000)
    x = 1_000 * np.outer(BLOOD["A"], MONTH["1"])
    y = mixed(x, rhos)
    first = float(np.abs(em_step(y, y, rhos) - y).sum()) / 1_000
    steps = expectation_maximisation(y, rhos, EPSILON)[1]
    cells = [Datum.exactly(_("steps of the loop"), paper=0, ours=steps, digits=0, erratum="loop")]
    yield Erratum.of("S4", "loop", cells, first=first, epsilon=EPSILON)
    cells = _means(first="B-2", last="D-4")
    yield Erratum.of("S4", "means", cells, perturbed=mean_of_patterns(8, 0, 0), reconstructed=mean_of_patterns(8, 1, 0))
    cells = []
    for table in ("t1", "t2"):
        sizes = sizes_of(table)
        cells += _rhos(f"{table} ({' · '.join(map(str, sizes))})", sizes, ROWS, TABLE_5[table][0])
    yield Erratum.of("S4", "domains", cells)
    cells = [
        Datum.exactly(f"{table}, ρ = {rho:.3f}", "k", k, kept, tolerance=0.0, aim="at-least", erratum="k-kept")
        for table, (rhos, _perturbed, _reconstructed) in TABLE_5.items()
        for k, rho in zip(KS, rhos, strict=True)
        for kept in (k_of([rho - ROUNDED] * 3, sizes_of(table), ROWS),)
    ]
    below = sum(cell.ok is False for cell in cells)
    yield Erratum.of("S4", "k-kept", cells, below=below)
    ends = class_ends(AGES)[1]
    as_printed = sum(end <= 65 for end in ends) + 1
    cells = [
        Datum.exactly(_("as derived"), paper=15, ours=len(ends), digits=0),
        Datum.exactly(_("as printed"), paper=15, ours=as_printed, digits=0, erratum="ages"),
    ]
    yield Erratum.of("S4", "ages", cells, as_printed=as_printed)
    columns = [[reconstructed[at] for _perturbed, reconstructed in TABLE_9.values()] for at in range(len(KS))]
    lowest: dict[str, Any] = {"tolerance": 0.5, "aim": "at-least", "digits": 1, "erratum": "span"}
    cells = [
        Datum.exactly(_("smallest"), f"k = {k}", 93.0, min(column), **lowest)
        for k, column in zip(KS, columns, strict=True)
    ]
    yield Erratum.of("S4", "span", cells, low=min(columns[2]))
    yield Erratum.of("S4", "blood")
    yield Erratum.of("S4", "product")


_SYNTHETIC = N_("L1 precision on synthetic data, per cent")
_RECONSTRUCTED = N_("L1 precision after reconstruction, per cent")
DOCUMENT = PaperDocument.of(
    "S4",
    PaperSection("check", "rho", N_("Retention probability ρ from k, by formula (1)"), (), rho),
    PaperSection("check", "examples", N_("Worked examples of the text"), (), worked),
    PaperSection("table", "3", N_("Domains of the attributes of Adult"), (DOMAIN_SIZES,), table_3),
    PaperSection("table", "4", N_("Cells of four sets of attributes"), (), table_4),
    PaperSection("table", "5", N_("L1 precision on Adult, per cent"), adult_units, table_5),
    PaperSection("table", "6", N_("Patterns of blood types"), (), table_6),
    PaperSection("table", "7", N_("Patterns of months of birth"), (), table_7),
    *(
        PaperSection(
            "table", number, _SYNTHETIC, partial(synthetic_units, [n]), partial(synthetic_table, n), f"n = {n:,}"
        )
        for number, n in (("8", 1_000), ("9", 10_000))
    ),
    *(
        PaperSection("figure", str(at), _RECONSTRUCTED, figure_units(t), partial(figure, t, names), " × ".join(names))
        for at, (t, names) in FIGURES.items()
    ),
    PaperSection("figure", "5", _RECONSTRUCTED, partial(synthetic_units, TABLES), figure_5, "em, auto"),
    errata=errata,
)
