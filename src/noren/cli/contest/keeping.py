"""``noren contest export, import, audit, replay``: a contest as one file, moved, verified and scored again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from noren.cli.contest.options import Contest, Database, Files, Server, Token, arena_at, client
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import progress_bar, show_json
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["app"]

app = App()

Archive = Annotated[Path, typer.Argument(metavar="ARCHIVE", help=_("A file that noren contest export wrote."))]
Folder = Annotated[
    Path | None,
    typer.Option("--data-dir", help=_("The folder of a server on this machine, instead of asking one.")),
]


@app.command(
    "export",
    help=_("Write a contest to one file: all of it once the results are out; with --data-dir a sealed backup before."),
    epilog=_("Example: noren contest export cup-2026 --out cup.zip"),
)
def export(
    contest: Contest,
    out: Annotated[Path, typer.Option("--out", help=_("The file to write, such as cup.zip."))],
    data_dir: Folder = None,
    database: Database = None,
    files: Files = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Write a contest to one file."""
    with progress_bar(_("Exporting"), quiet=as_json) as progress:
        if data_dir is None:
            with client(server, token) as asked:
                asked.save(contest, "archive", out, progress)
        else:
            from noren.contest.archive import export as write

            with arena_at(data_dir, database, files) as arena:
                write(arena, contest, out, progress=progress)
    if as_json:
        show_json({"contest": contest, "out": str(out), "bytes": out.stat().st_size})
    else:
        print(_("{contest} is in {out}").format(contest=contest, out=out))


@app.command(
    "import",
    help=_("Put an exported contest into a server on this machine; its log is verified first."),
    epilog=_("Example: noren contest import cup.zip --data-dir arena/"),
)
def import_(
    file: Archive,
    data_dir: Annotated[Path, typer.Option("--data-dir", help=_("The folder of the server that is to have it."))],
    database: Database = None,
    files: Files = None,
    as_json: Json = False,
) -> None:
    """Put an archive into a server."""
    from noren.contest.archive import import_archive

    with progress_bar(_("Importing"), quiet=as_json) as progress, arena_at(data_dir, database, files) as arena:
        contest = import_archive(arena, file, progress=progress)
    show_json({"contest": contest}) if as_json else print(_("{contest} is here").format(contest=contest))


@app.command(
    "audit",
    help=_("Verify that the log of a contest is whole and that the receipts you kept are in it."),
    epilog=_("Example: noren contest audit cup.zip --receipts receipts/"),
)
def audit(
    archive: Annotated[
        str, typer.Argument(metavar="ARCHIVE|CONTEST", help=_("An archive, a log, or a contest on the server."))
    ],
    known: Annotated[
        Path | None,
        typer.Option("--receipts", help=_("A folder of receipts; those that noren contest submit kept if not said.")),
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Verify chain, signatures and receipts; leave with 1 where something does not fit."""
    from noren.contest.replay import audit as verify

    with TemporaryDirectory(prefix="noren-") as folder:
        path = Path(archive)
        if not path.is_file():
            path, known = _fetched(archive, server, token, Path(folder), known)
        found = verify(path, receipts=known)
    if as_json:
        show_json(found.as_dict())
    elif found.ok:
        print(_("every entry follows from the one before it, and every receipt fits"))
    else:
        for problem in found.problems:
            print(problem)
    if not found.ok:
        raise typer.Exit(1)


def _fetched(
    contest: str, server: str | None, token: str | None, folder: Path, known: Path | None
) -> tuple[Path, Path | None]:
    """Fetch the log of a contest, and find one's own receipts."""
    import json

    from noren.contest.credentials import receipts_folder

    if "/" in contest or "." in contest:
        raise ParameterError(
            _("there is no file {name}").format(name=contest), _("name an archive, or a contest on the server")
        )
    with client(server, token) as asked:
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
        int | None,
        typer.Option("--workers", min=1, max=64, help=_("How many processes score; one a core if not said.")),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score everything again; leave with 1 at the first entry that does not fit."""
    from noren.contest.replay import replay as run

    with progress_bar(_("Replaying"), quiet=as_json) as progress:
        found = run(file, workers=workers, progress=progress)
    if as_json:
        show_json(found.as_dict())
    elif found.ok:
        print(
            _("{entries:,} entries and {scores:,} scores, all as they were").format(
                entries=found.entries, scores=found.scores
            )
        )
    else:
        print(found.first_misfit)
    if not found.ok:
        raise typer.Exit(1)
