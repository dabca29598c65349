"""An arena in this process: people who talk to it over HTTP, and a judge who works when he is told to."""

from __future__ import annotations

import asyncio
import concurrent.futures
import datetime as dt
import json
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import argon2
import pytest
from fastapi.testclient import TestClient
from tests.contest.cups import unfinished
from tests.contest.judging_cases import Case, made

from noren.contest.app import ArenaSettings, make_app
from noren.contest.arena import ScoringOrder, ScoringService, release_of, target_label
from noren.contest.judging.prepared import make_target
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.phases import planned_phases
from noren.work.queue import State

PASSWORD = "correct horse 1"
DAY = 86_400.0


def awaited(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: a browser test before this one may have left its loop in ours."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class Person(TestClient):
    """A browser of somebody: cookie and token ready. All that it is ever sent stands in ``heard``."""

    def __init__(self, served: Served) -> None:
        super().__init__(served.app, base_url=served.app.state.settings.addresses[0], raise_server_exceptions=False)
        self.heard: list[bytes] = []
        self.account = self.token = ""
        self.know()

    def know(self) -> None:
        """Take the token of the session that is now."""
        self.headers["X-CSRF-Token"] = self.get("/api/v1/session").json()["csrf"]

    def request(self, *given: Any, **named: Any) -> Any:
        answer = super().request(*given, **named)
        self.heard.append(answer.content + str(answer.headers).encode())
        return answer

    def ask(self, method: str, path: str, **given: Any) -> Any:
        """Ask for what must be answered with a yes; return the answer's data."""
        answer = self.request(method, f"/api/v1{path}", **given)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.headers.get("content-type") == "application/json" else answer.content


class Served:
    """One arena on a folder, or on a database of its own."""

    def __init__(self, folder: Path, database: str | None = None, **settings: Any) -> None:
        self.folder, self._patched = folder, pytest.MonkeyPatch()
        # as everybody's passwords are kept, but quickly
        quick = partial(argon2.PasswordHasher, time_cost=1, memory_cost=64, parallelism=1)
        self._patched.setattr(argon2, "PasswordHasher", quick)
        self.app = make_app(
            ArenaSettings(folder / "arena", database=database, **{"rehearsal": True, "works": False} | settings)
        )
        self.arena = self.app.state.service.arena
        self.judges = ScoringService(self.arena)

    def close(self) -> None:
        self.arena.close()
        self._patched.undo()

    def person(self, login: str, *, code: str = "") -> Person:
        """Let somebody sign up."""
        person = Person(self)
        asked = {"login": login, "name": login.title(), "password": PASSWORD, "code": code}
        person.account = person.ask("POST", "/accounts", json=asked)["id"]
        person.know()
        return person

    def organiser(self) -> Person:
        """Let the first organiser sign up."""
        return self.person("organiser", code=self.app.state.authentication.first_code)

    def case(self, seed: int = 3) -> Case:
        """Return data of the cup of 2018 and a release of it."""
        return made("pwscup2018", self.folder / f"case-{seed}", seed=seed)

    def phases(self, **changes: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return phases of a day each: registration, protecting, attacking, evaluation; then results."""
        planned = planned_phases(self.arena.now(), (1, 1, 1, 0, 1), ["final"])
        return [one.model_copy(update=changes.get(one.id.replace("-", "_"), {})).as_dict() for one in planned]

    def create(self, organiser: Person, name: str = "cup", **said: Any) -> dict[str, Any]:
        """Create a contest of the rules of 2018."""
        new = {"id": name, "title": "A cup", "rulebook": "pwscup2018", "phases": self.phases()} | said
        files = {"contest": (None, json.dumps(new)), "final": ("T.csv", self.case().original.read_bytes())}
        created: dict[str, Any] = organiser.ask("POST", "/contests", files=files)
        return created

    # --- time and judging ------------------------------------------------------------------------------------------

    def go_to(self, contest: str, phase: str) -> None:
        """Move the clock into a phase, and do what is due by then."""
        state = self.arena.state(contest)
        assert state is not None
        self.move_to(next(one.opens for one in state.phases if one.id == phase))
        self.judge()

    def move_to(self, moment: str) -> None:
        """Move the clock to just after a moment."""
        self.arena.store.clock.move_to(dt.datetime.fromisoformat(moment) + dt.timedelta(milliseconds=1))

    def judge(self) -> None:
        """Do all that is due and all that waits."""
        self.judges.tick()
        store = self.arena.store
        while waiting := [job for one in store.contests() for job in unfinished(store, one) if job.queue == "judge"]:
            for job in waiting:
                order = self.judges.order_of(job)
                if order is not None:
                    self._do(order)
                self.arena.store.jobs.queue.end(job.id, State.DONE)
            self.judges.tick()

    def _do(self, order: ScoringOrder) -> None:
        book, files, salt = order.contest.rulebook, self.arena.files, bytes.fromhex(order.salt)
        with files.path(order.round.data, ".csv") as original:
            if order.file is None:
                self.judges.targets_made(order, self._targets(order, original))
                return
            release = release_of(order.contest, order.file)
            with files.path(release.digest, ".csv") as submitted:
                if order.file.kind == "release":
                    self.judges.judged(order, score_release(book, original, submitted))
                    return
                label = target_label(order.contest, release)
                with files.path(order.file.digest, ".csv") as guess:
                    self.judges.judged(order, score_guess(book, original, submitted, salt, label, guess))

    def _targets(self, order: ScoringOrder, original: Path) -> Sequence[bytes]:
        book, salt, made_ = order.contest.rulebook, bytes.fromhex(order.salt), []
        for release in order.targets.values():
            with self.arena.files.path(release.digest, ".csv") as submitted:
                label = f"{order.contest.id}/{order.round.id}/{release.id}"
                made_.append(make_target(book, original, submitted, salt, label))
        return made_
