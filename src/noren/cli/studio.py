"""``noren studio``: the web application, its users and its audit trail."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from noren.cli.parts.commands import App, Note, Output, Part, TextTable, progress_bar, refusal, say, wording
from noren.cli.parts.inputs import ServerOptions
from noren.errors import FileError
from noren.i18n import _

if TYPE_CHECKING:
    from noren.studio.store import Store
    from noren.studio.users import User
    from noren.work.hash_chain import LogEntry

HELP = _("Run the studio: protect, attack and judge data in the browser.")

PASSWORD = "NOREN_STUDIO_PASSWORD"  # noqa: S105 - the name of a variable
LoginName = Annotated[str, Argument(metavar="LOGIN", help=_("The login."))]
RoleName = Annotated[str, Option("--role", metavar="administrator|steward|reviewer|reader")]

app = App(invoke_without_command=True)
user = app.group("user", help=_("Manage the users of a studio."), no_args_is_help=True)


@dataclass(frozen=True)
class StudioServer(ServerOptions):
    """Where the studio listens."""

    port: Annotated[int, Option(min=0, max=65_535)] = 8321
    open_page: Annotated[bool, Option("--open/--no-open")] = True


@app.callback()
def studio(
    context: typer.Context,
    data_dir: Path | None = None,
    *,
    server: StudioServer,
    workers: Annotated[int | None, Option(min=1, max=64)] = None,
    max_upload: Annotated[int, Option(min=1)] = 4096,
    database: str | None = None,
    engine: Annotated[str, Option(envvar="NOREN_ENGINE", metavar="local|auto|gpu|spark://…|local[n]")] = "local",
    samples: Annotated[bool, Option("--samples/--no-samples")] = True,
    four_eyes: Annotated[bool, Option("--four-eyes", envvar="NOREN_FOUR_EYES")] = False,
    set_password: Annotated[bool, Option("--set-password")] = False,
) -> None:
    """Serve the studio until Ctrl-C."""
    if context.invoked_subcommand is not None:
        if data_dir is not None or database is not None:
            raise refusal("folder_after_command", name=context.invoked_subcommand)
        return
    from noren.studio.store import Store
    from noren.web.settings import ServerSettings, default_folder

    folder = default_folder() if data_dir is None else data_dir
    if set_password:
        from noren.data.formats.files import writing_file
        from noren.web.accounts import hashed

        settings = ServerSettings(folder)
        settings.make_folder()
        secret = hashed(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True))
        with writing_file(settings.password_file, private=True) as aside:
            aside.write_text(secret, encoding="ascii")
        say(_("password saved"))
        return
    taken, has_users = server.listening(), False
    if database is not None or (folder / "studio.sqlite").is_file():
        with contextlib.closing(Store(ServerSettings(folder, database=database).database_url)) as store:
            has_users = store.users.exist()  # then other machines may reach it without one password for all
    settings = ServerSettings(
        folder=folder,
        database=database,
        largest_upload=max_upload * 2**20,
        samples=samples,
        engine=engine,
        four_eyes=four_eyes,
        accounts=has_users,
        **server.settings(taken) | ({} if workers is None else {"workers": workers}),
    )
    page = server.announce(_("studio running at {address} (stop with Ctrl-C)"), settings.addresses)
    from noren.studio.app import serve

    serve(settings, taken, page, say)


@dataclass(frozen=True)
class StudioLocation:
    """The studio that a command works on: ``--data-dir`` and ``--database``, as one parameter."""

    data_dir: Path | None = None
    database: str | None = None

    @property
    def folder(self) -> Path:
        """The data folder."""
        from noren.web.settings import default_folder

        return self.data_dir or default_folder()

    @contextlib.contextmanager
    def store(self, *, make: bool = False) -> Iterator[Store]:
        """Yield the database of a studio, under the name of the command line; it may be open in a server meanwhile."""
        from noren.studio.audit_trail import TERMINAL, acting_as
        from noren.studio.store import Store
        from noren.web.settings import ServerSettings

        settings = ServerSettings(self.folder, database=self.database)
        if make:
            settings.make_folder()
        elif self.database is None and not (settings.folder / "studio.sqlite").is_file():
            raise refusal("no_studio", FileError, file=settings.folder)
        with contextlib.closing(Store(settings.database_url)) as store, acting_as(TERMINAL):
            yield store


@user.command("add")
def add(login: LoginName, role: RoleName = "steward", name: str = "", *, place: StudioLocation) -> Output:
    """Add a user."""
    from noren.studio.users import get_role

    wanted = get_role(role)
    with place.store(make=True) as store:
        return _user_output(store.users.add(login, name, _password(), wanted))


@user.command("list")
def list_users(place: StudioLocation) -> Output:
    """List the users."""
    with place.store() as store:
        users = store.users.all()
    rows = [(user.login, user.name, user.role.words, user.created[:10], (user.revoked or "")[:10]) for user in users]
    headings = (_("Login"), _("Name"), _("Role"), _("Added"), _("Revoked"))
    return Output({"users": [_plain(user) for user in users]}, [TextTable(headings, rows)])


@user.command("role")
def set_role(login: LoginName, role: RoleName, place: StudioLocation) -> Output:
    """Set a role."""
    from noren.studio.users import get_role

    with place.store() as store:
        return _user_output(store.users.set_role(login, get_role(role)))


@user.command("password")
def set_password(login: LoginName, place: StudioLocation) -> Output:
    """Set a password."""
    with place.store() as store:
        store.users.get(login)
        return _user_output(store.users.set_password(login, _password()))


@user.command("revoke")
def revoke(login: LoginName, place: StudioLocation) -> Output:
    """Revoke a user."""
    with place.store() as store:
        return _user_output(store.users.revoke(login))


def _password() -> str:
    """Return the password from the environment, from standard input, or from a prompt."""
    password = os.environ.get(PASSWORD)
    if password is None and not sys.stdin.isatty():
        password = sys.stdin.readline().rstrip("\r\n")
    return password or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True, err=True))


def _plain(user: User) -> dict[str, str | None]:
    return {name: getattr(user, name) for name in ("login", "name", "role", "created", "revoked")}


def _user_output(user: User) -> Output:
    state = user.role.words if user.revoked is None else _("Revoked")
    return Output(_plain(user), [f"{user.login}: {state}"])


@app.command("trail")
def trail(out: Path, place: StudioLocation) -> Output:
    """Export the audit trail of a studio."""
    from noren.data.formats.files import writing_file

    with place.store() as store, writing_file(out, private=True) as aside:
        with aside.open("wb") as file:
            file.writelines(store.trail.lines())
        head = store.trail.head()
    count, digest = (0, "") if head is None else (head.position + 1, head.digest)
    return Output({"entries": count, "last": digest}, _trail_parts(count, digest))


@app.command("verify")
def verify(
    file: Annotated[Path, Argument(metavar="TRAIL")], expect: Annotated[str | None, Option(metavar="DIGEST")] = None
) -> Output:
    """Verify the chain of a trail; exit code 1 if it is broken."""
    from noren.studio.audit_trail import check_file
    from noren.work.hash_chain import BrokenChainError

    try:
        count, digest = check_file(file, expect)
    except BrokenChainError as error:
        return Output({"holds": False, "entry": error.place, "message": str(error)}, [Note(str(error))], exit_code=1)
    parts = [_("The hash chain is intact."), *_trail_parts(count, digest)]
    return Output({"entries": count, "last": digest, "holds": True}, parts)


def _trail_parts(count: int, digest: str) -> list[Part]:
    return [_("Entries: {count:,}; latest digest: {digest}").format(count=count, digest=digest or "–")]


@app.command("backup")
def backup(file: Annotated[Path, Argument(metavar="FILE")], place: StudioLocation) -> Output:
    """Back up a studio."""
    from noren.studio.backup import back_up

    with place.store() as store, progress_bar() as progress:
        head = back_up(store, place.folder, file, progress)
    return _backup_output(file, head)


@app.command("restore")
def restore(file: Annotated[Path, Argument(metavar="FILE")], place: StudioLocation) -> Output:
    """Restore a studio."""
    from noren.studio.backup import restore as run

    with progress_bar() as progress:
        head = run(file, place.folder, place.database, progress)
    return _backup_output(place.folder, head)


def _backup_output(out: Path, head: LogEntry) -> Output:
    parts = [wording("written", out=out), *_trail_parts(head.position + 1, head.digest)]
    return Output({"out": str(out), "entries": head.position + 1, "last": head.digest}, parts)
