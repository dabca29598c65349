"""``noren convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.inputs import Json, SchemaName
from noren.cli.parts.screen import progress_bar, show_json
from noren.i18n import _

HELP = _("Convert a file of any size between CSV, Parquet and Excel, in constant memory.")
EXAMPLE = _("Example: noren convert purchases.csv purchases.parquet")


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=_("CSV (plain or gzip), Parquet or Excel."))],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help=_("The file to write: .csv, .parquet or .xlsx."))],
    schema: SchemaName = None,
    as_json: Json = False,
) -> None:
    """Convert a file."""
    from noren.data.reading import convert as run

    with progress_bar(_("Converting"), quiet=as_json) as progress:
        rows = run(source, target, schema, progress=lambda done, count: progress(done, f"{count:,}"))
    if as_json:
        show_json({"rows": rows, "out": str(target)})
        return
    print(_("{rows:,} rows written to {target}").format(rows=rows, target=target))
