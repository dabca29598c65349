"""How far a customer's rows are from a pseudonym's public rows, in the unit of U (S0 §2.4.2).

Each public row looks for the known row that it would cost least to have come from, alone: rows may be wanted twice, so
the sum is a lower bound of the best one-to-one alignment, and far cheaper. Rows that one side has more of cost what a
deleted row costs, 1 in each column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.linkage.feasibility import Candidates, KnownRows, PublicRows
from noren.kernels.ordered import first_from

_BLOCK = 16


def least_cost(public: PublicRows, sd: Real, width: Real, nominal: Flags) -> Real:
    """Return what each public cell costs at least, whatever the true value: a range's middle, one item of a set."""
    suppressed = (public.lo == -np.inf) & (public.hi == np.inf)
    size = np.maximum(public.set_stop - public.set_first, 1)
    span = np.where(suppressed | ~np.isfinite(public.hi - public.lo), 0.0, public.hi - public.lo)
    scale = np.where(sd > 0, sd, 1.0)
    middle = np.where(sd > 0, (span**2 / 2 + span * width) / (2 * (span + width)) / scale, (span > 0).astype(float))
    return np.where(suppressed, 1.0, np.where(nominal, 1 - 1 / size, middle))


def distance_blocks(
    known: KnownRows,
    public: PublicRows,
    sd: Real,
    width: Real,
    nominal: Flags,
    *,
    shortlist: int = 32,
    telling: int = 4,
    listed: Candidates | None = None,
) -> Iterator[tuple[float, Real]]:
    """Yield the distances of some pseudonyms to all customers, after another, with the share of them that is done.

    Where customers are ``listed`` for each pseudonym, yield the distances to these alone, pair by pair.

    Parameters
    ----------
    known, public
        The two sides; column 0 is the item.
    sd, width, nominal
        For each column its population standard deviation, its grid, and whether it is compared by equality alone.
    shortlist, telling
        The ``telling`` public rows with the rarest items choose this many customers to be compared row by row; the
        others count as if nothing of theirs fitted.

    Examples
    --------
    The public price is 2; Ann's nearest is 1, Bob's is 2 and he has a row more. With a standard deviation of 1:

    >>> values, who = np.array([[0.0, 1], [0, 2], [0, 9]]), np.array([0, 1, 1])
    >>> known = KnownRows.of(values, who, 2, 1)
    >>> cell, first, stop = np.array([[0.0, 2]]), np.array([[0, 0]]), np.array([[1, 0]])
    >>> public = PublicRows.of(cell, cell, first, stop, np.zeros(1), np.array([0]), 1, known)
    >>> [block.tolist() for _, block in distance_blocks(known, public, np.ones(2), np.ones(2), np.array([True, False]))]
    [[[1.0, 2.0]]]
    """
    least = least_cost(public, sd, width, nominal)
    # rest[q, v]: what the columns after v cost at least
    rest = np.cumsum(least[:, ::-1], axis=1)[:, ::-1] - least
    pseudonyms = len(public.first) - 1
    rows = (
        *(known.values, known.first, public.lo, public.hi, public.set_first, public.set_stop, public.members),
        *(public.first, sd, width, nominal, rest),
    )
    block = _BLOCK if listed is None else _BLOCK * _BLOCK
    for start in range(0, pseudonyms, block):
        stop = min(start + block, pseudonyms)
        if listed is None:
            yield stop / pseudonyms, _distances(*rows, start, stop, shortlist, telling)
        else:
            pairs = slice(listed.first[start], listed.first[stop])
            yield stop / pseudonyms, _listed_distances(*rows, listed.pseudonym[pairs], listed.customer[pairs])


@part()
def _cost(
    x: float, lo: float, hi: float, first: int, stop: int, members: Real, sd: float, width: float, nominal: bool
) -> float:  # pragma: no cover (compiled)
    """Return what one cell costs if ``x`` is the true value; see :mod:`noren.kernels.judging.cell_error`."""
    if (lo == -np.inf and hi == np.inf) or np.isnan(x):
        return 1.0
    if nominal:
        if not (lo <= x <= hi):
            return 1.0
        return 1.0 - 1.0 / (stop - first) if members[first_from(members, first, stop, x)] == x else 1.0
    if sd == 0.0:
        return 0.0 if lo == x and hi == x else 1.0
    if lo <= x <= hi:
        return ((lo - x) ** 2 + (hi - x) ** 2 + (hi - lo) * width) / (2.0 * (hi - lo + width) * sd)
    return abs(x - (lo + (hi - lo) / 2.0)) / sd


@part()
def _nearest_row(
    values: Real, k0: int, k1: int, lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real,
    sd: Real, width: Real, nominal: Flags, rest: Real, public_row: int,
) -> float:  # fmt: skip  # pragma: no cover (compiled)
    """Return what a public row costs at least, if it came from one of a customer's rows; all columns, if of none."""
    columns, items = values.shape[1], values[:, 0]
    if k0 == k1:
        return float(columns)
    best = np.inf
    size = set_stop[public_row, 0] - set_first[public_row, 0]
    # rows of an item that the set lists first: they are few, and mostly leave nothing for the others to better
    for at in range(set_first[public_row, 0], set_stop[public_row, 0]):
        row = first_from(items, k0, k1, members[at])
        while row < k1 and values[row, 0] == members[at]:
            cost = 1.0 - 1.0 / size
            for column in range(1, columns):
                cost += _cost(
                    values[row, column], lo[public_row, column], hi[public_row, column], set_first[public_row, column],
                    set_stop[public_row, column], members, sd[column], width[column], nominal[column],
                )  # fmt: skip
            best = min(best, cost)
            row += 1
    if 1.0 + rest[public_row, 0] >= best:
        return best
    for row in range(k0, k1):
        cost = 1.0
        for column in range(1, columns):
            cost += _cost(
                values[row, column], lo[public_row, column], hi[public_row, column], set_first[public_row, column],
                set_stop[public_row, column], members, sd[column], width[column], nominal[column],
            )  # fmt: skip
            if cost + rest[public_row, column] >= best:
                break
        else:
            best = cost
    return best


@kernel()
def _distances(
    values: Real, known_first: Whole, lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real,
    public_first: Whole, sd: Real, width: Real, nominal: Flags, rest: Real, start: int, stop: int, shortlist: int,
    telling: int,
) -> Real:  # fmt: skip  # pragma: no cover (compiled)
    customers = len(known_first) - 1
    columns = values.shape[1]
    distances = np.zeros((stop - start, customers))
    for pseudonym in range(start, stop):
        p0, p1 = public_first[pseudonym], public_first[pseudonym + 1]
        first_look = min(p1, p0 + telling)
        rough = np.empty(customers)
        for who in range(customers):
            k0, k1 = known_first[who], known_first[who + 1]
            unmatched = float(columns * abs((p1 - p0) - (k1 - k0)))
            # whoever is not looked at again is as far away as if nothing fitted
            distances[pseudonym - start, who] = unmatched + columns * (p1 - p0)
            rough[who] = unmatched * (first_look - p0) / max(p1 - p0, 1)
            for public_row in range(p0, first_look):
                rough[who] += _nearest_row(
                    values, k0, k1, lo, hi, set_first, set_stop, members, sd, width, nominal, rest, public_row
                )
        for who in np.argsort(rough)[:shortlist]:
            k0, k1 = known_first[who], known_first[who + 1]
            total = float(columns * abs((p1 - p0) - (k1 - k0)))
            for public_row in range(p0, p1):
                total += _nearest_row(
                    values, k0, k1, lo, hi, set_first, set_stop, members, sd, width, nominal, rest, public_row
                )
            distances[pseudonym - start, who] = total
    return distances


@kernel()
def _listed_distances(
    values: Real, known_first: Whole, lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real,
    public_first: Whole, sd: Real, width: Real, nominal: Flags, rest: Real, pseudonym: Whole, customer: Whole,
) -> Real:  # fmt: skip  # pragma: no cover (compiled)
    distances = np.zeros(len(pseudonym))
    for pair in range(len(pseudonym)):
        p0, p1 = public_first[pseudonym[pair]], public_first[pseudonym[pair] + 1]
        k0, k1 = known_first[customer[pair]], known_first[customer[pair] + 1]
        distances[pair] = values.shape[1] * abs((p1 - p0) - (k1 - k0))
        for public_row in range(p0, p1):
            distances[pair] += _nearest_row(
                values, k0, k1, lo, hi, set_first, set_stop, members, sd, width, nominal, rest, public_row
            )
    return distances
