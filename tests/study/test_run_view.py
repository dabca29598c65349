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
from noren.data.fits import class_sizes
from noren.data.frames import History, Table
from noren.data.reconstruction import reconstruct
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.protocols import Guess, Score
from noren.study.histograms import axis_of, net_shift, spread
from noren.study.outcomes import Outcome, judge, run_outcome
from noren.study.run_view import run_view
from noren.study.table_risk import claimed_by

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
    attacked = noren("attack", small_csv, folder, *schema, "--with", ",".join(names), "--out", guesses, "--json").json
    measured = noren("measure", small_csv, folder, *schema, "--guess", guesses, "--json").json["results"]

    original = api.as_records(pl.read_csv(small_csv, has_header=False, new_columns=list(_columns())), "pwscup2018")
    shown = run_view(original, judge(original, Release.load(folder), attacks=names))
    assert attacked["most_damaging"] == shown["most_damaging"]
    assert shown["most_damaging"] is not None
    for attack in shown["attacks"]:
        said = attacked["results"][attack["attack"]]
        assert (attack["right"], attack["best"]) == (said["right"], said["best"])
    for measure in shown["measures"]:
        assert measure["value"] == measured[measure["name"]]["value"]
        assert measure["parts"] == measured[measure["name"]]["parts"]
    assert {m["name"] for m in shown["measures"]} == set(measured)
    assert {"cell-error", "survival", "classes", "reid-rate", "rfm"} <= set(measured)
    sharp = noren("measure", small_csv, folder, *schema, "--guess", guesses, "--with", "effective", "--bound", "sharp",
                  "--json").json["results"]["effective"]  # fmt: skip
    for attack in shown["attacks"]:
        assert sharp["parts"][f"{attack['attack']}.needed"] == attack["needed_sharp"]
        assert measured["effective"]["parts"][f"{attack['attack']}.needed"] == attack["needed_paper"]
        assert measured["effective"]["parts"][f"{attack['attack']}.named"] == attack["named"]
        assert measured["reid-rate"]["parts"][attack["attack"]] == attack["share"]
    assert (shown["verdict_all"]["sharp"] == "broken") == (sharp["value"] == 1)
    assert (shown["verdict_all"]["paper"] == "broken") == (measured["effective"]["value"] == 1)
    assert shown["map"]["use"] == 1 - measured["cell-error"]["value"]
    assert shown["map"]["risk"] == measured["reid-rate"]["value"]
    assert (shown["map"]["use_of"], shown["map"]["risk_of"]) == ("cell-error", "reid-rate")


def _columns() -> tuple[str, ...]:
    return Schema.preset("pwscup2018").names


# --- histories -----------------------------------------------------------------------------------------------


def test_a_run_that_is_broken_and_one_that_withstands(history: History, outcomes: list[Outcome]) -> None:
    broken, safe = (run_view(history, outcome) for outcome in (outcomes[0], outcomes[2]))
    assert broken["verdict"] == broken["verdict_all"] == {"paper": "broken", "sharp": "broken"}
    assert safe["verdict"] == {"paper": "withstands", "sharp": "withstands"}
    assert (broken["map"]["verdict"], safe["map"]["verdict"], safe["map"]["k"]) == ("broken", "withstands", 3)
    assert (broken["most_damaging"], safe["most_damaging"]) == ("unique-rows", None)
    assert (safe["label"], safe["people"], safe["kind"]) == (outcomes[2].label, 30, "history")
    assert safe["table_risk"] is None
    attack = broken["attacks"][0]
    assert (attack["named"], attack["right"], attack["share"], attack["chance"]) == (30, 30, 1.0, 1.0)
    for shown in (broken, safe):
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_the_statement_and_the_rows(history: History) -> None:
    release = api.protect(history, ["monthly-pseudonyms", {"method": "thin", "share": 0.25}], seed=1)
    shown = run_view(history, Outcome("a\x00label", release))
    said = shown["statement"]
    assert shown["label"] == "a�label"
    assert (said["method"], [step["method"] for step in said["steps"]]) == ("chain", ["monthly-pseudonyms", "thin"])
    assert said["steps"][1]["parameters"]["share"] == 0.25
    assert said["steps"][1]["promise"] == release.statement.steps[1].promise != ""
    deleted = release.deleted_rows
    assert shown["rows"] == {"original": 900, "public": 900 - deleted, "deleted": deleted, "added": 0}
    assert deleted > 0
    assert (shown["attacks"], shown["verdict"]["paper"], shown["map"]["use"]) == ([], "untried", None)


def test_what_is_claimed() -> None:
    assert claimed_by(Statement("mondrian", {"k": 5, "l": 2, "t": None})) == {"k": 5, "l": 2}
    assert claimed_by(Statement("retention", {"k": None, "rho": 0.5})) == {"rho": 0.5}
    assert claimed_by(Statement("swap", {"share": 0.2, "k": True})) == {}
    chain = Statement.of_chain([Statement("mondrian", {"k": 5}), Statement("thin", {})])
    assert claimed_by(chain) == {}


def test_without_the_secret_nobody_knows_what_is_right(history: History, outcomes: list[Outcome]) -> None:
    made = outcomes[0].release
    public = replace(made, secret=Secret(made.secret.pseudonyms.clear(), made.secret.origin.clear(), 0))
    shown = run_view(history, judge(history, public, attacks=["unique-rows"]))
    assert shown["rows"] == {"original": 900, "public": 900, "deleted": None, "added": None}
    assert shown["attacks"] == [
        {"attack": "unique-rows", "named": 30, "chance": 1.0, "right": None, "best": None, "share": None}
        | dict.fromkeys(("needed_paper", "needed_sharp", "effective_paper", "effective_sharp"))
    ]
    assert shown["verdict"] == shown["verdict_all"] == {"paper": "untried", "sharp": "untried"}
    assert (shown["map"]["risk"], shown["map"]["verdict"]) == (None, "untried")


def test_the_sharp_bound_needs_fewer_hits() -> None:
    customers = [f"c{i:02}" for i in range(40)]
    rows = {"customer": customers, "date": ["2010/12/1"] * 40, "item": ["x"] * 40, "price": [1.0] * 40,
            "quantity": [1] * 40}  # fmt: skip
    original = History.of(rows, Schema.preset("pwscup2018"))
    release = api.protect(original, "pseudonymize", seed=1)
    true = release.secret.pseudonyms.sort("pseudonym")
    for right, verdicts in ((25, ("withstands",) * 2), (26, ("withstands", "broken")), (28, ("broken",) * 2)):
        wrong = pl.Series("customer", [*true["customer"].head(right), *["nobody"] * (40 - right)])
        # wrong ones first, so that fewer answers serve no better
        guess = Guess("hand", true.with_columns(wrong).reverse())
        shown = run_view(original, Outcome("hand", release, {"hand": guess}))
        assert tuple(shown["verdict_all"].values()) == verdicts
        attack = shown["attacks"][0]
        assert (attack["right"], attack["needed_paper"], attack["needed_sharp"]) == (right, 28, 26)
        assert attack["best"]["sharp"]["effective"] == (verdicts[1] == "broken")
        assert shown["verdict"] == shown["verdict_all"]


def test_histograms_are_those_of_the_report(history: History, outcomes: list[Outcome]) -> None:
    shown = {one["column"]: one for one in run_view(history, outcomes[2])["histograms"]}
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
    found = run_view(history, outcomes[2])["class_sizes"]
    assert (found["of"], found["minimum"], found["total"]) == ("pseudonyms", min(sizes), len(sizes))
    assert dict(zip(found["from"], found["counts"], strict=True)) == {
        size: sizes.count(size) for size in range(min(sizes), max(sizes) + 1)
    }
    assert (sum(found["members"]), found["alone"]) == (30, sizes.count(1))
    alone = run_view(history, outcomes[0])["class_sizes"]
    assert (alone["labels"], alone["members"], alone["alone"]) == (["1"], [30], 30)


def test_categories_are_compared_with_categories(history: History, tmp_path: Path) -> None:
    items = sorted(history.frame["item"].unique())
    file = tmp_path / "shelves.csv"
    file.write_text("".join(f"{item},c{i % 4}\n" for i, item in enumerate(items)))
    release = api.protect(history, "generalize-by-count", k=2, categories=file, seed=1, audit=False)
    item = next(h for h in run_view(history, Outcome("x", release))["histograms"] if h["column"] == "item")
    assert sorted(item["labels"]) == ["c0", "c1", "c2", "c3"]
    assert (sum(item["original"]), item["others"]) == (900, False)


# --- tables --------------------------------------------------------------------------------------------------


def test_a_table_is_judged_by_its_classes() -> None:
    table = people()
    outcome = run_outcome(table, "mondrian", k=4, seed=1, measures=["classes", "table-loss"])
    shown = run_view(table, outcome)
    score = outcome.scores["classes"]
    risk = shown["table_risk"]
    assert (risk["basis"], risk["claimed"], risk["verdict"], risk["least"]) == ("classes", 4, "withstands", score.value)
    for name in ("prosecutor", "journalist", "marketer", "below"):
        assert risk[name] == score.parts[name]
    assert (risk["rows_in_classes"], risk["classes"]) == (300, score.notes["classes"])
    assert shown["verdict"] == {"paper": "withstands", "sharp": "withstands"}
    assert shown["map"] == {
        "label": "mondrian, k = 4",
        "verdict": "withstands",
        "k": 4,
        "use": 1 - outcome.scores["table-loss"].value,
        "risk": score.parts["prosecutor"],
        "use_of": "table-loss",
        "risk_of": "prosecutor",
    }
    assert (shown["class_sizes"]["of"], sum(shown["class_sizes"]["members"])) == ("rows", 300)
    assert [h["column"] for h in shown["histograms"]] == ["age", "town", "ill"]
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_a_claim_that_does_not_hold_a_chain_and_no_claim() -> None:
    table = people(20)
    as_it_is = Release.of_aligned(table, table, Statement("mondrian", {"k": 4}, notes={"classes": 20}))
    broken = run_view(table, judge(table, as_it_is, measures=["classes"]))
    assert (broken["table_risk"]["verdict"], broken["map"]["verdict"]) == ("broken", "broken")
    assert broken["table_risk"]["prosecutor"] == 1.0
    silent = Release.of_aligned(table, table, Statement("hand"))
    open_question = run_view(table, judge(table, silent, measures=["classes"]))
    # nothing was promised, but rows as they are tell the illness of whoever stands alone
    assert open_question["table_risk"]["verdict"] == "broken"
    assert open_question["table_risk"]["told"][0]["certain"] == open_question["class_sizes"]["alone"] == 20
    plain = Table(table.frame.drop("ill"), table.schema.model_copy(update={"columns": table.schema.columns[:2]}))
    nobody = run_view(plain, judge(plain, Release.of_aligned(plain, plain, Statement("hand")), measures=["classes"]))
    assert nobody["table_risk"]["verdict"] == "untried"
    assert run_view(table, Outcome("x", silent))["table_risk"]["basis"] is None
    chained = replace(as_it_is, statement=Statement.of_chain([Statement("thin", {}), as_it_is.statement]))
    assert run_view(table, judge(table, chained, measures=["classes"]))["table_risk"]["verdict"] == "broken"
    said = Score(20.0, {}, {"rows": 20, "rows_that_say_nothing": 20, "classes": 0, "holds": True})
    hidden = run_view(table, Outcome("x", as_it_is, scores={"classes": said}))["table_risk"]
    assert (hidden["verdict"], hidden["prosecutor"], hidden["least"]) == ("withstands", 0.0, None)


def test_retention_is_judged_by_its_proof_and_shows_what_was_reconstructed() -> None:
    table = people(500)
    outcome = run_outcome(
        table, "retention", k=2.5, attributes=["age", "town"], reconstruct="em", seed=1, measures=["l1-precision"]
    )
    shown = run_view(table, outcome)
    risk = shown["table_risk"]
    assert (risk["basis"], risk["verdict"], risk["claimed"]) == ("proof", "withstands", 2.5)
    assert (risk["k"], risk["bound"]) == (pytest.approx(2.5), pytest.approx(0.4))
    assert shown["map"]["risk"] == pytest.approx(0.4)
    assert shown["map"]["use"] == outcome.scores["l1-precision"].value
    assert (shown["map"]["use_of"], shown["map"]["risk_of"]) == ("l1-precision", "proof")
    ages, towns = shown["histograms"]
    same = reconstruct(outcome.release.public, outcome.release.statement, attributes=["town"])
    labels = same.perturbation.attributes[0].labels()
    expected = dict(zip(labels, same.table, strict=True))
    np.testing.assert_allclose(towns["reconstructed"], [expected[label] for label in towns["labels"]], atol=1e-5)
    assert sum(ages["reconstructed"]) == pytest.approx(500, abs=1e-3)
    assert ages["shift_reconstructed"] is not None
    assert len(ages["labels"]) == len(ages["reconstructed"]) == len(ages["original"])


# --- how it is made ------------------------------------------------------------------------------------------


def test_no_drawing_library_is_loaded() -> None:
    rooms = ("profile", "run_view", "crosstabs", "row_pairs", "risk_map")
    script = "import sys; " + "; ".join(f"import noren.study.{room}" for room in rooms) + "; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"altair", "vl_convert", "jinja2"} & set(done.stdout.split()) == set()
    assert "noren.study.row_pairs" in done.stdout.split()
