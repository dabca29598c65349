"""The settings of a study on one map: which are drawn, what stands beside them, which shape is which method.

Reports of sweeps and the studio draw the same map. What is broken far beyond the rule is told in one sentence and not
drawn, so that the part of the map where a choice can be made has the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from noren.drawing.ground import Spec
from noren.drawing.risk_map import lines_of, method_shapes, risk_utility_map
from noren.i18n import _
from noren.judgement.page_text import printable
from noren.judgement.place import Choice, Place, far_beyond, far_sentence, worth_a_choice
from noren.judgement.rule import Rule
from noren.judgement.sentences import word_text
from noren.judgement.verdict import Word

__all__ = ["Placed", "SettingsMap", "settings_map"]

_LONGEST = 40
_NO_METHOD = "chain"
_SPOT = 0.005
"""How near to each other two settings lie on one spot, on both axes."""


class Placed(Protocol):
    """What has a place on the map: a setting of a study, or of the studio."""

    @property
    def label(self) -> str:
        """The method and its parameters."""

    @property
    def place(self) -> Place:
        """Where it stands."""

    @property
    def method(self) -> str:
        """The name of its method; ``chain`` where it has several."""

    @property
    def strength(self) -> str:
        """How strong the protection is, as labels write it: ``k = 5``; empty where nothing tells."""


@dataclass(frozen=True)
class SettingsMap:
    """A map of settings.

    Attributes
    ----------
    drawn
        The settings that are drawn, those that want a label most first; positions in the list of settings.
    labels
        What stands beside each of them: its verdict's mark, its method, and what tells it from others of its method.
    brief
        The same without the method, for a narrow map, where the shape tells it.
    far
        Which settings are not drawn, in a sentence; empty where all are.
    """

    places: Sequence[Place]
    drawn: Sequence[int]
    labels: Sequence[str]
    brief: Sequence[str]
    methods: Sequence[str]
    taken: Sequence[int]
    allowed: float
    far: str

    @property
    def shapes(self) -> dict[str, str]:
        """The shape of each method that is drawn, as a path between -1 and 1."""
        return method_shapes(self.methods)

    @property
    def words(self) -> list[str]:
        """The verdicts that occur, each with its mark."""
        return [word_text(word) for word in Word if any(place.word == word for place in self.places)]

    def chart(self, size: tuple[int, int], *, narrow: bool = False, addresses: Sequence[str] = ()) -> Spec:
        """Return the map as a chart; on a narrow one labels are brief."""
        return risk_utility_map(
            self.places,
            texts=self.brief if narrow else self.labels,
            size=size,
            near=True,
            taken=self.taken,
            lines=lines_of(self.places, worth_a_choice(self.places)),
            addresses=addresses,
            methods=self.methods,
            allowed=self.allowed,
        )


def settings_map(settings: Sequence[Placed], choices: Sequence[Choice], rule: Rule) -> SettingsMap | None:
    """Return the map of settings that are judged by a rule; None where none has a place."""
    known = [i for i, one in enumerate(settings) if one.place.is_placed]
    if not known:
        return None
    least = {choice.safest for choice in choices}
    far = [i for i in known if far_beyond(settings[i].place, rule) and i not in least]
    wanted = {i: rank for choice in choices for rank, i in enumerate(_named_by(choice))}
    best = set(worth_a_choice([one.place for one in settings]))
    drawn = sorted((i for i in known if i not in far), key=lambda i: (wanted.get(i, 9), i not in best))
    labels = _labels(settings)
    drawn, more = _apart(drawn, settings)
    marked = [(word_text(settings[i].place.word)[:1], i) for i in drawn]
    chosen = {choice.chosen for choice in choices}
    return SettingsMap(
        places=[settings[i].place for i in drawn],
        drawn=drawn,
        labels=[_with_more(f"{mark} {printable(labels[i], _LONGEST)}", more[i]) for mark, i in marked],
        brief=[_with_more(f"{mark} {_brief(settings[i], labels[i])}", more[i]) for mark, i in marked],
        methods=[settings[i].method for i in drawn],
        taken=[at for at, i in enumerate(drawn) if i in chosen],
        allowed=float(rule.tolerance),
        far=far_sentence([settings[i].place.model_copy(update={"label": labels[i]}) for i in far], rule),
    )


def _named_by(choice: Choice) -> list[int]:
    return [i for i in (choice.chosen, choice.safest, choice.more_useful, choice.safer) if i is not None]


def _apart(wanted: Sequence[int], settings: Sequence[Placed]) -> tuple[list[int], dict[int, int]]:
    """Return the settings to draw, and for how many more of its method each stands that lie on the same spot."""
    more: dict[int, int] = {}
    for i in wanted:
        own = settings[i]
        same = (
            j
            for j in more
            if (settings[j].method, settings[j].place.word) == (own.method, own.place.word)
            and abs((settings[j].place.use or 0.0) - (own.place.use or 0.0)) < _SPOT
            and abs((settings[j].place.risk or 0.0) - (own.place.risk or 0.0)) < _SPOT
        )
        first = next(same, None)
        if first is None:
            more[i] = 0
        else:
            more[first] += 1
    return list(more), more


def _with_more(label: str, more: int) -> str:
    return _("{label} and {more} more").format(label=label, more=more) if more else label


def _labels(settings: Sequence[Placed]) -> list[str]:
    """Return the method of each setting, how strong it is, and what else tells it from others of its method."""
    words = [_words(one) for one in settings]
    found = []
    for one, own in zip(settings, words, strict=True):
        alike = [other for other, each in zip(words, settings, strict=True) if each.method == one.method]
        shared = set.intersection(*map(set, alike)) if len(alike) > 1 and one.method != _NO_METHOD else set()
        found.append(", ".join(word for word in own if word not in shared or word in (one.method, one.strength)))
    return found


def _words(one: Placed) -> list[str]:
    words = one.label.split(", ")
    if not one.strength or one.strength in words or one.method == _NO_METHOD:
        return words
    return [words[0], one.strength, *words[1:]]


def _brief(one: Placed, label: str) -> str:
    return printable(label.removeprefix(one.method).strip(", ") or label, _LONGEST)
