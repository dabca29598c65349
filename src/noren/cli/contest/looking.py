"""``noren contest leaderboard, results``: who stands where."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noren.cli.contest.options import Contest, Round, Server, Token, client, round_of, shown_time
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["add_to"]


def leaderboard(
    contest: Contest, round_: Round = None, server: Server = None, token: Token = None, as_json: Json = False
) -> None:
    """Show the board of a round."""
    with client(server, token) as asked:
        about = asked.contest(contest)
        chosen = round_of(about, round_)
        board = asked.leaderboard(contest, chosen)
    if as_json:
        show_json(board)
        return
    show_board(board, about["settings"]["zone"])


def show_board(board: dict[str, Any], zone: str) -> None:
    """Print a board; who has no rank stands last, with the reason."""
    if board["kind"] == "frozen":
        at = shown_time(board["at"], zone)
        say(_("the board stands still since {moment} ({zone})").format(moment=at, zone=zone))
    if not board["attacks_over"]:
        say(_("attacks are not over: ranks may change"))
    measures = list(dict.fromkeys(name for one in board["standings"] for name in one["values"]))
    rows = []
    for one in board["standings"]:
        rank = "–" if one["rank"] is None else str(one["rank"])
        score = "" if one["score"] is None else number(one["score"])
        values = [number(one["values"][name]) if name in one["values"] else "" for name in measures]
        rows.append((rank, one["name"], score, *values, f"{one['effective']}/{one['attackers']}", _verdict(one)))
    headings = (_("rank"), _("team"), _("score"), *measures, _("broken by / attacked by"), _("verdict"))
    show_table(str(board["round"]), headings, rows)


def _verdict(one: dict[str, Any]) -> str:
    """Return what is said of a release in a word, or why a team has no rank."""
    from noren.contest.standings import Status
    from noren.judgement.sentences import word_text
    from noren.judgement.verdict import Word

    why = Status(one["status"]).words
    if why:
        return f"{why}: {one['reason']}" if one["reason"] else why
    return word_text(Word(one["verdict"])) if one["verdict"] else ""


def results(
    contest: Contest,
    out: Annotated[Path | None, typer.Option("--out", help=_("Write them to this file: .html, .csv or .json."))] = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show or fetch the results."""
    kinds = (".html", ".csv", ".json")
    if out is not None and out.suffix.lower() not in kinds:
        raise ParameterError(
            _("results cannot be written as {out}").format(out=out.name),
            _("use one of {names}").format(names=", ".join(kinds)),
        )
    with client(server, token) as asked:
        if out is not None:
            with progress_bar(_("Fetching"), quiet=as_json) as progress:
                size = asked.save(contest, f"results{out.suffix.lower()}", out, progress)
            if as_json:
                show_json({"out": str(out), "bytes": size})
            else:
                print(_("results written to {out}").format(out=out))
            return
        about, found = asked.contest(contest), asked.results(contest)
        if as_json:
            show_json(found)
            return
        for one in about["rounds"]:
            show_board(asked.leaderboard(contest, one["id"]), about["settings"]["zone"])


def add_to(app: App) -> None:
    """Add the commands."""
    app.command(
        "leaderboard",
        help=_("Show the board of a round: live, frozen or final. What failed has no rank."),
        epilog=_("Example: noren contest leaderboard cup-2026 --round final"),
    )(leaderboard)
    app.command(
        "results",
        help=_("Show the results of a contest, or fetch them as a page, a table or data."),
        epilog=_("Example: noren contest results cup-2026 --out results.html"),
    )(results)
