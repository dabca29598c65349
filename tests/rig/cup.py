"""Whole cups played by bots through the public interface while processes are killed and uploads cut off.

A server and workers run as processes of their own; the organiser moves the clock when everything is judged. At the end
every receipt must be in the log, every file judged once, the archive must replay, and the final tables must be those
that the bots' own files give without log and server.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from tests.rig.bots import PATIENCE, Bot, Plan, styles_for
from tests.rig.connections import Cuts
from tests.rig.processes import Hall
from tests.rig.recomputed import GuessMade, Line, final_table

from noren.contest.app import ArenaSettings
from noren.contest.client import Client, create_login
from noren.contest.dependencies import first_code
from noren.contest.phases import moment, planned_phases
from noren.contest.receipts import misfits, receipt_from
from noren.contest.receipts import verify as verify_receipt
from noren.contest.replay import replay
from noren.contest.simulation import make_data
from noren.contest.state import Contest, fold
from noren.work.hash_chain import LogEntry
from noren.work.queue import new_id

_DAYS = (7.0, 7.0, 7.0, 2.0, 1.0)


@dataclass
class Played:
    """What came of a cup: what was injected, what was acknowledged, and all that does not agree."""

    faults: dict[str, int] = field(default_factory=dict)
    entries: int = 0
    acknowledged: int = 0
    judged: int = 0
    invalid: int = 0
    refunded: int = 0
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)
    replay: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, dict[str, Line]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class _Chaos:
    """Kills processes while the teams hand things in: when, and which, the seed says."""

    def __init__(self, hall: Hall, plan: Plan, expected: int) -> None:
        self._hall, self._lock, self._count = hall, threading.Lock(), 0
        draws = np.random.default_rng([plan.seed, 1])
        kills = plan.kills if plan.faults else 0
        places = draws.choice(np.arange(1, max(expected, kills + 1)), kills, replace=False)
        which = [hall.workers[number % len(hall.workers)] if number % 5 > 1 else "server" for number in range(kills)]
        self._when = dict(zip(places.tolist(), which, strict=True))

    def after_upload(self) -> None:
        """Count an upload, and kill what is to be killed after it."""
        with self._lock:
            self._count += 1
            name = self._when.get(self._count)
        if name is not None:
            self._hall.kill(name)


class Rehearsal:
    """A server with its workers, on which cups are played one after another.

    Parameters
    ----------
    database
        The address of a PostgreSQL; SQLite where left out.
    """

    def __init__(self, *, workers: int = 2, database: str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="noren-cup-")
        self.folder = Path(self._folder.name)
        self.hall = Hall(self.folder, database=database, workers=workers)
        self.cuts = Cuts()
        self._organiser: Client | None = None

    def __enter__(self) -> Self:
        try:
            self.hall.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        if self._organiser is not None:
            self._organiser.close()
        self.hall.close()
        self._folder.cleanup()

    def play(self, plan: Plan, out: Path) -> Played:
        """Play a whole cup and write its archive; return what came of it."""
        before = self._faults()
        folder = self.folder / plan.contest
        folder.mkdir()
        cup = _Cup(plan, folder, out, self.hall, self.cuts, self.organiser())
        try:
            cup.play()
            played = cup.verify()
        except Exception:
            for log in self.folder.glob("*.log"):  # for whoever looks into the failure
                shutil.copyfile(log, out.with_name(f"{out.stem}-{log.name}"))
            raise
        finally:
            for bot in cup.bots:
                bot.client.close()
        played.faults = {name: count - before[name] for name, count in self._faults().items()}
        return played

    def _faults(self) -> dict[str, int]:
        killed, cuts = self.hall.killed, self.cuts
        return {
            "servers killed": killed["server"],
            "workers killed": killed["worker"],
            "uploads cut off": cuts.half_way,
            "answers unheard": cuts.unheard,
        }

    def organiser(self) -> Client:
        """Return the organiser of this server; it signs up once."""
        if self._organiser is None:
            code, address = first_code(ArenaSettings(folder=self.folder / "arena")), self.hall.address
            login = create_login(address, "organiser", new_id(), new="Organiser", code=code, patience=PATIENCE)
            self._organiser = Client(address, login.token, patience=PATIENCE)
        return self._organiser


def set_clock(organiser: Client, to: str) -> None:
    """Move the clock of a rehearsal."""
    organiser.send("POST", "clock", content={"to": to}, again=True)


class _Cup:
    """One cup, from registration to results."""

    def __init__(self, plan: Plan, folder: Path, archive: Path, hall: Hall, cuts: Cuts, organiser: Client) -> None:
        self.plan, self.folder, self.archive = plan, folder, archive
        self.hall, self.cuts, self.organiser, self.contest = hall, cuts, organiser, plan.contest
        self.data = {
            name: make_data(
                plan.rulebook, folder, customers=plan.customers, rows=plan.rows, seed=plan.seed + place, name=name
            )
            for place, name in enumerate(plan.rounds)
        }
        self.bots: list[Bot] = []

    # --- playing -------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play registration, every round, evaluation and results."""
        plan = self.plan
        now = self.organiser.session().now
        phases = planned_phases(now, _DAYS, plan.rounds)
        contest = {
            "id": self.contest,
            "title": "A rehearsal",
            "rulebook": plan.rulebook.to_toml(),
            "settings": {"seconds": 120},
            "phases": [one.as_dict() for one in phases],
        }
        self.organiser.create(contest, self.data)
        uploads = plan.teams * (2 + min(plan.targets, plan.teams - 1) + plan.teams - 1)
        chaos = _Chaos(self.hall, plan, int(0.9 * uploads))
        for number, style in enumerate(styles_for(plan.rulebook, plan.teams)):
            bot = Bot(number, style, plan, self.folder, self.hall.address, chaos.after_upload, self.cuts)
            bot.register(self.contest)
            self.bots.append(bot)
        for place, round_ in enumerate(plan.rounds):
            is_last = place == len(plan.rounds) - 1
            self._move_to(f"{round_}-protect")
            self._everybody(functools.partial(Bot.protect, contest=self.contest, round_=round_))
            self._until_judged()
            self._move_to(f"{round_}-attack")
            self._until(functools.partial(self._has_targets, round_))
            most = None if is_last else plan.targets
            self._everybody(functools.partial(Bot.attack, contest=self.contest, round_=round_, most=most))
            self._everybody(functools.partial(Bot.come_late, contest=self.contest, round_=round_))
            self._until_judged()
        self._move_to("results")
        self._until(lambda: bool(self.organiser.contest(self.contest)["results"]))

    def _everybody(self, do: Callable[[Bot], None]) -> None:
        with ThreadPoolExecutor(min(4, len(self.bots))) as threads:
            for done in [threads.submit(do, bot) for bot in self.bots]:
                done.result()

    def _move_to(self, phase: str) -> None:
        phases = {one["id"]: one for one in self.organiser.contest(self.contest)["phases"]}
        at = dt.datetime.fromisoformat(phases[phase]["opens"]) + dt.timedelta(minutes=1)
        set_clock(self.organiser, moment(at))

    def _has_targets(self, round_: str) -> bool:
        rounds = {one["id"]: one for one in self.organiser.contest(self.contest)["rounds"]}
        return bool(rounds[round_]["targets"])

    def _until_judged(self) -> None:
        self._until(lambda: all(one.is_over for one in self.organiser.submissions(self.contest)))

    def _until(self, so: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not so():
            assert time.monotonic() < until, f"the cup is stuck: {self.organiser.get('contests', self.contest, 'jobs')}"
            time.sleep(0.2)

    # --- looking at what came of it ------------------------------------------------------------------------------

    def verify(self) -> Played:
        """Hold log, receipts, archive and tables against what the bots know."""
        lines = self.organiser.text("contests", self.contest, "log").splitlines()
        entries = [LogEntry(**json.loads(line)) for line in lines]
        played = Played()
        receipts = {name: (bot.team, found) for bot in self.bots for name, found in bot.receipts.items()}
        contest = look_for_losses(played, receipts, entries)
        spoiling = sum(1 for bot in self.bots if bot.style.spoils) * len(self.plan.rounds)
        if played.invalid != spoiling:
            played.problems.append(f"{played.invalid} files were invalid, and {spoiling} were meant to be")
        self.organiser.download("contests", self.contest, "archive", out=self.archive)
        played.replay = replay(self.archive, workers=self.plan.workers).as_dict()
        for round_ in self.plan.rounds:
            played.tables[round_] = self._table(contest, round_)
            board = self.organiser.get("contests", self.contest, "rounds", round_, "leaderboard")
            played.problems += disagreements(board, played.tables[round_])
        played.names = {bot.team: bot.name for bot in self.bots}
        if sum(bot.refusals for bot in self.bots) != len(self.bots) * len(self.plan.rounds):
            played.problems.append("a release was taken after the deadline")
        return played

    def _table(self, contest: Contest, round_: str) -> dict[str, Line]:
        """Return the final table from the files that the bots kept."""
        against = {name: target.submission for name, target in contest.targets[round_].items()}
        guesses = [
            GuessMade(against[target], content)
            for bot in self.bots
            for _submission, target, content in bot.guesses.get(round_, ())
        ]
        releases = {bot.team: bot.releases.get(round_, []) for bot in self.bots}
        salt = bytes.fromhex(contest.salt or "")
        return final_table(self.plan.rulebook, self.data[round_], releases, guesses, salt, f"{self.contest}/{round_}")


def look_for_losses(
    played: Played, receipts: Mapping[str, tuple[str, Mapping[str, Any]]], entries: Sequence[LogEntry]
) -> Contest:
    """Hold receipts, each with its team, against a log; write down what is lost, judged twice or nobody's."""
    contest = fold(entries)
    judged = Counter(
        (entry.body["submission"], entry.body["scorer"]) for entry in entries if entry.kind.endswith("-judged")
    )
    for name, (team, said) in receipts.items():
        known = contest.submissions.get(name)
        if known is None or known.team != team or (known.judged is None and known.refunded is None):
            played.lost.append(name)
        receipt = receipt_from(said)
        verify_receipt(receipt, contest.public_key)
        played.problems += misfits(receipt, contest.id, entries)
    played.entries, played.acknowledged, played.judged = len(entries), len(receipts), sum(judged.values())
    played.twice = [name for (name, _scorer), count in judged.items() if count > 1]
    played.unasked = [name for name in contest.submissions if name not in receipts]
    played.invalid = sum(1 for one in contest.submissions.values() if one.valid is False)
    played.refunded = sum(1 for one in contest.submissions.values() if one.refunded is not None)
    return contest


def disagreements(board: Mapping[str, Any], table: Mapping[str, Line]) -> list[str]:
    """Return where a published board is not the table that raw files give."""
    found = {one["team"]: one for one in board["standings"]}
    wrong = []
    for team, line in table.items():
        one = found.get(team)
        told = None if one is None else (one["rank"], one["score"], tuple(sorted(one["broken"])))
        if told != (line.rank, line.score, line.broken):
            found_in_files = (line.rank, line.score, line.broken)
            wrong.append(f"{board['round']}: {team} is {told} on the board, and the files give {found_in_files}")
    return wrong
