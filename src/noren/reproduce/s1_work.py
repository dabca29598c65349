"""Work of S1's experiment: its groups and the customers left over, our groups, and the best groups."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers, people
from noren.data.catalog import find
from noren.data.categories import Categories, derive_categories, read_item_names, write_categories
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Role, Schema
from noren.kernels.arrays import Whole
from noren.kernels.sharing.rows import DELETED, rows_laid_together
from noren.measures.utility.cell_error import CellError
from noren.methods.generalize import Generalize
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import pseudonymous
from noren.methods.shared_values import measured_values, share_values
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of
from noren.tables import table_of
from noren.work.store import cached_folder

ItemColumn = Literal["items", "categories"]

DATA = "pwscup2018-preliminary"
NAMES = "online-retail"
SEED = 1
"""Only decides pseudonyms; no number depends on it."""
KINDS = 19


# --- the examples ----------------------------------------------------------------------------------------------------


def examples(sorted_into: str) -> dict[str, list[str]]:
    """Return S1's two small examples after generalisation, row by row, and the second with categories.

    ``sorted_into`` is written like ``item=category;item=category``.
    """
    pairs = (pair.partition("=") for pair in sorted_into.split(";"))
    sorts = {item: category for item, _equals, category in pairs}
    pages = table_of(__name__)
    rows = {name: _generalised(pages[name], None) for name in ("introduction", "example")}
    with tempfile.TemporaryDirectory() as folder:
        items = _history(pages["example"])[Role.ITEM].unique().to_list()
        others = {item: sorts.get(item, "other") for item in items}
        path = write_categories(Categories(others, {c: c for c in others.values()}), Path(folder) / "categories.csv")
        return rows | {"categories": _generalised(pages["example"], path)}


def _history(text: str) -> History:
    schema = Schema.preset("pwscup2018")
    rows = [line.split() for line in text.strip().splitlines()]
    columns: dict[str, Any] = dict(zip(schema.names, map(list, zip(*rows, strict=True)), strict=True))
    numbers_of = {"price": [float(n) for n in columns["price"]], "quantity": [int(n) for n in columns["quantity"]]}
    return History.of(columns | numbers_of, schema)


def _generalised(text: str, categories: Path | None) -> list[str]:
    """Return the rows of a history after generalisation with k = 3, without the pseudonym."""
    release = GeneralizeByCount(k=3, categories=categories).protect(_history(text), seed=SEED)
    return [line.partition(",")[2] for line in release.aligned().lines()]


def errors(price: float) -> dict[str, float]:
    """Return the sums of the errors of S1's three rows, the second and third sold for ``price``, and U."""
    original = _history("1 2010/12/1 84879 1.69 32\n1 2010/12/2 22745 2.1 6\n1 2010/12/3 22748 2.1 6")
    released = f"1 2010/12/3 10000 1.68 31\n1 2010/12/3 20000 {price} 5\n1 2010/12/3 30000 {price} 5"
    release = Release.of_aligned(original, _history(released), Statement("by hand"), seed=SEED)
    score = CellError().measure(Evidence(original, release))
    sums = {part: 3 * value for part, value in score.parts.items()}
    return sums | {"all": sum(sums.values()), "U": score.value}


# --- the table -------------------------------------------------------------------------------------------------------


def leaving_the_rest(k: int, column: ItemColumn, *_made: object) -> float:
    """Return U if the customers left over after the last whole group of k stay unprotected.

    With categories it runs after :func:`categories`, which derives them once.
    """
    original = customers_of(DATA)
    codes, _names = people(original[Role.CUSTOMER])
    return _error_of_rows(original, _row_groups(original, codes, groups_by_count(np.bincount(codes), k)), column)


def deleting_the_rest(k: int) -> float:
    """Return U of items if the customers left over after the last whole group of k are deleted."""
    original = customers_of(DATA)
    codes, _names = people(original[Role.CUSTOMER])
    group = groups_by_count(np.bincount(codes), k)
    row = np.where((np.bincount(group) == k)[group[codes]], _row_groups(original, codes, group), DELETED)
    return _error_of_rows(original, row, "items")


def _row_groups(original: History, codes: Whole, group: Whole) -> Whole:
    """Return the generalised row that each row is part of, sorted as S1 does."""
    sorted_by = [c for role in (Role.PRICE, Role.QUANTITY) for c in original.schema.with_role(role)]
    return rows_laid_together(codes, group, [numbers(exact_values(original, c)) for c in sorted_by])


def _error_of_rows(original: History, row: Whole, column: ItemColumn) -> float:
    """Return U of a release that generalises the rows of each group together."""
    named, meaning = measured_values(original, _category_file() if column == "categories" else None)
    names = pseudonymous(original[Role.CUSTOMER], SEED)
    aligned, notes = share_values(original, named, row, names, suppress_cells=False)
    statement = Statement("generalize-by-count", notes=meaning | notes)
    return _error(Release.of_aligned(original, aligned, statement, seed=SEED))


def groups_by_count(counts: Whole, k: int) -> Whole:
    """Return the group of each customer: neighbours by row count, k per group; customers left over stay alone.

    >>> groups_by_count(np.array([2, 9, 5, 9, 1]), 2).tolist()
    [1, 0, 1, 0, 2]
    """
    place = np.empty(len(counts), dtype=np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    whole = len(counts) // k
    return np.where(place < whole * k, place // k, whole + place - whole * k)


def by_count(k: int, suppress_cells: bool) -> float:
    """Return U of generalize-by-count, which puts customers left over into the last group."""
    return _error(GeneralizeByCount(k=k, suppress_cells=suppress_cells).protect(customers_of(DATA), seed=SEED))


def best_groups(k: int, effort: Literal["quick", "normal", "thorough"]) -> dict[str, Any]:
    """Return U of the best groups that generalize finds, and a lower bound."""
    release = Generalize(k=k, effort=effort, lower_bound="exact").protect(customers_of(DATA), seed=SEED)
    notes = release.statement.notes
    return {
        "U": _error(release),
        "lower_bound": notes["lower_bound"],
        "optimal": notes["proved_optimal"],
        "deleted": release.deleted_rows,
    }


def categories() -> dict[str, int]:
    """Return the number of items, and of those in the largest category derived from their names."""
    known = pl.read_csv(_category_file(), infer_schema=False)
    return {"items": len(known), "largest": int(known["category"].value_counts()["count"].max() or 0)}  # type: ignore[arg-type]


def _error(release: Release) -> float:
    return CellError().measure(Evidence(customers_of(DATA), release)).value


def _category_file() -> Path:
    return cached_folder(_derive, data=(DATA, NAMES)) / "categories.csv"


def _derive(folder: Path) -> None:
    items = customers_of(DATA)[Role.ITEM].unique().to_list()
    names = read_item_names(find(NAMES).path(), NAMES)
    write_categories(derive_categories(names, items, count=KINDS, seed=0), folder / "categories.csv")
