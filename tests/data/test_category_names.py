"""Categories derived from product names."""

from pathlib import Path

import pytest

from noren.api import sample
from noren.data.categories import UNKNOWN, derive_categories, head_noun, item_names, read_item_names
from noren.data.frames import History
from noren.data.samples.baskets import CATEGORIES
from noren.data.schema import Schema
from noren.errors import ParameterError


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("CERAMIC STRAWBERRY DESIGN MUG", "MUG"),
        ("PINK HEART SHAPE EGG FRYING PAN", "PAN"),
        ("SET OF 6 T-LIGHTS IN BOX", "T-LIGHT"),
        ("SET/6 RED SPOTTY PAPER PLATES", "PLATE"),
        ("12 PENCILS SMALL TUBE RED RETROSPOT", "RETROSPOT"),
        ("WHITE MUG WITH LID", "MUG"),
        ("BOX OF 24 MATCHES", "MATCH"),
        ("wine glass (large)", "GLASS"),
        ("CHRISTMAS", "CHRISTMAS"),
        ("WITH LOVE", "LOVE"),
        ("RED", "RED"),
        ("マグカップ", "マグカップ"),
        ("123 ?", ""),
    ],
)
def test_head_nouns(name: str, head: str) -> None:
    assert head_noun(name) == head


@pytest.fixture(scope="module")
def shop() -> dict[str, str]:
    return item_names(sample(customers=60, rows=4000, items=300, seed=2, schema="sample"))


def test_names_are_the_commonest_and_ties_the_first_by_text() -> None:
    rows = {
        "customer": ["1"] * 6, "invoice": ["1"] * 6, "date": ["2010/12/1"] * 6, "time": ["9:00"] * 6,
        "item": ["a", "a", "a", "b", "b", "c"], "description": ["MUG", "CUP", "CUP", "Z", "A", " "],
        "price": [1.0] * 6, "quantity": [1] * 6, "country": ["UK"] * 6,
    }  # fmt: skip
    assert item_names(History.of(rows, Schema.preset("sample"))) == {"a": "CUP", "b": "A"}


def test_categories_are_stable_complete_and_ordered_by_size(shop: dict[str, str]) -> None:
    found = derive_categories(shop, count=12, seed=0)
    assert found == derive_categories(dict(reversed(shop.items())), count=12, seed=0)
    assert set(found.of_item) == set(shop)
    sizes = [len(items) for items in found.groups().values()]
    assert list(found.groups()) == [f"c{i:02}" for i in range(1, 13)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(found.name(c) != c for c in found.groups())


def test_names_of_the_same_kind_meet(shop: dict[str, str]) -> None:
    """Two items of one derived category share the shelf they were generated on far more often than by chance."""
    shelf = {head_noun(noun): c.name for c in CATEGORIES for noun in c.nouns}
    label = derive_categories(shop, count=40, seed=0).of_item
    known = [(label[i], shelf[h]) for i, n in shop.items() if (h := head_noun(n)) in shelf]
    pairs = [(a[0] == b[0], a[1] == b[1]) for x, a in enumerate(known) for b in known[:x]]
    chance = sum(same for _label, same in pairs) / len(pairs)
    together = [same for labelled, same in pairs if labelled]
    assert len(known) > 150
    assert sum(together) / len(together) > 2 * chance


def test_nameless_items_are_unknown() -> None:
    names = {"a": "RED MUG", "b": "BLUE MUG", "c": "TOY CAR", "d": "123"}
    found = derive_categories(names, ["a", "b", "c", "d", "e"], count=3)
    assert found.of_item["d"] == found.of_item["e"] == UNKNOWN
    assert found.of_item["a"] == found.of_item["b"] == "c01"
    assert found.names == {"c01": "mug", "c02": "car", UNKNOWN: UNKNOWN}


def test_as_many_categories_as_items() -> None:
    assert len(derive_categories({"a": "MUG", "b": "CUP"}, count=2)) == 2


@pytest.mark.parametrize("count", [0, 3])
def test_impossible_counts(count: int) -> None:
    with pytest.raises(ParameterError, match="use a number from 1 to 2"):
        derive_categories({"a": "MUG", "b": "CUP"}, count=count)


def test_names_from_files(tmp_path: Path, small: History) -> None:
    (tmp_path / "names.csv").write_text("item,description\n0012,RED MUG\n12,TOY\n")
    assert read_item_names(tmp_path / "names.csv") == {"0012": "RED MUG", "12": "TOY"}
    (tmp_path / "bare.csv").write_text("item,price\na,1\n")
    with pytest.raises(ParameterError, match="the file has no product names"):
        read_item_names(tmp_path / "bare.csv")
    with pytest.raises(ParameterError, match="the data has no product names, and item codes are not words"):
        item_names(small)


def test_items_that_are_words_are_their_own_names() -> None:
    bought = Schema.of({"columns": {"customer": {"role": "customer"}, "item": {"role": "item"}}})
    items = ["whole milk", "UHT-milk", "citrus fruit", "tropical fruit", "butter milk", "85123A", None]
    names = item_names(
        History.of(
            {"customer": ["ann"] * 7, "item": items},
            bought.model_copy(
                update={"columns": tuple(c.model_copy(update={"optional": True}) for c in bought.columns)}
            ),
        )
    )
    assert names == {item: item for item in items if item}
    found = derive_categories(names, count=3)
    assert found.of_item["citrus fruit"] == found.of_item["tropical fruit"] != found.of_item["whole milk"]


def test_the_names_of_online_retail(shared: Path) -> None:
    path = shared / "data" / "online_retail.parquet"
    names = read_item_names(path)
    assert names == read_item_names(path, "online-retail")
    # S1's two examples of kitchen goods
    assert names["22059"] == "CERAMIC STRAWBERRY DESIGN MUG"
    assert names["84050"] == "PINK HEART SHAPE EGG FRYING PAN"
