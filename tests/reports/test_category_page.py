"""The page on which categories are reviewed."""

from pathlib import Path

from noren.data.categories import Categories
from noren.reports.profile import EXAMPLES, category_page, write_category_page


def test_the_page_shows_sizes_shares_and_examples(tmp_path: Path) -> None:
    many = {f"i{n:03}": "c2" for n in range(75)}
    shelf = Categories(many | {f"x{n}": "c1" for n in range(25)}, {"c1": "toys", "c2": "mugs"})
    page = write_category_page(shelf, {"i000": "RED MUG"}, tmp_path / "c.html").read_text(encoding="utf-8")
    assert page == category_page(shelf, {"i000": "RED MUG"})
    assert page.startswith("<!doctype html>")
    assert "100 items in 2 categories; the largest has 75" in page
    assert "mugs (75)" in page
    assert "<strong>i000</strong> RED MUG" in page
    assert page.index("mugs (75)") < page.index("toys (25)")
    assert page.count("<li>") == EXAMPLES * 2
    assert f"+ {75 - EXAMPLES}<" in page


def test_what_comes_from_data_is_escaped() -> None:
    page = category_page(Categories({"<b>": "<i>"}, {"<i>": "<script>"}), {"<b>": '"&\x1b'})
    assert "<b>" not in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page


def test_no_items() -> None:
    assert "0 items in 0 categories" in category_page(Categories({}), {})
