"""What goes past the documents, as units of work: groups on the final data of 2018, and a year of a ledger."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import polars as pl

from noren.data.catalog import open_dataset
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role
from noren.kernels.judging.survival import best_plan
from noren.kernels.judging.threshold import Bound
from noren.ledger import Ledger
from noren.measures.utility.cell_error import CellError
from noren.methods.generalize import Generalize
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Evidence
from noren.reproduce.s3.work import SIMPLE

__all__ = ["ATTACKERS", "CHAINS", "HISTORIES", "MONTHS", "by_count", "grouped", "kept_books", "plan"]

HISTORIES = "pwscup2018-final"
MONTHS = "pwscup2017"
SEED = 1
ATTACKERS = 13

_NAMES = {"method": "monthly-pseudonyms"}
_GROUPS = {"method": "generalize-by-count"}
CHAINS: dict[str, list[dict[str, Any]]] = {
    "pseudonyms alone": [_NAMES],
    "thin 10 %, light noise": [{"method": "thin", "share": 0.1}, {"method": "perturb"}, _NAMES],
    "groups of 3": [_GROUPS | {"k": 3}],
    "groups of 5": [_GROUPS | {"k": 5, "suppress_cells": True}],
}
"""How each month is protected before it goes into the book."""


# --- histories -------------------------------------------------------------------------------------------------------


def plan(size: int, bound: Bound) -> dict[str, Any]:
    """Return the best attack on 1,000 customers in classes of one size: whom it names, its chance, who survives."""
    best = best_plan([size] * (1_000 // size), bound)
    return {
        "named": best.named,
        "needed": best.needed,
        "chance": best.chance,
        "survival": (1 - best.chance) ** ATTACKERS,
    }


def by_count(k: int, suppress_cells: bool) -> dict[str, Any]:
    """Return U and deleted rows of neighbours by row count, as S1 groups them."""
    return _judged(GeneralizeByCount(k=k, suppress_cells=suppress_cells).protect(_customers(), seed=SEED))


def grouped(k: int, effort: Literal["quick", "normal", "thorough"]) -> dict[str, Any]:
    """Return U and deleted rows of the best groups that are found, and how low U could be at all."""
    release = Generalize(k=k, effort=effort).protect(_customers(), seed=SEED)
    notes = release.statement.notes
    return _judged(release) | {"lower_bound": notes["lower_bound"], "optimal": notes["proved_optimal"]}


def _judged(release: Release) -> dict[str, Any]:
    u = CellError().measure(Evidence(_customers(), release)).value
    return {"U": u, "deleted": release.deleted_rows}


# --- repeated releases -----------------------------------------------------------------------------------------------


def kept_books(name: str, attack: str) -> dict[str, Any]:
    """Return UM, MM and EMM after each month of a ledger without a budget, by S1 to S8 or by one other attack."""
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
        "um": [entry.risk.um for entry in entries],
        "mm": [entry.risk.mm for entry in entries],
        "emm": [entry.risk.emm for entry in entries],
    }


@cache
def _customers() -> History:
    return _history(HISTORIES)


@cache
def _shop() -> History:
    """Return the purchases with one time of day for all of them: no method changes it, and it gives baskets away."""
    history = _history(MONTHS)
    times = [pl.col(column.name).min() for column in history.schema.with_role(Role.TIME)]
    return replace(history, frame=history.frame.with_columns(times))


def _history(name: str) -> History:
    data = open_dataset(name).data
    if not isinstance(data, History):
        raise TypeError(name)
    return data
