"""``noren draw``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import CustomerColumn, Json, Master, Original, Rows, SchemaName, load_original
from noren.cli.parts.screen import progress_bar, show_json
from noren.i18n import _


@app.command(
    "draw",
    help=_("Draw data sets that are consistent with a release, uniformly, to analyse like the original."),
    epilog=_("Example: noren draw T.csv release/ --draws 100 --seed 1 --out draws.parquet"),
)
def draw(
    original: Original,
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help=_("A release folder, published or not, or a released file."))
    ],
    out: Annotated[Path, typer.Option("--out", help=_("The Parquet file to write; its column draw counts from 0."))],
    draws: Annotated[int, typer.Option("--draws", min=1, max=100_000, help=_("How many data sets to draw."))] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same draws; it is no secret."))] = 1,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    as_json: Json = False,
) -> None:
    """Draw data sets."""
    from noren.data.categories import release_categories
    from noren.data.draws import Draws, write_draws
    from noren.data.frames import History
    from noren.data.reading import read_public
    from noren.data.release import Release
    from noren.errors import SchemaError

    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    public = read_public(release, data)
    if not (isinstance(data, History) and isinstance(public, History)):
        raise SchemaError(_("only purchase histories can be drawn"), _("give a history and its release"))
    groups = release_categories(Release.load(release).statement) if release.is_dir() else None
    with progress_bar(_("Drawing"), quiet=as_json) as progress:
        write_draws(Draws(data, public, seed=seed, categories=groups), draws, out, progress=progress)
    answer = {"out": str(out), "draws": draws, "rows": draws * len(public), "seed": seed}
    if as_json:
        show_json(answer)
        return
    print(
        _("{draws:,} data sets of {rows:,} rows each written to {out}").format(draws=draws, rows=len(public), out=out)
    )
