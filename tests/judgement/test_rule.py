"""Rules: the presets, what a person may write, what a file may hold, and what goes wrong."""

from fractions import Fraction
from pathlib import Path

import pytest

from noren.errors import FileError, ParameterError
from noren.judgement.rule import DEFAULT, RECIPIENTS, RULES, Rule, get_rule
from noren.judgement.sentences import rule_sentence


def test_presets_are_the_thresholds_of_health_data_and_the_contest() -> None:
    tolerances = {name: (rule.tolerance, rule.least_k) for name, rule in RULES.items()}
    assert tolerances == {
        "sensitive": (Fraction(1, 11), 11),
        "public": (Fraction(1, 11), 11),
        "partner": (Fraction(1, 5), 5),
        "inside": (Fraction(1, 3), 3),
        "pwscup2018": (Fraction(1, 3), 3),
    }
    assert [round(float(rule.tolerance), 2) for rule in RULES.values()] == [0.09, 0.09, 0.2, 0.33, 0.33]
    contest = RULES["pwscup2018"]
    assert (contest.level(1), contest.bound, contest.answers) == (Fraction(1, 2000), "paper", "all")
    assert DEFAULT is RULES["partner"]
    assert set(RECIPIENTS) == set(RULES)
    limited = {name for name, rule in RULES.items() if rule.membership is not None or rule.attributes is not None}
    assert limited == {"sensitive"}
    assert (RULES["sensitive"].membership, RULES["sensitive"].attributes) == (Fraction(1, 10), Fraction(1, 10))


def test_more_attacks_than_attackers_share_the_same_chance() -> None:
    assert get_rule("partner").level(13) == Fraction(1, 2000)
    assert get_rule("partner").level(40) == Fraction(1, 4000)


@pytest.mark.parametrize(("word", "tolerance", "k"), [("0.09", "9/100", 12), ("1/8", "1/8", 8), (".5", "1/2", 2)])
def test_a_tolerance_is_a_rule(word: str, tolerance: str, k: int) -> None:
    assert (get_rule(word).tolerance, get_rule(word).least_k) == (Fraction(tolerance), k)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_plain_data_make_the_same_rule(rule: Rule) -> None:
    assert Rule.model_validate(rule.as_dict()) == rule
    assert isinstance(rule.as_dict()["tolerance"], float)
    assert f"Rule {rule.name} (" in rule_sentence(rule)
    assert f"(k = {rule.least_k})" in rule_sentence(rule)


def test_a_file_is_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('[rule]\ntolerance = "1/8"\nalpha = 0.05\nattackers = 3\nbound = "paper"\nanswers = "all"\n')
    found = get_rule(str(path))
    assert (found.name, found.tolerance, found.alpha) == ("ours", Fraction(1, 8), Fraction(1, 20))
    assert (found.attackers, found.bound, found.answers) == (3, "paper", "all")


@pytest.mark.parametrize("word", ["2", "0", "1", "1/0", "0.2.3"])
def test_a_tolerance_lies_between_0_and_1(word: str) -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        get_rule(word)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tolerance = 3", "tolerance"),
        ("alpha = 0.01", "tolerance"),
        ("tolerance = 0.2\nodd = 1", "odd"),
        ('tolerance = 0.2\nbound = "loose"', "bound"),
        ("tolerance = \n", "line 1"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rule.toml"
    path.write_text(text)
    with pytest.raises(FileError) as error:
        get_rule(str(path))
    assert said in str(error.value)
    assert "rule.toml" in str(error.value)
    with pytest.raises(FileError, match=r"none\.toml"):
        get_rule(str(tmp_path / "none.toml"))


def test_a_mistyped_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean partner"):
        get_rule("partnr")
