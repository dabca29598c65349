"""One pseudonym for a customer, one customer for a pseudonym: which rows break that."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from noren.data.checks.report import Finding, broken_rows, inline
from noren.errors import Problem
from noren.i18n import _

__all__ = ["one_to_one"]


def one_to_one(named: pl.DataFrame, column: str = "customer", rank: int = 1) -> Iterator[Finding]:
    """Find the rows whose pseudonym breaks the map of those before it; ``named`` has row, customer and pseudonym."""
    pairs = named.group_by("customer", "pseudonym").agg(pl.col("row").min()).sort("row")
    alone = (pl.len().over("customer") == 1) & (pl.len().over("pseudonym") == 1)
    disputed = pairs.filter(~alone)
    if disputed.is_empty():
        return
    name_of, bearer_of, refused = _first_come(disputed)
    refused_rows = named.join(refused, on=["customer", "pseudonym"], how="semi", maintain_order="left")

    def inconsistent(row: int) -> Problem:
        at = int(named["row"].search_sorted(row))
        customer, given = str(named["customer"][at]), str(named["pseudonym"][at])
        if customer in name_of:
            rule = _("a customer has one pseudonym in all rows; customer {customer} is {pseudonym} before").format(
                customer=inline(customer), pseudonym=inline(name_of[customer])
            )
            cure = _("write {pseudonym} here too, or delete the row").format(pseudonym=inline(name_of[customer]))
        else:
            rule = _("a pseudonym stands for one customer; {pseudonym} stands for customer {customer} before").format(
                pseudonym=inline(given), customer=inline(bearer_of[given])
            )
            cure = _("give customer {customer} a pseudonym of its own").format(customer=inline(customer))
        return Problem(row, column, given, rule, cure)

    yield Finding(broken_rows(refused_rows, pl.lit(value=True)), rank, inconsistent)


def _first_come(disputed: pl.DataFrame) -> tuple[dict[str, str], dict[str, str], pl.DataFrame]:
    """Settle who bears which pseudonym: a pair holds if both were free when it first came, else all its rows break it.

    This is the official checker's order of events, which decides *which* of two clashing rows it names. It is one pass
    over the distinct clashing pairs, in order of first appearance, and only for tables that are invalid anyway.
    """
    name_of: dict[str, str] = {}
    bearer_of: dict[str, str] = {}
    holds = []
    for customer, pseudonym in zip(disputed["customer"], disputed["pseudonym"], strict=True):
        free = customer not in name_of and pseudonym not in bearer_of
        if free:
            name_of[customer], bearer_of[pseudonym] = pseudonym, customer
        holds.append(free)
    return name_of, bearer_of, disputed.filter(~pl.Series(holds, dtype=pl.Boolean))
