"""How many customers may really be behind each pseudonym, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.data.schema import Kind, Role
from noren.errors import ParameterError
from noren.execution.fits import consistent_pairs
from noren.execution.frames import ClusterRecords, map_blocks
from noren.execution.guess import ClusterEvidence
from noren.execution.histories import class_sizes, histories_of
from noren.execution.measures.table_classes import judge_table
from noren.execution.plans import plan
from noren.execution.sides import Keep, keeping, original_of, public_of
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.kernels.linkage.feasibility import Candidates, one_to_one_counts
from noren.measures.safety.classes import Classes, claimed_k, counted, refuse_unreal, shared
from noren.progress import Progress, silent
from noren.protocols import Score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["audit", "measure"]

MOST_PAIRS = 10_000_000
"""Pairs of histories and customers, of those whose candidates are not theirs alone, that the driver assigns."""
_BROUGHT = 500_000
"""Pairs that come to the driver at a time."""


@plan(
    Classes,
    driver=N_(
        "how many histories fit how many customers (each different number once); pairs of public histories that share"
        " a candidate with another, 10,000,000 at most; tables: how many classes there are of each size, and the values"
        " of a sensitive column, at most 1,000,000"
    ),
)
def measure(measure: Classes, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count who fits each public history, and who is left where different pseudonyms are different people."""
    if evidence.release.public.schema.kind == Kind.TABLE:
        return judge_table(measure, evidence)
    original, public, statement = original_of(evidence), public_of(evidence), evidence.release.statement
    customers, claimed = _customers(original), claimed_k(statement)
    if not statement.is_truthful:
        return shared(*class_sizes(public), customers=customers, claimed=claimed)
    progress(0.2, _("asking who fits every row"))
    with keeping() as keep:
        histories, pairs = consistent_pairs(original, public, statement, keep)
        counts, strict, sharing = _counts(histories, keep(pairs), keep, progress)
    return counted(counts, strict, sharing, customers=customers, claimed=claimed)


def audit(evidence: ClusterEvidence, sensitive: str | None, *, progress: Progress = silent) -> None:
    """Stop with :class:`CheckFailedError` if a release claims a k that is not real, as one machine's audit does.

    The customers that the secret part names for the pseudonyms of a history are asked first whether they fit it: it is
    only told whom to ask. Where k do for every history, and k pseudonyms have it, the claim holds, and nobody else need
    be asked (:func:`noren.measures.safety.classes.audit` has the reason).
    """
    release = evidence.release
    claimed = claimed_k(release.statement)
    if release.public.schema.kind == Kind.HISTORY and claimed and release.pseudonyms is not None:
        with keeping() as keep:
            if release.statement.is_truthful and _plainly_holds(evidence, release.pseudonyms, claimed, keep):
                return
    refuse_unreal(measure(Classes(sensitive=sensitive), evidence, progress=progress))


def _plainly_holds(evidence: ClusterEvidence, behind: DataFrame, claimed: int, keep: Keep) -> bool:
    from pyspark.sql import functions as f

    original, public = original_of(evidence), public_of(evidence)
    each = histories_of(public).join(behind.select("pseudonym", "customer"), "pseudonym")
    witnesses = each.select("history", "customer").distinct()
    histories, pairs = consistent_pairs(original, public, evidence.release.statement, keep, witnesses)
    fit = pairs.groupBy("history").agg(f.count(f.lit(1)).alias("fit"))
    least = histories.join(fit, "history", "left").agg(f.min("sharing"), f.min(f.coalesce("fit", f.lit(0)))).first()
    return least is not None and least[0] is not None and min(least) >= claimed


def _counts(histories: DataFrame, pairs: DataFrame, keep: Keep, progress: Progress) -> tuple[Whole, Whole, Whole]:
    """Return how many fit, how many an assignment of all leaves, and how many pseudonyms these are the numbers of.

    Where nobody else may be a history's candidates, any of its pseudonyms may be any of them, and all are left. The
    others are assigned together.
    """
    from pyspark.sql import functions as f

    wanted = pairs.groupBy("customer").agg((f.count(f.lit(1)) > 1).alias("contested"))
    each = pairs.join(wanted, "customer").groupBy("history")
    counts = each.agg(f.count(f.lit(1)).alias("fit"), f.max("contested").alias("contested"))
    found = histories.join(counts, "history", "left").fillna({"fit": 0, "contested": False})
    found = keep(found.select("history", "sharing", "fit", "contested"))
    weigh = f.sum("sharing").alias("weight"), f.max("sharing").alias("most"), f.count(f.lit(1)).alias("times")
    kinds = found.groupBy("fit", "contested").agg(*weigh).collect()
    progress(0.8, _("asking who is left"))
    own = [row for row in kinds if not row["contested"]]
    fit, weight, most = (np.array([row[name] for row in own], dtype=np.int64) for name in ("fit", "weight", "most"))
    many = sum(int(row["fit"]) * int(row["times"]) for row in kinds if row["contested"])
    others, left, others_weight = _contested(found, pairs, many)
    # a history with fewer candidates than pseudonyms: there is no assignment, and nobody is ruled out by one
    if left is None or (most > fit).any():
        left = others
    return np.concatenate((fit, others)), np.concatenate((fit, left)), np.concatenate((weight, others_weight))


def _customers(original: ClusterRecords) -> int:
    return original.frame.select(original.at(Role.CUSTOMER)).dropna().distinct().count()


def _contested(found: DataFrame, pairs: DataFrame, many: int) -> tuple[Whole, Whole | None, Whole]:
    """Return the candidates, those left by an assignment, and the pseudonyms of histories that share candidates."""
    from pyspark.sql import functions as f

    if many > MOST_PAIRS:
        raise ParameterError(
            _("{count:,} pairs of histories and customers have to be assigned at once, more than {most:,}").format(
                count=many, most=MOST_PAIRS
            ),
            _("use --engine local on a machine with enough memory"),
        )
    none = np.zeros(0, dtype=np.int64)
    if not many:
        return none, none, none
    # digests as two numbers each
    halves = [f.conv(f.substring(f.sha2(name, 256), at, 15), 16, 10).cast("long")
              for name in ("history", "customer") for at in (1, 16)]  # fmt: skip
    shared_ones = pairs.join(found.filter("contested"), "history").select(
        *(half.alias(f"n{at}") for at, half in enumerate(halves)), f.col("sharing").alias("n4")
    )
    table = _brought(shared_ones.repartition(-(-many // _BROUGHT)), 5)
    history, customer = _codes(table[:, :2]), _codes(table[:, 2:4])
    order = np.lexsort((customer, history))
    counts = np.bincount(history)
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    sharing = table[order][first[:-1], 4]
    candidates = Candidates(first, customer[order], int(customer.max()) + 1)
    return counts, one_to_one_counts(candidates, sharing), sharing


def _codes(keys: Whole) -> Whole:
    frame = pl.DataFrame(keys, schema=["first", "second"])
    return frame.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def _brought(numbers: DataFrame, width: int) -> Whole:
    """Return whole numbers of a bounded frame as one array; they travel as bytes, a block in one row.

    Spark's driver holds one part of them at a time.
    """

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"bytes": [block.to_numpy(order="c").astype("<i8").tobytes()]})

    rows: Any = map_blocks(numbers, kernel, {"bytes": pl.Binary()}).toLocalIterator()
    return np.concatenate([np.frombuffer(row["bytes"], dtype="<i8").reshape(-1, width) for row in rows])
