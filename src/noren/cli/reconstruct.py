"""``noren reconstruct``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from noren.cli.parts.inputs import EngineName, Json
from noren.cli.parts.screen import number, progress_bar, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.retention.reconstruction import Reconstruction

HELP = _("Reconstruct the table before perturbation, from the public part of a release alone.")
EXAMPLE = _("Example: noren reconstruct release/ --model auto --out table.parquet")


def reconstruct(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help=_("A folder that noren protect --method retention wrote."))
    ],
    out: Annotated[
        Path, typer.Option("--out", help=_("The file of whole records to write: Parquet, CSV or Excel, by its ending."))
    ],
    model: Annotated[
        Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"],
        typer.Option("--model", help=_("How to estimate; stated: as the release says.")),
    ] = "stated",
    attributes: Annotated[
        str, typer.Option("--attributes", help=_("Only these attributes, separated by commas; all where left out."))
    ] = "",
    interactions: Annotated[
        str,
        typer.Option("--interactions", help=_("For loglinear: race+sex,race+age …; all pairs where left out.")),
    ] = "",
    bootstrap: Annotated[
        int,
        typer.Option(
            "--bootstrap", min=0, help=_("How often to draw again, for an interval of each cell; 0: no intervals.")
        ),
    ] = 0,
    cells: Annotated[
        Path | None,
        typer.Option(
            "--cells",
            help=_(
                "Also write the cross tabulation, with intervals if there are any; of a table too large for that, "
                "those of one and of two attributes."
            ),
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help=_("Deals records into folds and shuffles them; it is no secret."))
    ] = 0,
    engine: EngineName = "local",
    as_json: Json = False,
) -> None:
    """Reconstruct a table."""
    from noren.api import reconstruct as run
    from noren.data.frames import Table
    from noren.data.reading import write
    from noren.data.release import Release
    from noren.engines.accelerated.device import must_be_there
    from noren.engines.choice import parse_engine, using
    from noren.retention.reconstructed import WideReconstruction

    where = parse_engine(engine)
    must_be_there(where)
    asked: dict[str, Any] = {
        "model": None if model == "stated" else model,
        "attributes": _split(attributes),
        "interactions": [one.split("+") for one in _split(interactions)],
        "bootstrap": bootstrap,
        "seed": seed,
    }
    if where.address is not None:
        from noren.execution.reconstruction import reconstruct as on_cluster

        with progress_bar(_("Reconstructing"), quiet=as_json) as progress:
            found, schema = on_cluster(release, engine=where.address, progress=progress, **asked)
    else:
        loaded = Release.load(release)
        with progress_bar(_("Reconstructing"), quiet=as_json) as progress, using(where):
            found, schema = run(loaded, progress=progress, **asked), loaded.public.schema
    records = found.records(seed)
    write(Table(records, found.perturbation.released_schema(schema)), out)
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
    if as_json:
        show_json({"out": str(out)} | facts)
        return
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
    show_table("", (_("what"), ""), rows)


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
