"""Names that are written alike, joined to the commonest of them; the same names give the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.i18n import _
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["MOST_NAMES", "alike", "written_plainly"]

Whole = NDArray[np.int64]
MOST_NAMES: Final = 20_000
_BLOCK: Final = 500


def written_plainly(names: pl.Series) -> pl.Series:
    """Return names without case, width and punctuation; those that are nothing else stay as they are.

    >>> written_plainly(pl.Series(["UHT-Milk", "Ｕｈｔ　milk"])).to_list()
    ['uht milk', 'uht milk']
    """
    plain = names.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    return pl.select(pl.when(plain == "").then(names).otherwise(plain)).to_series()


def alike(
    names: pl.Series, thresholds: Sequence[float], column: str = "", *, progress: Progress = silent
) -> list[Whole]:
    """Return for each threshold the place of each name's leader; names come in the order in which they may lead.

    >>> [leader.tolist() for leader in alike(pl.Series(["whole milk", "uht milk", "butter", "Butter!"]), [0.9, 0.5])]
    [[0, 1, 2, 2], [0, 0, 2, 2]]
    """
    if len(names) > MOST_NAMES:
        raise ParameterError(
            _("{count:,} names are too many to compare with each other; the most is {most:,}").format(
                count=len(names), most=MOST_NAMES
            ),
            _("group them by frequency or prefix instead"),
            column=column or None,
        )
    if not len(names):
        return [np.zeros(0, dtype=np.int64) for _threshold in thresholds]
    likeness = _likeness(written_plainly(names), min(thresholds), progress)
    whose = np.arange(len(names))
    levels = []
    for threshold in thresholds:
        leads = np.unique(whose)
        joined = leads[_joined(likeness[leads][:, leads], threshold)]
        to = np.arange(len(names))
        to[leads] = joined
        whose = to[whose]
        levels.append(whose)
    return levels


def _likeness(plain: pl.Series, least: float, progress: Progress) -> csr_matrix:
    """Return Dice's coefficient of the pairs of characters of every two names that are alike enough."""
    from scipy.sparse import csr_matrix, vstack
    from sklearn.feature_extraction.text import CountVectorizer

    pairs: Any = CountVectorizer(analyzer="char_wb", ngram_range=(2, 2), binary=True, lowercase=False, dtype=np.int32)
    has = pairs.fit_transform(plain.to_list())
    sizes = np.asarray(has.sum(axis=1)).ravel().astype(np.float64)
    turned = has.T.tocsr()
    blocks = []
    for start in range(0, has.shape[0], _BLOCK):
        progress(start / has.shape[0], _("comparing names"))
        common = (has[start : start + _BLOCK] @ turned).tocoo()
        dice = 2 * common.data / (sizes[start + common.row] + sizes[common.col])
        near = dice >= least - 1e-12
        shape = (min(_BLOCK, has.shape[0] - start), has.shape[0])
        blocks.append(csr_matrix((dice[near], (common.row[near], common.col[near])), shape=shape))
    return vstack(blocks).tocsr()


def _joined(likeness: csr_matrix, threshold: float) -> Whole:
    """Return each name's leader: in rounds, a name leads if none before it that is like it is still free."""
    edges = likeness.tocoo()
    keep = edges.data >= threshold - 1e-12
    one, other, dice = edges.row[keep].astype(np.int64), edges.col[keep].astype(np.int64), edges.data[keep]
    count = likeness.shape[0]
    free, leads = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    while free.any():
        alive = free[one] & free[other]
        first = np.full(count, count, dtype=np.int64)
        np.minimum.at(first, one[alive], other[alive])
        new = free & (first >= np.arange(count))  # a name is like itself, so that the first like it may be itself
        leads |= new
        free[new] = False
        free[other[new[one]]] = False
    led = leads[other] & ~leads[one]
    order = np.lexsort((other[led], -dice[led], one[led]))
    followers, whom = one[led][order], other[led][order]
    own, at = np.unique(followers, return_index=True)
    leader = np.arange(count)
    leader[own] = whom[at]
    return leader
