"""UM, MM and windows against S3's formulas as they are printed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.judging.composition import matching_curve, user_matching, windows_of

NONE = 0
TABLES = st.integers(1, 6).flatmap(
    lambda n: st.integers(1, 5).flatmap(
        lambda d: st.tuples(*(st.lists(st.integers(0, 2), min_size=n * d, max_size=n * d),) * 2).map(
            lambda two: tuple(np.array(one).reshape(n, d) for one in two)
        )
    )
)
"""F and F̂, each a few customers by a few periods, 0 being DEL."""


def printed(true: np.ndarray, guess: np.ndarray) -> float:
    """Equation (2)."""
    match, deleted = int((true == guess).sum()), int((true == NONE).sum())
    cells = true.size - deleted
    return max((match - deleted) / cells, 0.0) if cells else 0.0


@given(TABLES)
def test_the_printed_formula(tables: tuple[np.ndarray, np.ndarray]) -> None:
    true, guess = tables
    match, live = true == guess, true != NONE
    curve = matching_curve(match, live).tolist()
    assert curve == [printed(true[:, :i], guess[:, :i]) for i in range(1, true.shape[1] + 1)]
    assert user_matching(match) == sum(map(bool, (true == guess).all(axis=1))) / len(true)


@given(TABLES)
def test_right_less_false_alarms(tables: tuple[np.ndarray, np.ndarray]) -> None:
    true, guess = tables
    live = true != NONE
    right, alarms = int(((true == guess) & live).sum()), int(((guess != NONE) & ~live).sum())
    expected = max(right - alarms, 0) / int(live.sum()) if live.any() else 0.0
    assert matching_curve(true == guess, live)[-1] == expected


@given(TABLES)
def test_windows(tables: tuple[np.ndarray, np.ndarray]) -> None:
    true, guess = tables
    match, live = true == guess, true != NONE
    windows = windows_of(match.sum(axis=0) - (~live).sum(axis=0), live.sum(axis=0))
    months = true.shape[1]
    for length, window in enumerate(windows, start=1):
        rates = [printed(true[:, i : i + length], guess[:, i : i + length]) for i in range(months - length + 1)]
        assert window.value == max(rates)
        assert (window.first, window.last) == (rates.index(max(rates)), rates.index(max(rates)) + length - 1)
    # the whole span is a window, and so are the first l periods
    curve = matching_curve(match, live)
    assert windows[-1].value == curve[-1] <= curve.max() <= max(w.value for w in windows)
    # no run of consecutive periods is worse than the worst single one
    assert max(w.value for w in windows) == windows[0].value


@given(TABLES)
def test_the_truth_itself_and_silence(tables: tuple[np.ndarray, np.ndarray]) -> None:
    true, _guess = tables
    live = true != NONE
    assert user_matching(true == true) == 1.0
    assert matching_curve(true == true, live)[-1] == (1.0 if live.any() else 0.0)
    assert matching_curve(true == NONE, live)[-1] == 0.0
    assert user_matching(true == NONE) == sum(not row.any() for row in live) / len(true)


def test_nobody_and_no_period() -> None:
    nobody = np.zeros((0, 3), bool)
    assert user_matching(nobody) == 0.0
    assert matching_curve(nobody, nobody).tolist() == [0.0, 0.0, 0.0]
    never = np.zeros((2, 0), bool)
    assert matching_curve(never, never).tolist() == []
    assert windows_of(never.sum(axis=0), never.sum(axis=0)) == []
