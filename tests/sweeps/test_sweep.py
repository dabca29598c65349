"""A sweep's numbers are those of single runs; nothing is computed twice, lost by a kill or changed by processes."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.sweeps.gated import Gated, Listening

import noren
from noren import api
from noren.attacks import attacks
from noren.data.frames import History, Table
from noren.data.samples.people import sample_people
from noren.errors import NorenError, ParameterError, SchemaError, UnknownNameError
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.frontier import risk_utility_point
from noren.judgement.judging import judge
from noren.judgement.outcome import run_outcome
from noren.measures import measures
from noren.methods import methods
from noren.methods.chain import Chain
from noren.protocols import Score
from noren.sweeps.files import SweepFile
from noren.sweeps.plan import settings_for
from noren.sweeps.study import PointResult, SettingResult
from noren.sweeps.sweep import PointProgress, SweepForecast, SweepProgress, build_request, run, sweep, sweep_folder

ROOT = Path(__file__).resolve().parents[2]
ATTACKS, MEASURES = ["unique-rows", "jaccard"], ["cell-error", "effective", "reid-rate", "rfm", "um"]
QUICK: dict[str, Any] = {"attacks": ATTACKS, "measures": MEASURES, "seeds": [1], "workers": 1}


@pytest.fixture(scope="module")
def history() -> History:
    return api.sample(customers=24, rows=240, items=40, seed=2, schema="pwscup2018")


@pytest.fixture(scope="module")
def people() -> Table:
    people = sample_people(150, 3)
    # so many values that two of each per class cost nothing, and k alone decides
    values = (pl.int_range(pl.len()) % 50).cast(pl.String)
    return Table(people.frame.with_columns(income=values, illness=values), people.schema)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was protected, attacked and measured, in order."""
    done: list[str] = []

    def counting(name: str) -> Callable[..., Any]:
        real = getattr(api, name)

        def call(original: Any, what: Any, *more: Any, **named: Any) -> Any:
            done.append((more[0] if more else what).name)
            return real(original, what, *more, **named)

        return call

    for name in ("protect", "attack", "measure"):
        monkeypatch.setattr(api, name, counting(name))
    return done


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_rows_are_what_single_runs_give(history: History, tmp_path: Path) -> None:
    found = noren.explore(
        history, ["generalize-by-count", "thin"], k=[2, 4], share=0.2, cache=tmp_path, columns="all", **QUICK
    )
    assert found["label"].to_list() == ["generalize-by-count, k = 2", "generalize-by-count, k = 4", "thin, share = 0.2"]
    singles: list[tuple[str, dict[str, Any]]] = [
        ("generalize-by-count", {"k": 2}),
        ("generalize-by-count", {"k": 4}),
        ("thin", {"share": 0.2}),
    ]
    for row, (name, parameters) in zip(found.iter_rows(named=True), singles, strict=True):
        outcome = run_outcome(history, name, seed=1, attacks=ATTACKS, measures=MEASURES, **parameters)
        verdict = judge(outcome)
        place = risk_utility_point(row["label"], verdict, outcome.scores)
        assert {measure: row[measure] for measure in MEASURES} == {n: s.value for n, s in outcome.scores.items()}
        assert (row["use"], row["risk"], row["risk_of"]) == (place.use, place.risk, place.risk_of)
        assert (row["verdict"], row["reason"], row["sentence"]) == (verdict.status, verdict.reason, verdict.sentence)
        assert row["rule"] == "partner"
        best = verdict.evidence[0]
        assert [row[name] for name in ("attack", "named", "right", "rate", "low", "high")] == [
            best.attack, best.named, best.right, best.rate, best.low, best.high
        ]  # fmt: skip
        assert {one.attack: one.right for one in verdict.evidence} == {a: row[f"{a}.right"] for a in ATTACKS}
        assert json.loads(row["parameters"]) == (parameters)
        assert row["rows_deleted"] == outcome.release.deleted_rows


def test_few_columns_unless_others_are_named(history: History, tmp_path: Path) -> None:
    order: dict[str, Any] = {"k": [5], "seeds": [1], "workers": 1, "cache": tmp_path}
    few = noren.explore(history, "generalize-by-count", **order)
    every = noren.explore(history, "generalize-by-count", columns="all", **order)
    assert few.width == 15
    assert every.width > 40
    assert set(few.columns) < set(every.columns)
    assert "seed" not in few.columns
    named = noren.explore(history, "generalize-by-count", measures=["rfm", "e6"], attacks=[], **order)
    assert named.columns[-2:] == ["rfm", "e6"]
    assert noren.explore(history, "generalize-by-count", columns=["label", "rfm"], **order).columns == ["label", "rfm"]
    with pytest.raises(SchemaError, match="the data has no column 'rfn'"):
        noren.explore(history, "generalize-by-count", columns="rfn", **order)


def test_tables_are_judged_by_their_classes_or_by_proof(people: Table, tmp_path: Path) -> None:
    few: dict[str, Any] = {"attributes": ["sex", "region"], "reconstruct": "none"}
    quick: dict[str, Any] = {"measures": [], "seeds": [1], "cache": tmp_path, "workers": 1}
    study = sweep(people, "mondrian,retention", k=[3, 6], l=2, rule="inside", **quick, **few)
    rows = study.frame.rows(named=True)
    for row, (name, k) in zip(rows, [(n, k) for n in ("mondrian", "retention") for k in (3, 6)], strict=True):
        perturbed = name == "retention"
        judges = ["classes", "table-loss", *(["l1-precision"] if perturbed else [])]
        outcome = run_outcome(people, name, seed=1, k=k, measures=judges, **few if perturbed else {"l": 2})
        place = risk_utility_point(row["label"], judge(outcome, "inside"), outcome.scores)
        assert (row["use"], row["risk"], row["use_of"]) == (place.use, place.risk, place.use_of)
        assert row["verdict"] == "proved"
    assert [row["risk_of"] for row in rows] == ["guarantee"] * 4
    # uses that different measures tell have an answer each: the more useful of both
    more = [max(pair, key=lambda row: row["use"]) for pair in (rows[:2], rows[2:])]
    assert [row for row in rows if row["recommended"]] == more
    assert {choice.use_of for choice in study.choices} == {"table-loss", "l1-precision"}
    assert study.recommendation.startswith("Recommended: mondrian, k = 3, l = 2, retention")
    strict = sweep(people, "mondrian", k=[3, 6], l=2, rule="partner", **quick)
    assert strict.computed == 0
    assert strict.frame["verdict"].to_list() == ["broken", "proved"]
    assert "with a probability of up to 33.3%; 20.0% is allowed" in strict.recommendation


def test_seeds_are_runs_of_one_setting(history: History, tmp_path: Path) -> None:
    study = sweep(history, "thin", share=[0.3], cache=tmp_path, **QUICK | {"seeds": [7, 8]})
    assert study.frame["seed"].to_list() == [7, 8]
    assert study.frame["run"].to_list() == [1, 2]
    (setting,) = study.settings
    assert setting.place.use == pytest.approx(study.frame["use"].mean())
    assert setting.place.risk == study.frame["risk"].max()
    assert setting.scores["rfm"] == pytest.approx(study.frame["rfm"].mean())


def test_of_several_runs_the_worst_counts(history: History) -> None:
    setting = settings_for("thin", {"share": 0.3}, history)[0][0]

    def run_of(customers: int, *, use: float) -> PointResult:
        tried = AttackResult(
            attack="a", named=100, right=customers, customers=customers, right_at=tuple(range(1, customers + 1))
        )
        verdict = judge(Facts(kind="history", people=100, tried=(tried,)))
        place = risk_utility_point("thin", verdict, {"cell-error": Score(1 - use)})
        return PointResult(setting, 1, 1, verdict=verdict, place=place)

    safe, broken = run_of(2, use=0.4), run_of(90, use=0.6)
    both = SettingResult(setting, [safe, broken, safe])
    assert (both.place.status, both.place.risk) == ("broken", 0.9)
    assert both.place.use == pytest.approx(1.4 / 3)
    assert both.verdict == broken.verdict
    assert SettingResult(setting, [safe, safe]).place.status == "withstands"
    refused = PointResult(setting, 2, 2, {"en": "no"})
    assert SettingResult(setting, [safe, refused]).place.status == "untried"  # of that seed nothing is known
    assert SettingResult(setting, [refused]).place.status == "untried"


def test_an_own_attack_hears_those_before_it(history: History, tmp_path: Path) -> None:
    study = sweep(history, "pseudonymize", cache=tmp_path, **QUICK | {"attacks": [Listening(), "jaccard"]})
    (row,) = study.frame.rows(named=True)
    assert row["listening.right"] == row["jaccard.right"] > 0


def test_the_ensemble_is_what_it_is_alone(history: History, tmp_path: Path) -> None:
    members = attacks.create("ensemble", members=("jaccard", "unique-rows"))
    study = sweep(history, "pseudonymize", cache=tmp_path, **QUICK | {"attacks": [members], "measures": ["reid-rate"]})
    outcome = run_outcome(history, "pseudonymize", seed=1, attacks=[members], measures=["reid-rate"])
    assert study.frame["reid-rate"].item() == outcome.scores["reid-rate"].value
    assert "jaccard.right" not in study.frame.columns  # it was run for the vote alone


def test_another_rule_computes_nothing(history: History, tmp_path: Path, counted: list[str]) -> None:
    found = {}
    for rule in ("inside", "public", "1/6", "pwscup2018"):
        counted.clear()
        study = sweep(history, "generalize-by-count", k=[3, 6], rule=rule, cache=tmp_path, **QUICK)
        found[rule] = study.frame["verdict"].to_list()
        if rule != "inside":
            assert (study.computed, counted) == (0, [])
    assert found["inside"] == ["proved", "proved"]
    assert found["1/6"][1] == "proved"
    assert "proved" not in found["public"]


# --- the cache -------------------------------------------------------------------------------------------------------


def test_nothing_is_computed_twice_and_one_more_attack_runs_alone(
    history: History, tmp_path: Path, counted: list[str]
) -> None:
    some: dict[str, Any] = QUICK | {"measures": ["rfm", "effective"]}
    first = sweep(history, "generalize-by-count", k="2..3", cache=tmp_path, **some)
    assert (first.computed, first.cached) == (len(counted), 0)
    assert sorted(set(counted)) == sorted(["generalize-by-count", *ATTACKS, "rfm", "effective", "cell-error"])
    counted.clear()
    again = sweep(history, "generalize-by-count", k="2..3", cache=tmp_path, **some)
    assert (again.computed, again.cached, counted) == (0, first.computed, [])
    assert again.frame.equals(first.frame)
    more = sweep(history, "generalize-by-count", k="2..3", cache=tmp_path, **some | {"attacks": [*ATTACKS, "nearest"]})
    # the attack, and the measures that judge attacks; no release, no other attack, no other measure
    assert sorted(counted) == sorted(["nearest", "effective"] * 2)
    assert more.frame["jaccard.right"].equals(first.frame["jaccard.right"])
    counted.clear()
    sweep(history, "generalize-by-count", k=3, cache=tmp_path, fresh=True, **some)
    assert "generalize-by-count" in counted


def test_other_data_schemas_parameters_and_seeds_are_other_pieces(
    history: History, tmp_path: Path, counted: list[str]
) -> None:
    alone: dict[str, Any] = {"attacks": [], "measures": [], "workers": 1, "cache": tmp_path}
    sweep(history, "thin", share=0.1, seeds=[1], **alone)
    for changed in (
        {"share": 0.2, "seeds": [1]},
        {"share": 0.1, "seeds": [2]},
        {"share": 0.1, "seeds": [1], "measures": [measures.create("survival", attackers=5)]},  # the release is kept
    ):
        counted.clear()
        sweep(history, "thin", **alone | changed)
        assert ("thin" in counted) is ("measures" not in changed)
        assert ("survival" in counted) is ("measures" in changed)
    other = History(history.frame.head(200), history.schema)
    counted.clear()
    sweep(other, "thin", share=0.1, seeds=[1], **alone)
    assert "thin" in counted


def test_a_piece_that_lost_its_folder_is_made_again(history: History, tmp_path: Path, counted: list[str]) -> None:
    from shutil import rmtree

    alone: dict[str, Any] = QUICK | {"cache": tmp_path, "attacks": ["jaccard"], "measures": []}
    first = sweep(history, "pseudonymize", **alone)
    rmtree(tmp_path / "explore" / "releases")
    rmtree(tmp_path / "explore" / "guesses")
    counted.clear()
    again = sweep(history, "pseudonymize", **alone)
    assert counted == ["pseudonymize", "jaccard"]
    assert again.frame.equals(first.frame)
    damaged = next((tmp_path / "explore" / "releases").rglob("public.parquet"))
    damaged.write_bytes(b"")
    with pytest.raises(NorenError, match="run again with --no-cache"):
        sweep(history, "pseudonymize", **alone | {"attacks": ["jaccard", "unique-rows"]})


def test_a_seed_is_drawn_once_for_the_same_data(history: History, tmp_path: Path) -> None:
    alone: dict[str, Any] = {"attacks": [], "measures": [], "workers": 1, "cache": tmp_path}
    first, second = (sweep(history, "thin", share=share, **alone) for share in (0.1, 0.2))
    assert first.request.seeds == second.request.seeds
    assert first.request.seeds[0] > 2**32
    (kept,) = (tmp_path / "explore" / "seeds").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_cache_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "explore").mkdir(mode=0o755)
    assert stat.S_IMODE(sweep_folder(tmp_path).stat().st_mode) == 0o700


@pytest.mark.slow
def test_processes_change_no_byte(history: History, tmp_path: Path) -> None:
    judges: dict[str, Any] = {"attacks": ATTACKS, "measures": MEASURES}
    asked, _left = build_request(history, "generalize-by-count,thin", {"k": [2, 99], "share": 0.2}, seeds=[4], **judges)
    folders = []
    for workers in (1, 2):
        study = run(history, asked, cache=tmp_path / f"cache-{workers}", workers=workers)
        folders.append(study.save(tmp_path / f"study-{workers}"))
        assert study.computed > 20
    for name in ("report.html", "frontier.svg", "table.csv", "table.json", "sweep.toml"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


@pytest.mark.slow
def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate-2")
    script = f"from tests.sweeps.gated import main; main({str(tmp_path)!r}, {str(tmp_path / 'cache')!r})"
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    waiting = tmp_path / "waiting"
    while not (waiting.exists() and waiting.read_text()) and time.monotonic() < deadline and process.poll() is None:
        os.sched_yield()
    assert process.poll() is None, process.communicate()[1].decode()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stderr is not None
    process.stderr.close()
    (tmp_path / "gate-2").unlink()
    gates = [Gated(number=number, folder=str(tmp_path)) for number in (1, 2, 3)]
    history = api.sample(customers=12, rows=120, items=20, seed=1)
    study = sweep(history, gates, attacks=[], measures=[], seeds=[5], cache=tmp_path / "cache", workers=1)
    assert (tmp_path / "runs").read_text().split() == ["1", "2", "2", "3"]  # the first was not made again
    assert study.frame["state"].to_list() == ["done"] * 3


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_point_that_fails_is_a_line_with_its_reason(history: History, tmp_path: Path) -> None:
    bad = [Gated(number=1), Gated(number=2, act="refuse"), Gated(number=3, act="break")]
    study = sweep(history, [*bad, methods.create("generalize-by-count", k=99)], cache=tmp_path, **QUICK)
    assert study.frame["state"].to_list() == ["done", "refused", "failed", "refused"]
    said = study.frame["refused"].to_list()
    assert said[:3] == [None, "number = 2 is not wanted here; choose another", "KeyError: 'a bug'"]
    assert said[3].startswith("k = 99 needs at least 99 customers, but there are 24")
    assert study.frame["verdict"].to_list() == ["broken", None, None, None]
    assert [one.verdict_label for one in study.settings[1:3]] == ["– refused", "– failed"]
    shown = [path.read_text() for path in study.save(tmp_path / "study").iterdir() if path.name != "sweep.toml"]
    assert not any("a bug" in text for text in shown)  # words nobody foresaw may hold a value, and these are shown
    assert sum("KeyError" in text for text in shown) == 2


def test_where_nothing_runs_the_first_reason_is_told(history: History, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="none of the 2 points could be run; gated, number = 7: number = 7"):
        sweep(history, [Gated(number=7, act="refuse"), Gated(number=8, act="refuse")], cache=tmp_path, **QUICK)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"methods": "generalise"}, UnknownNameError, "generalize"),
        ({"methods": "thin", "shre": 1}, ParameterError, "did you mean share"),
        ({"methods": "thin", "share": []}, ParameterError, "share has no value; write values"),
        ({"methods": "generalize-by-count", "k": 1}, ParameterError, "k"),
        ({"methods": []}, ParameterError, "no method is named; name one or more"),
        ({"methods": "thin", "seeds": []}, ParameterError, "no seed is given; give one or more"),
        ({"methods": "thin", "seeds": [1, 1]}, ParameterError, "a seed is repeated; give each seed once"),
        ({"methods": "thin", "seeds": [-1]}, ParameterError, "seed = -1 is out of range; use 0 <= seed"),
        ({"methods": "thin", "rule": "2"}, ParameterError, "2 is not a probability between 0 and 1"),
        ({"methods": "thin", "rule": "partners"}, ParameterError, "did you mean partner"),
        ({"methods": "thin", "attacks": ["jacard"]}, UnknownNameError, "jaccard"),
        ({"methods": "thin", "seeds": range(20_000)}, ParameterError, "60,000 points"),
    ],
)
def test_bad_orders_are_named(
    asked: dict[str, Any], error: type[Exception], said: str, history: History, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        sweep(history, cache=tmp_path, **{"seeds": [1]} | asked)


def test_a_class_of_a_script_cannot_be_found_by_others(history: History, tmp_path: Path) -> None:
    own = type("Own", (Gated,), {"__module__": "__main__"})
    with pytest.raises(ParameterError, match="Own is defined in a script or notebook; move it into a module"):
        sweep(history, own(number=1), cache=tmp_path, **QUICK)


# --- choosing --------------------------------------------------------------------------------------------------------


def labels(methods: Any, original: Any, **parameters: Any) -> list[str]:
    return [one.label for one in settings_for(methods, parameters, original)[0]]


def test_all_methods_that_fit_with_usual_values(history: History, people: Table) -> None:
    found = labels("all", history)
    assert [label for label in found if label.startswith("generalize,")] == [
        f"generalize, k = {k}" for k in range(2, 7)
    ]
    assert "pseudo-records, clusters = 6" in found  # of 24 customers, 4 to a cluster
    assert {"pseudonymize", "thin", "thin, share = 0.5", "swap, share = 0.3"} <= set(found)
    settings, left_out = settings_for("all", {"k": "2..3"}, people)
    assert [one.label for one in settings] == [
        "hierarchy, k = 2",
        "hierarchy, k = 3",
        "microaggregate, k = 2",
        "microaggregate, k = 3",
        "mondrian, k = 2",
        "mondrian, k = 3",
        "retention, k = 2",
        "retention, k = 3",
    ]
    assert left_out == []


def test_values_are_written_in_many_ways(history: History) -> None:
    expected = [f"generalize-by-count, k = {k}" for k in (2, 3, 4)]
    for k in ("2..4", [2, 3, 4], range(2, 5), (2, "3..4"), pl.Series([2, 3, 4])):
        assert labels("generalize-by-count", history, k=k) == expected
    assert labels(["generalize-by-count"], history, k=[2, 2, "2"]) == expected[:1]
    chain = Chain(steps=({"method": "thin", "share": 0.2}, "monthly-pseudonyms"))
    assert labels([chain, "pseudonymize"], history) == ["thin, share = 0.2 → monthly-pseudonyms", "pseudonymize"]


def test_a_file_that_changes_makes_another_release(people: Table, tmp_path: Path, counted: list[str]) -> None:
    ladders = tmp_path / "ladders"
    ladders.mkdir()
    for name in ("sex", "region"):
        values = people.frame[name].unique().sort()
        (ladders / f"{name}.csv").write_text("".join(f"{value};*\n" for value in values))
    alone: dict[str, Any] = {"k": 3, "quasi": ["sex", "region"], "measures": [], "seeds": [1], "workers": 1}
    study = sweep(people, "hierarchy", hierarchies=str(ladders), cache=tmp_path, **alone)
    assert study.frame["label"].item().endswith("hierarchies = ladders")
    assert str(tmp_path) not in study.frame["parameters"].item()
    counted.clear()
    (ladders / "sex.csv").write_text((ladders / "sex.csv").read_text().replace("*", "any"))
    sweep(people, "hierarchy", hierarchies=str(ladders), cache=tmp_path, **alone)
    assert "hierarchy" in counted


# --- watching --------------------------------------------------------------------------------------------------------


def test_who_watches_hears_of_every_point(history: History, tmp_path: Path) -> None:
    class Heard(SweepProgress):
        def __init__(self) -> None:
            self.prospects: list[SweepForecast] = []
            self.lines: list[tuple[int, PointProgress]] = []

        def begin(self, prospect: SweepForecast) -> None:
            self.prospects.append(prospect)

        def changed(self, at: int, line: PointProgress) -> None:
            self.lines.append((at, line))

    asked, _left = build_request(history, "thin", {"share": [0.1, 0.2]}, attacks=["jaccard"], measures=[], seeds=[1])
    first, second = Heard(), Heard()
    run(history, asked, cache=tmp_path, workers=1, watch=first)
    run(history, asked, cache=tmp_path, workers=1, watch=second)
    assert [(at, line.state, line.done) for at, line in first.lines if at == 0] == [
        (0, "running", 0), (0, "running", 1), (0, "running", 2), (0, "done", 3)
    ]  # fmt: skip
    assert (first.prospects[0].left, first.prospects[0].cached) == (6, 0)
    assert first.prospects[0].slow == ()
    assert [(line.state, line.cached) for _at, line in second.lines] == [("done", True)] * 2
    assert (second.prospects[0].left, second.prospects[0].cached) == (0, 6)


def test_small_work_is_done_in_this_process(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Heard(SweepProgress):
        def begin(self, prospect: SweepForecast) -> None:
            raise LookupError(prospect.workers, *prospect.slow)

    monkeypatch.setattr("noren.sweeps.sweep.cores", lambda: 3)
    asked, _left = build_request(history, "generalize", {"k": [2, 3]}, attacks=["ensemble"], measures=[], seeds=[1])
    for most, used in ((10**6, 1), (0, 3)):
        monkeypatch.setattr("noren.sweeps.sweep._SMALL", most)
        with pytest.raises(LookupError) as told:
            run(history, asked, cache=tmp_path, watch=Heard())
        assert told.value.args == (used, "generalize", "ensemble")


def test_progress_is_told(history: History, tmp_path: Path) -> None:
    told: list[float] = []
    sweep(
        history, "pseudonymize", cache=tmp_path, **QUICK, progress=lambda done, words="", best=None: told.append(done)
    )
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_purpose_decides_between_settings_that_meet_the_rule(history: History, tmp_path: Path) -> None:
    options: dict[str, Any] = {"attacks": ["jaccard"], "measures": [], "seeds": [1], "cache": tmp_path, "workers": 1}
    study = sweep(history, ["generalize-by-count", "pseudonymize"], k=[5, 8], purpose="Monthly sales, rfm", **options)
    assert study.request.purpose == ("monthly-sales", "rfm")
    safe = [setting for setting in study.settings if setting.place.status.is_safe]
    (chosen,) = [setting for setting in study.settings if setting.recommended]

    def off(setting: SettingResult) -> tuple[int, float]:
        ratios = setting.answers(study.request.purpose).values()
        return sum(ratio > 1 for ratio in ratios), sum(ratios)

    assert off(chosen) == min(map(off, safe))
    usable = 2 - off(chosen)[0]
    assert study.answer[0] == (
        f"Recommended: {chosen.label}. Of the {len(safe)} settings that meet your rule, it answers what you need "
        f"best; usable answers: {usable} of 2."
    )
    assert study.answer[1].startswith("An analyst's questions, ")
    folder = study.save(tmp_path / "study")
    assert SweepFile(folder / "sweep.toml").purpose() == "monthly-sales, rfm"
    plain = json.loads((folder / "table.json").read_text(encoding="utf-8"))
    assert set(plain["settings"][0]["answers"]) == {"monthly-sales", "rfm"}
    assert "Monthly sales, RFM segments" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_purpose_that_the_data_cannot_serve_is_refused(history: History, people: Table) -> None:
    with pytest.raises(UnknownNameError, match="there is no question 'churn'"):
        build_request(history, "thin", purpose="churn")
    with pytest.raises(ParameterError, match="these data cannot answer monthly-sales; name other questions"):
        build_request(people, purpose="monthly sales")
