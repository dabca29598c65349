"""Rulebooks: presets, what can be changed, and what no contest could be decided by."""

from __future__ import annotations

from pathlib import Path

import pytest

from noren.contest.rulebook import PRESETS, Rulebook, preset, read_rulebook
from noren.errors import NorenError

PLAIN = """
name = "small"
[[terms]]
measure = "cell-error"
weight = 0.5
[[terms]]
measure = "survival"
weight = 0.5
[[conditions]]
measure = "effective"
most = 0
"""


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_own_text(name: str) -> None:
    book = preset(name)
    assert read_rulebook(book.to_toml()) == book
    assert read_rulebook(book.to_toml()).digest == book.digest
    assert sum(term.weight for term in book.terms) == pytest.approx(1)


def test_the_rules_of_2018() -> None:
    book = preset("pwscup2018")
    assert list(book.of_release()) == ["cell-error"]
    assert list(book.of_guess()) == ["effective"]
    assert book.conditions[0].parameters == {"bound": "paper", "p": "1/3", "alpha": "1/2000"}
    assert book.judged_by().name == "pwscup2018"
    # the winner of the final: U = 0.206 and nobody effective; the best U was hit
    assert book.score({"cell-error": 0.206, "effective": 0.0}) == 0.206
    assert book.broken({"cell-error": 0.206, "effective": 0.0}) == []
    assert book.broken({"cell-error": 0.193, "effective": 1.0}) == ["effective"]


def test_bound_and_risk_are_selectable() -> None:
    sharp = preset("pwscup2018", bound="sharp", p="1/5", alpha="1/1000")
    assert sharp.conditions[0].parameters == {"bound": "sharp", "p": "1/5", "alpha": "1/1000"}
    for risk in ("um", "mm", "emm"):
        assert list(preset("pwscup2017", risk=risk).of_guess()) == [risk]
    with pytest.raises(NorenError, match="is not a risk measure of this rulebook"):
        preset("pwscup2018", risk="um")
    with pytest.raises(NorenError, match="has no effectiveness test"):
        preset("pwscup2017", bound="sharp")


def test_a_measure_that_is_better_the_higher_counts_from_one_down() -> None:
    book = read_rulebook(PLAIN)
    assert book.measured["survival"][0].goal == "higher"
    assert book.score({"cell-error": 0.2, "survival": 0.7}) == 0.25  # (0.2 + 1 - 0.7) / 2
    assert book.score({"cell-error": 0.2}) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("cell-error", "cell-eror"), "did you mean cell-error|cell-error"),
        (("weight = 0.5\n[[cond", "weight = 0.6\n[[cond"), "add up to 1.1; make them add up to 1"),
        (("most = 0", ""), "needs one limit"),
        (("most = 0", "most = 0\nleast = 1"), "needs one limit"),
        (("survival", "cell-error"), "cell-error is in the rulebook twice"),
        (("survival", "classes"), "no upper limit"),
        (('name = "small"', 'name = "Small Cup"'), "name"),
        (('name = "small"', 'name = "small"\nfoo = 1'), "foo"),
        (('name = "small"', 'name = "small"\nkind = "table"'), "cell-error is not defined for data of the kind table"),
        (('name = "small"', 'name = "small"\nrule = "partnr"'), "partner"),
        (('name = "small"', 'name = "small'), "line 2|Illegal"),
        (("most = 0", "most = 0\nparameters = { p = 2 }"), "2 is not a probability"),
    ],
)
def test_what_no_contest_could_be_decided_by(change: tuple[str, str], said: str) -> None:
    wrong = change[1].join(PLAIN.rsplit(change[0], 1))
    assert wrong != PLAIN
    with pytest.raises(NorenError, match=said):
        read_rulebook(wrong)


def test_files_and_unknown_names(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(PLAIN)
    assert isinstance(read_rulebook(path), Rulebook)
    assert read_rulebook(str(path)).name == "small"
    with pytest.raises(NorenError, match="pwscup2018"):
        read_rulebook("pwscup208")
    with pytest.raises(NorenError, match="cannot be read"):
        read_rulebook(tmp_path / "none.toml")
