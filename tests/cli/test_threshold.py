"""How many hits are too many."""


def test_threshold(noren) -> None:
    assert noren("threshold", "--n", 999, "--json").json == {"n": 999, "r": 612}
    assert noren("threshold", "--n", 999, "--bound", "sharp", "--json").json == {"n": 999, "r": 392}
    assert noren("threshold", "--n", 24).out == "18 of 24 must be right\n"
    assert noren("threshold", "--n", 6).out == "even 6 right guesses are not effective\n"
    wrong = noren("threshold", "--n", 24, "--p", "two")
    assert (wrong.code, wrong.out) == (2, "")
