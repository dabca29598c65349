"""Numbers and money as people write them: each way reads its own, and what it writes is read back."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noren.data.formats.parse import parse_values
from noren.data.formats.render import file_text
from noren.data.guessing import Question
from noren.data.guessing.column_types import guess_type
from noren.data.schema import Column, Schema
from noren.data.value_formats import NUMBER_FORMATS, number_text, number_value
from noren.errors import SchemaError, ValueInCellError


def read(text: str, number: str) -> float | None:
    value = pl.select(number_value(pl.lit(text), number).cast(pl.Float64)).item()
    return None if value is None else float(value)


@pytest.mark.parametrize(
    ("text", "number", "value"),
    [
        ("1,280", "1,234.56", 1280.0),
        ("1,234,567.5", "1,234.56", 1234567.5),
        ("1,00,000", "1,234.56", 100000.0),  # as in India
        ("1,28", "1,234.56", None),  # a group has three digits
        ("12,80", "1,234.56", None),
        ("1.249,00", "1.234,56", 1249.0),
        ("1.249", "1.234,56", 1249.0),
        ("1249,5", "1.234,56", 1249.5),
        ("1.24", "1.234,56", None),
        ("192.168.10.200", "1.234,56", None),
        ("1 249,50", "1 234,56", 1249.5),
        ("1\u202f249,50", "1 234,56", 1249.5),  # the narrow space of French typesetting
        ("1'249.50", "1'234.56", 1249.5),
        ("¥1,280", "1,234.56", 1280.0),
        ("￥１，２８０", "1,234.56", 1280.0),
        ("１，２８０円", "1,234.56", 1280.0),
        ("$5", "1,234.56", 5.0),
        ("US$ 5.25", "1,234.56", 5.25),
        ("-$5", "1,234.56", -5.0),
        ("$-5", "1,234.56", -5.0),
        ("5-", "1,234.56", -5.0),
        ("\u22125", "1,234.56", -5.0),
        ("€ 3,50", "1.234,56", 3.5),
        ("5 EUR", "1,234.56", 5.0),
        ("(5.00)", "1,234.56", -5.0),
        ("($1,280)", "1,234.56", -1280.0),
        ("(-5)", "1,234.56", None),
        ("(5", "1,234.56", None),
        ("--5", "1,234.56", None),
        ("12.5%", "1,234.56%", 0.125),
        ("12.3 %", "1,234.56%", 0.123),
        ("12,5％", "1.234,56%", 0.125),
        ("12.5", "1,234.56%", None),  # every cell of such a column has the sign
        ("12.5%", "1,234.56", None),
        ("¥", "1,234.56", None),
        ("5²", "1,234.56", None),
        ("five", "1,234.56", None),
    ],
)
def test_each_way_reads_its_own(text: str, number: str, value: float | None) -> None:
    assert read(text, number) == value


@given(number=st.sampled_from(NUMBER_FORMATS), value=st.floats(-1e15, 1e15))
def test_what_is_written_is_read_back(number: str, value: float) -> None:
    text = pl.select(number_text(pl.lit(value), number)).item()
    assert read(text, number) == pytest.approx(value, rel=1e-14, abs=1e-300)
    if not number.endswith("%"):
        assert read(text, number) == value


@example(number="1,234.56%", cents=[5603761])  # times 100 it is 560376.1000000001
@given(number=st.sampled_from(NUMBER_FORMATS), cents=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5))
def test_what_is_written_is_guessed_to_the_same_values(number: str, cents: list[int]) -> None:
    column = Column(name="x", type="decimal", number=number)
    values = pl.DataFrame({"x": [c / 1000 for c in cents]})
    texts = values.select(file_text(pl.col("x"), column).alias("x"))
    questions: list[Question] = []
    found = guess_type(texts["x"], questions)
    back = parse_values(texts, Schema(kind="table", columns=(found,)))["x"]
    assert back.cast(pl.Float64).to_list() == values["x"].to_list()


@pytest.mark.parametrize(
    ("texts", "kind", "number", "width", "asked"),
    [
        (["1,280", "12,800,000"], "integer", "1,234.56", 1.0, 0),
        (["¥1,280", "980"], "integer", "1,234.56", 1.0, 0),  # no yen has a thousandth
        (["1,280", "980"], "integer", "1,234.56", 1.0, 1),
        (["1.249", "2.500"], "decimal", None, 0.001, 1),
        (["1.249", "0.500"], "decimal", None, 0.001, 0),  # no group starts with zero
        (["1.249,00", "3,50"], "decimal", "1.234,56", 0.01, 0),
        (["1 249,50"], "decimal", "1 234,56", 0.01, 0),
        (["1 249"], "integer", "1 234,56", 1.0, 0),  # whatever the sign of the fraction
        (["12.5%", "3%"], "decimal", "1,234.56%", 0.001, 0),
        (["$5", "€3"], "text", None, None, 0),  # two currencies do not add up
        (["$5", "5 USD"], "integer", "1,234.56", 1.0, 0),
        (["(03)", "(04)"], "text", None, None, 0),  # 007 is a name in brackets too
        (["¥007"], "text", None, None, 0),
        (["12%", "5"], "text", None, None, 0),
    ],
)
def test_the_way_is_guessed_from_the_whole_column(
    texts: list[str], kind: str, number: str | None, width: float | None, asked: int
) -> None:
    questions: list[Question] = []
    column = guess_type(pl.Series("x", texts), questions)
    assert (str(column.type), column.number, column.width) == (kind, number, width)
    assert len(questions) == asked


def test_two_ways_that_fit_are_asked_about_with_an_example() -> None:
    questions: list[Question] = []
    guess_type(pl.Series("weight", ["1.249", "12.500"]), questions)
    [asked] = questions
    assert str(asked) == "weight: is 1.249 1.249 or 1,249? Every value allows both; 1.249 was chosen"
    assert (asked.about, asked.column, asked.chosen) == ("number", "weight", "1,234.56")
    assert [(a.value, a.label) for a in asked.answers] == [("1,234.56", "1.249 = 1.249"), ("1.234,56", "1.249 = 1,249")]


def test_a_column_that_says_how_it_writes_numbers_reads_them_so() -> None:
    schema = Schema.of({"kind": "table", "columns": {"x": {"type": "decimal", "number": "1.234,56"}}})
    texts = pl.DataFrame({"x": ["1.249", "3,5", "€ 7"]})
    assert parse_values(texts, schema)["x"].to_list() == [1249.0, 3.5, 7.0]
    with pytest.raises(ValueInCellError, match=r"'2\.10': this is not a finite number; write it like 1\.234,56"):
        parse_values(pl.DataFrame({"x": ["2.10"]}), schema)


def test_a_schema_that_does_not_say_it_is_told_how_to() -> None:
    schema = Schema.of({"kind": "table", "columns": {"x": {"type": "integer"}}})
    with pytest.raises(ValueInCellError, match=r'write it like 12, or set number = "1,234\.56" for this column'):
        parse_values(pl.DataFrame({"x": ["1,280"]}), schema)


def test_only_numbers_say_how_they_are_written_and_in_a_known_way() -> None:
    with pytest.raises(SchemaError, match="number does not apply to values of type"):
        Schema.of({"kind": "table", "columns": {"x": {"number": "1,234.56"}}})
    with pytest.raises(SchemaError, match=r"there is no number '1_234'; use one of 1,234\.56, "):
        Schema.of({"kind": "table", "columns": {"x": {"type": "decimal", "number": "1_234"}}})
