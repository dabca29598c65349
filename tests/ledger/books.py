"""Three months of two customers, and ledgers of them whose risk can be counted by hand.

Attack s1 knows date and quantity. In December and in February Ann's and Bob's rows are alike, so both lead to one
pseudonym, and one of two is found; in January both are found. So MM is 1/2, then 3/4, then 4/6, and EMM 3/4 at last.
"""

from pathlib import Path
from typing import Any

import polars as pl

from noren.data.frames import History
from noren.data.schema import Schema
from noren.ledger import Ledger

SCHEMA = Schema.preset("pwscup2018")
MONTHS = ["2010/12", "2011/1", "2011/2"]
LINES = [
    "ann 2010/12/1 tea 1.5 1",
    "bob 2010/12/1 tea 1.5 1",
    "ann 2011/1/7 tea 1.5 2",
    "bob 2011/1/7 cup 1.5 3",
    "ann 2011/2/3 tea 1.5 1",
    "bob 2011/2/3 tea 1.5 1",
]


def history(lines: list[str] = LINES) -> History:
    cells = [line.split() for line in lines]
    columns: dict[str, Any] = {
        "customer": [row[0] for row in cells],
        "date": [row[1] for row in cells],
        "item": [row[2] for row in cells],
        "price": [float(row[3]) for row in cells],
        "quantity": [int(row[4]) for row in cells],
    }
    return History.of(columns, SCHEMA)


def months(*wanted: str) -> History:
    """The rows of some months alone."""
    return history([line for line in LINES if line.split()[1].rsplit("/", 1)[0] in wanted])


def ledger(folder: Path, **settings: Any) -> Ledger:
    given: dict[str, Any] = {"schema": "pwscup2018", "chain": ["monthly-pseudonyms"], "attacks": ["s1"]}
    return Ledger.create(folder, **(given | settings))


def everything_in(folder: Path) -> dict[str, bytes]:
    """Every file of a ledger but its lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def rows_of(history: History) -> list[tuple[Any, ...]]:
    return sorted(history.frame.with_columns(pl.col("date").cast(pl.String)).rows())
