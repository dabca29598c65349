"""Draws from the distribution that a release's public rows imply, and estimates from them.

A midpoint or a uniform draw of a wide interval is biased, because prices, quantities and dates are not spread evenly.
What a release says is enough to do better, and since it is public, that costs no privacy:

- *Margins*. How often each value occurs is estimated from all cells together (the nonparametric maximum likelihood of
  interval data, by EM): of prices and quantities for each item, of dates for each group of equal histories, of items
  for the whole shop. A context with few rows borrows from all others.
- *Ends*. ``generalize`` says the smallest interval and the smallest set around the m values behind a cell. So each end
  and each element is the value of at least one of the m rows. Given both ends a and b, of m values independently drawn
  from p the expected number at a is m·p(a)·(1 - (1 - p(b))^(m-1)) / Z(m), and of a value v between them
  m·p(v)·Z(m-1) / Z(m), with Z(n) = 1 - (1 - p(a))^n - (1 - p(b))^n + (1 - p(a) - p(b))^n.
- *One customer*. The dates of a pseudonym are drawn with one random number, so that equal ranges of one visit stay one
  visit.

Rows of a group are drawn systematically (one random number places all m), so every element of a set occurs, and so do
both ends where all m rows have one context. The m values are taken as independent given their context, though members
of a group were chosen to be alike. A suppressed cell is drawn from the margin of its context. Large values that no cell
says cannot be drawn, and deleted rows are not there, so sums of skewed columns stay too low. Where totals are
published, rows are weighted to meet them (:func:`raked_weights`).

References
----------
Turnbull (1976), The empirical distribution function with arbitrarily grouped, censored and truncated data, JRSS B 38;
Deville, Särndal, Sautory (1993), Generalized raking procedures in survey sampling, JASA 88.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from noren.data.arrays import numbers
from noren.data.categories import release_categories
from noren.data.cells import cell_ends, different, is_generalised, lift
from noren.data.compatibility import history_classes
from noren.data.draws import typed_values
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.schema import Column, Role, ValueType
from noren.data.statement import Statement
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import uniforms
from noren.progress import Progress, silent
from noren.tables import Texts
from noren.tabulations.questions import AnalystQuestion, mean_answer, rows_to_ask
from noren.tabulations.tabulation import Tabulation

_HULLS: Final = ("generalize", "generalize-by-count")
"""Methods whose intervals and sets are the smallest around the values behind them."""
_ROUNDS: Final = 15
_BORROWED: Final = 1.0
"""How many rows of the whole shop a context's margin is mixed with."""
_MOST_VALUES: Final = 512
_MOST_CELLS: Final = 20_000_000
_MOST_GRID: Final = 4_096
_FLOOR: Final = 1e-4
"""The least share of an end that is known to occur, against rounding."""
_STREAMS: Final = 16
_NEWTON: Final = 60
_MET: Final = 1e-9


@dataclass(frozen=True)
class _Groups:
    """Rows whose cells stand for the same m values: of one class, equal in all cells, one of each pseudonym."""

    of_row: Whole
    of_class: Whole
    """``of_row``, ``of_class``: each row's group and class of equal histories."""
    size: Whole
    first: Whole
    """``size``, ``first``: of each group the number of rows, and one of them."""


def _groups(public: History, *, hull: bool) -> _Groups:
    """Return the groups of a release; where ends are not known to occur each row stands for itself."""
    rows = len(public)
    if not hull:
        alone = np.arange(rows)
        return _Groups(alone, np.zeros(rows, np.int64), np.ones(rows, np.int64), alone)
    names = history_classes(public)
    name = public.schema.role(Role.CUSTOMER).name
    frame = public.frame.select(pseudonym=name).join(names, on="pseudonym", how="left", maintain_order="left")
    cells = [different(public.frame[column.name])[1].alias(f"c{at}") for at, column in enumerate(public.measured())]
    keys = [f"c{at}" for at in range(len(cells))]
    frame = frame.with_columns(cells).with_columns(copy=pl.int_range(pl.len()).over("pseudonym", *keys))
    group = frame.select(pl.struct("class", "copy", *keys).rank("dense") - 1).to_series().cast(pl.Int64).to_numpy()
    _group, first, size = np.unique(group, return_index=True, return_counts=True)
    return _Groups(group, frame["class"].cast(pl.Int64).to_numpy(), size, first)


def _systematic(of_row: Whole, size: Whole, uniform: Real) -> Real:
    """Return for the rows of each group numbers one m-th apart, in random order; a group's first row decides where."""
    order = np.lexsort((uniform, of_row))
    start = np.cumsum(size) - size
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(start, size)
    shift = np.modf(uniform[order[start]] * size * 7919)[0] if len(size) else uniform
    return (rank + shift[of_row]) / size[of_row]


class _Margin:
    """How often values occur in each context, estimated from groups that say a lowest and a highest value.

    ``values`` are those that occur as an end, ``low`` and ``high`` the places of a group's ends among them, -1 where
    nothing is said. Between the ends values come in bins where there are too many of them.
    """

    def __init__(self, values: Real, low: Whole, high: Whole, size: Whole, contexts: int, *, hull: bool) -> None:
        self.values, self.low, self.high, self.size = values, low, high, size
        bins = int(np.clip(_MOST_CELLS // contexts, 32, _MOST_VALUES))
        self.first = np.linspace(0, len(values), min(bins, len(values)) + 1).astype(np.int64)
        self.bin = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        self.known, self.hull = low >= 0, hull & (size >= 2) & (high > low)
        self.tilt = np.ones((3, len(size)))
        self._take(np.full((contexts, len(self.first) - 1), 1.0 / (len(self.first) - 1)))

    def _take(self, share: Real) -> None:
        self.share = share
        self.below = np.concatenate([np.zeros((len(share), 1)), np.cumsum(share, axis=1)], axis=1)

    def mass(self, group: Whole, context: Whole) -> Real:
        """Return how likely each context gives a value between the ends of a group."""
        low, high = self.bin[self.low[group]], self.bin[self.high[group]]
        return np.where(self.known[group], self.below[context, high + 1] - self.below[context, low], 1.0)

    def _parts(self, group: Whole, context: Whole) -> tuple[Real, Real, Real]:
        """Return the chances of the lower end, of what is between and of the upper end, of groups that say them."""
        low, high = self.bin[self.low[group]], self.bin[self.high[group]]
        mass = self.below[context, high + 1] - self.below[context, low]
        lower, upper = (np.maximum(self.share[context, end] / mass, _FLOOR) for end in (low, high))
        one_bin = (low == high) & (self.high[group] > self.low[group])
        lower, upper = np.where(one_bin, 0.5, lower), np.where(one_bin, 0.5, upper)
        upper = np.where(self.high[group] > self.low[group], upper, 0.0)
        return lower, np.where(high > low + 1, np.maximum(1.0 - lower - upper, 0.0), 0.0), upper

    def step(self, group: Whole, context: Whole, weight: Real) -> None:
        """Improve the margins once; ``weight`` is how many rows of each group are of each context."""
        there = self.known[group]
        group, context, weight = group[there], context[there], weight[there]
        parts = self._parts(group, context)
        rows = np.maximum(np.bincount(group, weight, minlength=len(self.size)), 1e-300)
        a, b = (np.bincount(group, weight * end, minlength=len(self.size)) / rows for end in (parts[0], parts[2]))
        a, b, fewer = np.clip(a, _FLOOR, 1 - _FLOOR), np.clip(b, _FLOOR, 1 - _FLOOR), self.size - 1.0
        between = 1 - (1 - a) ** fewer - (1 - b) ** fewer + np.maximum(1 - a - b, 0.0) ** fewer
        tilts = np.stack([1 - (1 - b) ** fewer, between, 1 - (1 - a) ** fewer])
        self.tilt = np.where(self.hull, tilts, 1.0)

        tilted = np.stack(parts) * self.tilt[:, group]
        expected = tilted * weight / np.maximum(tilted.sum(axis=0), 1e-300)
        low, high = self.bin[self.low[group]], self.bin[self.high[group]]
        inner = self.below[context, high] - self.below[context, np.minimum(low + 1, high)]
        rate = np.divide(expected[1], inner, out=np.zeros_like(inner), where=inner > 0)
        bins, cells = self.share.shape[1], self.share.size + 1
        start, stop = context * bins + np.minimum(low + 1, high), context * bins + high
        rates = np.bincount(start, rate, cells) - np.bincount(stop, rate, cells)
        counts = np.maximum(np.cumsum(rates)[:-1], 0.0).reshape(self.share.shape) * self.share
        for at, ends in ((low, expected[0]), (high, expected[2])):
            counts += np.bincount(context * bins + at, ends, cells)[:-1].reshape(self.share.shape)
        shop = counts.sum(axis=0) + 1e-9
        counts += _BORROWED * shop / shop.sum()
        self._take(counts / counts.sum(axis=1, keepdims=True))

    def draw(self, group: Whole, context: Whole, uniform: Real) -> Real:
        """Return a value for each row of a group and a context."""
        drawn = self._between(context, np.zeros_like(group), np.full_like(group, len(self.values) - 1), uniform)
        there = self.known[group]
        group, context, uniform = group[there], context[there], uniform[there]
        low, high = self.low[group], self.high[group]
        lower, inner, upper = np.stack(self._parts(group, context)) * self.tilt[:, group]
        at = uniform * (lower + inner + upper)
        inside = np.clip((at - lower) / np.where(inner > 0, inner, 1.0), 0.0, 1.0 - 1e-9)
        between = self._between(context, np.minimum(low + 1, high), np.maximum(high - 1, low), inside)
        drawn[there] = np.where(at < lower, low, np.where(at >= lower + inner, high, between))
        return self.values[drawn]

    def _between(self, context: Whole, low: Whole, high: Whole, uniform: Real) -> Whole:
        """Return the place of a value from low to high, as likely as its context says."""
        bins = self.share.shape[1]
        first, last = self.bin[low], self.bin[high]
        start, stop = self.below[context, first], self.below[context, last + 1]
        every = (self.below[:, 1:] + np.arange(len(self.below))[:, None]).ravel()
        target = start + uniform * np.maximum(stop - start, 0.0) + context
        drawn = np.clip(np.searchsorted(every, target, side="right") - context * bins, first, last)
        begin, end = np.maximum(self.first[drawn], low), np.minimum(self.first[drawn + 1] - 1, high)
        steps: Real = np.floor(np.modf(uniform * 104_729)[0] * np.maximum(end - begin + 1, 1))
        place: Whole = begin + steps.astype(np.int64)
        return place


class ImpliedDraws:
    """The data sets that a release may stand for, drawn from margins of its own public rows; see the module.

    Draw i depends on the seed and on i alone. ``statement`` says whether ends are known to occur and what categories
    mean; without one each cell is looked at alone. With ``totals`` a draw has a column ``weight`` that meets them.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.preset("pwscup2018")
    >>> rows = {"customer": ["1", "2", "3"], "date": "2010/12/1", "item": "a", "price": [1.0] * 3, "quantity": 1}
    >>> public = History.of(rows, schema)
    >>> cells = pl.Series("price", [{"lo": 1.0, "hi": 5.0}] * 3)
    >>> public = public.with_values(cells)
    >>> draws = ImpliedDraws(public, Statement("generalize", {"k": 3}), seed=1)
    >>> [sorted(draw.frame["price"].to_list()) for draw in draws.first(2)]  # both ends occur
    [[1.0, 5.0, 5.0], [1.0, 1.0, 5.0]]
    """

    def __init__(
        self, public: History, statement: Statement | None = None, *, totals: Sequence[Tabulation] = (), seed: int = 1
    ) -> None:
        if totals and "weight" in public.schema.names:
            raise SchemaError(Texts("noren.data.draws")("draw_column_exists", name="weight"), column="weight")
        self.public, self.totals, self.seed = public, totals, seed
        self.hull = statement is not None and statement.steps[-1].method in _HULLS
        self.groups = groups = _groups(public, hull=self.hull)
        self.categories = None if statement is None else release_categories(statement)
        cells = public.frame
        self.drawn = [column for column in public.measured() if is_generalised(cells[column.name].dtype)
                      or (not column.optional and cells[column.name].null_count() > 0)]  # fmt: skip
        """Columns with cells to draw: generalised ones, or empty ones that no blank explains."""
        # the contexts that the rows of each group may have: the items of its set, and how many rows have each
        every, sizes = np.arange(len(groups.size)), groups.size.astype(np.float64)
        self.group, self.context, self.weight, contexts = every, np.zeros(len(every), np.int64), sizes, 1
        self.items = pl.Series(dtype=pl.String)
        for column in public.schema.with_role(Role.ITEM):
            sets = lift(public.frame[column.name].gather(groups.first), column)
            pairs = pl.DataFrame({"group": every, "item": sets.cast(pl.List(pl.String))}).drop_nulls().explode("item")
            self.items = pairs["item"].unique().sort()
            if len(pairs):
                self.group, contexts = pairs["group"].to_numpy(), len(self.items)
                self.context = self.items.search_sorted(pairs["item"]).cast(pl.Int64).to_numpy()
                self.weight = self._weights(np.ones(len(self.group)))
        self.margins: dict[Role, _Margin] = {}
        classes = int(groups.of_class.max(initial=0)) + 1
        for column in self.drawn:
            if column.role != Role.ITEM:
                self._add_margin(column, classes if column.role == Role.DATE else contexts)
        for _round in range(_ROUNDS):
            for role, margin in self.margins.items():
                if role == Role.DATE:
                    margin.step(every, groups.of_class[groups.first], sizes)
                else:
                    margin.step(self.group, self.context, self.weight)
            if len(self.items):
                likely = np.bincount(self.context, self.weight)[self.context].astype(np.float64)
                if Role.PRICE in self.margins:  # a dear item is not behind a low price
                    likely *= self.margins[Role.PRICE].mass(self.group, self.context)
                self.weight = self._weights(likely)

    def _weights(self, likely: Real) -> Real:
        """Return how many rows of each group have each item of its set: one each where ends are known to occur."""
        groups, size = len(self.groups.size), self.groups.size[self.group]
        elements = np.bincount(self.group, minlength=groups)[self.group]
        share = likely / np.maximum(np.bincount(self.group, likely, groups), 1e-300)[self.group]
        sure = np.minimum(1.0, size / elements) if self.hull else np.zeros(len(size))
        return sure + np.maximum(size - sure * elements, 0.0) * share

    def _add_margin(self, column: Column, contexts: int) -> None:
        """Add the margin of a column before it is fitted; there is none where no cell says anything."""
        ends = cell_ends(self.public.frame[column.name])
        low, high = (numbers(end.gather(self.groups.first)) for end in ends)
        known = ~np.isnan(low)
        values = np.unique(np.concatenate([low[known], high[known]]))
        if not len(values):
            return
        if not self.hull and (steps := (values[-1] - values[0]) / column.grid) < _MOST_GRID:
            grid = values[0] + np.arange(round(steps) + 1) * column.grid
            values = np.unique(np.concatenate([values, grid.round(9)]))
        lowest, highest = (np.where(known, np.searchsorted(values, np.nan_to_num(end)), -1) for end in (low, high))
        self.margins[column.role] = _Margin(values, lowest, highest, self.groups.size, contexts, hull=self.hull)

    def __getitem__(self, draw: int) -> History:
        """Return draw number ``draw``, counted from 0: the public rows with exact values."""
        groups, rows = self.groups, len(self.public)
        context, drawn = np.zeros(rows, np.int64), dict[str, pl.Series | pl.Expr]()
        uniform = [uniforms(rows, seed=self.seed, draw=draw, stream=_STREAMS + at) for at in range(2 + len(Role))]
        if len(self.items):
            place = np.concatenate([[0.0], np.cumsum(self.weight / groups.size[self.group])])
            sets = np.bincount(self.group, minlength=len(groups.size))
            stop, said = np.cumsum(sets)[groups.of_row], sets[groups.of_row] > 0
            start = stop - sets[groups.of_row]
            target = place[start] + _systematic(groups.of_row, groups.size, uniform[0]) * (place[stop] - place[start])
            pair = np.clip(np.searchsorted(place, target, side="right") - 1, start, np.maximum(stop - 1, start))
            context[said] = self.context[pair[said]]
            bought = np.cumsum(np.bincount(self.context, self.weight))
            context[~said] = np.searchsorted(bought, uniform[0][~said] * bought[-1], side="right")
        for column in self.drawn:
            margin = self.margins.get(column.role)
            if column.role == Role.ITEM and len(self.items):
                names = self.items.gather(context)
                drawn[column.name] = _items_of(names, self.categories, uniform[1]) if self.categories else names
            elif margin is None:  # a column of which nothing is said stays empty
                drawn[column.name] = pl.lit(None, column.dtype)
            elif column.role == Role.DATE:  # one number for each pseudonym
                first, number = (part.to_numpy() for part in different(self.public[Role.CUSTOMER]))
                class_of, sizes = np.unique(groups.of_class[first], return_inverse=True, return_counts=True)[1:]
                shared = _systematic(class_of, sizes, uniform[1][first])[number]
                drawn[column.name] = typed_values(margin.draw(groups.of_row, groups.of_class, shared), column)
            else:
                own = _systematic(groups.of_row, groups.size, uniform[2 + list(Role).index(column.role)])
                drawn[column.name] = typed_values(margin.draw(groups.of_row, context, own), column)
        frame = self.public.frame.with_columns(**drawn)
        whole = replace(self.public, frame=frame, spelling=Spelling())
        if not self.totals:
            return whole
        weighted = frame.with_columns(raked_weights(rows_to_ask(whole), self.totals))
        columns = (*whole.schema.columns, Column(name="weight", type=ValueType.DECIMAL))
        return replace(whole, frame=weighted, schema=whole.schema.model_copy(update={"columns": columns}))

    def first(self, count: int) -> Iterator[History]:
        """Return the first ``count`` draws, one at a time."""
        if count < 1:
            raise ParameterError.out_of_range("draws", count, "draws >= 1")
        return (self[draw] for draw in range(count))

    def tables(
        self, selected: Iterable[AnalystQuestion], count: int, *, progress: Progress = silent
    ) -> dict[str, list[Tabulation]]:
        """Return the answers of the first ``count`` draws to questions; of one where every cell is exact."""
        answers: dict[str, list[Tabulation]] = {}
        for at, draw in enumerate(self.first(count if self.drawn else min(count, 1))):
            progress(at / count, _("draw {number} of {count}").format(number=at + 1, count=count))
            rows = rows_to_ask(draw)
            rows = rows.with_columns(draw.frame["weight"]) if self.totals else rows
            for question in selected:
                answers.setdefault(question.name, []).append(question.table(rows))
        return answers


def _items_of(names: pl.Series, categories: Mapping[str, Sequence[str]], uniform: Real) -> pl.Series:
    """Return an item of each category, all equally likely; a name that is no category stays."""
    known = pl.DataFrame({"name": list(categories), "items": [list(items) for items in categories.values()]})
    listed = names.to_frame("name").join(known, on="name", how="left", maintain_order="left")["items"]
    at = (pl.Series(uniform) * listed.list.len().fill_null(1)).floor().cast(pl.Int64)
    return listed.list.get(at).fill_null(names)


# --- totals that are published beside the release --------------------------------------------------------------------


def raked_weights(rows: pl.DataFrame, totals: Sequence[Tabulation]) -> pl.Series:
    """Return a weight for each row of :func:`~noren.tabulations.questions.rows_to_ask` that meets published totals.

    Counts of items by quarter are met by proportional fitting; then each month's rows, quantity and revenue exactly, by
    weights exp(λ·x) as close as may be to those before. Where no weights meet all three, revenue goes first, then
    quantity. Months and items without totals keep their weights; a month without rows cannot meet its totals.

    >>> rows = pl.DataFrame({"month": ["2011-01"] * 2, "revenue": [1.0, 3.0], "weight": 1.0})
    >>> january = pl.DataFrame({"month": ["2011-01"], "rows": [4.0], "revenue": [10.0]})
    >>> raked_weights(rows, [Tabulation("month", ("month",), ("rows", "revenue"), january)]).round(6).to_list()
    [1.0, 3.0]
    """
    cells = rows.with_columns(pl.col("weight").cast(pl.Float64), rows=pl.lit(1.0))
    tables = [replace(table, frame=_margin_of(table)) for table in totals]
    for table in (table for table in tables if "item" in table.keys and "rows" in table.values):
        keys = [key for key in table.keys if key in ("item", "quarter")]
        known = table.frame.select(*keys, known="rows")
        factor = (pl.col("known") / pl.col("weight").sum().over(keys)).fill_null(1.0)
        cells = cells.join(known, on=keys, how="left", maintain_order="left").with_columns(pl.col("weight") * factor)
        cells = cells.drop("known")
    weight = cells["weight"].to_numpy().copy()
    for table in (table for table in tables if "month" in table.keys):
        values = [name for name in table.values if name in cells.columns]
        x = cells.select(pl.col(values).cast(pl.Float64).fill_null(0.0)).to_numpy()
        for name, *targets in table.frame.select("month", *values).drop_nulls().iter_rows():  # a row for each month
            at = (cells["month"] == name).arg_true().to_numpy()
            for some in range(len(values), 0, -1):
                found = _calibrated(x[at][:, :some], np.array(targets[:some], dtype=np.float64), weight[at])
                if found is not None:
                    weight[at] = found
                    break
    return pl.Series("weight", weight)


def _margin_of(table: Tabulation) -> pl.DataFrame:
    """Return the cells of a table by month, quarter or item: the sums over categories, or all categories added up."""
    keys = [key for key in table.keys if key in ("month", "quarter", "item")]
    frame, others = table.frame, [key for key in table.keys if key not in keys]
    frame = frame.filter(pl.all_horizontal(pl.lit(value=True), *(pl.col(key) != "*" for key in keys)))
    if not others:
        return frame
    sums = frame.filter(pl.all_horizontal(pl.col(key) == "*" for key in others))
    if len(sums):
        return sums
    known = [pl.when(pl.col(n).null_count() == 0).then(pl.col(n).sum()).alias(n) for n in table.values]
    return frame.group_by(keys).agg(known)


def _calibrated(x: Real, target: Real, weight: Real) -> Real | None:
    """Return w·exp(x·λ) with the totals ``target``, by Newton's method; None where it does not come there."""
    if not len(x):
        return None
    scale = np.maximum(np.abs(x).mean(axis=0), 1e-12)
    z, aim = x / scale, target / scale
    factor = np.zeros(len(target))

    def missed(at: Real) -> tuple[Real, float]:
        with np.errstate(over="ignore"):
            now = weight * np.exp(z @ at)
        off = z.T @ now - aim
        return now, float(np.abs(off).max() / max(np.abs(aim).max(), 1e-12))

    now, miss = missed(factor)
    for _step in range(_NEWTON):
        if miss < _MET:
            return now
        hessian = (z * now[:, None]).T @ z
        move = np.linalg.lstsq(hessian, aim - z.T @ now, rcond=None)[0]
        length = 1.0
        while length > _MET and not (result := missed(factor + length * move))[1] < miss:
            length /= 2
        if length <= _MET:
            return None
        factor = factor + length * move
        now, miss = result
    return None


def estimate(
    question: AnalystQuestion,
    public: History,
    statement: Statement | None = None,
    *,
    totals: Sequence[Tabulation] = (),
    draws: int = 20,
    seed: int = 1,
) -> Tabulation:
    """Return the answer to a question that a release implies, the mean over draws, without the original.

    ``VALUE_error`` is the half-width of the interval that holds 95 % of the draws. It tells how far draws are apart,
    not what was lost with deleted rows: without ``totals`` sums cover the released rows alone, as the notes say.
    """
    tables = ImpliedDraws(public, statement, totals=totals, seed=seed).tables([question], draws)[question.name]
    covers = "all rows" if totals else "released rows"
    notes: dict[str, Any] = {"kind": "estimate", "draws": len(tables), "covers": covers}
    return replace(mean_answer(question, tables), notes=notes)
