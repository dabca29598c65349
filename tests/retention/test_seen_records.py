"""Records that are alike are counted together, and dealt as if they stood one by one."""

import numpy as np
import pytest

from noren.retention import reconstructed
from noren.retention.reconstructed import ObservedRecords


def test_folds_are_those_of_single_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstructed, "_AT_ONCE", 64)  # runs of draws that end within an entry
    random = np.random.Generator(np.random.PCG64(1))
    codes, sizes = [random.integers(0, 3, 40), random.integers(0, 5, 40)], (3, 5)
    counts = random.integers(1, 30, 40)
    alike = ObservedRecords(codes, sizes, counts)
    single = ObservedRecords([np.repeat(its, counts) for its in codes], sizes)
    assert alike.rows == single.rows == counts.sum() > 2 * 64
    one, two = (seen.in_folds(4, np.random.Generator(np.random.Philox(key=[7, 0]))) for seen in (alike, single))
    for some in ((0,), (1,), (0, 1)):
        assert (one(some) == two(some)).all()
        assert one(some).shape == (4, *(sizes[a] for a in some))
        assert (alike.table(some) == single.table(some)).all()
    assert [its.tolist() for its in alike.cells()] == [its.tolist() for its in single.cells()]
    assert all((a == b).all() for a, b in zip(alike.records(), single.records(), strict=True))
