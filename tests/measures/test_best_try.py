"""The number of answers that tells most against a release."""

from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.judging.threshold import thresholds
from noren.measures.safety.effective import best_try


@given(st.lists(st.booleans(), max_size=40))
def test_effective_means_that_some_number_of_answers_is(rights: list[bool]) -> None:
    needed = thresholds(len(rights), "sharp")
    hits = [sum(rights[: n + 1]) for n in range(len(rights))]
    named, right, line = best_try(hits, needed)
    assert (right >= line) == any(hit >= needed[n + 1] for n, hit in enumerate(hits))
    assert named == 0 or (right, line) == (hits[named - 1], needed[named])
