"""The composition theorem by brute force: every draw of two periods, and the best attacker there is."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from math import exp, expm1

import numpy as np
import pytest

from noren.kernels.judging.composition import (
    customers_found,
    customers_log_mgf,
    found_once,
    most_hits,
    pseudonyms_found,
    pseudonyms_log_mgf,
)

# the histories of four customers in each of two periods; None: not there
CASES = [
    (("a", "a", "b", "b"), ("a", "a", "a", "a")),
    (("a", "a", "b", "b"), ("b", "a", "b", "a")),
    (("a", "a", "a", None), ("c", "c", None, None)),
    (("a", "a", "a", "b"), ("a", "b", "b", "b")),  # one customer alone in a class is found for sure
]

Histories = Sequence[str | None]


def sizes(*periods: Histories) -> np.ndarray:
    table = [[period.count(own) if own is not None else 0 for own in period] for period in periods]
    return np.array(table).T


def draws(period: Histories) -> list[tuple[int | None, ...]]:
    """Every way to give the customers who are there the names 0, 1, …"""
    there = [at for at, own in enumerate(period) if own is not None]
    found = []
    for names in permutations(range(len(there))):
        given = dict(zip(there, names, strict=True))
        found.append(tuple(given.get(at) for at in range(len(period))))
    return found


def public(period: Histories, names: tuple[int | None, ...]) -> tuple[str | None, ...]:
    """What is released: the history of each name, in the order of names."""
    return tuple(period[names.index(name)] for name in range(sum(own is not None for own in period)))


def worlds(*periods: Histories) -> dict[tuple[tuple[str | None, ...], ...], list[tuple[tuple[int | None, ...], ...]]]:
    """The draws of all periods that lead to each public outcome: equally likely, and all an attacker can tell apart."""
    found = defaultdict(list)
    for drawn in product(*map(draws, periods)):
        found[tuple(public(p, n) for p, n in zip(periods, drawn, strict=True))].append(drawn)
    return dict(found)


@pytest.mark.parametrize("periods", CASES)
def test_no_attacker_finds_more(periods: tuple[Histories, ...]) -> None:
    table = sizes(*periods)
    for seen, drawn in worlds(*periods).items():
        mean = Fraction(0)
        for at, period in enumerate(periods):
            for customer in range(4):
                if period[customer] is None:
                    continue
                # the posterior of each pair, over all draws of both periods that show what was seen
                right = [Fraction(sum(d[at][customer] == n for d in drawn), len(drawn)) for n in range(len(seen[at]))]
                assert max(right) == Fraction(1, int(table[customer, at]))
                mean += max(right)  # the best attacker names the likeliest pseudonym of each customer
        assert float(mean) == pytest.approx(pseudonyms_found(table).sum())
        every = sum(best_of(customer, drawn, all) for customer in range(4))
        once = sum(best_of(customer, drawn, any) for customer in range(4))
        assert float(every) == pytest.approx(customers_found(table))
        assert float(once) == pytest.approx(found_once(table))


def best_of(customer: int, drawn: list[tuple[tuple[int | None, ...], ...]], agree: object) -> Fraction:
    """The highest chance to be right about a customer in all periods, or in any, whatever is answered."""
    answers = product(*({d[at][customer] for d in drawn} for at in range(len(drawn[0]))))
    best = Fraction(0)
    for answer in answers:
        right = 0
        for d in drawn:
            there = [d[at][customer] == said for at, said in enumerate(answer) if said is not None]
            right += agree(there)  # type: ignore[operator]
        best = max(best, Fraction(right, len(drawn)))
    return best


@pytest.mark.parametrize("periods", CASES)
@pytest.mark.parametrize("s", [0.1, 0.7, 2.0])
def test_no_guess_has_a_larger_moment_generating_function(periods: tuple[Histories, ...], s: float) -> None:
    table = sizes(*periods)
    (drawn, *_others) = worlds(*periods).values()
    truth = np.array(
        [[[-1 if n is None else n for n in names] for names in d] for d in drawn]
    )  # draw, period, customer
    live = table.T > 0
    # all guesses are too many: those of each customer any name that the customer may have, in one period at a time
    generator = np.random.default_rng(1)
    for _guess in range(300):
        guess = truth[generator.integers(len(truth)), 0], truth[generator.integers(len(truth)), 1]
        said = np.array([generator.permutation(g) if generator.random() < 0.2 else g for g in guess])
        if generator.random() < 0.3:  # one name for everybody: it is right once for sure
            said[:] = said.max()
        hits = (truth == said) & live
        assert np.exp(s * hits.sum(axis=(1, 2))).mean() <= exp(pseudonyms_log_mgf(table)(s)) * (1 + 1e-12)
        found = (hits | ~live).all(axis=1).sum(axis=1)
        assert np.exp(s * found).mean() <= exp(customers_log_mgf(table)(s)) * (1 + 1e-12)


def test_one_period_is_poisson() -> None:
    table = np.array([[2], [2], [3], [3], [3]])
    assert customers_log_mgf(table)(0.7) == pytest.approx(2 * expm1(0.7))
    assert pseudonyms_log_mgf(table)(0.7) == pytest.approx(2 * expm1(0.7))


def test_the_tail_holds_and_is_not_idle() -> None:
    table = np.full((60, 12), 3)
    most = most_hits(pseudonyms_log_mgf(table), 0.001, 720)
    assert 240 < most < 300  # of 720 names 240 are right in the mean
    generator = np.random.default_rng(5)
    fixed = np.array([np.arange(3)] * (20 * 12))
    hits = [(generator.permuted(fixed, axis=1) == fixed).sum() for _draw in range(2000)]
    assert np.mean(hits) == pytest.approx(240, abs=4 * 240**0.5 / 2000**0.5)
    assert max(hits) <= most
    users = most_hits(customers_log_mgf(table), 0.001, 60)
    # 60 · 3^-12 are followed through all months in the mean; weights above 1.9 grow from period to period, so it is 3
    assert users == 3
    assert most_hits(lambda s: 100 * float(np.expm1(s)), 0.001, 40) == 40  # never more than there are
    assert most_hits(lambda _s: 0.0, 0.001, 40) == 0
