"""Workers: every file is judged once, faults of ours are tried again and then given back, and nothing is lost."""

import datetime as dt
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from tests.contest.judging_cases import Case, made

from noren.contest import actions, background
from noren.contest.arena import JUDGE, Arena, ScoringService
from noren.contest.background import ArenaWorker
from noren.contest.judging.prepared import make_target
from noren.contest.judging.scorer import (
    CLUSTER_LOST,
    GONE,
    OTHER_SCORER,
    STOPPED,
    TOO_LONG,
    UNREADABLE,
    Fault,
    ScorerProcess,
    do,
)
from noren.contest.kinds import cluster_of
from noren.contest.phases import Phase
from noren.contest.service import ArenaIdentity, ContestService, NewContest
from noren.contest.state import Contest, Submission
from noren.contest.store.database import LOST
from noren.errors import ParameterError
from noren.work.queue import Claim, State


class Here(ScorerProcess):
    """Scores in this process, or answers as it is told to."""

    def __init__(self, _log: Path) -> None:
        self.answers: list[Any] = []
        self.orders: list[dict[str, Any]] = []

    def do(self, order: Any, **limits: Any) -> Any:
        self.orders.append(dict(order))
        answer = self.answers.pop(0) if self.answers else do(order)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        pass


class Cup:
    """A contest on a server of its own: one team protects, another attacks."""

    def __init__(self, arena: Arena, case: Case) -> None:
        self.arena, self.case, self.service = arena, case, ContestService(arena)
        self.ann, self.bob = self._who("ann"), self._who("bob")

    def _who(self, login: str) -> ArenaIdentity:
        return ArenaIdentity(self.arena.store.accounts.by_login(login))

    @classmethod
    def opened(cls, arena: Arena, case: Case) -> "Cup":
        """Create the contest, and let two teams register."""
        for name in ("organiser", "ann", "bob"):
            arena.store.accounts.add(name, name.title(), "a long password", is_organiser=name == "organiser")
        cup = cls(arena, case)
        arena.store.clock.move_to(_moment(1))
        phases = [
            Phase(id="registration", kind="registration", opens=_day(1), closes=_day(2)),
            Phase(id="protect", kind="protect", round="final", opens=_day(1), closes=_day(2)),
            Phase(id="attack", kind="attack", round="final", opens=_day(2), closes=_day(3)),
            Phase(id="results", kind="results", opens=_day(3)),
        ]
        asked = NewContest(id="cup", title="Cup", rulebook=case.rulebook.to_toml(), phases=phases)
        with case.original.open("rb") as data:
            cup.service.create(cup._who("organiser"), asked, {"final": ("T.csv", data)})
        for who in (cup.ann, cup.bob):
            cup.service.do(who, "cup", actions.register, name=f"team {who.id}")
        return cup

    @property
    def state(self) -> Contest:
        found = self.arena.state("cup")
        assert found is not None
        return found

    def release(self, who: ArenaIdentity, content: bytes | None = None) -> Submission:
        given = self.case.submitted.read_bytes() if content is None else content
        return self.service.visit(who, "cup").submit(given)[0]

    def job(self, submission: str) -> Any:
        return self.arena.store.jobs.of("cup", submission)[-1]

    def run(self, work: ArenaWorker) -> list[State | None]:
        """Do all that waits, in this thread; return how each job ended."""
        ended = []
        while (claim := work.runner.queue.claim([JUDGE], work.runner.holder)) is not None:
            ended.append(work.runner.do(claim))
        return ended


def _day(day: int) -> str:
    return f"2026-04-{day:02d}T00:00:00+00:00"


def _moment(day: int) -> Any:
    return dt.datetime(2026, 4, day, 1, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_AGAIN", (0.0, 0.0))
    monkeypatch.setattr(background, "_PATIENCE", 0.0)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a contest in it: passwords and tables take their time."""
    folder = tmp_path_factory.mktemp("opened")
    arena = Arena(folder / "arena", rehearsal=True)
    Cup.opened(arena, made("pwscup2018", folder / "case"))
    arena.close()
    return folder / "arena"


@pytest.fixture
def cup(opened: Path, tmp_path: Path) -> Iterator[Cup]:
    shutil.copytree(opened, tmp_path / "arena")
    arena = Arena(tmp_path / "arena", rehearsal=True)
    yield Cup(arena, made("pwscup2018", tmp_path / "case"))
    arena.close()


@pytest.fixture
def work(cup: Cup) -> Iterator[ArenaWorker]:
    one = ArenaWorker(cup.arena, processes=1, scorer=Here)
    yield one
    one.close()


def bench(work: ArenaWorker) -> Here:
    (one,) = work._all
    assert isinstance(one, Here)
    return one


def test_releases_targets_and_guesses_are_judged(cup: Cup, work: ArenaWorker) -> None:
    good, bad = cup.release(cup.ann), cup.release(cup.bob, b"nonsense\n")
    other = cup.release(cup.bob)
    assert cup.run(work) == [State.DONE] * 3
    assert [cup.state.submissions[one.id].valid for one in (good, bad, other)] == [True, False, True]
    assert cup.state.flags[0]["share"] == 1.0, "two teams handed in the same file"

    cup.arena.store.clock.move_to(_moment(2))
    ScoringService(cup.arena).tick()
    assert cup.run(work) == [State.DONE]
    (target,) = [one for one in cup.state.targets["final"].values() if one.submission == good.id]
    salt = cup.arena.store.secret("cup", "salt")
    assert salt is not None
    content = make_target(cup.case.rulebook, cup.case.original, cup.case.submitted, salt, f"cup/final/{good.id}")
    assert cup.arena.files.read(target.digest) == content

    customer = str(cup.case.data.frame["customer"][0])
    guess = f"{content.decode().split(',')[0]},{customer}\n".encode()
    made, _receipt = cup.service.visit(cup.bob, "cup").submit(guess, target=target.id)
    assert cup.run(work) == [State.DONE]
    judged = cup.state.submissions[made.id].judged
    assert judged is not None
    assert judged["valid"]
    assert judged["tried"]["named"] == 1


def test_a_fault_is_tried_again_and_says_why(cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    bench(work).answers = [Fault(GONE), Fault(UNREADABLE)]
    claim = work.runner.queue.claim([JUDGE], work.runner.holder)
    assert claim is not None
    assert work.runner.do(claim) == State.WAITING
    assert (cup.job(one.id).error, cup.job(one.id).attempts) == (GONE, 1)
    assert cup.run(work) == [State.WAITING, State.DONE]
    assert cup.job(one.id).error == ""
    assert cup.state.submissions[one.id].valid


@pytest.mark.parametrize(("reason", "tries"), [(GONE, 3), (TOO_LONG, 2)])
def test_what_fails_for_good_is_given_back(reason: str, tries: int, cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    bench(work).answers = [Fault(reason)] * 10
    assert cup.run(work) == [State.WAITING] * (tries - 1) + [State.FAILED]
    known = cup.state.submissions[one.id]
    assert (known.refunded, known.judged) == (reason, None)
    assert cup.state.used(known.team, "protect") == 0


@pytest.mark.parametrize("reason", [STOPPED, OTHER_SCORER])
def test_what_is_no_fault_of_the_file_costs_no_try(reason: str, cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    bench(work).answers = [Fault(reason)] * 5
    assert cup.run(work) == [State.WAITING] * 5 + [State.DONE]
    assert cup.state.submissions[one.id].valid


def test_a_contest_of_another_scorer_is_left_to_others(
    cup: Cup, work: ArenaWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = cup.release(cup.ann)
    monkeypatch.setattr(background, "SCORER", "another")
    claim = work.runner.queue.claim([JUDGE], work.runner.holder)
    assert claim is not None
    assert work.runner.do(claim) == State.WAITING
    assert (cup.job(one.id).error, cup.job(one.id).attempts) == (OTHER_SCORER, 0)
    assert bench(work).orders == []


def test_a_job_that_is_another_s_by_now_is_judged_once(cup: Cup, work: ArenaWorker) -> None:
    """A worker that was cut off and believed dead comes back after another has judged the file."""
    one = cup.release(cup.ann)
    queue = work.runner.queue
    slow = queue.claim([JUDGE], "slow")
    assert slow is not None
    queue.end_leases()
    assert cup.run(work) == [State.DONE]
    late = ArenaWorker(cup.arena, processes=1, scorer=Here)
    assert late.do(slow).state == State.DONE
    assert Counter(entry.kind for entry in cup.arena.store.entries("cup"))["release-judged"] == 1
    assert bench(late).orders == [], "nothing is left to do"
    assert cup.state.submissions[one.id].valid


def test_a_database_that_goes_away_costs_nothing(cup: Cup, work: ArenaWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    one = cup.release(cup.ann)
    away = [OperationalError("", {}, Exception("away"))]
    judged = work.service.judged

    def stumbling(*given: Any) -> None:
        if away:
            raise away.pop()
        judged(*given)

    monkeypatch.setattr(work.service, "judged", stumbling)
    assert cup.run(work) == [State.WAITING, State.DONE]
    assert cup.job(one.id).attempts == 1
    assert cup.state.submissions[one.id].valid


def test_a_file_that_is_damaged_on_our_disk_is_our_fault(cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    (sealed,) = [path for path in cup.arena.folder.rglob(f"{one.digest}*") if path.is_file()]
    sealed.write_bytes(b"rotten")
    assert cup.run(work) == [State.WAITING, State.WAITING, State.FAILED]
    assert cup.state.submissions[one.id].refunded == UNREADABLE


def test_jobs_whose_workers_were_killed_too_often_are_taken_up(cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    queue = work.runner.queue
    for _time in range(3):
        assert queue.claim([JUDGE], "killed") is not None
        queue.end_leases()
    assert queue.claim([JUDGE], "killed") is None
    assert cup.job(one.id).state == State.INTERRUPTED
    work.requeue_interrupted()
    assert (cup.job(one.id).state, cup.job(one.id).error) == (State.WAITING, LOST)
    assert cup.run(work) == [State.DONE]
    assert cup.state.submissions[one.id].valid


def test_closing_hands_back_what_is_under_way(cup: Cup) -> None:
    one = cup.release(cup.ann)
    begun = threading.Event()

    class Endless(Here):
        def do(self, order: Any, **limits: Any) -> Any:
            begun.set()
            limits["stop"].wait()
            return Fault(STOPPED)

    work = ArenaWorker(cup.arena, processes=1, scorer=Endless)
    work.start()
    assert begun.wait(30)
    work.close()
    assert (cup.job(one.id).state, cup.job(one.id).attempts) == (State.WAITING, 0)


def test_workers_share_a_database_and_judge_each_file_once(address: str, tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path / "case")
    arena = Arena(tmp_path / "arena", database=address, rehearsal=True)
    cup = Cup.opened(arena, case)
    sent = [cup.release(who) for _time in range(3) for who in (cup.ann, cup.bob)]
    workers = [ArenaWorker(arena, processes=1, scorer=Here) for _worker in range(2)]
    for one in workers:
        one.start()
    waiting = threading.Event()
    while cup.state.unjudged():
        waiting.wait(0.05)
    for one in workers:
        one.close()
    kinds = Counter(e.body["submission"] for e in arena.store.entries("cup") if e.kind == "release-judged")
    assert kinds == {one.id: 1 for one in sent}
    with arena.store.engine.connect() as database:
        states = database.execute(sa.text("select distinct state from jobs")).scalars().all()
    assert states == ["done"]
    arena.close()


def test_a_job_that_was_removed_is_nobodys(work: ArenaWorker) -> None:
    assert work.do(Claim("nothing", JUDGE, "release", 1)).state == State.CANCELLED


@pytest.fixture
def with_cluster(cup: Cup) -> Iterator[ArenaWorker]:
    """A worker that judges releases of at least one row on a cluster."""
    one = ArenaWorker(cup.arena, processes=1, engine="local[2]", engine_from=1, scorer=Here)
    yield one
    one.close()


def on_cluster(work: ArenaWorker) -> Here:
    assert isinstance(work._cluster, Here)
    return work._cluster


def test_large_releases_are_handed_to_the_cluster_and_others_are_not(cup: Cup, with_cluster: ArenaWorker) -> None:
    alone = do({"kind": "release", **files_of(cup)})
    on_cluster(with_cluster).answers = [alone]
    one = cup.release(cup.ann)
    assert cup.run(with_cluster) == [State.DONE]
    (order,) = on_cluster(with_cluster).orders
    assert (order["engine"], Path(order["folder"])) == ("local[2]", cup.arena.folder.resolve() / "cluster")
    assert bench(with_cluster).orders == []
    assert cup.state.submissions[one.id].valid

    small = ArenaWorker(cup.arena, processes=1, engine="local[2]", scorer=Here)
    cup.release(cup.bob)
    assert cup.run(small) == [State.DONE]
    assert [on_cluster(small).orders, len(bench(small).orders)] == [[], 1], "a million rows are far away"
    small.close()


@pytest.mark.parametrize("reason", [CLUSTER_LOST, TOO_LONG, GONE])
def test_a_lost_cluster_costs_nothing_and_the_organiser_hears_of_it(
    reason: str, cup: Cup, with_cluster: ArenaWorker
) -> None:
    on_cluster(with_cluster).answers = [Fault(reason)]
    one, other = cup.release(cup.ann), cup.release(cup.bob)
    assert cup.run(with_cluster) == [State.DONE] * 2
    assert [cup.state.submissions[sent.id].valid for sent in (one, other)] == [True, True]
    assert (cup.job(one.id).notice, cup.job(one.id).error, cup.job(other.id).notice) == (CLUSTER_LOST, "", "")
    assert len(on_cluster(with_cluster).orders) == 1, "a cluster that was lost is left alone for a while"
    judged = {e.body["submission"]: e.body for e in cup.arena.store.entries("cup") if e.kind == "release-judged"}
    assert judged.keys() == {one.id, other.id}, "each is judged once, and whole"
    alone = do({"kind": "release", **files_of(cup)})
    assert {name: judged[one.id][name] for name in alone} == alone


def test_a_job_keeps_the_stages_of_its_cluster(cup: Cup, work: ArenaWorker) -> None:
    one = cup.release(cup.ann)
    claim = work.runner.queue.claim([JUDGE], work.runner.holder)
    assert claim is not None
    steps = [{"step": {"en": "s1"}, "stages": 2, "done": 3, "tasks": 4}]
    cup.arena.store.jobs.update(claim.id, "another", stages=[])
    cup.arena.store.jobs.update(claim.id, work.runner.holder, stages=steps)
    assert work.runner.do(claim) == State.DONE
    assert cup.arena.store.jobs.stages("cup", one.id) == steps
    assert cup.arena.store.jobs.stages("cup", "another") == []


def test_contests_are_not_judged_by_a_graphics_processor() -> None:
    with pytest.raises(ParameterError, match="not scored on gpu"):
        cluster_of("gpu")


def files_of(cup: Cup) -> dict[str, str]:
    case = cup.case
    return {"rulebook": case.rulebook.to_toml(), "original": str(case.original), "submitted": str(case.submitted)}
