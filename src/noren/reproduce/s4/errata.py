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
    return [
        _loop(),
        _means(),
        _domains(),
        _k_kept(),
        _ages(),
        _span(),
        Erratum.of(__name__, "blood"),
        Erratum.of(__name__, "product"),
    ]


def _loop() -> Erratum:
    rhos = keep_probabilities(2, SIZES, 1_000)
    x = 1_000 * np.outer(BLOOD["A"], MONTH["1"])
    y = mixed(x, rhos)
    first = float(np.abs(em_step(y, y, rhos) - y).sum()) / 1_000
    steps = expectation_maximisation(y, rhos, EPSILON)[1]
    return Erratum.of(
        __name__,
        "loop",
        [Datum(_("steps until the loop ends"), paper=0, ours=steps, exact=True, tolerance=0, digits=0, erratum="loop")],
        first=first,
        epsilon=EPSILON,
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
    return Erratum.of(
        __name__, "means", cells, perturbed=mean_of_patterns(8, 0, 0), reconstructed=mean_of_patterns(8, 1, 0)
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
    return Erratum.of(__name__, "domains", cells)


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
    return Erratum.of(__name__, "k-kept", cells, below=below)


def _ages() -> Erratum:
    ends = class_ends(AGES)[1]
    as_printed = sum(end <= 65 for end in ends) + 1
    return Erratum.of(
        __name__,
        "ages",
        [
            Datum(_("classes up to 86–90"), paper=15, ours=len(ends), exact=True, tolerance=0, digits=0),
            Datum(
                _("classes as printed"), paper=15, ours=as_printed, exact=True, tolerance=0, digits=0, erratum="ages"
            ),
        ],
        as_printed=as_printed,
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
    return Erratum.of(__name__, "span", cells, low=min(columns[2]))
