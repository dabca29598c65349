"""Three histories become one: k as intervals and sets."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any

import polars as pl

from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["PURCHASES", "draw", "released_rows"]

PURCHASES = (
    ("Ann", date(2026, 4, 2), "tea", 3.0),
    ("Bob", date(2026, 4, 6), "cup", 4.5),
    ("Cho", date(2026, 4, 9), "tea", 3.8),
    ("Ann", date(2026, 4, 20), "jam", 1.2),
    ("Bob", date(2026, 4, 12), "rice", 0.9),
    ("Cho", date(2026, 4, 16), "rice", 2.1),
)
PEOPLE = ("Ann", "Bob", "Cho")

WORDS = words_of("k")


@cache
def released_rows() -> dict[str, list[dict[str, Any]]]:
    """Return the public rows of each pseudonym, the dearer first; Noren itself makes them.

    >>> rows = released_rows()
    >>> [row["price"] for row in rows["10"]]
    [{'lo': 3.0, 'hi': 4.5}, {'lo': 0.9, 'hi': 2.1}]
    >>> rows["10"] == rows["11"] == rows["12"]
    True
    """
    import noren

    original = pl.DataFrame(PURCHASES, schema=["customer", "date", "item", "price"], orient="row")
    public = noren.protect(original, "generalize-by-count", k=3, seed=1).public.frame
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in public.sort(pl.col("price").struct.field("lo"), descending=True).iter_rows(named=True):
        rows.setdefault(row.pop("customer"), []).append(row)
    return dict(sorted(rows.items()))


def draw(language: str) -> Picture:
    """Draw prices on a scale, their ranges, and who may be behind which pseudonym."""
    words = WORDS[language]
    canvas = Canvas(372)
    rows = released_rows()
    shared = next(iter(rows.values()))

    def across(price: float) -> float:
        return 30 + price * 80

    canvas.text(8, 18, words["original"], small=True, meaning="original")
    base = 62
    for name, _day, _item, price in PURCHASES:
        canvas.dot(across(price), base, meaning="original")
        canvas.text(across(price), base - 11, name[0], anchor="middle", meaning="original")
    canvas.line((30, base + 12), (430, base + 12), meaning="muted")
    for price in range(6):
        canvas.line((across(price), base + 12), (across(price), base + 16), meaning="muted")
        canvas.text(across(price), base + 30, f"{price}", anchor="middle", small=True, meaning="muted")
    canvas.text(8, 116, words["released"], small=True, meaning="released")
    for row in shared:
        lo, hi = across(row["price"]["lo"]), across(row["price"]["hi"])
        canvas.box(lo, 124, hi - lo, 14, fill="released", edge="released", faint=True)
    canvas.box(8, 152, 424, 56, edge="released")
    for at, row in enumerate(shared):
        y = 175 + 22 * at
        day = f"[{row['date']['lo'].day}; {row['date']['hi'].day}]"
        prices = f"[{row['price']['lo']:.2f}; {row['price']['hi']:.2f}]"
        canvas.text(20, y, f"{words['day']} {day}", meaning="released")
        canvas.text(126, y, f"{words['item']} {{{'; '.join(sorted(row['item']))}}}", meaning="released")
        canvas.text(276, y, f"{words['price']} {prices}", meaning="released")
    places = (90, 220, 350)
    for here in places:
        for there in places:
            canvas.line((here, 250), (there, 326), meaning="muted", dash="3 3")
    for x, pseudonym, name in zip(places, rows, PEOPLE, strict=True):
        canvas.line((x, 232), (x, 212), meaning="released", arrow=True)
        canvas.text(x, 246, words["pseudonym"].format(name=pseudonym), anchor="middle", small=True, meaning="released")
        canvas.text(x, 342, name, anchor="middle", meaning="original", strong=True)
    canvas.text(220, 364, words["who"], anchor="middle", small=True, meaning="muted")
    return Picture("k", words["finding"], words["description"], canvas.svg("k", words["description"]))
