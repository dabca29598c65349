"""Results of small cups: tables by hand, pages in both languages, tables that no spreadsheet takes for programs."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from tests.contest.cups import Cup, finished, three_teams, tried

from noren.contest.results import matrix_csv, results_html, results_json, results_of, stability_csv, standings_csv
from noren.contest.state import fold
from noren.data.formats.text_layout import neutral
from noren.i18n import use_language
from noren.work.hash_chain import canonical, digest_of


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_kinds_of_releases_as_in_table_5_of_s0() -> None:
    """a: 12 of 20 unique; c: 2 unique, else pairs; b: pairs; d: classes of five."""
    found = results_of(fold(finished(three_teams()).entries)).rounds[0].kinds
    assert [(one.label, one.teams, one.survived) for one in found] == [
        ("too many unique histories (a quarter of the pseudonyms or more)", ("a",), 0),
        ("some unique histories, otherwise 2-anonymous", ("c",), 1),
        ("2-anonymous", ("b",), 1),
        ("5-anonymous", ("d",), 1),
    ]


def _attacked(baseline: list[int], teams: list[int]) -> Cup:
    """Return a cup: per release, how many of 20 customers the baseline attack and another team re-identify."""
    cup = Cup()
    for at in range(len(baseline)):
        cup.team(f"t{at}")
    cup.on("protect")
    for at, right in enumerate(baseline):
        cup.release(f"t{at}", f"r{at}", {"cell-error": at / 10}, tried=[tried(range(20), range(right))])
    cup.on("attack")
    cup.targets(**{f"t{at:02d}": f"r{at}" for at in range(len(baseline))})
    for at, right in enumerate(teams):
        cup.guess(f"t{(at + 1) % len(teams)}", f"g{at}", f"{at:02d}", named=range(20), right=range(right))
    return finished(cup)


def test_how_well_the_baseline_predicts_the_teams() -> None:
    """Ranks 1 2 3 4 5 against 2 1 4 3 5: Spearman's r = 1 - 6·4/(5·24) = 0.8."""
    found = results_of(fold(_attacked([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]).entries)).rounds[0].prediction
    assert found.r == pytest.approx(0.8)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < 0.8 < found.high  # of five releases little can be said
    assert found.releases == 5
    assert "r = 0.80" in found.sentence
    few = results_of(fold(_attacked([1, 2, 3], [1, 2, 3]).entries)).rounds[0].prediction
    assert few.r is None
    assert "cannot be determined: 3 releases" in few.sentence


def test_results_are_the_same_whenever_and_in_whatever_language_they_are_made() -> None:
    entries = finished(three_teams()).entries
    first = results_of(fold(entries))
    with use_language("ja"):
        again = results_of(fold(entries))
        assert again.digest == first.digest
    assert digest_of(canonical(first.as_dict())) == first.digest
    said = json.loads(results_json(first))
    assert said.pop("digest") == first.digest
    assert said == first.as_dict()
    assert [one["rank"] for one in said["rounds"][0]["standings"]] == [1, 1, 3, None, None, None]


def test_a_later_results_entry_does_not_change_them() -> None:
    cup = finished(three_teams())
    first = results_of(fold(cup.entries)).digest
    cup.say("results", "clock", digest=first)
    assert results_of(fold(cup.entries)).digest == first
    cup.say("disqualified", "organiser:o", team="b", reason="late")
    assert results_of(fold(cup.entries)).digest != first


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_loads_nothing_and_runs_nothing(language: str) -> None:
    cup = three_teams()
    cup.team("x", "<script>alert(1)</script>")
    cup.say("flagged", "judge", submissions=["ra", "rb"], share=0.97)
    cup.say("refunded", "judge", submission="g2", reason="our <b>fault</b>")
    results = results_of(fold(finished(cup).entries))
    with use_language(language):
        page = results_html(results)
        assert results_html(results) == page
    assert f'<html lang="{language}">' in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "our &lt;b&gt;fault" in page
    assert not re.search(r"(src|href)=", page)
    assert results.digest in page
    assert page.count("<table") == page.count("</table>") == 4


def test_the_page_says_what_was_found() -> None:
    cup = three_teams()
    cup.say("flagged", "judge", submissions=["ra", "rb"], share=0.97)
    page = results_html(results_of(fold(finished(cup).entries)))
    assert "A cup: Final round: first place for Team b, Team c with a score of" in page
    assert "Release: Team a · Team b: 97.0%" in page
    assert "<b>8/8</b> ▲" in page
    assert "Broken: Team b re-identifies 40.0% of the 20 people; 33.3% is allowed." in page
    assert "disqualified: two accounts" in page
    assert "bootstrap samples" in page


def test_far_below_chance_is_told_on_the_page() -> None:
    cup = Cup(people=2)
    cup.team("a")
    cup.team("b")
    cup.on("protect")
    cup.release("a", "ra", {"cell-error": 0.1})
    cup.on("attack")
    cup.targets(t01="ra")
    cup.guess("b", "g", "01", named=[0] * 10)
    page = results_html(results_of(fold(finished(cup).entries)))
    assert "▽ Far below chance: reversing such a guess discloses something." in page
    assert "<b>0/10</b> ▽" in page


def test_tables_for_programs() -> None:
    results = results_of(fold(finished(three_teams()).entries))
    standings = _rows(standings_csv(results))
    assert [(one["team"], one["rank"], one["cell-error"], one["effective_attackers"]) for one in standings[:3]] == [
        ("Team b", "1", "0.3", "0"),
        ("Team c", "1", "0.3", "0"),
        ("Team a", "3", "0.2", "1"),
    ]
    assert [(one["attacker"], one["right"], one["breaks"]) for one in _rows(matrix_csv(results))] == [
        ("Team a", "2", "0"),
        ("Team b", "8", "1"),
        ("Team c", "7", "0"),
    ]
    assert {one["draws"] for one in _rows(stability_csv(results))} == {"1000"}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_name_becomes_a_formula(name: str) -> None:
    cup = Cup()
    cup.team("a", name)
    cup.on("protect")
    cup.release("a", "ra", {"cell-error": 0.1})
    cell = _rows(standings_csv(results_of(fold(finished(cup).entries))))[0]["team"]
    assert cell == f"'{name}"
    assert neutral("Team = 1") == "Team = 1"
