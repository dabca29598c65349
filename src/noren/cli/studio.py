"""``noren studio``: the web workbench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noren.cli import studio_people
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import listening
from noren.cli.parts.screen import say
from noren.errors import ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.web.settings import Settings

HELP = _("Open the web workbench on this machine: protect, attack and judge data in the browser.")
EXAMPLE = _("Example: noren studio --data-dir ~/noren --port 8321")

app = App(invoke_without_command=True)
studio_people.add_to(app)


@app.callback(epilog=EXAMPLE)
def studio(
    context: typer.Context,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", help=_("The folder that keeps everything; the user's own where left out.")),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help=_("Where to listen; beyond this machine only with a password."))
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help=_("The port; 0 takes a free one."))] = 8321,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help=_("Open the page in the browser."))] = True,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            "--name",
            help=_("A further name it is reached by, such as that of a proxy; with a port that port alone."),
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy", help=_("The address or network of a proxy in front of it, whose word on clients is taken.")
        ),
    ] = None,
    https: Annotated[
        bool, typer.Option("--https", help=_("People reach it over HTTPS alone: cookies never travel in the clear."))
    ] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, max=64, help=_("How many heavy jobs run at once."))
    ] = None,
    largest_upload: Annotated[
        int, typer.Option("--largest-upload", min=1, help=_("The largest file that may be uploaded, in MB."))
    ] = 4096,
    database: Annotated[
        str | None, typer.Option("--database", help=_("A PostgreSQL address; SQLite in the folder where left out."))
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            envvar="NOREN_ENGINE",
            metavar="local|auto|gpu|spark://…|local[n]",
            help=_("Where runs are protected, attacked and measured; what has no plan for a cluster runs here."),
        ),
    ] = "local",
    samples: Annotated[
        bool, typer.Option("--samples/--no-samples", help=_("Start an empty studio with made-up data to try."))
    ] = True,
    four_eyes: Annotated[
        bool,
        typer.Option(
            "--four-eyes", envvar="NOREN_FOUR_EYES", help=_("A release leaves only when another user approved it.")
        ),
    ] = False,
    set_password: Annotated[
        bool, typer.Option("--set-password", help=_("Ask for a password, keep its hash and leave."))
    ] = False,
) -> None:
    """Serve the studio until Ctrl-C."""
    if context.invoked_subcommand is not None:
        if data_dir is not None or database is not None:
            raise ParameterError(
                _("--data-dir and --database stand after the command"),
                _("write noren studio {name} … --data-dir FOLDER").format(name=context.invoked_subcommand),
            )
        return
    from noren.web.settings import Settings, default_folder

    folder = default_folder() if data_dir is None else data_dir
    if set_password:
        _set_password(Settings(folder))
        return
    taken = listening(host, port)
    port = taken.getsockname()[1]
    chosen: dict[str, Any] = {} if workers is None else {"workers": workers}
    settings = Settings(
        folder=folder,
        host=host,
        port=port,
        names=tuple(name or ()),
        proxies=tuple(proxy or ()),
        https=https,
        database=database,
        largest_upload=largest_upload * 2**20,
        samples=samples,
        engine=engine,
        four_eyes=four_eyes,
        accounts=_has_users(folder, database),
        **chosen,
    )
    address, *others = settings.addresses
    say(_("the studio is open at {address} (Ctrl-C closes it)").format(address=address))
    if others:
        say(
            _("from other machines: {addresses}; other names are let in with --allow-host NAME").format(
                addresses=", ".join(others)
            )
        )
    from noren.studio.app import serve

    serve(settings, taken, address if open_page else None, say)


def _has_users(folder: Path, database: str | None) -> bool:
    """Tell whether a studio has users, so that it may be reached from other machines without one password for all."""
    from noren.studio.store import Store
    from noren.web.settings import Settings

    kept = Settings(folder, database=database)
    if database is None and not (folder / "studio.sqlite").is_file():
        return False
    store = Store(kept.database_url)
    try:
        return store.users.exist()
    finally:
        store.close()


def _set_password(settings: Settings) -> None:
    from noren.data.formats.files import writing_file
    from noren.web.passwords import hashed

    settings.make_folder()
    kept = hashed(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True))
    with writing_file(settings.password_file, private=True) as aside:
        aside.write_text(kept, encoding="ascii")
    say(_("the password is set"))
