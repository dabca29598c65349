"""The shelf of the sample shop: item codes, product names, prices and packs.

A catalogue is made of small *families*: one article in several colours (``84029A``, ``84029B`` …) or one pattern on
several articles (neighbouring codes). Families lie side by side and inside their category, so that "another one of the
same family" and "something of the same category" are ranges of one cumulated popularity. A name ends with its head
noun, which tells the category. The vocabularies are our own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from noren.kernels.arrays import Flags, Real, Whole
from noren.tables import table_of

MOST_ITEMS = 90_000
"""Five digits that do not start with zero: no catalogue is larger."""

POSTAGE_FROM = 30
"""Catalogues of at least this many items hold a postage line, as the contest's data do (``POST``)."""


class Category(NamedTuple):
    """A shelf: name, share of the catalogue, price level, head nouns and season (December first)."""

    name: str
    share: float
    price_level: float
    nouns: tuple[str, ...]
    season: tuple[float, ...] = (1.0,) * 12


_WORDS = table_of(__name__)
CATEGORIES: tuple[Category, ...] = tuple(
    Category(**entry | {"nouns": tuple(entry["nouns"])}) for entry in _WORDS["category"]
)
_COLOURS, _STYLES, _SIZES = _WORDS["colours"], _WORDS["styles"], _WORDS["sizes"]
_PRICE_POINTS, _PACKS, _STEM_RANGES = _WORDS["price_points"], _WORDS["packs"], _WORDS["stem_ranges"]


@dataclass(frozen=True)
class Catalogue:
    """The articles of a shop, in the order category, family, member; postage, where there is some, comes last.

    Prices are in pence. ``popularity`` is cumulated and starts with 0: the chance of article ``j`` is its ``j``-th
    difference; postage has none. ``early_price`` holds before ``change_day`` (a day of the sample's year),
    ``bulk_price`` from ``bulk_from`` pieces on, ``counter_price`` is what some pay for one or two pieces.
    """

    codes: list[str]
    names: list[str]
    category: Whole
    category_range: Whole
    family_start: Whole
    family_end: Whole
    popularity: Real
    price: Whole
    early_price: Whole
    change_day: Whole
    bulk_price: Whole
    bulk_from: Whole
    counter_price: Whole
    pack: Whole
    goods: int

    @property
    def has_postage(self) -> bool:
        """Whether the last article is postage."""
        return self.goods < len(self.codes)


def catalogue(items: int, rng: np.random.Generator, top: float, bend: float, floor: float) -> Catalogue:
    """Return a catalogue of exactly ``items`` articles.

    The popularity of the article of rank ``r`` of ``N`` is ``x**-top * exp(-bend * x**2) + floor`` with ``x = r/N``:
    a Zipf head with a tail that falls off, and a floor so that every article sells now and then.
    """
    goods = items - 1 if items >= POSTAGE_FROM else items
    category, family = _families(goods, rng)
    lettered = rng.random(family[-1] + 1) < 0.36
    sizes = np.bincount(family)
    first = np.cumsum(sizes) - sizes
    member = np.arange(goods) - first[family]

    # ranks follow families, so that a liked pattern is liked in most of its colours
    score = rng.random(sizes.size)[family] + 0.9 * rng.random(goods)
    rank = np.empty(goods)
    rank[np.argsort(-score, kind="stable")] = np.arange(1, goods + 1)
    x = rank / goods
    weight = x**-top * np.exp(-bend * x**2) + floor
    weight = np.append(weight, np.zeros(items - goods))

    # the colours of one article cost the same; dearer articles where their category is dear
    like = np.where(lettered[family], first[family], np.arange(goods))
    points = np.array([point for point, _share in _PRICE_POINTS])
    shares = np.cumsum([share for _point, share in _PRICE_POINTS])
    level = np.array([entry.price_level for entry in CATEGORIES])[category]
    place = np.searchsorted(shares, rng.random(goods) ** (1 / level) * shares[-1], side="right")
    pence = points[place.clip(max=points.size - 1)][like]
    # a pack is one of those usual at the price
    band = np.searchsorted([dearest for dearest, _packs in _PACKS], pence)
    counts = np.array([len(packs) for _dearest, packs in _PACKS])[band]
    table = np.array([np.resize(packs, counts.max()) for _dearest, packs in _PACKS])
    pack = table[band, (rng.random(goods) * counts).astype(np.int64)][like]
    # in bulk, the price point nearest below nine tenths of the price: 295 → 255, 1275 → 995, and 16 for the cheapest
    below = np.append(16, points)
    changed, bulk = rng.random(goods) < 0.14, rng.random(goods) < 0.8
    bulk_from = np.where(bulk, pack * rng.choice([2, 4, 4, 8], goods), 10**9)
    arrays = {
        "category": category,
        "price": pence,
        "early_price": np.where(changed, np.maximum(1, (pence * 0.94).astype(np.int64)), pence),
        "change_day": np.where(changed, rng.integers(30, 300, goods), 0),
        "bulk_price": below[np.searchsorted(below, pence * 9 // 10, side="right") - 1],
        "bulk_from": bulk_from,
        "counter_price": (pence * 1.96).astype(np.int64) + 1,
        "pack": pack,
    }
    codes = _codes(sizes, lettered, family, member, rng)
    names = _names(category, family, member, lettered, rng)
    family_start, family_end = first[family], (first + sizes)[family]
    if goods < items:
        postage = {"category": -1, "price": 1800, "early_price": 1500, "change_day": 60, "bulk_price": 1800}
        postage |= {"bulk_from": 10**9, "counter_price": 2800, "pack": 1}
        arrays = {key: np.append(values, postage[key]) for key, values in arrays.items()}
        family_start, family_end = np.append(family_start, goods), np.append(family_end, items)
        names = [*names, "POSTAGE"]
    return Catalogue(
        codes=codes[:items],
        names=names,
        category_range=np.searchsorted(category, np.arange(len(CATEGORIES) + 1)),
        family_start=family_start,
        family_end=family_end,
        popularity=np.concatenate(([0.0], np.cumsum(weight) / weight.sum())),
        goods=goods,
        **arrays,
    )


def _families(goods: int, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Return each article's category and family, both rising: 1 to 8 articles a family, each in one category."""
    sizes = rng.integers(1, 9, goods)
    family = np.repeat(np.arange(goods), sizes)[:goods]
    bounds = np.cumsum([category.share for category in CATEGORIES])
    families = family[-1] + 1
    of_family = np.searchsorted(bounds / bounds[-1], (np.arange(families) + rng.random()) / families)
    return np.minimum(of_family, len(CATEGORIES) - 1)[family].astype(np.int64), family.astype(np.int64)


def _codes(sizes: Whole, lettered: Flags, family: Whole, member: Whole, rng: np.random.Generator) -> list[str]:
    """Number the families in random order; a lettered family has one number and a letter for each member.

    One code more than there are articles comes back; the last one is for postage.
    """
    favourites = np.concatenate([np.arange(low, high) for low, high in _STEM_RANGES])
    stems = np.concatenate([favourites, np.setdiff1d(np.arange(10_000, 100_000), favourites)])
    is_lettered = lettered & (sizes > 1)
    needed = np.append(np.where(is_lettered, 1, sizes), 1)
    order = rng.permutation(needed.size)
    # small gaps between families, as far as the favourite numbers last
    room = max(0, min(favourites.size, stems.size) - int(needed.sum()))
    gaps = rng.integers(0, 1 + min(3, 2 * room // needed.size), needed.size)
    gaps[np.cumsum(gaps) > room] = 0
    ends = np.cumsum(needed[order] + gaps)
    start = np.empty(needed.size, dtype=np.int64)
    start[order] = ends - needed[order]
    with_letter = is_lettered[family]
    number = stems[start[family] + np.where(with_letter, 0, member)]
    letters = np.where(with_letter, np.array(list("ABCDEFGH"))[member], "")
    return [*np.char.add(number.astype(str), letters).tolist(), str(stems[start[-1]])]


def _names(category: Whole, family: Whole, member: Whole, lettered: Flags, rng: np.random.Generator) -> list[str]:
    """Name the articles: colours of one article in a lettered family, articles of one pattern in the others."""
    families = lettered.size
    style = rng.integers(0, len(_STYLES), families)[family]
    colour = rng.integers(0, len(_COLOURS), families)[family]
    noun = rng.integers(0, 1 << 30, families)[family]
    colour = np.where(lettered[family], colour + member, colour) % len(_COLOURS)
    noun = np.where(lettered[family], noun, noun + member)
    nouns = pl.Series([noun for entry in CATEGORIES for noun in entry.nouns])
    counts = np.array([len(entry.nouns) for entry in CATEGORIES])
    chosen = nouns.gather((np.cumsum(counts) - counts)[category] + noun % counts[category])
    plain = pl.Series(_COLOURS).gather(colour) + " " + pl.Series(_STYLES).gather(style) + " " + chosen
    # a name that comes again has a size, or a number when sizes run out
    turn = plain.to_frame("name").select(pl.int_range(pl.len()).over("name")).to_series().to_numpy()
    again = pl.Series(
        [*(f"{size} " if size else "" for size in _SIZES), *(f"NO {j} " for j in range(17, 2 + turn.max()))]
    )
    return (again.gather(turn) + plain).to_list()
