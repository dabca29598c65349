"""Bots make the files that their styles say: valid ones, wrong ones, guesses below chance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.rig.bots import BELOW_CHANCE, RANDOM, Style, guess_file, release_file, spoilt, styles_for
from tests.rig.recomputed import GuessMade, ReleaseMade, final_table

from noren.contest.judging.checking import check_guess, check_release
from noren.contest.judging.prepared import make_target
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.rulebook import Rulebook, preset
from noren.contest.simulation import make_data

SALT, LABEL = bytes(32), "cup/final"


@pytest.fixture(scope="module", params=["pwscup2018", "pwscup2017", "pwscup2016"])
def book(request: pytest.FixtureRequest) -> Rulebook:
    return preset(request.param)


@pytest.fixture(scope="module")
def data(book: Rulebook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(book, tmp_path_factory.mktemp("data"), customers=20, rows=200, seed=1, name="T")


def test_the_teams_of_2018_are_the_kinds_of_the_report() -> None:
    """S0, Table 5: 3 with too many unique, 2 with two unprocessed, 6 of pairs, 1 of triples, 1 based on triples."""
    kinds = Counter(style.kind for style in styles_for(preset("pwscup2018"), 13))
    assert sorted(kinds.values()) == [1, 1, 2, 3, 6]
    assert kinds["2-anonymous"] == 6
    assert kinds["too many unique customers"] == 3


def test_every_style_is_valid_and_every_mistake_is_not(book: Rulebook, data: Path, tmp_path: Path) -> None:
    styles = {repr(one): one for one in styles_for(book, 13)}
    for place, style in enumerate(styles.values()):
        content = release_file(book, data, style, seed=place)
        assert content == release_file(book, data, style, seed=place)
        path = tmp_path / f"{place}.csv"
        path.write_bytes(content)
        assert check_release(book, data, path).valid, style
        if style.spoils:
            path.write_bytes(spoilt(content, style.spoils))
            assert not check_release(book, data, path).valid, style
    assert len(styles) >= 4


def test_guesses_are_valid_and_those_below_chance_are_below(book: Rulebook, data: Path, tmp_path: Path) -> None:
    """Of a release that hides names alone an attack finds nearly all, and its opposite nobody."""
    method = "monthly-pseudonyms" if book.name == "pwscup2017" else "pseudonymize"
    release, target, guess = (tmp_path / name for name in ("A.csv", "target.csv", "guess.csv"))
    release.write_bytes(release_file(book, data, Style("plain", ({"method": method},)), seed=3))
    target.write_bytes(make_target(book, data, release, SALT, f"{LABEL}/s"))
    named = "s1" if book.name == "pwscup2017" else "nearest"
    right = {}
    for attack in (named, BELOW_CHANCE, RANDOM):
        count = guess_file(book, data, target, attack, 5, guess)
        assert check_guess(book, data, target, guess).valid
        tried = score_guess(book, data, release, SALT, f"{LABEL}/s", guess)["tried"]
        right[attack] = tried["right"] / max(count, 1)
    assert right[named] > 0.9
    assert right[BELOW_CHANCE] < 0.3
    assert right[RANDOM] < 0.5


def test_two_are_left_as_they_were(tmp_path: Path) -> None:
    """All rows of two customers keep their values, under new names; the others' do not."""
    book = preset("pwscup2018")
    data = make_data(book, tmp_path, customers=20, rows=200, seed=1, name="T")
    style = next(one for one in styles_for(book, 13) if one.unprocessed)
    made = release_file(book, data, style, seed=4).decode().splitlines()
    original = data.read_text().splitlines()
    same: dict[str, list[bool]] = {}
    names: dict[str, set[str]] = {}
    for one, other in zip(original, made, strict=True):
        (customer, *cells), (name, *released) = one.split(","), other.split(",")
        same.setdefault(customer, []).append(cells == released)
        names.setdefault(customer, set()).add(name)
    kept = [customer for customer, rows in same.items() if all(rows)]
    assert len(kept) == 2
    assert all(len(names[customer]) == 1 and not names[customer] & set(same) for customer in kept)


def test_the_final_table_by_hand(tmp_path: Path) -> None:
    """Names alone: U = 0 and found out, so without a rank. Pairs: ranked by U. Without a valid file there is none."""
    book = preset("pwscup2018")
    data = make_data(book, tmp_path, customers=20, rows=200, seed=1, name="T")
    steps: dict[str, dict[str, Any]] = {
        "plain": {"method": "pseudonymize"},
        "pairs": {"method": "generalize-by-count", "k": 2},
    }
    files = {name: release_file(book, data, Style(name, (step,)), seed=2) for name, step in steps.items()}
    wrong = spoilt(files["pairs"], "rows")
    releases = {
        "plain": [ReleaseMade("s1", files["plain"])],
        "pairs": [ReleaseMade("s2", files["pairs"]), ReleaseMade("s3", wrong)],
        "again": [ReleaseMade("s4", files["pairs"])],
        "none": [],
        "wrong": [ReleaseMade("s5", wrong)],
    }
    release, target, guess = (tmp_path / name for name in ("A.csv", "target.csv", "guess.csv"))
    release.write_bytes(files["plain"])
    target.write_bytes(make_target(book, data, release, SALT, f"{LABEL}/s1"))
    guess_file(book, data, target, "nearest", 0, guess)
    table = final_table(book, data, releases, [GuessMade("s1", guess.read_bytes())], SALT, LABEL)
    assert {team: line.rank for team, line in table.items()} == {
        "plain": None, "pairs": 1, "again": 1, "none": None, "wrong": None,
    }  # fmt: skip
    assert table["plain"].values == {"cell-error": 0.0, "effective": 1.0}
    assert table["plain"].broken == ("effective",)
    release.write_bytes(files["pairs"])
    assert table["pairs"].score == score_release(book, data, release)["values"]["cell-error"]
    after = book.model_copy(update={"otherwise": "after"})
    told = final_table(after, data, releases, [GuessMade("s1", guess.read_bytes())], SALT, LABEL)
    assert [told[team].rank for team in ("pairs", "again", "plain")] == [1, 1, 3]
