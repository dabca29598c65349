"""Contests with simulated teams: ``noren contest simulate`` and the demo.

The teams act in this process through the same service as pages and the REST interface; a worker scores their files.

The demo is a running contest to join: simulated teams have played the preliminary round, the final round is open.
Everything is in a temporary folder. The clock starts two hours back, for the preliminary round, and is set to the real
time before the address is announced.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.api import protect, sample
from noren.contest import actions
from noren.contest.app import ArenaSettings, judging, serve
from noren.contest.archive import export
from noren.contest.arena import Arena, ScoringService
from noren.contest.judging.prepared import original_of, write_attack
from noren.contest.phases import Phase, moment, planned_phases
from noren.contest.rulebook import Rulebook, preset
from noren.contest.service import ArenaIdentity, ContestService, NewContest
from noren.contest.standings import board
from noren.contest.state import Contest
from noren.contest.store.database import ArenaAccount
from noren.data.reading import write
from noren.data.release import submission_of
from noren.errors import OutputError, ParameterError
from noren.i18n import _
from noren.progress import Progress, silent
from noren.tables import Texts, table_of
from noren.work.queue import new_id

say = Texts("noren.contest.demo")

ROUNDS = ("preliminary", "final")
_DAYS = (7.0, 7.0, 7.0, 2.0, 1.0)
_ATTACKED = 3
"""Number of targets that each team attacks in a round."""
_PATIENCE = 600.0
"""Seconds after which waiting for scores is given up."""
_TEAMS = table_of(__name__)


@dataclass(frozen=True)
class SimulationPlan:
    """Rules, number of teams, and size and seed of the generated data."""

    rulebook: Rulebook
    teams: int = 13
    customers: int = 40
    rows: int = 400
    seed: int = 1


def make_data(rulebook: Rulebook, folder: Path, *, customers: int, rows: int, seed: int, name: str) -> Path:
    """Write generated data in the format of a rulebook; return the file."""
    schema = rulebook.data_schema if "\n" not in rulebook.data_schema else ""
    history = sample(customers=customers, rows=rows, items=max(8, rows // 10), seed=seed, schema=schema or "sample")
    path = folder / f"{name}.csv"
    write(history, path)
    return path


class Simulation:
    """A contest with simulated teams, in an arena with a movable clock and a worker.

    Parameters
    ----------
    folder
        Where the data of the rounds and the files of the teams are written.
    """

    def __init__(
        self, arena: Arena, organiser: ArenaAccount, plan: SimulationPlan, folder: Path, *, contest: str, title: str,
        phases: Sequence[Phase],
    ) -> None:  # fmt: skip
        if plan.rulebook.kind != "history":
            raise ParameterError(say("no_history", kind=plan.rulebook.kind))
        self.arena, self.contest, self._plan, self._folder = arena, contest, plan, folder
        self._service, self._judges = ContestService(arena), ScoringService(arena)
        self._data = {
            name: make_data(
                plan.rulebook, folder, customers=plan.customers, rows=plan.rows, seed=plan.seed + place, name=name
            )
            for place, name in enumerate(ROUNDS)
        }
        new = NewContest(id=contest, title=title, rulebook=plan.rulebook.to_toml(), phases=list(phases))
        with contextlib.ExitStack() as opened:
            files = {name: (path.name, opened.enter_context(path.open("rb"))) for name, path in self._data.items()}
            self._service.create(ArenaIdentity(organiser), new, files)
        names, styles = _TEAMS["names"], _TEAMS["styles"].get(plan.rulebook.data_schema, _TEAMS["styles"]["other"])
        self._styles = [styles[number % len(styles)] for number in range(plan.teams)]
        self._teams = []
        for number in range(plan.teams):
            again, place = divmod(number, len(names))
            name = names[place] + (f" {again + 1}" if again else "")
            self._teams.append(ArenaIdentity(arena.store.accounts.add(f"team-{number + 1}", name, new_id())))
            self._service.do(self._teams[-1], contest, actions.register, name=name)

    @property
    def state(self) -> Contest:
        """The current state of the contest."""
        state = self.arena.state(self.contest)
        if state is None:
            raise actions.not_found(self.contest)
        return state

    def play_round(self, round_: str) -> None:
        """Play a round to its end, moving the clock."""
        self.move_to(f"{round_}-protect")
        self.protect(round_)
        self.wait(lambda: not self.state.unjudged())
        self.move_to(f"{round_}-attack")
        self.wait(lambda: round_ in self.state.targets)
        self.attack(round_)
        self.wait(lambda: not self.state.unjudged())

    def move_to(self, phase: str) -> None:
        """Move the clock to a minute after a phase opens."""
        opens = next(candidate.opens for candidate in self.state.phases if candidate.id == phase)
        self.arena.store.clock.move_to(dt.datetime.fromisoformat(opens) + dt.timedelta(minutes=1))

    def wait(self, done: Callable[[], bool]) -> None:
        """Run the clock until a condition holds."""
        until = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > until:
                raise OutputError(_("the files are still not scored after {seconds} s").format(seconds=int(_PATIENCE)))
            self._judges.tick()
            time.sleep(0.1)

    def protect(self, round_: str) -> None:
        """Let every team submit a release."""
        data = original_of(self._plan.rulebook, self._data[round_])
        for number, (who, style) in enumerate(zip(self._teams, self._styles, strict=True)):
            release = protect(data, style["steps"], seed=self._seed(number, round_), audit=False)
            self._service.visit(who, self.contest).submit(submission_of(release))

    def attack(self, round_: str) -> None:
        """Let every team attack some of the others, those first that fewest have attacked."""
        book, data, guess = self._plan.rulebook, self._data[round_], self._folder / "guess.csv"
        attacked = Counter[str]()
        for number, (who, style) in enumerate(zip(self._teams, self._styles, strict=True)):
            targets = self._service.visit(who, self.contest).targets(round_)
            seed = self._seed(number, round_)
            drawn = [targets[place].id for place in np.random.default_rng(seed).permutation(len(targets))]
            for name in sorted(drawn, key=attacked.__getitem__)[:_ATTACKED]:
                attacked[name] += 1
                with self._service.visit(who, self.contest).target_file(round_, name) as target:
                    write_attack(book, data, target, style["attack"], guess, seed=seed)
                self._service.visit(who, self.contest).submit(guess.read_bytes(), target=name)

    def _seed(self, number: int, round_: str) -> int:
        drawn = np.random.SeedSequence([self._plan.seed, number, ROUNDS.index(round_)])
        return int(drawn.generate_state(1)[0])


def simulate(plan: SimulationPlan, out: Path | None = None, *, progress: Progress = silent) -> list[dict[str, Any]]:
    """Play a whole contest in a temporary arena; write its archive to ``out``; return the final boards."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="noren-simulation-")))
        settings = ArenaSettings(folder=folder / "arena", rehearsal=True, workers=2)
        settings.make_folder()
        arena = stack.enter_context(contextlib.closing(Arena(settings.folder, rehearsal=True)))
        organiser = arena.store.accounts.add("organiser", _("Organiser"), new_id(), is_organiser=True)
        phases = planned_phases(arena.now(), _DAYS, ROUNDS)
        played = Simulation(arena, organiser, plan, folder, contest="simulation", title=_("Simulation"), phases=phases)
        stack.enter_context(judging(settings))
        for place, round_ in enumerate(ROUNDS):
            progress(place / len(ROUNDS), round_)
            played.play_round(round_)
        played.move_to("results")
        played.wait(lambda: played.state.results is not None)
        if out is not None:
            export(arena, played.contest, out)
        progress(1.0)
        return [board(played.state, name, arena.now(), kind="final", everything=True).as_dict() for name in ROUNDS]


CONTEST = "demo"
_BEFORE = dt.timedelta(hours=2)
_LAST_STEP = 10.0  # seconds that the teams get to finish what they are doing when the server stops
_log = logging.getLogger(__name__)


def serve_demo(listening: socket.socket, host: str, tell: Callable[[str], None], *, open_page: bool) -> None:
    """Serve a contest with simulated teams until told to stop."""
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="noren-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = ArenaSettings(
            folder=folder / "arena", host=host, port=listening.getsockname()[1], rehearsal=True, workers=2
        )
        settings.make_folder()
        address = settings.addresses[0].rstrip("/")
        tell(say("starting", address=f"{address}/"))
        playing = threading.Thread(target=_play, args=(address, settings, folder, tell, ended), daemon=True)
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
    made = []
    for phase in _TEAMS["phases"]:
        minutes = {name: phase[name] for name in ("opens", "closes") if name in phase}
        times = {name: moment(now + dt.timedelta(minutes=after)) for name, after in minutes.items()}
        made.append(Phase(**phase | times))
    return made


def _play(
    address: str, settings: ArenaSettings, folder: Path, tell: Callable[[str], None], ended: threading.Event
) -> None:
    """Play the preliminary round, announce the contest, and play the final as it comes."""
    first, last = ROUNDS
    try:
        arena, now, password = Arena(settings.folder, rehearsal=True), dt.datetime.now(dt.UTC), new_id()
        arena.store.clock.move_to(now - _BEFORE)
        organiser = arena.store.accounts.add("organiser", _("Organiser"), password, is_organiser=True)
        plan = SimulationPlan(preset("pwscup2018", bound="sharp"), teams=6, customers=60, rows=900, seed=1)
        played = Simulation(
            arena, organiser, plan, folder, contest=CONTEST, title=_("Demo contest"), phases=phases_around(now)
        )
        played.play_round(first)
        arena.store.clock.move_to(dt.datetime.now(dt.UTC))
        tell(say("open", address=f"{address}/contests/{CONTEST}", password=password))
        played.protect(last)
        while last not in played.state.targets:  # after an hour, or when the organiser opens the phase
            if ended.wait(0.5):
                return
        played.attack(last)
    except Exception:  # the server continues without the simulated teams
        _log.exception("the teams of the demo stopped")
