"""Item similarities against a straightforward computation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from noren.kernels.items.item_similarity import any_alike, most_bought, purchase_matrix, scored, similarity_error

TABLES = st.lists(st.lists(st.integers(0, 90), min_size=4, max_size=4), min_size=2, max_size=6)


def cosine(table: list[list[float]], i: int, j: int) -> float:
    a, b = ([row[k] for row in table] for k in (i, j))
    length = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0


@given(TABLES, TABLES)
def test_the_distance_of_two_tables(one: list[list[float]], two: list[list[float]]) -> None:
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    s, t = ({p: cosine(table, *p) for p in pairs} for table in (one, two))
    total = sum(s.values())
    expected = min(1.0, sum(abs(s[p] - t[p]) for p in pairs if s[p] > 0) / total) if total else 0.0
    scores = [sparse.csr_array(np.array(table, dtype=float)) for table in (one, two)]
    assert similarity_error(*scores) == pytest.approx(expected, abs=1e-12)
    assert any_alike(scores[0]) == (total > 0)


def test_scores() -> None:
    pieces = purchase_matrix(np.zeros(5, int), np.array([0, 0, 1, 2, 3]), np.array([6.0, 6, 11, 83, -4]), (1, 4))
    assert pieces.toarray().tolist() == [[12, 11, 83, -4]]
    assert scored(pieces, "wholesale").toarray().tolist() == [[1, 0, 6, 0]]
    assert scored(pieces, "retail").toarray().tolist() == [[0, 11, 0, 0]]
    assert scored(pieces, "presence").toarray().tolist() == [[1, 1, 1, 1]]
    assert pieces.toarray().tolist() == [[12, 11, 83, -4]], "the pieces stay as they are"


def test_the_most_bought_are_counted_by_customers_and_ties_go_to_the_later_code() -> None:
    pieces = sparse.csr_array(np.array([[50.0, 1, 1, 0, 0], [0, 1, 0, 1, 0]]))
    assert most_bought(pieces, 3).tolist() == [1, 3, 2]
    assert most_bought(pieces, 9).tolist() == [1, 3, 2, 0], "an item nobody bought is no best-seller"
