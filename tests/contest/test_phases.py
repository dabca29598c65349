"""When what is open."""

from __future__ import annotations

from itertools import pairwise

import pytest

from noren.contest.kinds import PhaseKind
from noren.contest.phases import Phase, check_phases, moment, open_phases, planned_phases
from noren.errors import NorenError

START = "2026-04-01T00:00:00+00:00"


def test_a_phase_ends_to_the_microsecond() -> None:
    phase = Phase(id="a", kind=PhaseKind.PROTECT, round="final", opens="2026-04-01T09:00", closes="2026-04-02T09:00")
    assert phase.opens == "2026-04-01T09:00:00.000000+00:00"
    assert not phase.is_open("2026-04-01T08:59:59.999999+00:00")
    assert phase.is_open("2026-04-01T09:00:00.000000+00:00")
    assert phase.is_open("2026-04-02T08:59:59.999999+00:00")
    assert not phase.is_open("2026-04-02T09:00:00.000000+00:00")
    assert phase.is_over("2026-04-02T09:00:00.000000+00:00")


def test_moments_are_of_a_zone() -> None:
    assert moment("2026-07-01 09:00", "Asia/Tokyo") == "2026-07-01T00:00:00.000000+00:00"
    assert moment("2026-07-01T09:00+02:00", "Asia/Tokyo") == "2026-07-01T07:00:00.000000+00:00"
    for wrong in ("soon", "2026-13-01", "9999-12-31T23:59-14:00"):
        with pytest.raises(NorenError):
            moment(wrong)
    with pytest.raises(NorenError, match="no time zone"):
        moment("2026-07-01", "Asia/Edo")


def test_the_usual_plan_can_be_played() -> None:
    phases = planned_phases(START, (7, 7, 7, 2, 1))
    check_phases(phases, ["preliminary", "final"])
    assert [one.id for one in phases] == [
        "registration", "preliminary-protect", "preliminary-attack", "break-1", "final-protect", "final-attack",
        "evaluation", "results",
    ]  # fmt: skip
    # phases follow each other without a gap, and one is open at every moment
    for one, other in pairwise(phases):
        assert one.closes == other.opens
    assert [one.id for one in open_phases(phases, moment("2026-04-10"))] == ["preliminary-protect"]
    assert [one.id for one in open_phases(phases, moment("2027-04-10"))] == ["results"]


def test_gaps_are_real() -> None:
    protect = Phase(id="p", kind=PhaseKind.PROTECT, round="final", opens="2026-04-01", closes="2026-04-02")
    attack = Phase(id="a", kind=PhaseKind.ATTACK, round="final", opens="2026-04-05", closes="2026-04-06")
    check_phases([protect, attack], ["final"])
    assert open_phases([protect, attack], moment("2026-04-03")) == []


def changed(place: int, **values: object) -> list[Phase]:
    phases = planned_phases(START, (1, 1, 1, 1, 1), ["final"])
    phases[place] = phases[place].model_copy(update=values)
    return phases


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        (changed(1, closes=moment("2026-03-01")), "closes before it opens"),
        (changed(1, id="registration"), "registration is taken or invalid"),
        (changed(1, id="Final Round"), "Final Round is taken or invalid"),
        (changed(1, round=None), "final-protect does not fit its round"),
        (changed(0, round="final"), "registration does not fit its round"),
        (changed(1, round="semifinal"), "need a round with data"),
        (changed(2, opens=moment("2026-04-02")), "before all releases of its round are submitted"),
        (changed(4, opens=moment("2026-04-03")), "results opens before all attacks are over"),
        (changed(2, frozen_from=moment("2026-03-03")), "frozen before it opens"),
        ([planned_phases(START, (1, 1, 1, 1, 1), ["final"])[0]], "nothing could be submitted"),
    ],
)
def test_phases_by_which_no_contest_can_be_played(phases: list[Phase], said: str) -> None:
    with pytest.raises(NorenError, match=said):
        check_phases(phases, ["final"])
