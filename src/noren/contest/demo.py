"""A running contest to look at and to join: simulated teams have played the preliminary round, the final is open.

Everything is in a temporary folder. The arena's clock starts two hours back, for the preliminary round to be played,
and is moved to the real time before anybody is told where to look.
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

from noren.contest.arena import Arena
from noren.contest.phases import Phase, PhaseKind, moment
from noren.contest.rulebook import preset
from noren.contest.serving import serve
from noren.contest.settings import ArenaSettings
from noren.contest.simulation import ROUNDS, Plan, Simulation
from noren.i18n import _
from noren.work.ids import new_id

__all__ = ["CONTEST", "phases_around", "serve_demo"]

CONTEST = "demo"
_BEFORE = dt.timedelta(hours=2)
_LAST_STEP = 10.0  # seconds that the teams get to finish what they are doing when the server stops
_log = logging.getLogger(__name__)


def serve_demo(listening: socket.socket, host: str, say: Callable[[str], None], *, open_page: bool) -> None:
    """Serve a contest with simulated teams until told to stop."""
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="noren-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = ArenaSettings(
            folder=folder / "arena", host=host, port=listening.getsockname()[1], rehearsal=True, workers=2
        )
        settings.make_folder()
        address = settings.addresses[0].rstrip("/")
        say(_("the demo is at {address} (Ctrl-C ends it, and nothing is kept)").format(address=f"{address}/"))
        playing = threading.Thread(target=_play, args=(address, settings, folder, say, ended), daemon=True)
        playing.start()
        serve(settings, listening, f"{address}/" if open_page else None, lambda _line: None)
        ended.set()
        playing.join(_LAST_STEP)  # a team that still writes would leave files behind in the folder being removed


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


def _play(
    address: str, settings: ArenaSettings, folder: Path, say: Callable[[str], None], ended: threading.Event
) -> None:
    """Play the preliminary round, announce the contest, and play the final as it comes."""
    first, last = ROUNDS
    try:
        arena, now, password = Arena(settings.folder, rehearsal=True), dt.datetime.now(dt.UTC), new_id()
        arena.store.clock.move(-_BEFORE.total_seconds())
        organiser = arena.store.accounts.add("organiser", _("Organiser"), password, is_organiser=True)
        plan = Plan(preset("pwscup2018"), teams=6, customers=60, rows=900, seed=int(time.time()))
        played = Simulation(
            arena, organiser, plan, folder, contest=CONTEST, title=_("A cup to try"), phases=phases_around(now)
        )
        played.play_round(first)
        arena.store.clock.move_to(dt.datetime.now(dt.UTC))
        say(_("a cup is running: {address}").format(address=f"{address}/contests/{CONTEST}"))
        told = _("join it with an account of your own, or log in as organiser with the password {password}")
        say(told.format(password=password))
        played.protect(last)
        while last not in played.state.targets:  # an hour, or when the organiser opens it
            if ended.wait(0.5):
                return
        played.attack(last)
    except Exception:  # the server goes on without its teams
        _log.exception("the teams of the demo stopped")
