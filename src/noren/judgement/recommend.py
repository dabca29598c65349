"""Which of many settings to take: a rule that fits in a sentence, and what else there would be.

*Of the settings that are proved or withstand, the one that keeps the most utility; of equals proved before withstands,
then the one with less risk.* Utilities by different measures are not compared: there is then one answer for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noren.judgement.place import Place, frontier
from noren.judgement.verdict import Word

__all__ = ["Choice", "recommend"]


@dataclass(frozen=True)
class Choice:
    """What to take, and what lies beside it; all are positions in the list of places.

    Attributes
    ----------
    use_of
        The measure that tells the use of these places.
    chosen
        The answer; none where nothing may be handed out.
    more_useful
        The next one that keeps more; it may not be handed out.
    safer
        The most useful of those that are safer still.
    safest
        Where nothing may be handed out, the one with the least risk.
    """

    use_of: str | None
    chosen: int | None = None
    more_useful: int | None = None
    safer: int | None = None
    safest: int | None = None


def recommend(places: Sequence[Place]) -> list[Choice]:
    """Return which place to take; one answer for each measure of use, nothing where no place is known.

    >>> recommend([Place(label="k = 2", word="broken", use=0.8, risk=0.5),
    ...            Place(label="k = 5", word="proved", use=0.7, risk=0.2),
    ...            Place(label="k = 6", word="proved", use=0.6, risk=0.17)])
    [Choice(use_of=None, chosen=1, more_useful=0, safer=2, safest=None)]
    """
    groups: dict[str | None, list[int]] = {}
    for i, place in enumerate(places):
        if place.is_placed:
            groups.setdefault(place.use_of, []).append(i)
    best = frontier(places)
    return [_choice(use_of, members, places, best) for use_of, members in groups.items()]


def _choice(use_of: str | None, members: Sequence[int], places: Sequence[Place], best: Sequence[int]) -> Choice:
    def use(i: int) -> float:
        return places[i].use or 0.0

    def risk(i: int) -> float:
        return places[i].risk or 0.0

    safe = [i for i in members if places[i].word.is_safe]
    if not safe:
        broken = [i for i in members if places[i].word == Word.BROKEN]
        return Choice(use_of, safest=min(broken, key=lambda i: (risk(i), -use(i)), default=None))
    chosen = min(safe, key=lambda i: (-use(i), -places[i].word.order, risk(i)))
    beyond = [i for i in best if i in members and use(i) > use(chosen)]
    safer = [i for i in safe if _is_safer(places[i], places[chosen])]
    return Choice(
        use_of,
        chosen,
        more_useful=min(beyond, key=lambda i: (use(i), risk(i)), default=None),
        safer=min(safer, key=lambda i: (-use(i), risk(i)), default=None),
    )


def _is_safer(one: Place, other: Place) -> bool:
    word, risk = one.word.order - other.word.order, (one.risk or 0.0) - (other.risk or 0.0)
    return word >= 0 and risk <= 0 and (word > 0 or risk < 0)
