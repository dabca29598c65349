"""What methods promise, in plain words, and when they are the wrong tool: how a person chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from noren.i18n import N_, _
from noren.protocols import Method

__all__ = ["GROUPS", "Group", "Words", "by_promise", "words_of"]


@dataclass(frozen=True)
class Group:
    """Methods of one promise."""

    key: str
    promise: str
    meaning: str
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """What one method is good for, and when it is not."""

    good: str
    wrong: str


GROUPS: Final = (
    Group(
        "alike",
        N_("Nobody can be told from k − 1 others"),
        N_("Whoever knows everything about a person is still left with k people and nothing to choose by. Proven."),
        ("generalize", "generalize-by-count", "mondrian", "hierarchy"),
    ),
    Group(
        "chance",
        N_("Every row is uncertain"),
        N_("Values are kept or drawn by chance, so no row can be laid at anybody's door. Proven; counts stay useful."),
        ("retention",),
    ),
    Group(
        "harder",
        N_("People are harder to recognise"),
        N_("Rows change, go or come, so that what an attacker knows no longer fits. Not proven: see what attacks say."),
        ("perturb", "swap", "thin", "pseudo-records"),
    ),
    Group(
        "months",
        N_("Months and repeated releases cannot simply be joined"),
        N_("A person has another name in each period: who is found in one is not found in the others for free."),
        ("monthly-pseudonyms",),
    ),
    Group(
        "names",
        N_("Only names are hidden"),
        N_("No protection against anybody who knows a little; the floor that other methods are compared with."),
        ("pseudonymize",),
    ),
)
_OTHER = Group("other", N_("Promises of their own"), N_("Methods that were added to this Noren."), ())

_WORDS: Final[Mapping[str, Words]] = {
    "generalize": Words(
        N_("Keeps the most use for this promise: it searches for who goes best with whom."),
        N_("You need it at once and have many thousands of customers, or rows must stay exact."),
    ),
    "generalize-by-count": Words(
        N_("At once, also for large data: customers with equally many rows go together."),
        N_("You can wait a minute: generalize keeps more. Or rows must stay exact."),
    ),
    "mondrian": Words(
        N_("Loses little: each group becomes only as vague as it must."),
        N_("The table must use one category system throughout, such as every age in decades."),
    ),
    "hierarchy": Words(
        N_("Keeps one category system throughout: whole columns become coarser together."),
        N_("Many columns with many values each: they all become coarse, and mondrian keeps more."),
    ),
    "retention": Words(
        N_("Tables and cross tabulations of many rows, whatever an attacker knows."),
        N_("Rows are read one by one, or there are few rows and many values."),
    ),
    "perturb": Words(
        N_("Monthly sums must stay near the truth."),
        N_("Somebody may compare whole histories: many rows average the noise away."),
    ),
    "swap": Words(
        N_("What was sold, when and at what price must stay exact."),
        N_("Most rows stay with their customer, and whoever follows the majority finds the person."),
    ),
    "thin": Words(
        N_("Taking out what gives people away, before another method."),
        N_("Alone: the rows that stay are exact, and one of them may suffice."),
    ),
    "pseudo-records": Words(
        N_("An attacker knows what somebody bought, and not when or at what price."),
        N_("An attacker may know a date or a price: the true rows are all still there. Sums grow."),
    ),
    "monthly-pseudonyms": Words(
        N_("Analyses within a month, and releases month after month."),
        N_("Analyses that follow a customer over months, or customers with strong habits."),
    ),
    "pseudonymize": Words(
        N_("Comparing, or a release to people bound by contract."),
        N_("Anybody outside may see it: a few known purchases lead to a person."),
    ),
}


def words_of(method: str) -> Words:
    """Return what a method is good for and when it is wrong, for a reader; empty for one nobody told about."""
    known = _WORDS.get(method)
    return Words("", "") if known is None else Words(_(known.good), _(known.wrong))


def by_promise(methods: Sequence[type[Method]]) -> list[tuple[Group, list[type[Method]]]]:
    """Return methods under what they promise, in the order to show; the chain is made by adding steps, not chosen."""
    there = {method.name: method for method in methods if method.name != "chain"}
    found = [(group, [there.pop(name) for name in group.methods if name in there]) for group in GROUPS]
    found.append((_OTHER, list(there.values())))
    return [
        (Group(group.key, _(group.promise), _(group.meaning), group.methods), some) for group, some in found if some
    ]
