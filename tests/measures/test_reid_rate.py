"""Reid-rate is the share of the original's customers that the best attack re-identifies."""

import polars as pl
import pytest

from noren.data.frames import History
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures import measures
from noren.measures.safety.reid_rate import ReidRate
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Evidence, Guess

SCHEMA = Schema.preset("pwscup2018")


def history(customers: str) -> History:
    rows = {
        "customer": list(customers),
        "date": ["2010/12/1"] * len(customers),
        "item": ["x"] * len(customers),
        "price": [1.0] * len(customers),
        "quantity": [1] * len(customers),
    }
    return History.of(rows, SCHEMA)


ORIGINAL = history("aabbcdeaa")
TRUE = pl.DataFrame({"pseudonym": list("12345"), "customer": list("abcde")})


def test_the_best_attack_counts_and_every_attack_is_told() -> None:
    release = Pseudonymize().protect(ORIGINAL, seed=1)
    true = release.secret.pseudonyms
    wrong = true.with_columns(customer=pl.col("customer").reverse())
    found = ReidRate().measure(
        Evidence(ORIGINAL, release, {"some": Guess("some", true[:3]), "wrong": Guess("wrong", wrong)})
    )
    assert found.value == 0.6
    # reversing five leaves the middle one in place
    assert found.parts == {"some": 0.6, "wrong": 0.2}
    assert found.notes == {"best": "some", "customers": 5, "chance": 0.2}


def test_customers_whose_rows_are_all_deleted_stay_in_the_share() -> None:
    frame = ORIGINAL.frame.with_columns(pl.col("customer").replace_strict(list("abcde"), list("12345")))
    gone = ORIGINAL.frame["customer"].is_in(["d", "e"])
    nothing = pl.lit(None)
    frame = frame.select(pl.when(~gone).then(pl.col(name)).otherwise(nothing).alias(name) for name in frame.columns)
    release = Release.of_aligned(ORIGINAL, History(frame, SCHEMA), Statement("hand"))
    assert release.secret.pseudonyms.rows() == [("1", "a"), ("2", "b"), ("3", "c")]
    assert ReidRate().measure(Evidence(ORIGINAL, release, {"x": Guess("x", TRUE)})).value == 3 / 5


def test_a_customer_with_several_pseudonyms_counts_once() -> None:
    true = pl.DataFrame({"pseudonym": list("123"), "customer": list("aab")})
    release = Release(ORIGINAL, Secret(true, pl.Series([0], dtype=pl.UInt32), 9), Statement("hand"))
    assert ReidRate().measure(Evidence(ORIGINAL, release, {"x": Guess("x", true)})).value == 2 / 5


def test_nobody_named_is_a_rate_of_0() -> None:
    release = Pseudonymize().protect(ORIGINAL, seed=1)
    assert ReidRate().measure(Evidence(ORIGINAL, release, {"x": Guess("x", TRUE[:0])})).value == 0.0


def test_what_it_needs() -> None:
    measure = measures["reid-rate"]
    assert measure.needs == {"original", "secret", "guess"}
    assert (measure.goal, measure.bounds) == ("lower", (0.0, 1.0))
    release = Pseudonymize().protect(ORIGINAL, seed=1)
    with pytest.raises(ParameterError, match="no guess to judge"):
        ReidRate().measure(Evidence(ORIGINAL, release))
