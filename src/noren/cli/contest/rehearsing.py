"""``noren contest simulate``: a whole contest with simulated teams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import progress_bar, show_json
from noren.i18n import _

__all__ = ["add_to"]


def simulate(
    rulebook: Annotated[
        str, typer.Option("--rulebook", help=_("pwscup2018, pwscup2017, pwscup2016, custom, or a TOML file."))
    ] = "pwscup2018",
    teams: Annotated[int, typer.Option("--teams", min=2, max=200, help=_("Number of simulated teams."))] = 13,
    customers: Annotated[
        int, typer.Option("--customers", min=6, help=_("How many customers the made-up data have."))
    ] = 40,
    rows: Annotated[int, typer.Option("--rows", min=40, help=_("How many purchases the made-up data have."))] = 400,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same data, releases and guesses."))] = 1,
    out: Annotated[Path | None, typer.Option("--out", help=_("Write the archive of the cup to this file."))] = None,
    as_json: Json = False,
) -> None:
    """Play a contest and show its final boards."""
    from noren.cli.contest.checking import rules
    from noren.cli.contest.looking import show_board
    from noren.contest.simulation import Plan
    from noren.contest.simulation import simulate as play
    from noren.data.formats.files import must_be_writable

    if out is not None:
        must_be_writable(out)  # before a whole contest is played
    plan = Plan(rules(rulebook, None, None, None), teams=teams, customers=customers, rows=rows, seed=seed)
    with progress_bar(_("Playing"), quiet=as_json) as progress:
        boards = play(plan, out, progress=progress)
    if as_json:
        show_json({"boards": boards})
        return
    for board in boards:
        show_board(board, "UTC")


def add_to(app: App) -> None:
    """Add the command."""
    app.command(
        "simulate",
        help=_("Play a whole contest on this machine with simulated teams, from registration to results."),
        epilog=_("Example: noren contest simulate --rulebook pwscup2018 --teams 13 --seed 1 --out cup.zip"),
    )(simulate)
