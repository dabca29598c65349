"""Attacks on a release, and what measures make of them."""

import pytest

from noren.data.schema import Kind
from noren.measures import measures

SCHEMA = ("--schema", "pwscup2018")


def of_histories() -> list[str]:
    """Name the measures of purchase histories."""
    return [name for name in measures if Kind.HISTORY in measures[name].accepts]


def test_attack_and_measure(noren, small_csv, release, tmp_path) -> None:
    found = noren("attack", small_csv, release, *SCHEMA, "--attacks", "all", "--out", tmp_path / "g", "--json")
    assert found.code == 0, found.err
    results = found.json["results"]
    assert results["unique-rows"]["named"] == 0
    worst = results[found.json["most_damaging"]]
    assert worst["right"] == worst["hits"][-1] > 0
    assert worst["best_right"] < worst["needed"]
    assert worst["rate"] == worst["right"] / worst["named"]
    assert worst["low"] < worst["rate"] < worst["high"]
    assert found.json["verdict"]["rule"]["name"] == "partner"
    assert found.json["verdict"]["verdict"] == "broken"  # a third is named where a fifth is allowed
    assert (tmp_path / "g/unique-rows.csv").read_text() == ""
    judged = noren("measure", small_csv, release, *SCHEMA, "--guess", tmp_path / "g", "--json")
    assert judged.code == 0, judged.err
    scores = judged.json["results"]
    assert set(scores) == {name for name in of_histories() if "exact" not in measures[name].needs}
    assert 0 < scores["cell-error"]["value"] < 1.5
    assert set(scores["cell-error"]["parts"]) == {"date", "item", "price", "quantity"}
    assert scores["cell-error"]["value"] == pytest.approx(sum(scores["cell-error"]["parts"].values()) / 4, rel=1e-12)
    assert scores["effective"]["value"] == 0
    shown = noren("measure", small_csv, release, *SCHEMA, "--guess", tmp_path / "g")
    assert "lower is better" in shown.out
    shown = noren("attack", small_csv, release, *SCHEMA, "--out", tmp_path / "g2")
    assert "unique-rows" in shown.out
    assert shown.out.startswith("▲ broken\nBroken: ")
    assert "Rule partner (" in shown.err
    inside = noren("attack", small_csv, release, *SCHEMA, "--rule", "inside")
    assert inside.out.startswith("◆ proved\nProved: at least 3 customers share each released history")


def test_pseudonyms_alone_are_broken(noren, small_csv, tmp_path) -> None:
    noren("protect", small_csv, *SCHEMA, "--method", "pseudonymize", "--seed", 1, "--out", tmp_path / "p", "--official")
    broken = noren("attack", small_csv, tmp_path / "p", *SCHEMA, "--attacks", "unique-rows", "--out", tmp_path / "g")
    assert broken.out.startswith("▲ broken\nBroken: unique-rows re-identifies ")
    scores = noren("measure", small_csv, tmp_path / "p", *SCHEMA, "--guess", tmp_path / "g", "--json").json["results"]
    assert scores["cell-error"]["value"] == 0
    assert scores["reid-rate"]["value"] > 0.9
    assert scores["effective"]["value"] == 1
    # the official files beside it give the same answers
    again = noren(
        "measure", small_csv, tmp_path / "p/secret/A.csv", *SCHEMA, "--guess", tmp_path / "g/unique-rows.csv", "--json"
    ).json["results"]
    assert again["reid-rate"]["value"] == scores["reid-rate"]["value"]
    checked = noren("check", small_csv, tmp_path / "p/secret/A.csv", *SCHEMA, "--json")
    assert (checked.code, checked.json["valid"]) == (0, True)
    guessed = noren("check", small_csv, tmp_path / "p/public.csv", "--guess", tmp_path / "g/unique-rows.csv", *SCHEMA)
    assert guessed.code == 0, guessed.out


def test_attacks_need_no_secret_and_measures_say_when_they_do(noren, small_csv, release, tmp_path) -> None:
    assert noren("publish", release, "--out", tmp_path / "public", "--override", "a test").code == 0
    found = noren("attack", small_csv, tmp_path / "public", *SCHEMA, "--json")
    assert (found.code, found.json["most_damaging"], found.json["verdict"]) == (0, None, None)
    assert all("right" not in about for about in found.json["results"].values())
    refused = noren("measure", small_csv, tmp_path / "public", *SCHEMA, "--measures", "cell-error")
    assert (refused.code, refused.out) == (2, "")
    assert "needs the secret part" in refused.err
    left = noren("measure", small_csv, tmp_path / "public", *SCHEMA, "--json")
    assert set(left.json["results"]) == {
        n for n in of_histories() if not measures[n].needs & {"secret", "guess", "exact"}
    }
    assert "skipped, because a guess or the secret part is missing: cell-error" in left.err
    no_guess = noren("measure", small_csv, release, *SCHEMA, "--measures", "effective")
    assert no_guess.code == 2
    assert "there is no guess" in no_guess.err
