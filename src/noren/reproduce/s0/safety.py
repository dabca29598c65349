"""S0's test of safety: how many right answers prove a release unsafe, and who survives 13 attackers."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from noren.i18n import _
from noren.kernels.judging.survival import satisfies_h0
from noren.kernels.judging.threshold import threshold, thresholds, union_probability
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s0 import work
from noren.reproduce.s0.printed import KINDS, TABLE_3, TABLE_4

__all__ = ["example_units", "examples", "kind_units", "kinds", "result_units", "results", "table_4"]

PAIRS, TRIPLES, TWO_ALONE, UNIQUE = (0, 2), (0, 3), (2, 2), (100, 2)
"""Customers whom nobody is like, and the size of the classes that the others are in."""
BEST = Unit(work.useful, ("generalize, k = 2", 2), data=(work.DATA,))
"""The best pairs; two draws of them, for Table 3 asks for none."""


def _surviving(alone: int, size: int, bound: str) -> Unit:
    return Unit(work.surviving, (alone, size, bound))


# --- Table 3 ---------------------------------------------------------------------------------------------------------


def result_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for Table 3: the best groups of two that there are."""
    return [BEST]


def results(found: Findings) -> Comparison:
    """Set U of the best pairs that there are beside the teams'; the teams' own releases are not public."""
    ours = next(iter(found.of([BEST])), None)
    cells = []
    for team, (u, hit) in TABLE_3.items():
        same = u == 0.206
        words = _("ours: the best groups of two") if same else _("the release is not public")
        cells += [
            Datum(
                _("team {team}").format(team=team),
                "U",
                u,
                ours["U"] if ours and same else None,
                exact=same,
                tolerance=0.0005,
                note=words,
            ),
            Datum(_("team {team}").format(team=team), _("effective"), _("yes") if hit else _("no")),
        ]
    says = [
        _("Three teams, the winner among them, have U = 0.206 with 2,622 rows deleted: no groups of two do better.")
    ]
    if ours:
        said = _("Ours: U = {u:.5f}, {rows:,} rows deleted, lower bound {bound:.5f}.")
        says.append(said.format(u=ours["U"], rows=ours["deleted"], bound=ours["lower_bound"]))
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
            Datum(row, "r(n')", "*" if said is None else said, "*" if ours > n else ours, exact=True, tolerance=0,
                 digits=0),
            Datum(row, _("sharp bound"), ours="*" if sharp[n] > n else sharp[n], digits=0),
        ]  # fmt: skip
    return Comparison(
        cells,
        [
            _("*: no number of right answers is enough."),
            _("The sharp bound asks for as few as H0 allows; the two agree up to n' = 17."),
        ],
    )


# --- what the text works out -----------------------------------------------------------------------------------------


def example_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for the examples."""
    return [_surviving(0, k, bound) for k in (2, 3, 4, 6, 7) for bound in ("paper", "sharp")]


def examples(found: Findings) -> Comparison:
    """Compare what the text works out, and say how often each k outlives 13 attackers by either bound."""
    pairs = found[_surviving(*PAIRS, "paper")]
    yes, no = _("yes"), _("no")
    paper, sharp = _("S0's bound"), _("sharp bound")
    cells = [
        Datum("7! ", paper, 5040, factorial(7), exact=True, tolerance=0, digits=0),
        Datum("3^7", paper, 2187, 1 / float(union_probability(7, 7)), exact=True, tolerance=1e-6, digits=0),
        Datum("6!", paper, 720, factorial(6), exact=True, tolerance=0, digits=0),
        Datum(_("7-anonymous satisfies H0"), paper, yes, yes if satisfies_h0([7]) else no, exact=True),
        Datum(_("6-anonymous satisfies H0"), paper, no, yes if satisfies_h0([6]) else no, exact=True),
        Datum(_("pairs, chance of one attacker"), paper, 0.073, pairs["chance"], exact=True, tolerance=0.0005),
        Datum(_("k = 2: survives 13 attackers"), paper, 0.37, pairs["survival"], exact=True, tolerance=0.005),
    ]
    for k in (2, 3, 4, 6, 7):
        row = _("k = {k}: survives 13 attackers").format(k=k)
        if k > 2:
            cells.append(Datum(row, paper, ours=found[_surviving(0, k, "paper")]["survival"]))
        cells.append(Datum(row, sharp, ours=found[_surviving(0, k, "sharp")]["survival"]))
    return Comparison(
        cells,
        [
            _("With the sharp bound pairs are found out for certain, and triples survive as often as by S0's bound."),
            _(
                "So the decision at k = 2, which S0 found left to luck, is no longer. "
                "At k = 3 to 6 it still is: these break H0 and mostly survive."
            ),
            _("Survival is that against attackers who draw lots independently of each other."),
        ],
    )


# --- Table 5 ---------------------------------------------------------------------------------------------------------

_CLASSES = {"unique": UNIQUE, "two alone": TWO_ALONE, "pairs": PAIRS, "triples": TRIPLES}


def kind_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for Table 5."""
    return [_surviving(*classes, bound) for classes in _CLASSES.values() for bound in ("paper", "sharp")]


def kinds(found: Findings) -> Comparison:
    """Set the number of releases that survived beside the number to expect against the best attackers."""
    words = {
        "unique": _("100 or more customers unique"),
        "two alone": _("2 unprocessed, pairs"),
        "pairs": _("pairs"),
        "triples": _("triples"),
        "based on triples": _("based on triples"),
    }
    cells = []
    for kind, (count, survived) in KINDS.items():
        row = words[kind]
        cells.append(Datum(row, _("releases"), ours=count, digits=0))
        for column, bound in ((_("survived"), "paper"), (_("survived, sharp bound"), "sharp")):
            ours = count * found[_surviving(*_CLASSES[kind], bound)]["survival"] if kind in _CLASSES else None
            cells.append(Datum(row, column, survived if bound == "paper" else None, ours, digits=2))
    return Comparison(
        cells,
        [
            _("Ours is how many would survive in the mean, if 13 attackers each did the best they can, independently."),
            _("What is based on triples is not described, so nothing can be expected of it."),
        ],
    )
