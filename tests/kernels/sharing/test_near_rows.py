"""Long tables joined over near rows: a whole assignment, its value by definition, and little above the least."""

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import histories, row_cost

from noren.kernels.sharing.alignment import LONG, RowArrays
from noren.kernels.sharing.grouping import GroupSearch
from noren.kernels.sharing.joining import _summed, join, settled
from noren.kernels.sharing.near_rows import near_assign


def own(rows: RowArrays, customer: int) -> np.ndarray:
    return np.arange(rows.start[customer], rows.start[customer + 1]).reshape(1, -1)


def near(rows: RowArrays, one: np.ndarray, other: np.ndarray, limit: float = 1e290) -> tuple[float, np.ndarray]:
    column_of = np.empty(one.shape[1], dtype=np.int64)
    a, b = _summed(rows, one, -2), _summed(rows, other, -3)
    return near_assign(a[0], b[0], a[1], b[1], rows.width, True, limit, column_of), column_of


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("few", "many"), [(1, 1), (70, 70), (90, 130), (65, 400)])
def test_every_column_has_one_of_its_own_and_the_value_is_what_they_cost(few: int, many: int, missing: float) -> None:
    rows = histories([few, many], few, missing=missing, items=30)
    value, column_of = near(rows, own(rows, 0), own(rows, 1))
    assert len(set(column_of.tolist())) == few
    assert 0 <= column_of.min() <= column_of.max() < many
    pairs = [[i, few + int(j)] for i, j in enumerate(column_of)]
    expected = sum(row_cost(rows, pair, suppress=True) - rows.worth[pair].sum() for pair in pairs)
    assert value == pytest.approx(expected, abs=1e-9)
    least = join(rows, True, own(rows, 0), own(rows, 1))[0]  # over all rows: short enough
    assert least - 1e-9 <= value <= (0.9 if missing else 0.97) * least  # blanks have no neighbours by date


def test_equal_histories_meet_row_by_row() -> None:
    one = histories([200], 3, items=500)
    rows = RowArrays(
        np.array([0, 200, 400]), np.tile(one.point, 2), np.tile(one.item, 2), np.tile(one.worth, 2), one.width
    )
    value, _column_of = near(rows, own(rows, 0), own(rows, 1))
    assert rows.worth.sum() + value == pytest.approx(0.0, abs=1e-9)


def test_a_limit_out_of_reach_is_told_at_once() -> None:
    rows = histories([80, 90], 5)
    value = near(rows, own(rows, 0), own(rows, 1))[0]
    assert near(rows, own(rows, 0), own(rows, 1), limit=2 * value)[0] > 2 * value


def test_long_groups_settle_without_loss_and_are_polished_over_all_rows() -> None:
    rows = histories([LONG + 20, LONG + 10, LONG + 40], 4, items=60)
    members = np.arange(3)
    table = join(rows, True, join(rows, True, own(rows, 0), own(rows, 1))[1], own(rows, 2))[1]
    before = sum(row_cost(rows, column.tolist(), suppress=True) for column in table.T) - rows.worth[table].sum()
    value = settled(rows, True, members, table, 8)
    after = sum(row_cost(rows, column.tolist(), suppress=True) for column in table.T) - rows.worth[table].sum()
    assert value == pytest.approx(after, abs=1e-9)
    assert value <= before + 1e-9
    search = GroupSearch(rows, [members], suppress=True, affinity=np.zeros((3, 3)), generator=np.random.default_rng(1))
    coarse = search.cost
    search.polish()
    assert search.cost < coarse
    group = search.groups[0]
    kept = sum(row_cost(rows, column.tolist(), suppress=True) for column in group.table.T)
    assert search.cost == pytest.approx(kept + rows.worth.sum() - rows.worth[group.table].sum(), abs=1e-9)
