"""``noren sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.inputs import Json
from noren.cli.screen import number, progress_bar, show_json, show_table
from noren.i18n import _

HELP = _("Generate a realistic purchase history, calibrated to a real wholesaler's.")
EXAMPLE = _("Example: noren sample --customers 400 --rows 38000 --items 2800 --seed 1 --out T.csv")


def sample(
    out: Annotated[Path, typer.Option("--out", help=_("The file to write: .csv, .parquet or .xlsx."))],
    customers: Annotated[int, typer.Option("--customers", help=_("How many customers."))] = 400,
    rows: Annotated[int, typer.Option("--rows", help=_("How many purchases."))] = 38_000,
    items: Annotated[int, typer.Option("--items", help=_("How many different items."))] = 2_800,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same bytes."))] = 0,
    schema: Annotated[
        str,
        typer.Option(
            "--schema", help=_("The columns to write: sample, pwscup2016, pwscup2017, pwscup2018, online-retail.")
        ),
    ] = "sample",
    master: Annotated[
        Path | None, typer.Option("--master", help=_("Also write the customers (M) to this file."))
    ] = None,
    as_json: Json = False,
) -> None:
    """Generate a history and print its shape."""
    from noren.data.samples.by_schema import write_sample
    from noren.data.schema import Schema

    with progress_bar(_("Generating"), quiet=as_json) as progress:
        shape = write_sample(
            out,
            Schema.load(schema),
            customers=customers,
            rows=rows,
            items=items,
            seed=seed,
            master=master,
            progress=progress,
        )
    if as_json:
        show_json({"n": shape.n, "m": shape.m, "b": shape.b, "mu": shape.mu, "h": shape.h, "out": str(out)})
        return
    show_table(
        str(out),
        (_("figure"), _("value"), _("meaning")),
        [
            ("n", number(shape.n), _("customers")),
            ("m", number(shape.m), _("purchases")),
            ("b", number(shape.b), _("different items per customer, mean")),
            ("µ", number(shape.mu), _("Jaccard similarity of two customers' items, mean")),
            ("h", number(shape.h), _("items two customers share, mean")),
        ],
    )
