"""Commands for organisers: ``noren contest serve`` and ``work`` (the server and its workers), ``create``, ``open``,
the actions from ``pause`` to ``invite``, and ``simulate``.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from noren.cli.contest.connecting import ArenaStorage, Connection, Contest, add_action, local_time
from noren.cli.parts.commands import App, Note, Output, Part, TextTable, progress_bar, refusal, say, situation
from noren.cli.parts.inputs import ServerOptions
from noren.contest import actions
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.errors import FileError
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
            raise refusal("excludes", flag="--demo", others="--data-dir, --database, --files")
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
    page = server.announce(_("arena running at {address} (stop with Ctrl-C)"), settings.addresses)
    if rehearsal:
        say(_("note: this is a rehearsal; organisers can move the clock."))
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
    """Judge submitted files until Ctrl-C."""
    from noren.contest.app import run_judge
    from noren.contest.arena import Arena
    from noren.web.settings import default_folder

    cluster_of(judging.engine)
    folder = data_dir or default_folder("arena")
    with closing(Arena(folder, **vars(storage), rehearsal=rehearsal, lease=lease)) as arena:
        say(_("judging files of the arena in {folder} (stop with Ctrl-C)").format(folder=folder))
        run_judge(arena, workers, **vars(judging))


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
    most_teams: Annotated[int | None, Option(min=1)] = None,
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
        if not sign or not name or not path:
            raise refusal("invalid", flag="--data", value=word, example="final=T.csv")
        if name in files:
            raise refusal("named_twice", name=f"--data {name}")
        files[name] = Path(path)
    if rulebook not in PRESETS and not rulebook.endswith(".toml") and not Path(rulebook).exists():
        read_rulebook(rulebook)  # says which there are
    text = rulebook if rulebook in PRESETS else _text(read_all_bytes(rulebook, largest=2**18), Path(rulebook))
    changes: dict[str, Any] = {}
    for word in change or []:  # as TOML values, where they are some
        name, sign, value = word.partition("=")
        if not sign:
            raise refusal("invalid", flag="--set", value=word, example="bound=sharp")
        if name in changes:
            raise refusal("named_twice", name=f"--set {name}")
        try:
            changes[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            changes[name] = value
    request = {
        "id": contest,
        "title": title or contest,
        "rulebook": text,
        "changes": changes,
        "settings": {
            "zone": zone,
            "team_size": team_size,
            "most_teams": most_teams,
            "registration": "invited" if invited else "open",
            "visibility": "members" if members_only else "public",
            "counting": counting,
        },
        "phases": _plan(phases, start, days, zone, list(files)),
    }
    with connection.client() as client:
        made = client.create(request, files)
        address = f"{client.address}/contests/{contest}"
    return Output(made, [_plan_table(made, zone), address])


def _plan_table(about: dict[str, Any], zone: str) -> TextTable:
    rows = [(p["id"], local_time(p["opens"], zone), local_time(p.get("closes"), zone)) for p in about["phases"]]
    return TextTable((_("Phase"), _("Opens"), _("Closes")), rows, f"{about['title']} ({zone})")


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8") + "\n"
    except UnicodeDecodeError:
        raise refusal("no_text", FileError, file=path) from None


def _plan(phases: Path | None, start: str | None, days: str, zone: str, rounds: list[str]) -> list[dict[str, Any]]:
    """Return the phases of a file, or a default schedule from a moment on."""
    from noren.contest.phases import moment, planned_phases
    from noren.data.formats.source import read_all_bytes

    if phases is not None:
        if start is not None or days != _DAYS:
            raise refusal("excludes", flag="--phases", others="--start, --days")
        try:
            listed = tomllib.loads(_text(read_all_bytes(phases, largest=2**18), phases)).get("phases")
        except tomllib.TOMLDecodeError as error:
            raise refusal("no_toml", FileError, file=phases, reason=error) from None
        if not isinstance(listed, list) or not listed or not all(isinstance(phase, dict) for phase in listed):
            raise refusal("no_phases", FileError, file=phases)
        for phase in listed:
            for name, value in phase.items():
                if name in ("opens", "closes", "frozen_from"):
                    phase[name] = moment(value if isinstance(value, dt.datetime) else str(value), zone)
        return listed
    try:
        lengths = [float(part) for part in days.split(",")]
        if len(lengths) != 5 or min(lengths) < 0:
            raise ValueError(days)
    except ValueError:
        raise refusal("invalid", flag="--days", value=days, example=_DAYS) from None
    first = moment(dt.datetime.now(dt.UTC) if start is None else start, zone)
    return [phase.as_dict() for phase in planned_phases(first, lengths, rounds)]


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
    from noren.contest.phases import open_next_phase

    with connection.client() as client:
        about = client.contest(contest)
        address = f"{client.address}/contests/{contest}"
        moved: list[dict[str, Any]] = []
        if now:
            moved = [phase.as_dict() for phase in open_next_phase(_phases(about), about["now"])]
            about = client.do(actions.reschedule, contest, phases=moved, reason=reason or _("opened manually"))
    parts: list[Part] = [_plan_table(about, about["settings"]["zone"]), address] if moved else [address]
    if browser and not moved and not situation.json:
        import webbrowser

        if not webbrowser.open(address):
            parts.append(Note(_("no browser found; open the address yourself")))
    return Output({"address": address, "moved": bool(moved), "phases": about["phases"]}, parts)


def _phases(about: dict[str, Any]) -> list[Phase]:
    """Return the phases in a server's answer."""
    from noren.contest.phases import Phase

    fields = Phase.model_fields
    return [Phase.model_validate({n: phase[n] for n in fields if phase.get(n)}) for phase in about["phases"]]


acting = App()

add_action(acting, actions.pause, contest="contest", paused="reason")
add_action(acting, actions.resume, contest="contest", paused=None)


@acting.command("extend")
def extend(
    contest: Contest,
    phase: Annotated[str, Argument(metavar="PHASE")],
    until: str,
    reason: Reason,
    *,
    connection: Connection,
) -> Output:
    """Extend a phase and move all later phases."""
    from noren.contest.phases import extend_phase, moment

    with connection.client() as client:
        about = client.contest(contest)
        zone, phases = about["settings"]["zone"], {phase.id: phase for phase in _phases(about)}
        if phase not in phases or phases[phase].closes is None:
            raise refusal("no_such", name=phase[:40], names=", ".join(phases))
        closes = moment(until, zone)
        moved = [phase.as_dict() for phase in extend_phase(list(phases.values()), phase, closes)]
        client.do(actions.reschedule, contest, phases=moved, reason=reason)
    sentence = _("{phase} closes {time} ({zone})").format(phase=phase, time=local_time(closes, zone), zone=zone)
    return Output({"contest": contest, "phases": moved}, [sentence])


add_action(acting, actions.disqualify, team="team", out="reason")
add_action(acting, actions.reinstate, team="team", out=None)
add_action(acting, actions.rescore, scorer="scorer")


@acting.command("jobs")
def jobs(
    contest: Contest, retry: Annotated[str | None, Option(metavar="JOB")] = None, *, connection: Connection
) -> Output:
    """Show what waits, runs or failed."""
    with connection.client() as client:
        if retry is not None:
            client.send("POST", "contests", contest, "jobs", retry, "retry", content={})
        unfinished = [job for job in client.get("contests", contest, "jobs") if job["state"] != "done"]
    rows = [
        (job["id"], job["kind"], job["submission"] or "", job["state"], str(job["attempts"]), job["error"] or "")
        for job in unfinished
    ]
    headings = (_("Job"), _("Kind"), _("File"), _("State"), _("Attempts"), _("Reason"))
    return Output({"jobs": unfinished}, [TextTable(headings, rows)])


@acting.command("flags")
def flags(contest: Contest, connection: Connection) -> Output:
    """Show files of different teams that are nearly the same."""
    with connection.client() as client:
        flags = client.get("contests", contest, "flags")
    rows = [(*(str(name) for name in flag["teams"]), *flag["submissions"], f"{flag['share']:.1%}") for flag in flags]
    headings = (_("Team"), _("Team"), _("File"), _("File"), _("Share"))
    return Output({"flags": flags}, [TextTable(headings, rows)])


add_action(acting, actions.invite, contest="contest", code="code")
add_action(acting, actions.announce, text="text")
add_action(acting, actions.add_organiser, login="login")
add_action(acting, actions.reset_password, lambda _client, request, answer: {"login": request["login"]} | answer)


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
    with progress_bar() as progress:
        boards = play(plan, out, progress=progress)
    return Output({"boards": boards}, [part for board in boards for part in board_parts(board, "UTC")])
