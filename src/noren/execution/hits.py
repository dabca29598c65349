"""How many people a guess names, and how many of them rightly, where both lie on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noren.data.periods import of_one_kind
from noren.execution.frames import PLACE, ROW
from noren.execution.guess import ClusterEvidence, ClusterGuess
from noren.execution.release import ClusterRelease
from noren.execution.sides import in_release_order
from noren.measures.safety.hits import Hits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["hits_of"]


def hits_of(evidence: ClusterEvidence) -> dict[str, Hits]:
    """Return what became of each guess, as :func:`noren.measures.safety.hits.hits` tells it.

    A guess on a cluster has no order. The answer that counts of several for a pseudonym is the one of the smallest
    rank, of the largest score, of the first customer by text: the order in which our attacks give theirs.
    """
    return {name: _hits(guess, evidence.release) for name, guess in evidence.guesses.items()}


def _hits(guess: ClusterGuess, release: ClusterRelease) -> Hits:
    from pyspark.sql import functions as f

    pairs, true = _in_words_of_pseudonyms(guess, release)
    key = [name for name in ("pseudonym", "period") if name in pairs.columns and name in true.columns]
    if "period" in key and not of_one_kind(_periods(pairs), _periods(true)):
        key = ["pseudonym"]  # months say nothing of weeks, but who is behind a pseudonym they say
    surest = [f.col("rank")] if "rank" in pairs.columns else []
    surest += [-f.col("score")] if "score" in pairs.columns else []
    texts = pairs.withColumns({name: f.col(name).cast("string") for name in (*key, "customer")})
    answers = texts.dropna(subset=[*key, "customer"]).groupBy(*key)
    first = answers.agg(f.min(f.struct(*surest, "customer"))["customer"].alias("customer"))
    truth = true.select(*(f.col(name).cast("string") for name in (*key, "customer"))).distinct()
    both = first.join(truth.withColumn("right", f.lit(True)), [*key, "customer"], "left")
    right = f.when(f.col("right"), f.col("customer"))
    counts: Any = both.agg(f.count(f.lit(1)), f.count(right), f.count_distinct(right)).first()
    return Hits(*(int(count) for count in counts))


def _in_words_of_pseudonyms(guess: ClusterGuess, release: ClusterRelease) -> tuple[DataFrame, DataFrame]:
    """Return a guess and the truth; of tables, public rows are the pseudonyms and original rows the people."""
    from pyspark.sql import functions as f

    if "row" in guess.pairs.columns or release.pseudonyms is None:
        public = in_release_order(release.public).frame.filter(f.col(ROW).isNotNull())
        rows = public.select((f.col(PLACE) + 1).alias("pseudonym"), (f.col(ROW) + 1).alias("customer"))
        return guess.pairs.withColumnsRenamed({"row": "pseudonym", "person": "customer"}), rows
    return guess.pairs, release.pseudonyms


def _periods(pairs: DataFrame) -> list[str]:
    """Return the names of the periods, as many as there are periods."""
    return [str(row["period"]) for row in pairs.select("period").distinct().dropna().collect()]
