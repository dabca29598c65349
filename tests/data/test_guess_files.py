"""Guesses go to disk in the contests' formats and come back."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from noren.api import as_records
from noren.data.contest_files import MONTHS, listed_customers, read_guess, read_guesses, write_guess
from noren.errors import FileError, FormatError, ParameterError

ROWS = {
    "customer": ["b", "a", "a"],
    "invoice": ["0", "0", "0"],
    "date": ["2010/12/1", "2010/12/3", "2011/2/8"],
    "time": ["9:00", "9:00", "10:30"],
    "item": ["x", "y", "x"],
    "price": [1.5, 2.0, 1.5],
    "quantity": [2, 4, 4],
}


@pytest.fixture
def original():
    return as_records(ROWS, "pwscup2017")


def public_of(original, pseudonyms: list[str]):
    return replace(original, frame=original.frame.with_columns(pl.Series("customer", pseudonyms)))


def test_a_guess_of_2017_is_spread_over_the_months_its_pseudonym_bought_in(original, tmp_path: Path) -> None:
    pairs = pl.DataFrame({"pseudonym": ["p", "q"], "customer": ["a", "b"], "score": [1.0, 1.0]})
    file = write_guess(pairs, tmp_path / "s.csv", original, public_of(original, ["q", "p", "p"]))
    assert file.read_text() == "a,p,DEL,p," + ",".join(["DEL"] * 9) + "\nb,q," + ",".join(["DEL"] * 11) + "\n"
    back = read_guess(file, original)
    assert back.unlisted == ()
    assert back.pairs.sort("period", "customer").rows() == [
        ("p", "a", "2010/12", 1.0),
        ("q", "b", "2010/12", 1.0),
        ("p", "a", "2011/2", 1.0),
    ]


def test_of_an_interval_of_dates_both_ends_count(original, tmp_path: Path) -> None:
    public = public_of(original, ["q", "p", "p"])
    dates = public.frame["date"]
    wide = pl.DataFrame({"lo": dates, "hi": dates.dt.offset_by("1mo")}).to_struct("date")
    public = replace(public, frame=public.frame.with_columns(wide))
    pairs = pl.DataFrame({"pseudonym": ["p"], "customer": ["a"], "score": [1.0]})
    back = read_guess(write_guess(pairs, tmp_path / "s.csv", original, public), original).pairs
    assert back["period"].to_list() == ["2010/12", "2011/1", "2011/2", "2011/3"]


def test_a_guess_that_names_its_months_keeps_them_and_the_surest_comes_first(original, tmp_path: Path) -> None:
    pairs = pl.DataFrame(
        {"pseudonym": ["p", "r"], "customer": ["a", "a"], "period": ["2011/11", "2011/11"], "score": [2.0, 1.0]}
    )
    people = pl.DataFrame({"customer": ["c", "a", "b"]})
    file = write_guess(pairs, tmp_path / "s.csv", replace(original, master=people), original)
    cells = [line.split(",") for line in file.read_text().splitlines()]
    assert [c[0] for c in cells] == ["a", "b", "c"]
    assert cells[0] == ["a", *["DEL"] * 11, "p"]
    assert cells[1][1:] == cells[2][1:] == ["DEL"] * len(MONTHS)


def test_other_histories_get_pairs(small, tmp_path: Path) -> None:
    pairs = pl.DataFrame({"pseudonym": ["2", "1"], "customer": ["a", "b"], "score": [1.0, 0.5]})
    file = write_guess(pairs, tmp_path / "g" / "mine.csv", small, small)
    assert file.read_text() == "2,a\n1,b\n"
    assert read_guess(file, small).pairs.rows() == [("2", "a", 1.0), ("1", "b", 1.0)]
    assert list(read_guesses(file, small)) == list(read_guesses(tmp_path / "g", small)) == ["mine"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="the folder contains no guesses"):
        read_guesses(tmp_path / "empty", small)


def test_periods_of_other_histories_are_a_third_column(small, tmp_path: Path) -> None:
    pairs = pl.DataFrame(
        {"pseudonym": ["2", "1"], "customer": ["a", "b"], "period": ["2010/W48", "2011/1"], "score": [1.0, 0.5]}
    )
    file = write_guess(pairs, tmp_path / "s1.csv", small, small)
    assert file.read_text() == "2,a,2010/W48\n1,b,2011/1\n"
    assert read_guess(file, small).pairs.rows() == [("2", "a", "2010/W48", 1.0), ("1", "b", "2011/1", 1.0)]
    nobody = write_guess(pairs[:0], tmp_path / "nobody.csv", small, small)
    assert nobody.read_text() == ""
    assert read_guess(nobody, small).pairs.rows() == []
    (tmp_path / "wide.csv").write_text("2,a,2010/12,x\n")
    with pytest.raises(FormatError, match="the row has 4 cells"):
        read_guess(tmp_path / "wide.csv", small)


def test_a_file_that_leaves_customers_out_says_whom(original, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("b," + ",".join(["DEL"] * 12) + "\n")
    assert read_guess(tmp_path / "s.csv", original).unlisted == ("a",)
    people = pl.DataFrame({"customer": ["c", "a", "b"]})
    assert read_guess(tmp_path / "s.csv", replace(original, master=people)).unlisted == ("a", "c")


def test_customers_are_those_of_the_master_where_there_is_one(original) -> None:
    assert listed_customers(original).to_list() == ["a", "b"]
    people = pl.DataFrame({"customer": ["c", "a", "b"]})
    assert listed_customers(replace(original, master=people)).to_list() == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="1 customers of the original are missing from the master, the first is b"):
        listed_customers(replace(original, master=people.head(2)))


def test_months_that_the_contest_does_not_have(tmp_path: Path) -> None:
    later = as_records(ROWS | {"date": ["2012/1/1"] * 3}, "pwscup2017")
    pairs = pl.DataFrame({"pseudonym": ["p"], "customer": ["a"], "period": ["2012/1"]})
    with pytest.raises(ParameterError, match="names the period 2012/1, but F̂ has the months 2010/12 to 2011/11"):
        write_guess(pairs, tmp_path / "s.csv", later, later)
    assert not (tmp_path / "s.csv").exists()


def test_official_guesses_of_2017(shared: Path) -> None:
    original = as_records(ROWS, "pwscup2017")
    guess = read_guess(shared / "oracles/pwscup2017/noise_light/Fh_S1_T100.csv.gz", original)
    assert guess.pairs.columns == ["pseudonym", "customer", "period", "score"]
    assert set(guess.pairs["period"]) == set(MONTHS)
    assert guess.pairs["customer"].n_unique() <= 500
    assert guess.unlisted == ("a", "b")
