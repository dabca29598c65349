"""How much knowledge identifies a customer, from the command line."""

import pytest

SCHEMA = ("--schema", "pwscup2018")


def test_json(noren, small_csv, release) -> None:
    answer = noren("unicity", small_csv, release, *SCHEMA, "--known", "1,4", "--json")
    assert answer.code == 0, answer.err
    said = answer.json
    assert [step["known"] for step in said["curve"]] == [1, 4]
    assert all(step["low"] <= step["unique"] <= step["high"] for step in said["curve"])
    assert said["columns"] == {"date": "exact", "item": "exact"}
    assert [step["unique"] for step in said["release"]] == [0.0, 0.0]  # classes of three
    again = noren("unicity", small_csv, release, *SCHEMA, "--known", "1,4", "--json")
    assert again.out == answer.out


def test_table_sentence_and_chart(noren, small_csv, release, tmp_path) -> None:
    chart = tmp_path / "u.svg"
    answer = noren("unicity", small_csv, release, *SCHEMA, "--known", "1-3", "--date", "week", "--chart", chart)
    assert answer.code == 0, answer.err
    assert "One pseudonym left" in answer.out
    assert "3 known purchases single out" in answer.err
    assert "In the release 3 known purchases leave one pseudonym for 0%" in answer.err
    assert "date (week), item (exact)" in answer.err
    assert "Known purchases" in chart.read_text(encoding="utf-8")
    assert "safe" not in answer.out + answer.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--known", "900-1000"), "no customer has 900 different purchases"),
        (("--known", "x"), "is not a number of known purchases"),
        (("--columns", "shop"), "no column 'shop'"),
        (("--date", "fortnight"), "'fortnight' is not a precision of date"),
        (("--chart", "u.doc"), "no chart ends in"),
        (("--item", "category"), "give a file (--categories)"),
    ],
)
def test_bad_input_is_one_line(noren, small_csv, flags, said) -> None:
    answer = noren("unicity", small_csv, *SCHEMA, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_all_unique_is_said(noren, tmp_path) -> None:
    path = tmp_path / "T.csv"
    path.write_text("ann,2010/12/1,a,1,1\nbob,2010/12/2,a,1,1\n", encoding="utf-8")
    answer = noren("unicity", path, *SCHEMA, "--known", "1-5")
    assert answer.code == 0
    assert "1 known purchase singles out 100% of customers" in answer.err
    assert "No examined customer has 2 different purchases; the maximum is 1." in answer.err
