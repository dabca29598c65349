"""Customers one after another, each narrowed down by what they bought (PWS Cup 2018, ``re-item``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel, part, read_only

NOBODY = -1


class Walk(NamedTuple):
    """What the walk looks at."""

    bought: Whole
    first: Whole
    """``bought``, ``first``: each customer's items in row order, ``bought[first[c]:first[c + 1]]``."""
    shows: Whole
    shows_first: Whole
    """``shows``, ``shows_first``: who show an item or a set with it, ``shows[shows_first[i]:shows_first[i + 1]]``."""
    rows: Whole
    """How many public rows each pseudonym has."""
    counts: Whole
    """How many rows each customer has."""


def walk(about: Walk, order: Whole, draws: Real) -> tuple[Whole, Whole]:
    """Give each customer, in ``order``, one of the pseudonyms left to them; return it and among how many it was chosen.

    ``draws``, one for each customer in order and below 1, choose; a customer without candidates has :data:`NOBODY`.
    """
    return _walk(about._replace(bought=read_only(about.bought), shows=read_only(about.shows)), order, draws)


@part()
def _narrow(
    about: Walk, customer: int, free: Flags, stamp: Whole, room: Whole, turn: int
) -> tuple[int, int]:  # pragma: no cover (compiled)
    """Fill ``room`` with the free pseudonyms that a customer may have; return how many, and the last stamp used.

    Those with at most as many rows as the customer, then, purchase by purchase, those that show the item; as soon as
    one is left or none, nothing more is asked.
    """
    left = 0
    for pseudonym in range(len(about.rows)):
        if free[pseudonym] and about.rows[pseudonym] <= about.counts[customer]:
            room[left] = pseudonym
            left += 1
    for at in range(about.first[customer], about.first[customer + 1]):
        if left <= 1:
            break
        turn += 1
        for place in range(about.shows_first[about.bought[at]], about.shows_first[about.bought[at] + 1]):
            stamp[about.shows[place]] = turn
        count_left = 0
        for place in range(left):
            if stamp[room[place]] == turn:
                room[count_left] = room[place]
                count_left += 1
        left = count_left
    return left, turn


@kernel()
def _walk(about: Walk, order: Whole, draws: Real) -> tuple[Whole, Whole]:  # pragma: no cover (compiled)
    free, stamp = np.ones(len(about.rows), np.bool_), np.zeros(len(about.rows), np.int64)
    room = np.empty_like(stamp)
    chosen, among = np.full(len(order), NOBODY, np.int64), np.zeros(len(order), np.int64)
    turn = 0
    for step in range(len(order)):
        left, turn = _narrow(about, order[step], free, stamp, room, turn)
        among[step] = left
        if left:
            chosen[step] = room[int(draws[step] * left)]
            free[chosen[step]] = False
    return chosen, among
