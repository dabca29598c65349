"""Files checked at home, who stands where, and a contest as one file: ``noren contest check`` to ``replay``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from noren.cli.contest.connecting import ArenaStorage, Connection, Contest, Round, round_of, shown_time
from noren.cli.contest.playing import handed_in, score_table
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
    with handed_in(release) as file:
        if against is None:
            report = check_release(book, original, require_readable(file), limit=limit, master=master)
        else:
            report = check_guess(
                book, original, require_readable(against), require_readable(file), limit=limit, master=master
            )
        told: dict[str, Any] = report.as_dict()
        if score and against is None and report.valid:
            from noren.contest.judging.scoring import score_release

            with progress_bar(_("Judging")) as progress:
                found = score_release(book, original, file, master=master, progress=progress)
            told |= {name: found[name] for name in ("values", "baseline") if name in found}
    parts = [*report_parts(report, release.name), *score_table(told.get("values"), told.get("baseline"))]
    return Output(told, parts, exit_code=0 if report.valid else 1)


def rules(rulebook: str, contest: str | None, connection: Connection) -> Rulebook:
    """Return the rules that are meant: a preset's, a file's, or those of a contest on a server."""
    from noren.contest.rulebook import PRESETS, read_rulebook

    if contest is not None:
        with connection.client() as asked:
            return read_rulebook(asked.text("contests", contest, "rulebook.toml"))
    return read_rulebook(rulebook if rulebook in PRESETS or not Path(rulebook).is_file() else Path(rulebook))


@app.command("leaderboard")
def leaderboard(contest: Contest, round_: Round = None, *, connection: Connection) -> Output:
    """Show the board of a round."""
    with connection.client() as asked:
        about = asked.contest(contest)
        chosen = round_of(about, round_)
        board = asked.get("contests", contest, "rounds", chosen, "leaderboard")
    return Output(board, board_parts(board, about["settings"]["zone"]))


def board_parts(board: dict[str, Any], zone: str) -> Iterator[Part]:
    """Yield a board; who has no rank stands last, with the reason."""
    from noren.contest.standings import Status
    from noren.judgement.sentences import verdict_label
    from noren.judgement.verdict import VerdictStatus

    if board["kind"] == "frozen":
        at = shown_time(board["at"], zone)
        yield Note(_("the board stands still since {moment} ({zone})").format(moment=at, zone=zone))
    if not board["attacks_over"]:
        yield Note(_("attacks are not over: ranks may change"))
    measures = list(dict.fromkeys(name for one in board["standings"] for name in one["values"]))
    rows = []
    for one in board["standings"]:
        rank = "–" if one["rank"] is None else str(one["rank"])
        score = "" if one["score"] is None else number(one["score"])
        values = [number(one["values"][name]) if name in one["values"] else "" for name in measures]
        verdict = verdict_label(VerdictStatus(one["verdict"])) if one["verdict"] else ""
        if why := Status(one["status"]).words:
            verdict = f"{why}: {one['reason']}" if one["reason"] else why
        rows.append((rank, one["name"], score, *values, f"{one['effective']}/{one['attackers']}", verdict))
    headings = (_("rank"), _("team"), _("score"), *measures, _("broken by / attacked by"), _("verdict"))
    yield TextTable(headings, rows, str(board["round"]))


@app.command("results")
def results(
    contest: Contest,
    out: Path | None = None,
    *,
    connection: Connection,
) -> Output:
    """Show or fetch the results."""
    kinds = (".html", ".csv", ".json")
    if out is not None and out.suffix.lower() not in kinds:
        raise refusal("no_such_results", out=out.name, names=", ".join(kinds))
    with connection.client() as asked:
        if out is not None:
            with progress_bar(_("Fetching")) as progress:
                size = asked.download("contests", contest, f"results{out.suffix.lower()}", out=out, progress=progress)
            written = _("results written to {out}").format(out=out)
            return Output({"out": str(out), "bytes": size}, [written])
        about, found = asked.contest(contest), asked.get("contests", contest, "results.json")
        rounds = [] if situation.json else [one["id"] for one in about["rounds"]]
        boards = [asked.get("contests", contest, "rounds", name, "leaderboard") for name in rounds]
    zone = about["settings"]["zone"]
    return Output(found, [part for board in boards for part in board_parts(board, zone)])


Archive = Annotated[Path, Argument(metavar="ARCHIVE", help=_("A file that noren contest export wrote."))]


@app.command("export")
def export(
    contest: Contest,
    out: Path,
    data_dir: Path | None = None,
    *,
    storage: ArenaStorage,
    connection: Connection,
) -> Output:
    """Write a contest to one file."""
    with progress_bar(_("Exporting")) as progress:
        if data_dir is None:
            with connection.client() as asked:
                asked.download("contests", contest, "archive", out=out, progress=progress)
        else:
            from noren.contest.archive import export as write
            from noren.contest.arena import Arena

            with closing(Arena(data_dir, **vars(storage))) as arena:
                write(arena, contest, out, progress=progress)
    written = _("{contest} is in {out}").format(contest=contest, out=out)
    return Output({"contest": contest, "out": str(out), "bytes": out.stat().st_size}, [written])


@app.command("import")
def import_(file: Archive, data_dir: Path, storage: ArenaStorage) -> Output:
    """Put an archive into a server."""
    from noren.contest.archive import import_archive
    from noren.contest.arena import Arena

    with progress_bar(_("Importing")) as progress, closing(Arena(data_dir, **vars(storage))) as arena:
        contest = import_archive(arena, file, progress=progress)
    return Output({"contest": contest}, [_("{contest} is here").format(contest=contest)])


@app.command("audit")
def audit(
    archive: Annotated[str, Argument(metavar="ARCHIVE|CONTEST")],
    known: Annotated[Path | None, Option("--receipts")] = None,
    *,
    connection: Connection,
) -> Output:
    """Verify chain, signatures and receipts; leave with 1 where something does not fit."""
    from noren.contest.credentials import receipts_folder
    from noren.contest.replay import audit as verify

    with TemporaryDirectory(prefix="noren-") as folder:
        path = Path(archive)
        if not path.is_file():  # the log of a contest on the server, and one's own receipts
            if "/" in archive or "." in archive:
                raise refusal("no_archive", name=archive)
            path = Path(folder) / "log.jsonl"
            with connection.client() as asked:
                asked.download("contests", archive, "log", out=path)
                own = receipts_folder(asked.address, archive)
            known = known or (own if own.is_dir() else None)
        found = verify(path, receipts=known)
    fine = [_("every entry follows from the one before it, and every receipt fits")]
    return Output(found.as_dict(), fine if found.ok else map(str, found.problems), exit_code=0 if found.ok else 1)


@app.command("replay")
def replay(
    file: Archive,
    workers: Annotated[int | None, Option(min=1, max=64)] = None,
) -> Output:
    """Score everything again; leave with 1 at the first entry that does not fit."""
    from noren.contest.replay import replay as run

    with progress_bar(_("Replaying")) as progress:
        found = run(file, workers=workers, progress=progress)
    words = str(found.first_misfit)
    if found.ok:
        words = _("{entries:,} entries and {scores:,} scores, all as they were").format(
            entries=found.entries, scores=found.scores
        )
    return Output(found.as_dict(), [words], exit_code=0 if found.ok else 1)
