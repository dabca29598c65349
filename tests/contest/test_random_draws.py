"""Lots are permutations that follow from salt and label alone, today and in ten years."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.contest import receipts

_WORD = 2**64
_SALT = bytes(range(32))


def _philox(key: int, n: int) -> list[int]:
    """Return the first words of Philox 4x64-10 as its paper writes it (Salmon et al. 2011), without NumPy."""
    words: list[int] = []
    for counter in range(1, n // 4 + 2):
        c = [counter, 0, 0, 0]
        k = [key % _WORD, key >> 64]
        for _ in range(10):
            high_0, low_0 = divmod(0xD2E7470EE14C6C93 * c[0], _WORD)
            high_1, low_1 = divmod(0xCA5A826395121157 * c[2], _WORD)
            c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0]
            k = [(k[0] + 0x9E3779B97F4A7C15) % _WORD, (k[1] + 0xBB67AE8584CAA73B) % _WORD]
        words += c
    return words[:n]


def test_the_lots_never_change() -> None:
    assert receipts.commitment(bytes(32)) == "9e1af9218f6cd4d68266945650c152912a9e1516def60c8092aeff4f4fc5603c"
    order = receipts.permutation(_SALT, "cup/final/0123456789ab/rows", 12)
    assert order.tolist() == [10, 7, 6, 1, 8, 3, 0, 9, 2, 4, 11, 5]


def test_whoever_has_no_numpy_draws_the_same_lots() -> None:
    words = _philox(receipts.seed(_SALT, "cup/final/targets"), 57)
    expected = sorted(range(57), key=words.__getitem__)
    assert receipts.permutation(_SALT, "cup/final/targets", 57).tolist() == expected


@given(st.binary(min_size=32, max_size=32), st.text(max_size=40), st.integers(0, 300))
def test_a_lot_is_a_permutation(salt: bytes, label: str, n: int) -> None:
    drawn = receipts.permutation(salt, label, n)
    assert np.array_equal(np.sort(drawn), np.arange(n))
    assert np.array_equal(drawn, receipts.permutation(salt, label, n))


def test_every_label_and_every_salt_has_its_own_lot() -> None:
    drawn = {
        tuple(receipts.permutation(salt, label, 40))
        for salt in (_SALT, bytes(32))
        for label in ("a/rows", "a/pseudonyms", "b/rows")
    }
    assert len(drawn) == 6


def test_places_are_as_likely_as_one_another() -> None:
    """The first place of 5 over 2,000 labels: each 400 times, give or take four standard deviations (72)."""
    first = np.bincount([receipts.permutation(_SALT, str(label), 5)[0] for label in range(2000)], minlength=5)
    assert np.all(np.abs(first - 400) < 72)


def test_a_commitment_holds_its_salt_alone() -> None:
    salt = bytes(range(32))
    assert len(salt) == 32
    published = receipts.commitment(salt)
    assert receipts.matches_commitment(published, salt)
    assert not receipts.matches_commitment(published, salt[:-1] + bytes([salt[-1] ^ 1]))
    assert not receipts.matches_commitment(receipts.commitment(salt[:31]), salt[:31])  # too short to be one of ours
