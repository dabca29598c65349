"""Small sides of a comparison, and the same reckoning by plain loops."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noren.kernels.linkage.copied_rows import Copies
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, PublicLayout, background

REACH = np.array([[0.0, 1.0, np.inf], [0.5, np.inf, np.inf]])
ITEMS, PERIODS, PEOPLE = 3, 2, 4


@dataclass(frozen=True)
class Case:
    """Random sides of two columns: a number by distance, a name by equality."""

    known: KnownLayout
    public: PublicLayout
    beside: Backgrounds
    copies: Copies
    item: NDArray[np.int64]
    period: NDArray[np.int64]


def case(seed: int, *, known_rows: int = 12, public_rows: int = 10, units: int = 4) -> Case:
    """Draw a case; some cells are not known, some are ranges, some suppressed, some rows have two items or none."""
    draw = np.random.Generator(np.random.PCG64(seed))
    values = draw.integers(0, 4, (known_rows, 2)).astype(float)
    values[draw.random((known_rows, 2)) < 0.1] = np.nan
    item, period, person = (draw.integers(0, many, known_rows) for many in (ITEMS, PERIODS, PEOPLE))
    weight = draw.choice([0.5, 1.0], known_rows)
    known, order = KnownLayout.of(item, period, person, values, weight, (ITEMS, PERIODS, PEOPLE))
    lo = draw.integers(0, 4, (public_rows, 2)).astype(float)
    hi = lo + np.column_stack([draw.integers(0, 2, public_rows), np.zeros(public_rows)])
    gone = draw.random(public_rows) < 0.1
    lo[gone, 0], hi[gone, 0] = -np.inf, np.inf
    many = draw.choice([0, 1, 1, 1, 2], public_rows)
    items = np.concatenate([np.zeros(0, np.int64), *(draw.choice(ITEMS, k, replace=False) for k in many)])
    begin = draw.integers(0, PERIODS, public_rows)
    first = np.concatenate([[0], np.sort(draw.integers(0, public_rows + 1, units - 1)), [public_rows]])
    public = PublicLayout(
        first.astype(np.int64),
        begin,
        np.minimum(begin + draw.integers(0, 2, public_rows), PERIODS - 1),
        lo,
        hi,
        np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        items.astype(np.int64),
        np.arange(public_rows) % 2,
    )
    share = draw.uniform(0.1, 1.0, known_rows)
    contexts = [(item[order], draw.integers(-1, ITEMS, public_rows)), (period[order], begin)]
    chance = np.array([[0.6, 0.3, 0.1], [0.9, 0.1, 0.0]])
    beside = background(known, share, public, contexts, REACH)
    return Case(known, public, beside, Copies(0.7, chance), item[order], period[order])


def fit(sides: Case, r: int, i: int, *, others: bool = False) -> float:
    """Return 1/n Σ_s w(r, s) of person i, in the order of the formula."""
    known, public = sides.known, sides.public
    items = public.item[public.item_first[r] : public.item_first[r + 1]].tolist()
    total = held = 0.0
    for s in range(len(known.person)):
        inside = public.begin[r] <= sides.period[s] <= public.end[r]
        if known.person[s] != i or inside == others:
            continue
        held += known.weight[s]
        if sides.item[s] not in items:
            continue
        weight = known.weight[s] / sides.beside.item[s]
        for c in range(2):
            at = level(sides, s, r, c)
            if at is not None:
                weight *= sides.copies.chance[c, at] / sides.beside.share[sides.beside.place[s, c], at]
        total += weight
    return total / held if held else 0.0


def level(sides: Case, s: int, r: int, c: int) -> int | None:
    """Return the level of a known and a public cell; None where the known one is missing."""
    x = sides.known.values[s, c]
    if math.isnan(x):
        return None
    far = max(sides.public.lo[r, c] - x, x - sides.public.hi[r, c], 0.0)
    return int(next(at for at, reach in enumerate(REACH[c]) if far <= reach))
