"""The cheapest way to give every row of a matrix a column of its own: rectangular linear assignment.

Shortest augmenting paths after an auction-like start (Jonker and Volgenant 1987, without their column reduction, which
a matrix with more columns than rows does not allow).

**What many answers together say, and how far each voter can be trusted, when nobody knows the truth.**
Voters answer questions with one of K choices each, or stay silent. A voter of skill q knows the answer with chance q
and else guesses, so it is right with chance p = 1/K + (1 - 1/K) q, and speaks for its answer by
``log(p (K - 1)/(1 - p))``. Nobody tells q. But two voters who err each in its own way give the same answer with chance
1/K + (1 - 1/K) q q': what they agree more often than by chance is the product of their skills, and all pairs together
tell each skill (the one-coin model of Dawid and Skene 1979; products of skills as in Parisi et al. 2014).

Voters that go about it in the same way make the same mistakes. Those of one family do not vouch for each other. What
any two agree more often than their skills explain is taken for mistakes in common: such pairs count less when skills
are told, and the votes of both are divided among them.

Where the truth of like questions is at hand, skills are counted (:func:`tested`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel, part

FAR = 1e290
"""More than any cost: stands for infinity, which the arithmetic of these kernels does not know."""

EXACT = {"nnan", "ninf", "nsz"}
"""Arithmetic without NaN, infinity and the sign of zero, for loops over vectors; no sum is rearranged and no product
fused, which would give other last digits on another machine, or once a kernel comes from the cache."""


@part(fastmath=EXACT)
def _auction(cost: Real, rows: int, columns: int, column_of: Whole, row_of: Whole, price: Real) -> int:
    """Let free rows bid for columns, two rounds; return how many rows stay free.

    Prices (the dual values of columns) fall only where a column has a row, so columns without one keep 0.
    """
    free = np.arange(rows)
    waiting = rows
    for _ in range(2):
        k = 0
        ahead = waiting
        waiting = 0
        bids = 0
        most = 4 * rows + 16  # rounding can make two rows outbid each other for ever
        while k < ahead:
            i = free[k]
            k += 1
            first = FAR
            second = FAR
            j1 = 0
            j2 = 0
            for j in range(columns):
                reduced = cost[i, j] - price[j]
                if reduced < second:
                    if reduced < first:
                        second = first
                        j2 = j1
                        first = reduced
                        j1 = j
                    else:
                        second = reduced
                        j2 = j
            if columns == 1:
                second = first
            bids += 1
            loser = row_of[j1]
            strictly = second - first > 1e-12
            if strictly:
                price[j1] -= second - first
            elif loser >= 0 and columns > 1:
                j1 = j2
                loser = row_of[j1]
            row_of[j1] = i
            column_of[i] = j1
            if loser >= 0:
                column_of[loser] = -1
                if strictly and bids < most:
                    k -= 1
                    free[k] = loser
                else:
                    free[waiting] = loser
                    waiting += 1
    return waiting


_LANES = 16
"""Lanes that columns are dealt to in turn: the least of each is found without a branch, and few columns compared."""


@part(fastmath=EXACT)
def _least_of_lanes(reach: Real, least: Real) -> float:
    """Write the least of each lane; return the least of all."""
    for lane in range(_LANES):
        least[lane] = reach[lane]
    for first in range(_LANES, len(reach), _LANES):
        for lane in range(_LANES):
            least[lane] = min(least[lane], reach[first + lane])
    shortest = FAR
    for lane in range(_LANES):
        shortest = min(shortest, least[lane])
    return shortest


@part(fastmath=EXACT)
def _relax(line: Real, open_price: Real, reach: Real, before: Whole, i: int, offset: float) -> None:
    """Shorten the paths to columns by way of row i; a loop of its own, and without a minimum, runs on vectors."""
    for j in range(len(line)):
        through = line[j] - open_price[j] - offset
        far, way = reach[j], before[j]
        closer = through < far
        reach[j] = through if closer else far
        before[j] = i if closer else way


@kernel(fastmath=EXACT)
def assign(cost: Real, rows: int, columns: int, limit: float, column_of: Whole) -> float:
    """Return the least total of ``cost[i, column_of[i]]`` over distinct columns, and fill in ``column_of``.

    ``rows`` are at most ``columns``. Stops early once the total is known to exceed ``limit``: the value returned is
    then a lower bound above the limit and ``column_of`` means nothing. The bound is the dual value ``Σ_i min_j (cost_ij
    − price_j) + Σ_j price_j`` with ``price ≤ 0``, zero where a column has no row; each augmenting path raises it by its
    length.

    >>> column_of = np.empty(2, dtype=np.int64)
    >>> assign(np.array([[1.0, 2.0, 9.0], [1.0, 5.0, 9.0]]), 2, 3, 1e9, column_of), column_of.tolist()
    (3.0, [1, 0])
    """
    bound = 0.0
    for i in range(rows):
        least = FAR
        for j in range(columns):
            if cost[i, j] < least:
                least = cost[i, j]
        bound += least
    if bound > limit:
        return bound

    row_of = np.full(columns, -1, dtype=np.int64)
    price = np.zeros(columns)
    for i in range(rows):
        column_of[i] = -1
    _auction(cost, rows, columns, column_of, row_of, price)
    bound = 0.0
    for j in range(columns):
        bound += price[j]
    for i in range(rows):
        least = FAR
        for j in range(columns):
            reduced = cost[i, j] - price[j]
            if reduced < least:
                least = reduced
        bound += least
    if bound > limit:
        return bound

    # length of the shortest path to a column not yet scanned; lanes end with columns that are out of reach
    reach = np.full(-(-columns // _LANES) * _LANES, FAR)
    nearest = np.empty(_LANES)
    open_price = np.empty(columns)  # the price, out of reach where a column is scanned
    before = np.empty(columns, dtype=np.int64)
    scanned = np.empty(columns, dtype=np.int64)
    length = np.empty(columns)
    for start in range(rows):
        if column_of[start] >= 0:
            continue
        for j in range(columns):
            open_price[j] = price[j]
            reach[j] = cost[start, j] - price[j]
            before[j] = start
        begin = FAR
        count = 0
        while True:
            shortest = _least_of_lanes(reach, nearest)
            if count == 0:
                begin = shortest
            # the first column without a row ends the path, else the last of the nearest is scanned
            sink, end = -1, columns
            for lane in range(_LANES):
                if nearest[lane] <= shortest:
                    for j in range(lane, columns, _LANES):
                        if reach[j] <= shortest:
                            sink = max(sink, j)
                            if row_of[j] < 0:
                                end = min(end, j)
            if end < columns:
                sink = end
                break
            scanned[count] = sink
            length[count] = shortest
            count += 1
            reach[sink] = FAR
            open_price[sink] = -FAR
            i = row_of[sink]
            _relax(cost[i], open_price, reach, before, i, cost[i, sink] - price[sink] - shortest)
        bound += shortest - begin
        if bound > limit:
            return bound
        for at in range(count):
            price[scanned[at]] += length[at] - shortest
        while True:
            i = before[sink]
            row_of[sink] = i
            column_of[i], sink = sink, column_of[i]
            if i == start:
                break
    total = 0.0
    for i in range(rows):
        total += cost[i, column_of[i]]
    return total


# --- One pseudonym each: what follows from scores of all pairs when nobody has two ------------------------------------


_ROUNDS = 40
_LEAST = 1e-300
_STEP, _RATE = 2.0**-20, 2.0**-5
"""The step of an auction, by the largest gain and by the price."""


def fair_shares(score: Real) -> Real:
    """Return the chance of each pair, rows being pseudonyms of somebody, columns people with one pseudonym at most.

    ``score`` is the log of each pair's likelihood. The chances of a row sum to 1, those of a column to 1 at most: the
    table nearest to the likelihoods of which this is true, found by scaling rows and columns in turn (Sinkhorn 1967).

    Both rows are likeliest the first person; the second row fits nobody else worse, so the first row yields.

    >>> fair_shares(np.log([[0.5, 0.5], [0.9, 0.1]])).round(2).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    if not score.size:
        return np.zeros(score.shape)
    most = score.max(axis=1, keepdims=True)
    weight = np.exp(score - np.where(np.isfinite(most), most, 0.0))
    column = np.ones(score.shape[1])
    for _ in range(_ROUNDS):
        row = 1 / np.maximum(weight @ column, _LEAST)
        column = np.minimum(1, 1 / np.maximum(row @ weight, _LEAST))
    share = weight * column
    share /= np.maximum(share.sum(axis=1, keepdims=True), _LEAST)
    return np.asarray(share)


def best_pairs(gain: Real) -> tuple[Whole, Whole]:
    """Return rows and columns of the pairs of largest sum, no row or column twice; pairs without gain are left out.

    >>> rows, columns = best_pairs(np.array([[5.0, 4.0], [3.0, -1.0]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    row, column = linear_sum_assignment(np.maximum(gain, 0.0), maximize=True)
    there = gain[row, column] > 0
    return row[there], column[there]


def fair_listed_shares(row: Whole, column: Whole, score: Real, rest: Real, shape: tuple[int, int]) -> Real:
    """Return :func:`fair_shares` of listed pairs; ``rest`` is for each row the log of the sum over all columns else.

    >>> pairs, nothing = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])), np.full(2, -np.inf)
    >>> fair_listed_shares(*pairs, np.log([0.5, 0.5, 0.9, 0.1]), nothing, (2, 2)).round(2).tolist()
    [0.25, 0.75, 0.75, 0.25]
    """
    most = rest.copy()
    np.maximum.at(most, row, score)
    safe = np.where(np.isfinite(most), most, 0.0)
    weight = csr_array((np.exp(score - safe[row]), (row, column)), shape=shape)
    beside, factor = np.exp(rest - safe), np.ones(shape[1])
    for _ in range(_ROUNDS):
        line = 1 / np.maximum(weight @ factor + beside * factor.mean(), _LEAST)
        factor = np.minimum(1, 1 / np.maximum(line @ weight + (line @ beside) / shape[1], _LEAST))
    whole = np.maximum(weight @ factor + beside * factor.mean(), _LEAST)
    return np.asarray(np.exp(score - safe[row]) * factor[column] / whole[row])


def best_listed(row: Whole, column: Whole, gain: Real, shape: tuple[int, int]) -> Whole:
    """Return which of the listed pairs make the largest sum, no row or column twice; each is listed once.

    A row may stay alone, which gains nothing. Found by an auction (Bertsekas 1979), so the sum is short of the largest
    by at most a millionth of the largest gain per row, and by 1/32 of the prices paid: less where rows are few, and
    next to nothing where they do not compete.

    Proof. A row bids for its best column and raises its price p by what the second best, or staying alone, is worth
    less, and by a step e. So it then has at least max(0, max_j(gain_ij - p_j)) - e, and has it while other prices rise.
    With that maximum as u_i any assignment is worth at most Σ u_i + Σ p_j; ours at least as much less all e, for only
    columns that have a row have a price, and rows that stay alone have u_i = 0. As e is a millionth of the largest gain
    and 1/32 of p before, a price takes few steps however far it rises.

    >>> best_listed(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([5.0, 4.0, 3.0]), (2, 2)).tolist()
    [1, 2]
    """
    order = np.lexsort((column, row))
    first = np.searchsorted(row[order], np.arange(shape[0] + 1))
    steps = gain.max(initial=0.0) * _STEP, min(_RATE, shape[0] ** 2 * _STEP / 64)
    at = _auctioned(first, column[order], gain[order], shape[1], *steps)
    return np.sort(order[at[at >= 0]])


@kernel()
def _auctioned(first: Whole, column: Whole, gain: Real, columns: int, step: float, rate: float) -> Whole:
    """Return the pair of each row, below 0 of one that stays alone; rows are in turn as long as any has to bid."""
    rows = len(first) - 1
    pair, holder, price = np.full(rows, -1), np.full(columns, -1), np.zeros(columns)
    queue, turn, waiting = np.arange(rows), 0, rows
    while waiting:
        i = queue[turn]
        turn, waiting = (turn + 1) % rows, waiting - 1
        best, second, at = 0.0, 0.0, -1
        for e in range(first[i], first[i + 1]):
            worth = gain[e] - price[column[e]]
            if worth > best:
                best, second, at = worth, best, e
            elif worth > second:
                second = worth
        if at < 0:
            continue
        j = column[at]
        price[j] += best - second + step + rate * price[j]
        loser, holder[j], pair[i] = holder[j], i, at
        if loser >= 0:
            pair[loser] = -1
            queue[(turn + waiting) % rows] = loser
            waiting += 1
    return pair


def greedy_pairs(row: Whole, column: Whole, gain: Real, shape: tuple[int, int]) -> tuple[Whole, Whole]:
    """Return pairs without a row or column twice, always taking the largest gain left; for what no table can hold.

    >>> rows, columns = greedy_pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([5.0, 4.0, 3.0]), (2, 2))
    >>> rows.tolist(), columns.tolist()
    ([0], [0])
    """
    order = np.lexsort((column, row, -gain))
    chosen = order[_first_come(row[order], column[order], *shape) & (gain[order] > 0)]
    chosen = chosen[np.argsort(row[chosen], kind="stable")]
    return row[chosen], column[chosen]


@kernel()
def _first_come(row: Whole, column: Whole, rows: int, columns: int) -> NDArray[np.bool_]:
    """Tell which pairs come before any other with their row or column that was let in."""
    row_taken = np.zeros(rows, np.bool_)
    column_taken = np.zeros(columns, np.bool_)
    let_in = np.zeros(len(row), np.bool_)
    for at in range(len(row)):
        if not (row_taken[row[at]] or column_taken[column[at]]):
            row_taken[row[at]] = column_taken[column[at]] = True
            let_in[at] = True
    return let_in


# --- What many answers together say, and how far each voter can be trusted, when nobody knows the truth ---------------


SILENT = -1

_SKILL_ROUNDS = 300
_PLAIN_ROUNDS = 20
_LEARNING_RATE = 0.3
_IN_COMMON = 0.05
_MOST_QUESTIONS = 400
_DOUBT = 2.0
"""Before they agree on anything, two voters are taken to have agreed by chance in so many questions."""
_FEW = 20
_MOST_SKILL = 0.99


def reliability(answers: Whole, choices: Whole, family: Whole) -> tuple[Real, Real]:
    """Return the skill of each voter, told from the answers alone, and by what its votes are divided.

    Parameters
    ----------
    answers
        One line per question, one number per voter; equal numbers are equal answers, :data:`SILENT` is none.
    choices
        The number of choices each question has.
    family
        A number per voter; those with equal numbers do not vouch for each other.

    Examples
    --------
    Two of three agree on all four questions.

    >>> answers = np.array([[1, 1, 2], [3, 3, 1], [2, 2, 0], [0, 0, 3]])
    >>> skill, divided = reliability(answers, np.full(4, 50), np.arange(3))
    >>> skill.round(1).tolist(), divided.tolist()
    ([0.8, 0.8, 0.0], [1.0, 1.0, 1.0])

    Were they of one family, nobody could tell.

    >>> reliability(answers, np.full(4, 50), np.array([0, 0, 1]))[0].round(1).tolist()
    [0.0, 0.0, 0.0]
    """
    shared, product = _agreement(answers, choices)
    weight = np.where(family[:, None] == family[None, :], 0.0, np.sqrt(np.minimum(shared, _MOST_QUESTIONS)))
    skill = np.full(len(family), 0.5)
    for at in range(_SKILL_ROUNDS):
        more = np.maximum(product - np.outer(skill, skill), 0.0) if at >= _PLAIN_ROUNDS else 0.0
        trust = weight / (1 + (more / _IN_COMMON) ** 2)
        estimate = (trust * product) @ skill / np.maximum(trust @ skill**2, 1e-9)
        skill = (1 - _LEARNING_RATE) * skill + _LEARNING_RATE * np.clip(estimate, 0.0, _MOST_SKILL)
    return skill, _divided(skill, shared, product)


def tested(answers: Whole, truth: Whole, choices: Whole) -> tuple[Real, Real]:
    """Return the skill of each voter, counted where the truth is known, and by what its votes are divided.

    Two answer both questions alike, and one of them right.

    >>> answers, truth = np.array([[1, 1, 2], [3, 3, 1]]), np.array([1, 0])
    >>> tested(answers, truth, np.full(2, 50))[0].round(2).tolist()
    [0.24, 0.24, 0.0]
    """
    answered = answers != SILENT
    blind = (answered / np.maximum(choices, 1)[:, None]).sum(axis=0) + _DOUBT / max(choices.mean(), 1.0)
    many = answered.sum(axis=0) + _DOUBT
    right = (answered & (answers == truth[:, None])).sum(axis=0) + _DOUBT / max(choices.mean(), 1.0)
    skill = np.clip((right - blind) / np.maximum(many - blind, 1e-9), 0.0, _MOST_SKILL)
    return skill, _divided(skill, *_agreement(answers, choices))


def _agreement(answers: Whole, choices: Whole) -> tuple[Real, Real]:
    """Return for each two voters how many questions both answered, and how often they agree beyond chance."""
    answered = answers != SILENT
    together = answered[:, :, None] & answered[:, None, :]
    shared = together.sum(axis=0).astype(np.float64)
    agreed = (together & (answers[:, :, None] == answers[:, None, :])).sum(axis=0)
    by_chance = np.einsum("qab,q->ab", together, 1 / np.maximum(choices, 1)) + _DOUBT / max(choices.mean(), 1.0)
    by_chance /= shared + _DOUBT
    rate = (agreed + _DOUBT / max(choices.mean(), 1.0)) / (shared + _DOUBT)
    product = np.clip((rate - by_chance) / np.maximum(1 - by_chance, 1e-9), 0.0, 1.0)
    return shared, product


def _divided(skill: Real, shared: Real, product: Real) -> Real:
    """Return by what the votes of each are divided: 1, and more for what it agrees with others beyond skill."""
    explained = np.outer(skill, skill)
    common = np.clip((product - explained) / np.maximum(1 - explained, 1e-9), 0.0, 1.0)
    common[(shared <= _FEW) | np.eye(len(skill), dtype=np.bool_)] = 0.0
    return np.asarray(1 + common.sum(axis=1))


def chances(answers: Whole, choices: Whole, skill: Real, divided: Real) -> Real:
    """Return for each question and voter the chance of its answer by the votes of all; 0 where it is silent.

    Two who are right with chance 0.6 say 1, one who is with chance 0.8 says 2.

    >>> skill = np.array([0.2, 0.2, 0.6])
    >>> chances(np.array([[1, 1, 2]]), np.array([2]), skill, np.ones(3)).round(2).tolist()
    [[0.36, 0.36, 0.64]]
    """
    same = (answers[:, :, None] == answers[:, None, :]) & (answers != SILENT)[:, :, None]
    blind = 1 / np.maximum(choices, 1)[:, None]
    right = np.minimum(blind + (1 - blind) * skill[None, :], _MOST_SKILL)
    weight = np.log(right / (1 - right) * np.maximum(choices - 1, 1)[:, None]) / divided
    votes = np.einsum("qab,qb->qa", same, np.maximum(weight, 0.0))
    # each answer counts once, by the first who gave it
    first = ~np.tril(same, -1).any(axis=2) & (answers != SILENT)
    most = votes.max(axis=1, initial=0.0)[:, None]
    each = np.where(answers != SILENT, np.exp(votes - most), 0.0)
    unsaid = np.maximum(choices - first.sum(axis=1), 0)[:, None] * np.exp(-most)
    whole = np.where(first, each, 0.0).sum(axis=1, keepdims=True) + unsaid
    return np.asarray(each / np.maximum(whole, 1e-300))
