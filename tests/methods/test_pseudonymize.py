"""Pseudonymize changes the customers' names and nothing else."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.checks import check_release
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.schema import Schema
from noren.methods import methods
from noren.methods.pseudonymize import Pseudonymize

SCHEMA = Schema.preset("pwscup2018")
LINES = ["b,2010/12/1,x,1.50,1", "a,2010/12/02,y,2,2", "b,2010/12/3,x,3.5,3", "c,2010/12/3,z,3.5,3"]


def history(customers: list[str]) -> History:
    rows = {
        "customer": customers,
        "date": [f"2010/12/{1 + at % 28}" for at in range(len(customers))],
        "item": [f"i{at % 7}" for at in range(len(customers))],
        "price": [1.0 + at for at in range(len(customers))],
        "quantity": [1 + at % 3 for at in range(len(customers))],
    }
    return History.of(rows, SCHEMA)


@pytest.fixture
def spelled(tmp_path: Path) -> History:
    path = tmp_path / "T.csv"
    path.write_text("\n".join(LINES) + "\n", encoding="ascii")
    return read_rows(path, SCHEMA)


def test_only_names_change_and_spelling_stays(spelled: History) -> None:
    release = Pseudonymize().protect(spelled, seed=3)
    names = dict(zip("bac", release.aligned().frame["customer"].unique(maintain_order=True), strict=True))
    assert sorted(names.values()) == ["10", "11", "12"]
    expected = [f"{names[line[0]]}{line[1:]}" for line in LINES]
    assert release.aligned().lines().to_list() == expected
    assert release.public.lines().to_list() == sorted(expected)
    assert release.secret.pseudonyms.rows() == [(names["b"], "b"), (names["a"], "a"), (names["c"], "c")]
    assert release.deleted_rows == 0


@given(customers=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40), seed=st.integers(0, 2**64))
@examples(40)
def test_one_name_for_each_customer(customers: list[str], seed: int) -> None:
    original = history(customers)
    aligned = Pseudonymize().protect(original, seed=seed).aligned()
    both = pl.DataFrame({"was": original.frame["customer"], "is": aligned.frame["customer"]}).unique()
    assert both["was"].n_unique() == both["is"].n_unique() == len(both)
    assert aligned.frame.drop("customer").equals(original.frame.drop("customer"))


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    original = history(list("abcabdea"))
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        Pseudonymize().protect(original, seed=seed).save(tmp_path / folder, official=True)
    names = [path.relative_to(tmp_path / "one") for path in sorted((tmp_path / "one").rglob("*")) if path.is_file()]
    assert len(names) == 8
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)
    assert (tmp_path / "one/public.csv").read_bytes() != (tmp_path / "other/public.csv").read_bytes()


def test_neither_the_master_nor_other_columns_leave_with_the_release() -> None:
    original = history(list("aab"))
    beside = replace(
        original,
        frame=original.frame.with_columns(phone=pl.lit("0123")),
        master=pl.DataFrame({"customer": ["a", "b"], "sex": ["f", "m"]}),
    )
    public = Pseudonymize().protect(beside, seed=1).public
    assert isinstance(public, History)
    assert public.master is None
    assert public.frame.columns == list(SCHEMA.names)


def test_rows_that_nobody_owns_are_left_out_and_counted() -> None:
    schema = Schema.preset("online-retail")
    rows = {
        "InvoiceNo": ["1", "1", "2"],
        "StockCode": ["x", "y", "x"],
        "Description": ["X", None, "X"],
        "Quantity": [1, 2, 3],
        "InvoiceDate": ["2010-12-01 08:26:00"] * 3,
        "UnitPrice": [1.0, 2.0, 3.0],
        "CustomerID": ["a", None, "b"],
        "Country": ["UK"] * 3,
    }
    release = Pseudonymize().protect(History.of(rows, schema), seed=1)
    aligned = release.aligned().frame["CustomerID"].to_list()
    assert sorted([aligned[0], aligned[2]]) == ["10", "11"]
    assert aligned[1] is None
    assert release.deleted_rows == 1
    assert len(release.public) == 2
    assert release.statement.notes == {"rows_without_customer": 1}


def test_the_statement_is_honest() -> None:
    statement = methods.create("pseudonymize").protect(history(["a"]), seed=1).statement
    assert (statement.method, statement.parameters) == ("pseudonymize", {})
    assert "histories are not" in statement.promise


def test_the_official_checker_accepts_it(tmp_path: Path) -> None:
    path = tmp_path / "T.csv"
    path.write_text("\n".join(LINES).translate(str.maketrans("abcxyz", "123XYZ")) + "\n", encoding="ascii")
    Pseudonymize().protect(read_rows(path, SCHEMA), seed=3).save(tmp_path / "release", official=True)
    report = check_release("pwscup2018", path, tmp_path / "release" / "secret" / "A.csv")
    assert report.valid, report
