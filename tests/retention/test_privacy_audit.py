"""What guessers get out of perturbed rows stays below the proved ε, and comes near that of a single row."""

from __future__ import annotations

import numpy as np
import pytest
from tests.retention.audits import one_run_epsilon, row_epsilon, table_epsilon

from noren.data.schema import Column
from noren.kernels.reconstruction.privacy import shuffled_epsilon
from noren.kernels.reconstruction.retention import keep_probabilities
from noren.retention.attributes import Attribute
from noren.retention.perturbation import Perturbation


def plan_of(sizes: list[int], k: float, rows: int) -> Perturbation:
    columns = [Column(name=f"a{at}", role="quasi", domain=[str(v) for v in range(m)]) for at, m in enumerate(sizes)]
    return Perturbation(tuple(Attribute(column) for column in columns), tuple(keep_probabilities(k, sizes, rows)))


def epsilon_of(plan: Perturbation) -> float:
    return float(-np.log(plan.ratios).sum())


def test_right_guesses_of_coins() -> None:
    # all of 100 right: (e^ε/(1+e^ε))^100 = 0.05
    chance = 0.05**0.01
    assert one_run_epsilon(100, 100, 100) == pytest.approx(np.log(chance / (1 - chance)), abs=1e-5)
    assert one_run_epsilon(100, 100, 50) == one_run_epsilon(100, 0, 0) == 0.0
    assert 0 < one_run_epsilon(1000, 1000, 800, delta=1e-5) < one_run_epsilon(1000, 1000, 800)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 5, 10])
def test_single_rows_come_near_the_bound(k: float, seed: int) -> None:
    plan = plan_of([5, 2, 42], k, 32561)
    # of nine audits none may be above the bound by chance, so each is surer than 95 %
    audited = row_epsilon(plan, 32561, seed, error=0.001)
    assert 0.8 * epsilon_of(plan) < audited < epsilon_of(plan)


@pytest.mark.parametrize(("sizes", "k", "rows", "share"), [([2], 2, 20, 0.3), ([2], 2, 200, 0.0), ([3], 5, 50, 0.0)])
def test_tables_stay_below_the_bound(sizes: list[int], k: float, rows: int, share: float) -> None:
    plan = plan_of(sizes, k, rows)
    bound = shuffled_epsilon(epsilon_of(plan), rows, 1e-6)
    assert share * bound <= table_epsilon(plan, rows, 4000, seed=1, delta=1e-6) < bound


def test_an_audit_notices_less_noise_than_is_claimed() -> None:
    claimed, made = plan_of([2], 10, 20), plan_of([2], 1.05, 20)
    bound = shuffled_epsilon(epsilon_of(claimed), 20, 1e-6)
    assert table_epsilon(made, 20, 4000, seed=1, delta=1e-6) > bound
    assert row_epsilon(made, 2000, seed=1) > epsilon_of(claimed)
