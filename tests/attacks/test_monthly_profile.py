"""S7 and S8 give each customer the pseudonym of the month whose one number is most alike (S3, equation 6)."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pwscup2017 import history

import noren
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.schema import Schema


def run(attack: str, known: History, public: History, **parameters: object) -> dict[tuple[str, str], tuple[str, float]]:
    pairs = attacks.create(attack, **parameters).attack(known, public, seed=0).pairs
    assert pairs.columns == ["pseudonym", "customer", "score", "period"]
    assert pairs["score"].to_list() == sorted(pairs["score"], reverse=True)
    return {(customer, period): (name, score) for name, customer, score, period in pairs.rows()}


def test_mean_price_by_hand() -> None:
    known = history("ann 2/1 a 1 1", "ann 2/2 a 3 1", "bob 2/3 a 9 1", "ann 3/1 a 5 1")
    public = history("p 2/1 a 2 1", "p 2/2 a 4 1", "q 2/3 a 6 1", "r 3/1 a 1 1")
    # February: ann 2, bob 9 against p 3, q 6; March: ann 5 against r 1 alone
    assert run("s7", known, public) == {
        ("ann", "2011/2"): ("p", 2 / 3), ("bob", "2011/2"): ("q", 2 / 3), ("ann", "2011/3"): ("r", 0.2),
    }  # fmt: skip


def test_number_of_rows_by_hand() -> None:
    known = history("ann 2/1 a 1 1", "ann 2/1 a 1 1", "ann 2/1 a 1 1", "bob 2/3 a 9 1")
    public = history("p 2/1 a 2 1", "p 2/2 a 4 1", "p 2/3 a 4 1", "p 2/3 a 4 1", "q 2/3 a 6 1")
    # three rows against four and one, one row against the same
    assert run("s8", known, public) == {("ann", "2011/2"): ("p", 0.75), ("bob", "2011/2"): ("q", 1.0)}


def test_equals_go_to_the_smallest_text_whatever_the_order_of_rows() -> None:
    known = history("ann 2/1 a 2 1")
    lines = ["z 2/1 a 4 1", "y 2/1 a 1 1", "b 2/1 a 4 1", "x 2/1 a 1 1"]
    for order in (lines, lines[::-1]):
        # 1 and 4 are as far from 2, and of each price there are two
        assert run("s7", known, history(*order)) == {("ann", "2011/2"): ("b", 0.5)}
        assert run("s8", known, history(*order)) == {("ann", "2011/2"): ("b", 1.0)}


def test_a_month_without_pseudonyms_names_nobody() -> None:
    known, public = history("ann 2/1 a 2 1", "bob 3/1 a 2 1", "-"), history("p 2/1 a 4 1", "-")
    for attack in ("s7", "s8"):
        assert list(run(attack, known, public)) == [("ann", "2011/2")]
        assert run(attack, known, history("-")) == {}
        assert run(attack, history("-"), public) == {}


PRICES = st.sampled_from([0.01, 0.5, 1.0, 2.0, 4.0, 4.25])
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.dates(date(2011, 1, 30), date(2011, 2, 2)), PRICES), min_size=1, max_size=12
)


def typed(rows: list) -> History:
    columns = {"customer": [r[0] for r in rows], "date": [r[1] for r in rows], "price": [r[2] for r in rows]}
    columns |= {"item": ["x"] * len(rows), "quantity": [1] * len(rows)}
    return History.of(columns, Schema.preset("pwscup2018"))


@given(ROWS, ROWS)
def test_all_against_all(known: list, public: list) -> None:
    def profiles(rows: list, attack: str) -> dict[tuple[str, int], float]:
        prices: dict[tuple[str, int], list[float]] = {}
        for who, day, price in rows:
            prices.setdefault((who, day.month), []).append(price)
        # in pence, so that equal means are equal floats
        return {
            key: float(len(p)) if attack == "s8" else sum(round(100 * x) for x in p) / len(p)
            for key, p in prices.items()
        }

    for attack in ("s7", "s8"):
        best = {}
        seen = profiles(public, attack)
        for (customer, month), a in profiles(known, attack).items():
            alike = [(-min(a, b) / max(a, b), name) for (name, when), b in seen.items() if when == month]
            if alike:
                best[customer, f"2011/{month}"] = min(alike)
        found = run(attack, typed(known), typed(public))
        assert {key: name for key, (name, _score) in found.items()} == {key: name for key, (_s, name) in best.items()}
        for key, (_name, score) in found.items():
            assert score == pytest.approx(-best[key][0], rel=1e-12)


def test_intervals(small: History) -> None:
    public = history("p 2/1 a 1 1", "p 2/5 a 1 1", "p 2/9 a 1 1", "q 2/2 a 1 1")
    days = [("2011/2/1", "2011/2/28"), ("2011/2/5", "2011/2/5"), ("2011/1/31", "2011/2/9"), ("2011/2/2", "2011/2/2")]
    ends = pl.DataFrame(days, schema=["lo", "hi"], orient="row").select(pl.all().str.to_date("%Y/%m/%d"))
    prices = pl.Series("price", [{"lo": 1.0, "hi": 3.0}, None, {"lo": 9.0, "hi": 9.0}, {"lo": 8.0, "hi": 8.0}])
    wide = History(public.frame.with_columns(ends.to_struct("date"), prices), public.schema)
    known = history("ann 2/1 a 2 1", "ann 2/1 a 2 1", "bob 2/1 a 8 1")
    # the third row reaches over two months and is left out, the second has no price: p has two rows of mean 2
    assert run("s7", known, wide) == {("ann", "2011/2"): ("p", 1.0), ("bob", "2011/2"): ("q", 1.0)}
    assert run("s8", known, wide) == {("ann", "2011/2"): ("p", 1.0), ("bob", "2011/2"): ("q", 1.0)}
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    for attack in ("s7", "s8"):
        assert set(noren.attack(small, release, attack).pairs["customer"]) <= set(small.customers)


def test_weeks_and_periods_of_ones_own() -> None:
    known, public = history("ann 1/3 a 2 1", "ann 1/10 a 3 1"), history("p 1/4 a 2 1", "q 1/11 a 3 1", "r 1/1 a 3 1")
    assert run("s7", known, public, period="week") == {("ann", "2011/W1"): ("p", 1.0), ("ann", "2011/W2"): ("q", 1.0)}
    starts = (date(2011, 1, 2), date(2011, 1, 9))
    # r lies before the first period
    assert run("s7", known, public, period="custom", starts=starts) == {
        ("ann", "2011/1/2"): ("p", 1.0), ("ann", "2011/1/9"): ("q", 1.0),
    }  # fmt: skip


def test_prices_that_are_not_positive() -> None:
    free = history("p 2/1 a 1 1", "q 2/1 a 1 1")
    known = history("ann 2/1 a 1 1", "bob 2/1 a 1 1")
    free = History(free.frame.with_columns(price=pl.Series([0.0, -2.0])), free.schema)
    known = History(known.frame.with_columns(price=pl.Series([0.0, -4.0])), known.schema)
    assert run("s7", known, free) == {("ann", "2011/2"): ("p", 1.0), ("bob", "2011/2"): ("q", 0.5)}
    # nothing is like a price above 0
    assert run("s7", history("ann 2/1 a 1 1"), free) == {}
