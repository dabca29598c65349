"""The best way to generalise whole columns: a search through all combinations of levels, on counts alone.

Each column has a ladder of levels, from its values (0) to one value for all. A *node* chooses a level for each column.
Rows are counted once, by distinct combination of values; a node's classes are those counts rolled up. The search walks
the nodes depth first, column by column, each from the groups of a finer node, and leaves out what cannot be best:

- every node above one whose *lower bound* is worse than the best found;
- every node below one that must suppress too many rows whatever its other columns do.

Neither loses the best node; ``docs/theory/lattice.md`` proves both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.lattice.keys import (
    Keys,
    Layout,
    ScratchMemory,
    class_sizes,
    collapse,
    distinct,
    packed,
    roll_up,
    room_for,
)
from noren.kernels.lattice.scores import (
    CLASS_SIZE,
    DISTINCT,
    GEOMETRIC,
    ROUNDING,
    CellCosts,
    ClassRule,
    better,
    cells_score,
    classes_bound,
    extra_costs,
    judge,
    no_costs,
    score_of,
)
from noren.progress import Enough

Report = Callable[[float, float], None]
"""Told the share of the parts walked (0 to 1) and the best score so far (infinite while there is none)."""

_QUIET = 0.1
"""Seconds without a report while the walk goes on."""
_STOP = 1.0


@dataclass(frozen=True)
class LevelTable:
    """The levels of a column: ``steps[l][code]`` is the code on level l + 1 of a code on level l.

    >>> LevelTable(4, (np.array([0, 0, 1, 1]), np.array([0, 0]))).maps()[2].tolist()
    [0, 0, 0, 0]
    """

    values: int
    steps: tuple[Whole, ...]

    @property
    def levels(self) -> int:
        """How many levels there are, the values themselves included."""
        return len(self.steps) + 1

    def maps(self) -> list[Whole]:
        """Return for each level the code there of every value."""
        codes = [np.arange(self.values, dtype=np.int64)]
        for step in self.steps:
            codes.append(step[codes[-1]])
        return codes


@dataclass(frozen=True)
class Optimum:
    """The best node: its levels and score, what it suppresses and keeps, and how many nodes were looked at.

    Of a walk that was stopped it is the best of the ``searched`` share of the parts, and of the others some nodes.
    """

    levels: tuple[int, ...]
    score: float
    suppressed: int
    classes: int
    nodes: int
    judged: int
    searched: float = 1.0


def search(
    codes: Whole,
    counts: Whole,
    ladders: Sequence[LevelTable],
    rule: ClassRule,
    goal: int,
    *,
    costs: CellCosts | None = None,
    sensitive: Whole | None = None,
    everybody: Real | None = None,
    workers: int = 1,
    report: Report | None = None,
) -> Optimum | None:
    """Return the node of least loss that suppresses no more rows than ``rule`` allows, or None where none does.

    Of equal nodes it is the one that suppresses fewer rows, then the one with lower levels.

    Parameters
    ----------
    codes, counts
        The distinct combinations: the code of each column's value, and the number of rows; with a sensitive column, a
        combination for each of its values.
    ladders
        The levels of each column.
    goal
        ``DISCERNIBILITY``, ``CLASS_SIZE``, or ``GEOMETRIC`` or ``SUM`` of cells' ``costs``; see
        :mod:`noren.kernels.lattice.scores`.
    sensitive
        The code of the sensitive value of each combination, where ``rule`` looks at it.
    everybody
        The share of each sensitive value that t compares with; that of all combinations where left out.
    workers
        How many threads walk at once. The answer is the same but for the number of nodes judged.
    report
        May say enough: the answer is then the best node so far. Where there is none, enough passes.

    Examples
    --------
    Four people of ages 20, 21, 30, 31 (codes 0 to 3), each alone; by decades they are two pairs.

    >>> from noren.kernels.lattice.scores import DISCERNIBILITY
    >>> ages = LevelTable(4, (np.array([0, 0, 1, 1]), np.array([0, 0])))
    >>> search(np.arange(4)[:, None], np.ones(4, np.int64), [ages], ClassRule(2, 0), DISCERNIBILITY)
    Optimum(levels=(1,), score=8.0, suppressed=0, classes=2, nodes=3, judged=2, searched=1.0)
    """
    # columns of many values first, as their higher levels leave few groups below
    order = np.argsort([-ladder.values for ladder in ladders], kind="stable").astype(np.int64)
    values = np.zeros(len(codes), dtype=np.int64) if sensitive is None else sensitive
    sizes = [*(ladders[column].values for column in order), int(values.max(initial=0)) + 1]
    columns = [*(codes[:, column] for column in order), values]
    keys, layout = packed(columns, sizes, [ladders[i].steps for i in order])
    costs = no_costs(len(ladders)) if costs is None else costs
    costs = CellCosts(costs.full[order], costs.extra, costs.place[order], costs.least[order], costs.scale[order])
    shares = _everybody(counts, sensitive) if everybody is None else everybody
    levels, best, searched = _walk_all(keys, counts, layout, rule, goal, costs, shares, workers, report)
    if not np.isfinite(best[0]):
        return None
    chosen = np.empty(len(order), dtype=np.int64)
    chosen[order] = levels
    nodes = math.prod(ladder.levels for ladder in ladders)
    score, lost, classes, judged = best.tolist()
    return Optimum(tuple(chosen.tolist()), score, int(lost), int(classes), nodes, int(judged), searched)


def suppressed(
    codes: Whole,
    counts: Whole,
    ladders: Sequence[LevelTable],
    levels: Sequence[int],
    rule: ClassRule,
    sensitive: Whole | None = None,
    everybody: Real | None = None,
) -> Flags:
    """Tell for each combination whether its class at a node breaks the rule.

    >>> ages = LevelTable(3, (np.array([0, 0, 1]), np.array([0, 0])))
    >>> suppressed(np.arange(3)[:, None], np.ones(3, np.int64), [ages], [1], ClassRule(2, 1)).tolist()
    [False, False, True]
    """
    node = Optimum(tuple(levels), 0.0, 0, 0, 0, 0)
    return judged(codes, counts, ladders, node, rule, CLASS_SIZE, sensitive=sensitive, everybody=everybody)[1]


def judged(
    codes: Whole,
    counts: Whole,
    ladders: Sequence[LevelTable],
    node: Optimum,
    rule: ClassRule,
    goal: int,
    *,
    costs: CellCosts | None = None,
    sensitive: Whole | None = None,
    everybody: Real | None = None,
) -> tuple[Optimum, Flags]:
    """Judge a node that another rule chose: return its score and what it suppresses, by row and by combination.

    Parameters are those of :func:`search`. Of two pairs the second has one sensitive value alone:

    >>> pairs, node = np.array([[0], [0], [1]]), Optimum((0,), 0.0, 0, 2, 1, 1)
    >>> given = pairs, np.array([1, 1, 2]), [LevelTable(2, ())], node, ClassRule(2, 2, DISTINCT, 2), CLASS_SIZE
    >>> found, failing = judged(*given, sensitive=np.array([0, 1, 1]))
    >>> found.suppressed, found.classes, failing.tolist()
    (2, 1, [False, False, True])
    """
    levels = np.array(node.levels, dtype=np.int64)
    there = [ladder.maps()[level][codes[:, i]] for i, (ladder, level) in enumerate(zip(ladders, levels, strict=True))]
    values = np.zeros(len(codes), dtype=np.int64) if sensitive is None else sensitive
    sizes = [*(ladder.values for ladder in ladders), int(values.max(initial=0)) + 1]
    # combinations that are now equal are one entry: a rule counts each sensitive value of a class once
    entry, first = distinct([*there, values], sizes)
    rows = np.bincount(entry, weights=counts, minlength=len(first)).astype(np.int64)
    keys, layout = packed([*there, values], sizes, [()] * len(ladders))
    entries = keys[first]
    failing = np.zeros(len(first), dtype=np.bool_)
    shares = _everybody(counts, sensitive) if everybody is None else everybody
    lost, passing, squares = judge(entries, rows, len(first), layout, rule, shares, room_for(entries), failing)
    costs, extra = no_costs(len(ladders)) if costs is None else costs, np.zeros(len(ladders))
    if goal >= GEOMETRIC:
        extra = extra_costs(entries, rows, len(first), layout, costs, levels, failing)
    score = float(score_of(goal, int(counts.sum()), lost, passing, squares, costs, levels, extra))
    return replace(node, score=score, suppressed=int(lost), classes=int(passing)), failing[entry]


def _everybody(counts: Whole, sensitive: Whole | None) -> Real:
    if sensitive is None:
        return np.ones(1)
    rows = np.bincount(sensitive, weights=counts)
    share: Real = rows / max(rows.sum(), 1.0)
    return share


# --- the walk --------------------------------------------------------------------------------------------------------


def _walk_all(
    keys: Keys,
    counts: Whole,
    layout: Layout,
    rule: ClassRule,
    goal: int,
    costs: CellCosts,
    everybody: Real,
    workers: int,
    report: Report | None,
) -> tuple[Whole, Real, float]:
    """Walk every part of the lattice, a part being the nodes with the same levels of the first two columns.

    Parts share the best score found so far, and nothing else. Nodes that are worse than it are left out, never ones
    that are equal; so the answer does not depend on which part is walked first. Stopped, every walk ends at its next
    node with the best it has.
    """
    parts = [np.array(levels) for levels in itertools.product(*(range(n) for n in layout.levels[:2]))]
    record = np.array([np.inf, 0.0])
    # what a class keeps whatever it is merged with: its rows and its distinct values
    rules = rule, ClassRule(rule.k, rule.most_suppressed, min(rule.diversity, DISTINCT), rule.ell)

    def walk(part: Whole) -> tuple[Whole, Real]:
        node: tuple[Whole, Real] = _walk(
            keys, counts, layout, *rules, goal, costs, everybody, room_for(keys), part, record
        )
        return node

    searched = 1.0
    with ThreadPoolExecutor(workers) as pool:
        walks = [pool.submit(walk, part) for part in parts]
        try:
            left = set(walks)
            while left:
                left = wait(left, timeout=_QUIET).not_done
                if report is not None:
                    report(1 - len(left) / len(walks), float(record[0]))
        except Enough:
            searched = 1 - len(left) / len(walks)
            record[1] = _STOP
            if np.isinf(record[0]):
                raise
        except BaseException:
            record[1] = _STOP
            raise
    answers = [walked.result() for walked in walks]
    best_level, best = answers[0]
    for level, candidate in answers[1:]:
        judged = best[3] + candidate[3]
        if np.isfinite(candidate[0]) and better(goal, candidate[0], candidate[1], level, best, best_level):
            best_level, best = level, candidate
        best[3] = judged
    return best_level, best, searched


@kernel()
def _walk(
    keys: Keys,
    counts: Whole,
    layout: Layout,
    rule: ClassRule,
    necessary: ClassRule,
    goal: int,
    costs: CellCosts,
    everybody: Real,
    room: ScratchMemory,
    part: Whole,
    record: Real,
) -> tuple[Whole, Real]:
    """Walk a part of the lattice depth first; return the best levels and (score, suppressed, classes, nodes judged).

    ``groups[d]`` holds the groups of the node whose first d + 1 columns have their level and whose others have level 0.
    ``record`` holds the best score that any walk has found, and whether to stop.
    """
    columns, combinations = len(layout.levels), len(counts)
    groups = np.empty((columns, combinations, keys.shape[1]), dtype=np.uint64)
    rows = np.empty((columns, combinations), dtype=np.int64)
    sizes = np.zeros(columns, dtype=np.int64)
    level, best_level = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    failing, nothing = np.zeros(combinations, dtype=np.bool_), np.zeros(columns)
    best = np.array([np.inf, 0.0, 0.0, 0.0])
    total = counts.sum()
    first = len(part)
    depth = first - 1
    level[:first] = part
    if goal >= GEOMETRIC and cells_score(goal, costs, level, nothing) > record[0] * (1 + ROUNDING):
        return best_level, best
    if record[1] == _STOP:
        return best_level, best
    groups[depth], rows[depth], sizes[depth] = keys, counts, combinations
    for column in range(first):
        for up in range(1, part[column] + 1):
            sizes[depth] = roll_up(groups[depth], rows[depth], sizes[depth], layout, column, up, room)
    while depth >= first - 1 and record[1] != _STOP:
        n = sizes[depth]
        hopeless = False
        if goal < GEOMETRIC and np.isfinite(record[0]):
            classes = class_sizes(groups[depth], rows[depth], n, layout, room)
            hopeless = classes_bound(goal, room.sizes, classes, rule.k, total) > record[0]
        if not hopeless and depth < columns - 1:
            m = collapse(groups[depth], rows[depth], n, layout, depth, room)
            lost = judge(room.keys, room.counts, m, layout, necessary, everybody, room, failing)[0]
            if lost <= rule.most_suppressed:
                depth += 1
                groups[depth, :n], rows[depth, :n], sizes[depth] = groups[depth - 1, :n], rows[depth - 1, :n], n
                continue
        elif not hopeless:
            best[3] += 1
            lost, passing, squares = judge(groups[depth], rows[depth], n, layout, rule, everybody, room, failing)
            if lost <= rule.most_suppressed:
                extra = nothing
                if goal >= GEOMETRIC:
                    extra = extra_costs(groups[depth], rows[depth], n, layout, costs, level, failing)
                score = score_of(goal, total, lost, passing, squares, costs, level, extra)
                if better(goal, score, lost, level, best, best_level):
                    best[0], best[1], best[2] = score, lost, passing
                    best_level[:] = level
                    record[0] = min(record[0], score)
        if hopeless:  # and so is every higher level of this column
            level[depth] = 0
            depth -= 1
        while depth >= first:
            if level[depth] + 1 < layout.levels[depth]:
                level[depth] += 1
                # what cells cost at least is known before their groups are
                if goal < GEOMETRIC or cells_score(goal, costs, level, nothing) <= record[0] * (1 + ROUNDING):
                    sizes[depth] = roll_up(groups[depth], rows[depth], sizes[depth], layout, depth, level[depth], room)
                    break
            level[depth] = 0
            depth -= 1
        if depth < first:
            break
    return best_level, best
