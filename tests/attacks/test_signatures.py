"""S1 to S6 answer as the programs of PWS Cup 2017 do, cell for cell; a dictionary per row is the plain version."""

import hashlib
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pwscup2017
from tests.pwscup2017 import ATTACKS, VECTORS, history

import noren
from noren.attacks import attacks
from noren.data.contest_files import write_guess
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.methods.pseudonymize import Pseudonymize

KEYS = {
    "s1": ("date", "quantity"),
    "s2": ("item", "price"),
    "s3": ("item", "quantity"),
    "s4": ("item", "date"),
    "s5": ("item", "price", "quantity"),
    "s6": ("item", "date", "quantity"),
}


def run(attack: str, known: History, public: History, **parameters: object) -> dict[tuple[str, str], str]:
    pairs = attacks.create(attack, **parameters).attack(known, public, seed=0).pairs
    return {(customer, period): name for name, customer, period in named(pairs)}


def named(pairs: pl.DataFrame) -> list[tuple[str, str, str]]:
    return pairs.select("pseudonym", "customer", "period").rows()


def plain(attack: str, known: History, public: History) -> dict[tuple[str, str], str]:
    """Write one dictionary row by row, then another."""

    def key(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name][:2] if name == "item" else row[name] for name in KEYS[attack])

    found: dict[tuple[str, ...], str] = {}
    for row in public.texts().iter_rows(named=True):
        found[key(row)] = row["customer"]
    answers = {}
    for row in known.texts().iter_rows(named=True):
        if key(row) in found:
            year, month, _day = row["date"].split("/")
            answers[row["customer"], f"{year}/{month}"] = found[key(row)]
    return answers


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_answers(name: str, shared: Path, tmp_path: Path) -> None:
    original, public = (pwscup2017.rows(shared, name, file) for file in ("T", "S"))
    compared = 0
    for attack, answers in pwscup2017.expected(shared, name)["UM"].items():
        for file, answer in answers.items():
            guess = noren.attack(original, public, attack.lower(), known=pwscup2017.rows(shared, name, file))
            assert len(guess) == answer["cells_filled"]
            path = write_guess(guess.pairs, tmp_path / "guess.csv", original, public)
            assert path.read_bytes() == pwscup2017.official(shared, answer["Fh"]), (attack, file)
            assert hashlib.sha256(path.read_bytes()).hexdigest() == answer["Fh_sha256"]
            compared += 1
    assert compared == (6 if name == "micro" else 24)


def test_the_keys() -> None:
    assert {name: tuple(attacks[name].key) for name in ATTACKS} == KEYS  # type: ignore[attr-defined]


# --- against the plain version -----------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.dates(date(2010, 12, 30), date(2011, 2, 2)),
        st.sampled_from(["22423", "22751", "85123A", "8", "日本酒", "日本茶"]),
        st.sampled_from([0.29, 1.0, 3.8, 3.125]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=20,
)


def typed(rows: list[tuple[str, date, str, float, int]]) -> History:
    frame = pl.DataFrame(rows, schema=["customer", "date", "item", "price", "quantity"], orient="row")
    return History(frame, Schema.preset("pwscup2018"))  # as it stands, also a price between two pence


@given(ROWS, ROWS)
def test_the_plain_version(known: list, public: list) -> None:
    for attack in ATTACKS:
        assert run(attack, typed(known), typed(public)) == plain(attack, typed(known), typed(public))


@given(ROWS, ROWS, st.sets(st.integers(0, 19)), st.sets(st.integers(0, 19)))
def test_what_a_file_spells_otherwise_is_another_text(known: list, public: list, odd: set, even: set) -> None:
    def spelled(rows: list, places: set[int]) -> History:
        one = typed(rows)
        at = [place for place in sorted(places) if place < len(rows)]
        texts = pl.DataFrame(
            {"row": at, "text": [f"{rows[i][3]}0" for i in at]}, schema={"row": pl.UInt32, "text": pl.String}
        )
        return History(one.frame, one.schema, Spelling(exceptions={"price": texts} if at else {}))

    for attack in ("s2", "s5"):
        sides = spelled(known, odd), spelled(public, even)
        assert run(attack, *sides) == plain(attack, *sides)


# --- by hand -----------------------------------------------------------------------------------------------


def test_the_last_public_row_wins_and_then_the_last_known_one() -> None:
    known = history("ann 2/1 22423 1.5 3", "ann 2/9 22000 1.5 4", "ann 2/5 33000 1.5 9")
    public = history("p 2/1 22423 1.5 3", "q 2/1 22423 1.5 3", "r 2/9 22000 1.5 4")
    # 3 on 2/1 leads to q; 4 on 2/9, the later known row, to r; nobody bought 9
    assert run("s1", known, public) == {("ann", "2011/2"): "r"}
    assert run("s1", history("ann 2/9 22000 1.5 4", "ann 2/1 22423 1.5 3"), public) == {("ann", "2011/2"): "q"}


def test_the_score_is_the_share_of_rows_that_lead_there() -> None:
    known = history("ann 2/1 22423 1.5 3", "ann 2/2 22423 1.5 4", "ann 2/3 22423 1.5 5", "bob 2/1 22423 1.5 3")
    public = history("p 2/1 99999 9.5 3", "q 2/2 99999 9.5 4", "q 2/3 99999 9.5 5")
    pairs = attacks.create("s1").attack(known, public, seed=0).pairs
    # ann is q by two rows of three, bob is p by his only one; the surest comes first
    assert pairs.rows() == [("p", "bob", 1.0, "2011/2"), ("q", "ann", 2 / 3, "2011/2")]


def test_the_month_is_that_of_the_known_row() -> None:
    # without a date in the key a pseudonym of another month can win
    assert run("s2", history("ann 2/1 22423 1.5 3"), history("p 7/7 22423 1.5 8")) == {("ann", "2011/2"): "p"}


def test_items_are_known_by_two_characters() -> None:
    public = history("p 2/1 22423 1.5 3")
    assert run("s2", history("ann 2/1 22 1.5 3"), public) == {("ann", "2011/2"): "p"}
    assert run("s2", history("ann 2/1 22999 1.5 3"), public) == {("ann", "2011/2"): "p"}
    assert run("s2", history("ann 2/1 2 1.5 3"), public) == {}


def test_whole_numbers_of_another_type() -> None:
    known, public = history("ann 2/1 22 2 3"), history("p 2/1 22 2 3")
    narrow = History(public.frame.cast({"price": pl.Int32, "quantity": pl.Int16}), public.schema)
    assert run("s5", known, narrow) == {("ann", "2011/2"): "p"}


def test_deleted_rows_are_not_known_and_not_seen() -> None:
    known, public = history("-", "ann 2/1 22423 1.5 3", "-"), history("p 2/1 22423 1.5 3", "-")
    for attack in ATTACKS:
        assert run(attack, known, public) == {("ann", "2011/2"): "p"}
        assert run(attack, history("-"), public) == {}
        assert run(attack, known, history("-")) == {}


def test_weeks_quarters_and_periods_of_ones_own() -> None:
    known = history("ann 1/3 22423 1.5 3", "ann 1/10 22423 1.5 4", "ann 4/1 22423 1.5 5")
    public = history("p 1/3 22423 1.5 3", "q 1/10 22423 1.5 4", "r 4/1 22423 1.5 5")
    assert run("s1", known, public, period="week") == {
        ("ann", "2011/W1"): "p", ("ann", "2011/W2"): "q", ("ann", "2011/W13"): "r",
    }  # fmt: skip
    assert run("s1", known, public, period="quarter") == {("ann", "2011/Q1"): "q", ("ann", "2011/Q2"): "r"}
    starts = (date(2011, 1, 10), date(2011, 2, 1))
    # the first row lies before the first period
    assert run("s1", known, public, period="custom", starts=starts) == {
        ("ann", "2011/1/10"): "q", ("ann", "2011/2/1"): "r",
    }  # fmt: skip
    assert run("s1", known, public, period="custom", starts=(date(2011, 5, 1),)) == {}
    with pytest.raises(ParameterError, match="period=custom needs starts, and no other period takes it"):
        attacks.create("s1", period="custom")
    with pytest.raises(ParameterError, match="period=custom needs starts, and no other period takes it"):
        attacks.create("s1", period="week", starts=starts)


def test_generalised_cells_match_nothing(small: History) -> None:
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    for attack in ATTACKS:
        guess = noren.attack(small, release, attack)
        assert guess.pairs.columns == ["pseudonym", "customer", "score", "period"]
    # but exact cells among them do
    cells = pl.Series("price", [{"lo": 1.5, "hi": 1.5}, {"lo": 1.5, "hi": 2.0}])
    public = history("p 2/1 22423 1.5 3", "q 2/1 22423 1.5 3")
    wide = History(public.frame.with_columns(cells), public.schema)
    assert run("s2", history("ann 2/1 22423 1.5 3"), wide) == {("ann", "2011/2"): "p"}


def test_pseudonyms_alone_are_found(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    guess = noren.attack(small, release, "s6")
    assert noren.measure(small, release, "reid-rate", guesses=[guess]).value > 0.9


def test_columns_that_are_not_there() -> None:
    schema = Schema.from_toml(
        'kind = "history"\n[columns]\ncustomer = { role = "customer" }\ndate = { role = "date" }\n'
        'item = { role = "item" }\n'
    )
    assert [name for name in attacks if len(name) == 2 and attacks[name].fits(schema)] == ["s4", "s8"]
    poor = History.of({"customer": ["a"], "date": ["2011/2/1"], "item": ["x"]}, schema)
    with pytest.raises(ParameterError, match="s2 needs a column with the role price"):
        noren.attack(poor, poor, "s2")
    assert len(noren.attack(poor, poor, "s4")) == 1
    with pytest.raises(SchemaError, match="the release has no column 'price'"):
        run("s2", history("ann 2/1 22423 1.5 3"), poor)
