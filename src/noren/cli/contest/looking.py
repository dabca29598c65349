"""``noren contest check, leaderboard, results``: a file by a contest's rules, at home; and who stands where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli.contest.options import Contest, Round, Server, Token, client, round_of, shown_time
from noren.cli.contest.playing import handed_in
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json, Master
from noren.cli.parts.screen import number, progress_bar, say, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.rulebook import Rulebook

__all__ = ["app", "rules", "show_board"]

app = App()


@app.command(
    "check",
    help=_("Check a release or a guess by a contest's rules before you hand it in: the server's own check, at home."),
    epilog=_("Example: noren contest check A.csv --original T.csv --rulebook pwscup2018"),
)
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


@app.command(
    "leaderboard",
    help=_("Show the board of a round: live, frozen or final. What failed has no rank."),
    epilog=_("Example: noren contest leaderboard cup-2026 --round final"),
)
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


@app.command(
    "results",
    help=_("Show the results of a contest, or fetch them as a page, a table or data."),
    epilog=_("Example: noren contest results cup-2026 --out results.html"),
)
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
