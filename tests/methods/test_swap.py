"""Rows change hands; what was sold stays, and the secret part knows who is who."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.histories import histories, history, known, owners, sold

from noren.data.frames import History, Records
from noren.data.periods import periods_of
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.swap import Swap


def bought(history: Records) -> Counter:
    """Count the rows of each customer in each month."""
    return Counter(zip(history["customer"], periods_of(history["date"]), strict=True))


@given(original=histories(), seed=st.integers(0, 2**64), share=st.floats(0, 1))
def test_what_was_sold_stays_and_so_do_row_counts(original: History, seed: int, share: float) -> None:
    release = Swap(share=share).protect(original, seed=seed)
    assert sorted(known(release).values()) == sorted(original.customers)
    assert sold(release.public.frame) == sold(original.frame)
    assert release.aligned().frame.drop("customer").equals(original.frame.drop("customer"))
    assert bought(release.by_name()) == bought(original)
    moved = sum(now != was for now, was in zip(owners(release), original["customer"], strict=True))
    assert moved <= share * len(original)
    assert moved == round(release.statement.notes["changed_hands"] * len(original))
    assert moved % 2 == 0


def test_the_map_is_not_read_off_the_rows() -> None:
    rows = history("ann 2010/12/1 a 1 1", "bob 2010/12/2 a 2 2")
    release = Swap(share=1).protect(rows, seed=1)
    assert owners(release) == ["bob", "ann"]
    names = {customer: pseudonym for pseudonym, customer in release.secret.pseudonyms.rows()}
    assert release.aligned().frame["customer"].to_list() == [names["bob"], names["ann"]]


def test_same_item_first_then_like_price() -> None:
    rows = history(
        "ann 2010/12/1 a 1 1", "ann 2010/12/2 b 9 1", "ann 2010/12/3 c 5 1",
        "bob 2010/12/4 d 8 1", "bob 2010/12/5 a 3 1", "bob 2010/12/6 e 2 1", "bob 2010/12/7 f 7 1",
    )  # fmt: skip
    by_name = Swap(share=1).protect(rows, seed=1).by_name().frame
    # a with a; then the cheapest rows left with one another: c (5) with e (2), b (9) with f (7); d (8) has none
    assert sorted(by_name.filter(customer="ann")["item"]) == ["a", "e", "f"]
    assert sorted(by_name.filter(customer="bob")["item"]) == ["a", "b", "c", "d"]
    assert by_name.filter(customer="ann", item="a")["price"].to_list() == [3]


def test_only_inside_a_period() -> None:
    rows = history("ann 2010/12/31 a 1 1", "bob 2011/1/1 a 2 2")
    apart = Swap(share=1).protect(rows, seed=1)
    assert owners(apart) == ["ann", "bob"]
    assert apart.statement.notes["changed_hands"] == 0
    assert owners(Swap(share=1, period="week").protect(rows, seed=1)) == ["bob", "ann"]


def test_partners_have_like_items() -> None:
    lines = [f"c{who:02} 2010/12/{1 + at} {who % 12}-{at} 1 1" for who in range(24) for at in range(5)]
    release = Swap(share=1).protect(history(*lines), seed=3)
    # twins c00 and c12, c01 and c13, … hold the same five items; nobody else shares one
    assert owners(release) == [f"c{(who + 12) % 24:02}" for who in range(24) for _row in range(5)]


def test_what_belongs_to_the_customer_goes_along() -> None:
    schema = Schema.preset("online-retail")
    rows = {
        "InvoiceNo": ["1", "2", "3"],
        "StockCode": ["x"] * 3,
        "Description": ["X"] * 3,
        "Quantity": [1, 2, 3],
        "InvoiceDate": ["2010-12-01 08:26:00"] * 3,
        "UnitPrice": [1.0] * 3,
        "CustomerID": ["a", "b", None],
        "Country": ["UK", "FR", "DE"],
    }
    release = Swap(share=1).protect(History.of(rows, schema), seed=1)
    swapped = release.aligned().frame
    # the third row is nobody's, and is left out
    assert swapped["Quantity"].to_list() == [1, 2, None]
    assert swapped["InvoiceNo"].to_list() == ["2", "1", None]
    assert swapped["Country"].to_list() == ["FR", "UK", None]
    assert release.deleted_rows == release.statement.notes["rows_without_customer"] == 1
    assert release.secret.pseudonyms["customer"].to_list() == ["a", "b"]


def test_an_empty_history() -> None:
    empty = History(history("ann 2010/12/1 a 1 1").frame[:0], Schema.preset("pwscup2018"))
    assert len(Swap().protect(empty, seed=1).public) == 0


def test_same_seed_same_bytes(small: History, tmp_path: Path) -> None:
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        Swap(share=0.5).protect(small, seed=seed).save(tmp_path / folder)
    same = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in same)
    assert (tmp_path / "one/public.parquet").read_bytes() != (tmp_path / "other/public.parquet").read_bytes()


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan")])
def test_a_share_that_is_none(share) -> None:
    problem = f"share = {share} is not valid for swap: .*; Share of rows to exchange, from 0 to 1"
    with pytest.raises(ParameterError, match=problem):
        methods.create("swap", share=share)


def test_generalised_data_are_refused() -> None:
    public = GeneralizeByCount(k=2).protect(history("a 2010/12/1 x 1 1", "b 2010/12/2 y 2 1"), seed=1).public
    assert isinstance(public, History)
    with pytest.raises(SchemaError, match="the original is already generalised"):
        Swap().protect(public, seed=1)


def test_on_real_months(shared: Path) -> None:
    from noren.data.reading import read

    original = read(shared / "data/pwscup2017_T.csv", "pwscup2017").data
    assert isinstance(original, History)
    release = Swap(share=0.3).protect(original, seed=1)
    assert release.statement.notes["changed_hands"] == pytest.approx(0.3, abs=1e-4)

    def totals(rows: pl.DataFrame) -> pl.DataFrame:
        by = ["item", "price", "quantity", "date"]
        return rows.group_by(by).len().sort(by)

    assert totals(release.public.frame).equals(totals(original.frame))
