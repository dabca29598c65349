"""Totals leave the 1/k of re-identification as it is: every draw of names, and every world an attacker thinks possible.

See docs/theory/totals.md.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from typing import Any

CUSTOMERS = ("ann", "bob", "cat", "dan")


def classes_of(world):
    """Public histories: sorted by amount, pairs become one interval; what a method does may depend on everything."""
    order = sorted(range(len(world)), key=lambda at: (world[at], at))
    histories = [(0, 0)] * len(world)
    for first, second in (order[:2], order[2:]):
        interval = (world[first], world[second])
        histories[first] = histories[second] = interval
    return histories


def totals_of(world):
    """A total, a suppressed count, and a statistic of one customer by name: nothing of it depends on the draw."""
    large = sum(amount > 1 for amount in world)
    return sum(world), large if large > 1 else None, world[0]


def posteriors(worlds, told):
    """Return for each view of an attacker, who deems all worlds and draws equally likely, Pr(pseudonym is customer)."""
    seen: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
    for world in worlds:
        histories = classes_of(world)
        for draw in permutations(range(len(world))):
            shown = tuple(histories[customer] for customer in draw)
            view = (shown, told(world))
            seen[view]["all"] += 1
            for pseudonym, customer in enumerate(draw):
                seen[view][pseudonym, customer] += 1
    return {
        view: {pair: Fraction(count, counts["all"]) for pair, count in counts.items() if pair != "all"}
        for view, counts in seen.items()
    }


def test_whoever_knows_the_original_learns_nothing_of_names():
    for world in product(range(4), repeat=len(CUSTOMERS)):
        without, with_totals = (posteriors([world], told) for told in (lambda _world: None, totals_of))
        assert list(without.values()) == list(with_totals.values())
        largest = max(max(chances.values()) for chances in without.values())
        assert largest <= Fraction(1, 2)


def test_nobody_names_a_pseudonym_with_more_than_one_in_k():
    worlds = list(product(range(3), repeat=len(CUSTOMERS)))
    seen = posteriors(worlds, totals_of)
    assert max(max(chances.values()) for chances in seen.values()) == Fraction(1, 2)


def test_a_statistic_that_depends_on_the_draw_is_not_covered():
    (world,) = [(0, 1, 2, 3)]
    histories = classes_of(world)
    # the order of the rows in the file tells whose they are
    views = {(tuple(histories[c] for c in draw), draw[0]) for draw in permutations(range(4))}
    shown = Counter(view for view, _first in views)
    assert max(shown.values()) > 1
