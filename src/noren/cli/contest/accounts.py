"""``noren contest login, signup, logout, token``: who one is on a server."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from typer import Argument, Option

from noren.cli.contest.options import (
    Connection,
)
from noren.cli.parts.commands import App, Note, Output, Table
from noren.cli.parts.screen import say
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["app"]

app = App()

PASSWORD = "NOREN_CONTEST_PASSWORD"  # noqa: S105 - the name of a variable
Address = Annotated[str, Argument(metavar="ADDRESS", help=_("The server, such as https://cup.example."))]
LoginName = Annotated[str, Option("--login", prompt=_("Login"), help=_("What you log in as."))]


@app.command(
    "signup",
    help=_("Make an account on a server, and keep a token for it here."),
    epilog=_("Example: noren contest signup https://cup.example --login mia"),
)
def signup(
    address: Address,
    login: LoginName,
    name: Annotated[str | None, Option(help=_("What others see; the login where left out."))] = None,
    code: Annotated[str, Option(help=_("The code that the server's terminal shows, for its first organiser."))] = "",
) -> Output:
    """Make an account and keep a token."""
    from noren.contest.client import sign_up
    from noren.contest.credentials import remember, server_address

    server = server_address(address)
    made = sign_up(server, login, name or login, _password(confirm=True), code=code, tell=say)
    return _welcome(server, login, str(remember(made)))


@app.command(
    "login",
    help=_("Log in to a server; a token is kept here, the password is not."),
    epilog=_("Example: noren contest login https://cup.example --login mia"),
)
def login(
    address: Address,
    login: LoginName,
    program: Annotated[str, Option(help=_("What the new token is called."))] = "noren",
) -> Output:
    """Log in and keep a token."""
    from noren.contest.client import enter
    from noren.contest.credentials import remember, server_address

    server = server_address(address)
    made = enter(server, login, _password(confirm=False), name=program, tell=say)
    return _welcome(server, login, str(remember(made)))


@app.command(
    "logout",
    help=_("Forget the token of a server."),
    epilog=_("Example: noren contest logout https://cup.example"),
)
def logout(address: Address) -> Output:
    """Forget a token."""
    from noren.contest.credentials import forget, server_address

    server = server_address(address)
    gone = forget(server)
    words = _("forgotten") if gone else _("there was no login for {server}").format(server=server)
    return Output({"server": server, "forgotten": gone}, [words])


@app.command(
    "token",
    help=_("List your tokens on a server, make one for a program, or revoke one."),
    epilog=_("Example: noren contest token --make robot --scope team"),
)
def token(
    name: Annotated[str | None, Option("--make", metavar="NAME", help=_("Make a token of this name."))] = None,
    scope: Annotated[
        list[str] | None, Option(metavar="read|team|organiser", help=_("What it may do; may be given again."))
    ] = None,
    revoke: Annotated[str | None, Option(metavar="ID", help=_("Let this token open nothing any more."))] = None,
    *,
    connection: Connection,
) -> Output:
    """List, make and revoke tokens."""
    if name is not None and revoke is not None:
        raise ParameterError(_("--make and --revoke are two things"), _("do one after the other"))
    with connection.client() as asked:
        if name is not None:
            text = asked.make_token(name, scope or ["read", "team"])
            return Output({"token": text}, [text], remarks=[_("keep it: it is shown this once")])
        if revoke is not None:
            asked.revoke(revoke)
        listed = asked.tokens()
    rows = [(one["id"], one["name"], ", ".join(one["scopes"]), str(one.get("last_used") or "")) for one in listed]
    return Output({"tokens": listed}, [Table((_("token"), _("name"), _("may"), _("last used")), rows)])


def _password(*, confirm: bool) -> str:
    given = os.environ.get(PASSWORD)
    return given or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=confirm, err=True))


def _welcome(server: str, login: str, file: str) -> Output:
    return Output(
        {"server": server, "login": login, "file": file},
        [
            _("you are {login} on {server}").format(login=login, server=server),
            Note(_("the token is kept in {file}").format(file=file)),
        ],
    )
