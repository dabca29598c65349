"""What attacks say they see through, all of it at once, they do: five times as often right as chance."""

from __future__ import annotations

import pytest
from tests.attacks.recodings import recoded, sampled, share_named

from noren.attacks import attacks
from noren.data.schema import Kind
from noren.protocols import Recoding

CUSTOMERS = 40
OF_HISTORIES = [name for name in attacks if Kind.HISTORY in attacks[name].accepts]


@pytest.mark.parametrize("name", OF_HISTORIES)
def test_an_attack_sees_through_what_it_says(name: str) -> None:
    ways = attacks[name].sees_through
    assert ways
    found = []
    for seed in (1, 2):
        known, public, truth = recoded(sampled(CUSTOMERS, seed), ways, seed)
        people = len(set(truth.values()))
        found.append((share_named(name, known, public, truth), 5 / people))
    assert sum(share for share, _bar in found) > sum(min(bar, 0.5) for _share, bar in found)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("consistency", Recoding.NOISED_NUMBERS),
        ("jaccard", Recoding.RENAMED_ITEMS),
        ("s4", Recoding.RENAMED_ITEMS),
        ("s1", Recoding.SHIFTED_DATES),
        ("unique-rows", Recoding.GENERALISED_CELLS),
    ],
)
def test_and_what_it_does_not_say_can_hide_people(name: str, way: Recoding) -> None:
    assert way not in attacks[name].sees_through
    assert share_named(name, *recoded(sampled(CUSTOMERS, 1), {way}, 1)) <= 0.1


def test_some_attack_sees_through_each() -> None:
    assert frozenset[Recoding]().union(*(attacks[name].sees_through for name in attacks)) == frozenset(Recoding)


def test_phrases_stand_in_a_list() -> None:
    words = [str(way) for way in Recoding]
    assert len(set(words)) == len(words)
    assert all(one[0].islower() and one[-1].isalpha() for one in words)
