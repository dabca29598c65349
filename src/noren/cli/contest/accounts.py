"""``noren contest login, signup, logout, token``: who one is on a server."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from noren.cli.contest.options import Server, Token, client
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import say, show_json, show_table
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["app"]

app = App()

PASSWORD = "NOREN_CONTEST_PASSWORD"  # noqa: S105 - the name of a variable
Address = Annotated[str, typer.Argument(metavar="ADDRESS", help=_("The server, such as https://cup.example."))]
LoginName = Annotated[str, typer.Option("--login", prompt=_("Login"), help=_("What you log in as."))]


@app.command(
    "signup",
    help=_("Make an account on a server, and keep a token for it here."),
    epilog=_("Example: noren contest signup https://cup.example --login mia"),
)
def signup(
    address: Address,
    login: LoginName,
    name: Annotated[str | None, typer.Option("--name", help=_("What others see; the login where left out."))] = None,
    code: Annotated[
        str, typer.Option("--code", help=_("The code that the server's terminal shows, for its first organiser."))
    ] = "",
    as_json: Json = False,
) -> None:
    """Make an account and keep a token."""
    from noren.contest.client import sign_up
    from noren.contest.credentials import remember, server_address

    server = server_address(address)
    made = sign_up(server, login, name or login, _password(confirm=True), code=code, tell=say)
    _told(server, login, str(remember(made)), as_json=as_json)


@app.command(
    "login",
    help=_("Log in to a server; a token is kept here, the password is not."),
    epilog=_("Example: noren contest login https://cup.example --login mia"),
)
def login(
    address: Address,
    login: LoginName,
    program: Annotated[str, typer.Option("--program", help=_("What the new token is called."))] = "noren",
    as_json: Json = False,
) -> None:
    """Log in and keep a token."""
    from noren.contest.client import enter
    from noren.contest.credentials import remember, server_address

    server = server_address(address)
    made = enter(server, login, _password(confirm=False), name=program, tell=say)
    _told(server, login, str(remember(made)), as_json=as_json)


@app.command(
    "logout",
    help=_("Forget the token of a server."),
    epilog=_("Example: noren contest logout https://cup.example"),
)
def logout(address: Address, as_json: Json = False) -> None:
    """Forget a token."""
    from noren.contest.credentials import forget, server_address

    server = server_address(address)
    gone = forget(server)
    if as_json:
        show_json({"server": server, "forgotten": gone})
    else:
        print(_("forgotten") if gone else _("there was no login for {server}").format(server=server))


@app.command(
    "token",
    help=_("List your tokens on a server, make one for a program, or revoke one."),
    epilog=_("Example: noren contest token --make robot --scope team"),
)
def token(
    name: Annotated[str | None, typer.Option("--make", metavar="NAME", help=_("Make a token of this name."))] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="read|team|organiser", help=_("What it may do; may be given again.")),
    ] = None,
    revoke: Annotated[
        str | None, typer.Option("--revoke", metavar="ID", help=_("Let this token open nothing any more."))
    ] = None,
    server: Server = None,
    given: Token = None,
    as_json: Json = False,
) -> None:
    """List, make and revoke tokens."""
    if name is not None and revoke is not None:
        raise ParameterError(_("--make and --revoke are two things"), _("do one after the other"))
    with client(server, given) as asked:
        if name is not None:
            text = asked.make_token(name, scope or ["read", "team"])
            show_json({"token": text}) if as_json else print(text)
            say(_("keep it: it is shown this once"))
            return
        if revoke is not None:
            asked.revoke(revoke)
        listed = asked.tokens()
    if as_json:
        show_json({"tokens": listed})
        return
    rows = [(one["id"], one["name"], ", ".join(one["scopes"]), str(one.get("last_used") or "")) for one in listed]
    show_table("", (_("token"), _("name"), _("may"), _("last used")), rows)


def _password(*, confirm: bool) -> str:
    given = os.environ.get(PASSWORD)
    return given or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=confirm, err=True))


def _told(server: str, login: str, file: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"server": server, "login": login, "file": file})
        return
    print(_("you are {login} on {server}").format(login=login, server=server))
    say(_("the token is kept in {file}").format(file=file))
