"""Who may be behind a public history, on a cluster: known rows joined with the public rows they fit.

One row of each history says who is asked for at all: the row, and of it the column, that the fewest known rows can fit.
Items are looked up by their names, numbers and dates by the stretch between two of a thousand cuts. The next most
telling rows sort out most of those whom this leaves. For the others all rows are joined with theirs, and what fits is
matched, many pairs at a time. What one pair of a history
and a customer is matched by is held in a worker: the rows that fit, for each public row at most as many as the history
has rows, for with so many a row cannot be left without one.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from noren.data.arrays import exact_values, numbers
from noren.data.categories import as_released
from noren.data.cells import cell_ends, is_set
from noren.data.compatibility import compared_columns, row_texts, with_item_column
from noren.data.frames import History
from noren.data.schema import Column, Role, Scale
from noren.data.statement import Statement
from noren.execution.frames import ROW, ClusterRecords, Types, map_blocks
from noren.execution.release import Keep
from noren.execution.spark_functions import Window, f
from noren.kernels.arrays import Real, Whole

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

_CUTS = 1_000
_FEW = 4
"""How many rows of a history, the most telling ones, sort out customers before all rows are looked at."""
_ALL = 2**62
_TYPES: dict[str, pl.DataType] = {"string": pl.String(), "double": pl.Float64(), "bigint": pl.Int64()}


def consistent_pairs(
    original: ClusterRecords,
    public: ClusterRecords,
    statement: Statement,
    keep: Keep,
    witnesses: DataFrame | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Return the public histories, and for each the customers who may be behind it.

    The first has ``history``, ``pseudonym``, ``rows``, ``sharing``, the second ``history`` and ``customer``. See
    :func:`noren.data.compatibility.consistent_customers`, which finds the same on one machine. With ``witnesses``
    (``history``, ``customer``), only they are asked for: each must fit like anybody else.
    """
    columns = compared_columns(*with_item_column(original.rowless(), public.rowless()))
    fits, speaks = _row_tests(columns)
    # the values of known rows as v0, v1, …, the first of which is the item
    into = {f"v{at}": pl.String() if c.scale == Scale.NOMINAL else pl.Float64() for at, c in enumerate(columns)}

    def kernel(block: History, rows: pl.Series) -> pl.DataFrame:
        (history,) = with_item_column(as_released(block, statement))
        values = [_value(exact_values(history, column), column).alias(f"v{at}") for at, column in enumerate(columns)]
        return pl.DataFrame([*values, history[Role.CUSTOMER].alias("customer"), rows]).drop_nulls("customer")

    known = original.map(kernel, into | {"customer": pl.String(), ROW: pl.Int64()})
    known = keep(known.withColumnRenamed("v0", "item"))
    classes = keep(classes_of(public))
    public_rows = _public_rows(public, columns).join(
        classes.select("history", "rows", f.col("pseudonym").alias("owner")), f.col("pseudonym") == f.col("owner")
    )
    cells = [
        f.col(f"s{at}") if column.scale == Scale.NOMINAL else f.struct(f"l{at}", f"h{at}")
        for at, column in enumerate(columns)
    ]
    number = f.row_number().over(Window.partitionBy("history").orderBy(*cells))
    public_rows = keep(public_rows.withColumn("public_row", number).drop("pseudonym", "owner"))
    many = known.groupBy("customer").agg(f.count(f.lit(1)).alias("many"))
    if witnesses is None:
        candidates, telling = _candidates(public_rows, known, many, columns, (fits, speaks), keep)
    else:
        candidates, telling = witnesses.join(classes.select("history", "rows"), "history"), None
    might = candidates.distinct().join(many, "customer").filter("many >= rows").select("history", "customer", "rows")
    might = keep(might)
    settled = f.lit(witnesses is None) & (f.col("rows") == 1)  # what was asked for was all that the history says
    alone, others = (might.filter(which).select("history", "customer") for which in (settled, ~settled))
    pair = ["history", "customer"]

    def fitting_rows(rows: DataFrame, pairs: DataFrame) -> DataFrame:
        """Return public rows beside the rows of their customers that fit them; by item, where they say any."""
        beside = rows.join(pairs, "history")
        listed = beside.filter("s0 IS NOT NULL").withColumn("item", f.explode("s0")).drop("s0")
        both = [listed.join(known, [*pair[1:], "item"]), beside.filter("s0 IS NULL").drop("s0").join(known, "customer")]
        by_item, by_customer = (some.filter(fits).select(*pair, "rows", "public_row", ROW) for some in both)
        return by_item.unionByName(by_customer)

    def needed(rows: DataFrame) -> DataFrame:
        return rows.groupBy("history").agg(f.count(f.lit(1)).alias("need"))

    speaking = public_rows.filter(speaks)
    if telling is not None:
        few = keep(speaking.join(telling, ["history", "public_row"], "left_semi"))
        found = fitting_rows(few, others).groupBy(*pair).agg(f.count_distinct("public_row").alias("fitted"))
        asked = others.join(needed(few), "history", "left").join(found, pair, "left")
        others = keep(asked.filter("need IS NULL OR fitted = need").select(*pair))
    # the pairs each of whose public rows can have a known row of its own
    place = f.row_number().over(Window.partitionBy(*pair, "public_row").orderBy(ROW))
    some = fitting_rows(speaking, others).repartition(*pair).withColumn("place", place).filter("place <= rows")
    edges = f.collect_list(f.struct("public_row", f.col(ROW).alias("row"))).alias("edges")
    fitting = some.groupBy(*pair).agg(f.count_distinct("public_row").alias("fitted"), edges)
    pairs = others.join(needed(speaking), "history", "left")
    every = pairs.filter("need IS NULL").select(*pair)  # a history that says nothing
    rows = pairs.filter("need IS NOT NULL").join(fitting, pair).filter("fitted = need").select(*pair, "edges")
    matched = map_blocks(rows, _matchable, dict.fromkeys(pair, pl.String()))
    return classes, alone.unionByName(every.unionByName(matched))


def _public_rows(public: ClusterRecords, columns: list[Column]) -> DataFrame:
    """Return what public rows allow: ends ``l1``, ``h1``, … or sets ``s0``, …; null where a cell is suppressed."""
    into: dict[str, pl.DataType] = {}
    for at, column in enumerate(columns):
        nominal = column.scale == Scale.NOMINAL
        into |= {f"s{at}": pl.List(pl.String())} if nominal else {f"{end}{at}": pl.Float64() for end in "lh"}

    def kernel(block: History, _rows: pl.Series) -> pl.DataFrame:
        (history,), parts = with_item_column(block), []
        for at, column in enumerate(columns):
            cells = history.frame[column.name]
            if column.scale == Scale.NOMINAL:  # the texts that cells allow; null where they allow every one
                if is_set(cells.dtype):
                    texts = cells.cast(pl.List(pl.String)).list.drop_nulls().list.unique().list.sort()
                else:
                    text = cells.cast(pl.String).to_frame("text")
                    some = pl.when(pl.col("text").is_not_null()).then(pl.concat_list("text"))
                    texts = text.select(some).to_series()
                parts.append(texts.alias(f"s{at}"))
                continue
            ends = zip("lh", cell_ends(cells), strict=True)
            parts += [_value(value, column).alias(f"{end}{at}") for end, value in ends]
        return pl.DataFrame([*parts, history[Role.CUSTOMER].alias("pseudonym")]).drop_nulls("pseudonym")

    return public.map(kernel, into | {"pseudonym": pl.String()})


def _value(values: pl.Series, column: Column) -> pl.Series:
    """Return values as texts, or as numbers, null where there is none."""
    return values.cast(pl.String) if column.scale == Scale.NOMINAL else pl.Series(numbers(values)).fill_nan(None)


def _row_tests(columns: list[Column]) -> tuple[Expression, Expression]:
    """Return whether a known row fits a public one in all columns but the item; and whether a public row says anything.

    A blank fits what is suppressed.
    """
    silent = [f.col(f"s{at}" if c.scale == Scale.NOMINAL else f"l{at}").isNull() for at, c in enumerate(columns)]
    tests: list[Expression] = [f.lit(True)]
    for at, column in list(enumerate(columns))[1:]:
        value = f.col(f"v{at}")
        inside = (value >= f.col(f"l{at}")) & (value <= f.col(f"h{at}"))
        allowed = f.array_contains(f"s{at}", value) if column.scale == Scale.NOMINAL else inside
        tests.append(silent[at] | f.coalesce(allowed, f.lit(False)))
    return reduce(and_, tests), ~reduce(and_, silent)


def _candidates(
    public_rows: DataFrame,
    known: DataFrame,
    customers: DataFrame,
    columns: list[Column],
    tests: tuple[Expression, Expression],
    keep: Keep,
) -> tuple[DataFrame, DataFrame]:
    """Return who is asked for at all, customers with a row that fits the most telling row of a history; and the next
    most telling rows.
    """
    placed, stretches = _stretches(known, columns, keep)
    often = known.filter("item IS NOT NULL").groupBy("item").agg(f.count(f.lit(1)).alias("often"))
    listed = public_rows.select("history", "public_row", f.explode("s0").alias("item")).join(f.broadcast(often), "item")
    by_item = listed.groupBy("history", "public_row").agg(f.sum("often").alias("often"))
    ways = _lookups(public_rows.join(by_item, ["history", "public_row"], "left").fillna(0, ["often"]), stretches)
    place = f.row_number().over(Window.partitionBy("history").orderBy("allowed", "public_row"))
    ways = keep(ways.withColumn("telling", place).filter(f.col("telling") <= _FEW))
    telling_rows = keep(public_rows.join(ways.filter("telling = 1"), ["history", "public_row"]))
    (fits, speaks), columns_out = tests, ["history", "customer", "rows"]
    fits = fits & (f.col("s0").isNull() | f.coalesce(f.array_contains("s0", f.col("item")), f.lit(False)))
    named = telling_rows.filter("way = 0").withColumn("looked", f.explode("s0"))
    candidates = named.join(placed, f.col("looked") == f.col("item")).filter(fits).select(columns_out)
    for at in stretches:
        covered = telling_rows.filter(f.col("way") == at).withColumn("looked", f.explode(f.sequence("first", "last")))
        beside = covered.join(placed, f.col("looked") == f.col(f"b{at}")).filter(fits)
        candidates = candidates.unionByName(beside.select(columns_out))
    others = telling_rows.filter("way < 0")
    beside = others.filter(speaks).crossJoin(placed).filter(fits).select(columns_out)
    everybody = others.filter(~speaks).crossJoin(customers).select(columns_out)
    return candidates.unionByName(beside).unionByName(everybody), ways.filter("telling > 1")


def _stretches(known: DataFrame, columns: list[Column], keep: Keep) -> tuple[DataFrame, dict[int, tuple[Real, Whole]]]:
    """Return known rows with the stretches of their numbers as ``b1``, …, and of each column of numbers where it is cut
    into stretches and how many known rows have a value before each.
    """
    at = [place for place, column in enumerate(columns) if column.scale != Scale.NOMINAL]
    shares = [i / _CUTS for i in range(1, _CUTS)]
    quantiles = [f.percentile_approx(f"v{place}", shares, 10 * _CUTS) for place in at]
    bounds = (known.agg(*quantiles).first() if quantiles else None) or [()] * len(at)
    cuts = {place: np.unique(np.array(some or (), dtype=np.float64)) for place, some in zip(at, bounds, strict=True)}
    placed = map_blocks(
        known,
        lambda block: block.with_columns(_places(some, block[f"v{at}"]).alias(f"b{at}") for at, some in cuts.items()),
        {name: _TYPES[kind] for name, kind in known.dtypes} | {f"b{place}": pl.Int32() for place in at},
    )
    placed, stretches = keep(placed), {}
    for place, some in cuts.items():
        sizes = np.zeros(len(some) + 2, dtype=np.int64)
        for row in placed.dropna(subset=[f"b{place}"]).groupBy(f"b{place}").count().collect():
            sizes[row[0] + 1] = row[1]
        stretches[place] = some, np.cumsum(sizes)
    return placed, stretches


def _places(cuts: Real, values: pl.Series) -> pl.Series:
    """Return the stretches of values, null for none; a greater value is never in an earlier stretch."""
    places = np.searchsorted(cuts, values.fill_null(0.0).to_numpy())
    return pl.select(pl.when(values.is_not_null()).then(pl.Series(places, dtype=pl.Int32))).to_series()


def _lookups(public_rows: DataFrame, stretches: dict[int, tuple[Real, Whole]]) -> DataFrame:
    """Return for each public row how to look up who fits it: the column that allows the fewest known rows.

    ``way`` is 0 for the item, the place of another column, or -1 where the row says nothing.
    """
    names = [f"{end}{at}" for at in stretches for end in "lh"]
    places = dict.fromkeys(("way", "first", "last"), pl.Int32())
    into: Types = {"history": pl.String(), "public_row": pl.Int32(), "allowed": pl.Int64(), **places}

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        zero = np.zeros(len(block), dtype=np.int64)
        allowed, ends = [np.where(block["silent"].to_numpy(), _ALL, block["often"].to_numpy())], [(zero, zero)]
        for at, (cuts, before) in stretches.items():
            first, last = (_places(cuts, block[f"{end}{at}"]).fill_null(0).to_numpy().astype(np.int64) for end in "lh")
            allowed.append(np.where(block[f"l{at}"].is_null().to_numpy(), _ALL, before[last + 1] - before[first]))
            ends.append((first, last))
        best = np.argmin(allowed, axis=0)
        least = np.take_along_axis(np.array(allowed), best[None], axis=0)[0]
        first, last = (np.choose(best, [pair[side] for pair in ends]) for side in range(2))
        way = np.where(least == _ALL, -1, np.array([0, *stretches])[best])
        return block.select("history", "public_row").with_columns(
            allowed=pl.Series(least), way=pl.Series(way), first=pl.Series(first), last=pl.Series(last)
        )

    lookups = public_rows.select("history", "public_row", "often", f.col("s0").isNull().alias("silent"), *names)
    return map_blocks(lookups, kernel, into)


def _matchable(block: pl.DataFrame) -> pl.DataFrame:
    """Keep the pairs that can be matched; the pairs of a block are one graph of as many parts."""
    edges = block.select("edges").with_row_index("pair").explode("edges").unnest("edges")
    coded = edges.select(
        "pair", left=pl.struct("pair", "public_row").rank("dense") - 1, right=pl.struct("pair", "row").rank("dense") - 1
    )
    left, right = (coded[side].cast(pl.Int64).to_numpy() for side in ("left", "right"))
    shape = (int(left.max(initial=-1)) + 1, int(right.max(initial=-1)) + 1)
    graph = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=shape)
    mate = np.asarray(maximum_bipartite_matching(graph, perm_type="column"))
    owner = np.zeros(shape[0], dtype=np.int64)
    owner[left] = coded["pair"].to_numpy()
    stuck = np.zeros(len(block), dtype=np.bool_)
    stuck[owner[mate < 0]] = True
    return block.filter(~pl.Series(stuck)).select("history", "customer")


# --- public histories: who shows which, and how many show the same ---------------------------------------------------


_LANES = 8


def histories_of(public: ClusterRecords) -> DataFrame:
    """Return the pseudonyms with a digest of each one's history and its number of rows.

    A row's text is hashed to 256 bits (SHA-256), and these are added up as eight numbers, so the order of rows says
    nothing and no history need be in one place. Equal histories have equal digests; that different ones have, nobody
    will see.
    """
    names = [f"r{at}" for at in range(len(public.schema.names) - 1)]

    def kernel(block: History, _rows: pl.Series) -> pl.DataFrame:
        texts = row_texts(block)
        whose = block[Role.CUSTOMER].alias("pseudonym")
        return texts.rename(dict(zip(texts.columns, names, strict=True))).with_columns(whose)

    rows = public.map(kernel, dict.fromkeys([*names, "pseudonym"], pl.String()))
    digest = f.sha2(f.to_json(f.struct(*names)) if names else f.lit(""), 256)
    lanes = [f.conv(f.substring("digest", 1 + 8 * at, 8), 16, 10).cast("long") for at in range(_LANES)]
    each = rows.filter("pseudonym IS NOT NULL").select("pseudonym", digest.alias("digest")).groupBy("pseudonym")
    sums = each.agg(f.count(f.lit(1)).alias("rows"), *(f.sum(lane).alias(f"l{at}") for at, lane in enumerate(lanes)))
    whole = f.sha2(f.concat_ws(" ", "rows", *(f"l{at}" for at in range(_LANES))), 256)
    return sums.select("pseudonym", whole.alias("history"), "rows")


def classes_of(public: ClusterRecords) -> DataFrame:
    """Return each public ``history`` once: one ``pseudonym`` that has it, its ``rows``, how many are ``sharing`` it."""
    each = histories_of(public).groupBy("history")
    return each.agg(f.min("pseudonym").alias("pseudonym"), f.max("rows").alias("rows"), f.count("*").alias("sharing"))


def class_sizes(public: ClusterRecords) -> tuple[Whole, Whole]:
    """Return the different sizes of classes of equal histories, and how many classes have each.

    The sizes add up to the pseudonyms, so of n pseudonyms there are at most √(2n) different ones.
    """
    rows = classes_of(public).groupBy("sharing").count().orderBy("sharing").collect()
    sizes, times = ([int(row[at]) for row in rows] for at in range(2))
    return np.array(sizes, dtype=np.int64), np.array(times, dtype=np.int64)
