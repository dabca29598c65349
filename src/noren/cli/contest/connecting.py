"""Connections to a contest server and their options; ``noren contest signup``, ``login``, ``logout``, ``token``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from noren.cli.parts.commands import App, Json, Note, Output, TextTable, refusal, say, situation, wording
from noren.i18n import _
from noren.tables import Texts
from noren.web.actions import Action, command

if TYPE_CHECKING:
    from noren.contest.client import Client

text = Texts(__name__)

Contest = Annotated[str, Argument(metavar="CONTEST", help=text("contest"))]
Server = Annotated[str | None, Option("--server", metavar="ADDRESS", help=text("server"))]
Token = Annotated[str | None, Option("--token", help=text("token_of_account"))]
Round = Annotated[str | None, Option("--round", help=text("round"))]


@dataclass(frozen=True)
class ArenaStorage:
    """Where an arena stores its data: ``--database`` and ``--files``, as one parameter."""

    database: str | None = None
    files: Annotated[str | None, Option(metavar="URL")] = None


@dataclass(frozen=True)
class Connection:
    """How a command reaches a server: ``--server`` and ``--token``, as one parameter."""

    server: Server = None
    token: Token = None

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        """Yield a client that is logged in as the user of the command."""
        from noren.contest.client import Client
        from noren.contest.credentials import login_for

        login = login_for(self.server, self.token)
        with contextlib.closing(Client(login.server, login.token, tell=say)) as client:
            yield client


def add_action(app: App, act: Action[..., Any], about: Callable[..., Any] | None = None, **names: str | None) -> None:
    """Add the command of an action.

    ``about`` turns the client, the request and the server's answer into the data for ``--json``, or into the whole
    output if that is more than the action's own sentence. Without it, the data are some fields of the request and the
    answer under other ``names``, or null.
    """

    def run(
        act: Action[..., Any], *, contest: str, server: str | None, token: str | None, as_json: bool, **options: Any
    ) -> None:
        situation.json = as_json
        with Connection(server, token).client() as connected:
            team: dict[str, Any] = {}
            if "team" in options:
                teams, name = connected.get("contests", contest, "teams"), options["team"]
                team = next((team for team in teams if name in (team["id"], team["name"])), team)
                if not team:
                    raise refusal("no_such", name=name[:60], names=", ".join(team["name"] for team in teams[:50]))
                options |= {"team": team["id"]}
            answer = connected.do(act, contest, **options)
            request = {"contest": contest} | options
            known = (answer or {}) | team | request
            plain = {name: field and known[field] for name, field in names.items()}
            output = plain if about is None else about(connected, request, answer)
            if not isinstance(output, Output):
                output = Output(output, [_(act.done).format(**known)])
        output.show()

    made = command(act, run, contest=Contest, server=(Server, None), token=(Token, None), as_json=(Json, False))
    app.command(act.name.replace("_", "-"), help=_(act.help), epilog=wording("example", command=act.example))(made)


def round_of(contest: dict[str, Any], name: str | None, kind: str | None = None) -> str:
    """Return the round ``name``; without a name, the one that is open now, or the last that began."""
    names = [round_["id"] for round_ in contest["rounds"]]
    if name is not None:
        if name not in names:
            raise refusal("no_such", name=name[:40], names=", ".join(names))
        return name
    phases = [phase for phase in contest["phases"] if phase.get("round")]
    of_kind = [phase for phase in phases if kind in (None, phase["kind"])] or phases
    open_ = [phase for phase in of_kind if phase.get("open")]
    begun = [phase for phase in of_kind if phase["opens"] <= contest["now"]]
    chosen = open_ or begun[-1:] or of_kind[:1]
    return str(chosen[0]["round"])


def local_time(moment: str | None, zone: str = "UTC") -> str:
    """Return a moment in the contest's time zone, to the minute.

    >>> local_time("2026-04-01T00:00:00.000000+00:00", "Asia/Tokyo")
    '2026-04-01 09:00'
    """
    import datetime as dt

    from noren.contest.phases import get_time_zone

    if moment is None:
        return ""
    return dt.datetime.fromisoformat(moment).astimezone(get_time_zone(zone)).strftime("%Y-%m-%d %H:%M")


app = App()

PASSWORD = "NOREN_CONTEST_PASSWORD"  # noqa: S105 - the name of a variable
Address = Annotated[str, Argument(metavar="ADDRESS", help=text("address"))]
LoginName = Annotated[str, Option("--login", prompt=_("Login"), help=text("login_name"))]


@app.command("signup")
def signup(address: Address, login: LoginName, name: str | None = None, code: str = "") -> Output:
    """Create an account and store a token."""
    return _welcome(address, login, confirm=True, new=name or login, code=code)


@app.command("login")
def login(address: Address, login: LoginName, name: Annotated[str, Option("--token-name")] = "noren") -> Output:
    """Log in and store a token."""
    return _welcome(address, login, confirm=False, program=name)


@app.command("logout")
def logout(address: Address) -> Output:
    """Delete a stored token."""
    from noren.contest.credentials import forget, server_address

    server = server_address(address)
    deleted = forget(server)
    words = _("logged out of {server}") if deleted else _("not logged in to {server}")
    return Output({"server": server, "deleted": deleted}, [words.format(server=server)])


@app.command("token")
def token(
    name: Annotated[str | None, Option("--create", metavar="NAME")] = None,
    scope: Annotated[list[str] | None, Option(metavar="read|team|organiser")] = None,
    revoke: Annotated[str | None, Option(metavar="ID")] = None,
    *,
    connection: Connection,
) -> Output:
    """List, make and revoke tokens."""
    if name is not None and revoke is not None:
        raise refusal("excludes", flag="--create", others="--revoke")
    with connection.client() as client:
        if name is not None:
            content = {"name": name, "scopes": scope or ["read", "team"]}
            text = str(client.send("POST", "account", "tokens", content=content)["text"])
            return Output({"token": text}, [text], remarks=[_("Store this token now; it cannot be shown again.")])
        if revoke is not None:
            client.send("DELETE", "account", "tokens", revoke, again=True)
        tokens = client.get("account", "tokens")
    rows = [(t["id"], t["name"], ", ".join(t["scopes"]), str(t.get("last_used") or "")) for t in tokens]
    return Output({"tokens": tokens}, [TextTable(("ID", _("Name"), _("Scopes"), _("Last used")), rows)])


def _welcome(address: str, login: str, *, confirm: bool, **how: str) -> Output:
    """Log in, store the token, and return who is logged in; the password is in the environment, or asked for."""
    from noren.contest.client import create_login
    from noren.contest.credentials import remember, server_address

    server, password = server_address(address), os.environ.get(PASSWORD)
    password = password or str(typer.prompt(_("Password"), hide_input=True, confirmation_prompt=confirm, err=True))
    made = create_login(server, login, password, tell=say, **how)
    answer = {"server": made.server, "login": login, "file": str(remember(made))}
    return Output(answer, [_("logged in to {server} as {login}").format(**answer), Note(answer["file"])])
