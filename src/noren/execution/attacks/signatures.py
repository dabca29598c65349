"""Purchases recognised by two or three cells, on a cluster: S1 to S6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from noren.attacks.signatures import S1, S2, S3, S4, S5, S6, Signature, key_texts, must_show
from noren.data.arrays import exact_values
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.execution.frames import PLACE, ROW, ClusterRecords
from noren.execution.guess import ClusterGuess
from noren.execution.plans import plan
from noren.execution.sides import in_release_order, place_type, rowless
from noren.i18n import N_
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["attack"]

_DRIVER = N_("two counts")


@plan(S1, driver=_DRIVER)
@plan(S2, driver=_DRIVER)
@plan(S3, driver=_DRIVER)
@plan(S4, driver=_DRIVER)
@plan(S5, driver=_DRIVER)
@plan(S6, driver=_DRIVER)
def attack(
    attack: Signature, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Find the last public row of each key, join known rows with it, and let each customer's last one decide."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    columns = [original.schema.role(role) for role in attack.key]
    must_show(rowless(public), columns)
    exact_values(rowless(original), original.schema.role(Role.DATE))
    key = [f"k{at}" for at in range(len(columns))]
    shown = _keyed(attack, in_release_order(public), "pseudonym", PLACE)
    last = shown.groupBy(*key).agg(f.max(f.struct(PLACE, "pseudonym"))["pseudonym"].alias("pseudonym"))
    led = _keyed(attack, original, "customer", ROW).join(last, key, "left")
    cells = led.groupBy("customer", "period", "pseudonym").agg(
        f.count(f.lit(1)).alias("n"), f.max(ROW).alias("at"), f.min("day").alias("day")
    )
    cells = cells.persist(StorageLevel.DISK_ONLY)
    named = f.col("pseudonym").isNotNull()
    counts: Any = cells.agg(f.sum("n"), f.sum(f.when(named, f.col("n")))).first()
    decided = f.max(f.when(named, f.struct("at", "pseudonym", "n"))).alias("last")
    each = cells.filter("period IS NOT NULL").groupBy("customer", "period")
    settled = each.agg(decided, f.sum("n").alias("rows"), f.min("day").alias("day")).filter("last IS NOT NULL")
    share = (f.col("last.n") / f.col("rows")).alias("score")
    # a customer whose name is a number stands where that number does
    whole = original.types[original.schema.role(Role.CUSTOMER).name].is_integer()
    whom = f.col("customer").cast("long" if whole else "string").alias("whom")
    pairs = settled.select("last.pseudonym", "customer", share, "period", whom, "day")
    notes = {"matched_rows": int(counts[1] or 0), "known_rows": int(counts[0] or 0)}
    return ClusterGuess(attack.name, pairs, notes, ties=("whom", "day"))


def _keyed(attack: Signature, records: ClusterRecords, who: str, at: str) -> DataFrame:
    """Return the keys of rows that have one, whose they are, when, and what they are ordered by."""
    known = at == ROW
    roles = (Role.CUSTOMER, *attack.key, *([Role.DATE] if known else []))
    columns = [records.schema.role(role) for role in attack.key]
    names = [records.schema.role(role).name for role in roles]
    texts = [*(f"k{place}" for place in range(len(columns))), who, *(["period"] if known else [])]
    into = dict.fromkeys(texts, pl.String()) | {at: pl.Int64() if known else place_type(records)}
    into |= {"day": pl.Int32()} if known else {}

    def kernel(block: Records, beside: Any) -> pl.DataFrame:
        if not isinstance(block, History):  # pragma: no cover - attacks on histories get histories
            raise TypeError(type(block))
        texts = [text.alias(f"k{place}") for place, text in enumerate(key_texts(block, columns))]
        parts = [*texts, block[Role.CUSTOMER].alias(who), (beside if known else beside[at]).alias(at)]
        if known:
            days = block[Role.DATE].cast(pl.Date)
            parts += [attack.periods(days).alias("period"), days.cast(pl.Int32).alias("day")]
        filled = block.frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series()
        return pl.DataFrame(parts).filter(filled)

    return records.map(kernel, into, also=() if known else (at,))
