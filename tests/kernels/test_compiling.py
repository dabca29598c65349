"""How kernels are compiled: a part is Python outside of them, and arrays that are only read have one type."""

from __future__ import annotations

import numpy as np

from noren.kernels.compiling import kernel, part, read_only


@part()
def doubled(value: int) -> int:
    return 2 * value


@kernel()
def total(values: np.ndarray) -> int:
    found = 0
    for at in range(len(values)):
        found += doubled(values[at])
    return found


def test_a_part_can_be_called_outside_of_kernels() -> None:
    assert doubled(4) == 8


def test_arrays_that_can_and_cannot_be_written_are_compiled_once() -> None:
    values = np.array([1, 2, 3])
    locked = values.copy()
    locked.flags.writeable = False
    assert [total(read_only(one)) for one in (values, locked)] == [12, 12]
    assert len(total.signatures) == 1  # type: ignore[attr-defined]
    assert values.flags.writeable, "the view alone is locked"
