"""noren protect --chain, as a person types it."""

import json
from pathlib import Path

import pytest

CHAIN = """
[[step]]
method = "thin"
share = 0.1

[[step]]
method = "swap"

[[step]]
method = "monthly-pseudonyms"
"""


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN, encoding="utf-8")
    return path


def call(noren, original: Path, *words: object):
    return noren("protect", original, "--schema", "pwscup2018", *words)


def test_a_chain_is_protected_and_measured(noren, small_csv, chain, tmp_path) -> None:
    answer = call(noren, small_csv, "--chain", chain, "--seed", 1, "--out", tmp_path / "r", "--json")
    assert answer.code == 0, answer.err
    said = answer.json
    assert said["method"] == "chain"
    assert [step["method"] for step in said["parameters"]["steps"]] == ["thin", "swap", "monthly-pseudonyms"]
    assert (said["original_rows"], said["public_rows"], said["deleted_rows"], said["added_rows"]) == (600, 540, 60, 0)
    assert [step["promise"][:16] for step in said["notes"]["steps"]] == ["names are hidden"] * 3
    statement = json.loads((tmp_path / "r/statement.json").read_text(encoding="utf-8"))
    assert statement["parameters"]["steps"][0] == {
        "method": "thin", "share": 0.1, "rarest": False, "allow_vanish": False,
    }  # fmt: skip
    judged = noren("measure", small_csv, tmp_path / "r", "--schema", "pwscup2018", "--measures", "cell-error", "--json")
    assert judged.json["results"]["cell-error"]["value"] == pytest.approx(0.1)


def test_the_table_tells_each_step(noren, small_csv, chain, tmp_path) -> None:
    shown = call(noren, small_csv, "--chain", chain, "--out", tmp_path / "r").out
    for words in ("Method 1", "thin share=0.1", "Method 3", "monthly-pseudonyms period=month", "Added rows"):
        assert words in shown
    alone = call(noren, small_csv, "--method", "thin", "--share", 0.5, "--out", tmp_path / "s").out
    assert "Method 1" not in alone
    assert "thin share=0.5" in alone


def test_names_alone_make_a_chain(noren, small_csv, tmp_path) -> None:
    words = ("--method", "chain", "--steps", "swap,monthly-pseudonyms", "--out", tmp_path / "r", "--json")
    assert call(noren, small_csv, *words).json["public_rows"] == 600


def test_periods_on_the_command_line(noren, small_csv, tmp_path) -> None:
    words = ("--method", "monthly-pseudonyms", "--period", "custom", "--starts", "2010/12/1,2011-06-01")
    answer = call(noren, small_csv, *words, "--out", tmp_path / "r", "--json")
    assert answer.json["parameters"]["starts"] == ["2010-12-01", "2011-06-01"]
    late = call(noren, small_csv, *words[:-1], "2011-06-01", "--out", tmp_path / "s")
    assert late.code == 2
    assert "lies before the first period" in late.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either --method or --chain is needed"),
        (("--method", "thin", "--chain", "CHAIN"), "either --method or --chain is needed"),
        (("--chain", "CHAIN", "--share", "0.5"), "'--share' was not expected; see noren protect --help"),
        (("--chain", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("--method", "thin", "--share", "1.5"), "share = 1.5 is not valid for thin"),
        (("--method", "perturb", "--days", "-1"), "days = -1 is not valid for perturb"),
        (("--method", "chain"), "chain needs the parameter steps"),
    ],
)
def test_what_cannot_be(noren, small_csv, chain, tmp_path, words, said) -> None:
    given = [chain if word == "CHAIN" else word for word in words]
    answer = call(noren, small_csv, *given, "--out", tmp_path / "r")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "r").exists()


def test_a_wrong_step_names_file_step_and_value(noren, small_csv, chain, tmp_path) -> None:
    chain.write_text(CHAIN.replace("share = 0.1", "share = -2"), encoding="utf-8")
    answer = call(noren, small_csv, "--chain", chain, "--out", tmp_path / "r")
    assert answer.code == 2
    assert f"{chain}: step 1, thin: share = -2 is not valid for thin" in answer.err
