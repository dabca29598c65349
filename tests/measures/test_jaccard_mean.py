"""The mean similarity of customers and their pseudonyms: hand-made releases, unions, deleted customers."""

from dataclasses import replace

import polars as pl
import pytest
from tests.data.bought_examples import bought, shown

from noren.data.frames import History
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.measures import measures
from noren.measures.safety.jaccard_mean import JaccardMean
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Evidence, Score


def judged(original: History, public: History, **more: object) -> Score:
    release = Release.of_aligned(original, public, Statement("hand"), **more)  # type: ignore[arg-type]
    return JaccardMean().measure(Evidence(original, release))


def test_names_alone_leave_everything(small: History) -> None:
    score = JaccardMean().measure(Evidence(small, Pseudonymize().protect(small, seed=1)))
    assert score.value == 1.0
    assert score.parts == {"least": 1.0, "median": 1.0, "greatest": 1.0, "sd": 0.0}
    assert score.notes == {"pairs": 30, "unpublished": 0}


def test_by_hand() -> None:
    original = bought(["a", "a", "b", "b", "c"], ["x", "y", "y", "z", "w"])
    # a shows all and one more, b one of two, c none of its own
    score = judged(
        original, bought(["1", "1", "2", "2", "3"], ["x", "y", "y", "y", "z"]), inserted=bought(["1"], ["v"])
    )
    assert score.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert (score.parts["least"], score.parts["median"], score.parts["greatest"]) == (0.0, 0.5, 2 / 3)


def test_unions_of_clusters_as_s2_adds_them() -> None:
    # clusters {a, b, c} and {d}: the unions have 4 items and 1
    original = bought(["a", "a", "b", "b", "c", "d"], ["1", "2", "2", "3", "4", "9"])
    missing = [("a", "3"), ("a", "4"), ("b", "1"), ("b", "4"), ("c", "1"), ("c", "2"), ("c", "3")]
    score = judged(original, original, inserted=bought(*map(list, zip(*missing, strict=True))))
    assert score.value == pytest.approx((2 / 4 + 2 / 4 + 1 / 4 + 1) / 4)
    assert score.value >= 2 / 4  # clusters over customers


def test_set_cells_count_in_parts() -> None:
    score = judged(bought(["a", "b"], ["x", "y"]), shown(["1", "2"], [["x", "y"], ["x", "y"]]))
    # 1/2 of the one item, 1/2 of the other: 1/2 over 3/2
    assert score.value == pytest.approx(1 / 3)


def test_a_class_shows_each_member_in_part(small: History) -> None:
    score = JaccardMean().measure(Evidence(small, GeneralizeByCount(k=3).protect(small, seed=1)))
    assert 0 < score.value < 0.5


def test_deleted_customers_do_not_count() -> None:
    original = bought(["a", "b"], ["x", "y"])
    frame = original.frame.with_columns(
        pl.when(pl.col("customer") == "a").then(pl.col(name)).alias(name) for name in original.frame.columns
    )
    score = judged(original, replace(original, frame=frame))
    assert (score.value, score.notes) == (1.0, {"pairs": 1, "unpublished": 1})
    empty = original.frame.with_columns(
        pl.lit(None, dtype=dtype).alias(n) for n, dtype in original.frame.schema.items()
    )
    nothing = judged(original, replace(original, frame=empty))
    assert (nothing.value, nothing.parts, nothing.notes) == (0.0, {}, {"pairs": 0, "unpublished": 2})


def test_suppressed_items_leave_nothing() -> None:
    original = bought(["a", "b"], ["x", "y"])
    score = judged(original, bought(["1", "2"], [None, "y"]))
    assert (score.value, score.notes["pairs"]) == (0.5, 2)


def test_each_pseudonym_of_a_customer_counts_once() -> None:
    original = bought(["a", "a"], ["x", "y"])
    score = judged(original, bought(["1", "2"], ["x", "y"]), periods=pl.Series(["2010/12", "2011/1"]))
    assert (score.value, score.notes["pairs"]) == (0.5, 2)
    # one pseudonym for two months is one pair
    same = judged(original, bought(["1", "1"], ["x", "y"]), periods=pl.Series(["2010/12", "2011/1"]))
    assert (same.value, same.notes["pairs"]) == (1.0, 1)


def test_categories_are_compared_with_categories() -> None:
    original = bought(["a", "b"], ["x", "y"])
    public = bought(["1", "2"], ["red", "red"])
    statement = Statement("hand", notes={"categories": {"red": ["x"], "blue": ["y"]}})
    release = Release.of_aligned(original, public, statement)
    assert JaccardMean().measure(Evidence(original, release)).value == 0.5


def test_the_secret_is_needed(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    nobody = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})
    published = replace(release, secret=Secret(nobody, pl.Series([], dtype=pl.UInt32), 0))
    with pytest.raises(ParameterError, match="no secret part"):
        JaccardMean().measure(Evidence(small, published))
    assert measures.create("jaccard-mean").goal == "lower"
    assert small[Role.ITEM].null_count() == 0
