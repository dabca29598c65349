"""The front pages are true: the README, its example and picture, and the glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import glossary_page

import noren
from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = README.partition("\n## ")[0]


def test_the_readme_is_short_counts_what_there_is_and_shows_the_studio() -> None:
    assert len(README.split()) <= 600
    assert f"{len(methods)} methods, {len(attacks)} re-identification attacks and {len(measures)} measures" in FIRST
    [(text, place)] = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", FIRST)
    assert place == "docs/images/studio.png"
    assert len(text) > 20  # a description for readers who cannot see the picture


@pytest.mark.slow
def test_the_readme_shows_a_true_order_and_what_is_lost() -> None:
    orders = noren.sample(customers=60, rows=3_000, items=200, seed=1)
    release = noren.protect(orders, "generalize", k=5, seed=1)
    order = orders.to_polars().row(32, named=True)
    released = release.to_polars().row(release.secret.origin.to_list().index(32), named=True)
    assert "| {customer} | {date:%Y/%-m/%-d} | {item} | {price} | {quantity} |".format(**order) in FIRST
    released["item"] = " or ".join(released["item"].replace(";", ", ").rsplit(", ", 1))
    cells = {name: str(cell).strip("[]{}").replace(";", " to ") for name, cell in released.items()}
    assert "| {customer} | {date} | {item} | {price} | {quantity} |".format(**cells) in FIRST
    assert f"{len(orders) - len(release.public)} of 3,000 orders are deleted" in FIRST
    empty = [column.name for column in release.public.frame if column.null_count() == len(release.public)]
    assert f"({', '.join(empty)}) are empty" in FIRST


@pytest.mark.parametrize("name", ["studio", "map"])
def test_pictures_are_small_enough_to_load_at_once(name: str) -> None:
    content = (ROOT / "docs" / "images" / f"{name}.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 150_000


@pytest.mark.parametrize(
    ("language", "entry"), [("en", "| **Pseudonym** | 仮名 |"), ("ja", "| **仮名** | Pseudonym |")]
)
def test_the_glossary_is_up_to_date_and_goes_both_ways(language: str, entry: str) -> None:
    written = glossary_page.PAGES[language].read_text(encoding="utf-8")
    assert glossary_page.page(written, language) == written, "run python tools/glossary_page.py"
    assert entry in glossary_page.page("", language)


def test_every_word_leads_to_a_page() -> None:
    assert [page for page in glossary_page.USED_IN.values() if not (glossary_page.DOCS / page).exists()] == []
