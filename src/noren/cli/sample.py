"""``noren sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import number, progress_bar, show_json, show_table
from noren.i18n import _

_PURCHASES, _PEOPLE = 38_000, 4_000


@app.command(
    "sample",
    help=_("Generate a realistic purchase history, calibrated to a real wholesaler's; or a table of people."),
    epilog=_("Example: noren sample --customers 400 --rows 38000 --items 2800 --seed 1 --out T.csv"),
)
def sample(
    out: Annotated[Path, typer.Option("--out", help=_("The file to write: .csv, .parquet or .xlsx."))],
    customers: Annotated[int, typer.Option("--customers", help=_("How many customers."))] = 400,
    rows: Annotated[
        int | None,
        typer.Option("--rows", help=_("How many purchases or people; 38,000 or 4,000 where left out.")),
    ] = None,
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
    kind: Annotated[
        Literal["history", "people"],
        typer.Option("--kind", help=_("Purchases, or a table of people (--schema people reads it).")),
    ] = "history",
    as_json: Json = False,
) -> None:
    """Generate a history and print its shape, or a table of people."""
    from noren.data.given import checked_seed

    seed = checked_seed(seed)
    if kind == "people":
        _people(out, _PEOPLE if rows is None else rows, seed, schema, master, as_json=as_json)
        return
    from noren.data.samples.by_schema import write_sample
    from noren.data.schema import Schema

    with progress_bar(_("Generating"), quiet=as_json) as progress:
        shape = write_sample(
            out,
            Schema.load(schema),
            customers=customers,
            rows=_PURCHASES if rows is None else rows,
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


def _people(out: Path, rows: int, seed: int, schema: str, master: Path | None, *, as_json: bool) -> None:
    from noren.data.reading import write
    from noren.data.samples.people import sample_people
    from noren.errors import ParameterError

    if master is not None or schema not in ("sample", "people"):
        raise ParameterError(
            _("a table of people has columns of its own and no master"), _("leave --schema and --master out")
        )
    with progress_bar(_("Generating"), quiet=as_json) as progress:
        people = sample_people(rows, seed)
        progress(0.8)
        write(people, out)
    quasi = [column.name for column in people.schema.with_role("quasi")]
    alike = people.frame.group_by(quasi).len()["len"]
    alone = int((alike == 1).sum())
    if as_json:
        show_json({"rows": len(people), "combinations": len(alike), "alone": alone, "out": str(out)})
        return
    show_table(
        str(out),
        (_("figure"), _("value"), _("meaning")),
        [
            (_("rows"), number(len(people)), _("people")),
            (_("combinations"), number(len(alike)), _("different combinations of quasi-identifiers")),
            (_("alone"), number(alone), _("people whose combination nobody else has")),
        ],
    )
