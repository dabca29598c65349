"""``noren contest check``: a file by a contest's rules, at home, as the server checks it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.contest.options import Server, Token, client
from noren.cli.contest.playing import handed_in
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json, Master
from noren.cli.parts.screen import number, progress_bar, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.rulebook import Rulebook

__all__ = ["add_to", "rules"]


def check(
    release: Annotated[
        Path,
        typer.Argument(metavar="FILE", help=_("A release in the original's row order; with --against a guess.")),
    ],
    original: Annotated[Path, typer.Option("--original", help=_("The data of the round."))],
    rulebook: Annotated[
        str,
        typer.Option("--rulebook", help=_("A rulebook's name, or a TOML file; with --contest that of the contest.")),
    ] = "pwscup2018",
    contest: Annotated[
        str | None, typer.Option("--contest", help=_("Ask the server for the rules of this contest."))
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help=_("The target's file: what is checked is a guess against it."))
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help=_("Also measure a valid release, and run the house's attacks on it."))
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help=_("How many problems to list."))] = 20,
    master: Master = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Check a file; leave with 1 where it is not valid."""
    from noren.cli.parts.commands import show
    from noren.cli.releases import report_parts
    from noren.contest.judging.checking import check_guess, check_release
    from noren.data.formats.source import readable

    book = rules(rulebook, contest, server, token)
    original = readable(original)
    with handed_in(release) as file:
        if against is None:
            report = check_release(book, original, readable(file), limit=limit, master=master)
        else:
            report = check_guess(book, original, readable(against), readable(file), limit=limit, master=master)
        told: dict[str, Any] = report.as_dict()
        if score and against is None and report.valid:
            from noren.contest.judging.scoring import score_release

            with progress_bar(_("Judging"), quiet=as_json) as progress:
                found = score_release(book, original, file, master=master, progress=progress)
            told |= {name: found[name] for name in ("values", "house") if name in found}
    if as_json:
        show_json(told)
    else:
        show(report_parts(report, release.name))
        rows = [(name, number(value)) for name, value in told.get("values", {}).items()]
        for name, one in told.get("house", {}).items():
            rows += [(f"{name}: {key}", number(value)) for key, value in (one.get("values") or {}).items()]
        if rows:
            show_table("", (_("measure"), _("value")), rows)
    if not report.valid:
        raise typer.Exit(1)


def rules(rulebook: str, contest: str | None, server: str | None, token: str | None) -> Rulebook:
    """Return the rules that are meant: a preset's, a file's, or those of a contest on a server."""
    from noren.contest.rulebook import PRESETS, read_rulebook

    if contest is not None:
        with client(server, token) as asked:
            return read_rulebook(asked.rulebook(contest))
    return read_rulebook(rulebook if rulebook in PRESETS or not Path(rulebook).is_file() else Path(rulebook))


def add_to(app: App) -> None:
    """Add the command."""
    app.command(
        "check",
        help=_(
            "Check a release or a guess by a contest's rules before you hand it in: the server's own check, at home."
        ),
        epilog=_("Example: noren contest check A.csv --original T.csv --rulebook pwscup2018"),
    )(check)
