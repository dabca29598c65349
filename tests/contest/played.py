"""A small cup that is really played: on a server's own folder, with files, through the services."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.contest.cups import unfinished

import noren.api as api
from noren.contest import actions
from noren.contest.archive import export
from noren.contest.arena import Arena, ScoringService, release_of, target_label
from noren.contest.judging.prepared import make_target, prepare, target_names
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.phases import moment, planned_phases
from noren.contest.service import ArenaIdentity, ContestService, NewContest
from noren.data.contest_files import write_rows
from noren.data.frames import History
from noren.data.release import submission_of

CUP = "small-cup"
_played: list[Played] = []
K = {"ann": 2, "bob": 3, "eve": 4}


def original() -> History:
    """Return the purchases of twelve customers."""
    return api.sample(customers=12, rows=200, items=20, seed=1, schema="pwscup2018")


class Played:
    """A cup of ann, bob and eve, who protect by k = 2, 3, 4; step by step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arena = Arena(folder / "server", rehearsal=True)
        self.service, self.judges = ContestService(self.arena), ScoringService(self.arena)
        add = self.arena.store.accounts.add
        self.organiser = ArenaIdentity(add("olga", "Olga", "correct horse battery", is_organiser=True))
        self.people = {name: ArenaIdentity(add(name, name.title(), f"{name} correct horse")) for name in K}
        self.data = folder / "T.csv"
        write_rows(original(), self.data)

    def created(self) -> Played:
        """Create the cup and let three teams register."""
        phases = planned_phases(moment(self.arena.store.clock.now()), (1, 1, 1, 1, 1), ["final"])
        asked = NewContest(id=CUP, title="A small cup", rulebook="pwscup2018", phases=phases)
        self.service.create(self.organiser, asked, {"final": ("T.csv", io.BytesIO(self.data.read_bytes()))})
        for name, who in self.people.items():
            self.service.do(who, CUP, actions.register, name=f"Team {name}")
        return self

    def protected(self) -> Played:
        """Let each team hand in a release; eve hands in nonsense first."""
        self._days(1)
        self.service.visit(self.people["eve"], CUP).submit(b"no release at all\n")
        for name, who in self.people.items():
            release = api.protect(original(), "generalize-by-count", k=K[name], seed=7)
            self.service.visit(who, CUP).submit(submission_of(release))
        self.judge()
        return self

    def opened(self) -> Played:
        """Let the attack phase begin."""
        self._days(1)
        self.judges.tick()
        self._make_targets()
        return self

    def finished(self) -> Played:
        """Let the results come out."""
        self._days(2)
        self.judges.tick()
        return self

    def judge(self) -> None:
        """Judge all that waits, in this process."""
        for job in unfinished(self.arena.store, CUP):
            order = self.judges.order_of(job)
            if order is None or order.file is None:
                continue
            book, files, release = order.contest.rulebook, self.arena.files, release_of(order.contest, order.file)
            with files.path(order.round.data) as data, files.path(release.digest) as submitted:
                if order.file.kind == "release":
                    result = score_release(book, data, submitted)
                else:
                    with files.path(order.file.digest) as guess:
                        lots = bytes.fromhex(order.salt), target_label(order.contest, release)
                        result = score_guess(book, data, submitted, *lots, guess)
            self.judges.judged(order, result)

    def guess(self, attacker: str, attacked: str, *, wrong: bool) -> None:
        """Hand in a guess that names everybody rightly, or everybody wrongly."""
        pairs = self._truth(attacked)
        if wrong:
            pairs = [(name, other) for (name, _own), (_name, other) in zip(pairs, [*pairs[1:], pairs[0]], strict=True)]
        target = self._target(attacked)
        content = "".join(f"{name},{customer}\n" for name, customer in pairs).encode()
        self.service.visit(self.people[attacker], CUP).submit(content, target=target)

    def _truth(self, attacked: str) -> Sequence[tuple[str, str]]:
        contest = self.service.visit(self.organiser, CUP).contest
        release = contest.submissions[contest.targets["final"][self._target(attacked)].submission]
        salt = bytes.fromhex(self.judges.salt(contest))
        with self.arena.files.path(release.digest) as submitted:
            found = prepare(contest.rulebook, self.data, submitted)
            names = target_names(found, salt, target_label(contest, release))
        called = dict(names.select("pseudonym", "target").rows())
        return [
            (called[name], who) for name, who in found.release.secret.pseudonyms.select("pseudonym", "customer").rows()
        ]

    def _target(self, team: str) -> str:
        contest = self.service.visit(self.organiser, CUP).contest
        own = contest.team_of[self.people[team].id]
        return next(one.id for one in contest.targets["final"].values() if one.team == own)

    def _make_targets(self) -> None:
        job = next(one for one in unfinished(self.arena.store, CUP) if one.kind == "targets")
        order = self.judges.order_of(job)
        assert order is not None
        contents = []
        for release in order.targets.values():
            with self.arena.files.path(release.digest) as submitted:
                lots = bytes.fromhex(order.salt), f"{CUP}/final/{release.id}"
                contents.append(make_target(order.contest.rulebook, self.data, submitted, *lots))
        self.judges.targets_made(order, contents)

    def _days(self, days: int) -> None:
        self.arena.store.clock.move_to(self.arena.store.clock.now() + dt.timedelta(days=days))


def once_played(factory: pytest.TempPathFactory) -> Played:
    """Return a cup that was played to its end, the same for all who ask.

    In its folder are backup.zip, made while one guess waited for the judge, and cup.zip, the open archive at the end.
    """
    if not _played:
        cup = Played(factory.mktemp("played")).created().protected()
        cup.opened()
        cup.guess("bob", "ann", wrong=False)
        export(cup.arena, CUP, cup.folder / "backup.zip")
        cup.judge()
        cup.guess("ann", "bob", wrong=True)
        cup.judge()
        cup.finished()
        export(cup.arena, CUP, cup.folder / "cup.zip")
        _played.append(cup)
    return _played[0]
