"""Categories from files, and what a release says of them."""

from pathlib import Path

import polars as pl
import pytest

from noren.data.categories import (
    UNKNOWN,
    Categories,
    category_of_item,
    complete,
    in_categories,
    public_name,
    read_categories,
    release_categories,
    write_categories,
)
from noren.data.release import Statement
from noren.errors import FileError, ParameterError

SHELF = Categories({"b2": "c2", "a1": "c1", "a2": "c1"}, {"c1": 'mugs, "large"', "c2": "toys"})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write_categories(SHELF, tmp_path / "c.csv")
    assert path.read_text() == 'item,category,name\na1,c1,"mugs, ""large"""\na2,c1,"mugs, ""large"""\nb2,c2,toys\n'
    again = read_categories(path)
    assert (again.of_item, again.names) == (dict(sorted(SHELF.of_item.items())), dict(SHELF.names))


@pytest.mark.parametrize("text", ["a1,x\nb2,y\n", "item,category\na1,x\nb2,y\n", "\ufeffItem,Category\n a1 , x \nb2,y"])
def test_a_header_is_not_needed(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.csv").write_text(text, encoding="utf-8")
    found = read_categories(tmp_path / "c.csv")
    assert found.of_item == {"a1": "x", "b2": "y"}
    assert found.name("x") == "x"


def test_codes_keep_their_zeros(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("0012,01\n12,1\n")
    assert read_categories(tmp_path / "c.csv").of_item == {"0012": "01", "12": "1"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file has 0 columns"),
        ("a\nb\n", "the file has 1 columns"),
        ("a,b,c,d\n", "the file has 4 columns"),
        ("a,x\nb,\n", "row 2: an item or its category is missing"),
        ("item,category\na,x\n,y\n", "row 3: an item or its category is missing"),
        ("a,x\nb,y\na,y\n", "row 3, 'a': the item has two categories"),
        ('a,"x;y"\n', "a category code contains"),
        ("a,b\nc,d,e\n", "cannot be read"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(FileError, match=said):
        read_categories(tmp_path / "c.csv")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        read_categories(tmp_path / "none.csv")


def test_an_item_without_a_category_is_named() -> None:
    with pytest.raises(ParameterError, match="1 items have no category, for example zz"):
        in_categories(pl.Series(["a1", "zz"]), SHELF.of_item)
    with pytest.raises(ParameterError, match="for example zz"):
        SHELF.groups_of(pl.Series(["a1", "zz"]))


def test_completing_puts_the_rest_into_unknown() -> None:
    whole = complete(SHELF, ["zz", "a1"])
    assert whole.of_item == {"a1": "c1", "zz": UNKNOWN}
    assert set(whole.names) == {"c1"}


def test_groups_and_back() -> None:
    assert SHELF.groups() == {"c1": ["a1", "a2"], "c2": ["b2"]}
    assert SHELF.groups_of(pl.Series(["b2", None, "b2", "a2"])) == {"c1": ["a2"], "c2": ["b2"]}
    assert category_of_item(SHELF.groups()) == dict(SHELF.of_item)
    assert len(SHELF) == 2


def test_what_a_statement_says() -> None:
    assert release_categories(Statement("m")) is None
    assert release_categories(Statement("m", notes={"categories": {"c": ["a"]}})) == {"c": ["a"]}
    with pytest.raises(ParameterError, match="not lists of items"):
        release_categories(Statement("m", notes={"categories": {"c": "a"}}))


def test_a_statement_does_not_say_where_a_file_lies() -> None:
    assert public_name(Path("/home/somebody/c.csv")) == {"categories": "c.csv"}
    assert public_name(None) == {"categories": None}
