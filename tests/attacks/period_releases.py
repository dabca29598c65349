"""Small shops over a few months, and what attackers are shown of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from noren.api import attack, measure, protect, sample
from noren.data.compatibility import partial
from noren.data.frames import History
from noren.data.reading import read, read_release
from noren.data.release import Release
from noren.data.schema import Schema
from noren.protocols import Guess

SCHEMA = Schema.preset("pwscup2018")
SIMPLE = tuple(f"s{number}" for number in range(1, 9))


def history(*lines: str) -> History:
    """Return a history of lines like ``ann 2010/12/1 tea 1.5 2``."""
    names = ("customer", "date", "item", "price", "quantity")
    cells = [line.split() for line in lines]
    columns: dict[str, list[object]] = {name: [row[at] for row in cells] for at, name in enumerate(names)}
    columns["price"] = [float(row[3]) for row in cells]
    columns["quantity"] = [int(row[4]) for row in cells]
    return History.of(pl.DataFrame(columns, schema=dict(zip(names, TYPES, strict=True))), SCHEMA)


TYPES = (pl.String, pl.String, pl.String, pl.Float64, pl.Int64)


def nothing() -> History:
    """Return a history without a row."""
    return history("ann 2010/12/1 tea 1 1").take(pl.Series([], dtype=pl.UInt32))


@cache
def shop() -> History:
    """Return a generated history of 150 customers over a year."""
    data = sample(customers=150, rows=9000, items=400, seed=3, schema="pwscup2018")
    assert isinstance(data, History)
    return data


@cache
def noisy() -> Release:
    """Return the shop with half of its rows, moved dates, prices and quantities, and monthly pseudonyms."""
    steps = [{"method": "thin", "share": 0.5}, {"method": "perturb", "days": 7, "price": 0.1, "packs": 2}]
    return protect(shop(), [*steps, "monthly-pseudonyms"], seed=1)


@cache
def swapped() -> Release:
    """Return the shop with half of its rows under a similar customer's monthly pseudonym."""
    return protect(shop(), [{"method": "swap", "share": 0.5}, "monthly-pseudonyms"], seed=1)


def score(original: History, release: Release, guess: Guess, name: str = "emm") -> float:
    """Return what the measure says of one guess."""
    return measure(original, release, name, guesses=[guess]).value


def best_simple(original: History, release: Release, known: History | None = None) -> float:
    """Return EMM of the best of S1 to S8."""
    guesses = [attack(original, release, name, known=known) for name in SIMPLE]
    return measure(original, release, "emm", guesses=guesses).value


def right_share(guess: Guess, release: Release) -> float:
    """Return which share of the answers is right."""
    key = ["pseudonym", "customer"]
    truth = release.secret.pseudonyms.select(key).unique().with_columns(right=True)
    both = guess.pairs.join(truth, on=key, how="left", maintain_order="left")
    return float(both["right"].fill_null(value=False).mean())  # type: ignore[arg-type]


def contest(shared: Path, vector: str) -> tuple[History, History, Release]:
    """Return the data of 2017, half of them as attackers knew them, and a published release."""
    data = read(shared / "data" / "pwscup2017_T.csv", "pwscup2017").data
    half = read(shared / "data" / "pwscup2017_T50.csv", "pwscup2017").data
    assert isinstance(data, History)
    assert isinstance(half, History)
    return data, partial(half), read_release(shared / "oracles" / "pwscup2017" / vector / "AT.csv.gz", data)


def regulars(months: int, people: int = 12) -> tuple[History, History]:
    """Return regular customers, each buying three items of their own every month, and the same under other names.

    Customer c is pseudonym ``<month>-<c>``; everybody buys bread, too.
    """
    draw = np.random.Generator(np.random.PCG64(5))
    rows, shown = [], []
    for month in range(1, months + 1):
        for person in range(people):
            for item in ("bread", *(f"i{3 * person + part}" for part in range(3))):
                day, quantity = draw.integers(1, 28), draw.integers(1, 5)
                rows.append(f"c{person:02} 2011/{month}/{day} {item} 1 {quantity}")
                shown.append(f"{month}-{person:02} 2011/{month}/{draw.integers(1, 28)} {item} 1 {quantity}")
    return history(*rows), history(*shown)
