"""E1, E2 and E3 are the judges' of PWS Cup 2017 on every vector."""

from pathlib import Path
from typing import Any

import pytest
from tests import pwscup2017
from tests.pwscup2017 import VECTORS, history

import noren
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.errors import ParameterError
from noren.measures import measures


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_values(name: str, shared: Path) -> None:
    expected = {part: value["value"] for part, value in pwscup2017.expected(shared, name)["E"].items()}
    original, release = pwscup2017.rows(shared, name, "T"), pwscup2017.release(shared, name)
    e1, e2, e3 = (noren.measure(original, release, measure) for measure in ("e1", "e2", "e3"))
    assert e1.value == pytest.approx(expected["E1"], abs=1e-9)
    assert e2.value == pytest.approx(expected["E2"], abs=1e-9)
    assert e3.parts["items"] == pytest.approx(expected["E3a"], abs=1e-9)
    assert e3.parts["similarity"] == pytest.approx(expected["E3b"], abs=1e-9)
    assert e3.value == max(e3.parts.values())
    assert e1.parts == e2.parts == {}


def judged(original: History, aligned: History, measure: str, **parameters: Any) -> float:
    release = Release.of_aligned(original, aligned, Statement("hand"))
    return noren.measure(original, release, measure, **parameters).value


def test_a_copy_loses_nothing_and_an_empty_release_everything() -> None:
    original = history("ann 2/1 a 1 12", "ann 2/1 b 1 24", "bob 2/1 a 1 3", "bob 2/1 b 1 4")
    nothing = history("-", "-", "-", "-")
    for measure in ("e1", "e2"):
        assert judged(original, original, measure) == 0.0
        assert judged(original, nothing, measure) == 1.0
    assert judged(original, original, "e3", top=2) == 0.0
    assert judged(original, nothing, "e3", top=2) == 1.0


def test_every_pseudonym_is_a_user() -> None:
    original = history("ann 1/1 a 1 5", "ann 2/1 b 1 5", "bob 1/1 a 1 5", "bob 1/2 b 1 5")
    # ann's two months come apart: the cosine of (5, 5) and (5, 5) falls from 1 to that of (5, 0, 5) and (0, 5, 5)
    split = history("p 1/1 a 1 5", "q 2/1 b 1 5", "r 1/1 a 1 5", "r 1/2 b 1 5")
    assert judged(original, split, "e2") == pytest.approx(0.5)
    # five pieces are no dozen, and where nothing is alike nothing can be lost
    with pytest.raises(ParameterError, match="no two items of the original are similar"):
        judged(original, split, "e1")
    # the top two stay, their likeness does not; the judges divide by the top's size also where a shop has fewer items
    assert judged(original, split, "e3", top=2) == pytest.approx(0.5)


def test_ties_for_the_last_place_go_to_the_larger_text() -> None:
    original = history("ann 1/1 a 1 1", "bob 1/1 b 1 1", "bob 1/1 c 1 1")
    release = Release.of_aligned(original, history("p 1/1 a 1 1", "q 1/1 b 1 1", "q 1/1 bb 1 1"), Statement("hand"))
    parts = noren.measure(original, release, "e3", top=2).parts
    # the original's top two are c and b; the release's bb, which the original does not have, and b
    assert parts["items"] == 1 / 2


def test_rows_of_nobody_count_as_bought() -> None:
    original = history("ann 1/1 a 1 5", "bob 1/1 b 1 5")
    more = history("p 1/1 b 1 5")
    release = Release.of_aligned(original, history("p 1/1 a 1 5", "q 1/1 b 1 5"), Statement("hand"), inserted=more)
    assert noren.measure(original, release, "e3", top=2).parts["items"] == 0.0
    # pairs that are new in the release do not count, and the original has none
    with pytest.raises(ParameterError, match="no two items of the original are similar"):
        noren.measure(original, release, "e2")


def test_generalised_releases_are_refused(small: History) -> None:
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    for name in ("e1", "e2", "e3", "e4", "e5"):
        assert "exact" in measures[name].needs
        with pytest.raises(ParameterError, match=f"{name} needs exact values, but the release has sets"):
            noren.measure(small, release, name)
