"""Which columns of a table distinguish people, and how many people are unique in the population."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.frames import Table
from noren.data.reading import SchemaLike, as_records
from noren.data.schema import Role
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.arrays import Whole
from noren.kernels.lattice.keys import distinct
from noren.kernels.population import (
    SMALL_FRACTION,
    ClassCounts,
    Separation,
    class_counts,
    pitman_uniques,
    separation,
    snb_uniques,
    zayatz_uniques,
)
from noren.progress import Progress, silent
from noren.tables import Texts

say = Texts(__name__)

_LARGEST = 6
_MOST_SETS = 2_000
_MANY_ROWS = 200_000
_PAIRS = 200_000
_SURE = 1.96


@dataclass(frozen=True)
class ColumnSet:
    """How far some columns tell rows apart."""

    columns: tuple[str, ...]
    distinction: float
    """Different combinations of values, over rows."""
    separation: float
    low: float
    high: float
    """``separation``, ``low``, ``high``: the share of pairs of rows that differ; if drawn, with 95 % interval."""
    alone: float
    """The share of rows whose combination no other row has."""


@dataclass(frozen=True)
class Identifiers:
    """The sets of columns that distinguish most people."""

    rows: int
    columns: tuple[ColumnSet, ...]
    """Each column by itself, the one that singles out most people first."""
    sets: tuple[ColumnSet, ...]
    """The strongest sets of two columns and more, smaller ones first."""
    searched: int
    possible: int
    """``searched``, ``possible``: how many sets were looked at, and how many there are of these sizes."""

    def as_dict(self) -> dict[str, Any]:
        """Return what ``noren identifiers --json`` prints."""
        return asdict(self)


def identifiers(
    original: Any,
    *,
    schema: SchemaLike | None = None,
    columns: Sequence[str] = (),
    largest: int = 3,
    most_per_size: int = 5,
    seed: int = 0,
    progress: Progress = silent,
) -> Identifiers:
    """Find which small sets of columns tell most people of a table apart.

    Every set of up to ``largest`` columns is looked at where there are few enough; else each size keeps its best and
    adds a column to those. Of a long table pairs of rows are drawn to choose by; what is shown is counted on all rows,
    but for the separation, which has its interval then.

    Parameters
    ----------
    columns
        The columns to choose from; left out: all but those that identify by themselves.
    most_per_size
        How many sets of each size are returned.

    References
    ----------
    Motwani and Xu (2007), Efficient algorithms for masking and finding quasi-identifiers.

    Examples
    --------
    Neither age nor town tells everybody apart, both together do.

    >>> found = identifiers(pl.DataFrame({"age": [20, 20, 30], "town": ["a", "b", "b"]}),
    ...                     schema={"kind": "table", "columns": {"age": {"type": "integer"}, "town": {}}})
    >>> [(one.columns, round(one.separation, 3), round(one.alone, 3)) for one in (*found.columns, *found.sets)]
    [(('age',), 0.667, 0.333), (('town',), 0.667, 0.333), (('age', 'town'), 1.0, 1.0)]
    """
    table = one_table(original, schema)
    if not 1 <= largest <= _LARGEST:
        raise ParameterError.out_of_range("largest", largest, f"1 <= largest <= {_LARGEST}")
    names = _named(table, columns) or [c.name for c in table.schema.columns if c.role != Role.IDENTIFIER]
    if not names:
        raise ParameterError(say("no_columns"))
    if len(table) < 2:
        raise ParameterError(say("too_few_rows", rows=len(table)))
    codes, sizes = coded_columns(table, names)
    judge = _Judge(codes, sizes, seed)
    largest = min(largest, len(names))
    possible = sum(math.comb(len(names), size) for size in range(1, largest + 1))
    best: dict[int, list[tuple[int, ...]]] = {}
    searched = 0
    for size in range(1, largest + 1):
        # all sets of the size, or those that add a column to the best of the size below
        some = list(combinations(range(len(names)), size))
        if size > 1 and possible > _MOST_SETS:
            bases = best[size - 1][: max(_MOST_SETS // len(names), 1)]
            some = sorted({tuple(sorted((*base, at))) for base in bases for at in range(len(names)) if at not in base})
        ranked = []
        for done, some_set in enumerate(some, start=1):
            ranked.append((judge.rank(some_set), some_set))
            progress(min((searched + done) / max(possible, 1), 1.0), _("comparing rows"))
        searched += len(some)
        ranked.sort(key=lambda pair: (pair[0], [-at for at in pair[1]]), reverse=True)
        best[size] = [some_set for _rank, some_set in ranked]
    single = tuple(judge.column_set(one, names) for one in best[1])
    larger = (some_set for size in range(2, largest + 1) for some_set in best[size][:most_per_size])
    sets = tuple(judge.column_set(some_set, names) for some_set in larger)
    progress(1.0)
    return Identifiers(len(table), single, sets, searched, possible)


class _Judge:
    """Tells how far sets of columns tell rows apart; on long tables it draws pairs to choose by."""

    def __init__(self, codes: Whole, sizes: list[int], seed: int) -> None:
        self._codes, self._sizes = codes, sizes
        self._differs: NDArray[np.bool_] | None = None
        rows = codes.shape[1]
        if rows > _MANY_ROWS:
            raw = np.random.Philox(key=seed).random_raw(2 * _PAIRS)
            first = (raw[:_PAIRS] % np.uint64(rows)).astype(np.int64)
            second = (first + 1 + (raw[_PAIRS:] % np.uint64(rows - 1)).astype(np.int64)) % rows
            self._differs = codes[:, first] != codes[:, second]

    def _counted(self, places: tuple[int, ...]) -> Separation:
        which, _first = distinct([self._codes[at] for at in places], [self._sizes[at] for at in places])
        return separation(which)

    def _drawn(self, places: tuple[int, ...]) -> float | None:
        return None if self._differs is None else float(self._differs[list(places)].any(axis=0).mean())

    def rank(self, places: tuple[int, ...]) -> tuple[float, float]:
        """Return what sets are chosen by: people singled out, then pairs told apart."""
        drawn = self._drawn(places)
        if drawn is not None:
            return drawn, 0.0
        counts = self._counted(places)
        return counts.alone, counts.separation

    def column_set(self, places: tuple[int, ...], names: Sequence[str]) -> ColumnSet:
        """Return what is reported of a set of columns."""
        counts, drawn = self._counted(places), self._drawn(places)
        share = low = high = counts.separation if drawn is None else drawn
        if drawn is not None:  # the interval of Wilson
            middle = (share + _SURE**2 / (2 * _PAIRS)) / (1 + _SURE**2 / _PAIRS)
            spread = math.sqrt(share * (1 - share) / _PAIRS + _SURE**2 / (4 * _PAIRS**2))
            half = _SURE / (1 + _SURE**2 / _PAIRS) * spread
            low, high = max(middle - half, 0.0), min(middle + half, 1.0)
        return ColumnSet(tuple(names[at] for at in places), counts.distinction, share, low, high, counts.alone)


# --- tables as codes -------------------------------------------------------------------------------------------------


def one_table(original: Any, schema: SchemaLike | None) -> Table:
    """Return a table of people; stop where the data are purchases."""
    data = as_records(original, schema)
    if not isinstance(data, Table):
        raise SchemaError(say("not_a_table"))
    return data


def _named(table: Table, columns: Sequence[str]) -> list[str]:
    """Return names of columns, each once; stop at a name there is not."""
    return [table.schema[name].name for name in dict.fromkeys(columns)]


def coded_columns(table: Table, names: Sequence[str]) -> tuple[Whole, list[int]]:
    """Return the values of columns as codes, and how many each has; a missing value is one of its own."""
    coded = [table.frame[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64).to_numpy() for name in names]
    return np.stack(coded), [int(codes.max(initial=0)) + 1 for codes in coded]


# --- How many people of the population a table was drawn from are unique in what links to them ------------------------


Estimator = Literal["pitman", "zayatz", "snb"]


@dataclass(frozen=True)
class PopulationRisk:
    """How many people are unique in the population, by each estimator."""

    columns: tuple[str, ...]
    rows: int
    classes: int
    alone: int
    """``rows``, ``classes``, ``alone``: people, different combinations, and people with one of their own."""
    population: int
    fraction: float
    """``population``, ``fraction``: how many people the population has, and which share of them is in the table."""
    estimates: Mapping[str, float]
    """How many people are unique in the population, by each estimator that came to an end."""
    failed: Mapping[str, str]
    """Why the others did not."""
    chosen: Estimator
    """The estimator that the rule of Dankar et al. (2012) trusts here."""

    @property
    def uniques(self) -> float:
        """How many people are unique in the population, by the chosen estimator."""
        return self.estimates[self.chosen]

    @property
    def share(self) -> float:
        """Which share of people is unique in the population: of all, and of those in the table."""
        return self.uniques / self.population

    def as_dict(self) -> dict[str, Any]:
        """Return what ``noren population --json`` prints."""
        return asdict(self) | {"uniques": self.uniques, "share": self.share}


def population(
    original: Any,
    size: float | None = None,
    *,
    fraction: float | None = None,
    schema: SchemaLike | None = None,
    columns: Sequence[str] = (),
) -> PopulationRisk:
    """Estimate how many people are unique in the population that a table is a random sample of.

    Up to a sampling fraction of 10 % the estimator of Pitman is chosen, else the smaller of SNB and Zayatz; where one
    comes to no end Zayatz stands in (Dankar et al. 2012, as ARX has it).

    Parameters
    ----------
    size, fraction
        How many people the population has, or which share of it is in the table: one of both.
    columns
        What is known of people; left out: the quasi-identifiers.

    Examples
    --------
    Everybody of ten is alone, and one in ten was asked: nothing speaks for anybody having a double.

    >>> schema = {"kind": "table", "columns": {"zip": {"role": "quasi"}}}
    >>> found = population({"zip": [str(n) for n in range(10)]}, 100, schema=schema)
    >>> found.chosen, found.share, sorted(found.failed)
    ('zayatz', 1.0, ['pitman', 'snb'])
    """
    table = one_table(original, schema)
    names = _named(table, columns) or [column.name for column in table.schema.with_role(Role.QUASI)]
    if not names:
        raise ParameterError(say("no_quasi", option="--columns"))
    people = _people(len(table), size, fraction)
    codes, sizes = coded_columns(table, names)
    which, _first = distinct(list(codes), sizes)
    classes = class_counts(np.bincount(which))
    estimators = {"pitman": pitman_uniques, "zayatz": zayatz_uniques, "snb": snb_uniques}
    uniques = {name: estimate(classes, people) for name, estimate in estimators.items()}
    estimates = {name: value for name, value in uniques.items() if value is not None}
    fraction = len(table) / people
    chosen: Estimator = "zayatz"  # which never fails
    if fraction <= SMALL_FRACTION:
        chosen = "pitman" if "pitman" in estimates else "zayatz"
    elif estimates.get("snb", math.inf) <= estimates["zayatz"]:
        chosen = "snb"
    return PopulationRisk(
        columns=tuple(names),
        rows=len(table),
        classes=int(classes.classes),
        alone=int(classes.of(1)),
        population=people,
        fraction=fraction,
        estimates=estimates,
        failed={name: _reason(name, classes) for name, value in uniques.items() if value is None},
        chosen=chosen,
    )


def _people(rows: int, size: float | None, fraction: float | None) -> int:
    if rows == 0:
        raise ParameterError(say("too_few_rows", rows=0))
    if (size is None) == (fraction is None):
        raise ParameterError(_("give either {one} or {other}").format(one="population", other="fraction"))
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise ParameterError.out_of_range("fraction", fraction, "0 < fraction <= 1")
        size = rows / fraction
    if size is None or not math.isfinite(size) or round(size) < rows:
        raise ParameterError(say("population_too_small", size=size or 0, rows=rows))
    return round(size)


def _reason(name: str, classes: ClassCounts) -> str:
    if classes.of(1) == classes.rows:
        return _("every row is unique, so class sizes cannot be estimated")
    if name == "snb" and not classes.of(2):
        return _("there are no classes of two rows to fit")
    if name == "snb":
        return _("no such distribution matches the numbers of classes of one and two rows")
    return _("the likelihood has no maximum within its bounds")
