"""A table of people made up from a seed, one row each, whose columns depend on one another as those of a census do.

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
from numpy.typing import NDArray

from noren.data.frames import Table
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole

MOST_PEOPLE: Final = 10_000_000

_YOUNGEST, _OLDEST = 17, 90
_PARTS: Final = (0.40, 0.27, 0.21, 0.12)
_DISTRICTS: Final = (0.50, 0.32, 0.18)

# Each row of a table below is a value of the column drawn, in the order of its domain.
# Education: log-weights at age 40, what ten more years add, what living in a city adds.
_EDUCATION: Final = np.array(
    [
        (-0.35, 0.22, -0.20),  # No diploma
        (1.10, 0.08, -0.15),  # High school
        (0.75, -0.10, 0.00),  # Some college
        (-0.30, -0.05, 0.00),  # Associate
        (0.45, -0.08, 0.30),  # Bachelor
        (-0.60, -0.02, 0.40),  # Master
        (-2.10, 0.05, 0.50),  # Doctorate
    ]
)
_SCHOOL_UNTIL: Final = np.array([17, 18, 19, 20, 22, 24, 27])

# Occupation: log-weights, what each step of education adds, what being a woman adds.
_OCCUPATION: Final = np.array(
    [
        (0.30, -0.12, 0.30),  # Not working
        (-1.00, 0.10, 1.30),  # Care
        (0.10, 0.06, 0.90),  # Clerical
        (0.90, -0.28, -1.60),  # Craft
        (-1.40, -0.30, -0.90),  # Farming
        (-0.60, 0.28, -0.40),  # Management
        (-1.30, 0.60, 0.05),  # Professional
        (0.10, 0.06, -0.10),  # Sales
        (0.40, -0.24, 0.35),  # Service
        (0.20, -0.30, -1.50),  # Transport
    ]
)
_BY_HAND: Final = np.array([0, 1, 0, 1, 1, 0, 0, 0, 1, 1])
# Hours a week: the middle and the spread; then the share that works part of the time.
_HOURS: Final = np.array([(0, 0), (36, 6), (38, 4), (41, 4), (48, 9), (45, 6), (42, 6), (39, 8), (35, 8), (43, 7)])
_PART_TIME: Final = np.array([0, 0.28, 0.16, 0.04, 0.06, 0.03, 0.08, 0.20, 0.30, 0.07])
# Income: what an occupation adds to the score that the classes cut.
_PAY: Final = np.array([-1.9, -0.2, 0.0, 0.1, -0.5, 1.0, 0.8, 0.2, -0.5, 0.0])
_INCOME_CUTS: Final = np.array([-1.0, 0.6, 2.0])


def sample_people(rows: int = 4_000, seed: int = 0) -> Table:
    """Return a table of made-up people; the same seed gives the same rows.

    Parameters
    ----------
    rows
        How many people.

    Examples
    --------
    >>> people = sample_people(rows=3, seed=1)
    >>> people.frame.columns[:4], people.frame["person"].to_list()
    (['person', 'age', 'sex', 'region'], ['P0001', 'P0002', 'P0003'])
    """
    if not 1 <= rows <= MOST_PEOPLE:
        raise ParameterError(
            _("a sample has between 1 and {most:,} people").format(most=MOST_PEOPLE), _("ask for as many"), value=rows
        )
    schema = Schema.preset("people")
    rng = np.random.Generator(np.random.Philox(seed))
    sex = (rng.random(rows) < 0.5).astype(np.int64)  # 0 woman, 1 man, as the domain has them
    woman = (1 - sex).astype(np.float64)
    age = _ages(rng, rows)
    part, district = (_drawn(rng, np.log([shares] * rows)) for shares in (_PARTS, _DISTRICTS))
    education = _educations(rng, age, district == 0)
    marital = _marital(rng, age, woman)
    occupation = _occupations(rng, age, education, woman)
    hours = _weekly_hours(rng, occupation, woman, age)
    income = _incomes(rng, education, occupation, hours, age, woman)
    illness = _illnesses(rng, age, woman, occupation, marital)
    digits = max(4, len(str(rows)))
    region = (part + 1) * 10 + district + 1
    frame = pl.DataFrame(
        {
            "person": ["P"] * rows,
            "age": age,
            "sex": _texts(schema, "sex", sex),
            "region": region,
            "education": _texts(schema, "education", education),
            "marital-status": _texts(schema, "marital-status", marital),
            "occupation": _texts(schema, "occupation", occupation),
            "weekly-hours": hours,
            "income": _texts(schema, "income", income),
            "illness": _texts(schema, "illness", illness),
        }
    ).with_columns(
        pl.col("person") + pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(digits),
        pl.col("region").cast(pl.String),
    )
    return Table.of(frame, schema)


def _texts(schema: Schema, column: str, codes: Whole) -> pl.Series:
    return pl.Series(schema[column].domain, dtype=pl.String).gather(pl.Series(codes))


def _drawn(rng: np.random.Generator, weights: Real) -> Whole:
    """Draw a value for each row, given the logarithms of the weights of its values."""
    shares = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
    beyond = rng.random(len(weights))[:, None] * shares[:, -1:] >= shares
    found: Whole = np.minimum(beyond.sum(axis=1), weights.shape[1] - 1).astype(np.int64)
    return found


def _ages(rng: np.random.Generator, rows: int) -> Whole:
    years = np.arange(_YOUNGEST, _OLDEST + 1)
    # as many of each year up to 60, then fewer, as people die
    shares = np.cumsum(np.exp(-np.clip(years - 60, 0, None) / 12.0))
    place = np.searchsorted(shares, rng.random(rows) * shares[-1], side="right")
    ages: Whole = years[np.minimum(place, len(years) - 1)]
    return ages


def _educations(rng: np.random.Generator, age: Whole, in_city: NDArray[np.bool_]) -> Whole:
    level, by_age, by_city = _EDUCATION.T
    weights = level + by_age * ((age - 40) / 10.0)[:, None] + by_city * in_city[:, None]
    return _drawn(rng, np.where(age[:, None] >= _SCHOOL_UNTIL, weights, -30.0))


def _marital(rng: np.random.Generator, age: Whole, woman: Real) -> Whole:
    years = age.astype(np.float64)
    single = 3.2 - 0.16 * (years - 20) + 0.0012 * (years - 20) ** 2
    married = np.where(years < 18, -30.0, 1.0 - 0.0006 * (years - 50) ** 2)
    separated = np.where(years < 20, -30.0, -1.9)
    divorced = np.where(years < 22, -30.0, -0.6 - 0.0016 * (years - 50) ** 2)
    widowed = np.where(years < 30, -30.0, -3.6 + 0.085 * (years - 40) + 0.7 * woman)
    return _drawn(rng, np.column_stack([single, married, separated, divorced, widowed]))


def _occupations(rng: np.random.Generator, age: Whole, education: Whole, woman: Real) -> Whole:
    level, by_step, by_sex = _OCCUPATION.T
    weights = level + by_step * education[:, None] + by_sex * woman[:, None]
    weights[:, 0] += 1.4 * (age < 20) + 0.35 * np.clip(age - 60, 0, 12)
    return _drawn(rng, weights)


def _weekly_hours(rng: np.random.Generator, occupation: Whole, woman: Real, age: Whole) -> Whole:
    middle, spread = _HOURS[occupation].T
    share = np.clip(_PART_TIME[occupation] * (0.6 + 0.8 * woman) + 0.35 * ((age < 22) | (age > 65)), 0, 0.9)
    part_time = rng.random(len(age)) < share
    noise = rng.standard_normal(len(age))
    hours = np.where(part_time, 20 + 5 * noise, middle + spread * noise)
    # most people say the round number
    hours = np.where(~part_time & (np.abs(noise) < 0.7) & (middle <= 43), 40, np.rint(hours))
    return np.where(occupation == 0, 0, hours.clip(4, 80)).astype(np.int64)


def _incomes(
    rng: np.random.Generator, education: Whole, occupation: Whole, hours: Whole, age: Whole, woman: Real
) -> Whole:
    score = (
        0.38 * (education - 2)
        + _PAY[occupation]
        + 0.045 * (hours - 40) * (occupation > 0)
        + 0.045 * (age.clip(17, 50) - 38)
        - 0.35 * woman
        + 0.75 * rng.standard_normal(len(age))
    )
    classes: Whole = np.searchsorted(_INCOME_CUTS, score).astype(np.int64)
    return classes


def _illnesses(rng: np.random.Generator, age: Whole, woman: Real, occupation: Whole, marital: Whole) -> Whole:
    decades = (age - 40) / 10.0
    weights = [
        2.0 - 0.30 * decades,  # none
        -0.9 - 0.10 * decades + 0.2 * woman,  # asthma
        -0.8 + 0.15 * decades + 0.9 * _BY_HAND[occupation],  # back pain
        -0.9 - 0.20 * decades + 0.4 * woman + 0.5 * (marital != 1),  # depression
        -1.6 + 0.45 * decades,  # diabetes
        -2.2 + 0.75 * decades - 0.4 * woman,  # heart disease
    ]
    return _drawn(rng, np.column_stack(weights))
