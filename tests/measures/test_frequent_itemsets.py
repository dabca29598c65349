"""Frequent itemsets by hand."""

import pytest

from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures.utility.frequent_itemsets import FrequentItemsets
from noren.measures.utility.purchases import Purchases, purchases


def bought(*baskets: str) -> Purchases:
    """One basket per customer and word, its letters the items."""
    rows = [(str(who), item) for who, items in enumerate(baskets) for item in items]
    frame = {
        "customer": [who for who, _item in rows], "date": ["2010/12/1"] * len(rows),
        "item": [item for _who, item in rows], "price": [1.0] * len(rows), "quantity": [1] * len(rows),
    }  # fmt: skip
    return purchases(History.of(frame, Schema.preset("pwscup2018")))


def test_the_number_of_baskets_is_the_originals() -> None:
    # a, b, ab are in 2 of 4 baskets, c in 3: at support 1/2 all four are frequent
    compare = FrequentItemsets(support=0.5).against(bought("ab", "abc", "c", "c"))
    assert compare(bought("ab", "abc", "c", "c")) == {"kept": 1, "frequent": 4}
    # more baskets, of which half would be 3; a, b and c are still in 2 or more, ab is not
    assert compare(bought("a", "b", "abc", "c", "c", "z"))["kept"] == pytest.approx(3 / 4)


def test_sizes() -> None:
    one = bought("abc", "abc")
    assert [FrequentItemsets(support=1, largest=n).against(one)(one)["frequent"] for n in (1, 2, 3)] == [3, 6, 7]


def test_one_basket_makes_nothing_frequent() -> None:
    one = bought("ab", "cd")
    with pytest.raises(ParameterError, match="no itemset is in 2 baskets; use a lower --support, or another measure"):
        FrequentItemsets(support=0.01).against(one)(one)


def test_a_basket_is_one_customers_day() -> None:
    frame = {
        "customer": ["1", "1", "2", "2"], "date": ["2010/12/1", "2010/12/2", "2010/12/1", "2010/12/2"],
        "item": list("abab"), "price": [1.0] * 4, "quantity": [1] * 4,
    }  # fmt: skip
    one = purchases(History.of(frame, Schema.preset("pwscup2018")))
    assert len(set(one.basket.tolist())) == 4
    assert FrequentItemsets(support=0.5).against(one)(one)["frequent"] == 2
