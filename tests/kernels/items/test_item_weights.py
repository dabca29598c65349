"""TF-IDF weights are those of Algorithm 2, entry by entry."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.items.packed_sets import item_sets
from noren.kernels.items.pseudo_records import tf_idf, unit_rows

bought = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=40)


@given(bought)
def test_weights_follow_the_formula(rows: list[tuple[int, int]]) -> None:
    n, items = 6, 8
    has = [[(u, j) in rows for j in range(items)] for u in range(n)]
    buyers = [sum(has[u][j] for u in range(n)) for j in range(items)]
    expected = [
        [(math.log(n / buyers[j]) + 1) / sum(has[u]) if has[u][j] else 0.0 for j in range(items)] for u in range(n)
    ]
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    weights = tf_idf(item_sets(pairs[:, 0], pairs[:, 1], n, items), items)
    assert weights.toarray() == pytest.approx(np.array(expected), abs=1e-12)
    lengths = np.linalg.norm(unit_rows(weights).toarray(), axis=1)
    assert lengths == pytest.approx(np.array([float(any(h)) for h in has]), abs=1e-12)
