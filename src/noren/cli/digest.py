"""``noren digest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.commands import Output
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import EngineName
from noren.cli.parts.screen import progress_bar
from noren.i18n import _


@app.command(
    "digest",
    help=_("Print one digest of a release's public rows, whatever their order and files."),
    epilog=_("Example: noren digest release/"),
)
def digest(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help=_("A release folder, protected or published."))],
    engine: EngineName = "local",
) -> Output:
    """Print the digest."""
    from noren.data.row_digest import public_digest
    from noren.engines.choice import parse_engine

    where = parse_engine(engine)
    with progress_bar(_("Reading")) as progress:
        if where.address is None:
            told, rows = public_digest(release, progress=progress)
        else:
            from noren.execution.working import digest as run

            told, rows = run(release, engine=where.address, progress=progress)
    return Output({"digest": told, "rows": rows}, [told])
