"""Groups of like length and rows laid on one another, against a walk in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.kernels.sharing.rows import DELETED, groups_by_count, rows_laid_together

KEYS = st.one_of(st.none(), st.integers(0, 3))


def test_neighbours_by_count_ties_in_order_and_leftover_in_the_last_group() -> None:
    counts = np.array([3, 7, 3, 7, 3, 1, 5])
    # by count: 1 (7), 3 (7), 6 (5) | 0 (3), 2 (3), 4 (3) and 5 (1) left over
    assert groups_by_count(counts, 3).tolist() == [1, 0, 1, 0, 1, 1, 0]


def test_fewer_customers_than_k_are_one_group() -> None:
    assert groups_by_count(np.array([4, 9]), 3).tolist() == [0, 0]
    assert groups_by_count(np.array([], dtype=np.int64), 3).tolist() == []


def test_the_example_of_s1() -> None:
    # S1's customers A, B, C: prices 2 2.5 3 10, then 1 2 2, then 2.5 2; quantities 1 2 10 8, 3 1 9, 2 10
    who = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    price = np.array([2, 2.5, 3, 10, 1, 2, 2, 2.5, 2])
    quantity = np.array([1, 2, 10, 8, 3, 1, 9, 2, 10.0])
    # A 8/2, B 5/28 and C 1/3 come first, A 4/6, B 10/10 and C 4/2 second, the rest goes
    assert rows_laid_together(who, np.zeros(3, dtype=np.int64), [price, quantity]).tolist() == [
        *(DELETED, DELETED, 1, 0),
        *(DELETED, 1, 0),
        *(0, 1),
    ]


def test_without_keys_rows_keep_their_order() -> None:
    assert rows_laid_together(np.array([1, 0, 1, 0]), np.array([0, 0]), []).tolist() == [0, 0, 1, 1]


def test_rows_without_a_customer_are_deleted() -> None:
    laid = rows_laid_together(np.array([-1, 0, -1, 1]), np.array([0, 0]), [np.array([9.0, 1, 9, 2])])
    assert laid.tolist() == [DELETED, 0, DELETED, 0]


@given(rows=st.lists(st.tuples(st.integers(-1, 6), KEYS, KEYS), min_size=1, max_size=40), k=st.integers(2, 4))
@settings(deadline=None)
def test_against_plain_python(rows: list[tuple[int, int | None, int | None]], k: int) -> None:
    present = list(dict.fromkeys(who for who, _price, _quantity in rows if who >= 0))
    coded = [(present.index(who) if who >= 0 else -1, price, quantity) for who, price, quantity in rows]
    counts = [sum(who == code for who, _p, _q in coded) for code in range(len(present))]

    ranked = sorted(range(len(present)), key=lambda code: -counts[code])
    groups = [ranked[start : start + k] for start in range(0, len(ranked), k)]
    if len(groups) > 1 and len(groups[-1]) < k:
        leftover = groups.pop()
        groups[-1] += leftover
    expected = [DELETED] * len(rows)
    following = 0
    for members in groups:
        piles = []
        for member in members:
            own = [at for at, (who, _p, _q) in enumerate(coded) if who == member]
            piles.append(sorted(own, key=lambda at: [(key is None, -(key or 0)) for key in coded[at][1:]]))
        for together in zip(*piles, strict=False):
            for at in together:
                expected[at] = following
            following += 1

    who = np.array([code for code, _p, _q in coded])
    keys = [np.array([np.nan if row[at] is None else row[at] for row in coded], dtype=float) for at in (1, 2)]
    group = groups_by_count(np.array(counts, dtype=np.int64), k)
    assert [np.flatnonzero(group == g).tolist() for g in range(len(groups))] == [sorted(g) for g in groups]
    assert rows_laid_together(who, group, keys).tolist() == expected
