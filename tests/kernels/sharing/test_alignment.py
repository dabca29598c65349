"""Two histories laid on one another: against all alignments there are."""

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import cheapest_group, histories

from noren.kernels.sharing.alignment import AlignmentCosts, aligned_pair, pair_costs, row_arrays
from noren.kernels.sharing.pairing import pair_tariff

EXACT = 1e200


def costs(rows, tariff: AlignmentCosts, pairs: list[tuple[int, int]], limit: float = EXACT) -> np.ndarray:
    return pair_costs(rows, tariff, np.array(pairs), np.full(len(pairs), limit))


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_pair_costs_the_least_over_all_alignments(missing: float, suppress: bool) -> None:
    for seed in range(25):
        rows = histories([1 + seed % 4, 4], seed, missing=missing)
        expected = cheapest_group(rows, [0, 1], suppress=suppress)
        tariff = pair_tariff(2, suppress=suppress)
        assert costs(rows, tariff, [(0, 1), (1, 0)]) == pytest.approx([expected] * 2, abs=1e-9)
        cost, matched = aligned_pair(rows, tariff, 0, 1)
        assert cost == pytest.approx(expected, abs=1e-9)
        assert len(set(matched[:, 0].tolist())) == len(set(matched[:, 1].tolist())) == len(matched)
        assert np.all(matched[:, 0] < rows.start[1])
        assert np.all(matched[:, 1] >= rows.start[1])
        if suppress and not missing:
            assert len(matched) == 1 + seed % 4


def test_by_hand() -> None:
    # dates 0 and 1 apart by half a deviation of 2, items differ; the row at 50 is left over: 3 known cells
    dates, prices = np.array([0.0, 1.0, 50.0]), np.array([1.0, 1.0, 1.0])
    rows = row_arrays(np.array([0, 1, 3]), [dates, prices], [2.0, 0.0], [1.0, 0.01], np.array([0, 1, 1]))
    assert costs(rows, pair_tariff(2, suppress=True), [(0, 1)]).tolist() == [0.5 + 1 + 3]


def test_a_ceiling_for_each_cell_or_for_each_row() -> None:
    # 10 deviations apart: suppressed cells cost 2, two deleted rows 2 cells each
    rows = row_arrays(np.array([0, 1, 2]), [np.array([0.0, 10.0])], [1.0], [1.0], np.array([0, 0]))
    assert costs(rows, pair_tariff(2, suppress=True), [(0, 1)]).tolist() == [2.0]
    assert costs(rows, pair_tariff(2, suppress=False), [(0, 1)]).tolist() == [4.0]
    assert aligned_pair(rows, pair_tariff(2, suppress=False), 0, 1)[1].shape == (0, 2)


def test_beyond_its_limit_a_pair_gets_a_lower_bound() -> None:
    rows = histories([30, 40, 35], 3)
    pairs = [(0, 1), (0, 2), (1, 2)]
    exact = costs(rows, pair_tariff(2, suppress=True), pairs)
    for limit in (-np.inf, exact.min() - 1, exact.min() + 1e-6):
        found = costs(rows, pair_tariff(2, suppress=True), pairs, limit)
        known = found <= limit
        assert found[known] == pytest.approx(exact[known], abs=1e-9)
        assert np.all(found <= exact + 1e-9)


def test_a_very_long_history_beside_a_short_one() -> None:
    rows = histories([100_000, 1, 1], 1)
    found = costs(rows, pair_tariff(2, suppress=True), [(0, 1), (1, 2)])
    assert 4 * 99_999 <= found[0] < 4 * 99_999 + 1
    assert found[1] < 7


def test_the_rows_of_some_customers() -> None:
    rows = histories([2, 3, 1], 5)
    some = rows.of(np.array([2, 0]))
    assert some.start.tolist() == [0, 1, 3]
    assert some.item.tolist() == rows.item[[5, 0, 1]].tolist()
    assert some.point.tolist() == rows.point[:, [5, 0, 1]].tolist()
