"""Plans of the measures of safety, and of those that look at classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from noren.data.cells import is_generalised, is_interval, is_set
from noren.data.periods import of_one_kind
from noren.data.schema import Column, Kind, Role
from noren.errors import ParameterError, SchemaError
from noren.execution.candidates import class_sizes, consistent_pairs, histories_of
from noren.execution.frames import MOST_VALUES, PLACE, ROW, ROWS, ClusterRecords, counts_by_key, on_cluster, to_driver
from noren.execution.plans import plan
from noren.execution.release import ClusterEvidence, Keep, in_release_order, persisting
from noren.execution.spark_functions import Window, f
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.feasibility import Candidates, one_to_one_counts
from noren.measures.safety.classes import Classes, claimed_k, reject_false_k, shared
from noren.measures.safety.classes import counted as judged_counts
from noren.measures.safety.effective import Effective
from noren.measures.safety.hits import Hits
from noren.measures.safety.reid_rate import ReidRate, best_rate
from noren.measures.safety.survival import Survival
from noren.measures.safety.table_classes import (
    LIKELY,
    ClassSizes,
    claimed_values,
    judged,
    sensitive_columns,
    shares_in_order,
    worst_disclosure,
)
from noren.measures.utility.table_losses import ClassSize, Discernibility
from noren.progress import Progress, silent
from noren.protocols import Score
from noren.tables import Texts

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

say = Texts(__name__)

# --- how many people a guess names, and how many of them rightly, where both lie -------------------------------------


def hits_of(evidence: ClusterEvidence) -> dict[str, Hits]:
    """Return what became of each guess, as :func:`noren.measures.safety.hits.hits` tells it.

    A guess on a cluster has no order. The answer that counts of several for a pseudonym is the one of the smallest
    rank, of the largest score, of the first customer by text: the order in which our attacks give theirs.
    """
    hits, release = {}, evidence.release
    for name, guess in evidence.guesses.items():
        pairs, true = guess.pairs, release.pseudonyms
        if "row" in pairs.columns or true is None:  # of tables, public rows are pseudonyms and original rows people
            pairs = pairs.withColumnsRenamed({"row": "pseudonym", "person": "customer"})
            public = in_release_order(release.public).frame.filter(f.col(ROW).isNotNull())
            true = public.select((f.col(PLACE) + 1).alias("pseudonym"), (f.col(ROW) + 1).alias("customer"))
        key = [column for column in ("pseudonym", "period") if column in pairs.columns and column in true.columns]
        if "period" in key:
            periods = (
                [str(row[0]) for row in some.select("period").distinct().dropna().collect()] for some in (pairs, true)
            )
            if not of_one_kind(*periods):
                key = ["pseudonym"]  # months say nothing of weeks, but who is behind a pseudonym they say
        surest = [f.col("rank")] if "rank" in pairs.columns else []
        surest += [-f.col("score")] if "score" in pairs.columns else []
        texts = pairs.withColumns({column: f.col(column).cast("string") for column in (*key, "customer")})
        answers = texts.dropna(subset=[*key, "customer"]).groupBy(*key)
        first = answers.agg(f.min(f.struct(*surest, "customer"))["customer"].alias("customer"))
        truth = true.select(*(f.col(column).cast("string") for column in (*key, "customer"))).distinct()
        both = first.join(truth.withColumn("right", f.lit(True)), [*key, "customer"], "left")
        right = f.when(f.col("right"), f.col("customer"))
        counts: Any = both.agg(f.count(f.lit(1)), f.count(right), f.count_distinct(right)).first()
        hits[name] = Hits(*(int(count) for count in counts))
    return hits


_VALUE, _SHARE = "noren_value", "noren_share"


def table_class_sizes(public: ClusterRecords) -> ClassSizes:
    """Return how many classes of each size a released table has; different sizes are at most √(2 · rows)."""
    if public.schema.kind != Kind.TABLE:
        raise SchemaError(say("of_history"))
    rows, quasi = rows_in_classes(public, public.schema.with_role(Role.QUASI))
    sizes = rows.groupBy(*quasi).count().groupBy("count").agg(f.count(f.lit(1)).alias("classes"))
    counts = sorted((int(row["count"]), int(row["classes"])) for row in sizes.collect())
    both = np.array(counts, dtype=np.int64).reshape(-1, 2)
    in_classes = int((both[:, 0] * both[:, 1]).sum())
    return ClassSizes(both[:, 0], both[:, 1], public.rows - in_classes)


def rows_in_classes(
    public: ClusterRecords, columns: Sequence[Column], *more: Expression
) -> tuple[DataFrame, list[str]]:
    """Return the rows that are in some class of ``columns``, with their cells in a form that can be grouped by."""
    if not columns:
        raise SchemaError(say("no_quasi"))
    names = [public.at(column) for column in columns]
    cells = public.frame.select(*(_comparable(public, column).alias(public.at(column)) for column in columns), *more)
    return cells.filter(reduce(or_, (f.col(name).isNotNull() for name in names))), names


def _comparable(records: ClusterRecords, column: Column) -> Expression:
    """Return cells that are equal where they say the same, null where suppressed."""
    cell, dtype = records.column(column), records.types[column.name]
    if is_set(dtype):
        return f.array_sort(cell)  # {a;b} is {b;a}
    if is_interval(dtype):
        return f.when(cell["lo"].isNotNull() & cell["hi"].isNotNull(), cell)
    return cell


def _disclosure(public: ClusterRecords, column: Column, original: ClusterRecords, ell: int) -> dict[str, float]:
    """Return what the classes tell of one sensitive column; the worst class decides each number."""
    value = _comparable(public, column).alias(_VALUE)
    rows, quasi = rows_in_classes(public, public.schema.with_role(Role.QUASI), value)
    known = original.schema[column.name] if column.name in original.schema.names else column
    dtype = public.types[column.name]
    sides = {"": (rows, _VALUE, public.rows)}
    if not is_generalised(dtype) and original.types.get(column.name) == dtype:
        sides["_to_original"] = original.frame, original.at(column.name), original.rows
    everybody = {}  # the values in order, with everybody's shares; they are held by the driver
    for suffix, (frame, name, many) in sides.items():
        counts = counts_by_key(frame, {"value": f.col(name)}, rows=many, most=MOST_VALUES).rename({ROWS: "len"})
        typed = counts if is_generalised(dtype) else counts.with_columns(pl.col("value").cast(dtype))
        everybody[suffix] = shares_in_order(typed, known)
    within = Window.partitionBy(*quasi)
    size, share = f.sum(ROWS).over(within), f.col(ROWS) / f.col("size")
    entries = rows.groupBy(*quasi, _VALUE).agg(f.count(f.lit(1)).alias(ROWS)).withColumn("size", size)
    entries = entries.withColumn("rank", f.row_number().over(within.orderBy(f.desc(ROWS)))).withColumn(_SHARE, share)
    entries = _with_moves(entries, quasi, list(everybody.values()))
    distances = [f"{kind}_{at}" for at in range(len(everybody)) for kind in ("equal", "ordered")]
    by_class = entries.groupBy(*quasi).agg(
        f.count(f.lit(1)).alias("distinct"),
        (-f.sum(f.col(_SHARE) * f.log(_SHARE))).alias("entropy"),
        f.max("size").alias("size"),
        f.max(ROWS).alias("commonest"),
        # a value that is not said tells nothing of anybody
        f.coalesce(f.max(f.when(f.col(_VALUE).isNotNull(), f.col(ROWS))), f.lit(0)).alias("commonest_said"),
        f.coalesce(f.sum(f.when(f.col("rank") >= ell, f.col(ROWS))), f.lit(0)).alias("rarer"),
        *(f.sum(name).alias(name) for name in distances),
    )
    worst: Any = by_class.agg(
        f.min("distinct").alias("distinct"),
        f.min("entropy").alias("entropy"),
        f.coalesce(f.sum(f.expr("if(commonest_said = size, size, 0)")), f.lit(0)).alias("disclosed_rows"),
        f.coalesce(f.sum(f.expr(f"if(commonest_said >= cast({LIKELY} AS DOUBLE) * size, size, 0)")), f.lit(0)).alias(
            "likely_rows"
        ),
        f.min("rarer").alias("rarer"),
        f.max(f.expr("try_divide(commonest, rarer)")).alias("ratio"),
        *(f.max(name).alias(name) for name in distances),
    ).first()
    distance = {
        suffix: ((worst[f"equal_{at}"] + 1) / 2, worst[f"ordered_{at}"] / (len(shares) - 1) if len(shares) > 1 else 0.0)
        for at, (suffix, shares) in enumerate(everybody.items())
    }
    return worst_disclosure(worst.asDict(), distance)


def _with_moves(entries: DataFrame, quasi: list[str], everybody: list[pl.DataFrame]) -> DataFrame:
    """Add what each value of a class adds to its distance from everybody: ``equal_0``, ``ordered_0``, ``equal_1``, …

    Where values are ordered, a class's share up to a place stays the same from one of its values to the next; the sum
    of its differences from everybody's over such a run is read off everybody's running sums.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    names, placed, sums = list(entries.columns), entries, []
    for at, shares in enumerate(everybody):
        lookup = shares.select(known="value", all="all", place="place").with_columns(pl.col("place").cast(pl.Int64))
        known = f.broadcast(on_cluster(entries.sparkSession, lookup))
        in_order = Window.partitionBy(*quasi).orderBy(f"place_{at}")
        placed = (
            placed.join(known, f.col(_VALUE).eqNullSafe(f.col("known")))
            .withColumnRenamed("place", f"place_{at}")
            .withColumn(f"equal_{at}", f.abs(f.col(_SHARE) - f.col("all")) - f.col("all"))
            .withColumn(f"upto_{at}", f.sum(_SHARE).over(in_order))
            .withColumn(f"next_{at}", f.lead(f"place_{at}", 1, len(shares)).over(in_order))
            .withColumn(f"first_{at}", f.row_number().over(in_order) == 1)
            .drop("known", "all")
        )
        names.append(f"equal_{at}")
        running = np.cumsum(shares["all"].to_numpy())
        sums.append((running, np.concatenate([[0.0], np.cumsum(running)])))

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            arrays = [batch.column(name) for name in names]
            for at, (running, before) in enumerate(sums):
                upto, place, to, first = (
                    batch.column(f"{name}_{at}").to_numpy(zero_copy_only=False)
                    for name in ("upto", "place", "next", "first")
                )
                # nothing of a class lies below its first value
                below = np.where(first, before[place], 0.0)
                arrays.append(pa.array(_run(upto, place, to, running, before) + below))
            yield pa.RecordBatch.from_arrays(arrays, names=[field.name for field in into_type])

    ordered = [StructField(f"ordered_{at}", DoubleType()) for at in range(len(sums))]
    into_type = StructType([*(placed.schema[name] for name in names), *ordered])
    return placed.mapInArrow(kernel, into_type)


def _run(level: Real, start: Whole, stop: Whole, running: Real, before: Real) -> Real:
    """Return the sum of ``|level - running[j]|`` over ``start ≤ j < stop``, ``before`` being the sums of ``running``.

    >>> all_ = np.array([0.2, 0.5, 1.0])
    >>> _run(np.array([0.4]), np.array([0]), np.array([3]), all_, np.array([0.0, 0.2, 0.7, 1.7])).round(9).tolist()
    [0.9]
    """
    cut = np.clip(np.searchsorted(running, level, side="right"), start, stop)
    below = level * (cut - start) - (before[cut] - before[start])
    above = (before[stop] - before[cut]) - level * (stop - cut)
    answer: Real = below + above
    return answer


@plan(ClassSize, Discernibility)
def measure_class_sizes(
    measure: ClassSize | Discernibility, evidence: ClusterEvidence, *, progress: Progress = silent
) -> Score:
    """Return what one machine says of classes of these sizes."""
    return measure.of_sizes(table_class_sizes(evidence.release.public), evidence.original.rows)


@plan(Effective)
def measure_effective(measure: Effective, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join the guesses with the secret, and count."""
    if measure.best_prefix:
        raise ParameterError(say("no_order"))
    hits = hits_of(evidence)
    return measure.score_of({name: (hit.named, hit.right, measure.needed(hit.named)) for name, hit in hits.items()})


@plan(ReidRate)
def measure_reid_rate(_measure: ReidRate, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join the guesses with the secret, and count."""
    hits = hits_of(evidence)
    people = max(evidence.original.people(), 1)
    return best_rate({attack: hit.customers / people for attack, hit in hits.items()}, people)


@plan(Survival)
def measure_survival(measure: Survival, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count the pseudonyms that share a history; what an attacker does best is worked out from these sizes."""
    progress(0.0, _("comparing histories"))
    return measure.score_of(np.repeat(*class_sizes(evidence.histories()[1])).tolist())


MOST_PAIRS = 10_000_000
"""Pairs of histories and customers, of those whose candidates are not theirs alone, that the driver assigns."""
_BROUGHT = 500_000
"""Pairs that come to the driver at a time."""


@plan(Classes)
def measure_classes(measure: Classes, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count who fits each public history, and who is left where different pseudonyms are different people."""
    public, statement = evidence.release.public, evidence.release.statement
    if public.schema.kind == Kind.TABLE:
        sizes = table_class_sizes(public)
        columns = sensitive_columns(public.schema, measure.sensitive) if sizes.classes else []
        disclosures = {c.name: _disclosure(public, c, evidence.original, claimed_values(statement)) for c in columns}
        return judged(sizes, disclosures, statement, public.rows, evidence.original.rows, measure.population_share)
    original, public = evidence.histories()
    customers, claimed = original.people(), claimed_k(statement)
    if not statement.is_truthful:
        return shared(*class_sizes(public), customers=customers, claimed=claimed)
    progress(0.2, _("counting candidates"))
    with persisting() as keep:
        histories, pairs = consistent_pairs(original, public, statement, keep)
        counts, strict, sharing = _counts(histories, keep(pairs), keep, progress)
    return judged_counts(counts, strict, sharing, customers=customers, claimed=claimed)


def audit(evidence: ClusterEvidence, sensitive: str | None, *, progress: Progress = silent) -> None:
    """Stop with :class:`CheckFailedError` if a release claims a k that is not real, as one machine's audit does.

    The customers that the secret part names for the pseudonyms of a history are asked first whether they fit it: it is
    only told whom to ask. Where k do for every history, and k pseudonyms have it, the claim holds, and nobody else need
    be asked (:func:`noren.measures.safety.classes.audit` has the reason).
    """
    release = evidence.release
    claimed = claimed_k(release.statement)
    known = release.public.schema.kind == Kind.HISTORY and release.statement.is_truthful
    if known and claimed and release.pseudonyms is not None:
        with persisting() as keep:
            original, public = evidence.histories()
            each = histories_of(public).join(release.pseudonyms.select("pseudonym", "customer"), "pseudonym")
            witnesses = each.select("history", "customer").distinct()
            histories, pairs = consistent_pairs(original, public, release.statement, keep, witnesses)
            fit = pairs.groupBy("history").agg(f.count(f.lit(1)).alias("fit"))
            fitting = f.min("sharing"), f.min(f.coalesce("fit", f.lit(0)))
            least = histories.join(fit, "history", "left").agg(*fitting).first()
            if least is not None and least[0] is not None and min(least) >= claimed:
                return
    reject_false_k(measure_classes(Classes(sensitive=sensitive), evidence, progress=progress))


def _counts(histories: DataFrame, pairs: DataFrame, keep: Keep, progress: Progress) -> tuple[Whole, Whole, Whole]:
    """Return how many fit, how many an assignment of all leaves, and how many pseudonyms these are the numbers of.

    Where nobody else may be a history's candidates, any of its pseudonyms may be any of them, and all are left. The
    others are assigned together.
    """
    wanted = pairs.groupBy("customer").agg((f.count(f.lit(1)) > 1).alias("contested"))
    each = pairs.join(wanted, "customer").groupBy("history")
    counts = each.agg(f.count(f.lit(1)).alias("fit"), f.max("contested").alias("contested"))
    counted_histories = histories.join(counts, "history", "left").fillna({"fit": 0, "contested": False})
    counted_histories = keep(counted_histories.select("history", "sharing", "fit", "contested"))
    weigh = f.sum("sharing").alias("weight"), f.max("sharing").alias("most"), f.count(f.lit(1)).alias("times")
    kinds = counted_histories.groupBy("fit", "contested").agg(*weigh).collect()
    progress(0.8, _("counting candidates"))
    own = [row for row in kinds if not row["contested"]]
    fit, weight, most = (np.array([row[name] for row in own], dtype=np.int64) for name in ("fit", "weight", "most"))
    many = sum(int(row["fit"]) * int(row["times"]) for row in kinds if row["contested"])
    if many > MOST_PAIRS:
        raise ParameterError(say("many_pairs", count=many, most=MOST_PAIRS))
    if not many:
        return fit, fit, weight
    # of the histories that share candidates: digests as two numbers each
    halves = [f.conv(f.substring(f.sha2(name, 256), at, 15), 16, 10).cast("long")
              for name in ("history", "customer") for at in (1, 16)]  # fmt: skip
    shared_ones = pairs.join(counted_histories.filter("contested"), "history").select(
        *(half.alias(f"n{at}") for at, half in enumerate(halves)), f.col("sharing").alias("n4")
    )
    table = to_driver(shared_ones.repartition(-(-many // _BROUGHT))).to_numpy()
    history, customer = (np.unique(table[:, at : at + 2], axis=0, return_inverse=True)[1] for at in (0, 2))
    order = np.lexsort((customer, history))
    others = np.bincount(history)
    first = np.concatenate(([0], np.cumsum(others))).astype(np.int64)
    sharing = table[order][first[:-1], 4]
    left = one_to_one_counts(Candidates(first, customer[order], int(customer.max()) + 1), sharing)
    # a history with fewer candidates than pseudonyms: there is no assignment, and nobody is ruled out by one
    if left is None or (most > fit).any():
        left = others
    return np.concatenate((fit, others)), np.concatenate((fit, left)), np.concatenate((weight, sharing))
