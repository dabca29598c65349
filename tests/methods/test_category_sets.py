"""Releases that speak of categories: what they say, and what U makes of them (S1)."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.api import measure
from noren.data.categories import Categories, as_released, release_categories, write_categories
from noren.data.draws import Draws
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Role, Schema
from noren.errors import NorenError
from noren.measures.safety.classes import Classes
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Evidence

# S1's own example: 291D and B20 are furniture, G402 is stationery, 891 and 521P are general goods.
ROWS: dict[str, list[Any]] = {
    "customer": ["A", "A", "B", "B", "C", "C"],
    "date": ["2011/8/2", "2011/4/6", "2011/5/28", "2011/10/10", "2011/1/3", "2011/4/2"],
    "item": ["291D", "891", "G402", "521P", "B20", "521P"],
    "price": [10.0, 3.0, 2.5, 2.0, 2.5, 2.0],
    "quantity": [8, 10, 9, 1, 2, 10],
}
SHELF = Categories(
    {"291D": "furniture", "B20": "furniture", "G402": "stationery", "891": "goods", "521P": "goods", "unsold": "goods"}
)


def protect(original: History, k: int, categories: Path | None = None) -> Release:
    return GeneralizeByCount(k=k, categories=categories).protect(original, seed=1)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return write_categories(SHELF, tmp_path / "shelf.csv")


@pytest.fixture
def original() -> History:
    return History.of(ROWS, Schema.preset("pwscup2018"))


def test_the_example_of_s1(original: History, shelf: Path) -> None:
    raw = protect(original, 3)
    release = protect(original, 3, shelf)
    items = release.aligned().frame["item"].cast(pl.List(pl.String)).to_list()
    assert items == [["furniture", "stationery"], ["goods"]] * 3
    assert release.aligned().frame.drop("item").equals(raw.aligned().frame.drop("item"))
    # items: sets of 3 cost 2/3 and of 2 (521P twice) 1/2; categories: 1/2 and 0
    assert measure(original, raw, "cell-error").parts["item"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    score = measure(original, release, "cell-error")
    assert score.parts["item"] == pytest.approx(1 / 4)
    assert measure(original, raw, "cell-error").value - score.value == pytest.approx((7 / 12 - 1 / 4) / 4)


def test_the_release_carries_the_mapping_and_no_path(original: History, shelf: Path, tmp_path: Path) -> None:
    release = protect(original, 3, shelf)
    release.save(tmp_path / "r")
    release.publish(tmp_path / "p")
    said = json.loads((tmp_path / "p/statement.json").read_text(encoding="utf-8"))
    assert said["parameters"]["categories"] == "shelf.csv"
    assert str(tmp_path) not in json.dumps(said)
    groups = {"furniture": ["291D", "B20"], "goods": ["521P", "891"], "stationery": ["G402"]}
    loaded = Release.load(tmp_path / "r")
    assert release_categories(loaded.statement) == groups
    assert measure(original, loaded, "cell-error") == measure(original, release, "cell-error")
    drawn = measure(original, Release.load(tmp_path / "p"), "statistics", draws=3)
    assert drawn == measure(original, loaded, "statistics", draws=3)


def test_draws_are_items_of_the_categories(original: History, shelf: Path) -> None:
    release = protect(original, 3, shelf)
    assert isinstance(release.public, History)
    draws = Draws(original, release.public, seed=1, categories=release_categories(release.statement))
    seen = {item for draw in draws.first(30) for item in draw[Role.ITEM]}
    assert seen == set(ROWS["item"])


def test_one_category_per_item_is_the_raw_release(small: History, tmp_path: Path) -> None:
    alone = write_categories(Categories({i: f"c{i}" for i in small["item"].unique()}), tmp_path / "alone.csv")
    for k in (2, 5):
        raw, own = (measure(small, protect(small, k, c), "cell-error").value for c in (None, alone))
        assert own == pytest.approx(raw, abs=1e-12)


def test_one_category_for_all_makes_items_free_and_worthless(small: History, tmp_path: Path) -> None:
    """What U as S1 counts it does not see: a category that says nothing costs nothing, but draws lose everything."""
    one = write_categories(Categories(dict.fromkeys(small["item"].unique(), "all")), tmp_path / "one.csv")
    release = protect(small, 2, one)
    kept = len(release.public) / len(small)
    assert measure(small, release, "cell-error").parts["item"] == pytest.approx(1 - kept)
    raw = protect(small, 2)
    errors = [measure(small, r, "item-similarity", draws=2).parts["retail"] for r in (raw, release)]
    assert errors[0] < errors[1]


def test_an_item_without_a_category_is_refused(original: History, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("291D,furniture\n")
    with pytest.raises(NorenError, match="4 items have no category, for example 521P"):
        protect(original, 3, tmp_path / "few.csv")
    with pytest.raises(NorenError, match="there is no such file"):
        protect(original, 3, tmp_path / "none.csv")


def test_nineteen_categories_as_skewed_as_s1s_gain_what_s1s_gain(shared: Path, tmp_path: Path) -> None:
    """Items dealt at random into categories of the sizes S1 lists gain about its 0.02 to 0.03 at every k."""
    original = read(shared / "data" / "pwscup2018_preliminary_T.csv", "pwscup2018").data
    assert isinstance(original, History)
    sizes = [1233, 534, 471, 271, 201, 161, 150, 50, 45, 34, 6, *[12] * 8]
    items = sorted(original[Role.ITEM].unique().to_list())
    dealt = pl.Series(items).sample(fraction=1, shuffle=True, seed=1).to_list()
    labels = [f"c{i:02}" for i, size in enumerate(sizes) for _n in range(size)]
    labels += ["c00"] * (len(items) - len(labels))
    path = write_categories(Categories(dict(zip(dealt, labels, strict=True))), tmp_path / "dealt.csv")
    printed = {2: 0.024, 6: 0.025, 20: 0.021}
    for k, gain in printed.items():
        raw, own = (measure(original, protect(original, k, c), "cell-error").value for c in (None, path))
        assert raw - own == pytest.approx(gain, abs=0.006), k


def test_k_is_real_in_the_words_of_the_release(small: History, tmp_path: Path) -> None:
    """The audit of classes finds k customers behind every pseudonym, items said as categories."""
    halves = Categories({item: f"c{i % 2}" for i, item in enumerate(sorted(small["item"].unique()))})
    release = protect(small, 3, write_categories(halves, tmp_path / "halves.csv"))
    score = Classes().measure(Evidence(small, release))
    assert score.notes["holds"]
    assert score.value >= 3
    plain = protect(small, 3)
    assert as_released(small, plain.statement) is small
