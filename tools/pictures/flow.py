"""The way from an original to a verdict."""

from __future__ import annotations

from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["draw"]

WORDS = words_of("flow")


def draw(language: str) -> Picture:
    """Draw the parts as boxes and what is done with them as arrows."""
    words = WORDS[language]
    canvas = Canvas(330)

    def boxed(x: float, y: float, width: float, key: str, meaning: str) -> None:
        canvas.box(x, y, width, 34, fill=meaning, edge=meaning, faint=True)  # type: ignore[arg-type]
        canvas.text(x + width / 2, y + 22, words[key], anchor="middle")

    canvas.box(148, 74, 284, 78, edge="muted")
    canvas.text(158, 92, words["release"], small=True, meaning="muted")
    boxed(8, 14, 116, "original", "original")
    boxed(156, 104, 84, "public", "released")
    boxed(248, 104, 84, "statement", "released")
    boxed(340, 104, 84, "secret", "risk")
    canvas.line((124, 31), (210, 31), meaning="muted")
    canvas.line((210, 31), (210, 72), meaning="muted", arrow=True)
    canvas.text(168, 24, words["protect"], anchor="middle", small=True, meaning="muted")
    boxed(8, 196, 116, "attack", "risk")
    canvas.line((50, 48), (50, 194), meaning="muted", dash="4 3", arrow=True)
    canvas.text(58, 84, words["knows"], small=True, meaning="muted")
    canvas.line((176, 138), (104, 194), meaning="muted", arrow=True)
    boxed(8, 282, 116, "guess", "risk")
    canvas.line((66, 230), (66, 280), meaning="muted", arrow=True)
    boxed(184, 282, 140, "leak", "risk")
    boxed(184, 210, 140, "use", "released")
    canvas.line((124, 299), (182, 299), meaning="muted", arrow=True)
    canvas.line((408, 138), (408, 299), meaning="muted")
    canvas.line((408, 299), (326, 299), meaning="muted", arrow=True)
    canvas.line((216, 138), (240, 208), meaning="muted", arrow=True)
    canvas.text(330, 231, words["measure"], small=True, meaning="muted")
    canvas.text(153, 290, words["measure"], small=True, meaning="muted", anchor="middle")
    for x in (226, 290):
        canvas.line((x, 104), (320, 56), meaning="muted")
    canvas.line((320, 56), (358, 36), meaning="muted", arrow=True)
    canvas.text(366, 30, words["publish"], small=True, meaning="muted")
    return Picture("flow", words["finding"], words["description"], canvas.svg("flow", words["description"]))
