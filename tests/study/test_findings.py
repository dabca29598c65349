"""Scores become sentences: every case has its own, and the numbers in it are those of the scores."""

import polars as pl
import pytest

from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.protocols import Guess, Score
from noren.study.findings import (
    Verdict,
    attack_lines,
    frontier,
    frontier_sentence,
    headline,
    outcome_sentence,
    people_in,
    verdict,
)
from noren.study.outcomes import Outcome

RELEASE = Release(None, Secret(pl.DataFrame(), pl.Series([0]), 1), Statement("hand"))  # type: ignore[arg-type]


def outcome(label: str, *hits: tuple[str, int, int, int], error: float | None = 0.5, people: int = 100) -> Outcome:
    """Make an outcome of attacks ``(name, named, right, needed)``."""
    guesses = {name: Guess(name, pl.DataFrame({"pseudonym": ["x"] * named})) for name, named, _r, _n in hits}
    scores = {} if error is None else {"cell-error": Score(error)}
    if hits:
        parts: dict[str, float] = {}
        for name, named, right, needed in hits:
            parts |= {f"{name}.named": named, f"{name}.right": right, f"{name}.needed": needed}
        broken = any(right >= needed for _name, _named, right, needed in hits)
        scores["effective"] = Score(float(broken), parts)
        rates = {name: right / people for name, _named, right, _needed in hits}
        scores["reid-rate"] = Score(max(rates.values()), rates)
    return Outcome(label, RELEASE, guesses, scores)


SAFE = outcome("k = 3", ("unique-rows", 12, 4, 11), error=0.438)
SAFER = outcome("k = 6", ("unique-rows", 0, 0, 1), error=0.6)
BROKEN = outcome("names only", ("unique-rows", 99, 80, 64), ("dotted.name", 20, 1, 16), error=0.0)
UNTRIED = outcome("raw")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (
            [BROKEN, SAFE, SAFER, UNTRIED],
            "Of 4 releases, 2 withstand the attacks tried; the most useful of them is k = 3 with U 0.438.",
        ),
        ([BROKEN, SAFE], "Of 2 releases, 1 withstands the attacks tried: k = 3, with U 0.438."),
        (
            [BROKEN, BROKEN],
            "None of the 2 releases withstands the attacks tried; the least exposed is names only, "
            "with 80.0% of the customers re-identified.",
        ),
        (
            [UNTRIED, UNTRIED],
            "No attack was judged, so nothing is known about the risk of these 2 releases.",
        ),
        ([SAFE], "k = 3 withstands the attacks tried: the best names 12 people, 4 rightly (11 needed)."),
        ([SAFER], "k = 6 withstands the attacks tried: none of them can name anybody."),
        ([BROKEN], "names only does not withstand unique-rows: it names 99 people, 80 rightly (64 needed)."),
        ([UNTRIED], "raw: no attack was judged, so nothing is known about its risk."),
    ],
)
def test_the_headline_is_the_finding(outcomes: list[Outcome], said: str) -> None:
    assert headline(outcomes, 100) == said


def test_without_u_or_rate_the_headline_says_less() -> None:
    bare = outcome("a", ("x", 9, 0, 9), error=None)
    assert headline([bare, bare], 100) == "Of 2 releases, 2 withstand the attacks tried."
    assert headline([bare, UNTRIED], 100) == "Of 2 releases, 1 withstands the attacks tried."
    hit = outcome("b", ("x", 9, 9, 9))
    unrated = Outcome("b", RELEASE, hit.guesses, {"effective": hit.scores["effective"]})
    assert headline([unrated, unrated], 100) == "None of the 2 releases withstands the attacks tried."


def test_braces_in_a_label_are_only_text() -> None:
    assert outcome_sentence(outcome("{label} {0}", ("x", 0, 0, 1)), 9).startswith("{label} {0} withstands")


def test_verdicts() -> None:
    assert [verdict(o) for o in (SAFE, BROKEN, UNTRIED)] == [Verdict.WITHSTANDS, Verdict.BROKEN, Verdict.UNTRIED]


def test_attacks_are_listed_strongest_first() -> None:
    first, second = attack_lines(BROKEN, 100)
    assert (first.attack, first.named, first.right, first.needed, first.effective) == ("unique-rows", 99, 80, 64, True)
    assert (first.chance, first.share) == (0.99, 0.8)
    assert (second.attack, second.named, second.right, second.effective) == ("dotted.name", 20, 1, False)
    assert first.summary
    assert not second.summary


def test_an_unjudged_attack_still_tells_whom_it_names() -> None:
    (line,) = attack_lines(Outcome("public", RELEASE, {"x": Guess("x", pl.DataFrame({"a": [1, 2]}))}), 10)
    assert (line.named, line.right, line.needed, line.effective, line.chance) == (2, None, None, False, 0.2)


def test_the_frontier_keeps_what_no_other_beats() -> None:
    assert frontier([(1.0, 1.0), (0.6, 0.0), (0.5, 0.0), (0.4, 0.0)]) == [1, 0]
    assert frontier([(0.5, 0.2), (0.5, 0.2)]) == [0, 1]
    assert frontier([(0.2, 0.1), (0.9, 0.1), (0.9, 0.3)]) == [1]


def test_the_frontier_in_words() -> None:
    assert frontier_sentence(["a", "b"], 2).startswith("Each release has its place")
    assert frontier_sentence(["a"], 3) == "One release is at least as safe and as useful as every other: a."
    assert frontier_sentence(["a", "b"], 3).startswith("2 of 3 releases are worth a choice")
    assert frontier_sentence(["a", "b"], 3).endswith(": a, b.")


def test_people_are_customers_or_rows(history: History) -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    assert (people_in(history), people_in(Table.of({"age": ["1", "1"]}, schema))) == (30, 2)
