"""Checks, leaderboards, results and archives: ``noren contest check`` to ``replay``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.contest.connecting import ArenaStorage, Connection, Contest, Round, local_time, round_of
from noren.cli.contest.playing import score_table, submission_file
from noren.cli.parts.commands import App, Note, Output, Part, TextTable, number, progress_bar, refusal, situation
from noren.cli.parts.inputs import Master
from noren.i18n import _

if TYPE_CHECKING:
    from noren.contest.rulebook import Rulebook

app = App()


@app.command("check")
def check(
    release: Annotated[Path, Argument(metavar="FILE")],
    original: Path,
    rulebook: str = "pwscup2018",
    contest: str | None = None,
    against: Path | None = None,
    score: Annotated[bool, Option("--score")] = False,
    limit: Annotated[int, Option(min=1)] = 20,
    master: Master = None,
    *,
    connection: Connection,
) -> Output:
    """Check a file; leave with 1 where it is not valid."""
    from noren.cli.releases import report_parts
    from noren.contest.judging.checking import check_guess, check_release
    from noren.data.formats.source import require_readable

    book = rules(rulebook, contest, connection)
    original = require_readable(original)
    with submission_file(release) as file:
        if against is None:
            report = check_release(book, original, require_readable(file), limit=limit, master=master)
        else:
            report = check_guess(
                book, original, require_readable(against), require_readable(file), limit=limit, master=master
            )
        answer: dict[str, Any] = report.as_dict()
        if score and against is None and report.valid:
            from noren.contest.judging.scoring import score_release

            with progress_bar() as progress:
                scores = score_release(book, original, file, master=master, progress=progress)
            answer |= {name: scores[name] for name in ("values", "baseline") if name in scores}
    parts = [*report_parts(report, release.name), *score_table(answer.get("values"), answer.get("baseline"))]
    return Output(answer, parts, exit_code=0 if report.valid else 1)


def rules(rulebook: str, contest: str | None, connection: Connection) -> Rulebook:
    """Return the rules of a preset, of a file, or of a contest on a server."""
    from noren.contest.rulebook import PRESETS, read_rulebook

    if contest is not None:
        with connection.client() as client:
            return read_rulebook(client.text("contests", contest, "rulebook.toml"))
    return read_rulebook(rulebook if rulebook in PRESETS or not Path(rulebook).is_file() else Path(rulebook))


@app.command("leaderboard")
def leaderboard(contest: Contest, round_: Round = None, *, connection: Connection) -> Output:
    """Show the board of a round."""
    with connection.client() as client:
        about = client.contest(contest)
        chosen = round_of(about, round_)
        board = client.get("contests", contest, "rounds", chosen, "leaderboard")
    return Output(board, board_parts(board, about["settings"]["zone"]))


def board_parts(board: dict[str, Any], zone: str) -> Iterator[Part]:
    """Yield a leaderboard; teams without a rank come last, with the reason."""
    from noren.contest.standings import Status

    if board["kind"] == "frozen":
        at = local_time(board["at"], zone)
        yield Note(_("The leaderboard is frozen since {time} ({zone}).").format(time=at, zone=zone))
    if not board["attacks_over"]:
        yield Note(_("Attacks are not over; ranks may change."))
    measures = list(dict.fromkeys(name for team in board["standings"] for name in team["values"]))
    rows = []
    for team in board["standings"]:
        rank = "–" if team["rank"] is None else str(team["rank"])
        score = "" if team["score"] is None else number(team["score"])
        values = [number(team["values"][name]) if name in team["values"] else "" for name in measures]
        attack, why = team["best_attack"], Status(team["status"]).label
        best = "{best_right}/{best_named} ({needed})".format(**attack) if attack else ""
        why = f"{why}: {team['reason']}" if why and team["reason"] else why
        rows.append((rank, team["name"], score, *values, f"{team['effective']}/{team['attackers']}", best, why))
    headings = (_("Rank"), _("Team"), _("Score"), *measures, _("Broken by / attacked by"))
    headings = (*headings, _("Best attack (needed)"), _("Remark"))
    yield TextTable(headings, rows, str(board["round"]))


@app.command("results")
def results(contest: Contest, out: Path | None = None, *, connection: Connection) -> Output:
    """Show or fetch the results."""
    kinds = (".html", ".csv", ".json")
    if out is not None and out.suffix.lower() not in kinds:
        raise refusal("no_such_results", suffix=out.suffix, endings=", ".join(kinds))
    with connection.client() as client:
        if out is not None:
            with progress_bar() as progress:
                size = client.download("contests", contest, f"results{out.suffix.lower()}", out=out, progress=progress)
            written = _("written to {out}").format(out=out)
            return Output({"out": str(out), "bytes": size}, [written])
        about, answer = client.contest(contest), client.get("contests", contest, "results.json")
        rounds = [] if situation.json else [round_["id"] for round_ in about["rounds"]]
        boards = [client.get("contests", contest, "rounds", name, "leaderboard") for name in rounds]
    zone = about["settings"]["zone"]
    return Output(answer, [part for board in boards for part in board_parts(board, zone)])


Archive = Annotated[Path, Argument(metavar="ARCHIVE", help=_("A file written by noren contest export."))]


@app.command("export")
def export(
    contest: Contest, out: Path, data_dir: Path | None = None, *, storage: ArenaStorage, connection: Connection
) -> Output:
    """Write a contest to one file."""
    with progress_bar() as progress:
        if data_dir is None:
            with connection.client() as client:
                client.download("contests", contest, "archive", out=out, progress=progress)
        else:
            from noren.contest.archive import export as write
            from noren.contest.arena import Arena

            with closing(Arena(data_dir, **vars(storage))) as arena:
                write(arena, contest, out, progress=progress)
    written = _("written to {out}").format(out=out)
    return Output({"contest": contest, "out": str(out), "bytes": out.stat().st_size}, [written])


@app.command("import")
def import_(file: Archive, data_dir: Path, storage: ArenaStorage) -> Output:
    """Put an archive into a server."""
    from noren.contest.archive import import_archive
    from noren.contest.arena import Arena

    with progress_bar() as progress, closing(Arena(data_dir, **vars(storage))) as arena:
        contest = import_archive(arena, file, progress=progress)
    return Output({"contest": contest}, [_("imported: {contest}").format(contest=contest)])


@app.command("audit")
def audit(
    archive: Annotated[str, Argument(metavar="ARCHIVE|CONTEST")],
    known: Annotated[Path | None, Option("--receipts")] = None,
    *,
    connection: Connection,
) -> Output:
    """Verify chain, signatures and receipts; exit code 1 if one does not match."""
    from noren.contest.credentials import receipts_folder
    from noren.contest.replay import audit as verify

    with TemporaryDirectory(prefix="noren-") as folder:
        path = Path(archive)
        if not path.is_file():  # the log of a contest on the server, and one's own receipts
            if "/" in archive or "." in archive:
                raise refusal("no_archive", name=archive)
            path = Path(folder) / "log.jsonl"
            with connection.client() as client:
                client.download("contests", archive, "log", out=path)
                own = receipts_folder(client.address, archive)
            known = known or (own if own.is_dir() else None)
        result = verify(path, receipts=known)
    parts = [_("The log is intact and matches every receipt.")] if result.ok else map(str, result.problems)
    return Output(result.as_dict(), parts, exit_code=0 if result.ok else 1)


@app.command("replay")
def replay(file: Archive, workers: Annotated[int | None, Option(min=1, max=64)] = None) -> Output:
    """Compute all scores again; exit code 1 at the first difference."""
    from noren.contest.replay import replay as run

    with progress_bar() as progress:
        result = run(file, workers=workers, progress=progress)
    sentence = str(result.first_misfit)
    if result.ok:
        sentence = _("All {entries:,} entries and {scores:,} scores are reproduced.")
        sentence = sentence.format(entries=result.entries, scores=result.scores)
    return Output(result.as_dict(), [sentence], exit_code=0 if result.ok else 1)
