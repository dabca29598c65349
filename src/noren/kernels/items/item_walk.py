"""Customers one after another, each narrowed down by what they bought (PWS Cup 2018, ``re-item``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel, part, read_only

NOBODY = -1


@dataclass(frozen=True)
class Walk:
    """What the walk looks at.

    Attributes
    ----------
    bought, first
        The items of each customer in the original's row order, ``bought[first[c]:first[c + 1]]``.
    shows, shows_first
        The pseudonyms that show each item, exactly or in a set, ``shows[shows_first[i]:shows_first[i + 1]]``.
    rows
        How many public rows each pseudonym has.
    counts
        How many rows each customer has.
    """

    bought: Whole
    first: Whole
    shows: Whole
    shows_first: Whole
    rows: Whole
    counts: Whole


def walk(about: Walk, order: Whole, draws: Real) -> tuple[Whole, Whole]:
    """Give each customer, in ``order``, one of the pseudonyms left to them; return it and among how many it was chosen.

    ``draws``, one for each customer in order and below 1, choose; a customer without candidates has :data:`NOBODY`.
    """
    bought, shows = read_only(about.bought), read_only(about.shows)
    return _walk(bought, about.first, shows, about.shows_first, about.rows, about.counts, order, draws)


@part()
def _narrow(
    bought: Whole, first: Whole, shows: Whole, shows_first: Whole, rows: Whole, counts: Whole, customer: int,
    free: Flags, stamp: Whole, room: Whole, turn: int,
) -> tuple[int, int]:  # fmt: skip  # pragma: no cover (compiled)
    """Fill ``room`` with the free pseudonyms that a customer may have; return how many, and the last stamp used.

    Those with at most as many rows as the customer, then, purchase by purchase, those that show the item; as soon as
    one is left or none, nothing more is asked.
    """
    left = 0
    for pseudonym in range(len(rows)):
        if free[pseudonym] and rows[pseudonym] <= counts[customer]:
            room[left] = pseudonym
            left += 1
    for at in range(first[customer], first[customer + 1]):
        if left <= 1:
            break
        turn += 1
        for place in range(shows_first[bought[at]], shows_first[bought[at] + 1]):
            stamp[shows[place]] = turn
        kept = 0
        for place in range(left):
            if stamp[room[place]] == turn:
                room[kept] = room[place]
                kept += 1
        left = kept
    return left, turn


@kernel()
def _walk(
    bought: Whole, first: Whole, shows: Whole, shows_first: Whole, rows: Whole, counts: Whole, order: Whole, draws: Real
) -> tuple[Whole, Whole]:  # pragma: no cover (compiled)
    free, stamp, room = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.int64), np.empty(len(rows), np.int64)
    chosen, among = np.full(len(order), NOBODY, np.int64), np.zeros(len(order), np.int64)
    turn = 0
    for step in range(len(order)):
        left, turn = _narrow(bought, first, shows, shows_first, rows, counts, order[step], free, stamp, room, turn)
        among[step] = left
        if left:
            chosen[step] = room[int(draws[step] * left)]
            free[chosen[step]] = False
    return chosen, among
