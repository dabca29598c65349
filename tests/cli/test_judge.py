"""One release, one verdict, and an exit code that a pipeline can go by."""

import json
from pathlib import Path

import polars as pl
import pytest

from noren.judgement.verdict import VerdictStatus

SCHEMA = ("--schema", "pwscup2018")
EVIDENCE = {"attack", "named", "right", "rate", "low", "high", "chance"}


def test_broken_is_1(noren, small_csv, release) -> None:
    answer = noren("judge", small_csv, release, *SCHEMA, "--rule", "partner", "--attacks", "all", "--json")
    said = answer.json
    assert (answer.code, said["verdict"], said["rule"]["name"]) == (1, "broken", "partner")
    assert said["guarantee"]["k"] == 3
    assert said["sentence"].startswith("Broken: ")
    assert set(said["evidence"][0]) >= EVIDENCE
    worst = said["evidence"][0]
    assert worst["rate"] == pytest.approx(worst["right"] / worst["named"])
    assert 0 <= worst["low"] <= worst["rate"] <= worst["high"] <= 1
    shown = noren("judge", small_csv, release, *SCHEMA)
    assert (shown.code, shown.out.splitlines()[0], shown.out.splitlines()[1]) == (1, "▲ broken", said["sentence"])
    assert max(map(len, shown.out.splitlines()[2:])) <= 80


def test_proved_is_0_and_needs_no_attack(noren, small_csv, release) -> None:
    for rule in ("inside", "pwscup2018", "0.4"):
        answer = noren("judge", small_csv, release, *SCHEMA, "--rule", rule, "--attacks", "none", "--json")
        assert (answer.code, answer.json["verdict"], answer.json["evidence"]) == (0, "proved", [])


def test_what_classes_prove_is_said_before_the_attacks(noren, small_csv, release) -> None:
    words = ("judge", small_csv, release, *SCHEMA, "--attacks")
    done = noren(*words, "unique-rows", "--rule", "inside")
    assert "before any attack: Proved: at least 3 customers share each released history" in done.err
    assert done.out.splitlines()[0] == "◆ proved"
    refuted = noren(*words, "unique-rows", "--rule", "public")
    assert "before any attack: Broken: " in refuted.err
    for more in (("none",), ("unique-rows", "--json")):  # nothing to wait for, or one object and nothing else
        assert "before any attack" not in noren(*words, *more).err


def test_a_budget_names_the_attacks_that_were_left_out(noren, small_csv, release, tmp_path) -> None:
    words = ("judge", small_csv, release, *SCHEMA, "--attacks", "linkage,s1", "--budget", "0")
    proved = noren(*words, "--rule", "inside", "--json")
    assert (proved.code, proved.json["verdict"], proved.json["evidence"]) == (0, "proved", [])
    assert proved.json["left_out"] == {"s1": "out of time", "linkage": "out of time"}
    shown = noren(*words, "--rule", "inside")
    assert "before any attack: Proved: " in shown.err
    assert "Not tried here: s1, linkage. What is proved holds against them too." in shown.out
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p")
    untried = noren("judge", small_csv, tmp_path / "p", *SCHEMA, "--attacks", "s1", "--budget", "0s", "--json")
    assert (untried.code, untried.json["verdict"], untried.json["reason"]) == (3, "untried", "not-tried")
    broken = noren("judge", small_csv, tmp_path / "p", *SCHEMA, "--attacks", "s1", "--budget", "2h", "--json")
    assert (broken.code, broken.json["verdict"], broken.json["left_out"]) == (1, "broken", {})
    for wrong in ("soon", "-1", "10 m", "m", "1d", ""):
        odd = noren("judge", small_csv, release, *SCHEMA, f"--budget={wrong}")
        assert (odd.code, odd.out, odd.err.count("\n")) == (2, "", 1)
        assert f"budget = {wrong} is out of range; use 90s, 10m, 2h" in odd.err
    assert "such as 90s, 10m or 2h" in " ".join(noren("judge", "--help").out.replace("│", " ").split())


def test_untried_is_3(noren, small_csv, release, tmp_path) -> None:
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p", "--official")
    noren("publish", tmp_path / "p", "--out", tmp_path / "public", "--override", "a test")
    published = noren("judge", small_csv, tmp_path / "public", *SCHEMA, "--attacks", "unique-rows", "--json")
    assert (published.code, published.json["verdict"], published.json["reason"]) == (3, "untried", "not-tried")
    # a published file of as many rows as the original says nothing about whose row is whose
    file = noren("judge", small_csv, tmp_path / "p/public.csv", *SCHEMA, "--attacks", "unique-rows", "--json")
    assert (file.code, file.json["verdict"]) == (3, "untried")


def test_classes_that_are_too_small_are_1_without_an_attack(noren, small_csv, release) -> None:
    answer = noren("judge", small_csv, release, *SCHEMA, "--rule", "public", "--attacks", "none", "--json")
    assert (answer.code, answer.json["verdict"], answer.json["reason"]) == (1, "broken", "class-too-small")
    assert answer.json["guarantee"]["k"] == 3


def test_withstands_is_0_and_says_what_the_attacks_see_through(noren, small_csv, tmp_path) -> None:
    out = tmp_path / "t"
    words = ("--method", "perturb", "--days", 30, "--price", 3, "--seed", 1, "--out", out)
    noren("protect", small_csv, *SCHEMA, *words)
    answer = noren("judge", small_csv, out, *SCHEMA, "--attacks", "unique-rows", "--json")
    assert (answer.code, answer.json["verdict"]) == (0, "withstands")
    assert "The attacks tried can see through: " in answer.json["sentence"]
    assert "None of them can see through: " in answer.json["sentence"]


def test_less_knowledge_names_fewer(noren, small_csv, tmp_path) -> None:
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p")
    named = []
    for share in (1.0, 0.05):
        words = ("--attacks", "unique-rows", "--knowledge", share, "--json")
        named.append(noren("judge", small_csv, tmp_path / "p", *SCHEMA, *words).json["evidence"][0]["right"])
    assert named[0] > named[1]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    frame = pl.DataFrame({"age": [20, 20, 20, 20, 20, 31, 31, 31, 31, 31], "ill": list("abcabbcabc")})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(
        'kind = "table"\n[columns]\nage = { role = "quasi", type = "integer", minimum = 0.0, maximum = 99.0 }\n'
        'ill = { role = "sensitive", domain = ["a", "b", "c"] }\n'
    )
    return tmp_path


def test_tables_have_the_same_four_words(noren, people: Path) -> None:
    table = (people / "people.csv", "--schema", people / "people.toml")
    assert noren("protect", *table, "--method", "mondrian", "--k", 5, "--seed", 1, "--out", people / "r").code == 0
    judged = {
        rule: noren("judge", people / "people.csv", people / "r", *table[1:], "--rule", rule, "--json")
        for rule in ("public", "partner", "inside")
    }
    assert {rule: (a.code, a.json["verdict"]) for rule, a in judged.items()} == {
        "public": (1, "broken"),
        "partner": (0, "proved"),
        "inside": (0, "proved"),
    }
    assert judged["public"].json["reason"] == "class-too-small"
    assert set(VerdictStatus) == {"proved", "withstands", "broken", "untried"}


def test_bad_words_are_said_before_any_work(noren, small_csv, release, tmp_path) -> None:
    odd = noren("judge", small_csv, release, *SCHEMA, "--rule", "partnr")
    assert (odd.code, odd.out) == (2, "")
    assert "did you mean partner" in odd.err
    (tmp_path / "rule.toml").write_text("tolerance = 7\n")
    odd = noren("judge", small_csv, release, *SCHEMA, "--rule", tmp_path / "rule.toml")
    assert odd.code == 2
    assert "rule.toml" in odd.err
    assert "between 0 and 1" in odd.err


def test_a_rule_of_ones_own_is_in_the_answer(noren, small_csv, release, tmp_path) -> None:
    (tmp_path / "ours.toml").write_text('[rule]\ntolerance = "1/3"\nattackers = 5\n')
    answer = noren(
        "judge", small_csv, release, *SCHEMA, "--rule", tmp_path / "ours.toml", "--attacks", "none", "--json"
    ).json
    assert answer["rule"] | {"tolerance": 0} == {
        "name": "ours", "tolerance": 0, "alpha": 0.01, "attackers": 5, "bound": "sharp", "answers": "best",
    }  # fmt: skip
    assert json.dumps(answer)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Return a folder with people, and with files of theirs from elsewhere: one in order, one shuffled, one by hand."""
    frame = pl.DataFrame(
        {"age": [20 + 7 * n % 40 for n in range(120)], "ill": [("flu", "cold", "gout")[n % 3] for n in range(120)]}
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "s.toml").write_text(
        'kind = "table"\n[columns]\nage = { role = "quasi", type = "integer" }\nill = { role = "sensitive" }\n'
    )
    ages = pl.concat_str(pl.lit("["), pl.col("age") // 20 * 20, pl.lit(","), pl.col("age") // 20 * 20 + 20, pl.lit("["))
    made = frame.with_columns(age=ages)
    made.write_csv(tmp_path / "ordered.csv", separator=";")
    made.sample(120, shuffle=True, seed=1).write_csv(tmp_path / "clean.csv", separator=";")
    made.rename({"age": "years", "ill": "q"}).with_row_index("who").sample(120, shuffle=True, seed=1).write_csv(
        tmp_path / "renamed.csv"
    )
    return tmp_path


def test_files_from_elsewhere_get_a_verdict_each_and_the_worst_code(noren, elsewhere: Path) -> None:
    words = ("--schema", elsewhere / "s.toml", "--json")
    clean = noren("judge", elsewhere / "people.csv", elsewhere / "clean.csv", *words)
    assert (clean.code, clean.json["verdict"], clean.json["flaws"]) == (0, "withstands", [])
    assert ["attacks", "truth"] in clean.json["found"]["not_tried"]
    both = noren("judge", elsewhere / "people.csv", elsewhere / "clean.csv", elsewhere / "ordered.csv", *words)
    assert (both.code, [one["verdict"] for one in both.json["results"]]) == (1, ["withstands", "broken"])
    assert [flaw["code"] for flaw in both.json["results"][1]["flaws"]] == ["order-leak"]
    shown = noren("judge", elsewhere / "people.csv", elsewhere / "clean.csv", elsewhere / "ordered.csv", *words[:2])
    assert [line for line in shown.out.splitlines() if line.endswith(".csv:")] == [
        f"{elsewhere}/clean.csv:", f"{elsewhere}/ordered.csv:",
    ]  # fmt: skip
    assert "Not tried: linkage with the truth (no column says whose row each is: --truth)." in shown.out


def test_columns_are_named_and_so_is_the_truth(noren, elsewhere: Path) -> None:
    words = (elsewhere / "people.csv", elsewhere / "renamed.csv", "--schema", elsewhere / "s.toml", "--json")
    named = noren("judge", *words, "--map", "years=age", "--map", "q=ill", "--truth", "who")
    assert (named.code, named.json["found"]["truth"]) == (0, "column")
    assert [entry["attack"] for entry in named.json["evidence"]] == ["row-linkage"]
    # numbers that nobody drew at random are in the order of the original
    kept = noren("judge", *words, "--map", "years=age", "--map", "q=ill")
    assert (kept.code, kept.json["reason"]) == (1, "ids-in-order")
    wrong_words = [("--map", "age=years", "no column 'age'"), ("--map", "years=agee", "did you mean age")]
    wrong_words += [("--map", "years", "no column ''"), ("--attacks", "nix", "no 'nix' in noren.attacks")]
    for flag, wrong, hint in wrong_words:
        odd = noren("judge", *words, flag, wrong)
        assert (odd.code, hint in odd.err) == (2, True)
    for flag in ("--rounds", "--knowledge"):  # attackers of files from elsewhere know everything
        odd = noren("judge", *words, flag, 0.5)
        assert (odd.code, f"leave out {flag}" in odd.err) == (2, True)
