"""A new name each month: months are linked by habits all the same."""

from __future__ import annotations

from .canvas import Canvas, Meaning, Picture
from .words import words_of

__all__ = ["BASKETS", "HABITS", "draw", "linked"]

# what each customer buys in each month, by row of the drawing: the order in a month tells nothing
HABITS = {"Ann": ("tea", "jam"), "Bob": ("rice", "soap"), "Cho": ("cup",)}
BASKETS: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = (
    (("71", "Ann", ("tea", "jam")), ("44", "Bob", ("rice", "soap")), ("58", "Cho", ("cup",))),
    (("23", "Bob", ("rice", "soap")), ("90", "Cho", ("tea",)), ("15", "Ann", ("tea", "jam"))),
    (("37", "Cho", ("rice",)), ("62", "Ann", ("tea", "jam")), ("81", "Bob", ("rice", "soap"))),
)
MARKS: dict[str, tuple[Meaning, str]] = {"Ann": ("risk", ""), "Bob": ("risk", "6 3"), "Cho": ("muted", "1 5")}

WORDS = words_of("pseudonyms")


def linked() -> list[str]:
    """Return the customers who buy the same in every month, so that their pseudonyms can be put together.

    >>> linked()
    ['Ann', 'Bob']
    """
    bought = {name: {items for month in BASKETS for _p, who, items in month if who == name} for name in HABITS}
    return [name for name, baskets in bought.items() if len(baskets) == 1]


def draw(language: str) -> Picture:
    """Draw the months as columns and the links between them."""
    words = WORDS[language]
    canvas = Canvas(262)
    columns, rows, wide, high = (12, 161, 310), (34, 98, 162), 118, 48
    spot = {
        (at, who): (columns[at], rows[down])
        for at, month in enumerate(BASKETS)
        for down, (_pseudonym, who, _items) in enumerate(month)
    }
    links = linked()
    for name in links:
        meaning, dash = MARKS[name]
        for at in range(len(BASKETS) - 1):
            (x1, y1), (x2, y2) = spot[at, name], spot[at + 1, name]
            canvas.line((x1 + wide, y1 + high / 2), (x2, y2 + high / 2), meaning=meaning, dash=dash, width=2)
    for at, month in enumerate(BASKETS):
        label = words["month"].format(number=at + 1)
        canvas.text(columns[at] + wide / 2, 20, label, anchor="middle", small=True, meaning="muted")
        for pseudonym, who, items in month:
            x, y = spot[at, who]
            canvas.box(x, y, wide, high, fill="released", edge="released", faint=True)
            canvas.text(x + 10, y + 20, pseudonym, strong=True)
            canvas.text(x + 10, y + 39, " · ".join(words[item] for item in items), small=True)
    canvas.line((12, 234), (46, 234), meaning="risk", width=2)
    canvas.text(54, 238, words["linked"].format(names=", ".join(links)), small=True)
    apart = ", ".join(name for name in HABITS if name not in links)
    canvas.text(54, 257, words["apart"].format(names=apart), small=True, meaning="muted")
    description = words["description"]
    return Picture("pseudonyms", words["finding"], description, canvas.svg("pseudonyms", description))
