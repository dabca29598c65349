"""Every known flaw of a file from elsewhere is named, and clean files by the same writers have none."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.elsewhere import writers
from tests.elsewhere.writers import aggregated, amnesia, arx, blurred, by_hand, sdcmicro, synthetic

import noren
from noren.data.frames import records_of
from noren.data.schema import Schema
from noren.judgement.foreign import _order
from noren.judgement.judging import judge
from noren.judgement.verdict import Verdict
from noren.ledger.book import Ledger

PEOPLE, PURCHASES, MEASURED = (Schema.of(how) for how in (writers.PEOPLE, writers.PURCHASES, writers.MEASURED))
DRAWN = Schema.of({"kind": "table", "columns": {n: PEOPLE[n].model_dump(exclude={"name"}) for n in PEOPLE.names[2:]}})

FLAWS: list[tuple[Callable[..., Path], dict[str, Any], str]] = [
    (arx, {"shuffled": False}, "order-leak"),
    (arx, {"shuffled": False, "dropped": 0.1}, "order-leak"),
    (arx, {"zip_kept": True}, "singled-out"),
    (arx, {"rare": True}, "class-too-small"),
    (arx, {"constant": True}, "sensitive-disclosed"),
    (sdcmicro, {"blanks": True}, "blanks-counted"),
    (sdcmicro, {"exact_zip": True}, "class-too-small"),
    (amnesia, {"names": True}, "identified"),
    (amnesia, {"numbered": True}, "ids-in-order"),
    (by_hand, {}, "too-few-candidates"),
    (by_hand, {"names": "kept"}, "identified"),
    (by_hand, {"names": "first"}, "ids-in-order"),
    (by_hand, {"names": "spending"}, "ids-in-order"),
    (by_hand, {"names": "sha256"}, "hashed-identifiers"),
    (by_hand, {"shift": "constant"}, "dates-shifted"),
    (by_hand, {"shift": "each"}, "dates-shifted"),
    (by_hand, {"items": True}, "items-recoded"),
    (by_hand, {"order": "kept"}, "order-leak"),
    (by_hand, {"noise": True}, "values-changed"),
    (blurred, {"noise": 0.02}, "near-copies"),
    (blurred, {"noise": 0, "size": 4}, "class-too-small"),
    (synthetic, {"copied": 0.3}, "copied-rows"),
]
CLEAN = (arx, sdcmicro, amnesia, synthetic, aggregated, blurred)


def judged(writer: Callable[..., Path], path: Path, seed: int = 0, **how: Any) -> Verdict:
    """Judge what a writer writes of an original drawn with the same seed."""
    drawn = {by_hand: writers.purchases, aggregated: writers.purchases, blurred: writers.measured}
    original = drawn.get(writer, writers.people)(seed=seed)
    schemas = {by_hand: PURCHASES, aggregated: PURCHASES, blurred: MEASURED, synthetic: DRAWN}
    schema = schemas.get(writer, PEOPLE)
    original = original.select(schema.names)
    return noren.judge(original, writer(original, path, seed, **how), schema=schema)


def codes(verdict: Verdict) -> list[str]:
    return [str(flaw.code) for flaw in verdict.flaws]


@pytest.mark.parametrize(("writer", "how", "code"), FLAWS, ids=lambda value: str(getattr(value, "__name__", value)))
def test_the_flaw_is_named(writer: Callable[..., Path], how: dict[str, Any], code: str, tmp_path: Path) -> None:
    verdict = judged(writer, tmp_path / "file.csv", seed=1, **how)
    assert code in codes(verdict)
    assert verdict.status == "broken"
    said = verdict.as_dict()
    assert [flaw["code"] for flaw in said["flaws"]] == codes(verdict)
    assert all(
        len(flaw["sentence"]) > 40 and "{" not in flaw["sentence"].replace("{Kobe", "") for flaw in said["flaws"]
    )
    assert verdict.sentence.startswith("Broken: ")


@pytest.mark.parametrize("writer", CLEAN, ids=lambda writer: writer.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_a_clean_file_has_no_flaw(writer: Callable[..., Path], seed: int, tmp_path: Path) -> None:
    verdict = judged(writer, tmp_path / "file.csv", seed)
    assert codes(verdict) == []
    # of synthetic rows nothing decides without a control group
    expected = (
        ("untried", "truth-unknown") if writer in (synthetic, blurred) else ("withstands", "classes-large-enough")
    )
    assert (verdict.status, verdict.reason) == expected
    assert verdict.facts.foreign is not None
    assert ("attacks", "truth") in verdict.facts.foreign.not_tried
    assert "Not tried: linkage with the truth" in verdict.sentence


@pytest.mark.slow
@pytest.mark.parametrize("writer", CLEAN, ids=lambda writer: writer.__name__)
def test_twenty_more_clean_files_raise_no_alarm(writer: Callable[..., Path], tmp_path: Path) -> None:
    assert [seed for seed in range(10, 30) if codes(judged(writer, tmp_path / "file.csv", seed))] == []


@pytest.mark.parametrize("seed", range(4))
def test_dropped_rows_raise_no_alarm(seed: int, tmp_path: Path) -> None:
    assert codes(judged(arx, tmp_path / "file.csv", seed, dropped=0.1)) == []


def test_a_file_sorted_by_its_own_content_tells_no_order(tmp_path: Path) -> None:
    original = writers.people(seed=6).sort("age", "city")  # both are sorted, and neither tells more than the content
    shown = pl.read_csv(arx(original, tmp_path / "file.csv", 6), separator=";").sort(pl.all())
    assert codes(noren.judge(original, shown, schema=PEOPLE)) == []


@pytest.mark.parametrize("column", ["id", "email", "zip", "age"])
@pytest.mark.parametrize("downwards", [False, True])
def test_a_file_sorted_by_what_it_hides_tells_an_order(column: str, downwards: bool, tmp_path: Path) -> None:
    original = writers.people(seed=6).with_columns(age=pl.int_range(pl.len()).shuffle(seed=1) // 15 + 20)
    ordered = original.sort(column, pl.int_range(pl.len()) * (-1 if downwards else 1), descending=[downwards, False])
    path = arx(ordered, tmp_path / "file.csv", shuffled=False)
    suppressed = pl.read_csv(path, separator=";").with_columns(zip=pl.lit("*"))  # says less than 13***
    for shown in (path, suppressed):
        assert codes(noren.judge(original, shown, schema=PEOPLE)) == ["order-leak"]
    assert codes(noren.judge(original, arx(original.reverse(), tmp_path / "x.csv", shuffled=False), schema=PEOPLE))


@pytest.mark.parametrize(("matches", "errors"), [(6, None), (9, 4.85), (200, 41.5)])
def test_a_few_matches_by_chance_are_no_order(matches: int, errors: float | None) -> None:
    # one row in the mean stands at its place, and six or more do in 1 of 1,700 files
    draw, there = np.random.default_rng(0), np.arange(200)
    who = there.copy()
    while (who == there).sum() != matches:
        who[matches:] = draw.permutation(there[matches:])
    rows = records_of(pl.DataFrame({"x": [str(n) for n in draw.permutation(200)]}), Schema.of({"x": "quasi"}))
    found = _order(rows, there, who[:, None] == there, [there])
    assert found == (errors and pytest.approx(errors, abs=0.1))


def test_k_is_counted_as_blanks_stand(tmp_path: Path) -> None:
    foreign = judged(sdcmicro, tmp_path / "file.csv", blanks=True).facts.foreign
    assert foreign is not None
    assert foreign.least == 4
    assert foreign.least_wild is not None
    assert foreign.least_wild > 100


def test_the_order_of_a_column_that_names_people_is_no_flaw_of_its_own() -> None:
    original = writers.people()
    assert codes(noren.judge(original, original.sample(600, shuffle=True, seed=1), schema=PEOPLE))[0] == "identified"
    assert "ids-in-order" not in codes(noren.judge(original, original, schema=PEOPLE))


def test_all_flaws_are_listed_not_only_the_first(tmp_path: Path) -> None:
    verdict = judged(arx, tmp_path / "file.csv", shuffled=False, zip_kept=True)
    assert set(codes(verdict)) == {"order-leak", "class-too-small", "singled-out", "sensitive-disclosed"}


def test_shifts_are_told_apart(tmp_path: Path) -> None:
    for shift, constant in (("constant", True), ("each", False)):
        foreign = judged(by_hand, tmp_path / "file.csv", shift=shift).facts.foreign
        assert foreign is not None
        assert [undone.constant for undone in foreign.undone] == [constant]
        assert foreign.undone[0].named >= 0.9 * foreign.undone[0].of


def test_means_of_large_classes_have_no_flaw(tmp_path: Path) -> None:
    verdict = judged(blurred, tmp_path / "file.csv", noise=0, size=5)
    assert (verdict.status, verdict.reason, codes(verdict)) == ("withstands", "classes-large-enough", [])
    assert verdict.facts.foreign is not None
    assert verdict.facts.foreign.least == 5


def test_what_noise_left_as_it_was_is_named(tmp_path: Path) -> None:
    verdict = judged(by_hand, tmp_path / "file.csv", noise=True)
    assert [(flaw.code, flaw.columns) for flaw in verdict.flaws] == [("values-changed", ("date", "price"))]


def test_fresh_samples_have_no_near_copies() -> None:
    """Neither rows that repeat three points, nor a control group whose first rows are unlike its others, mislead."""
    schema = {"kind": "table", "columns": {name: {"role": "quasi", "type": "decimal"} for name in "xy"}}

    def sample(seed: int, rows: int, *, points: bool) -> pl.DataFrame:
        draw = np.random.default_rng(seed)
        x, y = draw.normal(size=(2, rows))
        if points:
            at = np.where(draw.random(rows) < 0.45, draw.integers(0, 3, rows), -1)
            return pl.DataFrame({"x": np.where(at < 0, x, at), "y": np.where(at < 0, y, at)})
        return pl.DataFrame({"x": x, "y": np.where(draw.random(rows) < 0.5, 0, y)})

    control = sample(3, 6000, points=False).sort(pl.col("y").abs(), descending=True)
    for points, rows, others in ((True, 4000, None), (False, 3000, control)):
        original, file = sample(1, rows, points=points), sample(2, rows, points=points)
        verdict = noren.judge(original, file, schema=schema, control=others)
        assert codes(verdict) == [], verdict.facts.foreign


@pytest.mark.parametrize("seed", range(3))
def test_short_histories_that_resemble_long_ones_by_chance_have_no_changed_values(seed: int) -> None:
    def purchases(each: int, draw: np.random.Generator) -> pl.DataFrame:
        rows = 60 * each
        days = pl.date_range(dt.date(2025, 1, 1), dt.date(2025, 4, 10), eager=True)
        return pl.DataFrame(
            {
                "customer": [f"C{n:02}" for n in draw.permutation(np.repeat(np.arange(60), each))],
                "date": days.gather(draw.integers(0, len(days), rows)),
                "item": [f"I{n:02}" for n in draw.integers(0, 60, rows)],
                "price": draw.gamma(2.0, 3.0, rows).round(2),
                "quantity": draw.integers(1, 20, rows),
            }
        )

    draw = np.random.default_rng(seed)
    roles = {name: {"role": name} for name in ("customer", "date", "item", "price", "quantity")}
    verdict = noren.judge(purchases(30, draw), purchases(3, draw), schema={"kind": "history", "columns": roles})
    assert "values-changed" not in codes(verdict)


def test_copies_are_compared_with_a_control_group(tmp_path: Path) -> None:
    everybody = writers.people(1200, seed=3).select(DRAWN.names)
    members, control = everybody[:600], everybody[600:]
    clean = noren.judge(members, synthetic(members, tmp_path / "a.csv", 3), schema=DRAWN, control=control)
    assert (clean.status, clean.reason, codes(clean)) == ("withstands", "no-flaw-found", [])
    copied = noren.judge(members, synthetic(members, tmp_path / "b.csv", 3, copied=0.2), schema=DRAWN, control=control)
    assert "copied-rows" in codes(copied)
    assert copied.facts.foreign is not None
    assert copied.facts.foreign.copies is not None
    assert copied.facts.foreign.copies.by == "control"


def test_with_the_truth_attacks_are_tried(tmp_path: Path) -> None:
    original = writers.purchases(seed=5)
    path = by_hand(original, tmp_path / "file.csv", 5, shift="each")
    shown = pl.read_csv(path)
    known = original.with_columns(who="customer").select("who")
    kept = by_hand(original, tmp_path / "kept.csv", 5, shift="each", order="kept")
    rows = pl.concat([pl.read_csv(kept), known], how="horizontal").sample(len(known), shuffle=True, seed=1)
    verdict = noren.judge(original, rows, schema=PURCHASES, truth="who", attacks="shifted,jaccard")
    assert {entry.attack for entry in verdict.evidence} == {"shifted", "jaccard"}
    assert max(entry.customers for entry in verdict.evidence) > 0.9
    assert "too-many-named" in codes(verdict)
    assert len(shown) == len(rows)


@pytest.mark.parametrize("who", ["nobody", "-1", None])
def test_a_truth_that_names_nobody_is_none(who: str | None) -> None:
    for original, schema in ((writers.people(), PEOPLE), (writers.purchases(), PURCHASES)):
        shown = original.drop("id", "email", strict=False).with_columns(who=pl.lit(who))
        foreign = noren.judge(original, shown, schema=schema, truth="who").facts.foreign
        assert foreign is not None
        assert (foreign.truth, dict(foreign.not_tried)["attacks"]) == ("none", "truth")


@pytest.mark.parametrize("truth", ["rows", "who"])
@pytest.mark.parametrize("attacks", ["all", "none"])
def test_rows_in_the_originals_order_are_a_truth(truth: str, attacks: str) -> None:
    original = writers.people(seed=2)
    shown = original.select("age", "city", "illness")
    shown = shown.with_columns(who=pl.int_range(600).cast(pl.Float64)) if truth == "who" else shown
    verdict = noren.judge(original, shown, schema=PEOPLE, truth=truth, attacks=attacks)
    assert [entry.attack for entry in verdict.evidence] == (["row-linkage"] if attacks == "all" else [])
    assert verdict.facts.foreign is not None
    assert verdict.facts.foreign.truth == ("rows" if truth == "rows" else "column")
    assert ("attacks" in verdict.facts.foreign.tried) == (attacks == "all")


def test_a_verdict_is_given_again_by_another_rule(tmp_path: Path) -> None:
    facts = judged(sdcmicro, tmp_path / "file.csv", blanks=True).facts
    again = type(facts).model_validate_json(facts.model_dump_json())
    assert {rule: judge(again, rule).status for rule in ("public", "partner", "inside")} == {
        "public": "broken", "partner": "broken", "inside": "withstands",
    }  # fmt: skip
    assert judge(again, "sensitive").status == "broken"


@pytest.mark.parametrize("customers", [1, 2, 4, 2001])
def test_any_number_of_customers_is_judged(customers: int, tmp_path: Path) -> None:
    original = writers.purchases(customers, seed=1)
    verdict = noren.judge(original, by_hand(original, tmp_path / "file.csv", 1), schema=PURCHASES)
    assert verdict.status == "broken"


def test_without_roles_a_table_of_one_column_is_judged() -> None:
    original = pl.DataFrame({"town": ["a", "b"] * 40})
    clean = noren.judge(original, original.sample(80, shuffle=True, seed=1), schema={"town": "quasi"})
    assert (clean.status, codes(clean)) == ("withstands", [])
    assert noren.judge(original, {"town": ["*"] * 80}, schema={"town": "quasi"}).reason == "nothing-said"


def test_customers_of_earlier_releases_are_counted(tmp_path: Path) -> None:
    rows = {"customer": ["ann", "bob"] * 2, "date": ["2010/12/1"] * 2 + ["2011/1/1"] * 2,
            "item": ["x", "y"] * 2, "price": [1.0] * 4, "quantity": [1, 2, 3, 4]}  # fmt: skip
    ledger = Ledger.create(tmp_path / "ledger", schema="pwscup2018", chain=["monthly-pseudonyms"], attacks=["s1"])
    history = noren.read(rows, "pwscup2018")
    shown = pl.DataFrame(rows).with_columns(customer=pl.Series(["7", "8"] * 2))
    before = noren.judge(history, shown, ledger=tmp_path / "ledger").facts.foreign
    ledger.add(history, seed=1)
    after = noren.judge(history, shown, ledger=tmp_path / "ledger").facts.foreign
    assert before is not None
    assert after is not None
    assert (before.again, after.again) == (0, 2)
    table = noren.judge({"age": [1, 2]}, {"age": [1, 2]}, schema={"age": "quasi"}, ledger=tmp_path / "ledger")
    assert table.facts.foreign is not None
    assert ("ledger", "secret") in table.facts.foreign.not_tried


def test_a_release_of_our_own_goes_its_usual_way() -> None:
    history = noren.sample(customers=20, rows=300, items=50, seed=1)
    release = noren.protect(history, "generalize-by-count", k=5, seed=1)
    assert noren.judge(history, release).reason == noren.verdict(history, release).reason == "guarantee"
    # its rows alone say no more than their classes
    shown = noren.judge(history, release.to_polars())
    assert (shown.status, shown.reason, codes(shown)) == ("withstands", "classes-large-enough", [])
