"""Retention and replacement: what happens to a value, and how surely a row can be told to be somebody's."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np

from noren.kernels.reconstruction.retention import keep_probabilities

from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["draw", "owners", "rho"]

TOWNS = 5
HAS = (0, 1, 1, 2, 3, 4, 4)  # the town of each person in the original; the first is alone in hers
SEEN = (0, 1, 3, 2, 3, 4, 4)  # the towns of the perturbed rows; whose is the first?
K = 2

WORDS = words_of("pk")
PEOPLE = ("Ann", "Bob", "Cho", "Dan", "Eri", "Fay", "Gen")


def rho() -> float:
    """Return the probability to keep a town, from k and the number of people.

    >>> from noren.kernels.reconstruction.retention import k_of
    >>> round(rho(), 3), round(k_of([rho()], [TOWNS], len(HAS)), 3)
    (0.225, 2.0)
    """
    return keep_probabilities(K, [TOWNS], len(HAS))[0]


@cache
def owners() -> tuple[float, ...]:
    """Return for each person the probability that the first perturbed row is theirs, over all ways to give out rows.

    >>> chances = owners()
    >>> round(sum(chances), 9), max(chances) <= 1 / K
    (1.0, True)
    """
    other = (1 - rho()) / TOWNS
    channel = np.full((TOWNS, TOWNS), other) + rho() * np.eye(TOWNS)
    ways = np.array(list(permutations(range(len(HAS)))))  # ways[w, row] is who owns the row
    likely = channel[np.array(HAS)[ways], np.array(SEEN)].prod(axis=1)
    shares = np.bincount(ways[:, 0], weights=likely, minlength=len(HAS))
    return tuple(float(share) for share in shares / shares.sum())


def draw(language: str) -> Picture:
    """Draw what a value becomes, and below it whose a row may be."""
    words = WORDS[language]
    keep, chances = rho(), owners()
    other = (1 - keep) / TOWNS
    values = {"rho": keep, "ann": chances[0], "most": 1 / K, "kept": keep + other, "other": other}
    canvas = Canvas(330)
    canvas.text(8, 18, words["becomes"], strong=True)
    base = 120
    for town in range(TOWNS):
        x, own = 60 + town * 56, town == 0
        tall = 170 * (keep + other if own else other)
        canvas.box(x, base - tall, 36, tall, fill="original" if own else "released", edge="released", faint=not own)
        canvas.text(x + 18, base - tall - 5, f"{tall / 170:.2f}", anchor="middle", small=True)
        canvas.text(x + 18, base + 18, "ABCDE"[town], anchor="middle")
    canvas.line((40, base), (430, base), meaning="muted")
    canvas.text(126, 44, words["kept"], small=True, meaning="muted")
    canvas.line((122, 40), (100, 46), meaning="muted")
    canvas.text(8, 174, words["whose"], strong=True)
    base = 300
    limit = base - 200 / K
    canvas.line((40, limit), (430, limit), meaning="ink", dash="5 4")
    canvas.text(430, limit - 5, words["limit"].format_map(values), anchor="end", small=True)
    for at, (name, chance) in enumerate(zip(PEOPLE, chances, strict=True)):
        x, tall = 48 + at * 54, 200 * chance
        canvas.box(x, base - tall, 36, tall, fill="risk", edge="risk", faint=at > 0)
        canvas.text(x + 18, base - tall - 5, f"{chance:.2f}", anchor="middle", small=True)
        canvas.text(x + 18, base + 18, name, anchor="middle", small=True)
    canvas.line((40, base), (430, base), meaning="muted")
    told_owners = ", ".join(f"{name} {chance:.2f}" for name, chance in zip(PEOPLE, chances, strict=True))
    description = words["description"].format_map({**values, "owners": told_owners})
    return Picture("pk", words["finding"].format_map(values), description, canvas.svg("pk", description))
