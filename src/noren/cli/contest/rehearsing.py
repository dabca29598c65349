"""``noren contest simulate``: a whole cup with bots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.contest.options import Database
from noren.cli.parts.help_pages import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import progress_bar, show_json, show_table
from noren.i18n import _

__all__ = ["add_to"]


def simulate(
    rulebook: Annotated[
        str, typer.Option("--rulebook", help=_("pwscup2018, pwscup2017, pwscup2016, custom, or a TOML file."))
    ] = "pwscup2018",
    teams: Annotated[int, typer.Option("--teams", min=2, max=200, help=_("How many bots play."))] = 13,
    customers: Annotated[
        int, typer.Option("--customers", min=6, help=_("How many customers the made-up data have."))
    ] = 40,
    rows: Annotated[int, typer.Option("--rows", min=40, help=_("How many purchases the made-up data have."))] = 400,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same bots and data."))] = 1,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help=_("How many processes judge."))] = 2,
    faults: Annotated[
        bool, typer.Option("--faults", help=_("Kill server and workers and cut uploads off while they play."))
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help=_("Write the archive of the cup to this file."))] = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Play a cup; leave with 1 where something was lost, scored twice or does not agree."""
    from noren.cli.contest.checking import rules
    from noren.contest.bot_teams import Plan
    from noren.contest.simulate import simulate as play
    from noren.data.formats.files import must_be_writable

    if out is not None:
        must_be_writable(out)  # before a whole cup is played
    plan = Plan(
        rulebook=rules(rulebook, None, None, None),
        teams=teams,
        customers=customers,
        rows=rows,
        seed=seed,
        workers=workers,
        faults=faults,
    )
    with progress_bar(_("Playing"), quiet=as_json) as progress:
        found = play(plan, out, database=database, progress=progress)
    if as_json:
        show_json(found.as_dict())
    else:
        show_table("", (_("what"), ""), [(name, value) for name, value in found.told()])
        for problem in found.problems:
            print(problem)
    if not found.ok:
        raise typer.Exit(1)


def add_to(app: App) -> None:
    """Add the command."""
    app.command(
        "simulate",
        help=_("Play a whole cup with bots in accelerated time: a rehearsal, and a proof that nothing is lost."),
        epilog=_("Example: noren contest simulate --rulebook pwscup2018 --teams 13 --seed 1 --faults --out cup.zip"),
    )(simulate)
