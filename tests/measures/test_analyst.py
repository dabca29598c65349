"""The analyst's check: copies are usable, losses are graded, every kind of release is asked."""

import json

import polars as pl
import pytest

from noren import api
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures import measures
from noren.methods import methods
from noren.tabulations.questions import questions


@pytest.fixture(scope="module")
def shop() -> History:
    return api.sample(customers=80, rows=1_600, items=60, seed=2)


def test_a_copy_under_other_names_answers_everything(shop: History) -> None:
    score = api.measure(shop, api.protect(shop, "pseudonymize", seed=1), "analyst")
    assert score.value == 1
    assert list(score.parts) == list(questions())
    for result in score.notes["questions"].values():
        assert result["grade"] == "usable"
        assert result["original"] == pytest.approx(result["release"])


def test_the_value_is_the_share_of_usable_answers(shop: History) -> None:
    score = api.measure(shop, api.protect(shop, "generalize-by-count", k=5, seed=1), "analyst", draws=2)
    grades = [result["grade"] for result in score.notes["questions"].values()]
    assert score.value == grades.count("usable") / len(grades)
    assert set(grades) != {"usable"}
    assert [score.parts[name] for name in score.parts] == [
        {"usable": 1.0, "with care": 0.5, "not usable": 0.0}[grade] for grade in grades
    ]
    assert json.loads(json.dumps(score.as_dict(), allow_nan=False)) == score.as_dict()


def test_prices_twice_as_high_are_not_usable_and_said_so(shop: History) -> None:
    name = shop.schema.role("price").name
    doubled = shop.with_values(shop.frame[name] * 2)
    score = api.measure(shop, doubled.frame, "analyst")
    words = dict(zip(score.notes["questions"], measures["analyst"].in_words(score.notes), strict=True))
    assert score.notes["questions"]["revenue"]["errors"] == {"error": pytest.approx(1.0)}
    assert words["revenue"].startswith("Revenue: not usable (wrong by 100.0%; revenue ")
    assert words["monthly-sales"].startswith("Monthly sales: not usable (r = 1.00, wrong by 100.0%; revenue ")
    assert words["top-items"] == "Top items: usable (100.0% of the items kept)"


def test_a_column_that_was_not_released_answers_nothing(shop: History) -> None:
    without = shop.without([shop.schema.role("item").name])
    score = api.measure(shop, api.protect(without, "pseudonymize", seed=1), "analyst")
    assert (score.parts["top-items"], score.parts["association-rules"]) == (0.0, 0.0)
    assert score.parts["monthly-sales"] == 1.0


def test_noise_and_other_methods_are_asked_too(shop: History) -> None:
    for method in (
        methods.create("perturb"),
        methods.create("microaggregate", k=2, effort="quick"),
        methods.create("thin", share=0.2),
        methods.create("monthly-pseudonyms"),
    ):
        score = api.measure(shop, api.protect(shop, method, seed=1, audit=False), "analyst", draws=1)
        assert sum(score.parts.values()) > 0, method.name


def test_purchases_that_answer_nothing_say_what_is_missing() -> None:
    schema = Schema.of(
        {"kind": "history", "columns": {"customer": {"role": "customer"}, "quantity": {"role": "quantity"}}}
    )
    data = History(pl.DataFrame({"customer": ["a", "b"], "quantity": [1, 2]}), schema)
    with pytest.raises(ParameterError, match="answer none of the analyst's questions; give a column the role date"):
        api.measure(data, api.protect(data, "pseudonymize", seed=1), "analyst")
