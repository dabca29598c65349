"""The rows of the next period are found, and a past that was changed is not taken."""

from dataclasses import replace

import polars as pl
import pytest
from tests.ledger.books import LINES, MONTHS, SCHEMA, history, months, rows_of

from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.ledger.incoming import PastPeriod, content_digest, incoming, periods_to_come


def past(*names: str) -> dict[str, PastPeriod]:
    return {name: PastPeriod(len(months(name)), content_digest(months(name))) for name in names}


def test_the_first_period_that_was_not_released() -> None:
    for count, name in enumerate(MONTHS):
        found = incoming(history(), SCHEMA, "month", past(*MONTHS[:count]))
        assert found.period == name
        assert rows_of(found.rows) == rows_of(months(name))
    assert incoming(history(), SCHEMA, "month", {}).notes == ("rows of later periods, not added: 4",)
    assert incoming(months("2011/1"), SCHEMA, "month", past("2010/12")).notes == ()


def test_a_ledger_may_begin_late() -> None:
    found = incoming(history(), SCHEMA, "month", {}, wanted="2011-02")
    assert found.period == "2011/2"
    assert found.notes == ("rows of earlier, unreleased periods, ignored: 4",)


def test_quarters() -> None:
    found = incoming(history(), SCHEMA, "quarter", {}, wanted="2011/Q1")
    assert len(found.rows) == 4
    assert periods_to_come(history(), "quarter", {}) == ["2010/Q4", "2011/Q1"]


def test_periods_to_come() -> None:
    assert periods_to_come(history(), "month", {}) == MONTHS
    assert periods_to_come(history(), "month", past("2010/12")) == MONTHS[1:]
    assert periods_to_come(history(), "month", past(*MONTHS)) == []


@pytest.mark.parametrize(
    ("rows", "before", "wanted", "said"),
    [
        (MONTHS, ["2010/12"], "2010/12", "2010/12 was already released; the next period is 2011/1"),
        (MONTHS, MONTHS, None, "the file ends with 2011/2, and 2011/2 was already released; give the rows of 2011/3"),
        (MONTHS[:1], MONTHS[:2], None, "the file ends with 2010/12, and 2011/1 was already released"),
        (MONTHS, MONTHS[:1], "2011/2", "after 2010/12 comes 2011/1, not 2011/2; add 2011/1 first"),
        (MONTHS[2:], MONTHS[:1], None, "after 2010/12 comes 2011/1, not 2011/2; add 2011/1 first"),
        (MONTHS, MONTHS[1:2], "2010/12", "2010/12 comes before 2011/1, which was already released; the next period is"),
        (MONTHS, [], "2012/5", "the file has no rows of 2012/5, only of 2010/12 to 2011/2"),
        (MONTHS, [], "May", "'May' is not a period of the ledger"),
    ],
)
def test_what_is_not_the_next_period(rows: list[str], before: list[str], wanted: str | None, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        incoming(months(*rows), SCHEMA, "month", past(*before), wanted=wanted, source="T.csv")
    assert str(error.value).startswith("T.csv: ")
    assert said in str(error.value)


def test_a_gap_may_be_allowed() -> None:
    found = incoming(months(*MONTHS[2:]), SCHEMA, "month", past("2010/12"), allow_gap=True)
    assert found.period == "2011/2"


@pytest.mark.parametrize(
    ("lines", "now"),
    [
        (LINES[1:], 1),  # a row is gone
        ([*LINES, LINES[0]], 3),  # a row came twice
        ([LINES[0].replace("tea", "pot"), *LINES[1:]], 2),  # a cell is another
    ],
)
def test_a_past_that_was_changed_is_named(lines: list[str], now: int) -> None:
    with pytest.raises(ParameterError) as error:
        incoming(history(lines), SCHEMA, "month", past("2010/12"), source="T.csv")
    assert f"the rows of 2010/12 are not those released (2 rows then, {now} in this file)" in str(error.value)


def test_the_order_of_rows_and_other_columns_do_not_matter() -> None:
    turned = history(LINES[::-1])
    more = replace(turned, frame=turned.frame.with_columns(shop=pl.lit("here")))
    found = incoming(more, SCHEMA, "month", past("2010/12"))
    assert found.period == "2011/1"
    assert found.rows.frame.columns == list(SCHEMA.names)


def test_rows_of_nobody_or_of_no_day_are_refused() -> None:
    for column in ("date", "customer"):
        bare = history()
        gap = pl.when(pl.int_range(pl.len()) > 0).then(pl.col(column)).alias(column)
        bare = replace(bare, frame=bare.frame.with_columns(gap))
        with pytest.raises(ParameterError, match=f"column {column}: 1 rows have no value; remove them"):
            incoming(bare, SCHEMA, "month", {})


def test_no_rows_and_another_schema() -> None:
    with pytest.raises(ParameterError, match="the file has no rows"):
        incoming(months(), SCHEMA, "month", {})
    with pytest.raises(SchemaError, match="the data has the schema pwscup2018, the ledger pwscup2017"):
        incoming(history(), Schema.preset("pwscup2017"), "month", {})
