"""``noren contest export, import, audit, replay``: a contest as one file, moved, verified and scored again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from typer import Argument, Option

from noren.cli.contest.options import (
    Connection,
    Contest,
    Database,
    Files,
    arena_at,
)
from noren.cli.parts.commands import App, Output
from noren.cli.parts.screen import progress_bar
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["app"]

app = App()

Archive = Annotated[Path, Argument(metavar="ARCHIVE", help=_("A file that noren contest export wrote."))]
Folder = Annotated[
    Path | None, Option("--data-dir", help=_("The folder of a server on this machine, instead of asking one."))
]


@app.command(
    "export",
    help=_("Write a contest to one file: all of it once the results are out; with --data-dir a sealed backup before."),
    epilog=_("Example: noren contest export cup-2026 --out cup.zip"),
)
def export(
    contest: Contest,
    out: Annotated[Path, Option(help=_("The file to write, such as cup.zip."))],
    data_dir: Folder = None,
    database: Database = None,
    files: Files = None,
    *,
    connection: Connection,
) -> Output:
    """Write a contest to one file."""
    with progress_bar(_("Exporting")) as progress:
        if data_dir is None:
            with connection.client() as asked:
                asked.save(contest, "archive", out, progress)
        else:
            from noren.contest.archive import export as write

            with arena_at(data_dir, database, files) as arena:
                write(arena, contest, out, progress=progress)
    written = _("{contest} is in {out}").format(contest=contest, out=out)
    return Output({"contest": contest, "out": str(out), "bytes": out.stat().st_size}, [written])


@app.command(
    "import",
    help=_("Put an exported contest into a server on this machine; its log is verified first."),
    epilog=_("Example: noren contest import cup.zip --data-dir arena/"),
)
def import_(
    file: Archive,
    data_dir: Annotated[Path, Option(help=_("The folder of the server that is to have it."))],
    database: Database = None,
    files: Files = None,
) -> Output:
    """Put an archive into a server."""
    from noren.contest.archive import import_archive

    with progress_bar(_("Importing")) as progress, arena_at(data_dir, database, files) as arena:
        contest = import_archive(arena, file, progress=progress)
    return Output({"contest": contest}, [_("{contest} is here").format(contest=contest)])


@app.command(
    "audit",
    help=_("Verify that the log of a contest is whole and that the receipts you kept are in it."),
    epilog=_("Example: noren contest audit cup.zip --receipts receipts/"),
)
def audit(
    archive: Annotated[
        str, Argument(metavar="ARCHIVE|CONTEST", help=_("An archive, a log, or a contest on the server."))
    ],
    known: Annotated[
        Path | None,
        Option("--receipts", help=_("A folder of receipts; those that noren contest submit kept if not said.")),
    ] = None,
    *,
    connection: Connection,
) -> Output:
    """Verify chain, signatures and receipts; leave with 1 where something does not fit."""
    from noren.contest.replay import audit as verify

    with TemporaryDirectory(prefix="noren-") as folder:
        path = Path(archive)
        if not path.is_file():
            path, known = _fetched(archive, connection, Path(folder), known)
        found = verify(path, receipts=known)
    fine = [_("every entry follows from the one before it, and every receipt fits")]
    return Output(found.as_dict(), fine if found.ok else map(str, found.problems), exit_code=0 if found.ok else 1)


def _fetched(contest: str, connection: Connection, folder: Path, known: Path | None) -> tuple[Path, Path | None]:
    """Fetch the log of a contest, and find one's own receipts."""
    import json

    from noren.contest.credentials import receipts_folder

    if "/" in contest or "." in contest:
        raise ParameterError(
            _("there is no file {name}").format(name=contest), _("name an archive, or a contest on the server")
        )
    with connection.client() as asked:
        path = folder / "log.jsonl"
        lines = (json.dumps(one, ensure_ascii=False) for one in asked.log(contest))
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        own = receipts_folder(asked.connection.address, contest)
    return path, known or (own if own.is_dir() else None)


@app.command(
    "replay",
    help=_("Rebuild every score, table and rank of an archive from its files, and name the first that does not fit."),
    epilog=_("Example: noren contest replay cup.zip --json"),
)
def replay(
    file: Archive,
    workers: Annotated[
        int | None, Option(min=1, max=64, help=_("How many processes score; one a core if not said."))
    ] = None,
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
