"""Names that say nothing: distinct whole numbers in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["MOST_PSEUDONYMS", "first_pseudonym", "pseudonyms"]

MOST_PSEUDONYMS = 10**8
"""How many pseudonyms there are of at most nine digits, all equally long."""


def pseudonyms(count: int, seed: int) -> NDArray[np.int64]:
    """Return ``count`` distinct positive whole numbers of equal length, in an order that the seed alone decides.

    They are the ``count`` numbers from ``10^d`` on, with ``10^d`` the first power of ten that is at least ``count``
    (and ten), so none has a leading zero, none has more than nine digits (the PWS Cup 2018 format), and sorting them as
    text or as numbers is the same. The order is that of ``count`` raw 64-bit draws of a Philox generator whose key is
    the seed: numpy promises that stream for ever, while ``Generator.permutation`` may change between versions.

    >>> sorted(pseudonyms(4, seed=1).tolist())
    [10, 11, 12, 13]
    """
    first = first_pseudonym(count, seed)
    order: NDArray[np.int64] = np.argsort(np.random.Philox(key=seed).random_raw(count), kind="stable")
    return first + order.astype(np.int64)


def first_pseudonym(count: int, seed: int) -> int:
    """Return the smallest of ``count`` pseudonyms; stop where there are not so many, or the seed is none.

    >>> first_pseudonym(10, 1), first_pseudonym(11, 1)
    (10, 100)
    """
    if count > MOST_PSEUDONYMS:
        raise ParameterError(
            _("{count:,} customers are more than there are pseudonyms of nine digits").format(count=count),
            _("protect at most {most:,} customers at a time").format(most=MOST_PSEUDONYMS),
        )
    if not 0 <= seed < 1 << 128:
        raise ParameterError(
            _("seed = {seed} is not a whole number from 0 to 2^128 - 1").format(seed=seed), _("choose another seed")
        )
    return int(10 ** max(1, len(str(max(count - 1, 0)))))
