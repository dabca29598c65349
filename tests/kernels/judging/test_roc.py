"""The ROC curve by ranks: hand-worked ties, brute force, and bounds that hold as often as they say."""

import numpy as np
import pytest

from noren.kernels.judging.shares import (
    auc,
    auc_interval,
    beyond_control,
    beyond_control_low,
    hits_above,
    mean_high,
    mean_low,
    share_high,
    share_low,
    tpr_at,
    tpr_high,
    tpr_low,
)


def drawn(seed: int, members: int, controls: int, shift: float = 0.0, steps: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    ours, theirs = generator.normal(shift, 1, members), generator.normal(0, 1, controls)
    return (np.round(ours * steps), np.round(theirs * steps)) if steps else (ours, theirs)


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_the_share_of_pairs_that_stand_right_ties_half(seed: int) -> None:
    ours, theirs = drawn(seed, 17, 23, 0.5, steps=1)
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in ours for b in theirs]
    assert auc(ours, theirs) == pytest.approx(sum(pairs) / len(pairs))


@pytest.mark.parametrize("fpr", [0.01, 0.1, 0.35, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_an_alarm_draws_lots_inside_a_tie(seed: int, fpr: float) -> None:
    ours, theirs = drawn(seed, 20, 30, 0.3, steps=1)
    left, found = fpr * 30, 0.0
    for level in sorted({*ours, *theirs}, reverse=True):  # raise alarms from the top until the false ones are used up
        false, true = (theirs == level).sum(), (ours == level).sum()
        share = 1.0 if false <= left + 1e-9 else left / false
        found, left = found + share * true, left - share * false
        if share < 1:
            break
    assert tpr_at(ours, theirs, fpr) == pytest.approx(found / 20)


def test_a_score_that_says_nothing_has_the_rate_of_false_alarms() -> None:
    same, others = np.zeros(40), np.zeros(70)
    assert auc(same, others) == 0.5
    assert [tpr_at(same, others, fpr) for fpr in (0.01, 0.1, 0.5)] == pytest.approx([0.01, 0.1, 0.5])
    assert hits_above(same, others, 0.1) == (0,) * 8


def test_the_interval_of_an_area_has_its_end_one_standard_error_times_z_away() -> None:
    low, high = auc_interval(0.8, 60, 40)
    for end in (low, high):
        inner = 1 + 49 * (1 - end) / (2 - end) + 49 * end / (1 + end)  # (60 + 40) / 2 - 1 = 49
        assert abs(0.8 - end) == pytest.approx(1.959964 * (end * (1 - end) * inner / 2400) ** 0.5, rel=1e-5)
    assert auc_interval(0.0, 60, 40)[0] == 0.0
    assert auc_interval(0.0, 60, 40)[1] == pytest.approx(1 - auc_interval(1.0, 60, 40)[0])


@pytest.mark.parametrize("steps", [0, 2])
def test_bounds_hold_as_often_as_they_say(steps: int) -> None:
    truth_members, truth_controls = drawn(99, 200_000, 200_000, 1.0, steps)
    true = tpr_at(truth_members, truth_controls, 0.1)
    below = above = areas = 0
    area = auc(truth_members, truth_controls)
    for seed in range(300):
        ours, theirs = drawn(seed, 150, 150, 1.0, steps)
        below += tpr_low(hits_above(ours, theirs, 0.1), 150, 150, 0.1, 0.1) > true
        above += tpr_high(ours, theirs, 0.1, 0.1) < true
        low, high = auc_interval(auc(ours, theirs), 150, 150)
        areas += not low <= area <= high
    assert below <= 30 + 15
    assert above <= 30 + 15
    assert areas <= 15 + 12


def test_with_few_controls_nothing_is_sure() -> None:
    ours, theirs = np.ones(100), np.zeros(40)
    assert tpr_at(ours, theirs, 0.01) == 1.0
    assert tpr_low(hits_above(ours, theirs, 0.01), 100, 40, 0.01, 0.025) == 0.0


def test_the_risk_beyond_control_by_hand() -> None:
    assert beyond_control(0.6, 0.2) == pytest.approx(0.5)
    assert beyond_control(0.2, 0.2) == 0.0
    least = beyond_control_low(60, 100, 20, 100, 0.05)
    m, c = share_low(60, 100, 0.025), share_high(20, 100, 0.025)
    assert least == pytest.approx((m - c) / (1 - c))
    assert least < 0.5


def test_the_mean_of_draws_has_the_interval_of_student() -> None:
    # t of 4 degrees of freedom at 0.975 is 2.776; the standard deviation of 1 … 5 is 1.5811
    assert mean_low([1, 2, 3, 4, 5], 0.025) == pytest.approx(3 - 2.776 * 1.5811 / 5**0.5, abs=1e-3)
    assert mean_high([1, 2, 3, 4, 5], 0.025) == pytest.approx(3 + 2.776 * 1.5811 / 5**0.5, abs=1e-3)
