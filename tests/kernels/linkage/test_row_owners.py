"""Owners and partners against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.linkage.copied_examples import PEOPLE, case, fit

from noren.kernels.linkage.row_owners import OWN_SHARES, log_sum, partners

CHANCE = np.linspace(1, 2, len(OWN_SHARES)) / np.linspace(1, 2, len(OWN_SHARES)).sum()


def likelihood(fits: list[tuple[float, float]], share: float, own: float) -> float:
    return math.prod((1 - share) + share * (own * mine + (1 - own) * theirs) for mine, theirs in fits)


@given(st.integers(0, 10_000))
def test_all_owners_partners_and_shares_are_summed(seed: int) -> None:
    sides = case(seed)
    units = len(sides.public.first) - 1
    candidates = np.tile(np.array([0, 2, 1]), (units, 1))
    candidates[0, 2] = -1
    owned = partners(sides.known, sides.public, sides.beside, sides.copies, candidates).owned(CHANCE)
    for u in range(units):
        rows = range(sides.public.first[u], sides.public.first[u + 1])
        people = [int(i) for i in candidates[u] if i >= 0]
        fits = {i: [fit(sides, r, i) for r in rows] for i in people}
        alone = {i: likelihood([(f, 0.0) for f in fits[i]], sides.copies.share, 1.0) for i in people}
        for c, i in enumerate(people):
            whole = CHANCE[0] * alone[i] + CHANCE[-1] * sum(alone.values()) / PEOPLE
            for at in range(1, len(OWN_SHARES) - 1):
                for k in people:
                    if k != i:
                        both = list(zip(fits[i], fits[k], strict=True))
                        whole += CHANCE[at] / PEOPLE * likelihood(both, sides.copies.share, OWN_SHARES[at])
            assert owned.whole[u, c] == pytest.approx(math.log(whole))
        assert owned.others[u] == pytest.approx(math.log(CHANCE[-1] * sum(alone.values()) / PEOPLE))
    assert owned.whole[0, 2] == -np.inf


def test_shares_of_a_chosen_owner() -> None:
    sides = case(5)
    units = len(sides.public.first) - 1
    owned = partners(
        sides.known, sides.public, sides.beside, sides.copies, np.tile(np.array([0, 1]), (units, 1))
    ).owned(CHANCE)
    shares = owned.shares_of(np.array([0, -1] + [1] * (units - 2)))
    assert shares.sum(axis=1) == pytest.approx([1.0, 0.0] + [1.0] * (units - 2))


def test_logarithms_of_nothing() -> None:
    assert log_sum(np.array([[-np.inf, -np.inf], [0.0, 0.0]])) == pytest.approx([-np.inf, math.log(2)])
