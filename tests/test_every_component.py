"""Every method, attack and measure on purchases as they come: a result, or one line that says what it needs.

Warnings are errors here as everywhere, so a division by nothing or the mean of nothing fails too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import pytest
from tests.awkward_histories import AWKWARD, MEASURED, blank, history, plain_rows

from noren import api
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role
from noren.errors import InputError, ParameterError
from noren.measures import measures
from noren.methods import methods
from noren.protocols import Component, Guess
from noren.registry import Registry, build

METHODS: dict[str, dict[str, Any]] = {
    "chain": {"steps": ["thin", "swap"]},
    "generalize": {"k": 2, "effort": "quick"},
    "generalize-by-count": {"k": 2},
    "microaggregate": {"k": 2, "effort": "quick"},
    "pseudo-records": {"clusters": 2, "effort": "quick"},
    "thin": {"share": 0.3, "rarest": True},
}
SLOW = {"no price", "no quantity", "blank dates", "blank items", "blank prices", "blank quantities", "one big customer"}
"""What other kinds hold as well: fewer columns still, or blanks in all of them."""
ATTACKED = ("monthly-pseudonyms", "generalize-by-count")
"""One release of exact values, one of sets and intervals: what attacks and measures tell apart."""


def fitting(registry: Registry[Any], data: History) -> list[str]:
    return [name for name in registry if registry[name].fits(data.schema)]


def result_of(run: Callable[[], Any]) -> Any:
    """Return a result, or None where one line says what is wrong and, after a semicolon, what to do."""
    try:
        return run()
    except InputError as error:
        said = str(error)
    if "\n" in said or "; " not in said:
        pytest.fail(f"no cure is named: {said}")
    return None


def released(data: History) -> dict[str, Release]:
    """Protect by every method that fits; one that does not fit must say so."""
    made = {}
    for name in methods:
        if data.schema.kind not in methods[name].accepts:
            continue
        release = result_of(partial(api.protect, data, name, seed=1, **METHODS.get(name, {})))
        if release is not None:
            made[name] = release
    return made


def quick(component: type[Component]) -> Any:
    return build(component, {"draws": 2} if "draws" in component.model_fields else {})


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ()) for kind in AWKWARD]
)
def test_every_component_works_or_says_what_it_needs(kind: str) -> None:
    data = AWKWARD[kind]()
    made = released(data)
    owned = data[Role.CUSTOMER].drop_nulls()
    for name, release in made.items():
        assert release.public[Role.CUSTOMER].null_count() == 0, f"{name} publishes rows that nobody owns"
        steps = release.statement.steps
        assert len(owned) == len(data) or steps[0].notes["rows_without_customer"] == len(data) - len(owned)
        assert set(release.secret.pseudonyms["customer"]) <= set(owned)
    for name in [name for name in ATTACKED if name in made] or ["pseudonymize"]:
        release = made[name]
        guesses: dict[str, Guess] = {}
        for attack in sorted(fitting(attacks, data), key=lambda one: attacks[one].listens):
            guess = api.attack(data, release, attack, seed=1, other_guesses=guesses)
            assert set(guess.answers["customer"]) <= set(owned), attack
            guesses[attack] = guess
        for measure in fitting(measures, data):
            if "exact" in measures[measure].needs and release.public.generalised:
                continue
            score = result_of(partial(api.measure, data, release, quick(measures[measure]), guesses=guesses))
            assert score is None or all(math.isfinite(value) for value in (score.value, *score.parts.values())), measure


@pytest.mark.parametrize("role", MEASURED)
def test_what_does_not_fit_says_which_column_it_wants(role: str) -> None:
    data = AWKWARD[f"no {role}"]()
    every = [registry[name] for registry in (methods, attacks, measures) for name in registry]
    wanting = [component for component in every if role in component.roles]
    assert wanting
    for component in wanting:
        assert not component.fits(data.schema)
        run: Callable[[], Any]
        if component.name in methods:
            run = partial(api.protect, data, component.name, seed=1, **METHODS.get(component.name, {}))
        elif component.name in attacks:
            run = partial(api.attack, data, data, component.name)
        else:
            run = partial(api.measure, data, api.protect(data, "pseudonymize", seed=1), component.name)
        with pytest.raises(ParameterError, match=rf"^{component.name} needs a column with the role .*{role}.*; choose"):
            run()


def test_who_needs_what() -> None:
    needs = {name: [str(role) for role in registry[name].roles] for registry in (methods, attacks, measures)
             for name in registry if registry[name].roles}  # fmt: skip
    assert needs == {
        "monthly-pseudonyms": ["date"],
        "pseudo-records": ["item"],
        "item-candidates": ["item"],
        "jaccard": ["item"],
        "recoded": ["item"],
        "s1": ["date", "quantity"],
        "s2": ["item", "price", "date"],
        "s3": ["item", "quantity", "date"],
        "s4": ["item", "date"],
        "s5": ["item", "price", "quantity", "date"],
        "s6": ["item", "date", "quantity"],
        "s7": ["date", "price"],
        "s8": ["date"],
        "shifted": ["date"],
        "e1": ["item", "quantity"],
        "e2": ["item", "quantity"],
        "e3": ["item"],
        "e4": ["date"],
        "e5": ["price"],
        "emm": ["date"],
        "frequent-itemsets": ["item"],
        "item-similarity": ["item"],
        "jaccard-mean": ["item"],
        "mm": ["date"],
        "rfm": ["date"],
        "statistics": ["item"],
        "um": ["date"],
    }


# --- known values ------------------------------------------------------------------------------------------


def test_two_people_who_paid_by_hand() -> None:
    # sd = 0.71: [1;3] would cost 2.8 and two deleted rows 2, so 2 stays and the others go, half of all cells
    paid = history({"customer": ["a", "a", "b", "b"], "price": [1.0, 2.0, 3.0, 2.0]}, ["price"])
    release = api.protect(paid, "generalize", k=2, seed=1)
    assert release.public.lines().to_list() == ["10,2", "11,2"]
    assert api.measure(paid, release, "cell-error").value == 0.5
    assert api.measure(paid, release, "classes").value == 2


def test_a_blank_is_a_value_of_its_own() -> None:
    rows: dict[str, list[Any]] = {
        "customer": ["a", "a", "b", "b"],
        "item": ["x", "y", "x", None],
        "price": [1.0, 2.0, 1.0, 2.0],
    }
    bought = history(rows, ["item", "price"])
    for method in ("generalize", "generalize-by-count"):
        release = api.protect(bought, method, k=2, seed=1)
        assert release.public.lines().to_list() == ["10,*,2", "10,x,1", "11,*,2", "11,x,1"]
        # y is lost, the blank is not: 1 of 8 cells
        assert api.measure(bought, release, "cell-error").value == 1 / 8


@pytest.mark.parametrize("name", MEASURED)
def test_a_copy_with_blanks_loses_nothing(name: str) -> None:
    data = history(blank(plain_rows(), name))
    release = api.protect(data, "pseudonymize", seed=1)
    assert api.measure(data, release, "cell-error").value == 0
    for measure in ("statistics", "rfm", "frequent-itemsets", "item-similarity"):
        assert api.measure(data, release, measure, draws=2).value == 0, measure
    for measure in ("e4", "e5", "e6"):
        assert api.measure(data, release, measure).value == 0, measure


def test_nothing_to_compare_is_no_perfect_score() -> None:
    alone = AWKWARD["one row each"]()
    copy = api.protect(alone, "pseudonymize", seed=1)
    lonely = history(plain_rows() | {"item": [f"item {at}" for at in range(23)]})
    with pytest.raises(ParameterError, match="no itemset is in 2 baskets; use"):
        api.measure(lonely, api.protect(lonely, "pseudonymize", seed=1), "frequent-itemsets")
    with pytest.raises(ParameterError, match="no itemset is in 19 baskets; use a lower --support"):
        api.measure(AWKWARD["plain"](), api.protect(AWKWARD["plain"](), "pseudonymize", seed=1),
                    "frequent-itemsets", support=0.8)  # fmt: skip
    for measure in ("e1", "e2", "item-similarity"):
        with pytest.raises(ParameterError, match="no similarity can be lost"):
            api.measure(alone, copy, measure)
    gone = api.protect(alone, "thin", share=1.0, allow_vanish=True, seed=1)
    for measure in ("e4", "e5"):
        with pytest.raises(ParameterError, match="in both the original and the release; use e6"):
            api.measure(alone, gone, measure)
    assert api.measure(alone, gone, "e6").value == 1


def test_without_dates_a_basket_is_a_customer() -> None:
    # a with b in two of three baskets, and in the release in one
    bought = history({"customer": list("112233"), "item": list("ababac")}, ["item"])
    moved = bought.frame.with_columns(item=pl.Series(list("abacac")))
    score = api.measure(bought, moved, "frequent-itemsets", support=0.5, draws=1)
    # a and b are frequent, and {a, b}; a alone is left
    assert score.parts["frequent"] == 3
    assert score.value == pytest.approx(2 / 3)
    assert score.notes["missing_columns"] == ["date"]


def test_what_is_left_out_is_said() -> None:
    bare = AWKWARD["only items"]()
    assert api.protect(bare, "swap", seed=1).statement.notes["missing_columns"] == ["date"]
    paid = AWKWARD["only prices"]()
    assert api.protect(paid, "perturb", seed=1).statement.notes == {"missing_columns": ["date", "quantity"]}
    with pytest.raises(ParameterError, match="perturb changes dates, prices and quantities, but these purchases have"):
        api.protect(bare, "perturb", seed=1)
    dated = AWKWARD["only dates"]()
    assert api.measure(dated, api.protect(dated, "pseudonymize", seed=1), "rfm", draws=1).notes["missing_columns"] == [
        "price",
        "quantity",
    ]
