"""Suppressed cells cannot be computed from the published ones: by linear programs and by trying every table."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.conftest import examples

from noren.tabulations.suppression import COMPLEMENTARY, DOMINANCE, PUBLISHED, THRESHOLD, MarginGrid


def grid_of(*tables, k=3, p=10.0, value="rows", links=()):
    """A grid of what each customer has in the inner cells: people[row][column] of a table is a list of amounts."""
    made = []
    for people in tables:
        parts = [
            (row, column, f"{value}-{row}-{column}-{who}", amount)
            for row, cells in enumerate(people)
            for column, amounts in enumerate(cells)
            for who, amount in enumerate(amounts)
        ]
        frame = pl.DataFrame(parts, schema=["row", "column", "customer", value], orient="row")
        made.append((frame, (len(people), len(people[0]) if people and len(people[0]) > 1 else 0)))
    return MarginGrid.of(made, k, p, links)


def intervals(grid, value, cells):
    """Return what an attacker can compute of suppressed cells from the published ones: lowest and highest value."""
    hidden, total = grid.hidden, grid.totals[value]
    bounds = [(low, None) if gone else (was, was)
                         for low, gone, was in zip(grid.lowest[value], hidden, total, strict=True)]  # fmt: skip
    lines = grid.equations
    right = np.zeros(lines.shape[0])
    ends = []
    for cell in cells:
        cost = np.zeros(len(total))
        cost[cell] = 1
        found = [linprog(sign * cost, A_eq=lines, b_eq=right, bounds=bounds, method="highs") for sign in (1, -1)]
        low, high = (sign * f.fun if f.status == 0 else -sign * np.inf for sign, f in zip((1, -1), found, strict=True))
        ends.append((float(low), float(high)))
    return ends


def possible_tables(grid, most):
    """Every table of whole numbers with the published cells and margins, and at least 1 in suppressed counts."""
    ((rows, columns),) = grid.shapes
    hidden, total = grid.hidden.reshape(rows + 1, -1), grid.totals["rows"].reshape(rows + 1, -1)
    gone = hidden[:rows, :columns]
    choices = np.array(list(product(range(1, most + 1), repeat=int(gone.sum()))))
    tables = np.zeros((len(choices), rows + 1, columns + 1))
    tables[:, :rows, :columns] = total[:rows, :columns]
    tables[:, :rows, :columns][:, gone] = choices
    tables[:, :rows, columns] = tables[:, :rows, :columns].sum(axis=2)
    tables[:, rows] = tables[:, :rows].sum(axis=1)
    return tables[(tables[:, ~hidden] == total[~hidden]).all(axis=1)].reshape(-1, total.size)


def test_a_worked_example():
    # one customer in the first cell: it needs a second cell in its row and in its column, and so a rectangle
    grid = grid_of([[[1], [1] * 4, [1] * 9], [[1] * 5, [1] * 6, [1] * 9], [[1] * 9, [1] * 9, [1] * 9]], k=3)
    assert np.flatnonzero(grid.hidden).tolist() == [0]
    grid.protect()
    assert grid.state.reshape(4, 4).tolist() == [
        [THRESHOLD, COMPLEMENTARY, PUBLISHED, PUBLISHED],
        [COMPLEMENTARY, COMPLEMENTARY, PUBLISHED, PUBLISHED],
        [PUBLISHED] * 4,
        [PUBLISHED] * 4,
    ]
    # by hand: the first row's two cells are 5 together, and both are at least 1
    assert intervals(grid, "rows", [0]) == [(1.0, 4.0)]


def test_the_second_largest_customer_does_not_learn_the_largest():
    # 100 + 60 + 5: who has 60 knows that the other has at most 105, which is within 10 %
    amounts = [[[100, 60, 5]], [[40, 30, 30, 20]], [[50, 50, 40, 40]]]
    grid = grid_of(amounts, k=2, value="revenue")
    assert grid.state.tolist() == [DOMINANCE, PUBLISHED, PUBLISHED, PUBLISHED]
    grid.protect()
    assert grid.hidden.sum() == 2
    ((low, high),) = intervals(grid, "revenue", [0])
    assert low <= 165 - 10
    assert high >= 165 + 10
    assert not grid_of([[[100, 60, 10]], *amounts[1:]], k=2, value="revenue").hidden.any()


def test_who_has_most_rows_of_a_cell_hides_it():
    # 505 rows, 500 of them of one customer: whoever has one of the others knows it to 3
    grid = grid_of([[[500] + [1] * 5]], [[[1] * 6]], k=5)
    assert grid.state.tolist() == [DOMINANCE, DOMINANCE, PUBLISHED, PUBLISHED]
    # of segments each customer is one, whatever they have
    assert not grid_of([[[1] * 2], [[1] * 2]], k=2, value="customers").hidden.any()


def test_suppressed_rows_have_the_room_of_the_largest_customer():
    grid = grid_of([[[100] + [1] * 5], [[1] * 60], [[1] * 8]], k=3)
    grid.protect()
    ((low, high),) = intervals(grid, "rows", [0])
    assert low <= 105 - 10
    assert high >= 105 + 10


def test_returns_count_by_their_size():
    # 100 - 90 is little in sum, and much of two customers
    assert grid_of([[[100, -90, 1, 1]], [[5] * 4]], k=2, value="revenue").state[0] == DOMINANCE


def test_what_a_line_hides_keeps_the_rules_in_sum():
    # two cells of one customer each: their sum is known, and either could subtract their own
    grid = grid_of([[[1]], [[1]], [[1] * 7], [[1] * 9]], k=3).protect()
    assert grid.state.tolist() == [THRESHOLD, THRESHOLD, COMPLEMENTARY, PUBLISHED, PUBLISHED]


def test_a_sum_that_is_published_elsewhere_is_an_equation_too():
    people = [[[1]], [[1] * 5], [[1] * 4], [[1] * 6]]
    alone = grid_of(people, k=3).protect()
    assert alone.state.tolist() == [THRESHOLD, PUBLISHED, COMPLEMENTARY, PUBLISHED, PUBLISHED]
    # the first two months are a quarter
    links = [(np.array([0, 1]), 5), (np.array([2, 3]), 6), (np.arange(4), 7), (np.array([5, 6]), 4)]
    both = grid_of(people, [[[1] * 6], [[1] * 10]], k=3, links=links).protect()
    assert both.state.tolist() == [THRESHOLD, COMPLEMENTARY, *[PUBLISHED] * 6]
    assert intervals(both, "rows", [0]) == [(1.0, 5.0)]


def test_a_month_that_is_alone_in_its_quarter_hides_it_too():
    # January is the first quarter and April the second: whoever sees the quarters knows both
    months, quarters = [[[1, 1]], [[1] * 5]], [[[1, 1], [1] * 5]]
    links = [(np.array([0]), 3), (np.array([1]), 4), (np.array([0, 1]), 5), (np.array([6, 7]), 2)]
    links = [(inner, end + 3 if end > 2 else end) for inner, end in links]
    both = grid_of(months, quarters, k=3, links=links)
    assert both.state.tolist() == [THRESHOLD, PUBLISHED, PUBLISHED, *[THRESHOLD, PUBLISHED, PUBLISHED] * 2]
    both.protect()
    for low, high in intervals(both, "rows", [0, 3, 6]):
        assert high - low >= 2 - 1e-6


def test_what_the_solver_does_not_find_is_suppressed_whole(monkeypatch):
    grid = grid_of([[[1], [1] * 4], [[1] * 5, [1] * 6]], k=3)
    monkeypatch.setattr(MarginGrid, "_make_room", lambda *_: False)
    assert grid.protect().hidden.all()


def test_a_table_of_too_few_is_suppressed_whole():
    assert grid_of([[[1], [2]], [[], [1]]], k=5).protect().hidden[[0, 1, 2, 4, 5, 6, 7, 8]].all()


@examples(40)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=2), st.integers(2, 3))
def test_linear_programs_agree_with_every_possible_table(counts, k):
    if not any(map(sum, counts)):
        return
    grid = grid_of([[[1] * number for number in row] for row in counts], k=k)
    primary = np.flatnonzero(grid.hidden)
    grid.protect()
    if grid.hidden[-1]:  # too few people, or their number would give a cell away
        grid.state[-1] = PUBLISHED
        rows, up, down = (kept["rows"][primary] for kept in (grid.totals, grid.up, grid.down))
        low, high = np.array(intervals(grid, "rows", primary)).T
        assert sum(map(sum, counts)) < k or (high < rows + up - 1e-6).any() or (low > rows - down + 1e-6).any()
        return
    tables = possible_tables(grid, 7)
    margins = grid.hidden.reshape(3, 4)
    ends = dict(zip(primary.tolist(), intervals(grid, "rows", primary), strict=True))
    for cell, (low, high) in ends.items():
        assert low - 1e-6 <= tables[:, cell].min() < tables[:, cell].max() <= high + 1e-6
        # whole numbers attain the ends, for a two-way table is a network; where margins are open there is no end
        if not (margins[:, 3].any() or margins[2].any()):
            assert tables[:, cell].min() == pytest.approx(low)
            assert tables[:, cell].max() == pytest.approx(high)
        assert high - low >= k - 1 - 1e-6


@examples(30)
@given(st.data())
def test_every_amount_keeps_its_interval(data):
    rows, columns = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4))
    amounts = st.lists(st.integers(1, 100), max_size=5)
    people = [[data.draw(amounts) for _ in range(columns)] for _ in range(rows)]
    if not any(map(any, people)):
        return
    grid = grid_of(people, k=3, value="revenue")
    primary = np.flatnonzero(grid.hidden)
    grid.protect()
    for cell, (low, high) in zip(primary, intervals(grid, "revenue", primary), strict=True):
        assert low <= grid.totals["revenue"][cell] - grid.down["revenue"][cell] + 1e-6
        assert high >= grid.totals["revenue"][cell] + grid.up["revenue"][cell] - 1e-6
        assert high - low > 0


def test_a_large_table_is_protected_by_its_buffer(monkeypatch):
    generator = np.random.default_rng(3)
    counts = generator.poisson(generator.exponential(4, size=(25, 1)), size=(25, 4))
    counts[3] = 30
    counts = counts[counts.sum(axis=1) >= 3]
    people = [[[1] * number for number in row] for row in counts.tolist()]
    monkeypatch.setattr("noren.tabulations.suppression._LARGE", 0)
    grid = grid_of(people, k=3)
    primary = np.flatnonzero(grid.hidden)
    assert len(primary) > 10
    assert np.array_equal(np.sort(grid._protect_by_buffer(grid.tables[0])), primary)
    grid._hide_sums()
    for low, high in intervals(grid, "rows", primary):
        assert high - low >= 2 - 1e-6


def test_published_cells_add_up():
    people = [[[1] * (3 + r + c) for c in range(4)] for r in range(3)]
    grid = grid_of(people, k=3).protect()
    assert not grid.hidden.any()
    table = grid.totals["rows"].reshape(4, 5)
    assert np.array_equal(table[:3].sum(axis=0), table[3])
    assert np.array_equal(table[:, :4].sum(axis=1), table[:, 4])
