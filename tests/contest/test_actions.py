"""What may be done when, by whom, how often; and what the fold of it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.kinds import PhaseKind
from noren.contest.phases import Phase, planned_phases
from noren.contest.rulebook import preset
from noren.contest.state import Contest, ContestSettings, fold
from noren.work.hash_chain import BrokenChainError, EntryContent, LogEntry, chained, next_entry, verify

# registration on the 1st of April, protecting on the 2nd, attacking on the 3rd, evaluation on the 4th, then results
PHASES = planned_phases("2026-04-01T00:00:00+00:00", (1, 1, 1, 0, 1), ["final"])
REGISTRATION, PROTECT, ATTACK, EVALUATION, RESULTS = (f"2026-04-0{day}T12:00:00.000000+00:00" for day in range(1, 6))
LAST = "2026-04-02T23:59:59.999999+00:00"
LATE = "2026-04-03T00:00:00.000000+00:00"


class Cup:
    """A contest whose acts are decided and folded here, without a database."""

    def __init__(self, **settings: Any) -> None:
        book = preset("pwscup2018", quota={"releases": 2, "guesses": 1, "files_per_day": 6})
        body = {
            "contest": "cup",
            "title": "Cup",
            "rulebook": book.to_toml(),
            "rulebook_digest": book.digest,
            "settings": ContestSettings(**settings).model_dump(mode="json"),
            "rounds": {"final": {"data": "d" * 64, "name": "T.csv", "rows": 10, "people": 5}},
            "phases": [one.as_dict() for one in PHASES],
            "commitment": "c" * 64,
            "public_key": "k",
            "scorer": "s1",
            "versions": {},
            "rehearsal": False,
        }
        self.entries = [next_entry(None, REGISTRATION, EntryContent("created", "organiser:org", body))]

    @property
    def state(self) -> Contest:
        return fold(self.entries)

    def do(self, act: Callable[..., list[EntryContent]], now: str, **given: Any) -> list[LogEntry]:
        made = chained(self.entries[-1], now, act(self.state, now, **given))
        self.entries += made
        return made

    def judged(
        self, submission: str, now: str, u: float | None = None, *, valid: bool = True, scorer: str = "s1"
    ) -> None:
        result = {"valid": valid, "report": {}, "values": {} if u is None else {"cell-error": u}}
        said = actions.judge(self.state, submission=submission, scorer=scorer, result=result)
        self.entries += chained(self.entries[-1], now, said)

    def team(self, name: str, **given: Any) -> None:
        own = {"account": f"of-{name}", "member": name, "team": name, "name": name, "code": f"code-{name}"}
        self.do(actions.register, REGISTRATION, **own, **given)

    def release(self, team: str, name: str, now: str = PROTECT) -> None:
        given = {"account": f"of-{team}", "submission": name, "digest": "f" * 64, "size": 9}
        self.do(actions.receive, now, kind="release", **given)

    def guess(self, team: str, target: str, name: str, now: str = ATTACK) -> None:
        given = {"account": f"of-{team}", "submission": name, "target": target, "digest": "e" * 64, "size": 9}
        self.do(actions.receive, now, kind="guess", **given)


@pytest.fixture
def cup() -> Cup:
    made = Cup()
    made.team("a")
    made.team("b")
    return made


def refused(status: int, said: str) -> Any:
    class Refusing:
        def __enter__(self) -> None:
            return None

        def __exit__(self, _kind: Any, error: Any, _trace: Any) -> bool:
            assert isinstance(error, RefusedError), error
            assert said in str(error)
            assert error.status == status
            return True

    return Refusing()


# --- the log ---------------------------------------------------------------------------------------------------------


def test_whoever_changes_an_entry_is_found_out(cup: Cup) -> None:
    verify(cup.entries)
    for place, entry in enumerate(cup.entries):
        other = LogEntry(**{**entry.__dict__, "body": {**entry.body, "name": "x"}})
        with pytest.raises(BrokenChainError, match=f"entry {place} .*content was changed"):
            verify([*cup.entries[:place], other, *cup.entries[place + 1 :]])
        # one who also makes its digest anew breaks the one after it
        again = next_entry(
            cup.entries[place - 1] if place else None, entry.time, EntryContent(entry.kind, "x", other.body)
        )
        if place + 1 < len(cup.entries):
            with pytest.raises(BrokenChainError, match=f"entry {place + 1} .*does not follow"):
                verify([*cup.entries[:place], again, *cup.entries[place + 1 :]])
    with pytest.raises(BrokenChainError, match=r"entry 1 .*does not follow"):
        verify([cup.entries[0], cup.entries[2]])


def test_a_clock_that_goes_back_stands_still(cup: Cup) -> None:
    cup.release("a", "r1")
    cup.judged("r1", REGISTRATION)
    assert cup.entries[-1].time == PROTECT
    verify(cup.entries)


# --- teams -----------------------------------------------------------------------------------------------------------


def test_one_person_one_team(cup: Cup) -> None:
    with refused(409, "you are already in the team a; a person can be in one team"):
        cup.do(actions.register, REGISTRATION, account="of-a", member="a", team="x", name="x", code="c")
    with refused(409, "you are already in the team a; a person can be in one team"):
        cup.do(actions.join, REGISTRATION, account="of-a", member="a", code="code-b")
    assert cup.do(actions.join, REGISTRATION, account="of-a", member="a", code="code-a") == []
    cup.do(actions.join, REGISTRATION, account="eve", member="Eve", code=" CODE-b ")
    assert cup.state.team_of == {"of-a": "a", "of-b": "b", "eve": "b"}
    with refused(422, "no team has this code"):
        cup.do(actions.join, REGISTRATION, account="mallory", member="m", code="code-c")
    cup.do(actions.new_code, REGISTRATION, account="eve", code="fresh")
    with refused(422, "no team has this code"):
        cup.do(actions.join, REGISTRATION, account="mallory", member="m", code="code-b")
    cup.do(actions.leave, REGISTRATION, account="eve")
    assert "eve" not in cup.state.team_of


def test_registration_has_its_phase_and_its_rules() -> None:
    cup = Cup(registration="invited", team_size=1)
    with refused(403, "by invitation"):
        cup.team("a")
    cup.do(actions.invite, REGISTRATION, account="org", code="welcome")
    cup.team("a", invitation="Welcome")
    with refused(403, "by invitation"):  # an invitation lets one team in
        cup.team("b", invitation="welcome")
    with refused(409, "the team a is full (members: 1); create your own team"):
        cup.do(actions.join, REGISTRATION, account="eve", member="e", code="code-a")
    with refused(409, "Registration closed at 2026-04-02 00:00:00 UTC; it is 2026-04-02 12:00:00 UTC by"):
        cup.do(actions.join, PROTECT, account="eve", member="e", code="code-a")
    for name in ("", "A" * 61, "a\x00b"):
        with refused(422, "1 to 60 characters"):
            cup.do(actions.register, REGISTRATION, account="x", member="x", team="x", name=name, code="c")
    with refused(422, "the name A is taken"):
        cup.do(actions.register, REGISTRATION, account="x", member="x", team="x", name="A", code="c")


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_release_in_time_and_one_a_microsecond_late(cup: Cup) -> None:
    with refused(409, "Final round · Protection is not open yet; come back at 2026-04-02 00:00:00 UTC"):
        cup.release("a", "r0", REGISTRATION)
    cup.release("a", "r1", LAST)
    before = list(cup.entries)
    with refused(409, "closed at 2026-04-03 00:00:00 UTC"):
        cup.release("a", "r2", LATE)
    assert cup.entries == before
    with refused(403, "you are in no team"):
        cup.release("nobody", "r3")
    with refused(413, "larger than"):
        given = {"account": "of-b", "submission": "x", "digest": "f", "size": 2**31}
        cup.do(actions.receive, PROTECT, kind="release", **given)


def test_what_is_invalid_or_our_fault_costs_no_try(cup: Cup) -> None:
    cup.release("a", "r1")
    cup.judged("r1", PROTECT, valid=False)
    cup.release("a", "r2")
    cup.entries += chained(
        cup.entries[-1], PROTECT, actions.refund(cup.state, PROTECT, submission="r2", reason="a full disk")
    )
    cup.release("a", "r3")
    cup.judged("r3", PROTECT, u=0.3)
    cup.release("a", "r4")  # the second that counts, though nobody has judged it yet
    with refused(429, "all 2 attempts are used; your last valid file counts"):
        cup.release("a", "r5")
    assert cup.state.counting_release("a", "final").id == "r3"  # type: ignore[union-attr]
    cup.judged("r4", PROTECT, valid=False)
    cup.release("a", "r5")
    cup.judged("r5", PROTECT, u=0.4)
    assert cup.state.counting_release("a", "final").id == "r5"  # type: ignore[union-attr]
    with refused(429, "all 2 attempts are used"):
        cup.release("a", "r6")


def test_files_per_day_are_bounded(cup: Cup) -> None:
    for number in range(6):
        cup.release("a", f"r{number}")
        cup.judged(f"r{number}", PROTECT, valid=False)
    with refused(429, "6 files in 24 hours"):
        cup.release("a", "r6")


def test_the_chosen_release_counts_until_the_end() -> None:
    cup = Cup(counting="chosen")
    cup.team("a")
    for name, u in (("r1", 0.2), ("r2", 0.3)):
        cup.release("a", name)
        cup.judged(name, PROTECT, u=u)
    assert cup.state.counting_release("a", "final").id == "r2"  # type: ignore[union-attr]
    cup.do(actions.choose, PROTECT, account="of-a", submission="r1")
    assert cup.state.counting_release("a", "final").id == "r1"  # type: ignore[union-attr]
    with refused(404, "'r9' was not found; check the name"):
        cup.do(actions.choose, PROTECT, account="of-a", submission="r9")
    with refused(409, "closed"):
        cup.do(actions.choose, ATTACK, account="of-a", submission="r2")


def attacked(cup: Cup) -> None:
    for team, name in (("a", "ra"), ("b", "rb")):
        cup.release(team, name)
        cup.judged(name, PROTECT, u=0.3)
    targets = [{"target": "01", "submission": "rb", "digest": "1"}, {"target": "02", "submission": "ra", "digest": "2"}]
    cup.entries += chained(cup.entries[-1], ATTACK, actions.publish_targets(cup.state, round_="final", targets=targets))


def test_guesses(cup: Cup) -> None:
    with refused(409, "the targets are being prepared"):
        cup.guess("a", "01", "g0")
    attacked(cup)
    assert actions.publish_targets(cup.state, round_="final", targets=[]) == []
    with refused(422, "target 02 is your own release"):
        cup.guess("a", "02", "g1")
    with refused(404, "there is no target '03'"):
        cup.guess("a", "03", "g1")
    with refused(409, "closed"):
        cup.guess("a", "01", "g1", EVALUATION)
    cup.guess("a", "01", "g1")
    with refused(429, "all 1 attempts are used"):
        cup.guess("a", "01", "g2")
    cup.judged("g1", ATTACK)
    assert [one.id for one in cup.state.guesses("final", target="01")] == ["g1"]


def test_a_judge_is_heard_once_and_a_new_scorer_again(cup: Cup) -> None:
    cup.release("a", "r1")
    cup.judged("r1", PROTECT, u=0.3)
    length = len(cup.entries)
    cup.judged("r1", PROTECT, u=0.2)
    assert len(cup.entries) == length
    with refused(422, "this server has the scorer s2, not s3"):
        cup.do(actions.rescore, PROTECT, account="org", scorer="s3", installed="s2", reason="a bug")
    cup.do(actions.rescore, PROTECT, account="org", scorer="s2", installed="s2", reason="a bug in E1")
    assert [one.id for one in cup.state.unjudged()] == ["r1"]
    cup.judged("r1", PROTECT, scorer="s1", u=0.9)  # one that was still at work with the old one
    assert cup.state.submissions["r1"].values == {"cell-error": 0.3}
    cup.judged("r1", PROTECT, scorer="s2", u=0.25)
    assert cup.state.submissions["r1"].values == {"cell-error": 0.25}
    assert cup.state.unjudged() == []


# --- the organiser and the clock --------------------------------------------------------------------------------------


def test_paused_means_closed(cup: Cup) -> None:
    cup.do(actions.pause, PROTECT, account="org", reason="the disk is full")
    with refused(409, "the contest is paused: the disk is full"):
        cup.release("a", "r1")
    with refused(409, "is paused"):
        cup.do(actions.pause, PROTECT, account="org", reason="again")
    cup.do(actions.resume, PROTECT, account="org")
    cup.release("a", "r1")
    with refused(422, "a name or reason needs 1 to 500 characters"):
        cup.do(actions.pause, PROTECT, account="org", reason="  ")


def moved(name: str, **values: Any) -> list[Phase]:
    return [one.model_copy(update=values) if one.id == name else one for one in PHASES]


def test_what_began_keeps_its_beginning(cup: Cup) -> None:
    later = {"closes": "2026-04-03T06:00:00.000000+00:00"}
    extended = [
        one.model_copy(update={"opens": later["closes"]}) if one.kind == PhaseKind.ATTACK else one
        for one in moved("final-protect", **later)
    ]
    cup.do(actions.reschedule, PROTECT, account="org", phases=extended, reason="an outage of two hours")
    cup.release("a", "r1", LATE)
    with refused(422, "Registration has begun, so its start cannot change"):
        wrong = [one for one in extended if one.kind != PhaseKind.REGISTRATION]
        cup.do(actions.reschedule, PROTECT, account="org", phases=wrong, reason="x")


def test_what_is_attacked_is_not_reopened(cup: Cup) -> None:
    attacked(cup)
    again = [
        one.model_copy(update={"closes": "2026-04-02T18:00:00.000000+00:00"}) if one.id == "final-protect" else one
        for one in PHASES
    ]
    with refused(422, "is over and its releases are being attacked"):
        cup.do(actions.reschedule, ATTACK, account="org", phases=again, reason="x")


def test_disqualified_and_back(cup: Cup) -> None:
    cup.do(actions.disqualify, PROTECT, account="org", team="a", reason="one person in two teams")
    with refused(409, "disqualified: one person in two teams"):
        cup.release("a", "r1")
    with refused(409, "already"):
        cup.do(actions.disqualify, PROTECT, account="org", team="a", reason="again")
    with refused(404, "'z' was not found; check the name"):
        cup.do(actions.disqualify, PROTECT, account="org", team="z", reason="x")
    cup.do(actions.reinstate, PROTECT, account="org", team="a", reason="a mistake")
    cup.release("a", "r1")


def test_lots_are_revealed_when_all_is_judged_and_not_before(cup: Cup) -> None:
    attacked(cup)
    cup.guess("a", "01", "g1")
    assert actions.reveal(cup.state, EVALUATION, salt="s") == []
    assert actions.reveal(cup.state, RESULTS, salt="s") == []  # a guess waits for its judge
    cup.judged("g1", RESULTS)
    cup.entries += chained(cup.entries[-1], RESULTS, actions.reveal(cup.state, RESULTS, salt="s"))
    assert cup.state.salt == "s"
    assert actions.reveal(cup.state, RESULTS, salt="s") == []
    assert cup.state.has_results(RESULTS)
    assert not cup.state.has_results(EVALUATION)


def test_a_frozen_board_is_the_fold_of_what_was_before(cup: Cup) -> None:
    cup.release("a", "r1", PROTECT)
    cup.judged("r1", PROTECT, u=0.5)
    frozen = "2026-04-02T18:00:00.000000+00:00"
    cup.release("a", "r2", LAST)
    cup.judged("r2", LAST, u=0.1)
    then = fold(one for one in cup.entries if one.time < frozen)
    assert then.counting_release("a", "final").id == "r1"  # type: ignore[union-attr]
    assert cup.state.counting_release("a", "final").id == "r2"  # type: ignore[union-attr]
    # folding on from a state changes that state in nothing
    assert fold(cup.entries[then.position + 1 :], then) == cup.state
    assert "r2" not in then.submissions
