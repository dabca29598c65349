"""Releases of every kind that papers are written about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import noren
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.papers.case import Case, case_of

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def shop() -> History:
    return noren.sample(customers=12, rows=120, items=20, seed=1, schema="pwscup2018")


@pytest.fixture(scope="session")
def case(shop: History) -> Callable[..., Case]:
    """Return the case of a method on the shop's purchases; attacked by everything once."""
    kept: dict[str, Case] = {}

    def made(method: str, **parameters: Any) -> Case:
        key = f"{method} {parameters}"
        if key not in kept:
            kept[key] = case_of(noren.protect(shop, method, seed=1, **parameters), shop)
        return kept[key]

    return made


@pytest.fixture(scope="session")
def adult() -> tuple[Records, Release]:
    """Return a table of people with an identifier and a sensitive column, and a release of it."""
    rows = {
        "name": [f"person {i}" for i in range(40)],
        "age": [20 + i % 8 for i in range(40)],
        "illness": [("flu", "cold")[i // 8 % 2] for i in range(40)],
    }
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "integer", "minimum": 0, "maximum": 99},
        "illness": {"role": "sensitive"},
    }
    schema = noren.Schema.of({"kind": "table", "columns": columns})
    table = noren.Table.of(rows, schema)
    return table, noren.protect(table, "mondrian", k=5, l=2, seed=1)


def few_members(file: str, customer: str, people: int) -> pl.DataFrame:
    """Return the purchases of the first people of a public file."""
    frame = pl.read_parquet(SHARED / file)
    first = frame[customer].unique(maintain_order=True)[:people].to_list()
    return frame.filter(pl.col(customer).is_in(first))
