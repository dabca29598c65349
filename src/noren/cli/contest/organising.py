"""``noren contest serve, work``: the server and those who judge for it; ``create, open``, the organiser's acts from
``pause`` to ``invite``, and ``simulate``: a contest with simulated teams.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from noren.cli.contest.connecting import ArenaStorage, Connection, Contest, add_action, shown_time
from noren.cli.parts.commands import App, Note, Output, Part, TextTable, progress_bar, refusal, say, situation
from noren.cli.parts.inputs import ServerOptions
from noren.contest import actions
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.tables import Texts

if TYPE_CHECKING:
    from noren.contest.phases import Phase

app = App()

text = Texts(__name__)

Folder = Annotated[Path | None, Option("--data-dir", help=text("folder"))]
Rehearsal = Annotated[bool, Option("--rehearsal", help=text("rehearsal"))]
Reason = Annotated[str, Option("--reason", help=text("reason"))]


@dataclass(frozen=True)
class JudgingEngine:
    """Where releases are judged."""

    engine: Annotated[str, Option(envvar="NOREN_ENGINE", metavar="local|spark://…|local[n]")] = "local"
    engine_from: Annotated[int, Option(envvar="NOREN_ENGINE_FROM", min=1)] = ENGINE_FROM


@dataclass(frozen=True)
class ArenaServer(ServerOptions):
    """Where the arena listens."""

    port: Annotated[int, Option(min=0, max=65_535)] = 8322


@app.command("serve")
def serve(
    data_dir: Folder = None,
    *,
    server: ArenaServer,
    storage: ArenaStorage,
    rehearsal: Rehearsal = False,
    works: Annotated[bool, Option("--work/--no-work")] = True,
    workers: Annotated[int | None, Option(min=1, max=64)] = None,
    judging: JudgingEngine,
    private_hooks: Annotated[bool, Option("--allow-private-hooks")] = False,
    demo: Annotated[bool, Option("--demo")] = False,
) -> None:
    """Serve contests until Ctrl-C."""
    from noren.contest.app import ArenaSettings
    from noren.web.settings import default_folder

    if demo:
        if data_dir is not None or storage != ArenaStorage():
            raise refusal("demo_keeps_nothing")
        from noren.contest.simulation import serve_demo

        serve_demo(server.listening(), server.host, say, open_page=server.open_page)
        return
    taken = server.listening()
    settings = ArenaSettings(
        folder=data_dir or default_folder("arena"),
        rehearsal=rehearsal,
        works=works,
        private_hooks=private_hooks,
        **server.settings(taken) | vars(storage) | vars(judging) | ({} if workers is None else {"workers": workers}),
    )
    page = server.announce(_("the arena is open at {address} (Ctrl-C closes it)"), settings.addresses)
    if rehearsal:
        say(_("note: this is a rehearsal; its organisers can move the clock."))
    from noren.contest.app import serve as run

    run(settings, taken, page, say)


@app.command("work")
def work(
    data_dir: Folder = None,
    *,
    storage: ArenaStorage,
    workers: Annotated[int, Option(min=1, max=64)] = 1,
    rehearsal: Rehearsal = False,
    lease: Annotated[float | None, Option(min=1.0)] = None,
    judging: JudgingEngine,
) -> None:
    """Judge what is handed in until Ctrl-C."""
    from noren.contest.app import run_judge
    from noren.contest.arena import Arena
    from noren.web.settings import default_folder

    cluster_of(judging.engine)
    folder = data_dir or default_folder("arena")
    with closing(Arena(folder, **vars(storage), rehearsal=rehearsal, lease=lease)) as arena:
        say(_("judging for the arena in {folder} (Ctrl-C ends it)").format(folder=folder))
        run_judge(arena, workers, **vars(judging))


# --- contests --------------------------------------------------------------------------------------------------------

_DAYS = "7,7,7,2,1"


@app.command("create")
def create(
    contest: Contest,
    data: Annotated[list[str], Option(metavar="ROUND=FILE")],
    title: str | None = None,
    rulebook: str = "pwscup2018",
    change: Annotated[list[str] | None, Option("--set", metavar="NAME=VALUE")] = None,
    phases: Path | None = None,
    start: str | None = None,
    days: Annotated[str, Option(metavar="R,P,A,B,E")] = _DAYS,
    zone: str = "UTC",
    team_size: Annotated[int, Option(min=1)] = 10,
    invited: Annotated[bool, Option("--invited")] = False,
    members_only: Annotated[bool, Option("--members-only")] = False,
    counting: Literal["last", "chosen"] = "last",
    *,
    connection: Connection,
) -> Output:
    """Create a contest."""
    from noren.contest.phases import get_time_zone
    from noren.contest.rulebook import PRESETS, read_rulebook
    from noren.data.formats.source import read_all_bytes

    get_time_zone(zone)  # what is wrong is said before anything is sent
    files: dict[str, Path] = {}
    for word in data:
        name, sign, path = word.partition("=")
        if not sign or not name or not path or name in files:
            raise refusal("data_of_no_round", word=word)
        files[name] = Path(path)
    if rulebook not in PRESETS and not rulebook.endswith(".toml") and not Path(rulebook).exists():
        read_rulebook(rulebook)  # says which there are
    text = rulebook if rulebook in PRESETS else _text(read_all_bytes(rulebook, largest=2**18), Path(rulebook))
    changes: dict[str, Any] = {}
    for word in change or []:  # as TOML values, where they are some
        name, sign, value = word.partition("=")
        if not sign or name in changes:
            raise refusal("sets_nothing", word=word)
        try:
            changes[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            changes[name] = value
    asked_for = {
        "id": contest,
        "title": title or contest,
        "rulebook": text,
        "changes": changes,
        "settings": {
            "zone": zone,
            "team_size": team_size,
            "registration": "invited" if invited else "open",
            "visibility": "members" if members_only else "public",
            "counting": counting,
        },
        "phases": _plan(phases, start, days, zone, list(files)),
    }
    with connection.client() as asked:
        made = asked.create(asked_for, files)
        address = f"{asked.address}/contests/{contest}"
    return Output(made, [_plan_table(made, zone), _("the contest is at {address}").format(address=address)])


def _plan_table(about: dict[str, Any], zone: str) -> TextTable:
    rows = [(one["id"], shown_time(one["opens"], zone), shown_time(one.get("closes"), zone)) for one in about["phases"]]
    return TextTable((_("phase"), _("opens"), _("closes")), rows, f"{about['title']} ({zone})")


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8") + "\n"
    except UnicodeDecodeError:
        raise refusal("no_text", FileError, file=path) from None


def _plan(phases: Path | None, start: str | None, days: str, zone: str, rounds: list[str]) -> list[dict[str, Any]]:
    """Return the phases: those of a file, or a usual plan from a moment on."""
    from noren.contest.phases import moment, planned_phases
    from noren.data.formats.source import read_all_bytes

    if phases is not None:
        if start is not None or days != _DAYS:
            raise refusal("phases_and_days")
        try:
            listed = tomllib.loads(_text(read_all_bytes(phases, largest=2**18), phases)).get("phases")
        except tomllib.TOMLDecodeError as error:
            raise refusal("no_toml", FileError, file=phases, reason=error) from None
        if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
            raise refusal("no_phases", FileError, file=phases)
        for one in listed:
            for name, value in one.items():
                if name in ("opens", "closes", "frozen_from"):
                    one[name] = moment(value if isinstance(value, dt.datetime) else str(value), zone)
        return listed
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


@app.command("open")
def open_(
    contest: Contest,
    now: Annotated[bool, Option("--now")] = False,
    reason: str = "",
    browser: Annotated[bool, Option("--browser/--no-browser")] = True,
    *,
    connection: Connection,
) -> Output:
    """Open a contest's page, or its next phase."""
    from noren.contest.phases import opened_now

    with connection.client() as asked:
        about = asked.contest(contest)
        address = f"{asked.address}/contests/{contest}"
        moved: list[dict[str, Any]] = []
        if now:
            moved = [one.as_dict() for one in opened_now(_phases(about), about["now"])]
            about = asked.do(actions.reschedule, contest, phases=moved, reason=reason or _("opened by hand"))
    parts: list[Part] = [_plan_table(about, about["settings"]["zone"]), address] if moved else [address]
    if browser and not moved and not situation.json:
        import webbrowser

        if not webbrowser.open(address):
            parts.append(Note(_("there is no browser here; open the address yourself")))
    return Output({"address": address, "moved": bool(moved), "phases": about["phases"]}, parts)


def _phases(about: dict[str, Any]) -> list[Phase]:
    """Return the phases that a server tells of."""
    from noren.contest.phases import Phase

    said = [{name: one[name] for name in Phase.model_fields if one.get(name)} for one in about["phases"]]
    return [Phase.model_validate(one) for one in said]


acting = App()

add_action(acting, actions.pause, lambda _client, said, _answer: {"contest": said["contest"], "paused": said["reason"]})
add_action(acting, actions.resume, lambda _client, said, _answer: {"contest": said["contest"], "paused": None})


@acting.command("extend")
def extend(
    contest: Contest,
    phase: Annotated[str, Argument(metavar="PHASE")],
    until: str,
    reason: Reason,
    *,
    connection: Connection,
) -> Output:
    """Let a phase close later; what follows it opens as much later."""
    from noren.contest.phases import extended, moment

    with connection.client() as asked:
        about = asked.contest(contest)
        zone, known = about["settings"]["zone"], {one.id: one for one in _phases(about)}
        if phase not in known or known[phase].closes is None:
            raise refusal("no_phase", name=phase[:40], names=", ".join(known))
        closes = moment(until, zone)
        moved = [one.as_dict() for one in extended(list(known.values()), phase, closes)]
        asked.do(actions.reschedule, contest, phases=moved, reason=reason)
    told = _("{phase} closes {moment} ({zone})").format(phase=phase, moment=shown_time(closes, zone), zone=zone)
    return Output({"contest": contest, "phases": moved}, [told])


add_action(acting, actions.disqualify, lambda _client, said, _answer: {"team": said["team"], "out": said["reason"]})
add_action(acting, actions.reinstate, lambda _client, said, _answer: {"team": said["team"], "out": None})
add_action(acting, actions.rescore, lambda _client, said, _answer: {"scorer": said["scorer"]})


@acting.command("jobs")
def jobs(
    contest: Contest,
    retry: Annotated[str | None, Option(metavar="JOB")] = None,
    *,
    connection: Connection,
) -> Output:
    """Show what waits, runs or failed."""
    with connection.client() as asked:
        if retry is not None:
            asked.send("POST", "contests", contest, "jobs", retry, "retry", content={})
        listed = [one for one in asked.get("contests", contest, "jobs") if one["state"] != "done"]
    rows = [
        (one["id"], one["kind"], one["submission"] or "", one["state"], str(one["attempts"]), one["error"] or "")
        for one in listed
    ]
    return Output(
        {"jobs": listed}, [TextTable((_("job"), _("kind"), _("file"), _("state"), _("tries"), _("why")), rows)]
    )


@acting.command("flags")
def flags(contest: Contest, connection: Connection) -> Output:
    """Show files of different teams that are nearly the same."""
    with connection.client() as asked:
        listed = asked.get("contests", contest, "flags")
    rows = [(*(str(name) for name in one["teams"]), *one["submissions"], f"{one['share']:.1%}") for one in listed]
    return Output({"flags": listed}, [TextTable((_("team"), _("team"), _("file"), _("file"), _("alike")), rows)])


add_action(acting, actions.invite, lambda _client, said, answer: {"contest": said["contest"], "code": answer["code"]})


@acting.command("simulate")
def simulate(
    rulebook: str = "pwscup2018",
    teams: Annotated[int, Option(min=2, max=200)] = 13,
    customers: Annotated[int, Option(min=6)] = 40,
    rows: Annotated[int, Option(min=40)] = 400,
    seed: Annotated[int, Option(min=0)] = 1,
    out: Path | None = None,
) -> Output:
    """Play a contest and show its final boards."""
    from noren.cli.contest.results import board_parts, rules
    from noren.contest.simulation import SimulationPlan
    from noren.contest.simulation import simulate as play
    from noren.data.formats.files import require_writable

    if out is not None:
        require_writable(out)  # before a whole contest is played
    plan = SimulationPlan(rules(rulebook, None, Connection()), teams=teams, customers=customers, rows=rows, seed=seed)
    with progress_bar(_("Playing")) as progress:
        boards = play(plan, out, progress=progress)
    return Output({"boards": boards}, [part for board in boards for part in board_parts(board, "UTC")])
