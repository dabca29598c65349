"""The shop of the sample and what its customers buy: the catalogue, when they come, what is on the invoice.

A catalogue is made of small *families*: one article in several colours (``84029A``, ``84029B`` …) or one pattern on
several articles (neighbouring codes). Families lie side by side and inside their category, so that "another one of the
same family" and "something of the same category" are ranges of one cumulated popularity. A name ends with its head
noun, which tells the category. The vocabularies are our own.

One function, :func:`baskets`, draws everything for a run of customers from one random stream. It works on whole arrays:
per customer, per invoice, per line; groups lie end to end and are told apart by where they start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Final, NamedTuple

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


def catalogue(items: int, rng: np.random.Generator, top: float, bend: float, floor: float) -> Catalogue:
    """Return a catalogue of exactly ``items`` articles.

    The popularity of the article of rank ``r`` of ``N`` is ``x**-top * exp(-bend * x**2) + floor`` with ``x = r/N``:
    a Zipf head with a tail that falls off, and a floor so that every article sells now and then.
    """
    goods = items - 1 if items >= POSTAGE_FROM else items
    # categories and families rise: 1 to 8 articles a family, each in one category
    family = np.repeat(np.arange(goods), rng.integers(1, 9, goods))[:goods].astype(np.int64)
    families = family[-1] + 1
    bounds = np.cumsum([category.share for category in CATEGORIES])
    of_family = np.searchsorted(bounds / bounds[-1], (np.arange(families) + rng.random()) / families)
    category = np.minimum(of_family, len(CATEGORIES) - 1)[family].astype(np.int64)
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
    sizes = (f"{size} " if size else "" for size in _SIZES)
    again = pl.Series([*sizes, *(f"NO {j} " for j in range(17, 2 + turn.max()))])
    return (again.gather(turn) + plain).to_list()


# --- what customers buy ----------------------------------------------------------------------------------------------

FIRST_DAY: Final = date(2010, 12, 1)
DAYS: Final = 365
OPENS_AT: Final = 7
MOST_INVOICES: Final = 2_000
"""Per customer and year: there are minutes enough for each to have its own."""

HABITS: Final = _WORDS
"""When people come, how they order and where they live."""
MINUTES: Final = 60 * len(HABITS["hours"])
# Visits stray this many of their own intervals from an even rhythm: up to three visits fall anywhere.
_STRAY: Final = 3.0
# So many invoices are top-ups, so much smaller than the others.
_TOP_UP_SHARE: Final = 0.14
_TOP_UP_SIZE: Final = 0.08

# The chance that a line of the v-th later invoice is bought again is _AGAIN * v / (v + _AGAIN_HALF), times loyalty.
_AGAIN: Final = 0.74
_AGAIN_HALF: Final = 3.0
_AGAIN_MOST: Final = 0.95
# Where an article would come twice on one invoice, so often it does.
_TWICE: Final = 0.5
_POSTAGE_ON_INVOICE: Final = 0.72
# Nobody buys more than this share of the catalogue.
_LARGEST_TASTE: Final = 0.7
_SIBLING: Final = 0.4
_ROUNDS: Final = 12
_COUNTER: Final = 0.06
"""So many lines of one or two pieces are sold at the counter price."""


@dataclass(frozen=True)
class Customers:
    """What is decided for each customer before the first line is drawn; one entry per customer."""

    rows: Whole
    invoices: Whole
    kind: Whole
    pays_postage: Flags
    loyalty: Real
    favourites: Whole
    favourite_chance: Real


@dataclass(frozen=True)
class BasketLines:
    """Invoices (``customer``, ``moment``, ``size``) and their lines, which lie together in the invoices' order.

    A moment counts the minutes the shop has been open since 1 December 2010: open days times :data:`MINUTES`, plus the
    minutes of the day.
    """

    customer: Whole
    moment: Whole
    size: Whole
    item: Whole
    pence: Whole
    quantity: Whole


def baskets(shop: Catalogue, people: Customers, rng: np.random.Generator) -> BasketLines:
    """Draw everything that ``people`` buy in the year; customers are numbered from 0."""
    customer, turn, moment, size = _visits(people, rng)
    postage = np.zeros(size.size, dtype=np.int64)
    if shop.goods < len(shop.codes):  # the last article is postage
        charged = people.pays_postage[customer] & (rng.random(size.size) < _POSTAGE_ON_INVOICE)
        postage = (charged & (size > 1)).astype(np.int64)
    goods = _goods(shop, people, customer, turn, moment, size - postage, rng)
    # postage is the last line of its invoice
    item = np.full(int(size.sum()), shop.goods, dtype=np.int64)
    is_goods = np.ones(item.size, dtype=np.bool_)
    is_goods[(np.cumsum(size) - 1)[postage == 1]] = False
    item[is_goods] = goods
    # pieces: single ones or whole packs, as the kind of customer orders
    orders = [kind["lines"] for kind in HABITS["orders"]]
    ends = np.concatenate([number + _ends(chance for chance, _n in lines) for number, lines in enumerate(orders)])
    pieces = np.array([n for lines in orders for _chance, n in lines])
    kind = np.repeat(people.kind[customer], size)
    choice = pieces[np.searchsorted(ends, kind + rng.random(item.size), side="right").clip(max=pieces.size - 1)]
    quantity = np.where(choice > 0, choice, -choice * shop.pack[item])
    quantity[~is_goods] = 1
    # the unit price: bulk price for many pieces, at times a counter price for few, or the usual one
    day = np.repeat(calendar()[0][moment // MINUTES], size)
    usual = np.where(day < shop.change_day[item], shop.early_price[item], shop.price[item])
    counter = (quantity <= 2) & (rng.random(item.size) < _COUNTER)
    price = np.where(counter, shop.counter_price[item], usual)
    pence = np.where(quantity >= shop.bulk_from[item], shop.bulk_price[item], price)
    return BasketLines(customer, moment, size, item, pence, quantity)


@cache
def calendar() -> tuple[Whole, Real, Whole]:
    """Return the open days (0 is 1 December), the cumulated chance of a visit and each day's month (December is 0)."""
    days = [FIRST_DAY + timedelta(days=day) for day in range(DAYS)]
    month = np.array([day.month % 12 for day in days])
    chance = np.array([0.0 if day in HABITS["closed"] else HABITS["weekdays"][day.weekday()] for day in days])
    chance *= (np.array(HABITS["months"]) / np.bincount(month, chance))[month]
    is_open = np.flatnonzero(chance)
    ends = np.cumsum(chance[is_open])
    return is_open, ends / ends[-1], month


def pick(chances: Iterable[float], u: Real) -> Whole:
    """Return for each ``u`` in [0, 1) the place it falls on when the chances are laid end to end.

    >>> pick([1, 3], np.array([0.2, 0.25, 0.9])).tolist()
    [0, 1, 1]
    """
    ends = _ends(chances)
    return np.searchsorted(ends, u, side="right").clip(max=ends.size - 1)


def _ends(chances: Iterable[float]) -> Real:
    """Return where each of the chances ends when they are laid end to end, from 0 to 1."""
    ends = np.cumsum(np.fromiter(chances, dtype=np.float64))
    result: Real = ends / ends[-1]
    return result


def starts(size: Whole) -> Whole:
    """Return where groups of these sizes start when they lie end to end: [2, 3, 1] → [0, 2, 5]."""
    return np.cumsum(size) - size


def _visits(people: Customers, rng: np.random.Generator) -> tuple[Whole, Whole, Whole, Whole]:
    """Return the invoices in the order of customer and time: customer, turn (0 is the first), moment and lines."""
    counts = people.invoices
    first = starts(counts)
    total = int(counts.sum())
    customer = np.repeat(np.arange(counts.size), counts)
    turn = np.arange(total) - first[customer]

    rhythm = (turn + 0.5 + _STRAY * (rng.random(total) - 0.5)) / counts[customer] % 1.0
    open_days, ends, _month = calendar()
    day = np.searchsorted(ends, rhythm, side="right").clip(max=open_days.size - 1)
    moment = day * MINUTES + 60 * pick(HABITS["hours"], rng.random(total)) + (60 * rng.random(total)).astype(np.int64)
    # Two invoices of a customer in one minute would be one: push the later one on to the next free minute, and back
    # from the end of the year where there is none.
    year = open_days.size * MINUTES
    moment = np.sort(customer * year + moment) - customer * year
    lead = np.maximum.accumulate(moment - turn + customer * 2 * year) - customer * 2 * year
    moment = np.minimum(lead + turn, year - (counts[customer] - turn))

    # lines: one for each invoice, the rest by weights of gamma shape 3 (spread 0.58), top-ups much smaller
    weight = -np.log1p(-rng.random((3, total))).sum(axis=0)
    weight *= np.where(rng.random(total) < _TOP_UP_SHARE, _TOP_UP_SIZE, 1.0)
    through = np.cumsum(weight)
    before = (through - weight)[first][customer]
    whole = np.add.reduceat(weight, first)[customer]
    share = np.minimum((through - before) / whole, 1.0)
    share[first + counts - 1] = 1.0
    last_line = np.rint(share * (people.rows - counts)[customer]).astype(np.int64)
    previous = np.concatenate(([0], last_line[:-1]))
    previous[first] = 0
    return customer, turn, moment, 1 + last_line - previous


def _goods(
    shop: Catalogue,
    people: Customers,
    customer: Whole,
    turn: Whole,
    moment: Whole,
    size: Whole,
    rng: np.random.Generator,
) -> Whole:
    """Return the article of every line but postage; the arrays are those of the invoices, ``size`` without postage."""
    invoice = np.repeat(np.arange(size.size), size)
    of = customer[invoice]
    line = np.arange(invoice.size)
    first_line = starts(np.bincount(of, minlength=people.rows.size))[of]
    invoice_start = starts(size)[invoice]

    later = turn[invoice].astype(np.float64)
    again = rng.random(line.size) < np.minimum(_AGAIN_MOST, people.loyalty[of] * _AGAIN * later / (later + _AGAIN_HALF))
    # Bought before: lines of earlier invoices at even distances, so that an article seldom comes twice on one invoice.
    so_far = np.cumsum(again)
    place = so_far - 1 - (so_far - again)[invoice_start]
    per_invoice = np.maximum(np.bincount(invoice, again, minlength=size.size), 1.0)[invoice]
    u = rng.random(line.size)
    earlier = first_line + ((place + u) / per_invoice * (invoice_start - first_line)).astype(np.int64)
    source = _first_purchase(np.where(again, earlier, line))
    # Of the articles that still come twice on an invoice most give way to something new.
    _keys, first = np.unique(invoice * line.size + source, return_index=True)
    twice = rng.random(line.size) > _TWICE
    twice[first] = False
    source = np.where(twice, line, source)
    # Who has bought most of the catalogue buys anything bought before.
    is_new = source == line
    new_so_far = np.cumsum(is_new)
    too_many = is_new & (new_so_far - (new_so_far - is_new)[first_line] > max(1, int(_LARGEST_TASTE * shop.goods)))
    if too_many.any():
        source = _first_purchase(np.where(too_many, first_line + (u * (line - first_line)).astype(np.int64), source))
    is_new = source == line
    open_days, _ends, month = calendar()
    when = month[open_days[moment // MINUTES]][invoice[is_new]]
    drawn = np.empty(line.size, dtype=np.int64)
    drawn[is_new] = _new_articles(shop, people, of[is_new], when, rng)
    goods: Whole = drawn[source]
    return goods


def _first_purchase(source: Whole) -> Whole:
    """Follow each line to the line it repeats, and on to the first purchase: [0, 0, 1, 3] → [0, 0, 0, 3]."""
    while (source != (further := source[source])).any():
        source = further
    return source


def _new_articles(shop: Catalogue, people: Customers, of: Whole, month: Whole, rng: np.random.Generator) -> Whole:
    """Draw a new article for each slot, never the same one twice for a customer.

    Draw, keep the first of each article, draw again for the others; what a few rounds leave open is filled from what
    the customer does not have yet, by popularity.
    """
    season = np.array([entry.season for entry in CATEGORIES])
    slots = of.size
    article = np.full(slots, -1, dtype=np.int64)
    taken = np.array([np.iinfo(np.int64).max])
    todo = np.arange(slots)
    for turn in range(_ROUNDS):
        who = of[todo]
        u = rng.random(todo.size)
        favourite = people.favourites[who, (rng.random(todo.size) * people.favourites.shape[1]).astype(np.int64)]
        likes = rng.random(todo.size) < people.favourite_chance[who]
        low = np.where(likes, shop.category_range[favourite], 0)
        high = np.where(likes, shop.category_range[favourite + 1], shop.goods)
        articles = _by_popularity(shop, low, high, u)
        if turn == 0:
            # siblings follow the last slot that is not a sibling itself
            sibling = rng.random(slots) < _SIBLING
            sibling[np.flatnonzero(np.diff(of, prepend=-1))] = False
            leader = articles[np.maximum.accumulate(np.where(sibling, 0, np.arange(slots)))]
            alike = _by_popularity(shop, shop.family_start[leader], shop.family_end[leader], u)
            articles = np.where(sibling, alike, articles)
        in_season = rng.random(todo.size) < season[shop.category[articles], month[todo]]
        key = who * shop.goods + articles
        # what is taken is sorted, and ends with a key that nobody has
        fresh = np.flatnonzero(in_season & (taken[np.searchsorted(taken, key)] != key))
        _keys, first = np.unique(key[fresh], return_index=True)
        unique = fresh[first]
        article[todo[unique]] = articles[unique]
        open_still = np.ones(todo.size, dtype=np.bool_)
        open_still[unique] = False
        todo = todo[open_still]
        if not todo.size:
            return article
        taken = np.sort(np.concatenate((taken, key[unique])), kind="stable")
    _fill(shop, article, of, todo, rng)
    return article


def _by_popularity(shop: Catalogue, low: Whole, high: Whole, u: Real) -> Whole:
    """Draw an article between ``low`` and ``high`` (without) by popularity; an empty range draws from all."""
    low, high = np.where(high > low, low, 0), np.where(high > low, high, shop.goods)
    bottom, top = shop.popularity[low], shop.popularity[high]
    return (np.searchsorted(shop.popularity, bottom + u * (top - bottom), side="right") - 1).clip(low, high - 1)


def _fill(shop: Catalogue, article: Whole, of: Whole, todo: Whole, rng: np.random.Generator) -> None:
    """Fill the open slots with articles their customers do not have, in the order of exponential clocks.

    The clock of an article rings after an exponential time whose rate is its popularity; the first k to ring are k
    draws without replacement by popularity.
    """
    chance = np.diff(shop.popularity)[: shop.goods]
    has = article >= 0
    # customers by customers, a few at a time: a clock for each article of the catalogue
    who, open_slots = np.unique(of[todo], return_counts=True)
    batch = max(1, 2_000_000 // shop.goods)
    for low in range(0, who.size, batch):
        some, wanted = who[low : low + batch], open_slots[low : low + batch]
        row = np.full(int(of[-1]) + 1, -1, dtype=np.int64)
        row[some] = np.arange(some.size)
        clocks = -np.log1p(-rng.random((some.size, shop.goods))) / chance
        mine = np.flatnonzero(has & (row[of] >= 0))
        clocks[row[of[mine]], article[mine]] = np.inf
        order = np.argsort(clocks, axis=1, kind="stable")
        slots = todo[row[of[todo]] >= 0]
        turn = np.arange(slots.size) - np.repeat(starts(wanted), wanted)
        article[slots] = order[row[of[slots]], turn]
