"""``noren studio``: the web workbench, who may use it, and the trail of what they did."""

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

from noren.cli.parts.commands import App, Note, Output, Part, TextTable, refusal, say
from noren.cli.parts.inputs import ServerOptions
from noren.errors import FileError
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.studio.store import Store
    from noren.studio.users import User

HELP = _("Open the web workbench on this machine: protect, attack and judge data in the browser.")

PASSWORD = "NOREN_STUDIO_PASSWORD"  # noqa: S105 - the name of a variable
LoginName = Annotated[str, Argument(metavar="LOGIN", help=_("The login."))]
RoleName = Annotated[str, Option("--role", metavar="steward|reviewer|reader")]

app = App(invoke_without_command=True)
user = app.group("user", help=_("Who may use a studio: add, list, role, password, revoke."), no_args_is_help=True)


@dataclass(frozen=True)
class StudioServer(ServerOptions):
    """Where the studio listens."""

    port: Annotated[int, Option(min=0, max=65_535)] = 8321
    open_page: Annotated[bool, Option("--open/--no-open")] = True
    name: Annotated[list[str] | None, Option("--allow-host", "--name")] = None


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

        kept = ServerSettings(folder)
        kept.make_folder()
        secret = hashed(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True))
        with writing_file(kept.password_file, private=True) as aside:
            aside.write_text(secret, encoding="ascii")
        say(_("the password is set"))
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
    page = server.announce(_("the studio is open at {address} (Ctrl-C closes it)"), settings.addresses)
    from noren.studio.app import serve

    serve(settings, taken, page, say)


# --- who may use a studio --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudioLocation:
    """Which studio a command is about."""

    data_dir: Annotated[Path | None, Option("--data-dir", "--folder")] = None
    database: str | None = None

    @contextlib.contextmanager
    def store(self, *, make: bool = False) -> Iterator[Store]:
        """Yield the database of a studio, under the name of the command line; it may be open in a server meanwhile."""
        from noren.studio.audit_trail import TERMINAL, acting_as
        from noren.studio.store import Store
        from noren.web.settings import ServerSettings, default_folder

        settings = ServerSettings(self.data_dir or default_folder(), database=self.database)
        if make:
            settings.make_folder()
        elif self.database is None and not (settings.folder / "studio.sqlite").is_file():
            raise refusal("no_studio", FileError, file=settings.folder)
        with contextlib.closing(Store(settings.database_url)) as store, acting_as(TERMINAL):
            yield store


@user.command("add")
def add(
    login: LoginName,
    role: RoleName = "steward",
    name: str = "",
    *,
    place: StudioLocation,
) -> Output:
    """Add a user."""
    from noren.studio.users import get_role

    wanted = get_role(role)
    with place.store(make=True) as store:
        return _told(store.users.add(login, name, _password(), wanted))


@user.command("list")
def list_users(place: StudioLocation) -> Output:
    """Show everybody."""
    with place.store() as store:
        found = store.users.all()
    rows = [(one.login, one.name, one.role.words, one.created[:10], (one.revoked or "")[:10]) for one in found]
    headings = (_("login"), _("name"), _("role"), _("since"), _("revoked"))
    return Output({"users": [_plain(one) for one in found]}, [TextTable(headings, rows)])


@user.command("role")
def set_role(login: LoginName, role: RoleName, place: StudioLocation) -> Output:
    """Set a role."""
    from noren.studio.users import get_role

    with place.store() as store:
        return _told(store.users.set_role(login, get_role(role)))


@user.command("password")
def set_password(login: LoginName, place: StudioLocation) -> Output:
    """Set a password."""
    with place.store() as store:
        store.users.one(login)
        return _told(store.users.set_password(login, _password()))


@user.command("revoke")
def revoke(login: LoginName, place: StudioLocation) -> Output:
    """Revoke a user."""
    with place.store() as store:
        return _told(store.users.revoke(login))


def _password() -> str:
    """Return the password from the surroundings, from what is sent to the command, or from whoever types it."""
    given = os.environ.get(PASSWORD)
    if given is None and not sys.stdin.isatty():
        given = sys.stdin.readline().rstrip("\r\n")
    return given or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True, err=True))


def _plain(one: User) -> dict[str, str | None]:
    return {name: getattr(one, name) for name in ("login", "name", "role", "created", "revoked")}


def _told(one: User) -> Output:
    words = _("{login} is a {role}") if one.revoked is None else _("{login} is revoked")
    return Output(_plain(one), [words.format(login=one.login, role=one.role.words)])


# --- what they did ---------------------------------------------------------------------------------------------------


@app.command("trail")
def trail(out: Path, place: StudioLocation) -> Output:
    """Write the trail of a studio."""
    from noren.data.formats.files import writing_file

    with place.store() as store, writing_file(out, private=True) as aside:
        with aside.open("wb") as file:
            file.writelines(store.trail.lines())
        head = store.trail.head()
    count, digest = (0, "") if head is None else (head.position + 1, head.digest)
    return Output({"entries": count, "last": digest}, _about_trail("{told}", count, digest))


@app.command("verify")
def verify(
    file: Annotated[Path, Argument(metavar="TRAIL")],
    expect: Annotated[str | None, Option(metavar="DIGEST")] = None,
) -> Output:
    """Tell whether the chain of a trail holds; leave with 1 where it does not."""
    from noren.studio.audit_trail import check_file
    from noren.work.hash_chain import BrokenChainError

    try:
        count, digest = check_file(file, expect)
    except BrokenChainError as error:
        return Output({"holds": False, "entry": error.place, "message": str(error)}, [Note(str(error))], exit_code=1)
    parts = _about_trail(_("the chain holds: {told}"), count, digest)
    return Output({"entries": count, "last": digest, "holds": True}, parts)


def _about_trail(words: str, count: int, digest: str) -> list[Part]:
    entries = ngettext("{count} entry", "{count} entries", count).format(count=f"{count:,}")
    return [words.format(told=entries), *([_("latest digest: {digest}").format(digest=digest)] if digest else [])]
