"""Small contests told by their log, for tests that need no server and no files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noren.contest.receipts import SigningKey, commitment
from noren.contest.rulebook import Rulebook, preset
from noren.contest.stability import ByCustomer
from noren.contest.standings import Board, board
from noren.contest.state import fold
from noren.contest.store.database import ContestStore, ScoringJob
from noren.work.hash_chain import EntryContent, LogEntry, next_entry

SALT = bytes(range(32))
KEY = SigningKey(bytes(range(32)))
DAYS = {
    "registration": "2026-04-01T00:00:00.000000+00:00",
    "protect": "2026-04-02T00:00:00.000000+00:00",
    "attack": "2026-04-03T00:00:00.000000+00:00",
    "evaluation": "2026-04-04T00:00:00.000000+00:00",
    "results": "2026-04-05T00:00:00.000000+00:00",
}
PEOPLE = 20


class Cup:
    """A log that grows line by line; every line is a minute after the one before it, or at the moment that is told."""

    def __init__(
        self,
        book: Rulebook | None = None,
        *,
        people: int = PEOPLE,
        frozen_from: str | None = None,
        settings: Mapping[str, Any] | None = None,
        data: str = "0" * 64,
    ) -> None:
        self.entries: list[LogEntry] = []
        self.people, self._minute, self._day = people, 0, "registration"
        self.book = book or preset("pwscup2018", otherwise="after")
        attack = {"id": "final-attack", "kind": "attack", "round": "final"}
        attack |= {"opens": DAYS["attack"], "closes": DAYS["evaluation"]}
        if frozen_from is not None:
            attack["frozen_from"] = frozen_from
        protect = {"id": "final-protect", "kind": "protect", "round": "final"}
        phases = [
            {"id": "registration", "kind": "registration", "opens": DAYS["registration"], "closes": DAYS["protect"]},
            protect | {"opens": DAYS["protect"], "closes": DAYS["attack"]},
            attack,
            {"id": "results", "kind": "results", "opens": DAYS["results"]},
        ]
        self.say(
            "created",
            "organiser:o",
            contest="cup",
            title="A cup",
            rulebook=self.book.to_toml(),
            rulebook_digest=self.book.digest,
            rounds={"final": {"data": data, "name": "T.csv", "rows": 100, "people": people}},
            phases=phases,
            settings=dict(settings or {}),
            commitment=commitment(SALT),
            public_key=KEY.public,
            scorer="1",
            versions={"noren": "0"},
            rehearsal=False,
        )

    def on(self, day: str) -> Cup:
        """Let the next lines be said on another day."""
        self._day, self._minute = day, 0
        return self

    def say(self, kind: str, actor: str, **body: Any) -> LogEntry:
        """Add a line."""
        time = DAYS[self._day][:14] + f"{self._minute:02d}:00.000000+00:00"
        self._minute += 1
        self.entries.append(
            next_entry(self.entries[-1] if self.entries else None, time, EntryContent(kind, actor, body))
        )
        return self.entries[-1]

    def team(self, team: str, name: str | None = None) -> None:
        """Let a team register."""
        body = {"team": team, "name": name or f"Team {team}", "code_digest": f"code {team}"}
        self.say("registered", f"member:{team}", **body, account=f"account {team}", member=team)

    def release(
        self,
        team: str,
        submission: str,
        values: Mapping[str, float] | None,
        *,
        digest: str = "",
        baseline: Mapping[str, Any] | None = None,
        classes: Mapping[str, int] | None = None,
        tried: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Let a team hand in a release and have it judged; without values it is invalid."""
        self._received("release", team, submission, digest, {})
        facts = {"kind": str(self.book.kind), "people": self.people, "tried": list(tried)}
        self.say(
            "release-judged",
            "judge",
            submission=submission,
            scorer="1",
            valid=values is not None,
            report={"problems": []},
            values=dict(values or {}),
            facts=facts if values is not None else None,
            baseline=dict(baseline or {}),
            classes=classes,
        )

    def targets(self, **numbers: str) -> None:
        """Publish targets: their submissions by number, written t01="s1"."""
        found = [{"target": key[1:], "submission": one, "digest": "f" * 64} for key, one in numbers.items()]
        self.say("targets-published", "clock", phase="final-attack", round="final", targets=found)

    def guess(
        self,
        team: str,
        submission: str,
        target: str,
        *,
        named: Sequence[int] = (),
        right: Sequence[int] = (),
        values: Mapping[str, float] | None = None,
        valid: bool = True,
        digest: str = "",
    ) -> None:
        """Let a team guess: customers (by place) whom it names, and those of them it names rightly."""
        self._received("guess", team, submission, digest, {"target": target})
        self.say(
            "guess-judged",
            "judge",
            submission=submission,
            scorer="1",
            valid=valid,
            report={"problems": []},
            tried=tried(named, right) if valid else None,
            values=dict(values or {}) if valid else {},
            by_customer=spread(self.people, named, right) if valid else None,
        )

    def _received(self, kind: str, team: str, submission: str, digest: str, more: Mapping[str, str]) -> None:
        phase = "final-protect" if kind == "release" else "final-attack"
        self.say(
            f"{kind}-received",
            f"team:{team}",
            submission=submission,
            team=team,
            account=f"account {team}",
            phase=phase,
            round="final",
            digest=digest or submission.ljust(64, "0"),
            bytes=10,
            **more,
        )


def tried(named: Sequence[int], right: Sequence[int]) -> dict[str, Any]:
    """Return what a guess got, its answers in the order of ``named``."""
    places = [at for at, one in enumerate(named, start=1) if one in set(right)]
    return {"attack": "guess", "named": len(named), "right": len(places), "customers": len(places), "right_at": places}


def spread(people: int, named: Sequence[int], right: Sequence[int]) -> dict[str, Any]:
    """Return what a guess says of each customer, as the log keeps it."""
    return ByCustomer(
        np.bincount(np.array(named, int), minlength=people), np.bincount(np.array(right, int), minlength=people)
    ).as_dict()


def three_teams(**given: Any) -> Cup:
    """Return a cup of 2018 by hand.

    Team a has U = 0.2 and is broken by b (8 of 8 right; r(8) = 8), b has 0.3, c has 0.3 as well, d is disqualified
    with 0.1, e's only release is invalid, f registered and did nothing.
    """
    cup = Cup(**given)
    for team in "abcdef":
        cup.team(team)
    cup.on("protect")
    cup.release("a", "ra", {"cell-error": 0.2}, classes={"1": 12, "2": 8})
    cup.release("b", "rb0", {"cell-error": 0.9})
    cup.release("b", "rb", {"cell-error": 0.3}, classes={"2": 20})
    cup.release("c", "rc", {"cell-error": 0.3}, classes={"2": 18, "1": 2})
    cup.release("d", "rd", {"cell-error": 0.1}, classes={"5": 20})
    cup.release("e", "re", None)
    cup.on("attack")
    cup.targets(t01="rb", t02="ra", t03="rc", t04="rd")
    cup.guess("b", "g1", "02", named=range(8), right=range(8), values={"effective": 1.0})
    cup.guess("c", "g2", "02", named=range(8), right=range(7), values={"effective": 0.0})
    cup.guess("a", "g3", "01", named=range(20), right=[3], values={"effective": 0.0})
    cup.guess("a", "g4", "01", valid=False)
    cup.guess("a", "g5", "01", named=range(20), right=[3, 4], values={"effective": 0.0})
    cup.say("disqualified", "organiser:o", team="d", reason="two accounts")
    return cup


def finished(cup: Cup) -> Cup:
    """Reveal the lots of a cup."""
    cup.on("results")
    cup.say("revealed", "clock", salt=SALT.hex())
    return cup


def board_at(entries: Sequence[LogEntry], round_: str, now: str, *, everything: bool = False) -> Board:
    """Return the board of a round that may be shown at a moment: live, frozen, or final."""
    contest = fold(entries)
    if contest.has_results(now):
        return board(contest, round_, now, kind="final")
    frozen = [one.frozen_from for one in contest.phases if one.round == round_ and one.frozen_from]
    since = min((one for one in frozen if one <= now and not everything), default=None)
    if since is not None:
        return board(fold(one for one in entries if one.time < since), round_, since, kind="frozen")
    return board(contest, round_, now, everything=everything)


def unfinished(store: ContestStore, contest: str) -> list[ScoringJob]:
    """Return the jobs of a contest that wait or run."""
    return [job for job in store.jobs.of(contest) if not job.state.is_over]
