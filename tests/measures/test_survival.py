"""Survival of whole releases; the arithmetic is tested beside its kernel."""

from pathlib import Path

import pytest

from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.measures import measures
from noren.measures.safety.survival import Survival
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Evidence, Score

SCHEMA = Schema.preset("pwscup2018")


def of_classes(sizes: list[int], **parameters: object) -> Score:
    """Judge a release whose classes have these sizes: every member bought its class's number, once."""
    which = [at for at, size in enumerate(sizes) for _ in range(size)]
    rows = {
        "customer": [str(at) for at in range(len(which))],
        "date": ["2010/12/1"] * len(which),
        "item": [f"i{at}" for at in which],
        "price": [1.0] * len(which),
        "quantity": [1] * len(which),
    }
    public = History.of(rows, SCHEMA)
    release = Release.of_aligned(public, public, Statement("hand"))
    return measures.create("survival", **parameters).measure(Evidence(public, release))


def test_pairs() -> None:
    score = of_classes([2] * 100)
    assert score.parts["one_attacker"] == 299 / 4096
    assert score.value == (1 - 299 / 4096) ** 13 == pytest.approx(0.3733, abs=5e-5)
    assert score.parts["any_attacker"] == 1 - score.value
    assert score.parts["in_league"] == 13 * 299 / 4096
    assert (score.parts["named"], score.parts["needed"], score.parts["smallest_class"]) == (24, 18, 2)
    assert score.notes == {
        "classes": {"2": 100},
        "plan": [{"class_size": 2, "members": 2, "classes": 12, "one_customer_for_all": False}],
        "satisfies_h0": False,
    }


@pytest.mark.parametrize("bound", ["paper", "sharp"])
def test_triples(bound: str) -> None:
    assert of_classes([3] * 100, bound=bound, naming="whole").value == pytest.approx(0.9415, abs=5e-5)
    assert of_classes([3] * 100, bound=bound).value == pytest.approx(0.8861, abs=5e-5)


def test_pairs_do_not_survive_the_sharp_bound() -> None:
    assert of_classes([2] * 100, bound="sharp").value == 0.0
    assert of_classes([2] * 500, bound="sharp", naming="whole").value < 1e-60


def test_mixed_and_unprocessed() -> None:
    assert of_classes([1] * 7 + [9] * 5).value == 0.0
    score = of_classes([1] * 5 + [4] * 10, attackers=1)
    # five for sure, and two of a class of four: 1/12
    assert score.value == pytest.approx(11 / 12)
    assert score.notes["classes"] == {"1": 5, "4": 10}
    assert of_classes([7] * 10).notes["satisfies_h0"] is True


def test_p_and_alpha_decide() -> None:
    # at alpha = 1/2 one of one is effective if p is below it
    assert of_classes([4] * 3, alpha="1/2", p="1/3", attackers=1).parts["one_attacker"] >= 1 / 4
    assert of_classes([2] * 50, alpha="1/1000000", attackers=1).value > of_classes([2] * 50, attackers=1).value


def test_methods(small: History) -> None:
    values = [
        Survival().measure(Evidence(small, GeneralizeByCount(k=k).protect(small, seed=1))).value for k in (2, 3, 5)
    ]
    assert values == sorted(values)
    assert Survival().measure(Evidence(small, Pseudonymize().protect(small, seed=1))).value == 0.0


@pytest.mark.parametrize("attackers", [0, -1])
def test_somebody_must_attack(attackers: int) -> None:
    with pytest.raises(ParameterError, match="attackers"):
        measures.create("survival", attackers=attackers)


def test_tables_are_refused(small: History) -> None:
    from dataclasses import replace

    release = Pseudonymize().protect(small, seed=1)
    with pytest.raises(SchemaError, match="the release is a table"):
        Survival().measure(Evidence(small, replace(release, public=None)))  # type: ignore[arg-type]


def test_the_official_pair_release(shared: Path) -> None:
    original = read_rows(shared / "data" / "pwscup2018_final_T.csv", SCHEMA)
    release = read_release(shared / "oracles" / "pwscup2018" / "pair_final" / "A.csv.gz", original)
    score = Survival().measure(Evidence(original, release))
    assert score.notes["classes"] == {"2": 500}
    assert score.parts["one_attacker"] == 299 / 4096
