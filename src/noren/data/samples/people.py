"""A synthetic table of people from a seed, whose columns depend on one another as in a census.

Columns that had nothing to do with each other would flatter every method: nobody is rare, and there is nothing to
reconstruct. So each column is drawn given those before it::

    region, sex ─────────────┐
    age ──┬── education ──┬──┴── occupation ── weekly-hours ──┬── income
          ├── marital-status                                  │
          └── illness ────────────────────────────────────────┘ (age, sex, hours)

- *region*: two digits, part of the country and district; the first district of a part (its city, ``?1``) has half of
  the people, more of them with a degree.
- *age*: 17 to 90, fewer after 60; *sex*: both alike.
- *education*: the older, the less; *marital-status*: single when young, widowed when old, women more often.
- *occupation*: by education and sex; the young and those over 65 are more often *Not working*.
- *weekly-hours*: 40 for most, fewer for women in care and service, 0 for whoever does not work.
- *income*: grows with education, occupation, hours and age up to 50; men earn more, as they do in the real census.
- *illness*: rare when young; heart disease and diabetes come with age, back pain with work by hand, depression with the
  young and the single.

The figures are invented; they were chosen by the look of UCI *Adult*, not fitted to it, and describe nobody.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from noren.data.frames import Table
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole
from noren.tables import table_of

MOST_PEOPLE: Final = 10_000_000

_YOUNGEST, _OLDEST = 17, 90
_PARTS: Final = (0.40, 0.27, 0.21, 0.12)
_DISTRICTS: Final = (0.50, 0.32, 0.18)
_EDUCATION, _OCCUPATION = (np.array(list(table_of(__name__)[name].values())) for name in ("education", "occupation"))
_INCOME_CUTS: Final = np.array([-1.0, 0.6, 2.0])
_NEVER: Final = -30.0
"""The logarithm of a weight that is never drawn."""


def sample_people(rows: int = 4_000, seed: int = 0) -> Table:
    """Return a table of made-up people; the same seed gives the same rows.

    >>> people = sample_people(rows=3, seed=1)
    >>> people.frame.columns[:4], people.frame["person"].to_list()
    (['person', 'age', 'sex', 'region'], ['P0001', 'P0002', 'P0003'])
    """
    if not 1 <= rows <= MOST_PEOPLE:
        raise ParameterError.out_of_range("rows", rows, f"1 <= rows <= {MOST_PEOPLE:,}")
    schema = Schema.preset("people")
    drawn = {name: pl.Series(v) for name, v in _columns(rows, np.random.Generator(np.random.Philox(seed))).items()}
    for name, values in drawn.items():
        if (domain := schema[name].domain) is not None:
            drawn[name] = pl.Series(domain, dtype=pl.String).gather(values)
    number = pl.int_range(1, rows + 1, eager=True).cast(pl.String).str.zfill(max(4, len(str(rows))))
    return Table.of(pl.DataFrame({"person": "P" + number} | drawn), schema)


def _columns(rows: int, rng: np.random.Generator) -> dict[str, Whole]:
    """Draw the columns one after another: numbers, or places in the column's domain."""
    sex = (rng.random(rows) < 0.5).astype(np.int64)  # 0 woman, 1 man, as the domain has them
    woman = (1 - sex).astype(np.float64)
    # as many of each year up to 60, then fewer, as people die
    years = np.arange(_YOUNGEST, _OLDEST + 1)
    shares = np.cumsum(np.exp(-np.clip(years - 60, 0, None) / 12.0))
    age: Whole = years[np.searchsorted(shares, rng.random(rows) * shares[-1], side="right").clip(max=len(years) - 1)]
    decades = (age - 40) / 10.0
    part, district = (_drawn(rng, np.log([shares] * rows)) for shares in (_PARTS, _DISTRICTS))

    weight, by_age, by_city, since = _EDUCATION.T
    weights = weight + by_age * decades[:, None] + by_city * (district == 0)[:, None]
    education = _drawn(rng, np.where(age[:, None] >= since, weights, _NEVER))

    single = 3.2 - 0.16 * (age - 20.0) + 0.0012 * (age - 20.0) ** 2
    married = np.where(age < 18, _NEVER, 1.0 - 0.0006 * (age - 50.0) ** 2)
    separated = np.where(age < 20, _NEVER, -1.9)
    divorced = np.where(age < 22, _NEVER, -0.6 - 0.0016 * (age - 50.0) ** 2)
    widowed = np.where(age < 30, _NEVER, -3.6 + 0.085 * (age - 40.0) + 0.7 * woman)
    marital = _drawn(rng, np.column_stack([single, married, separated, divorced, widowed]))

    weight, by_step, by_sex, *_work = _OCCUPATION.T
    weights = weight + by_step * education[:, None] + by_sex * woman[:, None]
    weights[:, 0] += 1.4 * (age < 20) + 0.35 * np.clip(age - 60, 0, 12)
    occupation = _drawn(rng, weights)
    middle, spread, part_time_share, pay, by_hand = _OCCUPATION[occupation, 3:].T

    share = np.clip(part_time_share * (0.6 + 0.8 * woman) + 0.35 * ((age < 22) | (age > 65)), 0, 0.9)
    part_time = rng.random(rows) < share
    noise = rng.standard_normal(rows)
    hours = np.where(part_time, 20 + 5 * noise, middle + spread * noise)
    # most people say the round number
    hours = np.where(~part_time & (np.abs(noise) < 0.7) & (middle <= 43), 40, np.rint(hours))
    hours = np.where(occupation == 0, 0, hours.clip(4, 80)).astype(np.int64)

    score = 0.38 * (education - 2) + pay + 0.045 * (hours - 40) * (occupation > 0) + 0.045 * (age.clip(17, 50) - 38)
    score -= 0.35 * woman
    income = np.searchsorted(_INCOME_CUTS, score + 0.75 * rng.standard_normal(rows)).astype(np.int64)

    illnesses = (
        2.0 - 0.30 * decades,  # none
        -0.9 - 0.10 * decades + 0.2 * woman,  # asthma
        -0.8 + 0.15 * decades + 0.9 * by_hand,  # back pain
        -0.9 - 0.20 * decades + 0.4 * woman + 0.5 * (marital != 1),  # depression
        -1.6 + 0.45 * decades,  # diabetes
        -2.2 + 0.75 * decades - 0.4 * woman,  # heart disease
    )
    return {
        "age": age,
        "sex": sex,
        "region": len(_DISTRICTS) * part + district,
        "education": education,
        "marital-status": marital,
        "occupation": occupation,
        "weekly-hours": hours,
        "income": income,
        "illness": _drawn(rng, np.column_stack(illnesses)),
    }


def _drawn(rng: np.random.Generator, weights: Real) -> Whole:
    """Draw a value for each row, given the logarithms of the weights of its values."""
    shares = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
    beyond = rng.random(len(weights))[:, None] * shares[:, -1:] >= shares
    places: Whole = np.minimum(beyond.sum(axis=1), weights.shape[1] - 1).astype(np.int64)
    return places
