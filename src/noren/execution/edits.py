"""Histories whose rows stay rows: cells are edited, rows deleted, names replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import ClusterRecords
from noren.execution.names import CUSTOMER, NAME, customers_of, named
from noren.execution.release import ClusterRelease

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["behind", "nobodys_rows", "renamed", "under_names", "under_pseudonyms"]


def nobodys_rows(records: ClusterRecords) -> dict[str, Any]:
    """Return what a statement notes of rows that nobody owns, as ``noren.data.fits`` does on one machine."""
    count = records.frame.filter(records.column(Role.CUSTOMER).isNull()).count()
    return {"rows_without_customer": count} if count else {}


def under_pseudonyms(
    original: ClusterRecords, rows: ClusterRecords, statement: Statement, *, seed: int
) -> ClusterRelease:
    """Return the release of rows that still say their customers: each gets the pseudonym that one machine gives."""
    customers, count = customers_of(original)
    return under_names(original, rows, named(customers, count, seed), statement, seed=seed)


def under_names(
    original: ClusterRecords, rows: ClusterRecords, names: DataFrame, statement: Statement, *, seed: int
) -> ClusterRelease:
    """Return the release of rows that still say their customers, given the names of all customers."""
    return ClusterRelease(original, renamed(rows, names), behind(names), statement, seed, original.rows)


def behind(names: DataFrame, public: ClusterRecords | None = None) -> DataFrame:
    """Return who is behind each pseudonym; given public rows, behind each that they have."""
    pairs = names.selectExpr(f"{NAME} AS pseudonym", f"{CUSTOMER} AS customer")
    if public is None:
        return pairs
    shown = public.frame.select(public.column(Role.CUSTOMER).alias("pseudonym")).distinct()
    return pairs.join(shown, "pseudonym", "left_semi")


def renamed(rows: ClusterRecords, names: DataFrame) -> ClusterRecords:
    """Return rows under the names of their customers; rows of nobody's, and of whom has no name, are left out."""
    from pyspark.sql import functions as f

    at = rows.at(Role.CUSTOMER)
    known = names.select(f.col(CUSTOMER).alias("noren_customer"), f.col(NAME).alias("noren_name"))
    # a customer with a tenth of all rows: Spark cuts such a part into several while it joins
    joined = rows.frame.join(known, f.col(at) == f.col("noren_customer"))
    return rows.with_frame(joined.withColumn(at, f.col("noren_name")).select(*rows.frame.columns))
