"""Histories as sets of items: exact cells, set cells, suppressed ones, items the original lacks."""

import pytest
from tests.data.bought_examples import bought, shown

from noren.data.arrays import item_set_arrays
from noren.errors import SchemaError
from noren.kernels.items.packed_sets import CERTAIN


def test_codes_are_the_originals() -> None:
    sides = item_set_arrays(
        bought(["b", "a", None, "b"], ["y", "x", "w", "x"]), bought(["7", "7", "8"], ["z", "x", None])
    )
    # items in order of appearance: y, x, w; z has no code, and the row without a customer has no set
    assert (sides.customers.to_list(), sides.pseudonyms.to_list(), sides.items) == (["b", "a"], ["7", "8"], 3)
    assert (sides.known.first.tolist(), sides.known.item.tolist()) == ([0, 2, 3], [0, 1, 1])
    assert (sides.released.first.tolist(), sides.released.item.tolist()) == ([0, 1, 1], [1])
    assert (sides.released.total.tolist(), sides.released.unit) == ([2, 0], 1)


def test_set_cells_count_in_parts() -> None:
    cells = [["x", "y"], ["y"], ["x", "y", "z"], None, []]
    sides = item_set_arrays(bought(["a", "a"], ["x", "y"]), shown(["7", "7", "7", "7", "8"], cells))
    # x is 1/2 in the surest row, y is sure, z 1/3 without a code
    assert sides.released.weight.tolist() == [CERTAIN // 2, CERTAIN]
    assert sides.released.total.tolist() == [CERTAIN // 2 + CERTAIN + CERTAIN // 3, 0]
    assert sides.released.unit == CERTAIN


def test_two_items_that_nobody_knows_are_two() -> None:
    sides = item_set_arrays(bought(["a"], ["x"]), bought(["7", "7", "7"], ["p", "q", "p"]))
    assert sides.released.total.tolist() == [2]


def test_a_generalised_original_is_refused() -> None:
    with pytest.raises(SchemaError, match="already generalised"):
        item_set_arrays(shown(["a"], [["x", "y"]]), bought(["7"], ["x"]))


def test_nothing_on_either_side() -> None:
    nothing = bought([], [])
    sides = item_set_arrays(nothing, nothing)
    assert (len(sides.customers), len(sides.pseudonyms), sides.items) == (0, 0, 0)
    assert sides.known.first.tolist() == [0]
