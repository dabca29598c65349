"""``noren studio user, trail, verify``: who may use a studio, and the trail of what they did."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import say, show_json, show_table
from noren.errors import FileError
from noren.i18n import _, ngettext

if TYPE_CHECKING:
    from noren.studio.store import Store
    from noren.studio.users import User

__all__ = ["add_to"]

PASSWORD = "NOREN_STUDIO_PASSWORD"  # noqa: S105 - the name of a variable
Folder = Annotated[
    Path | None,
    typer.Option("--data-dir", "--folder", help=_("The folder of the studio; the user's own where left out.")),
]
Database = Annotated[
    str | None, typer.Option("--database", help=_("The studio's PostgreSQL address, where it has one."))
]
LoginName = Annotated[str, typer.Argument(metavar="LOGIN", help=_("The login."))]
RoleName = Annotated[
    str,
    typer.Option("--role", metavar="steward|reviewer|reader", help=_("The role; the first user must be a steward.")),
]

user = App(no_args_is_help=True)


@user.command(
    "add",
    help=_("Add a user; the password is asked for, read from standard input, or from NOREN_STUDIO_PASSWORD."),
    epilog=_("Example: noren studio user add ann --role steward --data-dir ~/noren"),
)
def add(
    login: LoginName,
    role: RoleName = "steward",
    name: Annotated[str, typer.Option("--name", help=_("What others see; the login where left out."))] = "",
    data_dir: Folder = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Add a user."""
    from noren.studio.users import role_named

    wanted = role_named(role)
    with _store(data_dir, database, make=True) as store:
        _told(store.users.add(login, name, _password(), wanted), as_json=as_json)


@user.command(
    "list", help=_("Show who may use a studio."), epilog=_("Example: noren studio user list --data-dir ~/noren")
)
def list_users(data_dir: Folder = None, database: Database = None, as_json: Json = False) -> None:
    """Show everybody."""
    with _store(data_dir, database) as store:
        found = store.users.all()
    if as_json:
        show_json({"users": [_plain(one) for one in found]})
        return
    rows = [(one.login, one.name, one.role.words, one.created[:10], (one.revoked or "")[:10]) for one in found]
    show_table("", (_("login"), _("name"), _("role"), _("since"), _("revoked")), rows)


@user.command(
    "role",
    help=_("Give a user another role; open sessions end."),
    epilog=_("Example: noren studio user role ben --role reviewer"),
)
def set_role(
    login: LoginName, role: RoleName, data_dir: Folder = None, database: Database = None, as_json: Json = False
) -> None:
    """Set a role."""
    from noren.studio.users import role_named

    with _store(data_dir, database) as store:
        _told(store.users.set_role(login, role_named(role)), as_json=as_json)


@user.command(
    "password",
    help=_("Give a user another password, read as by add; open sessions end."),
    epilog=_("Example: noren studio user password ben"),
)
def set_password(login: LoginName, data_dir: Folder = None, database: Database = None, as_json: Json = False) -> None:
    """Set a password."""
    with _store(data_dir, database) as store:
        store.users.one(login)
        _told(store.users.set_password(login, _password()), as_json=as_json)


@user.command(
    "revoke",
    help=_("Revoke a user; open pages are told with their next request."),
    epilog=_("Example: noren studio user revoke ben"),
)
def revoke(login: LoginName, data_dir: Folder = None, database: Database = None, as_json: Json = False) -> None:
    """Revoke a user."""
    with _store(data_dir, database) as store:
        _told(store.users.revoke(login), as_json=as_json)


def trail(
    out: Annotated[Path, typer.Option("--out", help=_("The file to write, one entry a line."))],
    data_dir: Folder = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Write the trail of a studio."""
    from noren.data.formats.files import writing_file

    with _store(data_dir, database) as store, writing_file(out, private=True) as aside:
        with aside.open("wb") as file:
            file.writelines(store.trail.lines())
        head = store.trail.head()
    count, digest = (0, "") if head is None else (head.position + 1, head.digest)
    _said_trail(count, digest, as_json=as_json)


def verify(
    file: Annotated[Path, typer.Argument(metavar="TRAIL", help=_("A file that noren studio trail wrote."))],
    expect: Annotated[
        str | None,
        typer.Option("--expect", metavar="DIGEST", help=_("A digest noted earlier: an entry must have it.")),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell whether the chain of a trail holds; leave with 1 where it does not."""
    from noren.studio.trail import check_file
    from noren.work.chain import BrokenChainError

    try:
        count, digest = check_file(file, expect)
    except BrokenChainError as error:
        if as_json:
            show_json({"holds": False, "entry": error.place, "message": str(error)})
        else:
            say(str(error))
        raise typer.Exit(1) from None
    _said_trail(count, digest, as_json=as_json, holds=True)


def _said_trail(count: int, digest: str, *, as_json: bool, holds: bool | None = None) -> None:
    if as_json:
        show_json({"entries": count, "last": digest} | ({} if holds is None else {"holds": holds}))
        return
    told = ngettext("{count} entry", "{count} entries", count).format(count=f"{count:,}")
    print(told if holds is None else _("the chain holds: {told}").format(told=told))
    if digest:
        print(_("latest digest: {digest}").format(digest=digest))


@contextlib.contextmanager
def _store(data_dir: Path | None, database: str | None, *, make: bool = False) -> Iterator[Store]:
    """Yield the database of a studio, under the name of the command line; it may be open in a server meanwhile."""
    from noren.studio.store import Store
    from noren.studio.trail import TERMINAL, acting_as
    from noren.web.settings import Settings, default_folder

    settings = Settings(data_dir or default_folder(), database=database)
    if make:
        settings.make_folder()
    elif database is None and not (settings.folder / "studio.sqlite").is_file():
        raise FileError(
            _("there is no studio in this folder"), _("name it with --data-dir, or open it once"), file=settings.folder
        )
    store = Store(settings.database_url)
    try:
        with acting_as(TERMINAL):
            yield store
    finally:
        store.close()


def _password() -> str:
    """Return the password from the surroundings, from what is sent to the command, or from whoever types it."""
    given = os.environ.get(PASSWORD)
    if given is None and not sys.stdin.isatty():
        given = sys.stdin.readline().rstrip("\r\n")
    return given or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=True, err=True))


def _plain(one: User) -> dict[str, str | None]:
    return {
        "login": one.login,
        "name": one.name,
        "role": str(one.role),
        "created": one.created,
        "revoked": one.revoked,
    }


def _told(one: User, *, as_json: bool) -> None:
    if as_json:
        show_json(_plain(one))
    elif one.revoked is not None:
        print(_("{login} is revoked").format(login=one.login))
    else:
        print(_("{login} is a {role}").format(login=one.login, role=one.role.words))


def add_to(app: App) -> None:
    """Add the commands."""
    app.add_typer(user, name="user", help=_("Who may use a studio: add, list, role, password, revoke."))
    app.command(
        "trail",
        help=_("Write the audit trail of a studio to a file, one entry a line."),
        epilog=_("Example: noren studio trail --data-dir ~/noren --out trail.jsonl"),
    )(trail)
    app.command(
        "verify",
        help=_("Check the hash chain of an exported trail, and name the first broken entry."),
        epilog=_("Example: noren studio verify trail.jsonl"),
    )(verify)
