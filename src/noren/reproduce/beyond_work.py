"""Work beyond the documents: groups on the final data of 2018, a year of a ledger, inference."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from noren.api import protect
from noren.data.compatibility import history_classes
from noren.data.frames import History, Table
from noren.data.periods import in_order, periods_of
from noren.data.release import Release
from noren.data.schema import Role
from noren.inference.findings import Inferred, attribute_result, membership_result
from noren.inference.inferences import by_likelihood, unseen_item, vote
from noren.inference.people import PeoplePool, pool_of, split
from noren.kernels.judging.survival import best_plan
from noren.kernels.judging.threshold import Bound
from noren.ledger import Ledger
from noren.ledger.joined import joined, of_period
from noren.measures.utility.cell_error import CellError
from noren.methods.generalize import Generalize
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of, dataset, the_history
from noren.reproduce.s3_work import SIMPLE
from noren.tables import table_of

HISTORIES = "pwscup2018-final"
MONTHS = "pwscup2017"
SEED = 1
ATTACKERS = 13

CHAINS: Mapping[str, list[dict[str, Any]]] = table_of(__name__)["chains"]
"""How each month is protected before it goes into the ledger."""


# --- histories -------------------------------------------------------------------------------------------------------


def plan(size: int, bound: Bound) -> dict[str, Any]:
    """Return the best attack on 1,000 customers in classes of one size: names, success probability and survival."""
    best = best_plan([size] * (1_000 // size), bound)
    return {
        "named": best.named,
        "needed": best.needed,
        "chance": best.chance,
        "survival": (1 - best.chance) ** ATTACKERS,
    }


def by_count(k: int, suppress_cells: bool) -> dict[str, Any]:
    """Return U and deleted rows of neighbours by row count, as S1 groups them."""
    return _judged(GeneralizeByCount(k=k, suppress_cells=suppress_cells).protect(customers_of(HISTORIES), seed=SEED))


def grouped(k: int, effort: Literal["quick", "normal", "thorough"]) -> dict[str, Any]:
    """Return U and deleted rows of the best groups that generalize finds, and a lower bound of U."""
    release = Generalize(k=k, effort=effort, lower_bound="exact").protect(customers_of(HISTORIES), seed=SEED)
    notes = release.statement.notes
    return _judged(release) | {"lower_bound": notes["lower_bound"], "optimal": notes["proved_optimal"]}


def _judged(release: Release) -> dict[str, Any]:
    u = CellError().measure(Evidence(customers_of(HISTORIES), release)).value
    return {"U": u, "deleted": release.deleted_rows}


# --- repeated releases -----------------------------------------------------------------------------------------------


def ledger_year(name: str, attack: str) -> dict[str, Any]:
    """Return the risk by attacks and the certified risk after each month of a ledger without a budget.

    ``attack`` is ``s1-s8`` or the name of another attack. The figures are means over draws of the pseudonyms,
    as in the ledger: exact for classes, otherwise over four other draws; so they do not depend on the seed.
    """
    history = _shop()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(
            Path(folder) / "ledger",
            schema=history.schema,
            chain=CHAINS[name],
            attacks=SIMPLE if attack == "s1-s8" else [attack],
        )
        for _month in ledger.to_come(history):
            ledger.add(history, seed=SEED)
        entries = ledger.entries
    return {
        "months": [entry.period for entry in entries],
        "mm": [entry.risk.mm for entry in entries],
        "emm": [entry.risk.emm for entry in entries],
        "interval": [entry.risk.interval.get("mm") for entry in entries],
        "certified": [None if entry.certificate is None else entry.certificate.rate["emm"] for entry in entries],
    }


# --- which way to publish every month --------------------------------------------------------------------------------


def published(way: str, k: int, effort: Literal["quick", "normal"], seed: int) -> dict[str, Any]:
    """Return U and deleted rows of a year that is released month by month, or at once.

    ``months``: groups made anew and fresh names in each month. ``year``: groups of the whole year, one name each.
    ``cut``: the groups of the whole year, each month made alike inside them, under fresh names; where a member bought
    nothing in a month, there is nobody to be alike with, and the rows of the others are deleted.
    """
    history, pieces = _shop(), []
    if way == "months":
        method = Generalize(k=k, effort=effort)
        months = [(rows, part) for rows, part in _monthly_rows(history) if len(part.customers) >= k]
        release = _pieced([(rows, method.protect(part, seed=seed)) for rows, part in months])
    else:
        release = Generalize(k=k, effort=effort, lower_bound="exact").protect(history, seed=seed)
    if way == "cut":
        classes = history_classes(the_history(release.public))
        group_of = release.secret.pseudonyms.join(classes, on="pseudonym").select("customer", "class")
        sizes = group_of.group_by("class").agg(size=pl.len())
        who = pl.DataFrame({"customer": history[Role.CUSTOMER].cast(pl.String)})
        group_of = group_of.cast({"customer": pl.String})
        group = who.join(group_of, on="customer", how="left", maintain_order="left")["class"]
        for rows, part in _monthly_rows(history):
            there = pl.DataFrame({"row": rows, "class": group.gather(rows), "customer": part[Role.CUSTOMER]})
            full = there.group_by("class").agg(pl.col("customer").n_unique(), "row").join(sizes, on="class")
            whole = full.filter(pl.col("customer") == pl.col("size")).sort("class")
            for members, own in whole["size", "row"].iter_rows():
                place = pl.Series(own, dtype=pl.UInt32).sort()
                method = Generalize(k=members, effort=effort)
                pieces.append((place, method.protect(history.take(place), seed=seed)))
        release = _pieced(pieces)
    u = CellError().measure(Evidence(history, release)).value
    return {"U": u, "deleted": len(history) - len(release.public)}


def _monthly_rows(history: History) -> list[tuple[pl.Series, History]]:
    """Return the rows of each month, as places in the history and as a history of its own."""
    months = periods_of(history[Role.DATE])
    places = [(months == month).arg_true() for month in in_order(months.unique())]
    return [(rows, history.take(rows)) for rows in places]


def _pieced(pieces: list[tuple[pl.Series, Release]]) -> Release:
    """Return releases of some rows each as one release of the whole history."""
    together = joined([of_period(release, str(at), (), SEED) for at, (_rows, release) in enumerate(pieces)])
    origin = pl.concat([rows for rows, _release in pieces]).gather(together.secret.origin).alias("row")
    secret = replace(together.secret, origin=origin, original_rows=len(_shop()))
    return replace(together, secret=secret)


@cache
def _shop() -> History:
    """Return the purchases with one time of day for all of them: no method changes it, and it gives baskets away."""
    history = customers_of(MONTHS)
    times = [pl.col(column.name).min() for column in history.schema.with_role(Role.TIME)]
    return replace(history, frame=history.frame.with_columns(times))


# --- Inference from releases: one method, one seed, people held out ---------------------------------------------------


TABLE = "adult"
HOLD_OUT = 0.3
_TARGETS = 1000
_BY_COUNT: Final = "generalize-by-count"
_GUESSED = "salary-class"
_ATTRIBUTES: Final = ["education", "marital-status", "sex", _GUESSED]


def held_out_histories(k: int, seed: int) -> dict[str, float]:
    """Return what is inferred from groups of k customers of the final data of 2018; k = 1: pseudonyms alone."""
    release, pool = _released(
        HISTORIES, seed, **({"method": "pseudonymize"} if k == 1 else {"method": _BY_COUNT, "k": k})
    )
    guesses = unseen_item(pool, the_history(release.public), seed)
    return _inferred(
        release, pool, attribute_result("", "item", guesses.right, guesses.has_secret, pool.member, pool.rare)
    )


def held_out_people(rho: float, seed: int) -> dict[str, float]:
    """Return what is inferred from four attributes of Adult, each value of which is kept with probability ρ."""
    noise = {"rho": rho, "attributes": _ATTRIBUTES, "domains": "data", "reconstruct": "none"}
    release, pool = _released(TABLE, seed, method="retention", **noise)
    if not isinstance(release.public, Table):
        raise TypeError(TABLE)
    guesses = vote(pool, release.public, release.statement, _GUESSED)
    return _inferred(
        release, pool, attribute_result("", _GUESSED, guesses.right, guesses.has_secret, pool.member, pool.rare)
    )


def _released(data: str, seed: int, **method: Any) -> tuple[Release, PeoplePool]:
    members, controls = split(dataset(data), HOLD_OUT, seed)
    return protect(members, seed=seed, audit=False, **method), pool_of(members, controls, _TARGETS, seed)


def _inferred(release: Release, pool: PeoplePool, secret: Inferred) -> dict[str, float]:
    """Return the numbers of membership inference and of attribute inference."""
    likelihoods = by_likelihood(pool, release.public, release.statement)
    members = membership_result("", likelihoods, pool.member, pool.rare)
    return {name: number.value for result in (members, secret) for name, number in result.numbers.items()}
