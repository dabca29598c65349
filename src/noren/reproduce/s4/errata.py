"""What S4 gets wrong, with what follows from its own formulas and tables."""

from __future__ import annotations

import numpy as np

from noren.i18n import _
from noren.kernels.reconstruction.estimates import em_step, expectation_maximisation
from noren.kernels.reconstruction.retention import k_of, keep_probabilities, mixed
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.s4.examples import NEARLY, mean_of_patterns, sizes_of
from noren.reproduce.s4.printed import KS, MEANS, ROWS, TABLE_5, TABLE_9
from noren.reproduce.s4.work import AGES, BLOOD, MONTH, SIZES
from noren.retention.attributes import class_ends
from noren.retention.reconstruction import EPSILON

__all__ = ["errata"]

ROUNDED = 0.0005
"""How far a ρ of three decimals may be from the one it was rounded from."""


def errata() -> list[Erratum]:
    """Return the errata."""
    return [_loop(), _means(), _domains(), _k_kept(), _ages(), _span(), _blood(), _product()]


def _loop() -> Erratum:
    rhos = keep_probabilities(2, SIZES, 1_000)
    x = 1_000 * np.outer(BLOOD["A"], MONTH["1"])
    y = mixed(x, rhos)
    first = float(np.abs(em_step(y, y, rhos) - y).sum()) / 1_000
    steps = expectation_maximisation(y, rhos, EPSILON)[1]
    return Erratum(
        "loop",
        _("Algorithm 1"),
        _("while the change is at most ε, iterate"),
        _("while the change exceeds ε, iterate"),
        _(
            "On pattern A-1 (1,000 rows, k = 2, the expected perturbed table) the first step moves {first:.3f} per "
            "record, above ε = {epsilon}: as printed the loop ends before it began and returns the perturbed table."
        ).format(first=first, epsilon=EPSILON),
        [Datum(_("steps until the loop ends"), paper=0, ours=steps, exact=True, tolerance=0, digits=0, erratum="loop")],
    )


def _means() -> Erratum:
    cells = [
        Datum(
            _("Table {number}, {kind}").format(number=number, kind=kind),
            f"k = {k}",
            MEANS[number][at][k_at],
            mean_of_patterns(number, at, k_at, "B-2", "D-4"),
            exact=True,
            tolerance=NEARLY,
            digits=2,
        )
        for number in MEANS
        for at, kind in enumerate((_("perturbed"), _("reconstructed")))
        for k_at, k in enumerate(KS)
    ]
    return Erratum(
        "means",
        _("Tables 8 and 9, last line"),
        _("the mean of each column"),
        _("the mean of the thirteen lines B-2 to D-4 alone"),
        _(
            "The twelve printed means are not those of the 25 lines above them (up to 2.4 points apart); those of the "
            "lines B-2 to D-4 they are, rounded or cut, as if a spreadsheet's range had slipped. Of all 25 patterns "
            "the mean at 1,000 rows is {perturbed:.2f} perturbed and {reconstructed:.2f} reconstructed for k = 2."
        ).format(perturbed=mean_of_patterns(8, 0, 0), reconstructed=mean_of_patterns(8, 1, 0)),
        cells,
    )


def _domains() -> Erratum:
    cells = [
        Datum(
            _("{table}, {cells} cells").format(table=table, cells=int(np.prod(sizes_of(table)))),
            f"k = {k}",
            TABLE_5[table][0][at],
            keep_probabilities(k, sizes_of(table), ROWS)[0],
            exact=True,
            tolerance=0.002,
            digits=4,
        )
        for table in ("t1", "t2")
        for at, k in enumerate(KS)
    ]
    return Erratum(
        "domains",
        _("Section 4.1.3"),
        _("the fewer cells, the higher ρ"),
        _("ρ depends on each domain, not on their product"),
        _(
            "Formula (1) multiplies (1-ρ)/(1+(M-1)ρ) over the attributes, which is no function of the product of M. "
            "For k = 5 and 10 t2 has 630 cells and a higher ρ than t1 with 420, in the paper's own Table 5."
        ),
        cells,
    )


def _k_kept() -> Erratum:
    cells = [
        Datum(
            f"{table}, ρ = {rho:.3f}",
            "k",
            k,
            k_of([rho - ROUNDED] * 3, sizes_of(table), ROWS),
            exact=True,
            tolerance=0.0,
            aim="at-least",
            digits=3,
            erratum="k-kept",
        )
        for table, (rhos, _perturbed, _reconstructed) in TABLE_5.items()
        for k, rho in zip(KS, rhos, strict=True)
    ]
    below = sum(cell.ok is False for cell in cells)
    return Erratum(
        "k-kept",
        _("Table 5, ρ"),
        _("ρ for k = 2, 5, 10"),
        _("a ρ that formula (1) gives at least k"),
        _(
            "Put back into formula (1), {below} of the 12 printed ρ give a k below the one asked for, even if each was "
            "rounded up by half of its last digit, which is taken off here."
        ).format(below=below),
        cells,
    )


def _ages() -> Erratum:
    ends = class_ends(AGES)[1]
    as_printed = sum(end <= 65 for end in ends) + 1
    return Erratum(
        "ages",
        _("Section 4.1.1"),
        _("classes of age: up to 20, 21–25, …, 66–90"),
        _("up to 20, 21–25, …, 86–90"),
        _(
            "Table 3 counts 15 classes, and the ρ of t3 needs 15. "
            "Steps of five up to 65 and one class 66–90 are {as_printed}."
        ).format(as_printed=as_printed),
        [
            Datum(_("classes up to 86–90"), paper=15, ours=len(ends), exact=True, tolerance=0, digits=0),
            Datum(
                _("classes as printed"), paper=15, ours=as_printed, exact=True, tolerance=0, digits=0, erratum="ages"
            ),
        ],
    )


def _span() -> Erratum:
    columns = [[reconstructed[at] for _perturbed, reconstructed in TABLE_9.values()] for at in range(len(KS))]
    cells = [
        Datum(
            _("lowest of the 25 patterns"),
            f"k = {k}",
            93.0,
            min(column),
            exact=True,
            tolerance=0.5,
            aim="at-least",
            digits=1,
            erratum="span",
        )
        for k, column in zip(KS, columns, strict=True)
    ]
    return Erratum(
        "span",
        _("Section 4.2.3"),
        _("with 10,000 rows all patterns come to about 93 to 96 per cent"),
        _("for k = 2; down to {low:.1f} for k = 10").format(low=min(columns[2])),
        _("The lowest numbers of Table 9, reconstructed."),
        cells,
    )


def _blood() -> Erratum:
    return Erratum(
        "blood",
        _("Table 6, pattern B"),
        _("A and B 40 per cent, C and D 10 per cent"),
        _("A and B 40 per cent, O and AB 10 per cent"),
        _("There are four blood types, A, B, O and AB, as the text above the table says."),
    )


def _product() -> Erratum:
    return Erratum(
        "product",
        _("Formula (1)"),
        _("∏ is the Kronecker product"),
        _("∏ is the product of numbers"),
        _("In (1) the factors are numbers. The Kronecker product is that of the matrices A in formula (2)."),
    )
