"""Classes of tables by hand, and against plain counting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import api
from noren.data.cells import set_dtype
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import CheckFailedError, ParameterError, SchemaError
from noren.measures.safety.classes import audit
from noren.measures.safety.table_classes import table_classes
from noren.protocols import Score

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi"},
            "city": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "pay": {"role": "other", "type": "integer"},
        },
    }
)


def table(
    ages: Sequence[str | None], cities: Sequence[str | None], illnesses: Sequence[str | None], pay: Sequence[int]
) -> Table:
    texts = {"age": ages, "city": cities, "illness": illnesses}
    columns = {name: pl.Series(values, dtype=pl.String) for name, values in texts.items()}
    return Table(pl.DataFrame({**columns, "pay": pl.Series(pay, dtype=pl.Int64)}), SCHEMA)


def judged(public: Table, **parameters: object) -> Score:
    release = Release.of_aligned(public, public, Statement("hand"))
    return api.measure(public, release, "classes", **parameters)  # type: ignore[arg-type]


HAND = table(
    ["2*", "2*", "2*", "3*", "3*", "3*", "3*", None],
    ["x", "x", "x", None, None, None, None, None],
    ["flu", "flu", "cold", "flu", "flu", "cold", "rare", "flu"],
    [1, 2, 3, 4, 5, 6, 7, 8],
)


def test_by_hand() -> None:
    """Classes of 3 and 4; the last row says nothing in any quasi column and is in none."""
    score = judged(HAND)
    assert score.value == 3
    assert (score.notes["classes"], score.notes["unlinked_rows"]) == (2, 1)
    assert score.parts["median"] == score.parts["mean"] == 3.5
    assert score.parts["prosecutor"] == score.parts["journalist"] == 1 / 3
    assert score.parts["marketer"] == 2 / 7
    assert score.parts["l_distinct"] == 2
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert score.parts["l_entropy"] == pytest.approx(math.exp(entropy))
    # commonest by those from the second on: 2 / 1 in the first class, 2 / 2 in the second
    assert score.parts["recursive_c"] == 2
    # of 7 rows flu, cold, rare have 4, 2, 1: the second class has 2, 1, 1 of 4
    differences = (2 / 4 - 4 / 7, 1 / 4 - 2 / 7, 1 / 4 - 1 / 7)
    assert score.parts["t_equal"] == pytest.approx(max(sum(map(abs, differences)) / 2, 1 / 7))
    assert score.notes["holds"] is None


def test_a_journalist_and_a_population() -> None:
    score = judged(HAND, population_share=0.1)
    assert score.parts["prosecutor"] == 1 / 3
    assert score.parts["journalist"] == pytest.approx(0.1 / 3)
    assert score.parts["marketer"] == pytest.approx(0.1 * 2 / 7)


def test_numbers_have_an_order() -> None:
    """Li et al. (2007), §4: {3, 4, 5} of nine salaries lies 0.375 from everybody; equal distance says 0.667."""
    pay = [3, 4, 5, 6, 8, 11, 7, 9, 10]
    public = table(["a"] * 3 + ["b"] * 3 + ["c"] * 3, ["x"] * 9, ["flu"] * 9, pay)
    score = judged(public, sensitive="pay")
    assert score.parts["t_ordered"] == pytest.approx(0.375)
    assert score.parts["t_equal"] == pytest.approx(2 / 3)


def test_a_single_sensitive_value_has_no_c() -> None:
    public = table(["a"] * 4, ["x"] * 4, ["flu"] * 4, [1] * 4)
    score = judged(public)
    assert (score.parts["l_distinct"], score.parts["t_equal"]) == (1, 0)
    assert "recursive_c" not in score.parts


@given(seed=st.integers(0, 10_000))
def test_against_plain_counting(seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    rows = int(random.integers(1, 60))
    ages = [("a", "b", None)[i] for i in random.integers(0, 3, rows)]
    cities = [("x", "y", None)[i] for i in random.integers(0, 3, rows)]
    ills = random.choice(["p", "q", "r"], rows).tolist()
    score = judged(table(ages, cities, ills, [0] * rows))
    members: dict[tuple[str | None, str | None], list[str]] = {}
    for age, city, ill in zip(ages, cities, ills, strict=True):
        if (age, city) != (None, None):
            members.setdefault((age, city), []).append(ill)
    if not members:
        assert (score.value, score.parts) == (rows, {})
        return
    everybody = Counter(ill for ills in members.values() for ill in ills)
    total = sum(everybody.values())

    def far(ills: list[str]) -> tuple[float, float]:
        own = Counter(ills)
        known = sorted(everybody)
        differences = [own[v] / len(ills) - everybody[v] / total for v in known]
        carried = np.cumsum(differences)
        return float(np.abs(differences).sum() / 2), float(np.abs(carried).sum() / max(len(known) - 1, 1))

    assert score.value == min(map(len, members.values()))
    assert score.parts["l_distinct"] == min(len(set(ills)) for ills in members.values())
    assert score.parts["t_equal"] == pytest.approx(max(far(ills)[0] for ills in members.values()), abs=1e-12)
    assert score.parts["t_ordered"] == pytest.approx(max(far(ills)[1] for ills in members.values()), abs=1e-12)
    lowest = min(
        math.exp(-sum(c / len(ills) * math.log(c / len(ills)) for c in Counter(ills).values()))
        for ills in members.values()
    )
    assert score.parts["l_entropy"] == pytest.approx(lowest)


def test_intervals_and_sets_are_compared_as_such() -> None:
    schema = Schema.of(
        {"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}, "city": {"role": "quasi"}}}
    )
    frame = pl.DataFrame(
        {
            "age": pl.Series([{"lo": 1, "hi": 2}] * 3, dtype=pl.Struct({"lo": pl.Int64, "hi": pl.Int64})),
            "city": pl.Series([["a", "b"], ["b", "a"], ["a"]], dtype=set_dtype(["a", "b"])),
        }
    )
    found = table_classes(Table(frame, schema))
    assert found.sizes.to_list() == [2, 1]
    assert found.class_of.to_list() == [0, 0, 1]


@pytest.mark.parametrize(
    ("claims", "holds"),
    [
        ({"k": 3}, True),
        ({"k": 4}, False),
        ({"k": 3, "l": 2}, True),
        ({"k": 3, "l": 3}, False),
        ({"k": 2, "l": 2, "diversity": "entropy"}, False),
        ({"k": 2, "l": 2, "diversity": "recursive", "c": 2.1}, True),
        ({"k": 2, "l": 2, "diversity": "recursive", "c": 2.0}, False),
        ({"k": 2, "t": 0.3}, True),
        ({"k": 2, "t": 0.1}, False),
        ({"k": 2, "t": 0.1, "distance": "ordered"}, False),
    ],
)
def test_claims_are_checked(claims: dict[str, object], holds: bool) -> None:
    release = Release.of_aligned(HAND, HAND, Statement("hand", dict(claims), notes={"classes": 2}))
    assert api.measure(HAND, release, "classes").notes["holds"] is holds
    if holds:
        audit(HAND, release)
    else:
        with pytest.raises(CheckFailedError, match="does not keep what it claims"):
            audit(HAND, release)


def test_a_k_that_is_not_about_classes_is_not_judged() -> None:
    audit(HAND, Release.of_aligned(HAND, HAND, Statement("retention", {"k": 50})))


def test_what_is_not_there_is_said() -> None:
    nothing = Schema.of({"kind": "table", "columns": {"pay": {"role": "other", "type": "integer"}}})
    with pytest.raises(SchemaError, match="no column of the release is quasi"):
        judged(Table(pl.DataFrame({"pay": [1]}), nothing))
    with pytest.raises(ParameterError, match="age is quasi in this release"):
        judged(HAND, sensitive="age")


def test_an_empty_release_tells_nothing() -> None:
    empty = Table(HAND.frame[:0], SCHEMA)
    score = judged(empty)
    assert (score.value, score.parts, score.notes["holds"]) == (0, {}, None)
