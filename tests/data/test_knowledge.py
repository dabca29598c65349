"""What an attacker knows: a share of the rows, the first characters of items."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pwscup2017
from tests.pwscup2017 import history

import noren
from noren.data.compatibility import partial
from noren.data.frames import History
from noren.errors import ParameterError


@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.integers(0, 2**63 - 1))
def test_a_share_of_the_rows_in_their_order(small: History, one: float, other: float, seed: int) -> None:
    less, more = sorted((one, other))
    numbered = History(small.frame.with_row_index("row"), small.schema)
    few, many = (partial(numbered, share, seed).frame["row"] for share in (less, more))
    assert (len(few), len(many)) == (round(less * 600), round(more * 600))
    assert few.is_sorted()
    assert many.is_sorted()
    # who knows more knows what one who knows less knows
    assert set(few) <= set(many)
    assert few.equals(partial(numbered, less, seed).frame["row"])


def test_every_row_is_as_likely(small: History) -> None:
    numbered = History(small.frame.with_row_index("row"), small.schema)
    drawn = pl.concat([partial(numbered, 0.5, seed).frame["row"] for seed in range(200)])
    counts = drawn.value_counts()["count"]
    # 200 draws of probability 1/2: mean 100, standard deviation 7.1
    assert len(counts) == 600
    assert 65 < counts.min() < counts.max() < 135  # type: ignore[operator]


def test_items_are_cut_and_the_rest_stays() -> None:
    original = history("ann 2/1 22423 1.5 3", "-", "bob 2/2 8 2.5 4", "cem 2/3 日本酒 2.5 4")
    known = partial(original, item_prefix=2)
    assert known["item"].to_list() == ["22", "8", "日本"]
    assert known.frame.drop("item").equals(partial(original).frame.drop("item"))
    assert partial(original)["customer"].to_list() == ["ann", "bob", "cem"]
    assert len(partial(original, 0.34)) == 1


def test_the_official_knowledge(shared: Path) -> None:
    """T100 is T with items cut; T50 is half of it, and attacks with it find what they find with its known rows."""
    original, all_rows, half = (pwscup2017.rows(shared, "noise_light", file) for file in ("T", "T100", "T50"))
    assert partial(original, item_prefix=2).lines().equals(all_rows.lines())
    assert partial(half).lines().is_in(all_rows.lines().implode()).all()
    assert len(partial(half)) == pytest.approx(len(original) / 2, abs=1)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_no_share(small: History, share: float) -> None:
    with pytest.raises(ParameterError, match="is out of range; use 0 < knowledge <= 1"):
        partial(small, share)


def test_no_characters(small: History) -> None:
    with pytest.raises(ParameterError, match="item-prefix = 0 is out of range"):
        partial(small, item_prefix=0)


def test_attacks_with_partial_knowledge(small: History) -> None:
    release = noren.protect(small, "pseudonymize", seed=1)
    everything = noren.attack(small, release, "unique-rows")
    for share in (0.9, 0.1):
        by_share = noren.attack(small, release, "unique-rows", knowledge=share, seed=3)
        given_rows = noren.attack(small, release, "unique-rows", known=partial(small, share, 3))
        assert by_share.pairs.equals(given_rows.pairs)
    assert len(by_share) < len(everything)
    short = noren.attack(small, release, "s6", item_prefix=2)
    assert short.pairs.equals(noren.attack(small, release, "s6").pairs)
    frame = small.frame.head(50)
    assert noren.attack(small, release, "s6", known=frame).pairs.equals(
        noren.attack(History(frame, small.schema), release, "s6").pairs
    )


def test_knowledge_of_strangers(small: History) -> None:
    other = History(small.frame.with_columns(customer=pl.lit("stranger")), small.schema)
    with pytest.raises(ParameterError, match="1 customers who are not in the original, the first is stranger"):
        noren.attack(small, small, "s1", known=other)
