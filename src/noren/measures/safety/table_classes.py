"""The classes of a released table: rows that are alike in every quasi column, counted from the public part alone.

Nothing here knows how a method makes classes; the two meet in tests alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from noren.data.cells import different, is_interval, is_set
from noren.data.formats.render import has_negative_zero, packed
from noren.data.frames import Records, Table
from noren.data.schema import Column, Role, Schema
from noren.data.statement import Statement
from noren.errors import CheckFailedError, ParameterError, SchemaError, listing
from noren.kernels.arrays import Whole
from noren.kernels.judging.statistics import weighted_median
from noren.measures.evidence import public_table
from noren.protocols import Evidence, Score
from noren.tables import Texts

say = Texts(__name__)
LIKELY = 0.8
"""From which share of a class on its commonest sensitive value is as good as told."""
_ROUNDING = 1e-9
_CELLS = 4_000_000
_BLOCK_ROWS = 1 << 20


@dataclass(frozen=True)
class TableClasses:
    """The classes of a table."""

    sizes: pl.Series
    """How many rows each class has."""
    class_of: pl.Series
    """The class of each row; null where the row says nothing in any quasi column, which is no class."""

    @property
    def unlinked_rows(self) -> int:
        """How many rows say nothing in any quasi column."""
        return self.class_of.null_count()


def table_classes(table: Table, columns: Sequence[str] | None = None) -> TableClasses:
    """Return the classes of a table: rows whose cells in all ``columns`` are equal, by default the quasi columns.

    A suppressed or missing cell is equal to other such cells and to no value. Rows all of whose quasi cells are so are
    not a class: nobody can be looked up among them, and to count them would let a method hide small classes there.

    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}, "city": {"role": "quasi"}}})
    >>> found = table_classes(Table(pl.DataFrame({"age": ["20", "20", None], "city": [None, None, None]}), schema))
    >>> found.sizes.to_list(), found.unlinked_rows
    ([2], 1)
    """
    quasi = [column.name for column in table.schema.with_role(Role.QUASI)] if columns is None else columns
    if not quasi:
        raise SchemaError(say("no_quasi_column"))
    # a column at a time, and a whole number for each cell: texts of ten million rows would fill the memory
    keys = pl.DataFrame(packed(_numbers(table.frame[name]) for name in quasi))
    if not keys.width:
        return TableClasses(pl.Series("size", [], dtype=pl.UInt32), pl.Series("class", [None] * len(table), pl.UInt32))
    with_values = keys.filter(pl.any_horizontal(pl.all() > 0))
    classes = with_values.group_by(keys.columns, maintain_order=True).len("size").with_row_index("class")
    class_of = keys.join(classes, on=keys.columns, how="left", maintain_order="left")["class"]
    return TableClasses(classes["size"], class_of)


def _numbers(cells: pl.Series) -> pl.Series:
    """Return a number for each cell, equal where cells are; 0 where nothing is said."""
    cells = _comparable(cells) if has_negative_zero(cells) else cells
    rows, which = different(cells)
    cell_texts = _comparable(cells.gather(rows)).alias("cell").to_frame()
    known = cell_texts.drop_nulls().unique().with_row_index("number", offset=1)
    number = cell_texts.join(known, on="cell", how="left", maintain_order="left")["number"].fill_null(0)
    return number.gather(which)


def _comparable(cells: pl.Series) -> pl.Series:
    """Return cells in a type that can be grouped, null where suppressed."""
    if is_set(cells.dtype):
        listed = cells.cast(pl.List(pl.String))
        sets = pl.DataFrame({"set": listed, "text": listed.list.join("\0")})
        # {a;b} is {b;a}; sorting lists is slow, so each list is sorted once
        known = sets.unique("text", keep="first").select("text", own=pl.col("set").list.sort().list.join("\0"))
        return sets.join(known, on="text", how="left", maintain_order="left")["own"].alias(cells.name)
    if is_interval(cells.dtype):
        lo, hi = cells.struct.field("lo").cast(pl.String), cells.struct.field("hi").cast(pl.String)
        ends = pl.DataFrame({"lo": lo, "hi": hi})
        return ends.select(pl.concat_str("lo", "hi", separator="\0").alias(cells.name)).to_series()
    return cells


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of each size a table has; ``unlinked_rows`` are in none.

    >>> sizes = ClassSizes.of(pl.Series([3, 2, 2, 5]), unlinked_rows=1)
    >>> sizes.classes, sizes.rows, sizes.least, sizes.median
    (4, 12, 2, 2.5)
    """

    sizes: Whole
    counts: Whole
    unlinked_rows: int

    @classmethod
    def of(cls, sizes: pl.Series, unlinked_rows: int) -> ClassSizes:
        """Count classes by their sizes."""
        return cls(*np.unique(sizes.cast(pl.Int64).to_numpy(), return_counts=True), unlinked_rows)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """How many rows they have."""
        return int((self.sizes * self.counts).sum())

    @property
    def least(self) -> int:
        """The size of the smallest."""
        return int(self.sizes[0])

    @property
    def median(self) -> float:
        """The size of the one in the middle."""
        return weighted_median(self.sizes, self.counts)


def judge_table(evidence: Evidence, sensitive: str | None, population_share: float) -> Score:
    """Return the least class, what its classes tell of sensitive values, and three risks; see :class:`Classes`."""
    public = public_table(evidence.release)
    classes, statement = table_classes(public), evidence.release.statement
    sizes = ClassSizes.of(classes.sizes, classes.unlinked_rows)
    columns = sensitive_columns(public.schema, sensitive) if sizes.classes else []
    secrets = {c.name: _disclosure(classes, public, c, evidence.original, claimed_values(statement)) for c in columns}
    return judged(sizes, secrets, statement, len(public), len(evidence.original), population_share)


def judged(
    sizes: ClassSizes,
    disclosures: Mapping[str, dict[str, float]],
    statement: Statement,
    rows: int,
    original_rows: int,
    population_share: float,
) -> Score:
    """Return the score of classes, from their sizes and what they tell of each sensitive column."""
    claims = claims_of(statement)
    notes: dict[str, Any] = {
        "rows": rows,
        "classes": sizes.classes,
        "unlinked_rows": sizes.unlinked_rows,
        "deleted_rows": max(original_rows - rows, 0),
        "claimed": claims.get("k"),
    }
    if not sizes.classes:
        return Score(float(rows), {}, notes | {"holds": True if claims else None})
    least, small = float(sizes.least), sizes.sizes < claims.get("k", 0)
    parts = {
        "min": least,
        "median": sizes.median,
        "mean": sizes.rows / sizes.classes,
        "below": int((sizes.sizes[small] * sizes.counts[small]).sum()) / sizes.rows,
        "prosecutor": 1.0 / least,
        "journalist": min(1.0, population_share / least),
        "marketer": sizes.classes * population_share / sizes.rows,
    }
    met = [] if "k" not in claims else [least >= claims["k"]]
    if disclosures:
        several = list(disclosures.values())
        parts |= {name: min(column[name] for column in several) for name in ("l_distinct", "l_entropy")}
        worst = ("recursive_c", "t_equal", "t_ordered")
        parts |= {
            name: max(column[name] for column in several) for name in worst if all(name in column for column in several)
        }
        notes["sensitive"] = dict(disclosures)
        # where a method names no column, it promises of each
        claimed = [disclosures[name]] if (name := str(claims.get("sensitive"))) in disclosures else several
        ell, kind, t = claims.get("l"), claims.get("diversity", "distinct"), f"t_{claims.get('distance', 'equal')}"
        for column in claimed:
            if ell is not None:
                met.append(column["l_distinct"] >= ell)
                met.append(kind != "entropy" or column["l_entropy"] >= ell - _ROUNDING * ell)
                met.append(kind != "recursive" or column.get("recursive_c", math.inf) < claims["c"])
            if "t" in claims:
                met.append(column.get(f"{t}_to_original", column[t]) <= claims["t"] + _ROUNDING)
    return Score(least, parts, notes | {"holds": all(met) if claims else None})


def sensitive_columns(schema: Schema, named: str | None) -> list[Column]:
    """Return the columns of a release that classes may tell something of: the named one, else all sensitive ones."""
    if named is None:
        return list(schema.with_role(Role.SENSITIVE))
    column = schema[named]
    if column.role == Role.QUASI:
        others = listing([c.name for c in schema.columns if c != column])
        raise ParameterError(say("quasi_column", column=named, columns=others))
    return [column]


def _disclosure(classes: TableClasses, public: Table, column: Column, original: Records, ell: int) -> dict[str, float]:
    """Return what the classes disclose about one sensitive column; the worst class decides each number.

    ``disclosed_rows`` counts the rows whose class has one value alone, so that anyone who finds the class knows it;
    ``likely_rows`` those whose class has one value in :data:`LIKELY` of its rows or more.
    """
    values = _comparable(public.frame[column.name]).alias("value")
    rows = _counted(pl.DataFrame({"class": classes.class_of, "value": values})).drop_nulls("class")
    entries = rows.with_columns(size=pl.col("rows").sum().over("class"))
    share = pl.col("rows") / pl.col("size")
    by_class = entries.group_by("class").agg(
        distinct=pl.len(),
        entropy=-(share * share.log()).sum(),
        size=pl.col("size").first(),
        commonest=pl.col("rows").max(),
        # a suppressed value discloses nothing
        commonest_known=pl.col("rows").filter(pl.col("value").is_not_null()).max().fill_null(0),
        rarer=pl.col("rows").sort(descending=True).slice(ell - 1).sum(),
    )
    # in the release, as anyone who holds it sees them; and in the original, which is what a method promises about
    shares = {"": entries.group_by("value").agg(len=pl.col("rows").sum())}
    # the original's schema knows the order of values that the release does not say
    known = original.schema[column.name] if column.name in original.schema.names else column
    if column.name in original.frame.columns and original.frame[column.name].dtype == values.dtype:
        everybody = _counted(original.frame[column.name].alias("value").to_frame())
        shares["_to_original"] = everybody.rename({"rows": "len"})
    size = pl.col("size")
    worst = by_class.select(
        distinct=pl.col("distinct").min(),
        entropy=pl.col("entropy").min(),
        disclosed_rows=size.filter(pl.col("commonest_known") == size).sum(),
        likely_rows=size.filter(pl.col("commonest_known") >= LIKELY * size).sum(),
        rarer=pl.col("rarer").min(),
        ratio=(pl.col("commonest") / pl.col("rarer")).max(),
    ).row(0, named=True)
    distances = {suffix: _distances(entries, shares_in_order(counts, known)) for suffix, counts in shares.items()}
    return worst_disclosure(worst, distances)


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the different rows, and how often each comes; block by block, for they are far fewer than rows."""
    blocks = (rows[start : start + _BLOCK_ROWS] for start in range(0, max(len(rows), 1), _BLOCK_ROWS))
    counts = pl.concat([block.group_by(rows.columns).len("rows") for block in blocks])
    return counts.group_by(rows.columns).agg(pl.col("rows").sum())


def worst_disclosure(worst: Mapping[str, Any], distances: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return what classes tell of a sensitive column, from the numbers of the worst class of each kind.

    ``distances`` are the greatest from everybody in the release and, by ``_to_original``, in the original.
    """
    answer = {
        "l_distinct": float(worst["distinct"]),
        "l_entropy": math.exp(worst["entropy"]),
        "disclosed_rows": float(worst["disclosed_rows"]),
        "likely_rows": float(worst["likely_rows"]),
    }
    if worst["rarer"] > 0:  # else no c is large enough
        answer["recursive_c"] = float(worst["ratio"])
    for suffix, (equal, ordered) in distances.items():
        answer |= {f"t_equal{suffix}": equal, f"t_ordered{suffix}": ordered}
    return answer


def shares_in_order(counts: pl.DataFrame, column: Column) -> pl.DataFrame:
    """Return the share ``all`` of each ``value``, of its rows ``len``, and its ``place`` in the column's order."""
    values = counts["value"]
    place = {value: i for i, value in enumerate(column.domain or ())}
    ordered = sorted(values.to_list(), key=lambda v: (v is not None, place.get(v, -1), v or 0))
    order = pl.DataFrame({"value": pl.Series(ordered, dtype=values.dtype), "place": range(len(ordered))})
    shares = counts.select("value", all=pl.col("len") / pl.col("len").sum())
    return shares.join(order, on="value", nulls_equal=True).sort("place")


def _distances(entries: pl.DataFrame, known: pl.DataFrame) -> tuple[float, float]:
    """Return the greatest earth mover's distance of a class from everybody, for equal and for ordered values."""
    shares = entries.join(known, on="value", how="left", nulls_equal=True).select(
        "class", "place", pl.col("all"), share=pl.col("rows") / pl.col("size")
    )
    # a value that a class lacks adds its whole share to the difference; so count what is there and take it from 1
    there = shares.group_by("class").agg(((pl.col("share") - pl.col("all")).abs() - pl.col("all")).sum().alias("more"))
    equal = float(there.select(((pl.col("more") + 1) / 2).max()).item())
    if len(known) < 2:
        return equal, 0.0
    worst, everywhere = 0.0, known["all"].to_numpy()
    many = max(_CELLS // len(known), 1)  # classes at a time, for a table of classes and values may be large
    ranked = shares.with_columns(number=pl.col("class").rank("dense").cast(pl.Int64) - 1)
    for (_block,), some in ranked.group_by(pl.col("number") // many):
        number = some["number"].to_numpy() % many
        table = np.zeros((int(number.max()) + 1, len(known)))
        table[number, some["place"].to_numpy()] = some["share"].to_numpy()
        carried = np.cumsum(table - everywhere, axis=1)
        worst = max(worst, float(np.abs(carried).sum(axis=1).max()))
    return equal, worst / (len(known) - 1)


# --- claims ----------------------------------------------------------------------------------------------------------


def claims_of(statement: Statement) -> dict[str, Any]:
    """Return what a method that makes classes says of them: k and, where it says so, l, t and how they are meant."""
    if "classes" not in statement.notes:
        return {}
    return {name: value for name, value in statement.parameters.items() if value is not None}


def claimed_values(statement: Statement) -> int:
    """Return the ℓ that a statement claims, 2 where it claims none."""
    return claims_of(statement).get("l") or 2


def reject_false_claims(score: Score) -> None:
    """Raise if a score of a table's classes shows that a claim is false."""
    if score.notes["holds"] in (True, None):
        return
    raise CheckFailedError(say("false_claim", least=int(score.value), claimed=score.notes["claimed"]))
