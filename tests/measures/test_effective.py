"""Effective gives every official verdict."""

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.data.contest_files import read_pairs
from noren.data.frames import History
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures import measures
from noren.measures.safety.effective import Effective
from noren.protocols import Evidence, Guess, Score

SCHEMA = Schema.preset("pwscup2018")
EMPTY = History(pl.DataFrame(schema={c.name: c.dtype for c in SCHEMA.columns}), SCHEMA)


def judged(true: pl.DataFrame, guesses: dict[str, pl.DataFrame], measure: Effective | None = None) -> Score:
    release = Release(EMPTY, Secret(true, pl.Series([0], dtype=pl.UInt32), 1), Statement("hand"))
    named = {name: Guess(name, pairs) for name, pairs in guesses.items()}
    return (measure or Effective()).measure(Evidence(EMPTY, release, named))


def pairs(named: int, right: int) -> pl.DataFrame:
    customers = [f"c{at}" if at < right else "somebody else" for at in range(named)]
    return pl.DataFrame({"pseudonym": [str(at) for at in range(named)], "customer": customers})


EVERYBODY = pairs(2000, 2000)


# --- the official script ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))["pwscup2018"])


def of_gzip(path: Path) -> pl.DataFrame:
    rows = [line.split(",") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return pl.DataFrame(rows, schema=["pseudonym", "customer"], orient="row")


def test_every_official_attack(shared: Path, index: dict[str, Any]) -> None:
    seen = 0
    for vector in index["vectors"]:
        true = of_gzip(shared / "oracles" / vector["files"]["F"])
        for attack, expected in vector["expected"]["attacks"].items():
            if expected.get("file"):
                answers = of_gzip(shared / "oracles" / expected["file"])
            else:
                rows = [line.split(",") for line in expected.get("output", [])]
                answers = pl.DataFrame(rows, schema=dict.fromkeys(["pseudonym", "customer"], pl.String), orient="row")
            found = judged(true, {attack: answers})
            assert found.value == expected["unsafe"]
            assert found.parts == {
                f"{attack}.named": expected["tried"],
                f"{attack}.right": expected["correct"],
                f"{attack}.needed": expected["r_of_n"],
            }
            seen += 1
    assert seen == 21


def test_the_official_thresholds(shared: Path, index: dict[str, Any]) -> None:
    cases = index["safety_threshold"]["cases"]
    vector = next(v for v in index["vectors"] if v["files"]["A"] == index["safety_threshold"]["A"])
    true = of_gzip(shared / "oracles" / vector["files"]["F"])
    assert len(cases) == 10
    for case in cases:
        found = judged(true, {"x": read_pairs(shared / "oracles" / case["file"])})
        assert found.value == case["unsafe"]
        assert found.parts == {"x.named": case["tried"], "x.right": case["correct"], "x.needed": case["r_of_n"]}


# --- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "right", "effective"),
    [
        (0, 0, 0.0),
        (6, 6, 0.0),
        (7, 6, 0.0),
        (7, 7, 1.0),
        (99, 63, 0.0),
        (99, 64, 1.0),
        (999, 611, 0.0),
        (999, 612, 1.0),
    ],
)
def test_values_of_table_4(named: int, right: int, effective: float) -> None:
    assert judged(EVERYBODY, {"x": pairs(named, right)}).value == effective


def test_the_sharp_bound_needs_fewer_hits() -> None:
    found = pairs(99, 52)
    assert judged(EVERYBODY, {"x": found}).value == 0.0
    sharp = judged(EVERYBODY, {"x": found}, Effective(bound="sharp"))
    assert (sharp.value, sharp.parts["x.needed"]) == (1.0, 52)
    assert judged(EVERYBODY, {"x": pairs(99, 51)}, Effective(bound="sharp")).value == 0.0


def test_one_effective_attack_of_several_is_enough() -> None:
    found = judged(EVERYBODY, {"weak": pairs(50, 3), "strong": pairs(50, 40)})
    assert found.value == 1.0
    assert found.notes == {"effective": ["strong"]}
    assert found.parts["weak.right"] == 3
    assert found.parts["strong.needed"] == 34


def test_p_and_alpha_decide() -> None:
    # at p = 1/2 ten of ten have a chance of 1/1024
    found = {"x": pairs(10, 10)}
    assert judged(EVERYBODY, found, Effective(p="1/2", alpha="1/1024")).value == 0.0
    assert judged(EVERYBODY, found, Effective(p="1/2", alpha="1/1023")).value == 1.0


def test_the_best_prefix_leaves_the_unsure_answers_out() -> None:
    # ten right first, then ninety wrong
    guess = {"x": pairs(100, 10)}
    assert judged(EVERYBODY, guess).value == 0.0
    found = judged(EVERYBODY, guess, Effective(best_prefix=True))
    # as n is chosen afterwards, ten of ten are needed where seven of seven said beforehand would do
    assert found.value == 1.0
    assert found.parts == {"x.named": 10, "x.right": 10, "x.needed": 10}
    last = pl.concat([pairs(100, 10)[10:], pairs(100, 10)[:10]])
    assert judged(EVERYBODY, {"x": last}, Effective(best_prefix=True)).value == 0.0
    assert judged(EVERYBODY, {"x": pairs(0, 0)}, Effective(best_prefix=True)).parts["x.named"] == 0


def test_the_best_prefix_has_the_most_hits_over_the_threshold() -> None:
    # 19 of 19 right: r*(19) = 16 is exceeded by the largest share, as by no shorter or longer prefix
    found = judged(EVERYBODY, {"x": pairs(60, 20)}, Effective(best_prefix=True))
    assert found.parts == {"x.named": 19, "x.right": 19, "x.needed": 16}


# --- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", ["1/3", 1 / 3, Fraction(1, 3), " 1/3 ", "2/6"])
def test_a_third_is_a_third_however_it_is_written(p: Any) -> None:
    measure = measures.create("effective", p=p, alpha=0.0005)
    assert measure.parameters() == {"bound": "paper", "p": "1/3", "alpha": "1/2000", "best_prefix": False}
    assert measures.create("effective", **measure.parameters()) == measure == Effective()


@pytest.mark.parametrize(
    "p", ["0", "1", "-1/3", "4/3", "1/0", "a third", "nan", float("nan"), float("inf"), None, True]
)
def test_what_is_no_chance_is_refused(p: Any) -> None:
    with pytest.raises(ParameterError, match="is not a probability between 0 and 1; write it like 1/3"):
        measures.create("effective", p=p)


def test_an_unknown_bound_is_refused() -> None:
    with pytest.raises(ParameterError, match="bound = loose is not valid for effective"):
        measures.create("effective", bound="loose")


def test_without_a_guess_or_a_secret_nothing_is_called_safe() -> None:
    with pytest.raises(ParameterError, match="no guess to judge; run an attack first"):
        judged(EVERYBODY, {})
    release = Release(EMPTY, Secret(EVERYBODY, pl.Series([], dtype=pl.UInt32), 0), Statement("published"))
    with pytest.raises(ParameterError, match="no secret part"):
        Effective().measure(Evidence(EMPTY, release, {"x": Guess("x", EVERYBODY)}))
