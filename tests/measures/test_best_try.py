"""The number of answers that tells most against a release."""

from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.judging.threshold import thresholds
from noren.measures.safety.effective import best_try


@given(st.lists(st.booleans(), max_size=40))
def test_effective_means_that_some_number_of_answers_is(rights: list[bool]) -> None:
    needed = thresholds(len(rights), "sharp")
    hits = [sum(rights[: n + 1]) for n in range(len(rights))]
    best = best_try(hits, needed)
    assert (best.right >= best.needed) == any(right >= needed[n + 1] for n, right in enumerate(hits))
    assert best.named == 0 or (best.right, best.needed) == (hits[best.named - 1], needed[best.named])
