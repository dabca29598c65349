"""``noren contest serve, work``: the server of contests, and those who judge for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from noren.cli.contest.connecting import (
    Database,
    Files,
    arena_at,
)
from noren.cli.parts.commands import App, say
from noren.cli.parts.inputs import announce, listening
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.errors import ParameterError
from noren.i18n import _

app = App()

Folder = Annotated[
    Path | None,
    Option("--data-dir", help=_("The folder that keeps keys, database and files; the user's own if not said.")),
]
Rehearsal = Annotated[
    bool, Option("--rehearsal", help=_("Let organisers move the clock; never for a cup that counts."))
]
Engine = Annotated[
    str,
    Option(
        "--engine",
        envvar="NOREN_ENGINE",
        metavar="local|spark://…|local[n]",
        help=_("Where large releases are judged; what has no plan for a cluster is judged here, with the same scores."),
    ),
]
EngineFrom = Annotated[
    int,
    Option(
        "--engine-from",
        envvar="NOREN_ENGINE_FROM",
        min=1,
        help=_("Hand a release to the cluster from so many rows on; smaller ones do not wait for Spark."),
    ),
]


@app.command("serve")
def serve(
    data_dir: Folder = None,
    host: str = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65_535)] = 8322,
    open_page: Annotated[bool, Option("--open/--no-open")] = False,
    name: Annotated[list[str] | None, Option("--allow-host")] = None,
    proxy: list[str] | None = None,
    https: Annotated[bool, Option("--https")] = False,
    database: Database = None,
    files: Files = None,
    rehearsal: Rehearsal = False,
    works: Annotated[bool, Option("--work/--no-work")] = True,
    workers: Annotated[int | None, Option(min=1, max=64)] = None,
    engine: Engine = "local",
    engine_from: EngineFrom = ENGINE_FROM,
    private_hooks: Annotated[bool, Option("--allow-private-hooks")] = False,
    demo: Annotated[bool, Option("--demo")] = False,
) -> None:
    """Serve contests until Ctrl-C."""
    from noren.contest.app import ArenaSettings
    from noren.web.settings import default_folder

    if demo:
        if data_dir is not None or database is not None or files is not None:
            raise ParameterError(_("--demo keeps nothing"), _("leave --data-dir, --database and --files out"))
        from noren.contest.simulation import serve_demo

        serve_demo(listening(host, port), host, say, open_page=open_page)
        return
    taken = listening(host, port)
    chosen: dict[str, Any] = {} if workers is None else {"workers": workers}
    settings = ArenaSettings(
        folder=data_dir or default_folder("arena"),
        host=host,
        port=taken.getsockname()[1],
        names=tuple(name or ()),
        proxies=tuple(proxy or ()),
        https=https,
        database=database,
        files=files,
        rehearsal=rehearsal,
        works=works,
        private_hooks=private_hooks,
        engine=engine,
        engine_from=engine_from,
        **chosen,
    )
    address = announce(_("the arena is open at {address} (Ctrl-C closes it)"), settings.addresses)
    if rehearsal:
        say(_("note: this is a rehearsal; its organisers can move the clock."))
    from noren.contest.app import serve as run

    run(settings, taken, address if open_page else None, say)


@app.command("work")
def work(
    data_dir: Folder = None,
    database: Database = None,
    files: Files = None,
    workers: Annotated[int, Option(min=1, max=64)] = 1,
    rehearsal: Rehearsal = False,
    lease: Annotated[float | None, Option(min=1.0)] = None,
    engine: Engine = "local",
    engine_from: EngineFrom = ENGINE_FROM,
) -> None:
    """Judge what is handed in until Ctrl-C."""
    from noren.contest.app import judge_until_told
    from noren.web.settings import default_folder

    cluster_of(engine)
    folder = data_dir or default_folder("arena")
    with arena_at(folder, database, files, rehearsal=rehearsal, lease=lease) as arena:
        say(_("judging for the arena in {folder} (Ctrl-C ends it)").format(folder=folder))
        judge_until_told(arena, workers, engine=engine, engine_from=engine_from)
