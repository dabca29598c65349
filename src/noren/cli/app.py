"""All commands of ``noren``: importing the modules adds their commands to :data:`app`."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from noren.cli import (  # noqa: F401 - each adds its commands
    contest,
    data,
    disclosure,
    explore,
    judge,
    ledger,
    overview,
    releases,
    retention,
    studio,
    tabulations,
)
from noren.cli.parts.commands import app
from noren.cli.parts.help_pages import localize_typer
from noren.i18n import _

__all__ = ["app"]

_ORDER = (
    *("protect", "attack", "measure", "judge", "infer", "explore", "report", "correlate", "unicity", "draw"),
    *("categorize", "check", "digest", "papers", "publish", "sample", "convert", "identifiers", "population"),
    *("reconstruct", "reproduce", "threshold", "totals", "dp-counts", "methods", "attacks", "measures", "demo"),
    *("hierarchy", "plan", "chart", "ledger", "contest", "schema", "datasets", "studio"),
)
"""How the help page lists them."""

localize_typer()


def _version(wanted: bool) -> None:
    if wanted:
        from noren.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, Option("--version", help=_("Show the version and exit."), callback=_version, is_eager=True)
    ] = False,
    lang: Annotated[str, Option(metavar="en|ja", help=_("The language: English or Japanese."))] = "",
    debug: Annotated[bool, Option("--debug", help=_("Show the traceback of an error."))] = False,
) -> None:
    """Declare the global flags; --lang and --debug are read earlier and can be anywhere."""


app.add_typer(contest.app, name="contest", help=contest.HELP)
app.add_typer(studio.app, name="studio", help=studio.HELP)
app.registered_commands.sort(key=lambda command: _ORDER.index(command.name or ""))
app.registered_groups.sort(key=lambda group: _ORDER.index(str(group.name)))
