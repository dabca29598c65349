"""Answers worked out by hand, errors of known answers, and limits."""

import math
from typing import Any

import polars as pl
import pytest
from tests.awkward_histories import AWKWARD

from noren import api
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import UnknownNameError
from noren.tabulations.questions import Grade, mean_answer, named_questions, questions, rows_to_ask

SCHEMA = Schema.of(
    {"kind": "history", "columns": {name: {"role": name} for name in ("customer", "date", "item", "price", "quantity")}}
)
ROWS: dict[str, Any] = {
    "customer": ["a", "a", "a", "b", "b", "c"],
    "date": ["2010-12-01", "2010-12-01", "2011-01-05", "2010-12-02", "2010-12-09", "2011-01-07"],
    "item": ["x", "y", "x", "x", "y", "z"],
    "price": [1.0, 2.0, 1.0, 1.5, 2.0, 10.0],
    "quantity": [2, 1, 1, 4, 1, -1],
}


def history(**columns: Any) -> History:
    return History.of(ROWS | columns, SCHEMA)


def answer(name: str, data: History, weights: pl.Series | None = None) -> list[tuple[Any, ...]]:
    return questions()[name].answer(data, weights).frame.rows()


def test_answers_by_hand() -> None:
    data = history()
    assert answer("monthly-sales", data) == [("2010-12", 4.0, 8.0, 12.0), ("2011-01", 2.0, 0.0, -9.0)]
    assert answer("revenue", data) == [(3.0,)]
    assert answer("top-items", data) == [("x", 3.0), ("y", 2.0), ("z", 1.0)]
    assert answer("basket-size", data) == [(6 / 5,)]
    # a on two days in two months, b on two days of one
    assert answer("repeat-rate", data) == [(2 / 3, 1 / 3)]
    # c bought last, once and for the least; b first, twice, for the most
    assert set(answer("rfm", data)) == {("3", "1", "1", 1.0), ("2", "2", "2", 1.0), ("1", "2", "3", 1.0)}


def test_rules_are_pairs_more_frequent_than_by_chance() -> None:
    # x and y together in two of four baskets, each in two; z with either once
    baskets = {"customer": list("aabbcccd"), "item": list("xyxyzwxw"), "date": "2010-12-01"}
    found = answer("association-rules", history(**baskets, price=[1.0] * 8, quantity=[1] * 8))
    assert found[0] == ("x", "y", 2.0, 4 / 3)
    assert ("w", "x", 1.0, 2 / 3) not in found
    assert all(lift > 1 for *_items, _count, lift in found)


def test_a_weight_is_how_often_a_row_counts() -> None:
    weights = pl.Series([2.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    assert answer("monthly-sales", history(), weights)[0] == ("2010-12", 5.0, 10.0, 14.0)
    assert answer("top-items", history(), weights)[0] == ("x", 4.0)


def test_errors_by_hand() -> None:
    original, other = history(), history(price=[1.0, 2.0, 1.0, 1.5, 2.0, 5.0])
    compared = {
        name: question.compare(question.answer(original), question.answer(other))
        for name, question in questions().items()
    }
    assert compared["revenue"].errors == {"error": 5 / 3}
    assert compared["revenue"].grade == Grade.NOT_USABLE
    # two months are too few for a correlation; 5 of 12 + 9
    assert compared["monthly-sales"].errors == {"error": pytest.approx(5 / 21)}
    assert compared["monthly-sales"].grade == Grade.WITH_CARE
    assert compared["top-items"].errors == {"kept": 1.0}
    assert compared["top-items"].ratio == 0
    assert compared["rfm"].errors == {"error": 0.0}


def test_grades_change_at_the_limits() -> None:
    question = questions()["monthly-sales"]
    table = question.answer(history())
    for errors, grade in (
        ({"r": 0.95, "error": 0.1}, Grade.USABLE),
        ({"r": 0.949, "error": 0.0}, Grade.WITH_CARE),
        ({"r": 1.0, "error": 0.25}, Grade.WITH_CARE),
        ({"r": 0.79, "error": 0.0}, Grade.NOT_USABLE),
        ({"r": 1.0, "error": math.inf}, Grade.NOT_USABLE),
    ):
        compared = question.compare(table, table)
        object.__setattr__(compared, "errors", errors)
        assert compared.grade == grade, errors


def test_the_mean_of_answers_counts_a_missing_cell_as_nothing() -> None:
    question = questions()["top-items"]
    tables = [question.table(rows_to_ask(history(item=list(items)))) for items in ("xyxxyz", "xyxxyx")]
    mean = mean_answer(question, tables).frame
    assert mean["rows"].to_list() == [3.5, 2.0, 0.5]
    assert mean["rows_error"].to_list() == pytest.approx([1.96 * 0.5, 0.0, 1.96 * 0.5])


@pytest.mark.parametrize("kind", list(AWKWARD))
def test_every_question_that_fits_has_an_answer(kind: str) -> None:
    data = AWKWARD[kind]()
    for question in questions().values():
        if question.fits(data.schema):
            table = question.answer(data)
            compared = question.compare(table, table)
            assert compared.ratio < 1e-9 or not len(table.frame), (kind, question.name)


def test_questions_by_the_names_that_people_write() -> None:
    assert [one.name for one in named_questions("Monthly sales, top_items, RFM")] == [
        "monthly-sales",
        "top-items",
        "rfm",
    ]
    with pytest.raises(UnknownNameError, match=r"there is no question 'churn'; there are monthly-sales, revenue"):
        named_questions("churn")


def test_the_sentence_says_title_grade_and_errors() -> None:
    question = questions()["monthly-sales"]
    result = {"grade": "not usable", "errors": {"r": 0.2, "error": 0.32}}
    sums = {"original": {"rows": 9, "revenue": 2.3e6}, "release": {"rows": 9, "revenue": 1_567_000.0}}
    assert question.sentence(result | sums) == (
        "Monthly sales: not usable (r = 0.20, wrong by 32.0%; revenue 2.3 M → 1.57 M)"
    )


def test_a_sample_is_answered_in_full() -> None:
    data = api.sample(customers=50, rows=600, items=60, seed=1)
    tables = {name: question.answer(data) for name, question in questions().items()}
    assert tables["monthly-sales"].frame["rows"].sum() == 600
    assert tables["rfm"].frame["customers"].sum() == 50
    assert all(len(tables[name].frame) == 20 for name in ("top-items", "association-rules"))
