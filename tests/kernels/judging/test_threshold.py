"""r(n): the official table, the paper's, the published verdicts, and the definitions by brute force."""

import csv
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path

import pytest

from noren.errors import ParameterError
from noren.kernels.judging.threshold import ALPHA, P, sharp_probability, threshold, thresholds, union_probability

# S0, Table 4; a star there (no number of hits is enough) is n + 1 here
TABLE_4 = {
    **{n: n + 1 for n in range(7)},
    **dict(zip(range(7, 10), [7, 8, 9], strict=True)),
    **dict(zip(range(10, 20), [10, 10, 11, 11, 12, 13, 13, 14, 15, 15], strict=True)),
    **dict(zip(range(20, 30), [16, 17, 17, 18, 18, 19, 20, 20, 21, 21], strict=True)),
    **dict(zip(range(30, 40), [22, 23, 23, 24, 25, 25, 26, 26, 27, 28], strict=True)),
    **dict(zip(range(40, 50), [28, 29, 29, 30, 31, 31, 32, 32, 33, 34], strict=True)),
    **dict(zip(range(90, 100), [59, 59, 60, 60, 61, 62, 62, 63, 63, 64], strict=True)),
    **dict(zip(range(990, 1000), [606, 607, 607, 608, 609, 609, 610, 610, 611, 612], strict=True)),
}
SHARP = {18: 14, 24: 18, 30: 21, 40: 26, 49: 30, 99: 52, 999: 392}
CHANCES = [
    (P, ALPHA),
    (Fraction(1, 2), Fraction(1, 100)),
    (Fraction(2, 7), Fraction(1, 20)),
    (Fraction(3, 4), Fraction(1)),
]


def test_table_4_of_the_paper() -> None:
    table = thresholds(999)
    assert {n: table[n] for n in TABLE_4} == TABLE_4
    assert {n: threshold(n) for n in TABLE_4} == TABLE_4


def test_the_official_table(shared: Path) -> None:
    with (shared / "oracles" / "pwscup2018" / "R.csv").open(encoding="ascii") as file:
        official = [(int(n), int(r)) for n, r in csv.reader(file)]
    assert official == list(enumerate(thresholds(1000)))


def test_the_sharp_values() -> None:
    table = thresholds(999, "sharp")
    assert {n: table[n] for n in SHARP} == SHARP
    assert {n: threshold(n, "sharp") for n in SHARP} == SHARP
    assert table[:18] == thresholds(17)


def test_the_published_verdicts_of_the_preliminary_round(shared: Path) -> None:
    with (shared / "oracles" / "pwscup2018" / "preliminary_attacks.csv").open(encoding="ascii") as file:
        judged = [row for row in csv.DictReader(file) if row["hits"]]
    paper, sharp = thresholds(1000), thresholds(1000, "sharp")
    assert len(judged) > 100
    assert all((int(row["hits"]) >= paper[int(row["named"])]) == (row["effective"] == "1") for row in judged)
    changed = [row for row in judged if (int(row["hits"]) >= sharp[int(row["named"])]) != (row["effective"] == "1")]
    assert len(changed) == 14
    assert {row["effective"] for row in changed} == {"0"}


@pytest.mark.parametrize(("p", "alpha"), CHANCES)
def test_both_bounds_by_their_definition(p: Fraction, alpha: Fraction) -> None:
    def least(n: int, bound: object) -> int:
        return next((s for s in range(n + 1) if bound(n, s, p) < alpha), n + 1)  # type: ignore[operator]

    def markov(n: int, s: int, p: Fraction) -> Fraction:
        return min(Fraction(comb(n, j), comb(s, j)) * p**j for j in range(s + 1))

    for n in range(31):
        assert all(sharp_probability(n, s, p) == markov(n, s, p) for s in range(n + 1))
        assert all(markov(n, s, p) <= union_probability(n, s, p) for s in range(n + 1))
        assert threshold(n, "paper", p, alpha) == least(n, union_probability)
        assert threshold(n, "sharp", p, alpha) == least(n, markov)
    assert thresholds(30, "paper", p, alpha) == [threshold(n, "paper", p, alpha) for n in range(31)]
    assert thresholds(30, "sharp", p, alpha) == [threshold(n, "sharp", p, alpha) for n in range(31)]


def test_the_union_bound_is_the_sum_it_says() -> None:
    p = Fraction(1, 3)
    assert union_probability(3, 2, p) == 3 * p**2 + p**3
    assert union_probability(5, 6, p) == 0


# --- the sharp bound is the maximum of a linear programme: all vertices, in exact arithmetic -------------------------
# H0 is asked of one attacker's names alone here; of everybody's, which takes more people, in test_sharp_bound.py


def solve(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a square system, or return None where it has not one solution."""
    size = len(rows)
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for at in range(size):
        pivot = next((row for row in range(at, size) if table[row][at] != 0), None)
        if pivot is None:
            return None
        table[at], table[pivot] = table[pivot], table[at]
        table[at] = [value / table[at][at] for value in table[at]]
        for row in range(size):
            if row != at and table[row][at] != 0:
                factor = table[row][at]
                table[row] = [mine - factor * other for mine, other in zip(table[row], table[at], strict=True)]
    return [row[-1] for row in table]


def largest(gain: list[int], limits: list[tuple[list[Fraction], Fraction]]) -> Fraction:
    """Return the maximum of gain·x over x >= 0 that sum to 1 and keep every row·x <= limit, from all vertices."""
    size = len(gain)
    nothing = [([Fraction(-int(at == place)) for at in range(size)], Fraction(0)) for place in range(size)]
    every = [*limits, *nothing]
    best = Fraction(0)
    for tight in combinations(every, size - 1):
        rows = [[Fraction(1)] * size, *(row for row, _limit in tight)]
        vertex = solve(rows, [Fraction(1), *(limit for _row, limit in tight)])
        if vertex is None:
            continue
        if all(sum(a * x for a, x in zip(row, vertex, strict=True)) <= limit for row, limit in every):
            best = max(best, sum((g * x for g, x in zip(gain, vertex, strict=True)), Fraction(0)))
    return best


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(3, 5)])
def test_no_law_of_two_people_does_better(p: Fraction) -> None:
    outcomes = list(product([0, 1], repeat=2))
    sets = [subset for size in (1, 2) for subset in combinations(range(2), size)]
    limits = [([Fraction(all(o[i] for i in s)) for o in outcomes], p ** len(s)) for s in sets]
    for s in range(3):
        assert largest([int(sum(o) >= s) for o in outcomes], limits) == sharp_probability(2, s, p)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(3, 5)])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_law_of_n_people_does_better(n: int, p: Fraction) -> None:
    # averaged over all orders of the people a law keeps H0 and Pr(X >= s), so laws of X alone are enough:
    # given X = x, a j-set is all right with probability C(x,j)/C(n,j)
    limits = [([Fraction(comb(x, j), comb(n, j)) for x in range(n + 1)], p**j) for j in range(1, n + 1)]
    for s in range(n + 1):
        assert largest([int(x >= s) for x in range(n + 1)], limits) == sharp_probability(n, s, p)


def test_what_is_no_chance_is_refused() -> None:
    with pytest.raises(ParameterError, match="n = -1"):
        threshold(-1)
    with pytest.raises(ParameterError, match="p = 1 is out of range; use 0 < p < 1"):
        threshold(3, "paper", Fraction(1))
    with pytest.raises(ParameterError, match="alpha = 0 is out of range; use 0 < alpha <= 1"):
        thresholds(3, "sharp", P, Fraction(0))
