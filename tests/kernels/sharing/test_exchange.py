"""Partners are mutual and alike, and rows are matched one to one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.sharing.rows import NO_PARTNER, like_partners, matched_rows

sets = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=12)


def laid(histories: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, histories)]), np.array([item for one in histories for item in one])


@given(histories=sets, rounds=st.integers(0, 4), seed=st.integers(0, 2**32), data=st.data())
def test_partners_are_mutual_of_one_pool_and_at_most_one_is_left(histories, rounds: int, seed: int, data) -> None:
    size = len(histories)
    pool = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    partner = like_partners(*laid(histories), pool, np.random.default_rng(seed).random((rounds, 6)))
    paired = np.flatnonzero(partner != NO_PARTNER)
    assert (partner[partner[paired]] == paired).all()
    assert (partner[paired] != paired).all()
    assert (pool[partner[paired]] == pool[paired]).all()
    alone = np.bincount(pool[partner == NO_PARTNER], minlength=3)
    assert alone.tolist() == (np.bincount(pool, minlength=3) % 2).tolist()


def test_the_chance_to_meet_is_the_jaccard_similarity() -> None:
    # 0 and 1 share one item of three; where it is not the first of both, length pairs 0 with 2 and 1 with 3
    start, item = laid([[0, 1], [1, 2, 2, 2], [3, 4], [5, 5, 5, 5]])
    ranks = np.random.default_rng(1).random((6000, 6))
    met = [like_partners(start, item, np.zeros(4, dtype=np.int64), one[None])[0] for one in ranks]
    assert set(met) == {1, 2}
    assert abs(np.mean(np.array(met) == 1) - 1 / 3) < 0.02


def test_without_items_in_common_length_decides() -> None:
    start, item = laid([[0], [1, 1, 1], [2], [3, 3, 3, 3]])
    ranks = np.random.default_rng(1).random((3, 6))
    assert like_partners(start, item, np.zeros(4, dtype=np.int64), ranks).tolist() == [2, 3, 0, 1]


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=30))
def test_rows_are_matched_in_order(rows) -> None:
    group, side = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    one, other = matched_rows(group, side)
    expected: list[tuple[int, ...]] = []
    for which in range(4):
        sides = [[at for at, row in enumerate(rows) if row == (which, which_side)] for which_side in (0, 1)]
        expected += zip(*sides, strict=False)
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == sorted(expected)
