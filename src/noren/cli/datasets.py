"""``noren datasets``: the public data sets Noren knows by name."""

from __future__ import annotations

from typing import Annotated

import typer

from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import progress_bar, show_json, show_table
from noren.i18n import _

datasets_commands = app.group(
    "datasets",
    help=_("List the public data sets Noren knows, and fetch those that can be downloaded."),
    invoke_without_command=True,
)


@datasets_commands.callback(epilog=_("Example: noren datasets"))
def datasets(context: typer.Context, as_json: Json = False) -> None:
    """List the data sets and where they were found."""
    if context.invoked_subcommand is not None:
        return
    from noren.data.catalog import find, known
    from noren.errors import FileError

    listed = []
    for dataset in known():
        try:
            where: str | None = str(find(dataset.name).folder)
        except FileError:
            where = None
        listed.append(
            {
                "name": dataset.name,
                "title": _(dataset.title),
                "schema": dataset.schema,
                "kind": str(dataset.kind),
                "rows": dataset.rows,
                "licence": _(dataset.licence),
                "found": where,
                "can_be_fetched": dataset.archive is not None,
            }
        )
    if as_json:
        show_json({"datasets": listed})
        return
    rows = [
        (str(d["name"]), str(d["schema"]), f"{d['rows']:,}", str(d["title"]), str(d["found"] or _("not here")))
        for d in listed
    ]
    show_table("", (_("name"), _("schema"), _("rows"), _("what"), _("where")), rows)


@datasets_commands.command(
    "fetch",
    help=_("Download a data set from its official archive; goes on where an earlier try stopped."),
    epilog=_("Example: noren datasets fetch online-retail"),
)
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help=_("online-retail or adult."))],
    as_json: Json = False,
) -> None:
    """Fetch a data set."""
    from noren.data.catalog import fetch as run

    with progress_bar(_("Fetching"), quiet=as_json) as progress:
        found = run(name, progress)
    files = [str(path) for path in found.paths.values()]
    if as_json:
        show_json({"name": name, "files": files})
        return
    print(*files, sep="\n")
