"""``noren reconstruct``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from noren.cli.parts.commands import Output, Table, app
from noren.cli.parts.inputs import EngineName
from noren.cli.parts.screen import number, progress_bar
from noren.i18n import _

if TYPE_CHECKING:
    from noren.retention.reconstruction import Reconstruction


@app.command(
    "reconstruct",
    help=_("Reconstruct the table before perturbation, from the public part of a release alone."),
    epilog=_("Example: noren reconstruct release/ --model auto --out table.parquet"),
)
def reconstruct(
    release: Annotated[
        Path, Argument(metavar="RELEASE", help=_("A folder that noren protect --method retention wrote."))
    ],
    out: Annotated[
        Path, Option("--out", help=_("The file of whole records to write: Parquet, CSV or Excel, by its ending."))
    ],
    model: Annotated[
        Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"],
        Option("--model", help=_("How to estimate; stated: as the release says.")),
    ] = "stated",
    attributes: Annotated[
        str, Option("--attributes", help=_("Only these attributes, separated by commas; all where left out."))
    ] = "",
    interactions: Annotated[
        str,
        Option("--interactions", help=_("For loglinear: race+sex,race+age …; all pairs where left out.")),
    ] = "",
    bootstrap: Annotated[
        int,
        Option("--bootstrap", min=0, help=_("How often to draw again, for an interval of each cell; 0: no intervals.")),
    ] = 0,
    cells: Annotated[
        Path | None,
        Option(
            "--cells",
            help=_(
                "Also write the cross tabulation, with intervals if there are any; of a table too large for that, "
                "those of one and of two attributes."
            ),
        ),
    ] = None,
    seed: Annotated[
        int, Option("--seed", min=0, help=_("Deals records into folds and shuffles them; it is no secret."))
    ] = 0,
    engine: EngineName = "local",
) -> Output:
    """Reconstruct a table."""
    from noren.data.frames import Table as Records
    from noren.data.reading import write
    from noren.execution.engine import engine_named
    from noren.retention.reconstructed import WideReconstruction

    asked: dict[str, Any] = {
        "model": None if model == "stated" else model,
        "attributes": _split(attributes),
        "interactions": [one.split("+") for one in _split(interactions)],
        "bootstrap": bootstrap,
        "seed": seed,
    }
    with progress_bar(_("Reconstructing")) as progress:
        found, schema = engine_named(engine).reconstruct(release, progress=progress, **asked)
    records = found.records(seed)
    write(Records(records, found.perturbation.released_schema(schema)), out)
    if cells is not None:
        _write_cells(found, cells)
    by_pairs = isinstance(found, WideReconstruction)
    facts: dict[str, Any] = {
        "records": len(records),
        "cells": found.perturbation.cells,
        "model": found.model,
        "made_of": found.made_of,
        "tables": "pairs" if by_pairs else "whole",
    }
    if found.own_intervals:
        facts["intervals"] = {
            name: [[float(low), float(high)] for low, high in zip(one.low, one.high, strict=True)]
            for name, one in found.own_intervals.items()
        }
    rows = [
        (_("records"), number(len(records))),
        (_("cells"), number(found.perturbation.cells)),
        (_("model"), found.model),
        *((f"  {name}", f"{share:.2f}") for name, share in list(found.made_of.items())[:5]),
        (_("written to"), str(out)),
    ]
    if by_pairs:
        rows.insert(2, (_("too many for one table"), _("reconstructed: all tables of one and of two attributes")))
    if found.intervals is not None:
        wide = float((found.intervals.high - found.intervals.low).mean())
        rows.insert(2, (_("interval of a cell (95%), mean width"), number(wide)))
    return Output({"out": str(out)} | facts, [Table((_("what"), ""), rows)])


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


def _write_cells(found: Reconstruction, path: Path) -> None:
    import polars as pl

    from noren.data.frames import Table
    from noren.data.reading import write
    from noren.data.schema import Column, Kind, Schema, ValueType
    from noren.retention.reconstructed import WideReconstruction

    frame = found.cells()
    counted = [
        Column(name=n, type=ValueType.DECIMAL, width=1e-9) for n in ("records", "low", "high") if n in frame.columns
    ]
    if isinstance(found, WideReconstruction):
        texts = [Column(name=n, optional=True) for n in frame.columns if frame[n].dtype == pl.String]
        columns = (*texts, *counted)
    else:
        columns = (*(a.column for a in found.perturbation.attributes), *counted)
    write(Table(frame, Schema(kind=Kind.TABLE, columns=columns)), path)
