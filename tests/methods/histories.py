"""Small histories over several months, and a method that adds rows."""

import datetime as dt
from typing import Any, ClassVar

import polars as pl
from hypothesis import strategies as st

from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Role, Schema
from noren.methods.pseudonymize import edited, pseudonymous
from noren.progress import Progress, silent
from noren.protocols import Method

SCHEMA = Schema.preset("pwscup2018")


def history(*lines: str, schema: Schema = SCHEMA) -> History:
    """Return a history of lines like ``ann 2010/12/1 tea 1.5 2``."""
    cells = [line.split() for line in lines]
    names = [schema.role(r).name for r in (Role.CUSTOMER, Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)]
    columns: dict[str, Any] = {name: [row[at] for row in cells] for at, name in enumerate(names)}
    columns[names[3]] = [float(text) for text in columns[names[3]]]
    columns[names[4]] = [int(text) for text in columns[names[4]]]
    return History.of(columns, schema)


@st.composite
def histories(draw: st.DrawFn, least: int = 1, most: int = 30) -> History:
    """Draw a history of few customers and items over half a year."""
    count = draw(st.integers(least, most))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    rows = {
        "customer": column(st.sampled_from(["ann", "bob", "cho", "dan", "eve"])),
        "date": column(st.dates(dt.date(2010, 12, 1), dt.date(2011, 5, 31))),
        "item": column(st.sampled_from(["a", "b", "c", "d"])),
        "price": column(st.sampled_from([0.01, 0.5, 1.25, 9.99])),
        "quantity": column(st.sampled_from([1, 2, 6, 12, 24])),
    }
    return History.of(rows, SCHEMA)


class Stuffed(Method):
    """Pseudonyms, and each customer's first row once more."""

    name: ClassVar[str] = "stuffed"
    summary: ClassVar[str] = "Adds rows."

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        aligned = edited(original, [pseudonymous(original[Role.CUSTOMER], seed)])
        first = aligned.frame.with_row_index("row").unique("customer", keep="first", maintain_order=True)["row"]
        statement = Statement(self.name, promise="rows are added")
        return Release.of_aligned(original, aligned, statement, seed=seed, inserted=aligned.take(first))


def known(release: Release) -> dict[str, str]:
    """Return who is behind each pseudonym."""
    return dict(release.secret.pseudonyms.select("pseudonym", "customer").iter_rows())


def owners(release: Release) -> list[str | None]:
    """Return, in the original's order, who stands behind each row's pseudonym; None for a deleted row."""
    names = known(release)
    return [None if name is None else names[name] for name in release.aligned().frame["customer"]]


def sold(release_or_original: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return what was sold, whoever bought it."""
    return sorted(release_or_original.drop("customer").rows())
