"""Which setting to take, in sentences: the answer, why, and what the settings beside it would give or cost.

How safe a setting is, is said by :mod:`noren.judgement.sentences` alone. Reports of sweeps and the studio say the rest
through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from noren.data.schema import Kind
from noren.i18n import _, ngettext
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.place import Place
from noren.judgement.recommend import Choice
from noren.judgement.rule import Rule
from noren.judgement.sentences import bare_word, rule_sentence
from noren.judgement.verdict import Verdict, Word
from noren.measures import measures
from noren.measures.places import place_of_measure
from noren.protocols import Measure
from noren.sweeps.results import SettingResult

__all__ = [
    "Candidate",
    "answer",
    "beside",
    "failure_words",
    "headline",
    "kept_by",
    "reasons",
    "rule_words",
    "setting_sentence",
]

_MOST_NAMED: Final = 3
"""How many measures of use a recommendation names, the first few there are."""


class Candidate(Protocol):
    """What may be taken: a setting over its runs, or a single run."""

    @property
    def label(self) -> str:
        """The method and its parameters."""

    @property
    def place(self) -> Place:
        """Where it stands."""

    @property
    def verdict(self) -> Verdict | None:
        """How safe it is; of several runs, the worst."""

    @property
    def scores(self) -> Mapping[str, float]:
        """What measures say."""


def answer(candidates: Sequence[Candidate], choices: Sequence[Choice]) -> list[str]:
    """Return the recommendation in sentences: what to take, why, and what lies beside it."""
    said = [_("{sentence}.").format(sentence=headline(candidates, choices))]
    for choice in choices:
        chosen = choice.chosen if choice.chosen is not None else choice.safest
        if chosen is None:
            continue
        if len(choices) > 1 and choice.chosen is not None:
            said.append(_take(candidates[chosen]))
        said += reasons(candidates[chosen])
        said += beside(candidates, choice)
    return said


def headline(candidates: Sequence[Candidate], choices: Sequence[Choice]) -> str:
    """Return what to take, and why, as one sentence without its full stop."""
    judged = [one for one in candidates if one.place.use is not None or one.place.word != Word.UNTRIED]
    safe = [one for one in judged if one.place.word.is_safe]
    taken = [candidates[choice.chosen] for choice in choices if choice.chosen is not None]
    least = [candidates[choice.safest] for choice in choices if choice.safest is not None]
    words = {"count": count(len(judged)), "safe": count(len(safe))}
    if len(taken) > 1:
        said = _("Take one of {labels}, because each keeps the most use that its own measure tells of {safe} settings")
        return said.format(labels=", ".join(one.label for one in taken), **words)
    if taken:
        place = taken[0].place
        if len(judged) == 1:
            said = _("Take {label} ({word}), the only setting: it keeps {use} of the use")
        else:
            said = ngettext(
                "Take {label} ({word}), because it alone of {count} settings may be handed out; it keeps {use} of the "
                "use",
                "Take {label} ({word}), because of the {safe} of {count} settings that may be handed out it keeps the "
                "most use, {use}",
                len(safe),
            )
        return said.format(label=place.label, word=bare_word(place.word), use=percent(place.use or 0.0), **words)
    if not least:
        return _("No setting was judged, so none can be recommended")
    if len(judged) == 1:
        said = _("Do not take {label}, the only setting: its risk is {risk}")
    else:
        said = _("Take none of the {count} settings: the safest of them is {label}, at a risk of {risk}")
    return said.format(
        label=", ".join(one.label for one in least),
        risk=", ".join(percent(one.place.risk or 0.0) for one in least),
        **words,
    )


def _take(candidate: Candidate) -> str:
    words = _("{label} keeps the most of the settings whose use is told by {measure}: {use}.")
    place = candidate.place
    return words.format(label=candidate.label, measure=place.use_of, use=percent(place.use or 0.0))


def reasons(candidate: Candidate) -> list[str]:
    """Return what speaks for or against a setting: its verdict, and what stays useful."""
    verdict = candidate.verdict
    return [*([] if verdict is None else [verdict.sentence]), *_use(candidate)]


def _use(candidate: Candidate) -> list[str]:
    place = candidate.place
    if place.use is None:
        return []
    told = place_of_measure(place.use_of)
    if told is not None and told.sentence:
        said = [_(told.sentence).format(lost=decimal(1 - place.use), use=percent(place.use))]
    else:
        said = [_("The use kept is {use}").format(use=decimal(place.use))]
    kind = Kind.HISTORY if candidate.verdict is None else candidate.verdict.facts.kind
    perturbed = candidate.verdict is not None and candidate.verdict.facts.perturbed
    for words, measure in _telling(kind):
        kept = kept_by(candidate, measure.name)
        if perturbed and not measure.of_perturbed:
            continue  # of perturbed values no cell is sure, whatever their table still tells
        if kept is not None and len(said) <= _MOST_NAMED:
            said.append(_("{what} kept at {share}").format(what=_(words), share=decimal(kept)))
    return [_("{sentence}.").format(sentence="; ".join(said))]


def kept_by(candidate: Candidate, name: str) -> float | None:
    """Return what a measure of a share or of an error leaves, 1 for all; None where it is no such or was not taken."""
    value = candidate.scores.get(name)
    if value is None or name not in measures or measures[name].bounds[0] != 0.0:
        return None
    return max(0.0, 1 - value) if measures[name].goal == "lower" else value


def _telling(kind: Kind) -> list[tuple[str, type[Measure]]]:
    """Return the measures that a recommendation may name, with what each tells is kept."""
    every = [measures[name] for name in measures if kind in measures[name].accepts]
    told = [(measure.keeps.rank, measure.name, measure.keeps.words) for measure in every if measure.keeps is not None]
    return [(words, measures[name]) for _rank, name, words in sorted(told)]


# --- what lies beside ------------------------------------------------------------------------------------------------


def beside(candidates: Sequence[Candidate], choice: Choice) -> list[str]:
    """Return what the next more useful setting would give, and why not; and what the next safer one would cost."""
    if choice.chosen is None:
        return []
    own = candidates[choice.chosen].place
    said = []
    if choice.more_useful is not None:
        other = candidates[choice.more_useful]
        words = _("{label} would keep {more} more of the use. {verdict}")
        more = decimal((other.place.use or 0.0) - (own.use or 0.0))
        verdict = "" if other.verdict is None else other.verdict.sentence
        said.append(words.format(label=other.label, more=more, verdict=verdict))
    if choice.safer is not None:
        place = candidates[choice.safer].place
        words = _("{label} would be safer ({word}, risk {after} in place of {before}), and costs {less} of the use.")
        said.append(
            words.format(
                label=place.label,
                word=bare_word(place.word),
                after=percent(place.risk or 0.0),
                before=percent(own.risk or 0.0),
                less=decimal((own.use or 0.0) - (place.use or 0.0)),
            )
        )
    return said


def failure_words(name: str, why: Mapping[str, str]) -> str:
    """Return that something could not be computed, with what may be shown of the reason, as a part of a sentence."""
    return _("{name} could not be computed ({kind})").format(name=name, kind=why["kind"])


def setting_sentence(setting: SettingResult) -> str:
    """Return how a setting fared, for a line of a table."""
    if setting.verdict is not None:
        return setting.verdict.sentence
    failed = "; ".join(failure_words(name, why) for name, why in setting.failed.items())
    return failed or setting.runs[0].reason()


def rule_words(rule: Rule, choices: Sequence[Choice]) -> list[str]:
    """Return the rule by which the answer was found, in sentences."""
    said = [
        rule_sentence(rule),
        _(
            "Of the settings that are proved or withstand, the one that keeps the most use is recommended; of equals "
            "what is proved goes first, then what has less risk. With several seeds the worst run counts."
        ),
    ]
    if len(choices) > 1:
        said.append(_("Uses that different measures tell are not compared: each measure has an answer of its own."))
    return said
