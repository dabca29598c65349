"""Synthetic purchase histories from a seed, shaped like those of the contests.

Everything in Noren runs on a bare machine because of these: no download, no permission, any size. The shape is
calibrated to the published figures of PWS Cup 2016 (n = 400 customers, m ≈ 38,000 rows, b ≈ 65 distinct items per
customer, mean Jaccard µ ≈ 0.03, mean overlap h ≈ 4.4) and the habits to UCI *Online Retail*;
``benchmarks/sample_calibration.py`` prints both side by side and ``docs/data/sample.md`` tells the model.

How a row comes about: customers share out the rows by a heavy-tailed law; a customer's rows fall into invoices, the
invoices on open days of the season; a line is either something the customer bought before or something new, and
something new is a sibling of the article before it, something of a favourite category, or anything by popularity.

Customers are drawn in chunks of a fixed number of rows, each chunk from its own stream of the seed. So memory does
not grow with the rows, and the rows do not depend on the block size a caller asks for.

:func:`sample_history` puts them into the columns of any history schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from noren.data.contest_files import write_lines
from noren.data.frames import History
from noren.data.reading import write_blocks
from noren.data.samples.baskets import (
    CATEGORIES,
    FIRST_DAY,
    HABITS,
    MINUTES,
    MOST_INVOICES,
    MOST_ITEMS,
    OPENS_AT,
    BasketLines,
    Catalogue,
    Customers,
    baskets,
    calendar,
    catalogue,
    pick,
    starts,
)
from noren.data.samples.shape import HistoryShape, ShapeCounter, shape
from noren.data.schema import Kind, Role, Schema, ValueType
from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole
from noren.progress import Progress, silent
from noren.tables import Texts

__all__ = ["generate", "master", "sample_history", "shape", "write_sample"]

say = Texts(__name__)

SORTED_ROWS: Final = 2_000_000
"""Up to this many rows the whole sample is in the order of time; above, each chunk of about 260,000 rows is."""

MOST_ROWS_PER_CUSTOMER: Final = 20_000
"""On average; nobody's history of a year is longer."""

_CHUNK_ROWS: Final = 1 << 18

# Rows per customer: log-normal with this spread (Gini 0.6); the largest 0.25 % are trade accounts, larger still.
_ROWS_SPREAD: Final = 1.18
_TRADE_SHARE: Final = 0.0025
_TRADE_TIMES: Final = (1.5, 2.5)
# BasketLines per invoice of a customer: log-normal around 21, a little larger for larger customers.
_BASKET: Final = (3.17, 0.16, 0.72)
_PAYS_POSTAGE: Final = 0.82
# Customers have so many favourite categories; the chance that something new is of one differs between these two.
_FAVOURITES: Final = 2
_FAVOURITE_CHANCE: Final = (0.2, 1.0)
_LOYALTY: Final = (0.5, 1.5)
_POPULARITY: Final = {"top": 0.6, "bend": 4.0, "floor": 0.2}
_COUNTRIES: Final = pl.Series(list(HABITS["countries"]))


def generate(
    customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0, block_rows: int = 250_000
) -> Iterator[pl.DataFrame]:
    """Yield a made-up purchase history in blocks: the same bytes for the same seed, whatever the block size.

    There are exactly so many customers, each with a row at least, and rows; ``items`` is the size of the catalogue, of
    which at the defaults nearly every article is sold. Frames have the columns customer, invoice, date, time, item,
    description, price, quantity and country. Up to :data:`SORTED_ROWS` rows they are in the order of time, with invoice
    numbers that rise; above, within chunks of customers. A request that no history can fulfil is a ``ParameterError``
    at the call, not at the first block.

    >>> sample = pl.concat(generate(customers=20, rows=200, items=50, seed=1))
    >>> sample.height, sample["customer"].n_unique(), sample["item"].n_unique() <= 50
    (200, 20, True)
    """
    _check(customers, rows, items, seed, block_rows)
    return _blocks(customers, rows, items, seed, block_rows)


def master(customers: int = 400, seed: int = 0) -> pl.DataFrame:
    """Return the master table of the customers that :func:`generate` makes of the same number and seed.

    Columns: customer, sex (``f`` or ``m``), birthday and country, one row per customer in the order of the labels.
    Sex and birthday are chance alone, as in the contests.

    >>> master(3, seed=1).columns
    ['customer', 'sex', 'birthday', 'country']
    """
    _check(customers, customers, 1, seed, 1)
    labels, country = _identities(customers, seed)
    rng = _stream(seed, 4)
    born = np.datetime64("1940-01-01") + rng.integers(0, 365 * 54, customers)
    columns = {
        "customer": labels,
        "sex": pl.Series(["f", "m"]).gather((rng.random(customers) < 0.5).astype(np.int64)),
        "birthday": pl.Series(born.astype("datetime64[D]")).cast(pl.Date),
        "country": _COUNTRIES.gather(country),
    }
    return pl.DataFrame(columns)


def _check(customers: int, rows: int, items: int, seed: int, block_rows: int) -> None:
    for name, value in {"customers": customers, "items": items, "seed": seed, "block_rows": block_rows}.items():
        least = 0 if name == "seed" else 1
        if value < least:
            raise ParameterError.out_of_range(name, value, f"{name} >= {least}")
    if not customers <= rows <= customers * MOST_ROWS_PER_CUSTOMER:
        allowed = f"{customers} <= rows <= {customers * MOST_ROWS_PER_CUSTOMER} (customers = {customers})"
        raise ParameterError.out_of_range("rows", rows, allowed)
    if items > MOST_ITEMS:
        raise ParameterError.out_of_range("items", items, f"items <= {MOST_ITEMS}")


def _stream(seed: int, *place: int) -> np.random.Generator:
    """Return the random stream of one place in the sample: no draw elsewhere moves it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place)))


def _bell(u: Real) -> Real:
    """Return the normal quantile of ``u``, by Tukey's lambda: within 0.03 of it between the 0.1 % and the 99.9 %."""
    result: Real = (u**0.1349 - (1 - u) ** 0.1349) / 0.1975
    return result


def _between(ends: tuple[float, float], u: Real) -> Real:
    return ends[0] + (ends[1] - ends[0]) * u


def _shared_out(total: int, weight: Real) -> Whole:
    """Share ``total`` out in whole numbers by weight, exactly: rounded cumulated shares, then their differences."""
    shares = np.rint(total * (np.cumsum(weight) / weight.sum()))
    shares[-1] = total
    parts: Whole = np.diff(shares.astype(np.int64), prepend=0)
    return parts


def _identities(customers: int, seed: int) -> tuple[pl.Series, Whole]:
    """Return labels, rising and all of one width (five digits as long as they last), and countries."""
    rng = _stream(seed, 0)
    first, width = 12_346, 5
    while first + customers > 10**width:
        first, width = first * 10, width + 1
    # real numbers leave gaps: a range like the contest's, larger where there are more customers
    span = min(max(5_942, 2 * customers), 10**width - first)
    gap = span / customers
    label = first + np.floor(gap * np.arange(customers)).astype(np.int64)
    label += np.floor(rng.random(customers) * int(gap)).astype(np.int64)
    country = pick(HABITS["countries"].values(), rng.random(customers))
    return pl.Series("customer", label).cast(pl.String), country


def _customers(customers: int, rows: int, seed: int) -> Customers:
    rng = _stream(seed, 1)
    # One customer in the middle of each n-th of the law instead of n free draws: the largest customer weighs so much
    # that free draws would move b and µ by a fifth from seed to seed.
    u = (rng.permutation(customers) + _between((0.25, 0.75), rng.random(customers))) / customers
    times = _between(_TRADE_TIMES, rng.random(customers))
    weight = np.exp(_ROWS_SPREAD * _bell(u)) * np.where(u > 1 - _TRADE_SHARE, times, 1.0)
    counts = 1 + _shared_out(rows - customers, weight)
    mean, slope, spread = _BASKET
    basket = np.exp(mean + slope * (np.log(counts) - 3.8) + spread * _bell(rng.random(customers)))
    favourites = pick((entry.share for entry in CATEGORIES), rng.random(customers * _FAVOURITES))
    return Customers(
        rows=counts,
        invoices=np.rint(counts / basket).astype(np.int64).clip(1, np.minimum(counts, MOST_INVOICES)),
        kind=pick((kind["share"] for kind in HABITS["orders"]), rng.random(customers)),
        pays_postage=rng.random(customers) < _PAYS_POSTAGE,
        loyalty=_between(_LOYALTY, rng.random(customers)),
        favourites=favourites.reshape(customers, _FAVOURITES),
        favourite_chance=_between(_FAVOURITE_CHANCE, rng.random(customers)),
    )


def _numbers(shop: Catalogue, people: Customers, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the rows as numbers, in order: the whole sample, or chunk by chunk where it is large."""
    # runs of customers with about _CHUNK_ROWS rows each, and where each begins
    chunk = starts(people.rows) // _CHUNK_ROWS
    bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), people.rows.size]
    own = (Customers(**{name: values[a:b] for name, values in vars(people).items()}) for a, b in pairwise(bounds))
    drawn: Iterator[tuple[int, BasketLines]]
    drawn = ((bounds[n], baskets(shop, part, _stream(seed, 3, n))) for n, part in enumerate(own))
    if people.rows.sum() <= SORTED_ROWS:
        parts = [vars(lines) | {"customer": lines.customer + low} for low, lines in drawn]
        whole = BasketLines(**{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        drawn = iter([(0, whole)])
    invoices = 0
    for low, lines in drawn:  # invoices are numbered in the order of time, and rows put into that order
        order = np.lexsort((lines.customer, lines.moment))
        size = lines.size[order]
        row = np.arange(lines.item.size) + np.repeat(starts(lines.size)[order] - starts(size), size)
        of_invoices = {
            "customer": lines.customer[order] + low,
            "invoice": np.arange(size.size) + invoices,
            "moment": lines.moment[order],
        }
        columns = {name: np.repeat(values, size) for name, values in of_invoices.items()}
        columns |= {name: getattr(lines, name)[row] for name in ("item", "pence", "quantity")}
        yield pl.DataFrame(columns).cast(pl.Int32)
        invoices += size.size


def _of_size(frames: Iterator[pl.DataFrame], height: int) -> Iterator[pl.DataFrame]:
    """Cut a run of frames into frames of ``height`` rows; the last one holds the rest."""
    rest: list[pl.DataFrame] = []
    waiting = 0
    for frame in frames:
        start = 0
        while frame.height - start >= height - waiting:
            stop = start + height - waiting
            yield pl.concat([*rest, frame[start:stop]])
            rest, waiting, start = [], 0, stop
        if start < frame.height:
            rest.append(frame[start:])
            waiting += frame.height - start
    if rest:
        yield pl.concat(rest)


def _blocks(customers: int, rows: int, items: int, seed: int, block_rows: int) -> Iterator[pl.DataFrame]:
    """Yield the sample with the words put in; only one block at a time has words."""
    labels, country = _identities(customers, seed)
    shop = catalogue(items, _stream(seed, 2), **_POPULARITY)
    people = _customers(customers, rows, seed)
    codes, names = pl.Series(shop.codes), pl.Series(shop.names)
    countries = _COUNTRIES.gather(country)
    open_days, _ends, _month = calendar()
    dates = pl.Series(np.datetime64(FIRST_DAY) + open_days).cast(pl.Date)
    first_invoice = 536_365
    while len(str(first_invoice)) < len(str(first_invoice + int(people.invoices.sum()))):
        first_invoice *= 10  # so that all numbers have one width
    for numbers in _of_size(_numbers(shop, people, seed), block_rows):
        customer, item, moment = numbers["customer"], numbers["item"], numbers["moment"]
        minute = (moment % MINUTES + 60 * OPENS_AT).cast(pl.Int64)
        yield pl.DataFrame(
            {
                "customer": labels.gather(customer),
                "invoice": (numbers["invoice"].cast(pl.Int64) + first_invoice).cast(pl.String),
                "date": dates.gather(moment // MINUTES),
                "time": (minute * 60_000_000_000).cast(pl.Time),
                "item": codes.gather(item),
                "description": names.gather(item),
                # NumPy divides; Polars multiplies by 0.01, and 255 pence would become 2.5500000000000003
                "price": numbers["pence"].to_numpy() / 100,
                "quantity": numbers["quantity"].cast(pl.Int64),
                "country": countries.gather(customer),
            }
        )


def sample_blocks(schema: Schema, **size: int) -> Iterator[pl.DataFrame]:
    """Return blocks of generated purchases in the columns of ``schema``; of which ``size``, :func:`generate` says."""
    if schema.kind != Kind.HISTORY:
        raise ParameterError(say("other_kind", schema=schema.name, kind=schema.kind, other=Kind.HISTORY))
    columns = []
    for column in schema.columns:
        if column.role == Role.DATE and column.type == ValueType.DATETIME:
            made_of = pl.col("date").dt.combine(pl.col("time"))
        elif column.role != Role.OTHER:
            made_of = pl.col(str(column.role)).cast(column.dtype)
        elif column.name.lower() == "country":
            made_of = pl.col("country")
        else:
            raise ParameterError(say("unknown_column", name=column.name))
        columns.append(made_of.alias(column.name))
    return (block.select(columns) for block in generate(**size))


def sample_history(
    schema: Schema | str = "sample", *, customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0
) -> History:
    """Return generated purchases as a history, with the customers' master table."""
    schema = Schema.load(schema)
    frame = pl.concat(sample_blocks(schema, customers=customers, rows=rows, items=items, seed=seed))
    return History(frame, schema, master=master(customers, seed))


def write_sample(
    path: Path,
    schema: Schema,
    *,
    customers: int = 400,
    rows: int = 38_000,
    items: int = 2_800,
    seed: int = 0,
    master_path: Path | None = None,
    progress: Progress = silent,
) -> HistoryShape:
    """Write generated purchases to a file, block by block, and return their shape."""
    blocks = sample_blocks(schema, customers=customers, rows=rows, items=items, seed=seed)
    counter = ShapeCounter(schema.role(Role.CUSTOMER).name, schema.role(Role.ITEM).name)

    def counted() -> Iterator[pl.DataFrame]:
        for block in blocks:
            counter.add(block)
            progress(counter.rows / rows)
            yield block

    write_blocks(counted(), schema, path)
    if master_path is not None:
        birthday = pl.col("birthday").dt.to_string("%Y/%-m/%-d")
        write_lines(master(customers, seed).select("customer", "sex", birthday, "country"), master_path)
    return counter.shape()
