"""Risk and use of releases of one small history, made, attacked and measured while the site is built."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from .axes import Axes
from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["ASKED", "RiskUtilityPoint", "draw", "places"]

STRENGTHS = (2, 3, 4, 6)
METHODS: dict[str, dict[str, Any]] = {
    "generalize": {"effort": "quick"},
    "generalize-by-count": {"suppress_cells": True},
}
ATTACKS = ("consistency", "jaccard", "nearest")
ASKED = 0.9

WORDS = words_of("frontier")


@dataclass(frozen=True)
class RiskUtilityPoint:
    """A release on the map."""

    method: str
    k: int
    use: float
    risk: float
    survival: float
    on_frontier: bool

    @property
    def label(self) -> str:
        """How the release is called."""
        return f"{self.method}, k = {self.k}"


@cache
def places() -> tuple[RiskUtilityPoint, ...]:
    """Return every release with its place on the map."""
    import noren
    from noren.judgement.frontier import RiskUtilityPoint as Judged
    from noren.judgement.frontier import frontier

    history = noren.sample(customers=40, rows=800, items=120, seed=1, schema="pwscup2018")
    points: list[tuple[str, int, float, float, float]] = []
    for method, settings in METHODS.items():
        for k in STRENGTHS:
            release = noren.protect(history, method, k=k, seed=1, **settings)
            guesses = [noren.attack(history, release, attack) for attack in ATTACKS]
            points.append(
                (
                    method,
                    k,
                    1 - noren.measure(history, release, "cell-error").value,
                    noren.measure(history, release, "reid-rate", guesses=guesses).value,
                    noren.measure(history, release, "survival", bound="sharp").value,
                )
            )
    best = set(frontier([Judged(label="", use=use, risk=risk) for _method, _k, use, risk, _survival in points]))
    return tuple(RiskUtilityPoint(*facts, on_frontier=at in best) for at, facts in enumerate(points))


def draw(language: str) -> Picture:
    """Draw the map with its frontier."""
    words = WORDS[language]
    canvas = Canvas(340)
    axes = Axes(48, 424, 30, 244, (0.15, 0.75), (0, 0.6))
    canvas.text(8, 16, words["y"], meaning="muted", small=True)
    axes.draw(canvas, (0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (0, 0.2, 0.4, 0.6), percent="y")
    canvas.text((axes.left + axes.right) / 2, 282, words["x"], meaning="muted", anchor="middle", small=True)
    corners = sorted((place.use, place.risk) for place in places() if place.on_frontier)
    steps = [corners[0]]
    for use, risk in corners[1:]:
        steps += [(steps[-1][0], risk), (use, risk)] if risk < steps[-1][1] else [(use, steps[-1][1]), (use, risk)]
    canvas.path((axes.at(*corner) for corner in steps), meaning="ink", dash="5 4", width=1.5)
    for place in places():
        x, y = axes.at(place.use, place.risk)
        if place.survival >= ASKED:
            canvas.dot(x, y, meaning="released", radius=6)
        else:
            canvas.triangle(x, y, meaning="risk", radius=7)
        canvas.text(x + 9, y - 6, f"{place.k}", small=True, meaning="ink" if place.on_frontier else "muted")
    for place in places():
        x, y = axes.at(place.use, place.risk)
        if (place.method, place.k) == ("generalize", 4):
            canvas.text(x + 14, y + 20, place.method, small=True)
        if (place.method, place.k) == ("generalize-by-count", 3):
            canvas.text(x - 12, y + 5, place.method, small=True, meaning="muted", anchor="end")
    canvas.dot(56, 310, meaning="released", radius=6)
    canvas.text(68, 314, words["safe"].format(asked=ASKED), small=True)
    canvas.triangle(330, 310, meaning="risk", radius=7)
    canvas.text(343, 314, words["unsafe"], small=True)
    safe = [place for place in places() if place.survival >= ASKED]
    places_text = "".join(
        words["place"].format(
            label=place.label,
            use=place.use,
            risk=place.risk,
            verdict=words["safe" if place in safe else "unsafe"].format(asked=ASKED),
        )
        for place in places()
    )
    pick = max(safe, key=lambda place: place.use).label
    finding = words["finding"].format(count=len(places()), best=len(corners), asked=ASKED, pick=pick)
    description = words["description"].format(count=len(places()), places=places_text)
    return Picture("frontier", finding, description, canvas.svg("frontier", description))
