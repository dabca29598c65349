"""``noren contest create, open``: setting a contest up."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from noren.cli.contest.options import Contest, Server, Token, client, shown_time
from noren.cli.parts.commands import App
from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import say, show_json, show_table
from noren.contest import acts
from noren.errors import FileError, ParameterError
from noren.i18n import _

__all__ = ["add_to"]

_DAYS = "7,7,7,2,1"


def create(
    contest: Contest,
    data: Annotated[
        list[str],
        typer.Option(
            "--data", metavar="ROUND=FILE", help=_("The data of a round; may be given again for more rounds.")
        ),
    ],
    title: Annotated[str | None, typer.Option("--title", help=_("What it is called; its name where left out."))] = None,
    rulebook: Annotated[
        str, typer.Option("--rulebook", help=_("pwscup2018, pwscup2017, pwscup2016, custom, or a TOML file."))
    ] = "pwscup2018",
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=_("What differs from the rulebook: bound=sharp, p=1/4; may be repeated."),
        ),
    ] = None,
    phases: Annotated[
        Path | None,
        typer.Option("--phases", help=_("The plan: a TOML file of [[phases]] with id, kind, round, opens, closes.")),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", help=_("When registration opens, such as 2026-04-01 09:00; now if not said.")),
    ] = None,
    days: Annotated[
        str,
        typer.Option(
            "--days",
            metavar="R,P,A,B,E",
            help=_("Days of registration, protecting, attacking, the break between rounds, evaluation."),
        ),
    ] = _DAYS,
    zone: Annotated[str, typer.Option("--zone", help=_("The time zone of all times, such as Asia/Tokyo."))] = "UTC",
    team_size: Annotated[int, typer.Option("--team-size", min=1, help=_("The most members of a team."))] = 10,
    invited: Annotated[bool, typer.Option("--invited", help=_("Teams come in by invitation alone."))] = False,
    members_only: Annotated[bool, typer.Option("--members-only", help=_("Only who plays sees it."))] = False,
    counting: Annotated[
        Literal["last", "chosen"],
        typer.Option("--counting", help=_("Which release counts: the last valid one, or the one a team chooses.")),
    ] = "last",
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Create a contest."""
    from noren.contest.phases import zone_named
    from noren.contest.rulebook import PRESETS, read_rulebook
    from noren.data.formats.source import read_all_bytes

    zone_named(zone)  # what is wrong is said before anything is sent
    files = _rounds(data)
    if rulebook not in PRESETS and not rulebook.endswith(".toml") and not Path(rulebook).exists():
        read_rulebook(rulebook)  # says which there are
    text = rulebook if rulebook in PRESETS else _text(read_all_bytes(rulebook, largest=2**18), Path(rulebook))
    asked_for = {
        "id": contest,
        "title": title or contest,
        "rulebook": text,
        "changes": _changes(change or []),
        "settings": {
            "zone": zone,
            "team_size": team_size,
            "registration": "invited" if invited else "open",
            "visibility": "members" if members_only else "public",
            "counting": counting,
        },
        "phases": _plan(phases, start, days, zone, list(files)),
    }
    with client(server, token) as asked:
        made = asked.create(asked_for, files)
        address = f"{asked.connection.address}/contests/{contest}"
    if as_json:
        show_json(made)
        return
    rows = [(one["id"], shown_time(one["opens"], zone), shown_time(one.get("closes"), zone)) for one in made["phases"]]
    show_table(f"{made['title']} ({zone})", (_("phase"), _("opens"), _("closes")), rows)
    print(_("the contest is at {address}").format(address=address))


def _rounds(given: list[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for word in given:
        name, sign, path = word.partition("=")
        if not sign or not name or not path or name in found:
            raise ParameterError(
                _("--data {word} names no round").format(word=word), _("write each round once, like final=T.csv")
            )
        found[name] = Path(path)
    return found


def _changes(given: list[str]) -> dict[str, Any]:
    """Read what differs from a rulebook: words as TOML values, where they are some."""
    import tomllib

    found: dict[str, Any] = {}
    for word in given:
        name, sign, value = word.partition("=")
        if not sign or name in found:
            raise ParameterError(_("--set {word} sets nothing").format(word=word), _("write it like bound=sharp"))
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8") + "\n"
    except UnicodeDecodeError:
        raise FileError(_("this is no text in UTF-8"), _("save it as UTF-8"), file=path) from None


def _plan(phases: Path | None, start: str | None, days: str, zone: str, rounds: list[str]) -> list[dict[str, Any]]:
    """Return the phases: those of a file, or a usual plan from a moment on."""
    from noren.contest.phases import moment, planned_phases

    if phases is not None:
        if start is not None or days != _DAYS:
            raise ParameterError(_("--phases says when what is open"), _("leave --start and --days out"))
        return _phases_of(phases, zone)
    try:
        lengths = [float(part) for part in days.split(",")]
        if len(lengths) != 5 or min(lengths) < 0:
            raise ValueError(days)
    except ValueError:
        raise ParameterError(
            _("--days {days} are not five lengths").format(days=days), _("write them like {days}").format(days=_DAYS)
        ) from None
    first = moment(dt.datetime.now(dt.UTC) if start is None else start, zone)
    return [one.as_dict() for one in planned_phases(first, lengths, rounds)]


def _phases_of(path: Path, zone: str) -> list[dict[str, Any]]:
    import tomllib

    from noren.contest.phases import moment
    from noren.data.formats.source import read_all_bytes

    try:
        listed = tomllib.loads(_text(read_all_bytes(path, largest=2**18), path)).get("phases")
    except tomllib.TOMLDecodeError as error:
        raise FileError(_("this is no TOML ({reason})").format(reason=error), _("correct it"), file=path) from None
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise FileError(_("the file has no [[phases]]"), _("write one for each phase"), file=path)
    times = ("opens", "closes", "frozen_from")
    return [
        {name: moment(value if isinstance(value, dt.datetime) else str(value), zone) if name in times else value
         for name, value in one.items()}
        for one in listed
    ]  # fmt: skip


def open_(
    contest: Contest,
    now: Annotated[
        bool, typer.Option("--now", help=_("Move the plan so that the next phase opens now; for the organiser."))
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help=_("Why the plan moves; it stands in the log."))] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help=_("Open the page in the browser."))] = True,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Open a contest's page, or its next phase."""
    with client(server, token) as asked:
        about = asked.contest(contest)
        address = f"{asked.connection.address}/contests/{contest}"
        moved: list[dict[str, Any]] = []
        if now:
            moved = _moved(about)
            about = asked.do(acts.reschedule, contest, phases=moved, reason=reason or _("opened by hand"))
    if as_json:
        show_json({"address": address, "moved": bool(moved), "phases": about["phases"]})
        return
    zone = about["settings"]["zone"]
    if moved:
        rows = [
            (one["id"], shown_time(one["opens"], zone), shown_time(one.get("closes"), zone)) for one in about["phases"]
        ]
        show_table(f"{about['title']} ({zone})", (_("phase"), _("opens"), _("closes")), rows)
    print(address)
    if browser and not moved:
        import webbrowser

        if not webbrowser.open(address):
            say(_("there is no browser here; open the address yourself"))


def _moved(about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the phases with all that is to come moved by the same time, so that the first of it begins now."""
    from noren.contest.phases import Phase, opened_now

    said = [{name: one[name] for name in Phase.model_fields if one.get(name)} for one in about["phases"]]
    return [one.as_dict() for one in opened_now([Phase.model_validate(one) for one in said], about["now"])]


def add_to(app: App) -> None:
    """Add the commands."""
    app.command(
        "create",
        help=_("Create a contest from a rulebook, the data of each round and a plan."),
        epilog=_("Example: noren contest create cup-2026 --rulebook pwscup2018 --data final=T.csv --zone Asia/Tokyo"),
    )(create)
    app.command(
        "open",
        help=_(
            "Open the page of a contest; with --now let its next phase begin, and all that follows as much earlier."
        ),
        epilog=_("Example: noren contest open cup-2026 --now --reason 'all teams are in'"),
    )(open_)
