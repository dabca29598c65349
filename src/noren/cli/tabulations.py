"""Commands that write tables of counts and sums: ``totals`` and ``dp-counts``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from noren.cli.parts.commands import Note, Output, Part, TextTable, app
from noren.cli.parts.inputs import Force, Original, Reading, comma_separated
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from noren.tabulations.tabulation import Tabulation


@app.command("totals")
def totals(
    original: Original,
    out: Path,
    k: int = 5,
    p: float = 10.0,
    tables: str = "",
    categories: Path | None = None,
    *,
    reading: Reading,
    force: Force = False,
) -> Output:
    """Write exact totals."""
    from noren.tabulations.totals import totals as run

    names = comma_separated(tables) or None
    return _written(lambda: run(reading.load(original), k, p, names, categories), out, force=force)


@app.command("dp-counts")
def dp_counts(
    data: Original,
    out: Path,
    epsilon: float = 1.0,
    columns: Annotated[list[str] | None, Option(metavar="COLUMNS")] = None,
    tables: str = "",
    contributions: str = "20",
    categories: Path | None = None,
    *,
    reading: Reading,
    force: Force = False,
) -> Output:
    """Write differentially private counts."""
    from noren.tabulations.dp_counts import dp_counts as run

    limits: dict[str, float] = {}
    for word in comma_separated(contributions):
        name, _equals, limit = word.rpartition("=")
        try:
            limits[name or "rows"] = float(limit)
        except ValueError:
            raise ParameterError.out_of_range(
                "--contributions", word, "20 / rows=20,quantity=500,revenue=1000"
            ) from None
    wanted, names = [comma_separated(words) for words in columns or ()], comma_separated(tables) or None
    return _written(
        lambda: run(reading.load(data), epsilon, wanted, names, limits, categories=categories), out, force=force
    )


def _written(make: Callable[[], Sequence[Tabulation]], out: Path, *, force: bool) -> Output:
    """Make and write tables, and say of each how many cells it has and how many of them are suppressed."""
    from noren.data.formats.files import require_free_path
    from noren.tabulations.tabulation import TABLES, write_tables

    require_free_path(out, replace=force and TABLES)
    write_tables(out, tables := make(), replace=force)
    rows: list[tuple[str, ...]] = []
    about: dict[str, Any] = {}
    for table in tables:
        suppressed = table.frame[table.values[0]].null_count()
        about[table.name] = {"cells": len(table.frame), "suppressed": suppressed, "notes": dict(table.notes)}
        rows.append((table.name, ", ".join(table.values), f"{len(table.frame):,}", f"{suppressed:,}"))
    parts: list[Part] = [TextTable((_("Table"), _("Values"), _("Cells"), _("Suppressed")), rows)]
    parts.append(_("written to {out}").format(out=out))
    kinds = {table.name: table.notes["kind"] for table in tables}
    if kinds.get("month-category") == kinds.get("item-quarter") == "exact":
        hole = _("warning: a category less its published items is the sum of its rare items, which may be of fewer "
                 "than k customers; publish month-category or item-quarter, not both")  # fmt: skip
        parts.append(Note(hole))
    return Output({"tables": about, "out": str(out)}, parts)
