"""Every attack and every measure of histories, at sizes and shapes that nobody would choose."""

import math
from typing import Any

import pytest

from noren import api
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Kind, Schema
from noren.errors import NorenError
from noren.measures import measures
from noren.measures.safety.classes import Classes
from noren.protocols import Evidence

SCHEMA = Schema.preset("pwscup2018")
SHAPES = {
    "equal": lambda n: [(0, 0)] * n,
    "different": lambda n: [(i, i) for i in range(n)],
    "ties": lambda n: [(i % 2, i % 3) for i in range(n)],
}
SIZES = (1, pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow), 13)


def shop(shape: str, size: int) -> History:
    """One purchase of each customer; what and at what price is the shape."""
    bought = SHAPES[shape](size)
    rows: dict[str, list[Any]] = {
        "customer": [f"c{i}" for i in range(size)],
        "date": ["2010/12/1"] * size,
        "item": [f"i{item}" for item, _price in bought],
        "price": [1.0 + price for _item, price in bought],
        "quantity": [1] * size,
    }
    return History.of(rows, SCHEMA)


def released(original: History) -> Release:
    if len(original) < 3:
        return api.protect(original, "pseudonymize", seed=1)
    return api.protect(original, "generalize-by-count", k=3, seed=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_attack_and_measure(shape: str, size: int) -> None:
    original = shop(shape, size)
    release = released(original)
    assert isinstance(release.public, History)
    customers, pseudonyms = set(original.customers), set(release.public.customers)
    guesses, reasons = {}, []
    for name in sorted(attacks):
        attack = attacks.create(name)
        if Kind.HISTORY not in attack.accepts or attack.lacks(SCHEMA):
            continue
        try:
            guess = api.attack(original, release, attack, seed=1)
        except NorenError as error:
            reasons.append(str(error))
            continue
        named = guess.answers
        assert set(named["pseudonym"]) <= pseudonyms, name
        assert set(named["customer"]) <= customers, name
        assert named.select("pseudonym", "customer").is_unique().all(), name
        guesses[name] = guess
    assert {"consistency", "jaccard", "unique-rows"} <= guesses.keys()
    judged = set()
    for name in sorted(measures):
        measure = measures.create(name)
        if Kind.HISTORY not in measure.accepts or measure.lacks(SCHEMA):
            continue
        try:
            score = api.measure(original, release, measure, guesses=guesses)
        except NorenError as error:
            reasons.append(str(error))
            continue
        low, high = measure.bounds
        assert math.isnan(score.value) or low <= score.value <= (math.inf if high is None else high), name
        judged.add(name)
    assert not any("\n" in reason for reason in reasons)
    assert {"classes", "survival", "cell-error", "effective"} <= judged


@pytest.mark.parametrize(("shape", "fits", "survival"), [("equal", 2001, 1.0), ("different", 3, 0.8861)])
def test_two_thousand_and_one(shape: str, fits: int, survival: float) -> None:
    # one class of all, or 667 triples: two triples and a third of one are named rightly with 1/108
    original = shop(shape, 2001)
    release = released(original)  # audited
    score = Classes().measure(Evidence(original, release))
    assert (score.value, score.parts["one_to_one"]) == (fits, fits)
    assert api.measure(original, release, "survival").value == pytest.approx(survival, abs=5e-5)


def test_many_equal_customers_are_too_many_pairs_for_one_assignment() -> None:
    original = shop("equal", 6000)
    with pytest.raises(NorenError, match="36,000,000 candidate pairs of a pseudonym and a customer, which is too many"):
        api.attack(original, released(original), "consistency")
