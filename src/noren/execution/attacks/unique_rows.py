"""Purchases that nobody else made, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from noren.attacks.unique_rows import UniqueRows
from noren.data.frames import Records
from noren.data.schema import Role
from noren.execution.frames import PLACE, ClusterRecords
from noren.execution.guess import ClusterGuess
from noren.execution.plans import plan
from noren.execution.sides import in_release_order, place_type
from noren.i18n import N_
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["attack"]


@plan(UniqueRows, driver=N_("two counts"))
def attack(
    attack: UniqueRows, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Count the original's rows by their text, and join those that occur once with the release's."""
    from pyspark.sql import functions as f

    whose = original.schema.role(Role.CUSTOMER).name
    shared = [name for name in original.schema.names if name != whose and name in public.schema.names]
    row = [f"r{at}" for at in range(len(shared))]
    customer, pseudonym = f.col("customer"), f.col("pseudonym")
    known = _texts(attack, original, shared, "customer")
    once = known.groupBy(*row).agg(f.count(f.lit(1)).alias("times"), f.max("customer").alias("customer"))
    unique = once.filter((f.col("times") == 1) & customer.isNotNull()).drop("times")
    seen = _texts(attack, in_release_order(public), shared, "pseudonym").filter(pseudonym.isNotNull())
    found = seen.join(unique, row)
    last, first = f.max(f.struct(PLACE, "customer"))["customer"], f.min(PLACE)
    decided = found.groupBy("pseudonym").agg(last.alias("customer"), first.alias("place"))
    pairs = decided.withColumn("score", f.lit(1.0))
    times = seen.groupBy(*row).agg(f.count(f.lit(1)).alias("times"))
    counts = unique.join(times, row, "left").agg(f.count(f.lit(1)), f.sum("times")).first()
    notes = {"unique_rows": int(counts[0] or 0), "found_rows": int(counts[1] or 0)} if counts else {}
    return ClusterGuess(attack.name, pairs, notes, ties=("place",))


def _texts(attack: UniqueRows, records: ClusterRecords, names: list[str], who: str) -> DataFrame:
    """Return the texts of some columns as ``r0``, ``r1``, …, the customer as ``who``, and the place in the release."""
    placed = [PLACE] if PLACE in records.frame.columns else []
    into = {f"r{at}": pl.String() for at in range(len(names))} | {who: pl.String()}

    def kernel(block: Records, beside: Any) -> pl.DataFrame:
        texts = attack.texts(block)  # type: ignore[arg-type]
        cells = [texts[f"said {name}"].alias(f"r{at}") for at, name in enumerate(names)]
        return pl.DataFrame([*cells, texts["customer"].alias(who), *(beside[name] for name in placed)])

    return records.map(kernel, into | {name: place_type(records) for name in placed}, also=placed)
