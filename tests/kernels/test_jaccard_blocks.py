"""Products of matrices against the search: the same customers, the same floats, whatever the blocks."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.kernels.set_examples import laid, made_up, sure

from noren.kernels.item_sets import ItemSets
from noren.kernels.jaccard import NOBODY, index_of, most_similar
from noren.kernels.jaccard_blocks import Arrays, NumpyArrays, TorchArrays, arrays_of, most_similar_blocks


def joined(known: ItemSets, released: ItemSets, items: int, arrays: Arrays, **blocks: Any) -> tuple[Any, Any]:
    who, how = zip(*most_similar_blocks(known, released, items, arrays, **blocks), strict=True)
    return np.concatenate(who), np.concatenate(how)


def searched(known: ItemSets, released: ItemSets, items: int) -> tuple[Any, Any]:
    who, how = most_similar(index_of(known, items), released, np.arange(len(released.total)))
    return who[:, 0], how[:, 0]


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(1_000, 1_000), (7, 64), (128, 3)])
def test_the_same_answer_whatever_the_blocks(rows: int, columns: int, resident: bool) -> None:
    known, released = made_up(200, 60, 0.5, seed=2)
    found = joined(known, released, 60, NumpyArrays(), rows=rows, columns=columns, resident=resident)
    assert same(found, searched(known, released, 60))


def test_of_equals_the_first_across_blocks() -> None:
    known = laid([sure(5), sure(0, 1), sure(0, 1, 2, 3), sure(0, 1)], 9, sure=True)
    released = laid([sure(0, 1), sure(1), sure(7), {}, sure(10)], 9, sure=True)
    for columns in (1, 2, 4):
        who, how = joined(known, released, 9, arrays_of(np), rows=2, columns=columns)
        assert who.tolist() == [1, 1, NOBODY, NOBODY, NOBODY]
        assert how.tolist() == [1.0, 0.5, 0.0, 0.0, 0.0]


def test_items_that_nobody_has_count() -> None:
    who, how = joined(laid([sure(0)], 1, sure=True), laid([sure(0, 1, 2)], 1, sure=True), 1, arrays_of(np))
    assert (who.tolist(), how.tolist()) == ([0], [1 / 3])


def test_large_sets_take_long_floats() -> None:
    # 4500/9001 is less than 4501/9003 by 1/(9001·9003), which floats of 32 bits cannot tell
    assert np.float32(4_500) / np.float32(9_001) == np.float32(4_501) / np.float32(9_003)
    known = laid([sure(*range(4_500)), sure(*range(4_501), 9_001, 9_002)], 9_003, sure=True)
    released = laid([sure(*range(9_001))], 9_003, sure=True)
    expected = (np.array([1]), np.array([4_501 / 9_003]))
    assert same(joined(known, released, 9_003, arrays_of(np)), expected)
    assert same(searched(known, released, 9_003), expected)


def test_weights_are_refused() -> None:
    known = laid([sure(0)], 1, sure=True)
    with pytest.raises(ValueError, match="no weights"):
        list(most_similar_blocks(known, laid([sure(0)], 1), 1, arrays_of(np)))


def test_nobody_to_ask_for_or_to_name() -> None:
    known, nothing = laid([sure(0)], 1, sure=True), laid([], 1, sure=True)
    assert list(most_similar_blocks(known, nothing, 1, arrays_of(np))) == []
    assert joined(nothing, known, 1, arrays_of(np))[0].tolist() == [NOBODY]


def test_torch_gives_the_same() -> None:
    torch = pytest.importorskip("torch", reason="torch is no dependency; where it is there, it must agree")
    known, released = made_up(200, 60, 0.5, seed=2)
    arrays = arrays_of(torch, "cpu")
    assert isinstance(arrays, TorchArrays)
    assert same(joined(known, released, 60, arrays, rows=64, columns=32), searched(known, released, 60))


def test_needs_numpy_alone() -> None:
    script = "import sys, noren.kernels.jaccard_blocks; print(*sorted(n for n in sys.modules if '.' not in n))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"polars", "pydantic", "numba", "scipy", "pyarrow", "torch", "cupy"} & set(done.stdout.split()) == set()
