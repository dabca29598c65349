"""An analyst's standard questions of a purchase history, and how far an answer may be from the original's.

Each question is declared once, in ``questions.toml``: its name, what the data needs, its limits and the reason for
them. The measure, the pages and ``noren explore --for`` are made from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from noren.data.arrays import exact_values
from noren.data.frames import History
from noren.data.schema import Role, Schema
from noren.errors import UnknownNameError
from noren.i18n import N_, _
from noren.kernels.judging.statistics import pearson, rank_of
from noren.tables import table_of
from noren.tabulations.tabulation import Tabulation

_ROLES: Final = (Role.CUSTOMER, Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
_THIRDS: Final = 3
_PAIRED: Final = 200
"""Association rules are looked for among so many items, the most frequent ones."""
_FEWEST_MONTHS: Final = 3
"""A correlation of fewer months says nothing."""
_NORMAL: Final = 1.96
_SUMS: Final = {"revenue": N_("revenue"), "rows": N_("rows"), "quantity": N_("quantity"), "size": N_("size")}
"""The sums that sentences show."""


class Grade(StrEnum):
    """Whether an analyst can use an answer."""

    USABLE = N_("usable")
    WITH_CARE = N_("with care")
    NOT_USABLE = N_("not usable")


def grade_of(ratio: float) -> Grade:
    """Return the grade of an answer by how far its worst error goes: 1 is the limit of *usable*, 2 of *with care*."""
    return Grade.USABLE if ratio <= 1 else Grade.WITH_CARE if ratio <= 2 else Grade.NOT_USABLE


@dataclass(frozen=True)
class AnswerComparison:
    """A question's answer from a release beside the original's."""

    question: AnalystQuestion
    errors: Mapping[str, float]
    original: Tabulation
    estimate: Tabulation

    @property
    def grade(self) -> Grade:
        """The worst grade that any of the errors gives."""
        return grade_of(self.ratio)

    @property
    def ratio(self) -> float:
        """How far the worst error goes: 1 at the limit of *usable*, 2 at that of *with care*."""
        ratios = []
        for name, value in self.errors.items():
            usable, care = self.question.limits[name]
            perfect = 1.0 if usable > care else 0.0
            off, limit, last = abs(value - perfect), abs(usable - perfect), abs(care - perfect)
            ratios.append(off / limit if off <= limit else 1 + (off - limit) / (last - limit))
        return max(ratios)

    def as_dict(self) -> dict[str, Any]:
        """Return grade, errors and the sums of the values of both answers as plain data."""
        sums = {
            side: {name: float(answer.frame[name].sum()) for name in answer.values}
            for side, answer in (("original", self.original), ("release", self.estimate))
        }
        return {"grade": str(self.grade), "errors": dict(self.errors), "ratio": self.ratio, **sums}


@dataclass(frozen=True)
class AnalystQuestion:
    """A question: what it needs, how it is answered, and what its error may be.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["a", "b"], "date": ["2010/12/1", "2011/1/3"], "item": ["x", "y"], "price": [1.5, 2.0],
    ...         "quantity": [2, 1]}
    >>> questions()["monthly-sales"].answer(History.of(rows, Schema.preset("pwscup2018"))).frame.rows()
    [('2010-12', 1.0, 2.0, 3.0), ('2011-01', 1.0, 1.0, 2.0)]
    """

    name: str
    title: str
    asks: str
    roles: tuple[Role, ...]
    says: str
    """How its errors are written, with their names in braces."""
    reason: str
    """Why the limits are what they are."""
    limits: Mapping[str, tuple[float, float]]
    """Of each error the limit of *usable* and that of *with care*."""
    shows: tuple[str, ...] = ()
    """The sums of which one is shown of both answers, that which is furthest off."""
    top: int | None = None
    """How many cells of the answer count, the greatest ones."""

    def fits(self, schema: Schema) -> bool:
        """Return whether data of this schema can be asked."""
        return all(schema.with_role(role) for role in self.roles)

    def answer(self, history: History, weights: pl.Series | None = None) -> Tabulation:
        """Return the answer of exact rows; with ``weights`` a row counts so often in counts and sums."""
        rows = rows_to_ask(history)
        return self.best(self.table(rows if weights is None else rows.with_columns(weight=weights)))

    def table(self, rows: pl.DataFrame) -> Tabulation:
        """Return the answer before the greatest cells are taken; rows are those of :func:`rows_to_ask`."""
        keys, frame = _HOW[self.name][0](rows.drop_nulls(["customer", *map(str, self.roles)]))
        values = tuple(name for name in frame.columns if name not in keys)
        return Tabulation(self.name, keys, values, frame)

    def best(self, table: Tabulation) -> Tabulation:
        """Return the cells that count."""
        if self.top is None:
            return table
        order = [table.values[0], *table.keys]
        frame = table.frame.sort(order, descending=[True, *(False for _key in table.keys)])
        return replace(table, frame=frame.head(self.top))

    def compare(self, original: Tabulation, estimate: Tabulation) -> AnswerComparison:
        """Return how far an answer is from the original's."""
        return AnswerComparison(self, _HOW[self.name][1](original, estimate), original, estimate)

    def sentence(self, result: Mapping[str, Any]) -> str:
        """Return a comparison, as :meth:`AnswerComparison.as_dict` returns it, in words.

        For example *Monthly sales: not usable (r = 0.20, wrong by 32.0%; revenue 2.3 M → 1.57 M)*.
        """
        written = {n: f"{value:.2f}" if n == "r" else f"{100 * value:.1f}%" for n, value in result["errors"].items()}
        said = _(self.says).format_map({"r": "–", **written})
        sums = {
            n: (result["original"][n], result["release"].get(n, 0.0)) for n in self.shows if n in result["original"]
        }
        if sums:
            name = max(sums, key=lambda name: abs(sums[name][1] - sums[name][0]) / (abs(sums[name][0]) or 1.0))
            said += f"; {_(_SUMS[name])} {_compact(sums[name][0])} → {_compact(sums[name][1])}"
        title, grade = _(self.title), str(result["grade"])
        return _("{title}: {grade} ({errors})").format(title=title, grade=_(grade), errors=said)


def _compact(value: float) -> str:
    """Return a number with three digits that count: 2.30 M."""
    size, mark = next(((size, mark) for size, mark in ((1e6, " M"), (1e3, " k")) if abs(value) >= size), (1.0, ""))
    return f"{value / size:.3g}{mark}"


@cache
def questions() -> Mapping[str, AnalystQuestion]:
    """Return the questions by name, in the order of the file."""
    made = {}
    for name, about in table_of(__name__).items():
        limits = {error: (float(usable), float(care)) for error, (usable, care) in about["limits"].items()}
        about = about | {"roles": tuple(map(Role, about["roles"])), "shows": tuple(about.get("shows", ()))}
        made[name] = AnalystQuestion(name, **about | {"limits": limits})
    return made


def named_questions(names: str | Iterable[str]) -> list[AnalystQuestion]:
    """Return questions by their names as people write them: ``"monthly sales, top items"``.

    >>> [question.name for question in named_questions("Monthly sales, rfm")]
    ['monthly-sales', 'rfm']
    """
    known, chosen = questions(), dict[str, AnalystQuestion]()
    for text in names.split(",") if isinstance(names, str) else names:
        name = text.strip().lower().replace(" ", "-").replace("_", "-")
        if name not in known:
            message = _("there is no question {name!r}; there are {names}")
            raise UnknownNameError(message.format(name=text.strip(), names=", ".join(known)))
        chosen[name] = known[name]
    return [*chosen.values()]


def mean_answer(question: AnalystQuestion, tables: Sequence[Tabulation]) -> Tabulation:
    """Return the mean of several answers before the greatest cells are taken, with ``VALUE_error`` beside each value.

    The error is the half-width of the interval that holds 95 % of the answers: their spread, and no more.
    """
    first, count = tables[0], len(tables)
    if count == 1:
        return question.best(first)
    cells = pl.concat(table.frame for table in tables)
    # a cell that an answer lacks is a 0 there
    means = {name: pl.col(name).sum() / count for name in first.values}
    squares = {name: (pl.col(name) ** 2).sum() / count for name in first.values}
    errors = {f"{n}_error": (squares[n] - mean**2).clip(0).sqrt() * _NORMAL for n, mean in means.items()}
    return question.best(replace(first, frame=_by(cells, first.keys, **means, **errors)))


# --- answers ---------------------------------------------------------------------------------------------------------


_Answer = tuple[tuple[str, ...], pl.DataFrame]


def rows_to_ask(history: History) -> pl.DataFrame:
    """Return rows as customer, day, month, quarter, item, quantity, revenue and weight, of what a history has."""
    columns = {column.role: exact_values(history, column) for column in history.schema.with_role(*_ROLES)}
    rows = pl.DataFrame({str(role): values for role, values in columns.items()})
    made = [pl.lit(1.0).alias("weight")]
    if Role.DATE in columns:
        date = pl.col("date")
        made += [date.cast(pl.Date).alias("day"), date.dt.strftime("%Y-%m").alias("month"),
                 pl.format("{}-Q{}", date.dt.strftime("%Y"), date.dt.quarter()).alias("quarter")]  # fmt: skip
    if Role.PRICE in columns:
        price = pl.col("price") * 1.0
        made.append((price * pl.col("quantity") if Role.QUANTITY in columns else price).alias("revenue"))
    if Role.ITEM in columns:
        made.append(pl.col("item").cast(pl.String))
    return rows.with_columns(made)


def customers(rows: pl.DataFrame, visit: str, money: str) -> pl.DataFrame:
    """Return each customer's last day, number of visits and sum of money."""
    views = {"last": pl.col("day").max(), "visits": pl.col(visit).n_unique(), "money": pl.col(money).sum()}
    return rows.group_by("customer", maintain_order=True).agg(**views)


def _by(rows: pl.DataFrame, keys: Sequence[str], /, **values: pl.Expr) -> pl.DataFrame:
    return rows.group_by(keys, maintain_order=True).agg(**values).sort(keys) if keys else rows.select(**values)


def _sums(rows: pl.DataFrame, keys: tuple[str, ...], names: Sequence[str]) -> _Answer:
    """Return the sums of what there is; rows count with their weights, and the sum of these is ``rows``."""
    there = [name for name in names if name == "rows" or name in rows.columns]
    amounts = {name: pl.col("weight") if name == "rows" else pl.col(name) * pl.col("weight") for name in there}
    return keys, _by(rows, keys, **{name: amount.sum() for name, amount in amounts.items()})


def _basket_size(rows: pl.DataFrame) -> _Answer:
    count, baskets = float(rows["weight"].sum()), rows.n_unique(["customer", "day"])
    return (), pl.DataFrame({"size": [count / max(baskets, 1)]})


def _rfm(rows: pl.DataFrame) -> _Answer:
    people = customers(rows, "day", "revenue" if "revenue" in rows.columns else "weight")
    names = ("recency", "frequency", "monetary")
    views = [people[view].to_physical().cast(pl.Float64).to_numpy() for view in ("last", "visits", "money")]
    ranks = pl.DataFrame({name: rank_of(view, _THIRDS) + 1 for name, view in zip(names, views, strict=True)})
    return names, _by(ranks.cast(pl.String), names, customers=pl.len().cast(pl.Float64))


def _repeat_rate(rows: pl.DataFrame) -> _Answer:
    people = rows.group_by("customer", maintain_order=True).agg(
        days=pl.col("day").n_unique() >= 2, months=pl.col("month").n_unique() >= 2
    )
    return (), people.select(pl.col("days", "months").mean().fill_null(0.0))


def _association_rules(rows: pl.DataFrame) -> _Answer:
    baskets = ["customer", "day"] if "day" in rows.columns else ["customer"]
    bought = rows.drop_nulls(baskets).select("item", basket=pl.struct(baskets).rank("dense") - 1).unique()
    many = bought["basket"].n_unique()
    often = bought.group_by("item").len("count").sort("count", "item", descending=[True, False]).head(_PAIRED)
    items = often.sort("item").with_row_index("column")["item", "column"]
    some = bought.join(items, on="item")
    at = (some["basket"].to_numpy(), some["column"].to_numpy())
    matrix = csr_array((np.ones(len(some)), at), shape=(many, len(items)))
    together = (matrix.T @ matrix).toarray()
    alone = np.diagonal(together)
    first, second = np.nonzero(np.triu(together, 1) * many > np.outer(alone, alone))
    count = together[first, second]
    frame = pl.DataFrame({"item": items["item"].gather(first), "with_item": items["item"].gather(second)})
    lift = count * many / (alone[first] * alone[second])
    return ("item", "with_item"), frame.with_columns(baskets=pl.Series(count), lift=pl.Series(lift))


# --- errors ----------------------------------------------------------------------------------------------------------


def _beside(original: Tabulation, other: Tabulation, value: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a value of every cell that either answer has, 0 where one lacks the cell or the value."""
    keys = list(original.keys)
    cells = [
        table.frame.select(*keys, pl.col(value) if value in table.values else pl.lit(0.0).alias(value))
        for table in (original, other)
    ]
    if not keys:
        return np.array([cells[0][value].sum()]), np.array([cells[1][value].sum()])
    both = cells[0].join(cells[1], on=keys, how="full", coalesce=True).sort(keys).fill_null(0.0)
    return both[value].to_numpy(), both[f"{value}_right"].to_numpy()


def _error_of_sums(original: Tabulation, other: Tabulation) -> dict[str, float]:
    """Return the errors of the value that is answered worst."""
    off, correlation = [], []
    for known, estimated in (_beside(original, other, value) for value in original.values):
        missed, whole = float(np.abs(known - estimated).sum()), float(np.abs(known).sum())
        off.append(missed / whole if whole else float(missed > 0))
        if len(known) >= _FEWEST_MONTHS and known.std() > 0:
            correlation.append(pearson(known, estimated) or 0.0)
    return ({"r": min(correlation)} if correlation else {}) | {"error": max(off)}


def _largest_difference(original: Tabulation, other: Tabulation) -> dict[str, float]:
    sums = [(float(original.frame[name].sum()), float(other.frame[name].sum())) for name in original.values]
    return {"error": max(abs(known - estimated) for known, estimated in sums)}


def _variation(original: Tabulation, other: Tabulation) -> dict[str, float]:
    known, estimated = _beside(original, other, original.values[0])
    shares = [side / max(float(side.sum()), 1e-12) for side in (known, estimated)]
    return {"error": float(np.abs(shares[0] - shares[1]).sum() / 2)}


def _share_of_top(original: Tabulation, other: Tabulation) -> dict[str, float]:
    kept = original.frame.join(other.frame, on=list(original.keys), how="semi")
    return {"kept": kept.height / max(original.frame.height, 1)}


_Errors = Callable[[Tabulation, Tabulation], dict[str, float]]
_HOW: Final[Mapping[str, tuple[Callable[[pl.DataFrame], _Answer], _Errors]]] = {
    "monthly-sales": (partial(_sums, keys=("month",), names=("rows", "quantity", "revenue")), _error_of_sums),
    "revenue": (partial(_sums, keys=(), names=("revenue",)), _error_of_sums),
    "top-items": (partial(_sums, keys=("item",), names=("rows",)), _share_of_top),
    "basket-size": (_basket_size, _error_of_sums),
    "rfm": (_rfm, _variation),
    "repeat-rate": (_repeat_rate, _largest_difference),
    "association-rules": (_association_rules, _share_of_top),
}
"""How each question is answered, and how far an answer is from the original's."""
