"""``noren convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.commands import Output
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import SchemaName
from noren.cli.parts.screen import progress_bar
from noren.i18n import _


@app.command(
    "convert",
    help=_("Convert a file of any size between CSV, Parquet and Excel, in constant memory."),
    epilog=_("Example: noren convert purchases.csv purchases.parquet"),
)
def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=_("CSV (plain or gzip), Parquet or Excel."))],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help=_("The file to write: .csv, .parquet or .xlsx."))],
    schema: SchemaName = None,
) -> Output:
    """Convert a file."""
    from noren.data.reading import convert as run

    with progress_bar(_("Converting")) as progress:
        rows = run(source, target, schema, progress=lambda done, count: progress(done, f"{count:,}"))
    words = _("{rows:,} rows written to {target}").format(rows=rows, target=target)
    return Output({"rows": rows, "out": str(target)}, [words])
