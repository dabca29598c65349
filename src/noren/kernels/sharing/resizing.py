"""Customers deleted whole, and groups dissolved: the moves that change how many members groups have.

Deleting a customer costs the worth of its rows and frees its group from the shortest history in it. No more than k - 1
deletions ever pay: k customers deleted could as well be a group that keeps nothing. So an optimum may delete few, but
which few matters, where k does not divide the number of customers or one of them is like nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.grouping import Group, GroupSearch

__all__ = ["resized"]

_NOWHERE = -1
"""In place of a group: the customer is deleted."""
_PAYS = 1e-7
_UNKNOWN = (-np.inf, False)


@dataclass(frozen=True)
class _Move:
    """Some customers leave a group, each to a group of its own, or to none."""

    gain: float
    group: int
    leaving: tuple[int, ...]
    to: tuple[int, ...]
    rest: Group | None


def resized(search: GroupSearch, k: int, tries: int) -> bool:
    """Delete customers, take them back, move members of large groups and dissolve groups while that pays.

    Returns whether anything did. Groups keep at least k members; a customer deleted whole is a group of one.
    """
    changed = False
    while len(search.groups) > 1 or len(search.groups[0].members) > k:
        prices = _prices(search, k, tries)
        moves = sorted(_moves(search, k, prices), key=lambda move: (-move.gain, move.group, move.leaving))
        touched: set[int] = set()
        groups: list[Group | None] = list(search.groups)
        for move in moves:
            places = {move.group, *move.to} - {_NOWHERE}
            if places & touched:
                continue
            touched |= places
            _make(search, groups, move)
        before = search.cost
        search.replace([group for group in groups if group is not None])
        if not moves or search.cost > before - _PAYS:
            return changed
        changed = True
    return changed


def _prices(search: GroupSearch, k: int, tries: int) -> Real:
    """Return what every group costs more with every customer: exact for the nearest groups, out of reach elsewhere."""
    groups, people = search.groups, len(search.worth)
    price = np.full((people, len(groups)), np.inf)
    real = np.array([g for g, group in enumerate(groups) if not group.deleted])
    if not len(real):
        return price
    home = np.empty(people, dtype=np.int64)
    held = np.zeros((people, len(groups)))
    for g, group in enumerate(groups):
        home[group.members] = g
        held[group.members, g] = 1 / len(group.members)
    near = (search.affinity @ held)[:, real]
    near[home[:, None] == real[None, :]] = np.inf
    few = min(tries, len(real))
    at = real[np.argsort(near, axis=1, kind="stable")[:, :few]]
    pairs = np.stack([np.repeat(np.arange(people), few), at.ravel()], axis=1)
    now = np.array([group.cost for group in groups])
    may_pay = (home[pairs[:, 0]] != pairs[:, 1]) & (now[home[pairs[:, 0]]] > _PAYS)
    pairs = pairs[may_pay]
    u, g = pairs[:, 0], pairs[:, 1]
    mine = search.worth[u]
    worth = mine + np.array([search.worth[group.members].sum() for group in groups])[g]
    versions = np.array(search.versions)
    keys = list(zip(u.tolist(), versions[g].tolist(), strict=True))
    known = [search.prices.get(key, _UNKNOWN) for key in keys]
    least, exact = np.array([c for c, _e in known]), np.array([e for _c, e in known], dtype=np.bool_)
    tables = [group.table for group in groups]

    def ask(at: Whole, limit: Real) -> None:
        least[at] = search.join_costs(search.own, tables, pairs[at], worth[at], limit)
        exact[at] = least[at] <= limit

    ask(new := np.flatnonzero(np.isneginf(least)), np.full(len(new), -np.inf))
    limit = now[g] + np.minimum(mine, _room(search, k, home, u, least - now[g], now)[u])
    ask(open_pairs := np.flatnonzero(~exact & (least <= limit)), limit[open_pairs])
    search.prices |= dict(zip(keys, zip(least.tolist(), exact.tolist(), strict=True), strict=True))
    price[u, g] = np.where(exact & (least <= limit), least - now[g], np.inf)
    return price


def _room(search: GroupSearch, k: int, home: Whole, u: Whole, least: Real, now: Real) -> Real:
    """Return what each customer's new place may cost at most, if its group's loss is to pay.

    A group of k is dissolved, so for each member there is the group's cost less what all others cost elsewhere, at
    least. A larger one loses one member.
    """
    elsewhere = search.worth.copy()
    np.minimum.at(elsewhere, u, least)
    others = np.bincount(home, elsewhere, len(now))[home] - elsewhere
    sizes = np.array([len(group.members) for group in search.groups])
    room: Real = now[home] - np.where(sizes[home] == k, others, 0.0)
    return room


def _moves(search: GroupSearch, k: int, price: Real) -> list[_Move]:
    """Return the moves that pay by the prices of single customers."""
    found = []
    for g, group in enumerate(search.groups):
        if group.cost <= _PAYS:
            continue
        if group.deleted or len(group.members) == k:
            found.append(_dissolved(search, g, price))
        else:
            found += [_smaller(search, g, at, price) for at in range(len(group.members))]
    return [move for move in found if move.gain > _PAYS]


def _dissolved(search: GroupSearch, g: int, price: Real) -> _Move:
    """Return the cheapest way to send all members of a group elsewhere, no two to one group."""
    group = search.groups[g]
    out = np.where(np.eye(len(group.members), dtype=np.bool_), search.worth[group.members], np.inf)
    choices = np.concatenate([price[group.members], out], axis=1)
    choices[:, g] = np.inf
    dear = float(search.worth[group.members].sum()) + 1.0
    who, to = linear_sum_assignment(np.where(np.isinf(choices), dear, choices))
    gain = group.cost - float(choices[who, to].sum())
    places = tuple(int(at) if at < len(search.groups) else _NOWHERE for at in to)
    return _Move(gain, g, tuple(group.members.tolist()), places, None)


def _smaller(search: GroupSearch, g: int, at: int, price: Real) -> _Move:
    """Return the cheapest way for one member of a group that is larger than it need be."""
    group = search.groups[g]
    customer = int(group.members[at])
    taken = np.arange(len(group.members)) == at
    rest = search.settled(group.members[~taken], search.without(group, taken))
    to = int(np.argmin(price[customer]))
    there = float(price[customer, to])
    if search.worth[customer] <= there:
        to, there = _NOWHERE, float(search.worth[customer])
    return _Move(group.cost - rest.cost - there, g, (customer,), (to,), rest)


def _make(search: GroupSearch, groups: list[Group | None], move: _Move) -> None:
    """Make a move, in place."""
    groups[move.group] = move.rest
    for customer, to in zip(move.leaving, move.to, strict=True):
        if to == _NOWHERE:
            groups.append(search.alone(customer))
            continue
        there = search.groups[to]
        members: Whole = np.append(customer, there.members)
        groups[to] = search.joined(members, search.own[customer], there.table)
