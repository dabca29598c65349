"""S4's numbers that follow by arithmetic: ρ from k, domains, patterns, means."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noren.i18n import N_, _
from noren.kernels.reconstruction.estimates import em_step, expectation_maximisation
from noren.kernels.reconstruction.retention import k_of, keep_probabilities, mixed
from noren.reproduce import s4_adult as adult
from noren.reproduce import s4_synthetic as synthetic
from noren.reproduce.frame import Comparison, Datum, Document, Erratum, Findings, Section, always
from noren.reproduce.s4_printed import (
    DOMAINS,
    KS,
    MEANS,
    MONTH_SHARES,
    RHO_SYNTHETIC,
    ROWS,
    TABLE_4,
    TABLE_5,
    TABLE_8,
    TABLE_9,
)
from noren.reproduce.s4_work import AGES, ATTRIBUTES, BLOOD, MONTH, SIZES
from noren.retention.attributes import class_ends
from noren.retention.reconstruction import EPSILON
from noren.tables import Texts

say = Texts(__name__)
NEARLY = 0.006
"""How far a printed mean may be from its own, rounded or cut."""
COARSE = 0.002
"""How far the paper's ρ may be from the formula's; how it was searched for is not said."""


def sizes_of(table: str) -> list[int]:
    """Return the domains of a set of attributes, as Table 3 gives them.

    >>> sizes_of("t1")
    [5, 2, 42]
    """
    return [DOMAINS[name] for name in ATTRIBUTES[table]]


def rho(_found: Findings) -> Comparison:
    """Compare every ρ that the paper prints with its own formula."""
    cells = [
        _rho_cell(table, k, keep_probabilities(k, sizes_of(table), ROWS)[0], said)
        for table, (printed, _perturbed, _reconstructed) in TABLE_5.items()
        for k, said in zip(KS, printed, strict=True)
    ]
    cells += [
        _rho_cell(_("{rows:,} rows").format(rows=rows), k, keep_probabilities(k, SIZES, rows)[0], said)
        for rows, printed in RHO_SYNTHETIC.items()
        for k, said in zip(KS, printed, strict=True)
    ]
    worst = max(abs(cell.difference or 0.0) for cell in cells)
    return Comparison(cells, [say("rho", worst=worst)])


def _rho_cell(row: str, k: int, ours: float, paper: float) -> Datum:
    return Datum.exactly(row, f"k = {k}", paper, ours, tolerance=COARSE, digits=4)


def table_4(_found: Findings) -> Comparison:
    """Multiply the domains of each set of attributes."""
    return Comparison(
        [
            Datum.exactly(
                f"{table}: {', '.join(ATTRIBUTES[table])}",
                paper=said,
                ours=math.prod(sizes_of(table)),
                digits=0,
                note=" · ".join(map(str, sizes_of(table))),
            )
            for table, said in TABLE_4.items()
        ]
    )


def table_6(_found: Findings) -> Comparison:
    """Write out the shares that the words of Table 6 mean."""
    said = {"A": (80,), "B": (40, 40, 10, 10), "C": (40, 30, 20, 10), "D": (None, None, None, 10), "E": (25,) * 4}
    cells = [
        Datum(
            pattern,
            blood,
            paper=paper,
            ours=100 * share,
            exact=paper is not None,
            tolerance=None if paper is None else 0.05,
            digits=1,
            erratum="blood" if pattern == "B" and blood in ("O", "AB") else "",
        )
        for pattern, shares in BLOOD.items()
        for blood, share, paper in zip(
            ("A", "B", "O", "AB"), shares, (*said[pattern], *(None,) * (4 - len(said[pattern]))), strict=True
        )
    ]
    return Comparison(cells, [say("left_to_the_reader")])


def table_7(_found: Findings) -> Comparison:
    """Write out the shares that the words of Table 7 mean: January and December, and the first half of the year."""
    cells = []
    stated = {"1": (45.0, 5.0), "4": (9.0, 1.0)} | MONTH_SHARES
    for pattern, shares in MONTH.items():
        for column, ours, at in ((_("January"), shares[0], 0), (_("December"), shares[-1], 1)):
            paper = stated[pattern][at] if pattern in stated else None
            cells.append(_share(pattern, column, paper, ours))
        cells.append(_share(pattern, _("January to June"), 80.0 if pattern == "2" else None, sum(shares[:6])))
    return Comparison(cells, [say("pattern_3")])


def _share(pattern: str, column: str, paper: float | None, ours: float) -> Datum:
    claim = None if paper is None else 0.05
    return Datum(pattern, column, paper, 100 * ours, exact=paper is not None, tolerance=claim, digits=1)


def mean_of_patterns(number: int, at: int, k_at: int, first: str = "A-1", last: str = "E-5") -> float:
    """Return the mean of a column of Table 8 or 9 as printed, over the patterns from ``first`` to ``last``.

    >>> round(mean_of_patterns(8, 0, 0), 2), round(mean_of_patterns(8, 0, 0, "B-2", "D-4"), 2)
    (77.18, 78.97)
    """
    table = TABLE_8 if number == 8 else TABLE_9
    names = list(table)
    kept = names[names.index(first) : names.index(last) + 1]
    return math.fsum(table[name][at][k_at] for name in kept) / len(kept)


def worked(_found: Findings) -> Comparison:
    """Recompute what the text and the last lines of Tables 8 and 9 say."""
    kinds = (_("perturbed"), _("reconstructed"))
    cells = [
        Datum.exactly(
            _("Table {number}, mean, {kind}").format(number=number, kind=kind),
            f"k = {k}",
            MEANS[number][at][k_at],
            mean_of_patterns(number, at, k_at),
            tolerance=NEARLY,
            digits=2,
            erratum="means",
        )
        for number in MEANS
        for at, kind in enumerate(kinds)
        for k_at, k in enumerate(KS)
    ]
    t3, t4 = (keep_probabilities(2, sizes_of(table), ROWS)[0] for table in ("t3", "t4"))
    cells.append(
        Datum.exactly(_("ρ of t4 less ρ of t3"), "k = 2", 0.0, t4 - t3, tolerance=1e-9, note=_("as many cells each"))
    )
    return Comparison(cells, [say("means")])


# --- What S4 gets wrong, with what follows from its own formulas and tables -------------------------------------------


ROUNDED = 0.0005
"""How far a ρ of three decimals may be from the one it was rounded from."""


def errata() -> Iterator[Erratum]:
    """Yield the errata."""
    rhos = keep_probabilities(2, SIZES, 1_000)
    x = 1_000 * np.outer(BLOOD["A"], MONTH["1"])
    y = mixed(x, rhos)
    first = float(np.abs(em_step(y, y, rhos) - y).sum()) / 1_000
    steps = expectation_maximisation(y, rhos, EPSILON)[1]
    yield Erratum.of(
        "S4",
        "loop",
        [Datum.exactly(_("steps until the loop ends"), paper=0, ours=steps, digits=0, erratum="loop")],
        first=first,
        epsilon=EPSILON,
    )
    cells = [
        Datum.exactly(
            _("Table {number}, {kind}").format(number=number, kind=kind),
            f"k = {k}",
            MEANS[number][at][k_at],
            mean_of_patterns(number, at, k_at, "B-2", "D-4"),
            tolerance=NEARLY,
            digits=2,
        )
        for number in MEANS
        for at, kind in enumerate((_("perturbed"), _("reconstructed")))
        for k_at, k in enumerate(KS)
    ]
    yield Erratum.of("S4", "means", cells, perturbed=mean_of_patterns(8, 0, 0), reconstructed=mean_of_patterns(8, 1, 0))
    cells = [
        Datum.exactly(
            _("{table}, {cells} cells").format(table=table, cells=int(np.prod(sizes_of(table)))),
            f"k = {k}",
            TABLE_5[table][0][at],
            keep_probabilities(k, sizes_of(table), ROWS)[0],
            tolerance=0.002,
            digits=4,
        )
        for table in ("t1", "t2")
        for at, k in enumerate(KS)
    ]
    yield Erratum.of("S4", "domains", cells)
    cells = [
        Datum.exactly(
            f"{table}, ρ = {rho:.3f}",
            "k",
            k,
            k_of([rho - ROUNDED] * 3, sizes_of(table), ROWS),
            tolerance=0.0,
            aim="at-least",
            digits=3,
            erratum="k-kept",
        )
        for table, (rhos, _perturbed, _reconstructed) in TABLE_5.items()
        for k, rho in zip(KS, rhos, strict=True)
    ]
    below = sum(cell.ok is False for cell in cells)
    yield Erratum.of("S4", "k-kept", cells, below=below)
    ends = class_ends(AGES)[1]
    as_printed = sum(end <= 65 for end in ends) + 1
    yield Erratum.of(
        "S4",
        "ages",
        [
            Datum.exactly(_("classes up to 86–90"), paper=15, ours=len(ends), digits=0),
            Datum.exactly(_("classes as printed"), paper=15, ours=as_printed, digits=0, erratum="ages"),
        ],
        as_printed=as_printed,
    )
    columns = [[reconstructed[at] for _perturbed, reconstructed in TABLE_9.values()] for at in range(len(KS))]
    cells = [
        Datum.exactly(
            _("lowest of the 25 patterns"),
            f"k = {k}",
            93.0,
            min(column),
            tolerance=0.5,
            aim="at-least",
            digits=1,
            erratum="span",
        )
        for k, column in zip(KS, columns, strict=True)
    ]
    yield Erratum.of("S4", "span", cells, low=min(columns[2]))
    yield Erratum.of("S4", "blood")
    yield Erratum.of("S4", "product")


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = Document(
    key="S4",
    title=N_("An anonymisation system on probabilistic k-anonymity"),
    citation="Hirota, Masaki, Saito, Kikuchi, Igarashi, Fuji (2014). IPSJ SIG Technical Report 2014-SPT-9, No. 3.",
    parts=(
        Section("check", "rho", N_("Retention probability ρ from k, by formula (1)"), always(), rho),
        Section("check", "examples", N_("What the text works out"), always(), worked),
        Section(
            "table",
            "3",
            N_("The nine attributes of Adult and their domains"),
            always(adult.DOMAIN_SIZES),
            adult.domains,
        ),
        Section("table", "4", N_("Four sets of three attributes, and their cells"), always(), table_4),
        Section("table", "5", N_("L1 precision on Adult, per cent"), adult.units, adult.compare),
        Section("table", "6", N_("Patterns of blood types"), always(), table_6),
        Section("table", "7", N_("Patterns of months of birth"), always(), table_7),
        Section(
            "table",
            "8",
            N_("L1 precision of 1,000 synthetic rows, per cent"),
            synthetic.units(1_000),
            synthetic.table(1_000),
        ),
        Section(
            "table",
            "9",
            N_("L1 precision of 10,000 synthetic rows, per cent"),
            synthetic.units(10_000),
            synthetic.table(10_000),
        ),
        Section("figure", "2", N_("Ages before and after"), adult.FIGURES[2].units, adult.FIGURES[2].compare),
        Section(
            "figure",
            "3",
            N_("Work class by education, before and after"),
            adult.FIGURES[3].units,
            adult.FIGURES[3].compare,
        ),
        Section("figure", "4", N_("Occupations before and after"), adult.FIGURES[4].units, adult.FIGURES[4].compare),
        Section(
            "figure",
            "5",
            N_("L1 precision of what was reconstructed, by pattern"),
            synthetic.units(1_000, 10_000),
            synthetic.figure_5,
        ),
    ),
    errata=errata,
)
