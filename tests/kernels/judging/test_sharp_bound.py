"""Where the sharp bound is the true maximum, and where it is not: bijections of N people, listed and in fractions."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from scipy.optimize import linprog

from noren.kernels.judging.survival import best_plan, fixed_points, satisfies_h0
from noren.kernels.judging.threshold import P, sharp_probability


def fixing_none(a: int, b: int) -> int:
    """How many permutations of a fix none of b places."""
    return sum((-1) ** m * comb(b, m) * factorial(a - m) for m in range(b + 1))


def deranged(people: int, wrong: int, touched: int) -> Fraction:
    """The chance that a uniform derangement of so many has ``wrong`` given names, none a person's own.

    They touch so many people, as pseudonym or as customer; the others must still not be fixed.
    """
    return Fraction(fixing_none(people - wrong, people - touched), fixing_none(people, people))


def kinds_of_names(people: int) -> Iterator[tuple[int, int]]:
    """How many wrong names may be given, and how many people they may touch: cycles touch as many, pairs two each."""
    for wrong in range(people + 1):
        for touched in range(wrong + (wrong == 1), min(2 * wrong, people) + 1):
            yield wrong, touched


def test_the_numbers_of_derangements() -> None:
    assert [fixing_none(m, m) for m in range(9)] == [1, 0, 1, 2, 9, 44, 265, 1854, 14833]
    assert 14833 > 3**8
    assert 1854 < 3**7


@pytest.mark.parametrize("people", [3, 4, 5, 6])
def test_given_names_in_a_derangement_by_listing(people: int) -> None:
    listed = [p for p in itertools.permutations(range(people)) if all(i != at for at, i in enumerate(p))]
    for wrong in range(people + 1):
        for held in itertools.combinations(range(people), wrong):
            for names in itertools.islice(itertools.permutations(range(people), wrong), 60):
                if any(a == b for a, b in zip(held, names, strict=True)):
                    continue
                right = sum(all(p[a] == b for a, b in zip(held, names, strict=True)) for p in listed)
                chance = deranged(people, wrong, len({*held, *names}))
                assert Fraction(right, len(listed)) == chance


@pytest.mark.parametrize("people", range(8, 41))
def test_a_derangement_of_eight_or_more_tells_nobody_with_more_than_a_third(people: int) -> None:
    assert all(deranged(people, wrong, touched) <= P**wrong for wrong, touched in kinds_of_names(people))


@pytest.mark.parametrize(("p", "least"), [(P, 8), (Fraction(1, 5), 13), (Fraction(1, 11), 29)])
def test_for_a_smaller_chance_more_must_be_left(p: Fraction, least: int) -> None:
    assert deranged(least - 1, least - 1, least - 1) > p ** (least - 1)
    for people in (least, least + 1):
        assert all(deranged(people, wrong, touched) <= p**wrong for wrong, touched in kinds_of_names(people))


def worst(everybody: int, n: int, s: int) -> Fraction:
    """The largest of Pr(names hold)·3^names in the proof's law: at most 1 where H0 holds."""
    q = sharp_probability(n, s)
    left = everybody - s
    found = Fraction(0)
    for right in range(s + 1):
        for wrong, touched in kinds_of_names(everybody - right):
            chance = Fraction(0)
            if touched <= left:
                # the right ones are drawn, and of those whom wrong names touch nobody; as if all n could be avoided
                chance += q * Fraction(comb(n - right, s - right), comb(n, s)) * deranged(left, wrong, touched)
            if not right:
                chance += (1 - q) * deranged(everybody, wrong, touched)
            found = max(found, chance / P ** (right + wrong))
    return found


@pytest.mark.parametrize(("n", "s"), [(7, 5), (7, 7), (12, 4), (18, 14), (24, 18)])
def test_with_eight_more_people_than_hits_the_bound_is_attained(n: int, s: int) -> None:
    assert worst(max(n, s + 8), n, s) <= 1


def test_with_fewer_the_proof_fails() -> None:
    assert worst(12, 7, 5) > 1


def shape(names: dict[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths of the cycles and of the chains that some names make: alike but for who is who."""
    cycles: list[int] = []
    chains: list[int] = []
    seen: set[int] = set()
    for first in [a for a in names if a not in names.values()] + list(names):
        if first in seen:
            continue
        at, length = first, 0
        while at in names and at not in seen:
            seen.add(at)
            at, length = names[at], length + 1
        (cycles if at == first else chains).append(length)
    return tuple(sorted(cycles)), tuple(sorted(chains))


def largest_chance(people: int, s: int) -> float:
    """The largest Pr(X >= s) under H0 where all of so many people are named, by linear programming.

    Averaged over who is who, a law of the bijections keeps H0 and Pr(X >= s): one number for each shape is enough.
    """
    bijections = np.array(list(itertools.permutations(range(people))))
    shapes = [shape(dict(enumerate(p))) for p in bijections.tolist()]
    kinds = sorted(set(shapes))
    kind = np.array([kinds.index(one) for one in shapes])
    given: dict[object, dict[int, int]] = {}
    for one in kinds:
        whole = bijections[shapes.index(one)].tolist()
        for size in range(1, people + 1):
            for held in itertools.combinations(range(people), size):
                names = {a: whole[a] for a in held}
                given.setdefault(shape(names), names)
    holds = [(bijections[:, list(names)] == list(names.values())).all(axis=1) for names in given.values()]
    rows = np.array([np.bincount(kind[one], minlength=len(kinds)) for one in holds], dtype=float)
    hits = (bijections == np.arange(people)).sum(axis=1)
    gain = np.bincount(kind[hits >= s], minlength=len(kinds))
    limits = [float(P) ** len(names) for names in given.values()]
    every = np.bincount(kind)[None].astype(float)
    solved = linprog(-gain, rows, limits, every, [1.0], method="highs")
    assert solved.status == 0
    return float(-solved.fun)


def test_seven_of_seven_people_named_and_five_right() -> None:
    """Each of the 22 bijections with five hits or more (21 swaps, and all right) may have 1/3^7, and no more."""
    assert largest_chance(7, 5) == pytest.approx(22 / 3**7, rel=1e-9)
    assert float(sharp_probability(7, 5)) == pytest.approx(0.0864, abs=5e-5)


@pytest.mark.parametrize("s", [1, 2, 3, 4, 5, 6, 7])
def test_the_bound_is_never_below_what_can_be(s: int) -> None:
    assert largest_chance(7, s) <= float(sharp_probability(7, s)) * (1 + 1e-9)


def test_triples_outlive_most_contests_and_do_not_satisfy_h0() -> None:
    chance = best_plan([3] * 333).chance
    assert (1 - chance) ** 13 == pytest.approx(0.886, abs=5e-4)
    assert not satisfies_h0([3] * 333)
    # two members of a triple are both named rightly with 1/6, where H0 allows 1/9
    assert fixed_points(3, 2)[2] == Fraction(1, 6) > P**2
