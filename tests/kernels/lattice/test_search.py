"""The search finds what looking at every node finds."""

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.lattice.keys import distinct, packed, roll_up, room_for
from noren.kernels.lattice.scores import (
    CLASS_SIZE,
    DISCERNIBILITY,
    DISTINCT,
    ENTROPY,
    GEOMETRIC,
    NO_DIVERSITY,
    RECURSIVE,
    SUM,
    CellCosts,
    ClassRule,
)
from noren.kernels.lattice.search import LevelTable, search, suppressed

Rows = list[tuple[int, ...]]


def random_ladder(random: np.random.Generator, values: int) -> LevelTable:
    """A ladder of a few levels that ends in one value."""
    steps, here = [], values
    while here > 1:
        above = int(random.integers(1, here)) if random.random() < 0.7 else 1
        step = np.concatenate((np.arange(above), random.integers(0, above, here - above)))
        steps.append(random.permutation(step).astype(np.int64))
        here = above
    return LevelTable(values, tuple(steps))


def random_costs(random: np.random.Generator, rows: Rows, ladders: list[LevelTable]) -> CellCosts:
    """Costs that grow from level to level, each suppressed cell costing more than any shown one."""
    shown = np.zeros((len(ladders), max(ladder.levels for ladder in ladders)))
    place = np.zeros(shown.shape, dtype=np.int64)
    extra: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    for column, ladder in enumerate(ladders):
        own = np.zeros(ladder.values)
        for level, to in enumerate(ladder.maps()):
            size = int(to.max()) + 1
            price = np.zeros(size)
            np.maximum.at(price, to, own)
            price = np.minimum(price + random.random(size) * 0.2, 1.0) if level else price
            own = price[to]
            place[column, level] = sum(len(prices) for prices in extra)
            extra.append(1.0 - price)
            shown[column, level] = sum(own[row[column]] for row in rows)
    return CellCosts(shown, np.concatenate(extra), place, np.zeros(len(ladders)), np.full(len(ladders), 1 / len(rows)))


def passes(rule: ClassRule, values: list[int], everybody: Counter[int]) -> bool:
    """The rule in plain words, for one class."""
    counts = sorted(Counter(values).values(), reverse=True)
    size, total = len(values), sum(everybody.values())
    if size < rule.k or (rule.diversity and len(counts) < rule.ell):
        return False
    if rule.diversity == ENTROPY and -sum(c / size * math.log(c / size) for c in counts) < math.log(rule.ell) - 1e-12:
        return False
    if rule.diversity == RECURSIVE and not counts[0] < rule.c * sum(counts[rule.ell - 1 :]):
        return False
    if rule.t < 0:
        return True
    own = Counter(values)
    differences = [own[v] / size - everybody[v] / total for v in range(max(everybody) + 1)]
    if rule.ordered:
        carried = list(itertools.accumulate(differences))
        return sum(map(abs, carried)) / max(len(differences) - 1, 1) <= rule.t + 1e-12
    return sum(map(abs, differences)) / 2 <= rule.t + 1e-12


def at_node(
    rows: Rows, sensitive: list[int], ladders: list[LevelTable], levels: tuple[int, ...], rule: ClassRule
) -> list[bool]:
    """Tell for each row whether it is suppressed at a node."""
    maps = [ladder.maps()[level] for ladder, level in zip(ladders, levels, strict=True)]
    labels = [tuple(int(to[code]) for to, code in zip(maps, row, strict=True)) for row in rows]
    members: dict[tuple[int, ...], list[int]] = {}
    for label, value in zip(labels, sensitive, strict=True):
        members.setdefault(label, []).append(value)
    everybody = Counter(sensitive)
    shown = {label: passes(rule, values, everybody) for label, values in members.items()}
    return [not shown[label] for label in labels]


def score_of(
    rows: Rows, ladders: list[LevelTable], levels: tuple[int, ...], lost: list[bool], goal: int, costs: CellCosts
) -> float:
    maps = [ladder.maps()[level] for ladder, level in zip(ladders, levels, strict=True)]
    kept = Counter(
        tuple(int(to[code]) for to, code in zip(maps, row, strict=True))
        for row, gone in zip(rows, lost, strict=True)
        if not gone
    )
    if goal == DISCERNIBILITY:
        return float(sum(n * n for n in kept.values()) + sum(lost) * len(rows))
    if goal == CLASS_SIZE:
        return len(rows) / max(len(kept) + any(lost), 1)
    prices = []
    for column, (to, level) in enumerate(zip(maps, levels, strict=True)):
        extra = sum(
            costs.extra[costs.place[column, level] + to[row[column]]]
            for row, gone in zip(rows, lost, strict=True)
            if gone
        )
        prices.append((costs.full[column, level] + extra - costs.least[column]) * costs.scale[column])
    if goal == SUM:
        return float(sum(prices))
    return float(math.prod(1 + price for price in prices) ** (1 / len(prices)) - 1)


RULES: dict[str, Callable[[int, int], ClassRule]] = {
    "k": lambda k, most: ClassRule(k, most, NO_DIVERSITY, 1, 1.0, -1.0, False),
    "distinct": lambda k, most: ClassRule(k, most, DISTINCT, 2, 1.0, -1.0, False),
    "entropy": lambda k, most: ClassRule(k, most, ENTROPY, 2, 1.0, -1.0, False),
    "recursive": lambda k, most: ClassRule(k, most, RECURSIVE, 2, 1.5, -1.0, False),
    "t": lambda k, most: ClassRule(k, most, NO_DIVERSITY, 1, 1.0, 0.3, False),
    "ordered t": lambda k, most: ClassRule(k, most, NO_DIVERSITY, 1, 1.0, 0.2, True),
}


@pytest.mark.parametrize("goal", [DISCERNIBILITY, CLASS_SIZE, GEOMETRIC, SUM])
@pytest.mark.parametrize("name", RULES)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 5), share=st.sampled_from([0.0, 0.1, 0.4, 1.0]))
def test_no_node_is_better(name: str, goal: int, seed: int, k: int, share: float) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    ladders = [random_ladder(random, int(random.integers(1, 7))) for _ in range(int(random.integers(1, 4)))]
    count = int(random.integers(1, 40))
    rows = [tuple(int(random.integers(0, ladder.values)) for ladder in ladders) for _ in range(count)]
    sensitive = random.integers(0, 3, count).tolist()
    rule = RULES[name](k, int(share * count))
    costs = random_costs(random, rows, ladders)

    every = []
    for levels in itertools.product(*(range(ladder.levels) for ladder in ladders)):
        lost = at_node(rows, sensitive, ladders, levels, rule)
        if sum(lost) <= rule.most_suppressed:
            every.append(score_of(rows, ladders, levels, lost, goal, costs))

    looks = name != "k"
    codes = np.array(rows, dtype=np.int64)
    columns, sizes = list(codes.T), [ladder.values for ladder in ladders]
    which, first = distinct([*columns, np.array(sensitive)] if looks else columns, [*sizes, 3] if looks else sizes)
    own = np.array(sensitive)[first] if looks else None
    counts = np.bincount(which)
    everybody = np.bincount(sensitive, minlength=max(sensitive) + 1) / count if looks else None
    best = search(codes[first], counts, ladders, rule, goal, costs=costs, sensitive=own, everybody=everybody)
    if not every:
        assert best is None
        return
    assert best is not None
    assert best.score == pytest.approx(min(every), rel=1e-9)
    lost = at_node(rows, sensitive, ladders, best.levels, rule)
    assert best.suppressed == sum(lost)
    assert score_of(rows, ladders, best.levels, lost, goal, costs) == pytest.approx(best.score, rel=1e-9)
    marks = suppressed(codes[first], counts, ladders, best.levels, rule, own, everybody)
    assert marks[which].tolist() == lost


def test_of_equal_nodes_the_one_that_suppresses_less_is_chosen() -> None:
    # two rows of one value: at level 0 and 1 they are the same class
    found = search(
        np.zeros((1, 1), np.int64), np.array([2]), [LevelTable(1, (np.array([0]),))], ClassRule(2, 2), DISCERNIBILITY
    )
    assert found is not None
    assert (found.levels, found.score) == ((0,), 4.0)


@given(seed=st.integers(0, 1000), goal=st.sampled_from([DISCERNIBILITY, CLASS_SIZE, GEOMETRIC, SUM]))
def test_threads_find_the_same_node(seed: int, goal: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    ladders = [random_ladder(random, int(random.integers(2, 9))) for _ in range(4)]
    rows = [tuple(int(random.integers(0, ladder.values)) for ladder in ladders) for _ in range(200)]
    which, first = distinct([np.array(column) for column in zip(*rows, strict=True)], [one.values for one in ladders])
    codes, costs = np.array(rows)[first], random_costs(random, rows, ladders)
    one, three = (
        search(codes, np.bincount(which), ladders, RULES["k"](3, 10), goal, costs=costs, workers=workers)
        for workers in (1, 3)
    )
    assert one is not None
    assert three is not None
    assert (one.levels, one.score, one.suppressed) == (three.levels, three.score, three.suppressed)


def test_many_columns_need_several_words() -> None:
    """Twelve columns of 200 values are 96 bits; the answer is that of a row-by-row count."""
    random = np.random.Generator(np.random.PCG64(3))
    codes = random.integers(0, 200, (50, 12))
    rows = np.repeat(codes, 2, axis=0)
    which, first = distinct(list(rows.T), [200] * 12)
    assert len(first) == 50
    assert np.bincount(which).tolist() == [2] * 50
    assert (rows[first][which] == rows).all()
    half = LevelTable(200, (np.arange(200) // 100, np.zeros(2, dtype=np.int64)))
    found = search(rows[first], np.bincount(which), [half] * 12, ClassRule(2, 0), DISCERNIBILITY)
    assert found is not None
    assert (found.levels, found.score, found.classes) == ((0,) * 12, 200.0, 50)
    # three of a kind need more: all rows in one class is the only way but for luck
    found = search(rows[first], np.bincount(which), [half] * 12, ClassRule(3, 0), DISCERNIBILITY)
    assert found is not None
    assert found.suppressed == 0
    assert sum(found.levels) > 12


@given(seed=st.integers(0, 1000))
def test_rolling_up_counts_what_becomes_equal(seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    sizes = [int(size) for size in random.integers(1, 300, 9)]
    codes = [random.integers(0, size, 30) for size in sizes]
    column = int(random.integers(0, 8))
    step = random.integers(0, 2, sizes[column])
    steps: list[list[np.ndarray[tuple[int], np.dtype[np.int64]]]] = [[] for _ in sizes[:-1]]
    steps[column] = [step]
    keys, layout = packed(codes, sizes, steps)
    counts = random.integers(1, 5, 30)
    expected: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(zip(*codes, strict=True), counts, strict=True):
        expected[tuple(int(step[c]) if i == column else int(c) for i, c in enumerate(row))] += int(count)
    room = room_for(keys)
    own = counts.copy()
    groups = roll_up(keys, own, len(keys), layout, column, 1, room)
    assert groups == len(expected)
    assert sorted(own[:groups].tolist()) == sorted(expected.values())
