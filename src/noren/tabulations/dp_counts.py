"""Differentially private tables: histograms and cross tabulations of people, totals of a shop, with OpenDP's noise.

Counts are whole numbers, amounts whole pieces and hundredths of the currency, and the noise is OpenDP's discrete
Laplace: no floating-point number leaks. Cells are those of domains that were declared; a domain read from the data is
refused, as an unusual value would give its owner away. Noise has no seed: who knew one could compute the noise and
subtract it. So the same call gives other tables each time, and epsilon is spent each time.

*Tables of people*: neighbours differ by one row that is replaced by another, as for retention; it changes two cells of
each table by 1. *Histories*: neighbours differ by one customer, with all rows. Of each customer ``contributions`` rows
are counted, chosen at random and not by what they are; amounts of a customer are scaled down to their bound in sum.
All rows may lie in one cell, so the L2 sensitivity is the L1 one, and Gaussian noise would gain nothing.

A two-way table measures its cells with half of its epsilon and either margin with a quarter. Their weighted least
squares fit is made non-negative and consistent (projection onto the simplex of each total, then raking). What is
released moved from what was measured, so ``VALUE_error`` is the 95 % bound of the noise plus that distance: the
interval around the released value holds that around the measured one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from noren.data.categories import UNKNOWN, Categories
from noren.data.frames import History, Records, Table
from noren.data.reading import SchemaLike, as_records
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError, SchemaError
from noren.kernels.arrays import Real, Whole
from noren.retention.attributes import attribute_of, class_ends
from noren.tables import Texts
from noren.tabulations.suppression import COUNTS
from noren.tabulations.tabulation import Tabulation
from noren.tabulations.totals import (
    ALL,
    FREQUENCY,
    MONETARY,
    RECENCY,
    ShopTable,
    bands,
    history_of,
    known_categories,
    quarter_of,
    shop_tables,
)

say = Texts(__name__)

ROWS: Final = 20
"""How many rows of a customer are counted by default."""
_MOST_CELLS: Final = 2_000_000
_OUTSIDE: Final = 0.05
_SWEEPS: Final = 50


def dp_counts(
    data: Any,
    epsilon: float = 1.0,
    columns: Sequence[Sequence[str]] = (),
    tables: Sequence[str] | None = None,
    contributions: int | Mapping[str, float] = ROWS,
    *,
    weights: Sequence[float] = (),
    categories: Categories | str | Path | None = None,
    schema: SchemaLike | None = None,
) -> list[Tabulation]:
    """Return tables of counts and sums with the noise of differential privacy.

    Parameters
    ----------
    data
        A table of people, or a purchase history; the schema declares the domains, of a history its first and last day.
    epsilon
        The privacy loss of all tables together.
    columns
        Of a table of people: the columns of each table; classes of numbers are written ``age=20..90:5``.
    tables
        Of a history: ``month-category``, ``item-quarter`` and ``rfm``; by default all whose domains are declared.
    contributions
        How many rows of a customer count, or also what a customer's amounts are limited to:
        ``{"rows": 20, "quantity": 500, "revenue": 1000}``; amounts without a limit are left out.
    weights
        How the tables share epsilon; equally by default.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError.out_of_range("epsilon", epsilon, "epsilon > 0")
    records = as_records(data, schema)
    if isinstance(records, Table) != bool(columns):
        raise ParameterError(say("columns_of_people"))
    if isinstance(records, Table):
        shares = _shares(epsilon, len(columns), weights)
        return [_cross_table(records, names, share) for names, share in zip(columns, shares, strict=True)]
    limits = dict(contributions) if isinstance(contributions, Mapping) else {"rows": contributions}
    for name, limit in limits.items():
        if name not in ("rows", "quantity", "revenue") or not 1 <= limit < 2**40:
            raise ParameterError.out_of_range(f"contributions {name}", limit, "rows, quantity, revenue ≥ 1")
    made = _shop(history_of(records), tables, limits, categories)
    shares = _shares(epsilon, len(made), weights)
    return [_shop_table(table, domains, limits, share) for (table, domains), share in zip(made, shares, strict=True)]


def _shares(epsilon: float, count: int, weights: Sequence[float]) -> list[float]:
    parts = np.asarray(weights or [1.0] * count)
    if len(parts) != count or not (parts > 0).all():
        raise ParameterError(say("weights", count=count))
    return [float(np.nextafter(share, 0)) for share in epsilon * parts / parts.sum()]


# --- noise -----------------------------------------------------------------------------------------------------------


def noisy(counts: Whole, sensitivity: int, epsilon: float) -> tuple[Real, float]:
    """Return whole numbers with discrete Laplace noise by OpenDP, and the scale of the noise."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ParameterError(say("no_opendp")) from None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = dp.binary_search_param(lambda s: dp.m.make_laplace(*space, s), d_in=sensitivity, d_out=epsilon)
    return np.array(dp.m.make_laplace(*space, scale)(counts.ravel().tolist()), float).reshape(counts.shape), scale


def noise_bound(scale: float, count: int = 1) -> float:
    """Return what the sum of so many noises exceeds in size with at most 5 %; by Chernoff's inequality for several.

    >>> round(noise_bound(10)), noise_bound(10, 100) < 100 * noise_bound(10)
    (31, True)
    """
    if count == 1:
        return scale * math.log(1 / _OUTSIDE) + 1
    steps = np.linspace(0.001, 0.999, 999)
    return float(((math.log(2 / _OUTSIDE) - count * np.log1p(-(steps**2))) * scale / steps).min()) + 1


# --- non-negative, consistent ----------------------------------------------------------------------------------------


def simplex(values: Real, total: float) -> Real:
    """Return the nearest numbers that are not negative and add up to ``total``.

    >>> simplex(np.array([5.0, 3.0, -2.0]), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    total = max(total, 0.0)
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    return np.asarray(np.maximum(values - excess[np.flatnonzero(falling >= excess)[-1]], 0))


def whole(values: Real) -> Whole:
    """Return whole numbers that add up to the rounded sum of all, each less than 1 away.

    >>> whole(np.array([0.4, 0.4, 0.4, 2.8])).tolist()
    [0, 1, 0, 3]
    """
    ends: Whole = np.rint(np.cumsum(values.ravel())).astype(np.int64)
    return np.ediff1d(ends, to_begin=ends[:1]).reshape(values.shape)


def consistent(cells: Real, across: Real, down: Real, variances: tuple[float, float, float]) -> Real:
    """Return the cells of a two-way table that fit its measured cells and margins best and are not negative.

    Weighted least squares splits into the total, the rows' and columns' differences and the rest, which are measured
    independently: each is the mean of its measurements by the inverse of their variances.
    """
    (rows, columns), (own, of_row, of_column) = cells.shape, variances
    whole_table = np.array([cells.sum(), across.sum(), down.sum()])
    precision = 1 / np.array([rows * columns * own, rows * of_row, columns * of_column])
    total = float(whole_table @ precision / precision.sum())
    margins = []
    for measured, sums, of_margin, of_sum in (
        (across, cells.sum(axis=1), of_row, columns * own),
        (down, cells.sum(axis=0), of_column, rows * own),
    ):
        share = of_sum / (of_margin + of_sum)
        differences = share * (measured - measured.mean()) + (1 - share) * (sums - sums.mean())
        margins.append(simplex(differences + total / len(sums), total))
    fitted = cells + ((margins[0] - cells.sum(axis=1)) / columns)[:, None]
    fitted += (margins[1] - fitted.sum(axis=0)) / rows
    fitted = np.stack([simplex(line, own) for line, own in zip(fitted, margins[0], strict=True)])
    for _sweep in range(_SWEEPS):
        for axis, target in ((0, margins[1]), (1, margins[0])):
            sums = fitted.sum(axis=axis)
            factor = np.divide(target, sums, out=np.ones_like(sums), where=sums > 0)
            fitted = fitted * (factor if axis == 0 else factor[:, None])
    return np.asarray(fitted)


# --- tables of people ------------------------------------------------------------------------------------------------


def _declared(records: Records, column: Column) -> Column:
    """Return a column whose domain somebody declared; stop where there is none, or it was read from the data."""
    bounds = (
        column.domain if column.scale == Scale.NOMINAL else (column.minimum is not None) & (column.maximum is not None)
    )
    if records.schema.guessed or not bounds:
        raise SchemaError(say("not_declared"), column=column.name)
    return column


def _cross_table(records: Table, columns: Sequence[str], epsilon: float) -> Tabulation:
    """Return a table of columns, or of classes of their numbers."""
    attributes = []
    for text in columns:
        plain, ends = class_ends(text) if "=" in text else (text, ())
        column = records.schema[plain]
        attributes.append(attribute_of(column if ends else _declared(records, column), ends=ends, missing=True))
    sizes = [attribute.size for attribute in attributes]
    cells = math.prod(sizes)
    if cells > _MOST_CELLS:
        raise ParameterError(say("too_many_cells", count=cells, most=_MOST_CELLS))
    place = np.ravel_multi_index([a.codes(records.frame[a.name]) for a in attributes], sizes)
    measured, scale = noisy(np.bincount(place, minlength=cells), 2, epsilon)
    released = whole(simplex(measured, len(records)))
    at = np.unravel_index(np.arange(cells), sizes)
    names = tuple(attribute.name for attribute in attributes)
    keys = [pl.Series(a.name, a.labels()).gather(pl.Series(own)) for a, own in zip(attributes, at, strict=True)]
    errors = np.abs(released - measured) + noise_bound(scale)
    frame = pl.DataFrame([*keys, pl.Series("rows", released), pl.Series("rows_error", np.ceil(errors))])
    name = "-".join("".join(letter if letter.isalnum() else "-" for letter in one) for one in names)
    return Tabulation(name, names, ("rows",), frame, _notes(epsilon, "row", {}))


def _notes(epsilon: float, adjacency: str, bound: Mapping[str, float]) -> dict[str, Any]:
    neighbours = "replaced" if adjacency == "row" else "added or removed"
    about = {"kind": "dp", "epsilon": epsilon, "delta": 0.0, "adjacency": adjacency, "neighbours": neighbours}
    return {**about, "bound": dict(bound)}


# --- totals of a shop ------------------------------------------------------------------------------------------------


def _shop(
    history: History,
    tables: Sequence[str] | None,
    limits: Mapping[str, float],
    categories: Categories | str | Path | None,
) -> list[tuple[ShopTable, list[list[str]]]]:
    """Return each table that is wanted with at most the contributions allowed, and the domains of its keys."""
    day = _declared(history, history.schema.role(Role.DATE))
    # days, or moments
    first, last = (date(d.year, d.month, d.day) for d in (day.minimum, day.maximum))  # type: ignore[union-attr]
    months = pl.date_range(first.replace(day=1), last, "1mo", eager=True).dt.strftime("%Y-%m").to_list()
    inside = history.frame.filter(pl.col(day.name).cast(pl.Date).is_between(first, last))
    within = History(inside, history.schema)
    order = pl.DataFrame({"place": np.random.default_rng().random(len(inside)), "who": within[Role.CUSTOMER]})
    counted = order.select(pl.col("place").rank("ordinal").over("who") <= limits.get("rows", ROWS)).to_series()
    domains: dict[str, list[str]] = {"month": months, "quarter": list(dict.fromkeys(map(quarter_of, months)))}
    known = known_categories(history, categories)
    if isinstance(known, Categories):
        categories = known
        domains["category"] = sorted({*known.of_item.values(), UNKNOWN})
    for key, found in (
        ("item", history.schema.with_role(Role.ITEM)),
        ("category", [c for c in history.schema.columns if c.name == known]),
    ):
        if found and found[0].domain and not history.schema.guessed:
            domains[key] = sorted({*found[0].domain, UNKNOWN})
    if "category" not in domains and tables is None:
        tables = ("month", "item-quarter", "rfm")
    domains |= {"recency": bands(RECENCY), "frequency": bands(FREQUENCY), "monetary": bands(MONETARY)}
    end = pl.Series([last]).dt.month_end()[0]
    made = []
    for table in shop_tables(within, tables, categories, end=end, counted=counted.cast(pl.Int64)):
        if all(key in domains for key in table.keys):
            values = tuple(value for value in table.values if value in ("rows", "customers", *limits))
            made.append((replace(table, values=values), [domains[key] for key in table.keys]))
        elif tables is not None:
            raise SchemaError(say("not_declared"), column=next(key for key in table.keys if key not in domains))
    if not made:
        raise ParameterError(say("nothing_declared"))
    return made


def _shop_table(
    table: ShopTable, domains: Sequence[Sequence[str]], limits: Mapping[str, float], epsilon: float
) -> Tabulation:
    sizes = [len(domain) for domain in domains]
    if math.prod(sizes) > _MOST_CELLS:
        raise ParameterError(say("too_many_cells", count=math.prod(sizes), most=_MOST_CELLS))
    codes = (pl.col(key).cast(pl.Enum(own), strict=False) for key, own in zip(table.keys, domains, strict=True))
    parts = table.parts.with_columns(code.to_physical().cast(pl.Int64) for code in codes).drop_nulls(table.keys)
    place = np.ravel_multi_index(tuple(parts[key].to_numpy() for key in table.keys), sizes)
    # the cells, then the margins of a table of two keys, then the total
    places = np.indices([size + 1 for size in sizes]).reshape(len(sizes), -1).T
    stars = places == sizes
    kept = np.flatnonzero((stars.any(axis=1) == stars.all(axis=1)) | (len(sizes) == 2))
    kept = kept[np.argsort(stars[kept] @ (2 ** np.arange(len(sizes))[::-1]), kind="stable")]
    columns = [pl.Series(key, [*domain, ALL]).gather(pl.Series(at))
               for key, domain, at in zip(table.keys, domains, places[kept].T, strict=True)]  # fmt: skip
    bound: dict[str, float] = {}
    for value in table.values:
        unit = 100 if value == "revenue" else 1
        bound[value] = 1 if value == "customers" else limits.get(value, ROWS)
        limit = math.floor(bound[value] * unit)
        pieces = (pl.col(value).cast(pl.Float64) * unit).round()
        size = pieces.abs().sum().over("customer")
        if value not in COUNTS:
            pieces = pl.when(size <= limit).then(pieces).otherwise(pieces * limit * (1 - 1e-9) / size)
        cells = np.zeros(math.prod(sizes), np.int64)
        np.add.at(cells, place, parts.select(pieces.cast(pl.Int64)).to_series().to_numpy())
        released, errors = _measured(cells.reshape(sizes), limit, epsilon / len(table.values))
        columns += [pl.Series(value, released if unit == 1 else released / unit),
                    pl.Series(f"{value}_error", np.ceil(errors) / unit)]  # fmt: skip
    return Tabulation(table.name, table.keys, table.values, pl.DataFrame(columns), _notes(epsilon, "customer", bound))


def _measured(cells: Whole, sensitivity: int, epsilon: float) -> tuple[Whole, Real]:
    """Return the released cells, margins and total of a table, in this order, and their errors."""
    if cells.ndim != 2:
        measured, scale = noisy(cells.ravel(), sensitivity, epsilon)
        released = whole(simplex(measured, measured.sum()))
        found = [(released, measured, noise_bound(scale))]
        total, bound = measured.sum(), noise_bound(scale, measured.size)
    else:
        measured, scale = noisy(cells, sensitivity, epsilon / 2)
        across, margin_scale = noisy(cells.sum(axis=1), sensitivity, epsilon / 4)
        down, _same = noisy(cells.sum(axis=0), sensitivity, epsilon / 4)
        released = whole(consistent(measured, across, down, (scale**2, margin_scale**2, margin_scale**2)))
        of_margin = noise_bound(margin_scale)
        found = [(released.ravel(), measured.ravel(), noise_bound(scale)), (released.sum(axis=1), across, of_margin),
                 (released.sum(axis=0), down, of_margin)]  # fmt: skip
        shorter = across if len(across) <= len(down) else down
        total, bound = shorter.sum(), noise_bound(margin_scale, len(shorter))
    found.append((np.array([released.sum()]), np.array([total]), bound))
    errors = [np.abs(own - raw) + extra for own, raw, extra in found]
    return np.concatenate([own for own, _raw, _extra in found]), np.concatenate(errors)
