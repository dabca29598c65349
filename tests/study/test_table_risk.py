"""What a released table tells of sensitive values, counted by hand and by brute force; reports and pages agree."""

from collections import Counter, defaultdict

import polars as pl

from noren import api
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.study.findings import Verdict, cautions_of, outcome_sentence, verdict
from noren.study.outcomes import Outcome, judge, run_outcome
from noren.study.report import report_html
from noren.study.run_view import run_view

SCHEMA = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}}})


def released(rows: list[tuple[str | None, str | None]]) -> Outcome:
    """Return rows of age and illness as they are, judged by their classes; the method claims k = 2."""
    table = Table(pl.DataFrame(rows, schema=["age", "illness"], orient="row"), SCHEMA)
    release = Release.of_aligned(table, table, Statement("mondrian", {"k": 2}, notes={"classes": 2}))
    return judge(table, release, measures=["classes"], label="by hand")


def test_a_class_with_one_value_tells_it_of_everybody_in_it() -> None:
    # the two in their twenties have flu; the five in their thirties differ, though four of five have gout
    told = released([("20s", "flu")] * 2 + [("30s", "gout")] * 4 + [("30s", "flu")])
    assert verdict(told) == Verdict.BROKEN
    sentence = "2 of 7 people stand in classes where everybody has the same illness: who finds the class knows it."
    assert outcome_sentence(told, 7) == f"by hand: {sentence}"
    assert cautions_of(told)[:2] == [
        sentence,
        "The illness of 5 of 7 people can be guessed: at least 80.0% of their class have the same.",
    ]


def test_two_values_in_each_class_are_safe_and_what_is_not_said_tells_nothing() -> None:
    safe = released([("20s", "flu"), ("20s", "gout"), ("30s", None), ("30s", None), ("30s", None)])
    assert verdict(safe) == Verdict.WITHSTANDS
    assert cautions_of(safe) == []
    assert "Nobody can be singled out" in outcome_sentence(safe, 5)


def test_the_report_and_the_page_say_the_same_of_people_by_brute_force() -> None:
    table = sample_people(rows=800, seed=3)
    outcome = run_outcome(table, "mondrian", k=5, seed=1, attacks=[], measures=["classes"])
    public = outcome.release.public
    quasi = [c.name for c in public.schema.columns if c.role == "quasi"]
    ills: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in public.texts().to_dicts():
        ills[tuple(row[name] for name in quasi)][row["illness"]] += 1
    alike = sum(sum(found.values()) for found in ills.values() if len(found) == 1)
    assert alike > 0
    view = run_view(table, outcome)
    assert {one["column"]: one["certain"] for one in view["table_risk"]["told"]}["illness"] == alike
    assert view["verdict"] == {"paper": "broken", "sharp": "broken"}
    page = report_html(table, [outcome])
    assert f"{alike} of 800 people stand in classes where everybody has the same illness" in page
    assert "▲ does not withstand" in page
    assert "Nobody can be singled out" not in page


def test_asking_for_two_values_of_each_sensitive_column_makes_it_safe() -> None:
    table = sample_people(rows=800, seed=3)
    outcome = run_outcome(table, "mondrian", k=5, l=2, seed=1, attacks=[], measures=["classes"])
    assert verdict(outcome) == Verdict.WITHSTANDS
    assert {one["certain"] for one in run_view(table, outcome)["table_risk"]["told"]} == {0}
    assert api.measure(table, outcome.release, "classes").notes["holds"] is True
