"""What the customers of a sample buy: when they come, what is on the invoice, how many and for how much.

One function, :func:`baskets`, draws everything for a run of customers from one random stream. It works on whole arrays:
per customer, per invoice, per line; groups lie end to end and are told apart by where they start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Final

import numpy as np

from noren.data.samples.product_names import CATEGORIES, Catalogue
from noren.kernels.arrays import Flags, Real, Whole
from noren.tables import table_of

FIRST_DAY: Final = date(2010, 12, 1)
DAYS: Final = 365
OPENS_AT: Final = 7
MOST_INVOICES: Final = 2_000
"""Per customer and year: there are minutes enough for each to have its own."""

HABITS: Final = table_of(__name__)
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

    def part(self, low: int, high: int) -> "Customers":
        """Return the customers from ``low`` up to ``high``."""
        return Customers(**{name: values[low:high] for name, values in vars(self).items()})


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
    if shop.has_postage:
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
    source = np.where(
        again, first_line + ((place + u) / per_invoice * (invoice_start - first_line)).astype(np.int64), line
    )
    source = _first_purchase(source)
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
        found = _by_popularity(shop, low, high, u)
        if turn == 0:
            # siblings follow the last slot that is not a sibling itself
            sibling = rng.random(slots) < _SIBLING
            sibling[np.flatnonzero(np.diff(of, prepend=-1))] = False
            leader = found[np.maximum.accumulate(np.where(sibling, 0, np.arange(slots)))]
            alike = _by_popularity(shop, shop.family_start[leader], shop.family_end[leader], u)
            found = np.where(sibling, alike, found)
        in_season = rng.random(todo.size) < season[shop.category[found], month[todo]]
        key = who * shop.goods + found
        # what is taken is sorted, and ends with a key that nobody has
        fresh = np.flatnonzero(in_season & (taken[np.searchsorted(taken, key)] != key))
        _keys, first = np.unique(key[fresh], return_index=True)
        kept = fresh[first]
        article[todo[kept]] = found[kept]
        open_still = np.ones(todo.size, dtype=np.bool_)
        open_still[kept] = False
        todo = todo[open_still]
        if not todo.size:
            return article
        taken = np.sort(np.concatenate((taken, key[kept])), kind="stable")
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
