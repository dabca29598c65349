"""``noren infer``, and ``noren judge`` with a control group."""

from pathlib import Path

import pytest

import noren as noren_package
from noren.data.reading import write
from noren.inference.people import split

SCHEMA = ("--schema", "sample")


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    history = noren_package.sample(customers=100, rows=1200, items=150, seed=1)
    members, controls = split(history, 0.4, 1)
    for name, data in (("members", members), ("controls", controls)):
        write(data, tmp_path / f"{name}.csv")
    noren_package.protect(members, "pseudonymize", seed=1).save(tmp_path / "release")
    return tmp_path / "members.csv", tmp_path / "controls.csv", tmp_path / "release"


def test_a_method_over_seeds(noren, sides) -> None:
    asked = ("--method", "generalize-by-count", "--k", 3, "--hold-out", 0.4, "--seeds", 2, "--threat", "membership")
    answer = noren("infer", sides[0], *SCHEMA, *asked, "--json")
    assert answer.code == 0, answer.err
    found = answer.json["inferred"]
    assert [one["by"] for one in found] == ["likelihood", "nearness"]
    assert answer.json["seeds"] == len(found[0]["draws"]) == 2
    numbers = found[0]["numbers"]["tpr at 0.1"]
    assert numbers["value"] - 0.1 == pytest.approx(found[0]["excess"]) == pytest.approx(sum(found[0]["draws"]) / 2)
    assert "this rule does not limit it" in answer.json["sentences"][0]


def test_a_release_with_a_control_group(noren, sides) -> None:
    members, controls, release = sides
    answer = noren("infer", members, "--release", release, *SCHEMA, "--control", controls, "--rule", "sensitive")
    assert answer.code == 0, answer.err
    assert "Membership, likelihood: 60 members, 40 controls" in answer.out.replace("\n", " ")
    assert "this rule allows 10.0% beyond that" in answer.out
    judged = noren("judge", members, release, *SCHEMA, "--attacks", "none", "--control", controls, "--json")
    assert judged.code == 3  # nobody attacked, whatever is inferred
    assert judged.json["inferred"][0]["numbers"]["auc"]["value"] == 1.0


def test_people_of_the_data_are_no_control_group(noren, sides) -> None:
    members, _controls, release = sides
    answer = noren("infer", members, "--release", release, *SCHEMA, "--control", members)
    assert answer.code == 2
    assert "60 of 60 people of the control group are in the data" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "inferences need a release and a control group, or a method"),
        (("--method", "pseudonymize", "--hold-out", 0.01), "too few to distinguish an effect from chance"),
        (("--method", "pseudonymize", "--k", 3), "has no parameter"),
        (("--k", 3), "'--k' was not expected"),
    ],
)
def test_what_is_refused(noren, sides, words, said) -> None:
    answer = noren("infer", sides[0], *SCHEMA, *words)
    assert answer.code == 2
    assert said in answer.err
