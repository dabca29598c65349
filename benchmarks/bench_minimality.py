"""What it costs that a search may not look at sensitive values: Adult with ℓ and t, for k = 2, 5 and 10.

``hierarchy`` with ``search="arx"`` takes the levels of least loss that keep k, ℓ and t; its choice tells something of
the sensitive values (Wong et al. 2007). ``search="safe"`` takes those of least loss that keep k, and deletes classes
that fail. ``mondrian`` cuts a box only while its values are varied enough, and is shown next to cutting by k alone and
deleting what fails. About a minute::

    python benchmarks/bench_minimality.py

It needs the published data beside the checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from machine import facts, report, table

from noren import api
from noren.data.arrays import exact_values
from noren.data.frames import Table
from noren.data.reading import read
from noren.errors import ParameterError
from noren.kernels.lattice.mondrian import classes_by_cuts
from noren.kernels.lattice.scores import ClassRule
from noren.kernels.lattice.search import LevelTable, suppressed
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.mondrian import Mondrian, _placed
from noren.methods.table_parts import sensitive_codes

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("salary-class", {"l": 2}),
    ("salary-class", {"t": 0.3}),
    ("occupation", {"l": 2}),
    ("occupation", {"l": 3}),
    ("occupation", {"l": 5}),
    ("occupation", {"t": 0.5}),
]
LIMITS = (0.0, 0.05, 0.2)


def people() -> Table:
    """Return Adult's 30,162 complete rows, occupation being sensitive beside the salary."""
    rows = read(SHARED / "adult.data", "adult").data
    complete = rows.frame.select(~pl.any_horizontal(pl.col(pl.String) == "?")).to_series()
    columns = [
        c.model_copy(update={"role": "sensitive"} if c.name == "occupation" else {}) for c in rows.schema.columns
    ]
    schema = rows.schema.model_copy(update={"columns": tuple(columns)})
    return Table(rows.frame.filter(complete), schema)


def words(column: str, rule: dict[str, Any]) -> str:
    return f"{column}, " + ", ".join(f"{'ℓ' if name == 'l' else name} = {value}" for name, value in rule.items())


def levels(rows: Table, search: str, **parameters: Any) -> list[str]:
    """Return the loss of the levels that a search takes and the share of rows it deletes, or that it refuses."""
    method = HierarchyMethod(quasi=QUASI, hierarchies=SHARED / "adult_hierarchies", search=search, **parameters)
    try:
        best = method.levelled(rows, *method.looked_at(rows.schema)).best
    except ParameterError as error:
        failing = str(error).partition("classes with ")[2].partition(" of")[0]
        return ["refused", f"{failing} fail" if failing else ""]
    return [f"{best.score:.4f}", f"{best.suppressed / len(rows):.1%}"]


def failing_by_k(rows: Table, **parameters: Any) -> float:
    """Return the share of rows in classes that fail where rows are cut by k alone."""
    method = Mondrian(quasi=QUASI, **parameters)
    quasi, sensitive = method.looked_at(rows.schema)
    codes, places = zip(*(_placed(exact_values(rows, column), column, None) for column in quasi), strict=True)
    classes = classes_by_cuts(np.stack(codes), list(places), ClassRule(method.k, 0))
    values = sensitive_codes(rows, sensitive)
    assert classes is not None
    assert values is not None
    rule, ones = method.rule(0, values), np.ones(len(rows), np.int64)
    failing = suppressed(classes[:, None], ones, [LevelTable(int(classes.max()) + 1, ())], [0], rule, values.of_rows)
    return float(failing.mean())


def cuts(rows: Table, **parameters: Any) -> list[str]:
    """Return the loss, the classes and the deleted rows of ``mondrian``."""
    release = api.protect(rows, "mondrian", quasi=QUASI, suppression=1.0, seed=1, **parameters)
    notes = release.statement.notes
    loss = api.measure(rows, release, "table-loss").value
    return [f"{loss:.4f}", f"{notes['classes']:,}", f"{notes['suppressed_rows'] / len(rows):.1%}"]


def main() -> None:
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    rows = people()
    by_levels, by_cuts = [], []
    for column, rule in ASKED:
        for k in (2, 5, 10):
            parameters = {"k": k, "sensitive": column, **rule}
            for limit in LIMITS:
                both = [levels(rows, search, suppression=limit, **parameters) for search in ("arx", "safe")]
                by_levels.append([words(column, rule), str(k), f"{limit:.0%}", *both[0], *both[1]])
            by_cuts.append(
                [words(column, rule), str(k), *cuts(rows, **parameters), f"{failing_by_k(rows, **parameters):.1%}"]
            )
    report(
        "minimality",
        "What a choice without sensitive values costs",
        "Adult's 30,162 complete rows, seven quasi columns. `hierarchy`: the loss of the levels chosen, deleted rows"
        " counted in full, and the share of rows deleted. `refused` says that classes with so many rows fail, more than"
        " may be deleted; no other levels are tried then, as that would tell whose values are alike.",
        table(["asked", "k", "limit", "arx: loss", "deleted", "safe: loss", "deleted"], by_levels),
        "`mondrian`: table-loss, classes and deleted rows of the method, and the share of rows that would be deleted if"
        " rows were cut by k alone.",
        table(["asked", "k", "loss", "classes", "deleted", "deleted, cut by k alone"], by_cuts),
        facts("polars", "numba", "numpy"),
    )


if __name__ == "__main__":
    main()
