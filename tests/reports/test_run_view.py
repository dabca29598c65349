"""What a page shows of a run are the numbers that the command line prints for it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren import api
from noren.data.compatibility import class_sizes
from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.drawing.histograms import axis_of, net_shift, spread
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, examine, run_outcome
from noren.judgement.release_facts import claimed_by
from noren.judgement.rule import RULES
from noren.judgement.verdict import Reason, VerdictStatus
from noren.protocols import Guess, Score
from noren.reports.run_view import RunView, column_cells, row_pairs, run_view
from noren.retention.reconstruction import reconstruct

PEOPLE = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "ill": {"role": "sensitive", "domain": ["no", "yes"]},
        },
    }
)


def people(rows: int = 300) -> Table:
    draws = np.random.default_rng(1)
    return Table.of(
        {
            "age": draws.integers(0, 100, rows),
            "town": [("a", "b", "c")[i] for i in draws.choice(3, rows, p=[0.6, 0.3, 0.1])],
            "ill": [("no", "yes")[i] for i in draws.integers(0, 2, rows)],
        },
        PEOPLE,
    )


# --- the same as the command line ----------------------------------------------------------------------------


def test_measures_and_attacks_are_those_of_the_command_line(noren: Any, small_csv: Path, tmp_path: Path) -> None:
    folder, guesses, schema = tmp_path / "r", tmp_path / "g", ("--schema", "pwscup2018")
    made = noren("protect", small_csv, *schema, "--method", "swap", "--share", 0.3, "--seed", 1, "--out", folder)
    assert made.code == 0, made.err
    names = ["jaccard", "unique-rows", "profile"]
    attacked = noren(
        "attack", small_csv, folder, *schema, "--attacks", ",".join(names), "--out", guesses, "--json"
    ).json
    measured = noren("measure", small_csv, folder, *schema, "--guess", guesses, "--json").json["results"]

    original = api.as_records(pl.read_csv(small_csv, has_header=False, new_columns=list(_columns())), "pwscup2018")
    shown = run_view(original, examine(original, Release.load(folder), attacks=names))
    tried = {one.attack: one for one in shown.facts.tried}
    assert attacked["most_damaging"] in tried
    for attack, told in attacked["results"].items():
        assert (tried[attack].right, tried[attack].hits[1:]) == (told["right"], told["hits"])
    for measure in shown.measures:
        assert measure.value == measured[measure.name]["value"]
        assert measure.parts == measured[measure.name]["parts"]
    assert {m.name for m in shown.measures} == set(measured)
    assert {"cell-error", "survival", "classes", "reid-rate", "rfm"} <= set(measured)
    contest = judge(shown.facts, "pwscup2018")
    for one in contest.evidence:
        assert measured["effective"]["parts"][f"{one.attack}.needed"] == one.needed
        assert measured["effective"]["parts"][f"{one.attack}.named"] == one.named
        assert measured["reid-rate"]["parts"][one.attack] == one.customers
    assert any(one.beyond_chance for one in contest.evidence) == (measured["effective"]["value"] == 1)
    place = shown.place(contest)
    assert place.use == 1 - measured["cell-error"]["value"]
    assert place.risk == measured["reid-rate"]["value"]
    assert (place.use_of, place.risk_of) == ("cell-error", "attacks")


def _columns() -> tuple[str, ...]:
    return Schema.preset("pwscup2018").names


# --- histories -----------------------------------------------------------------------------------------------


def test_a_run_that_is_broken_and_one_that_another_rule_allows(history: History, outcomes: list[Outcome]) -> None:
    broken, safe = (run_view(history, outcome) for outcome in (outcomes[0], outcomes[2]))
    assert (judge(broken.facts).status, judge(safe.facts).status) == (VerdictStatus.BROKEN, VerdictStatus.BROKEN)
    assert judge(safe.facts, "inside").status == VerdictStatus.PROVED
    assert (broken.place(judge(broken.facts)).status, safe.place(judge(safe.facts)).k) == (VerdictStatus.BROKEN, 3)
    assert (safe.label, safe.people, safe.kind) == (outcomes[2].label, 30, "history")
    assert safe.facts.table is None
    (attack,) = judge(broken.facts).evidence
    assert (attack.attack, attack.named, attack.right, attack.customers) == ("unique-rows", 30, 30, 1.0)
    for shown in (broken, safe):
        kept = shown.model_dump(mode="json")
        assert RunView.model_validate(json.loads(json.dumps(kept, allow_nan=False))) == shown


def test_the_statement_and_the_rows(history: History) -> None:
    release = api.protect(history, ["monthly-pseudonyms", {"method": "thin", "share": 0.25}], seed=1)
    shown = run_view(history, Outcome("a\x00label", release))
    said = shown.statement
    assert shown.label == "a�label"
    assert (said.method, [step.method for step in said.steps]) == ("chain", ["monthly-pseudonyms", "thin"])
    assert said.steps[1].parameters["share"] == 0.25
    assert said.steps[1].promise == release.statement.steps[1].promise != ""
    deleted = release.deleted_rows
    assert shown.rows.model_dump() == {"original": 900, "public": 900 - deleted, "deleted": deleted, "added": 0}
    assert deleted > 0
    verdict = judge(shown.facts)
    assert (shown.facts.tried, verdict.status, shown.place(verdict).use) == ((), VerdictStatus.UNTRIED, None)


def test_what_is_claimed() -> None:
    assert claimed_by(Statement("mondrian", {"k": 5, "l": 2, "t": None})) == {"k": 5, "l": 2}
    assert claimed_by(Statement("retention", {"k": None, "rho": 0.5})) == {"rho": 0.5}
    assert claimed_by(Statement("swap", {"share": 0.2, "k": True})) == {}
    chain = Statement.of_chain([Statement("mondrian", {"k": 5}), Statement("thin", {})])
    assert claimed_by(chain) == {}


def test_without_the_secret_nobody_knows_what_is_right(history: History, outcomes: list[Outcome]) -> None:
    made = outcomes[0].release
    public = replace(made, secret=Secret(made.secret.pseudonyms.clear(), made.secret.origin.clear(), 0))
    shown = run_view(history, examine(history, public, attacks=["unique-rows"]))
    assert shown.rows.model_dump() == {"original": 900, "public": 900, "deleted": None, "added": None}
    verdict = judge(shown.facts)
    assert (shown.facts.tried, verdict.evidence, verdict.reason) == ((), (), Reason.NOT_TRIED)
    assert (shown.place(verdict).risk, verdict.status) == (None, VerdictStatus.UNTRIED)


def test_the_sharp_bound_needs_fewer_hits() -> None:
    customers = [f"c{i:02}" for i in range(40)]
    rows = {"customer": customers, "date": ["2010/12/1"] * 40, "item": ["x"] * 40, "price": [1.0] * 40,
            "quantity": [1] * 40}  # fmt: skip
    original = History.of(rows, Schema.preset("pwscup2018"))
    release = api.protect(original, "pseudonymize", seed=1)
    true = release.secret.pseudonyms.sort("pseudonym")
    contest = RULES["pwscup2018"]
    for right, beyond in ((25, (False, False)), (26, (False, True)), (28, (True, True))):
        wrong = pl.Series("customer", [*true["customer"].head(right), *["nobody"] * (40 - right)])
        guess = Guess("hand", true.with_columns(wrong).reverse())
        shown = run_view(original, Outcome("hand", release, {"hand": guess}))
        paper, sharp = (
            judge(shown.facts, rule).evidence[0] for rule in (contest, contest.model_copy(update={"bound": "sharp"}))
        )
        assert (paper.right, paper.needed, sharp.needed) == (right, 28, 26)
        assert (paper.beyond_chance, sharp.beyond_chance) == beyond
        assert judge(shown.facts, contest).reason == Reason.TOO_MANY_NAMED  # as a fact, whatever a test allows


def test_histograms_are_those_of_the_report(history: History, outcomes: list[Outcome]) -> None:
    shown = {one["column"]: one for one in run_view(history, outcomes[2]).histograms}
    assert list(shown) == ["date", "item", "price", "quantity"]
    for name, one in shown.items():
        axis = axis_of(history.frame[name], history.schema[name])
        assert axis is not None
        before, after = (spread(d.frame[name], axis, 900) for d in (history, outcomes[2].release.public))
        own = len(one["labels"]) - one["others"]
        assert one["labels"][:own] == list(axis.labels[:own])
        np.testing.assert_allclose(one["original"][:own], before.weights[:own], atol=1e-6)
        np.testing.assert_allclose(one["released"][:own], after.weights[:own], atol=1e-6)
        assert one["shift"] == net_shift(before, after, 900)
        assert one["unsaid"] == after.unsaid / 900
        assert len(one["labels"]) == len(one["original"]) == len(one["released"]) <= 40
        assert sum(one["original"]) == pytest.approx(900)
        assert sum(one["released"]) + 900 * one["unsaid"] == pytest.approx(900, abs=1e-3)
        assert one["reconstructed"] is None
    assert (shown["date"]["unit"], shown["item"]["others"], shown["item"]["labels"][-1]) == ("month", True, "")


def test_classes_are_pseudonyms_of_one_public_history(history: History, outcomes: list[Outcome]) -> None:
    sizes = class_sizes(outcomes[2].release.public)  # type: ignore[arg-type]
    found = run_view(history, outcomes[2]).class_sizes
    assert found is not None
    assert (found["of"], found["minimum"], found["total"]) == ("pseudonyms", min(sizes), len(sizes))
    assert dict(zip(found["from"], found["counts"], strict=True)) == {
        size: sizes.count(size) for size in range(min(sizes), max(sizes) + 1)
    }
    assert (sum(found["members"]), found["alone"]) == (30, sizes.count(1))
    alone = run_view(history, outcomes[0]).class_sizes
    assert alone is not None
    assert (alone["labels"], alone["members"], alone["alone"]) == (["1"], [30], 30)


def test_categories_are_compared_with_categories(history: History, tmp_path: Path) -> None:
    items = sorted(history.frame["item"].unique())
    file = tmp_path / "shelves.csv"
    file.write_text("".join(f"{item},c{i % 4}\n" for i, item in enumerate(items)))
    release = api.protect(history, "generalize-by-count", k=2, categories=file, seed=1, audit=False)
    item = next(h for h in run_view(history, Outcome("x", release)).histograms if h["column"] == "item")
    assert sorted(item["labels"]) == ["c0", "c1", "c2", "c3"]
    assert (sum(item["original"]), item["others"]) == (900, False)


# --- tables --------------------------------------------------------------------------------------------------


def test_a_table_is_judged_by_its_classes() -> None:
    table = people()
    outcome = run_outcome(table, "mondrian", k=4, seed=1, measures=["classes", "table-loss"])
    shown = run_view(table, outcome)
    score = outcome.scores["classes"]
    facts, table_facts = shown.facts, shown.facts.table
    assert table_facts is not None
    assert (facts.claimed, table_facts.holds, table_facts.least) == ({"k": 4}, True, score.value)
    for name in ("prosecutor", "journalist", "marketer", "below"):
        assert getattr(table_facts, name) == score.parts[name]
    assert (table_facts.rows_in_classes, table_facts.classes) == (300, score.notes["classes"])
    assert judge(facts).reason == Reason.CLASS_TOO_SMALL  # a partner asks for classes of five
    verdict = judge(facts, "inside")
    assert verdict.status == VerdictStatus.PROVED
    assert shown.place(verdict).model_dump() == {
        "label": "mondrian, k = 4",
        "status": "proved",
        "k": 4,
        "use": 1 - outcome.scores["table-loss"].value,
        "risk": score.parts["prosecutor"],
        "use_of": "table-loss",
        "risk_of": "guarantee",
    }
    assert shown.class_sizes is not None
    assert (shown.class_sizes["of"], sum(shown.class_sizes["members"])) == ("rows", 300)
    assert [h["column"] for h in shown.histograms] == ["age", "town", "ill"]
    assert RunView.model_validate(json.loads(json.dumps(shown.model_dump(mode="json"), allow_nan=False))) == shown


def test_a_claim_that_does_not_hold_a_chain_and_no_claim() -> None:
    table = people(20)
    as_it_is = Release.of_aligned(table, table, Statement("mondrian", {"k": 4}, notes={"classes": 20}))
    broken = run_view(table, examine(table, as_it_is, measures=["classes"])).facts
    assert judge(broken).reason == Reason.CLAIM_NOT_KEPT
    assert judge(broken).risk == 1.0
    silent = Release.of_aligned(table, table, Statement("hand"))
    shown = run_view(table, examine(table, silent, measures=["classes"]))
    # nothing was promised, but rows as they are tell the illness of whoever stands alone
    assert (judge(shown.facts).status, judge(shown.facts).reason) == (VerdictStatus.BROKEN, Reason.SENSITIVE_DISCLOSED)
    assert shown.facts.table is not None
    assert shown.class_sizes is not None
    assert shown.facts.table.disclosures[0].certain == shown.class_sizes["alone"] == 20
    plain = Table(table.frame.drop("ill"), table.schema.model_copy(update={"columns": table.schema.columns[:2]}))
    nobody = run_view(plain, examine(plain, Release.of_aligned(plain, plain, Statement("hand")), measures=["classes"]))
    assert (judge(nobody.facts).status, judge(nobody.facts).reason) == (VerdictStatus.BROKEN, Reason.CLASS_TOO_SMALL)
    assert judge(run_view(table, Outcome("x", silent)).facts).reason == Reason.NOT_COUNTED
    chained = replace(as_it_is, statement=Statement.of_chain([Statement("thin", {}), as_it_is.statement]))
    assert judge(run_view(table, examine(table, chained, measures=["classes"])).facts).status == VerdictStatus.BROKEN
    said = Score(20.0, {}, {"rows": 20, "unlinked_rows": 20, "classes": 0, "holds": True})
    hidden = judge(run_view(table, Outcome("x", as_it_is, scores={"classes": said})).facts)
    assert (hidden.status, hidden.reason, hidden.risk) == (VerdictStatus.PROVED, Reason.NOTHING_SAID, 0.0)


def test_retention_is_judged_by_its_proof_and_shows_what_was_reconstructed() -> None:
    table = people(500)
    outcome = run_outcome(
        table, "retention", k=2.5, attributes=["age", "town"], reconstruct="em", seed=1, measures=["l1-precision"]
    )
    shown = run_view(table, outcome)
    assert (shown.facts.claimed["k"], shown.facts.proven_k) == (2.5, pytest.approx(2.5))  # type: ignore[comparison-overlap]
    assert judge(shown.facts).reason == Reason.ATTACKS_FAILED
    assert judge(shown.facts.model_copy(update={"tried": ()})).reason == Reason.PROOF_TOO_WEAK
    verdict = judge(shown.facts, "0.4")
    assert (verdict.status, verdict.guarantee.by) == (VerdictStatus.PROVED, "noise")  # type: ignore[union-attr]
    place = shown.place(verdict)
    assert place.risk == pytest.approx(0.4)
    assert place.use == outcome.scores["l1-precision"].value
    assert (place.use_of, place.risk_of) == ("l1-precision", "guarantee")
    ages, towns = shown.histograms
    same = reconstruct(outcome.release.public, outcome.release.statement, attributes=["town"])
    labels = same.perturbation.attributes[0].labels()
    expected = dict(zip(labels, same.table, strict=True))
    np.testing.assert_allclose(towns["reconstructed"], [expected[label] for label in towns["labels"]], atol=1e-5)
    assert sum(ages["reconstructed"]) == pytest.approx(500, abs=1e-3)
    assert ages["shift_reconstructed"] is not None
    assert len(ages["labels"]) == len(ages["reconstructed"]) == len(ages["original"])


# --- how it is made ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_drawing_library_is_loaded() -> None:
    rooms = ("reports.profile", "reports.run_view", "drawing.crosstabs", "drawing.risk_map")
    script = "import sys; " + "; ".join(f"import noren.{room}" for room in rooms) + "; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"vl_convert", "jinja2"} & set(done.stdout.split()) == set()
    assert "noren.reports.run_view" in done.stdout.split()


def test_what_cells_became_is_counted_by_hand() -> None:
    columns = {"age": {"role": "quasi", "type": "integer"}, "town": {"role": "quasi"}, "note": {"role": "other"}}
    schema = Schema.of({"kind": "table", "columns": columns})
    people = Table.of({"age": [20, 30, 40, 60], "town": list("abca"), "note": list("wxyz")}, schema)
    ages = pl.Series([{"lo": 20, "hi": 30}, {"lo": 20, "hi": 30}, {"lo": 40, "hi": 40}, {"lo": 40, "hi": 60}])
    towns = pl.Series([["a", "b", "c"], ["b"], None, ["b"]], dtype=pl.List(pl.Enum(list("abc"))))
    aligned = Table(pl.DataFrame({"age": ages, "town": towns, "note": pl.Series([None] * 4, dtype=pl.String)}), schema)
    release = Release.of_aligned(people, aligned, Statement("hand"))
    age, town, note = column_cells(row_pairs(people, release), people, release)
    assert (age.exact, age.range, age.empty, age.width, age.span) == (0.25, 0.75, 0.0, 10.0, 0.25)
    assert (town.exact, town.changed, town.set, town.empty, town.size) == (0.25, 0.25, 0.25, 0.25, 3.0)
    assert (note.exact, note.empty, note.width, note.size) == (0.0, 1.0, None, None)
