"""Survival against the paper's figures, against brute force over all strategies, and against simulation by listing."""

import itertools
from collections import Counter
from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.errors import ParameterError
from noren.kernels.judging.survival import (
    DEEPEST,
    AttackPlan,
    ChanceBound,
    _search,
    best_plan,
    fixed_points,
    least_needed,
    satisfies_h0,
)
from noren.kernels.judging.threshold import ALPHA, Bound, P, threshold, thresholds


def plans(sizes: list[int], bound: Bound = "paper", p: Fraction = P, alpha: Fraction = ALPHA) -> list[AttackPlan]:
    """The best plan for each number of people named."""
    found = _search(sorted(sizes), sum(sizes), bound, p, alpha, "any", None)
    return [found[named] for named in sorted(found) if named]


# --- the hits in one class -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 7))
def test_fixed_points_by_listing_all_permutations(k: int) -> None:
    for j in range(k + 1):
        hits = Counter(sum(p[i] == i for i in range(j)) for p in itertools.permutations(range(k)))
        assert list(fixed_points(k, j)) == [Fraction(hits[i], factorial(k)) for i in range(j + 1)]


@pytest.mark.parametrize(("k", "j"), [(2, 3), (2, -1)])
def test_no_more_than_all_can_be_named(k: int, j: int) -> None:
    with pytest.raises(ParameterError, match=rf"j = {j} is out of range; use 0 <= j <= {k}"):
        fixed_points(k, j)


def test_a_large_class_costs_nothing_to_compute() -> None:
    assert sum(fixed_points(1000, 64)) == 1


# --- the paper's figures ---------------------------------------------------------------------------------------------


def test_pairs_as_the_paper_reckons() -> None:
    plan = best_plan([2] * 500)
    assert (plan.named, plan.needed, plan.depths) == (24, 18, ((2, 2, 12),))
    assert plan.chance == 299 / 4096
    assert (1 - plan.chance) ** 13 == pytest.approx(0.3733, abs=5e-5)


def test_pairs_are_found_out_by_the_sharp_bound() -> None:
    whole = best_plan([2] * 500, "sharp", naming="whole")
    assert whole.chance > 0.999999
    # one customer for both members of 63 pairs is one hit in each, and 63 of 126 are enough
    sure = best_plan([2] * 500, "sharp")
    assert (sure.chance, sure.sure, sure.named, sure.needed) == (1.0, True, 126, 63)


@pytest.mark.parametrize("bound", ["paper", "sharp"])
def test_triples(bound: Bound) -> None:
    whole = best_plan([3] * 333, bound, naming="whole")
    assert (whole.named, whole.chance) == (9, pytest.approx(1 / 216, rel=1e-14))  # type: ignore[comparison-overlap]
    assert (1 - whole.chance) ** 13 == pytest.approx(0.9415, abs=5e-5)
    # a single member of the third triple does as well as all of it, and seven of seven need no more
    best = best_plan([3] * 333, bound)
    assert (best.named, best.depths, best.chance) == (7, ((3, 1, 1), (3, 3, 2)), pytest.approx(1 / 108, rel=1e-14))  # type: ignore[comparison-overlap]
    assert (1 - best.chance) ** 13 == pytest.approx(0.8861, abs=5e-5)


def test_h0_holds_from_seven_on() -> None:
    assert [satisfies_h0([k]) for k in range(1, 10)] == [False] * 6 + [True] * 3
    assert not satisfies_h0([7] * 10 + [6])
    assert satisfies_h0([])


@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("k", [7, 8, 12])
def test_under_h0_nobody_is_effective_more_often_than_alpha(k: int, bound: Bound) -> None:
    assert best_plan([k] * 40, bound).chance < 1 / 2000


def test_whoever_is_alone_is_lost() -> None:
    assert best_plan([1] * 7).chance == 1.0
    assert best_plan([1] * 6).chance == 0.0
    # six for sure, and one of a pair
    assert best_plan([1] * 6 + [2] * 100).chance == 0.5
    assert best_plan([1] * 3 + [2] * 498).chance == 0.25


def test_nothing_published_nothing_lost() -> None:
    assert best_plan([]).chance == 0.0
    with pytest.raises(ParameterError, match="size = 0 is out of range; use size >= 1"):
        best_plan([2, 0])


def test_one_plan_for_each_number_named() -> None:
    found = plans([2, 3, 3])
    assert [plan.named for plan in found] == list(range(1, 9))
    assert all(sum(members * classes for _size, members, classes in plan.depths) == plan.named for plan in found)
    assert all(plan.needed == thresholds(8)[plan.named] for plan in found)


# --- all strategies there are ----------------------------------------------------------------------------------------


def splits(total: int, largest: int) -> list[tuple[int, ...]]:
    if total == 0:
        return [()]
    return [(a, *rest) for a in range(min(total, largest), 0, -1) for rest in splits(total - a, a)]


def hits_of(k: int, fibres: tuple[int, ...]) -> list[float]:
    """The chances of 0, 1, … hits when some customers are each named for several pseudonyms of a class of k.

    The mean number of m-sets of hits is e_m(fibres)·(k-m)!/k! (rooks on a board); inclusion and exclusion do the rest.
    """
    e = [Fraction(1)]
    for a in fibres:
        e = [(e[i] if i < len(e) else 0) + (a * e[i - 1] if i else Fraction(0)) for i in range(len(e) + 1)]
    f = [e[m] * Fraction(factorial(k - m), factorial(k)) for m in range(len(e))]
    return [float(sum((-1) ** (m - i) * comb(m, i) * f[m] for m in range(i, len(f)))) for i in range(len(f))]


def test_rooks_against_listing() -> None:
    # customers 0 and 1 of 4 are named for the pseudonyms {0, 1} and {2}
    listed = Counter((p[0] in (0, 1)) + (p[1] == 2) for p in itertools.permutations(range(4)))
    assert hits_of(4, (2, 1)) == pytest.approx([listed[i] / 24 for i in range(3)])


def best_of_all(sizes: list[int], bound: Bound, p: Fraction, alpha: Fraction) -> float:
    needed = thresholds(sum(sizes), bound, p, alpha)
    choices = {
        k: [(j, np.array(hits_of(k, fibres))) for j in range(k + 1) for fibres in splits(j, j)] for k in set(sizes)
    }
    ways = [itertools.combinations_with_replacement(range(len(choices[k])), many) for k, many in Counter(sizes).items()]
    best = 0.0
    for way in itertools.product(*map(list, ways)):
        named, chances = 0, np.ones(1)
        for k, picked in zip(Counter(sizes), way, strict=True):
            for at in picked:
                named += choices[k][at][0]
                chances = np.convolve(chances, choices[k][at][1])
        best = max(best, float(chances[needed[named] :].sum()))
    return best


# --- smaller classes, and several attackers --------------------------------------------------------------------------


def best_tails(sizes: list[int]) -> dict[int, np.ndarray]:
    """The best Pr(X >= s) of all strategies, for each number named and each s."""
    ways = [[(j, hits_of(k, fibres)) for j in range(k + 1) for fibres in splits(j, j)] for k in sizes]
    best: dict[int, np.ndarray] = {}
    for way in itertools.product(*ways):
        chances = np.ones(1)
        for _named, hits in way:
            chances = np.convolve(chances, hits)
        tail = np.zeros(sum(sizes) + 1)
        tail[: len(chances)] = np.cumsum(chances[::-1])[::-1]
        named = sum(j for j, _hits in way)
        best[named] = np.maximum(best.get(named, tail), tail)
    return best


@pytest.mark.parametrize(
    ("whole", "cut"),
    [
        *(([4], [1, 3]), ([4], [2, 2]), ([5], [2, 3]), ([5], [1, 4]), ([6], [3, 3]), ([6], [2, 4]), ([7], [3, 4])),
        *(([3, 3], [3, 2, 1]), ([4, 2], [2, 2, 2]), ([2, 5], [2, 2, 3]), ([4, 4], [4, 3, 1])),
    ],
)
def test_cutting_a_class_never_lowers_the_best_chance(whole: list[int], cut: list[int]) -> None:
    """All strategies, for every number named and every number of hits that may be asked for."""
    before, after = best_tails(whole), best_tails(cut)
    assert all((after[named] >= before[named] - 1e-12).all() for named in before)


@pytest.mark.parametrize(("k", "part"), [(3, 1), (4, 2), (5, 2), (5, 1)])
def test_lots_drawn_over_a_cut_class_are_as_good_as_the_whole(k: int, part: int) -> None:
    """The proof: a bijection of the cut class after a uniform renaming of its pseudonyms is a uniform bijection."""
    cut = [p for p in itertools.permutations(range(k)) if set(p[:part]) == set(range(part))]
    lots = itertools.permutations(range(k))
    made = Counter(tuple(known[place] for place in lot) for lot in lots for known in cut)
    assert len(made) == factorial(k)
    assert set(made.values()) == {len(cut)}


@pytest.mark.parametrize("k", range(2, 8))
def test_a_smaller_class_is_better_for_as_many_names(k: int) -> None:
    for j in range(1, k):
        for fibres in splits(j, j):
            larger, smaller = (np.cumsum(hits_of(size, fibres)[::-1])[::-1] for size in (k, k - 1))
            assert (smaller >= larger - 1e-12).all()


def test_a_class_made_smaller_may_be_worse_for_the_attacker() -> None:
    """One of seven people leaves, or changes over to the other class: the seven cannot be named as before."""
    assert best_plan([7]).chance == pytest.approx(1 / 5040)
    assert best_plan([6]).chance == 0.0
    assert best_plan([5, 2]).chance == pytest.approx(1 / 240)
    assert best_plan([6, 1]).chance == pytest.approx(1 / 720)


@pytest.mark.parametrize("k", [2, 3])
def test_attackers_who_draw_lots_of_their_own_fail_independently(k: int) -> None:
    """All truths and all pairs of lots; a class named whole, all hits needed."""
    every = list(itertools.permutations(range(k)))
    failed = sum(truth not in two for truth in every for two in itertools.product(every, repeat=2))
    assert Fraction(failed, len(every) ** 3) == (1 - fixed_points(k, k)[k]) ** 2


@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("sizes", [[2] * 5, [3] * 4, [4] * 3, [2, 2, 3, 4], [1, 2, 2, 3, 3], [1, 1, 4, 4], [2, 3, 5]])
@pytest.mark.parametrize(("p", "alpha"), [(Fraction(1, 3), Fraction(1, 50)), (Fraction(1, 2), Fraction(1, 10))])
def test_no_strategy_is_better(sizes: list[int], bound: Bound, p: Fraction, alpha: Fraction) -> None:
    assert best_plan(sizes, bound, p, alpha).chance == pytest.approx(best_of_all(sizes, bound, p, alpha), abs=1e-12)


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    bound=st.sampled_from(["paper", "sharp"]),
    alpha=st.sampled_from([Fraction(1, 5), Fraction(1, 20), Fraction(1, 100)]),
)
@examples(25)
def test_no_strategy_is_better_anywhere(sizes: list[int], bound: Bound, alpha: Fraction) -> None:
    p = Fraction(1, 3)
    assert best_plan(sizes, bound, p, alpha).chance == pytest.approx(best_of_all(sizes, bound, p, alpha), abs=1e-12)


@pytest.mark.parametrize(("k", "most"), [(2, 40), (3, 30), (4, 26), (5, 24), (6, 24)])
def test_equal_classes_and_the_official_thresholds(k: int, most: int) -> None:
    """Every way to name n people of classes of k, each member another customer, for every n."""
    needed = thresholds(most)
    found = {plan.named: plan.chance for plan in plans([k] * most)}
    for n in range(7, most + 1):
        best = 0.0
        for depths in splits(n, k):
            chances = np.ones(1)
            for depth in depths:
                chances = np.convolve(chances, [float(chance) for chance in fixed_points(k, depth)])
            best = max(best, float(chances[needed[n] :].sum()))
        assert found[n] == pytest.approx(best, rel=1e-12)


# --- any number of customers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("people", [2_001, 20_000, 1_000_000])
@pytest.mark.parametrize(
    ("k", "one_in"), [(3, 108), (4, 576), (6, 4320), (7, 5040)]
)  # two triples and a third of one; a class of four and three of another: 4!·4·3·2; 6!·6; 7!
def test_equal_classes_of_however_many(k: int, one_in: int, people: int, bound: Bound) -> None:
    plan = best_plan([k] * (people // k), bound)
    assert (plan.named, plan.needed) == (7, 7)
    assert plan.chance == pytest.approx(1 / one_in, rel=1e-14)
    assert plan.at_most == plan.chance


@pytest.mark.parametrize("people", [2_001, 200_000])
def test_pairs_of_however_many(people: int) -> None:
    assert best_plan([2] * (people // 2)).chance == 299 / 4096
    assert best_plan([2] * (people // 2), "sharp").named == 126
    assert best_plan([1] * people).named == 7
    one_class = best_plan([people])
    assert 1 / one_class.chance == pytest.approx(np.prod([people - float(i) for i in range(7)]), rel=1e-12)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=60),
    bound=st.sampled_from(["paper", "sharp"]),
    p=st.sampled_from([Fraction(1, 3), Fraction(1, 10), Fraction(3, 5)]),
    alpha=st.sampled_from([Fraction(1, 5), Fraction(1, 2000)]),
)
@examples(60)
def test_the_bound_holds_for_every_plan_and_spares_none_that_is_best(
    sizes: list[int], bound: Bound, p: Fraction, alpha: Fraction
) -> None:
    every = plans(sizes, bound, p, alpha)
    limits = ChanceBound(sorted(sizes), bound, p, alpha, DEEPEST)
    assert all(plan.chance <= limits.greatest(plan.named, plan.named) for plan in every)
    best = best_plan(sizes, bound, p, alpha)
    assert best.chance == max(plan.chance for plan in every)
    assert best.at_most == best.chance


@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 20), Fraction(9, 10)])
def test_the_logarithms_never_ask_for_more_hits_than_the_rule(bound: Bound, p: Fraction) -> None:
    exact = np.array(thresholds(900, bound, p))
    by_logarithms = least_needed(np.arange(901), bound, p, Fraction(1, 2000))
    assert np.all(by_logarithms <= exact)
    # the paper's sum is a few times its first term where p is small, and beyond that where it is large
    assert np.all(by_logarithms >= exact - (1 if bound == "sharp" else 3 if p < Fraction(1, 2) else 10))


def test_classes_that_yield_barely_more_than_needed_are_found_out_among_many() -> None:
    # a third of those named is hit for sure; 0.32 is beaten by it only where thousands are named
    p = Fraction(32, 100)
    plan = best_plan([3] * 30_000, "sharp", p)
    assert (plan.sure, plan.chance) == (True, 1.0)
    assert plan.named > 2000
    assert plan.named == 3 * plan.needed
    assert threshold(plan.named, "sharp", p) == plan.needed
    assert threshold(plan.named - 3, "sharp", p) > plan.needed - 1


def test_what_could_not_be_ruled_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.kernels.judging.survival.MOST_SEARCHED", 300)
    monkeypatch.setattr("noren.kernels.judging.survival.MOST_NAMED", 300)
    plan = best_plan([3] * 30_000, "sharp", Fraction(33, 100))
    assert plan.chance < plan.at_most < 1
