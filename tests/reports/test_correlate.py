"""Correlation of usefulness with U over releases."""

import pytest

from noren.api import measure, protect
from noren.data.frames import History
from noren.data.release import Release
from noren.errors import ParameterError
from noren.kernels.judging.statistics import rejection_limit
from noren.measures import measures
from noren.reports.correlate import Correlations, correlate, usefulness_measures


@pytest.fixture(scope="module")
def releases(small: History) -> list[tuple[str, Release]]:
    made = [(f"k={k}", protect(small, "generalize-by-count", k=k, seed=1)) for k in (2, 4, 8)]
    return [("copy", protect(small, "pseudonymize", seed=1)), *made]


def test_the_measures_of_usefulness() -> None:
    assert usefulness_measures() == ["frequent-itemsets", "item-similarity", "rfm", "statistics"]


def test_every_value_is_the_measures_own(small: History, releases: list[tuple[str, Release]]) -> None:
    judge = measures.create("item-similarity", draws=2, seed=3)
    found = correlate(small, releases, [judge, measures.create("cell-error")])
    assert found.releases == ("copy", "k=2", "k=4", "k=8")
    assert set(found.values) == {"item-similarity"} | {f"item-similarity.{p}" for p in ("wholesale", "retail", "top")}
    score = measure(small, releases[2][1], judge)
    assert found.values["item-similarity"][2] == score.value
    assert found.values["item-similarity.top"][2] == score.parts["top"]
    assert found.error[2] == measure(small, releases[2][1], "cell-error").value
    assert found.limit == rejection_limit(4)
    r = found.correlation("item-similarity")
    assert r is not None
    assert r > 0.8


def test_what_never_changes_has_no_correlation() -> None:
    found = Correlations(("a", "b", "c"), (0.1, 0.2, 0.3), {"m": (1, 1, 1), "n": (3, 2, 1), "o": (1, 2, 1)}, 0.05, 0.9)
    assert [found.correlation(n) for n in "mno"] == [None, pytest.approx(-1), pytest.approx(0)]
    assert [found.beyond_chance(n) for n in "mno"] == [None, True, False]
    said = found.as_dict()
    assert said["correlations"]["m"] == {"r": None, "beyond_chance": None}
    assert said["releases"][1] == {"release": "b", "cell-error": 0.2, "values": {"m": 1, "n": 2, "o": 2}}


def test_bad_wishes(small: History, releases: list[tuple[str, Release]]) -> None:
    with pytest.raises(ParameterError, match="compare at least 3"):
        correlate(small, releases[:2], [measures.create("rfm")])
    with pytest.raises(ParameterError, match="cell-error is U itself; name another measure"):
        correlate(small, releases, [measures.create("cell-error")])
