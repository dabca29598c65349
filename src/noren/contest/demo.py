"""A running cup to look at and to join: bots have played the preliminary round, and the final is open.

Everything lies in a temporary folder and is gone when the server is. The bots played a while ago by the server's clock,
which stands where the real one does by the time anybody looks.
"""

from __future__ import annotations

import datetime as dt
import logging
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from noren.contest.arena import Arena
from noren.contest.bot_teams import ROUNDS, Bot, Plan, make_data
from noren.contest.bots import styles_for
from noren.contest.client import Client, sign_up
from noren.contest.cut_connections import Cuts
from noren.contest.entrance import first_code
from noren.contest.phases import Phase, PhaseKind, moment
from noren.contest.rulebook import preset
from noren.contest.serving import serve
from noren.contest.settings import ArenaSettings
from noren.i18n import _
from noren.work.ids import new_id

__all__ = ["CONTEST", "phases_around", "serve_demo"]

CONTEST = "demo"
_TEAMS = 6
_BEFORE = dt.timedelta(hours=2)
_log = logging.getLogger(__name__)


def serve_demo(listening: socket.socket, host: str, say: Callable[[str], None], *, open_page: bool) -> None:
    """Serve a cup with bots until told to stop."""
    with tempfile.TemporaryDirectory(prefix="noren-demo-") as name:
        folder = Path(name)
        settings = ArenaSettings(
            folder=folder / "arena", host=host, port=listening.getsockname()[1], rehearsal=True, workers=2
        )
        settings.make_folder()
        arena = Arena(settings.folder, rehearsal=True)
        arena.store.clock.move(-_BEFORE.total_seconds())
        arena.close()
        address = settings.addresses[0].rstrip("/")
        say(_("the demo is at {address} (Ctrl-C ends it, and nothing is kept)").format(address=f"{address}/"))
        playing = threading.Thread(target=_play_quietly, args=(address, settings, folder, say), daemon=True)
        playing.start()
        serve(settings, listening, f"{address}/" if open_page else None, lambda _line: None)


def phases_around(now: dt.datetime) -> list[Phase]:
    """Return a plan whose preliminary round is over and whose final round is open now.

    >>> plan = phases_around(dt.datetime(2026, 4, 1, 12, tzinfo=dt.UTC))
    >>> [one.id for one in plan if one.is_open("2026-04-01T12:00:00.000000+00:00")]
    ['registration', 'final-protect']
    """

    def phase(kind: PhaseKind, opens: int, closes: int | None, round_: str | None = None) -> Phase:
        begins = moment(now + dt.timedelta(minutes=opens))
        ends = None if closes is None else moment(now + dt.timedelta(minutes=closes))
        name = f"{round_}-{kind}" if round_ else str(kind)
        return Phase(id=name, kind=kind, round=round_, opens=begins, closes=ends)

    first, last = ROUNDS
    return [
        phase(PhaseKind.REGISTRATION, -125, 60),
        phase(PhaseKind.PROTECT, -110, -80, first),
        phase(PhaseKind.ATTACK, -75, -45, first),
        phase(PhaseKind.PROTECT, -30, 60, last),
        phase(PhaseKind.ATTACK, 60, 120, last),
        phase(PhaseKind.EVALUATION, 120, 125),
        phase(PhaseKind.RESULTS, 125, None),
    ]


def _play_quietly(address: str, settings: ArenaSettings, folder: Path, say: Callable[[str], None]) -> None:
    try:
        _Demo(address, settings, folder, say).play()
    except Exception:  # the server goes on without its bots
        _log.exception("the bots of the demo stopped")


class _Demo:
    def __init__(self, address: str, settings: ArenaSettings, folder: Path, say: Callable[[str], None]) -> None:
        self._address, self._settings, self._folder, self._say = address, settings, folder, say
        self._plan = Plan(preset("pwscup2018"), teams=_TEAMS, customers=60, rows=900, seed=int(time.time()))

    def play(self) -> None:
        """Create the cup, play what is past, and go on with the final."""
        now = dt.datetime.now(dt.UTC)
        self._wait_for_server()
        password = new_id()
        code = first_code(self._settings)
        login = sign_up(self._address, "organiser", _("Organiser"), password, code=code)
        organiser = Client(self._address, login.token)
        self._create(organiser, now)
        bots = [
            Bot(number, style, self._plan, self._folder, self._address, lambda: None, Cuts())
            for number, style in enumerate(styles_for(self._plan.rulebook, _TEAMS))
        ]
        for bot in bots:
            bot.register(CONTEST)
        self._round(organiser, bots, ROUNDS[0], now)
        organiser.set_clock(moment(dt.datetime.now(dt.UTC)))
        self._say(_("a cup is running: {address}").format(address=f"{self._address}/contests/{CONTEST}"))
        told = _("join it with an account of your own, or log in as organiser with the password {password}")
        self._say(told.format(password=password))
        for bot in bots:
            bot.protect(CONTEST, ROUNDS[1])
        self._until(lambda: self._has_targets(organiser, ROUNDS[1]))  # an hour, or when the organiser opens it
        for bot in bots:
            bot.attack(CONTEST, ROUNDS[1], None)

    def _wait_for_server(self) -> None:
        while True:
            try:
                httpx.get(f"{self._address}/api/v1/session", timeout=5.0)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return

    def _create(self, organiser: Client, now: dt.datetime) -> None:
        data = {
            name: make_data(self._plan.rulebook, self._folder, customers=60, rows=900, seed=place, name=name)
            for place, name in enumerate(ROUNDS)
        }
        contest = {
            "id": CONTEST,
            "title": _("A cup to try"),
            "rulebook": "pwscup2018",
            "phases": [one.as_dict() for one in phases_around(now)],
        }
        organiser.create(contest, data)

    def _round(self, organiser: Client, bots: list[Bot], round_: str, now: dt.datetime) -> None:
        opens = {one.id: dt.datetime.fromisoformat(one.opens) for one in phases_around(now)}
        minute = dt.timedelta(minutes=1)
        organiser.set_clock(moment(opens[f"{round_}-protect"] + minute))
        for bot in bots:
            bot.protect(CONTEST, round_)
        self._until(lambda: all(one.is_over for one in organiser.submissions(CONTEST)))
        organiser.set_clock(moment(opens[f"{round_}-attack"] + minute))
        self._until(lambda: self._has_targets(organiser, round_))
        for bot in bots:
            bot.attack(CONTEST, round_, 3)
        self._until(lambda: all(one.is_over for one in organiser.submissions(CONTEST)))

    def _has_targets(self, organiser: Client, round_: str) -> bool:
        return any(one["id"] == round_ and one["targets"] for one in organiser.contest(CONTEST)["rounds"])

    def _until(self, so: Callable[[], bool]) -> None:
        while not so():
            time.sleep(0.5)
