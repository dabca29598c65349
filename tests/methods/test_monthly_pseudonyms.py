"""A fresh pseudonym for each customer and period, and nothing else changed."""

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.histories import histories, history

from noren.data.checks import check_release
from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms

ROWS = history(
    "ann 2010/12/1 a 1 1", "bob 2010/12/31 b 2 2", "ann 2011/1/1 a 1 1", "ann 2010/12/30 c 3 3", "bob 2011/3/31 b 2 2"
)


def pairs(release) -> list[tuple[str, str]]:
    return [(customer, period) for _name, customer, period in release.secret.pseudonyms.rows()]


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("month", [("ann", "2010/12"), ("bob", "2010/12"), ("ann", "2011/1"), ("bob", "2011/3")]),
        ("quarter", [("ann", "2010/Q4"), ("bob", "2010/Q4"), ("ann", "2011/Q1"), ("bob", "2011/Q1")]),
        ("week", [("ann", "2010/W48"), ("bob", "2010/W52"), ("ann", "2010/W52"), ("bob", "2011/W13")]),
    ],
)
def test_one_pseudonym_for_each_customer_and_period(period, expected) -> None:
    release = MonthlyPseudonyms(period=period).protect(ROWS, seed=3)
    assert pairs(release) == expected
    assert release.secret.pseudonyms["pseudonym"].n_unique() == len(expected)


def test_periods_of_the_stewards_own() -> None:
    method = methods.create("monthly-pseudonyms", period="custom", starts=["2011/1/1", "2010-12-01"])
    assert method.parameters() == {"period": "custom", "starts": ["2011-01-01", "2010-12-01"]}
    release = method.protect(ROWS, seed=3)
    assert pairs(release) == [("ann", "2010/12/1"), ("bob", "2010/12/1"), ("ann", "2011/1/1"), ("bob", "2011/1/1")]


@given(original=histories(), seed=st.integers(0, 2**64), period=st.sampled_from(["month", "week", "quarter"]))
def test_no_pseudonym_is_used_twice_and_nothing_else_changes(original: History, seed: int, period) -> None:
    release = MonthlyPseudonyms(period=period).protect(original, seed=seed)
    aligned = release.aligned()
    assert aligned.frame.drop("customer").equals(original.frame.drop("customer"))
    said = pl.DataFrame(
        {
            "pseudonym": aligned["customer"],
            "customer": original["customer"],
            "period": periods_of(original["date"], period),
        }
    )
    once = said.unique()
    assert once["pseudonym"].n_unique() == len(once) == once.select("customer", "period").n_unique()
    assert sorted(once.rows()) == sorted(release.secret.pseudonyms.rows())


def test_rows_without_a_customer_or_a_date() -> None:
    schema = Schema.preset("online-retail")
    schema = schema.model_copy(
        update={"columns": tuple(c.model_copy(update={"optional": True}) for c in schema.columns)}
    )
    rows = {
        "InvoiceNo": ["1"] * 4,
        "StockCode": ["x"] * 4,
        "Description": ["X"] * 4,
        "Quantity": [1] * 4,
        "InvoiceDate": ["2010-12-01 08:26:00", None, None, "2010-12-31 23:59:00"],
        "UnitPrice": [1.0] * 4,
        "CustomerID": ["a", "a", None, "a"],
        "Country": ["UK"] * 4,
    }
    for method in (MonthlyPseudonyms(), MonthlyPseudonyms(period="custom", starts=(dt.date(2010, 12, 1),))):
        release = method.protect(History.of(rows, schema), seed=1)
        names = release.aligned().frame["CustomerID"].to_list()
        assert names[0] == names[3] != names[1]
        assert names[2] is None
        assert release.secret.pseudonyms["period"].to_list() == [release.secret.pseudonyms["period"][0], None]


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        MonthlyPseudonyms().protect(ROWS, seed=seed).save(tmp_path / folder)
    files = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert len(files) == 5
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)
    assert (tmp_path / "one/public.parquet").read_bytes() != (tmp_path / "other/public.parquet").read_bytes()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"period": "custom"}, "period=custom needs starts, and no other period takes it"),
        ({"starts": ["2010-12-01"]}, "period=custom needs starts, and no other period takes it"),
        ({"period": "custom", "starts": ["2010-12-01"] * 2}, "2010-12-01 is named twice; name each once"),
        ({"period": "custom", "starts": ["soon"]}, r"starts = soon is not valid for monthly-pseudonyms: .*date"),
        ({"period": "custom", "starts": "soon"}, "starts = soon is not valid for"),
        ({"period": "year"}, "period = year is not valid for"),
    ],
)
def test_periods_that_contradict_themselves(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        methods.create("monthly-pseudonyms", **parameters)


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        (["2010-12-02"], "2010-12-01 lies before the first period; start it on that day or earlier"),
        (["2010-12-01", "2011-02-01", "2011-03-01"], "no row falls in the period that begins on 2011-02-01; leave"),
        (["2010-12-01", "2012-01-01"], "no row falls in the period that begins on 2012-01-01"),
    ],
)
def test_periods_that_do_not_fit_the_data(starts, said) -> None:
    with pytest.raises(ParameterError, match=said):
        methods.create("monthly-pseudonyms", period="custom", starts=starts).protect(ROWS, seed=1)


def test_dates_that_are_generalised_have_no_period() -> None:
    public = GeneralizeByCount(k=2).protect(ROWS, seed=1).public
    assert isinstance(public, History)
    with pytest.raises(SchemaError, match="column date: the original is already generalised"):
        MonthlyPseudonyms().protect(public, seed=1)


def test_the_official_checker_of_2017_accepts_it(shared: Path, tmp_path: Path) -> None:
    from noren.data.reading import read, read_release

    path = shared / "data/pwscup2017_T.csv"
    original = read(path, "pwscup2017").data
    assert isinstance(original, History)
    release = MonthlyPseudonyms().protect(original, seed=1)
    release.save(tmp_path / "release", official=True)
    report = check_release("pwscup2017", path, tmp_path / "release/secret/A.csv")
    assert report.valid, report
    again = read_release(tmp_path / "release/secret/A.csv", original)
    assert again.secret.pseudonyms.equals(release.secret.pseudonyms)
