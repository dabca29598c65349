"""Recoded: items under secret names, told by how they sell and by who buys them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.attacks.recodings import recoded, sampled, share_named

from noren.attacks import attacks
from noren.attacks import recoded as module
from noren.attacks.recoded import Recoded
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.protocols import Recoding

ITEMS = Schema.of({"columns": {"customer": {"role": "customer"}, "item": {"role": "item", "optional": True}}})
RENAMED = {Recoding.RENAMED_ITEMS, Recoding.DELETED_ROWS}


def bought(**items: str) -> History:
    """Return a history of people and the items each bought, a letter each."""
    rows = [(who, item) for who, some in items.items() for item in some]
    return History(pl.DataFrame(rows, schema=["customer", "item"], orient="row"), ITEMS)


def names(known: History, public: History, **parameters: Any) -> dict[str, str]:
    guess = attacks.create("recoded", **parameters).attack(known, public, seed=1)
    return dict(guess.pairs.select("pseudonym", "customer").rows())


def without(history: History, *columns: str) -> History:
    return replace(history, schema=history.schema.without(columns))


def test_who_buys_what_is_enough_without_prices_or_dates() -> None:
    # everybody buys a, three of four b; only dan buys d, and only cem buys c twice and e
    known = bought(ann="a", bob="ab", cem="abcce", dan="abdfgh")
    code = str.maketrans("abcdefgh", "qwertyui")
    public = bought(
        x="abdfgh".translate(code), y="a".translate(code), z="ab".translate(code), v="abcce".translate(code)
    )
    assert names(known, public) == {"x": "dan", "y": "ann", "z": "bob", "v": "cem"}


@pytest.mark.parametrize("columns", [(), ("price",), ("date", "price", "quantity")])
def test_renamed_items_hide_nobody_and_rounds_help(columns: tuple[str, ...]) -> None:
    known, public, truth = recoded(sampled(60, 5), RENAMED, 5)
    known, public = without(known, *columns), without(public, *columns)
    assert share_named("jaccard", known, public, truth) < 0.1
    found = [
        sum(truth[p] == c for p, c in names(known, public, rounds=rounds).items()) / len(truth) for rounds in (0, 3)
    ]
    assert found[1] > max(found[0] - 0.05, 0.8)


def test_all_that_it_says_at_once() -> None:
    known, public, truth = recoded(sampled(60, 6), Recoded.sees_through, 6)
    assert share_named("recoded", known, public, truth) > 0.8


def test_few_items_are_looked_at_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    known, public, truth = recoded(sampled(60, 5), RENAMED, 5)
    monkeypatch.setattr(module, "_MOST_ITEMS", 100)
    assert share_named("recoded", known, public, truth) > 0.5


@pytest.mark.parametrize("listed", [32, 200])
def test_of_many_pairs_likely_ones_are_compared(listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known, public, truth = recoded(sampled(150, 5), RENAMED, 5)
    every = share_named("recoded", known, public, truth)
    monkeypatch.setattr(module, "MOST_PAIRS", 0)
    monkeypatch.setattr(module, "_LISTED", listed)
    assert share_named("recoded", known, public, truth) > every - 0.03


@pytest.mark.parametrize("most", [10**9, 0])
def test_blanks_sets_and_nobody(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", most)
    known = bought(ann="a", bob="ab", cem="abcce", dan="abdfgh")
    blank = pl.DataFrame({"customer": ["v", None], "item": [None, "a"]}, schema=known.frame.schema)
    public = History(pl.concat([bought(x="abdfgh", y="a", z="ab", w="abcce").frame, blank]), ITEMS)
    assert names(known, public) == {"x": "dan", "y": "ann", "z": "bob", "w": "cem"}
    assert names(known, History(blank.head(1), ITEMS)) == {}
    assert names(History(blank.head(1), ITEMS), public) == {}
    lists = pl.concat_list("item", pl.lit("a")).list.unique().cast(pl.List(pl.Enum(list("abcdefgh"))))
    sets = History(public.frame.drop_nulls().with_columns(item=lists), ITEMS)
    assert len(set(names(known, sets).values())) == 4


def test_seeds_repeat_and_one_customer_is_named() -> None:
    known, public, _truth = recoded(sampled(20, 5), RENAMED, 5)
    one, again = (Recoded().attack(known, public, seed=4).pairs for _turn in range(2))
    assert one.equals(again)
    assert one["score"].is_sorted(descending=True)
    assert names(bought(ann="ab"), bought(x="zz")) == {"x": "ann"}
    with pytest.raises(ParameterError, match="rounds"):
        attacks.create("recoded", rounds=21)
