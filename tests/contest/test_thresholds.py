"""The number of right answers that breaks a release: by the contest's own condition, wherever it is displayed."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import pytest
from tests.contest.cups import Cup, finished

from noren.contest.results import RESULTS_FILES, best_attack, matrix_cell, results_html, results_of
from noren.contest.rulebook import Rulebook, preset, read_rulebook
from noren.contest.service import NewContest
from noren.contest.standings import board, evidence_of, verdict_on
from noren.contest.state import fold
from noren.kernels.judging.survival import prefix_thresholds
from noren.measures.safety.effective import best_try

NAMED, RIGHT = 40, 26
NEEDED = {"paper": 28, "sharp": 26}  # docs/guide/rulebook.md#thresholds


def played(book: Rulebook, attacks: int) -> Cup:
    """Return a cup whose release a is attacked so often, always by 26 of 40 right answers, as is its baseline."""
    cup = Cup(book, people=NAMED)
    for team in "ab":
        cup.team(team)
    tried = {"attack": "nearest", "named": NAMED, "right": RIGHT, "customers": RIGHT}
    cup.on("protect").release("a", "ra", {"cell-error": 0.2}, tried=[tried | {"right_at": list(range(1, RIGHT + 1))}])
    cup.on("attack").targets(t01="ra")
    assert book.test is not None
    _named, right, needed = book.test.best_of(NAMED, range(1, RIGHT + 1))
    values = {"effective": float(right >= needed)}
    for number in range(attacks):
        cup.guess("b", f"g{number}", "01", named=range(NAMED), right=range(RIGHT), values=values)
    return finished(cup)


def rulebook(bound: str, *, surest: bool, rule: str) -> Rulebook:
    book = preset("pwscup2018", bound=bound, otherwise="after", rule=rule)
    (condition,) = book.conditions
    chosen = condition.model_copy(update={"parameters": condition.parameters | {"best_prefix": surest}})
    return read_rulebook(book.model_copy(update={"conditions": (chosen,)}).to_toml())


@pytest.mark.parametrize("rule", ["pwscup2018", "partner"])
@pytest.mark.parametrize("surest", [False, True])
@pytest.mark.parametrize("bound", ["paper", "sharp"])
@pytest.mark.parametrize("attacks", [1, 39])  # more than share the error of the rule
def test_every_place_displays_the_threshold_of_the_condition(bound: str, surest: bool, rule: str, attacks: int) -> None:
    book = rulebook(bound, surest=surest, rule=rule)
    best, needed = NAMED, NEEDED[bound]
    if surest:
        line = prefix_thresholds(NAMED, bound, Fraction(1, 3), Fraction(1, 2000))  # type: ignore[arg-type]
        best, _right, needed = best_try([min(n, RIGHT) for n in range(1, NAMED + 1)], line)
    contest = fold(played(book, attacks).entries)
    results = results_of(contest)
    breaks = needed <= min(best, RIGHT)

    (cell,) = results.rounds[0].matrix.cells
    assert (cell.evidence.best_named, cell.evidence.needed, cell.breaks) == (best, needed, breaks)
    assert matrix_cell(cell)["more"].startswith(f"needed {needed} of {best};"), "the cell of pages"
    assert matrix_cell(cell)["mark"] == ("▲" if breaks else ""), "no mark that the number contradicts"
    (line_,) = csv.DictReader(io.StringIO(RESULTS_FILES["matrix.csv"](results)))
    assert (line_["needed"], line_["breaks"]) == (str(needed), str(int(breaks)))
    first = next(csv.DictReader(io.StringIO(RESULTS_FILES["standings.csv"](results))))
    assert (first["team"], first["best_named"], first["needed"]) == ("Team a", str(best), str(needed))
    stored = json.loads(RESULTS_FILES["results.json"](results))["rounds"][0]
    assert stored["matrix"]["cells"][0]["needed"] == stored["standings"][0]["best_attack"]["needed"] == needed
    shown = board(contest, "final", contest.time, kind="final")
    sent = shown.as_dict()["standings"][0]["best_attack"]
    assert (sent["right"], sent["best_named"], sent["needed"]) == (RIGHT, best, needed)
    text = f"{min(best, RIGHT)} of {best} right, {needed} needed"
    assert best_attack(shown.standings[0]) == text
    assert text in results_html(results)
    verdict = verdict_on(contest, contest.submissions["ra"], (), names=(), baseline=True)
    assert [entry.needed for entry in evidence_of(book, verdict)] == [needed], "the baseline attacks of a file"
    if rule == "pwscup2018" and not surest:  # the contest's own test: the judgement has the same numbers
        assert {entry.needed for entry in shown.standings[0].verdict.evidence} == {needed}  # type: ignore[union-attr]
        assert stored["standings"][0]["verdict"] == "broken", "65 % of the customers are named, whatever the bound"


@pytest.mark.parametrize("bound", ["paper", "sharp"])
def test_no_verdict_marks_a_winner(bound: str) -> None:
    results = results_of(fold(played(rulebook(bound, surest=False, rule="pwscup2018"), 1).entries))
    row = results_html(results).split("<tbody>")[1].split("</tr>")[0]
    assert results.rounds[0].board.standings[0].rank == 1
    visible = row.split("<details>")[0]
    assert "roken" not in visible
    assert f"26 of 40 right, {NEEDED[bound]} needed" in visible


def test_new_contests_have_the_sharp_bound_and_the_rules_of_2018_stay_exact() -> None:
    def bound(rulebook: str, **changes: str) -> str:
        test = NewContest(id="cup", title="Cup", rulebook=rulebook, changes=changes, phases=[]).book().test
        return "" if test is None else test.bound

    assert bound("pwscup2018") == "sharp"
    assert bound("pwscup2018", bound="paper") == "paper", "it can be chosen"
    assert bound(preset("pwscup2018").to_toml()) == "paper", "a rulebook of one's own stays as it is"
    assert (bound("pwscup2017"), bound("custom")) == ("", "")
    official = preset("pwscup2018").test
    assert official is not None
    assert official.bound == "paper"
