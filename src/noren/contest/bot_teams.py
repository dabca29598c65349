"""Teams of bots at a server: each signs up, plays by its style through the public interface, and keeps its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.api import sample
from noren.contest.bots import Style, guess_file, release_file, spoilt
from noren.contest.client import Client, sign_up
from noren.contest.connection import AnsweredError
from noren.contest.cut_connections import CutConnections, Cuts
from noren.contest.judging.checking import check_release
from noren.contest.recomputed import ReleaseMade
from noren.contest.rulebook import Rulebook
from noren.data.reading import write
from noren.errors import OutputError
from noren.i18n import _
from noren.work.ids import new_id

__all__ = ["PATIENCE", "ROUNDS", "Bot", "Plan", "make_data"]

ROUNDS = ("preliminary", "final")
PATIENCE = 300.0
"""Seconds for which bots wait for a server that is away, or for what must come."""
_SHARE_CUT = 0.08
_NAMES = ("Aoi", "Botan", "Cha", "Daidai", "Enji", "Fuji", "Gin", "Hana", "Ichou", "Kaki", "Matsu", "Nadeshiko", "Ume")


@dataclass(frozen=True)
class Plan:
    """What is played.

    Attributes
    ----------
    faults
        Whether processes are killed and uploads cut off; ``kills`` says how often the former.
    targets
        How many targets each bot attacks in the preliminary round; in the final all.
    """

    rulebook: Rulebook
    teams: int = 13
    customers: int = 40
    rows: int = 400
    seed: int = 1
    workers: int = 2
    faults: bool = False
    kills: int = 8
    targets: int = 3
    rounds: tuple[str, ...] = ROUNDS
    contest: str = "rehearsal"


def make_data(rulebook: Rulebook, folder: Path, *, customers: int, rows: int, seed: int, name: str) -> Path:
    """Write made-up data in the format of a rulebook; return the file."""
    schema = rulebook.data_schema if "\n" not in rulebook.data_schema else ""
    history = sample(customers=customers, rows=rows, items=max(8, rows // 10), seed=seed, schema=schema or "sample")
    path = folder / f"{name}.csv"
    write(history, path)
    return path


class Bot:
    """A team of one that plays by its style, and keeps what it handed in."""

    def __init__(
        self, number: int, style: Style, plan: Plan, folder: Path, address: str, after: Callable[[], None], cuts: Cuts
    ) -> None:
        self.number, self.style, self.plan = number, style, plan
        self.name = _NAMES[number % len(_NAMES)] + ("" if number < len(_NAMES) else f" {number // len(_NAMES) + 1}")
        self.folder = folder / f"bot-{number}"
        self.folder.mkdir()
        self._after, self._cuts = after, cuts
        self.team = ""
        self.releases: dict[str, list[ReleaseMade]] = {}
        self.guesses: dict[str, list[tuple[str, str, bytes]]] = {}
        self.receipts: dict[str, dict[str, Any]] = {}
        self.refusals = 0
        self.client = self._client(address)

    def _client(self, address: str) -> Client:
        # bots come from as many addresses as teams do, and the server believes this machine's word on it
        headers = {"X-Forwarded-For": f"10.1.{self.number // 250}.{self.number % 250 + 1}"}
        account = f"{self.plan.contest}-bot-{self.number}"
        login = sign_up(address, account, self.name, new_id(), headers=headers, patience=PATIENCE)
        seed = self.plan.seed * 1009 + self.number
        cut = CutConnections(self._cuts, seed, _SHARE_CUT) if self.plan.faults else None
        return Client(address, login.token, headers=headers, patience=PATIENCE, transport=cut)

    def register(self, contest: str) -> None:
        """Found the team."""
        team, _code = self.client.register(contest, self.name)
        self.team = str(team["id"])

    def protect(self, contest: str, round_: str) -> None:
        """Hand in a release; a bot that makes mistakes hands in a wrong one first."""
        data, book = self._data(contest, round_), self.plan.rulebook
        content = release_file(book, data, self.style, self._seed(round_, "release"))
        files = [spoilt(content, self.style.spoils), content] if self.style.spoils else [content]
        for number, one in enumerate(files):
            path = self.folder / f"{round_}-{number}.csv"
            path.write_bytes(one)
            told = check_release(book, data, path)
            if told.valid != (one is content):
                raise OutputError(
                    _("the bot {name} made a file that is not what it should be: {problem}").format(
                        name=self.name, problem=told.problems[0].sentence() if told.problems else _("it is valid")
                    )
                )
            got = self.client.submit_release(contest, path)
            self.releases.setdefault(round_, []).append(ReleaseMade(got.submission, one))
            self._kept(got.submission, got.receipt)

    def attack(self, contest: str, round_: str, most: int | None) -> None:
        """Attack targets: all, or some that the seed chooses."""
        data, book = self._data(contest, round_), self.plan.rulebook
        listed = [one.target for one in self.client.targets(contest, round_)]
        draws = np.random.default_rng(self._seed(round_, "targets"))
        chosen = sorted(draws.permutation(len(listed))[:most].tolist())
        for turn, place in enumerate(chosen):
            target = listed[place]
            public, out = self.folder / f"{round_}-{target}.csv", self.folder / f"{round_}-{target}-guess.csv"
            self.client.target(contest, round_, target, public)
            attack = self.style.attacks[turn % len(self.style.attacks)]
            guess_file(book, data, public, attack, self._seed(round_, target), out)
            got = self.client.submit_guess(contest, target, out)
            self.guesses.setdefault(round_, []).append((got.submission, target, out.read_bytes()))
            self._kept(got.submission, got.receipt)

    def come_late(self, contest: str, round_: str) -> None:
        """Hand in a release when protecting is over, which must be refused."""
        try:
            self.client.submit_release(contest, self._data(contest, round_))
        except AnsweredError as refused:
            self.refusals += refused.status == 409

    def _data(self, contest: str, round_: str) -> Path:
        path = self.folder / f"{round_}-T.csv"
        if not path.exists():
            self.client.data(contest, round_, path)
        return path

    def _seed(self, *words: str) -> int:
        drawn = np.random.SeedSequence([self.plan.seed, self.number, *(int.from_bytes(w.encode()) for w in words)])
        return int(drawn.generate_state(1)[0])

    def _kept(self, submission: str, receipt: dict[str, Any]) -> None:
        self.receipts[submission] = receipt
        self._after()
