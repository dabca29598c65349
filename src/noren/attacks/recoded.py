"""Recognise customers by what they bought although items were renamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field
from scipy.sparse import coo_array, csr_array
from scipy.spatial import KDTree
from scipy.special import ndtri

from noren.attacks.assignment import MOST_PAIRS, assigned, counted, guess_of, middles, product, uniform
from noren.data.arrays import require_exact
from noren.data.cells import is_set
from noren.data.frames import History
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.items.packed_sets import CERTAIN, item_sets
from noren.kernels.linkage.jaccard import index_of, most_similar
from noren.progress import Progress, silent
from noren.protocols import NOISE, OTHER_ROWS, Attack, Guess, Recoding

_MOST_ITEMS = 4096
_WAVES = 512
_AXES, _LISTED = 8, 32
_SOLD, _FINE = 0.7, {Role.PRICE: 2.0, Role.QUANTITY: 0.7}
"""How fine a difference counts between two items, in standard deviations: in how they sell, in what they cost."""
_FEW = 0.3
"""Added to the length of an item's list of buyers, for a few buyers agree by chance."""
_BY_SALE = 0.3
"""What likeness in how items sell counts beside having the same buyers."""


class Recoded(Attack):
    """Recognise customers by the items they bought, though all items were renamed by a secret code.

    A name tells nothing, but how an item sells does: how often, to how many, at what price, in which quantities, and
    how much else its buyers buy. In the first round a customer is the mix of these features over the items bought (a
    kernel mean embedding), which needs no names, and all pseudonyms are assigned at once. Anyone who is assigned most
    clearly then translates the items: an item and a code with the same buyers are the same. By that translation sets
    of items are compared, rare items counting most; and so on, round by round.

    Dates are not looked at, and names of items are not used even where they were kept. In a public cell of s items each
    counts 1/s. Of more than 4,096 items those with most buyers count. Of more than a billion pairs those are compared
    whose mixes are nearest along the main axes, and later those with the most similar sets of items (the index of
    :class:`~noren.attacks.jaccard.Jaccard`). The score is the margin of the cosine by which the named customer beats
    the next.

    References
    ----------
    Narayanan and Shmatikov 2009 (propagation between graphs without common names); Smola, Gretton, Song and Schölkopf
    2007 (mean embeddings); Rahimi and Recht 2007 (random waves).

    Examples
    --------
    Everybody bought tea, which is now x. Ann also bought jam, which is cheap, and Bob wine, which is expensive.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items, prices):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": items, "price": prices, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob", "bob"], ["tea", "jam", "tea", "wine"], [3.0, 1.0, 3.0, 9.0])
    >>> shown = history(["7", "7", "8", "8"], ["x", "z", "x", "y"], [3.1, 9.2, 2.9, 1.1])
    >>> sorted(Recoded().attack(known, shown, seed=1).pairs.select("pseudonym", "customer").rows())
    [('7', 'bob'), ('8', 'ann')]
    """

    name = "recoded"
    summary = N_("Translates renamed items by how they sell, and compares what was bought.")
    source = "Narayanan and Shmatikov 2009"
    roles = (Role.ITEM,)
    cost = 100.0
    sees_through = OTHER_ROWS | NOISE | {Recoding.SHIFTED_DATES, Recoding.RENAMED_ITEMS}

    rounds: int = Field(default=3, ge=0, le=20, description=N_("rounds in which items and customers are matched again"))

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name one customer for each pseudonym that shows an item; the seed decides between equals."""
        progress(0.0, _("preparing rows"))
        require_exact(original, original.measured())
        roles = [role for role in _FINE if original.schema.with_role(role) and public.schema.with_role(role)]
        known, released = _baskets(original, roles), _baskets(public, roles)
        shape = len(released.people), len(known.people)
        mixes = (_unit(side.rare @ side.waves) for side in (released, known))
        mine, theirs = (_unit(mix - mix.sum(axis=0) / max(len(mix), 1)) for mix in mixes)
        near = _nearest(mine, theirs) if shape[0] * shape[1] > MOST_PAIRS else None
        pairs = assigned(self.name, shape, _of_rows(mine, theirs, near), seed, listed=near)
        sold = _BY_SALE * (released.waves @ known.waves.T)
        theirs = _unit(known.rare).tocsr()
        for at in range(self.rounds if min(shape) else 0):
            progress((at + 0.5) / (self.rounds + 0.5), _("comparing rows"))
            row, column, margin = pairs
            sure = margin >= np.quantile(margin, 0.25 if at else 0.5)
            # how far each code and each item have the same buyers, by the items of people who stand for each other
            lists = released.has[row[sure]], known.has[column[sure]]
            codes, items = ((table / np.sqrt(np.maximum(table.sum(axis=1), 1.0))[:, None]).T.tocsr() for table in lists)
            alike = product(codes, items) / ((_lengths(codes)[:, None] + _FEW) * (_lengths(items) + _FEW)) + sold
            code, item, _margin = assigned(self.name, alike.shape, alike.__getitem__, seed, most=0)
            words = csr_array((known.rarity[item], (code, item)), shape=alike.shape)
            mine = ((released.has @ words) / _lengths(released.rare)[:, None]).tocsr()
            near = None if near is None else _most_similar((released.has @ (words != 0)).tocoo(), known.has.tocoo())
            pairs = assigned(self.name, shape, _of_rows(mine, theirs, near), seed, listed=near)
            if np.array_equal(column, pairs[1]) and np.array_equal(row, pairs[0]):
                break
        return guess_of(self.name, pairs, released.people, known.people)


class _Baskets(NamedTuple):
    """Which items people have (at most 1 each), how rare each is, and how it sells, as ``waves``."""

    people: pl.Series
    has: csr_array
    rare: csr_array
    rarity: Real
    waves: Real


def _baskets(history: History, roles: Sequence[Role]) -> _Baskets:
    """List the items of each person, and place each item by its rows, its buyers and the means of ``roles``."""
    levels = {str(role): np.log1p(np.abs(middles(history[role]))) for role in roles}
    rows = pl.DataFrame({"who": history[Role.CUSTOMER].cast(pl.String), "what": history[Role.ITEM], **levels})
    means = pl.col(list(levels))
    rows = rows.with_columns(means.fill_nan(None), share=pl.lit(1.0))
    if is_set(rows["what"].dtype):
        rows = rows.with_columns(share=1 / pl.col("what").list.len()).explode("what")
    rows = rows.with_columns(pl.col("what").cast(pl.String)).drop_nulls(["who", "what"])
    items = rows.group_by("what").agg(pl.col("share").sum(), pl.col("who").n_unique().alias("buyers"), means.mean())
    items = items.sort("buyers", "share", "what", descending=[True, True, False]).head(_MOST_ITEMS)
    people, rows = rows["who"].unique().sort(), rows.join(items, on="what", how="semi", maintain_order="left")
    has = counted(rows["who"], rows["what"], people, items["what"], rows["share"].to_numpy())
    has.data = np.minimum(has.data, 1.0)
    buyers, sold = np.maximum(has.sum(axis=0), 1e-9), items["share"].to_numpy()
    beside = has.T @ np.log1p(has.sum(axis=1)) / buyers
    paid = [items[name].fill_null(strategy="mean").fill_null(0.0).to_numpy() for name in levels]
    rarity = np.log((1 + len(people)) / buyers)
    # waves whose products are near 1 for items that sell alike and near 0 for others
    features = np.column_stack([np.log(sold), np.log(buyers), beside, *paid])
    fine = np.array([_SOLD] * 3 + [_FINE[role] for role in roles])
    mean = sold @ features / max(sold.sum(), 1.0)
    spread = np.sqrt(sold @ (features - mean) ** 2 / max(sold.sum(), 1.0))
    drawn = uniform(_WAVES * (1 + len(fine)), seed=0).reshape(1 + len(fine), _WAVES)
    turns = ndtri(np.maximum(drawn[1:], 1e-9)) * (fine / np.where(spread > 1e-9, spread, np.inf))[:, None]
    waves = np.asarray(np.cos((features - mean) @ turns + 2 * np.pi * drawn[0]) * np.sqrt(2 / _WAVES))
    return _Baskets(people, has, (has * rarity).tocsr(), rarity, waves)


def _of_rows(left: Any, right: Any, near: Whole | None) -> Callable[[slice], Real]:
    """Return what gives the products of some rows of one with all rows of another, or with those near to each."""
    if near is None:
        return lambda rows: product(left[rows], right)
    who = np.arange(len(near))
    return lambda rows: np.reshape(
        (left[np.repeat(who[rows], near.shape[1])] * right[near[rows].ravel()]).sum(axis=1), near[rows].shape
    )


def _nearest(mine: Real, theirs: Real) -> Whole:
    """Return for each row of one the nearest rows of another along the axes on which rows differ most."""
    axes = np.linalg.eigh(mine.T @ mine + theirs.T @ theirs)[1][:, -_AXES:]
    return np.asarray(KDTree(theirs @ axes).query(mine @ axes, range(1, min(_LISTED, len(theirs)) + 1))[1], np.int64)


def _most_similar(released: coo_array, known: coo_array) -> Whole:
    """Return for each row of one the rows of another with the most similar sets of items; of few the first fill up."""
    weight = np.maximum(np.rint(CERTAIN * released.data), 1).astype(np.int64)
    people, items = known.shape
    sets = item_sets(released.coords[0], released.coords[1], released.shape[0], items, weight)
    index = index_of(item_sets(known.coords[0], known.coords[1], people, items), items)
    customer = most_similar(index, sets, np.arange(released.shape[0]), min(_LISTED, people))[0]
    return np.maximum(customer, 0)


def _lengths(rows: Any) -> Real:
    return np.asarray(np.sqrt(np.maximum((rows * rows).sum(axis=1), 1e-18)))


def _unit(rows: Any) -> Any:
    return rows / _lengths(rows)[:, None]
