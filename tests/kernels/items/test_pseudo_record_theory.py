"""S2's expectation, derived anew: exact for pairs, a lower bound beyond, and the paper's own figures beside it."""

import itertools

import numpy as np
import pytest

from noren.kernels.items.pseudo_records import (
    best_clusters,
    expected_added,
    fewest_clusters,
    mean_overlap,
    printed_added,
    printed_best_clusters,
    printed_overlap,
)

B, MU = 65, 0.03
H = mean_overlap(B, MU)


def test_the_overlap_comes_from_the_similarity() -> None:
    assert pytest.approx(MU) == H / (2 * B - H)
    assert pytest.approx(3.786, abs=5e-4) == H
    assert printed_overlap(B, MU) == pytest.approx(0.060, abs=5e-4)


def random_sets(seed: int) -> list[set[int]]:
    """Eight customers of five items each."""
    generator = np.random.default_rng(seed)
    return [set(generator.choice(12, 5, replace=False).tolist()) for _ in range(8)]


def mean_added(sets: list[set[int]], s: int) -> float:
    """The mean over all ways to make clusters of s: every s of the customers are equally often together."""
    unions = [len(set().union(*group)) for group in itertools.combinations(sets, s)]
    return len(sets) * (sum(unions) / len(unions) - 5)


@pytest.mark.parametrize("seed", range(5))
def test_exact_for_pairs_and_a_lower_bound_beyond(seed: int) -> None:
    sets = random_sets(seed)
    overlaps = [len(a & b) for a, b in itertools.combinations(sets, 2)]
    h = sum(overlaps) / len(overlaps)
    assert mean_added(sets, 2) == pytest.approx(expected_added(8, 4, 5, h), abs=1e-12)
    assert mean_added(sets, 4) > expected_added(8, 2, 5, h)


def test_the_best_number_of_clusters() -> None:
    assert best_clusters(400, B, H).clusters == 130
    n4000 = best_clusters(4000, B, H)
    assert n4000.clusters == 1296
    assert n4000.reid == 0.324
    assert n4000.added == pytest.approx(493_703, abs=1)
    for n in (400, 4000):
        scores = {c: expected_added(n, c, B, H) for c in range(fewest_clusters(n, B, H), n + 1)}
        alpha = 1 / max(scores.values())
        assert min(scores, key=lambda c: alpha * scores[c] + c / n) == best_clusters(n, B, H).clusters


def test_the_domain_is_where_fewer_clusters_add_more() -> None:
    assert fewest_clusters(400, B, H) == 23
    curve = [expected_added(400, c, B, H) for c in range(20, 401)]
    assert int(np.argmax(curve)) + 20 == 23
    assert np.all(np.diff(curve[3:]) < 0)
    assert curve[-1] == 0
    assert fewest_clusters(400, B, 0.0) == 1


def test_what_the_paper_prints() -> None:
    # S2: n = 4000, c* = 1427, Reid .3567, and 490,650 records, which (1) does not give
    assert round(printed_best_clusters(4000, B, H)) == 1427
    assert printed_added(4000, 1427, B, H) == pytest.approx(750_029, abs=1)
    # taking away the items that customers have comes near: 490,029
    assert printed_added(4000, 1427, B, H) - 4000 * B == pytest.approx(490_650, rel=0.002)
    assert expected_added(4000, 1427, B, H) == pytest.approx(430_527, abs=1)


def test_nothing_in_common_and_nobody_to_share_with() -> None:
    assert best_clusters(1, 5.0, 1.0).clusters == 1
    assert best_clusters(10, 5.0, 0.0).added >= 0
