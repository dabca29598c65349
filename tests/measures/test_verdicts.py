"""Attacks side by side: the best number of answers under both bounds, and who did the most damage."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from noren.data.release import Secret
from noren.kernels.threshold import thresholds
from noren.measures.safety.verdicts import Try, best_try, verdicts
from noren.protocols import Guess


def secret_of(count: int) -> Secret:
    pairs = pl.DataFrame({"pseudonym": [f"p{i}" for i in range(count)], "customer": [f"c{i}" for i in range(count)]})
    return Secret(pairs, pl.Series([0]), 1)


def guess_of(rights: list[bool]) -> Guess:
    named = [f"c{i}" if right else "nobody" for i, right in enumerate(rights)]
    return Guess("hand", pl.DataFrame({"pseudonym": [f"p{i}" for i in range(len(rights))], "customer": named}))


def test_the_sharp_rule_refutes_what_the_papers_lets_pass() -> None:
    """Of 99 the sharp bound needs 52 where 99 was said beforehand, 56 where it is the best of all n; the paper's 64."""
    half = guess_of([i % 5 < 3 for i in range(99)])
    found = verdicts({"half": half, "none": guess_of([False] * 99), "all": guess_of([True] * 8)}, secret_of(99))
    assert [v.attack for v in found] == ["all", "half", "none"]
    assert found[0].best["paper"] == Try(8, 8, 8)
    assert found[1].right == 60
    assert (found[1].best["sharp"].effective, found[1].best["paper"].effective) == (True, False)
    assert (found[2].right, found[2].best["sharp"]) == (0, Try(0, 0, 1))


def test_a_lucky_beginning_refutes_nothing() -> None:
    """24 of the first 35 would be enough had 35 been said beforehand; among 200 answers that is luck."""
    lucky = guess_of([i % 3 != 2 for i in range(35)] + [False] * 165)
    assert thresholds(35, "sharp")[35] <= sum(i % 3 != 2 for i in range(35)) == 24
    [found] = verdicts({"lucky": lucky}, secret_of(200))
    assert found.right == 24
    assert not found.best["sharp"].effective


@given(st.lists(st.booleans(), max_size=40))
def test_effective_means_that_some_number_of_answers_is(rights: list[bool]) -> None:
    needed = thresholds(len(rights), "sharp")
    hits = [sum(rights[: n + 1]) for n in range(len(rights))]
    best = best_try(hits, needed)
    assert best.effective == any(right >= needed[n + 1] for n, right in enumerate(hits))
    assert best.named == 0 or (best.right, best.needed) == (hits[best.named - 1], needed[best.named])
