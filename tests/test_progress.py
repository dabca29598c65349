"""Progress: parts of a whole, and how somebody says enough."""

import pytest

from noren.progress import Enough, Stoppable, part_of, silent

Told = list[tuple[float, str, float | None]]


def test_a_part_hands_on_the_best_and_names_itself() -> None:
    told: Told = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        told.append((done, words, best))

    part_of(progress, 0.5, 0.75)(1.0)
    part_of(progress, 0.0, 0.5, "thin")(0.5)
    part_of(part_of(progress, 0.5, 1.0, "chain"), 0.0, 0.5, "thin")(0.5, "rows", 0.25)
    assert told == [(0.75, "", None), (0.25, "thin", None), (0.625, "chain: thin: rows", 0.25)]
    part_of(silent, 0.0, 1.0)(0.5, "words", 0.1)


def test_enough_is_said_once_and_only_where_there_is_a_best() -> None:
    told: Told = []
    progress = Stoppable(lambda done, words="", best=None: told.append((done, words, best)))
    progress(0.1, "searching", 0.5)
    assert (progress.best, progress.stop_requested, progress.raised) == (0.5, False, False)
    progress.stop()
    progress(0.2, "writing")
    assert (progress.best, progress.stop_requested, progress.raised) == (None, True, False)
    with pytest.raises(Enough):
        progress(0.3, "searching", 0.4)
    progress(0.4, "searching", 0.3)
    assert progress.raised
    assert [done for done, _words, _best in told] == [0.1, 0.2, 0.3, 0.4]
