"""One release, one verdict: whatever door it goes through, the same word, numbers, sentence and frontier.

Python judges every case by every rule. For each reason that a verdict has here, one case goes through the command line,
a report, the studio's page and REST interface and a sweep. Releases by period go through a ledger. All must agree.
"""

from __future__ import annotations

import atexit
import html
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import polars as pl
import pytest
from tests.studio.conftest import laid_project
from tests.studio.quiet import Quiet

from noren import api
from noren.data.contest_files import write_rows
from noren.data.frames import History, Records
from noren.data.hierarchies import interval_hierarchy, write_hierarchy
from noren.data.reading import read, write
from noren.data.release import Release
from noren.data.samples.people import sample_people
from noren.judgement.frontier import RiskUtilityPoint, frontier, frontier_sentence, risk_utility_point
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, examine
from noren.judgement.rule import RULES, get_rule
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.ledger.book import Ledger
from noren.methods import methods
from noren.progress import silent
from noren.reports.report import report_html
from noren.studio.store import Job, State
from noren.studio.work import reading, running
from noren.sweeps.sweep import sweep

SEED = 731_046_582_904_117
ATTACKS = ("jaccard", "profile", "unique-rows")
MEASURES = {"history": ["cell-error"], "table": ["classes", "table-loss", "l1-precision"]}
MONTHLY = {"method": "monthly-pseudonyms"}


@dataclass(frozen=True)
class Case:
    """A release to judge: its steps, the attacks that are tried, and what is said of it by the rule *partner*."""

    name: str
    steps: list[dict[str, Any]] = field(hash=False)
    word: str
    attacks: tuple[str, ...] = ATTACKS
    table: bool = False

    @property
    def tried(self) -> list[str]:
        """The attacks; one names rows of a table."""
        return ["row-linkage"] if self.table and self.attacks else [] if self.table else list(self.attacks)

    @property
    def method(self) -> Any:
        ladders = {name: {"hierarchies": hierarchies()} for name in ("hierarchy", "mondrian")}
        made = [
            methods.create(step["method"], **step.get("parameters", {}), **ladders.get(step["method"], {}))
            for step in self.steps
        ]
        return made[0] if len(made) == 1 else methods.create("chain", steps=tuple(made))


def one(method: str, **parameters: Any) -> list[dict[str, Any]]:
    return [{"method": method, "parameters": parameters}]


QUASI = {"attributes": ["sex", "education", "income"], "reconstruct": "none"}
CASES = (
    Case("pseudonyms alone", one("pseudonymize"), "broken"),
    Case("pseudonyms, nobody attacks", one("pseudonymize"), "untried", attacks=()),
    Case("pairs by count", one("generalize-by-count", k=2), "broken"),
    Case("threes by count", one("generalize-by-count", k=3), "broken"),
    Case("fours, cells suppressed", one("generalize-by-count", k=4, suppress_cells=True), "broken"),
    Case("fives by count", one("generalize-by-count", k=5), "proved"),
    Case("fives, nobody attacks", one("generalize-by-count", k=5), "proved", attacks=()),
    Case("threes, nobody attacks", one("generalize-by-count", k=3), "broken", attacks=()),
    Case("threes, nobody named", one("generalize-by-count", k=3), "broken", attacks=("unique-rows",)),
    Case("noise, nobody named", one("perturb", days=30, price=3.0), "withstands", attacks=("unique-rows",)),
    Case("elevens by count", one("generalize-by-count", k=11), "proved"),
    Case("threes by search", one("generalize", k=3, effort="quick"), "broken"),
    Case("fives by search", one("generalize", k=5, effort="quick"), "proved"),
    Case("medians of threes", one("microaggregate", k=3, effort="quick"), "broken"),
    Case("medians of fives", one("microaggregate", k=5, effort="quick"), "proved"),
    Case("mixed classes", one("generalize", survival=0.9, min_class=5, effort="quick"), "proved"),
    Case("rows left out", one("thin", share=0.4), "broken"),
    Case("dates moved", one("perturb", days=3), "broken"),
    Case("items exchanged", one("swap"), "broken"),
    Case("pseudo records", one("pseudo-records", clusters=4), "broken"),
    Case("a name a month", one("monthly-pseudonyms"), "broken"),
    Case("left out, then fives", [*one("thin", share=0.2), *one("generalize-by-count", k=5)], "proved"),
    Case("fives, then left out", [*one("generalize-by-count", k=5), *one("thin", share=0.2)], "withstands"),
    Case("left out, a name a month", [*one("thin", share=0.2), MONTHLY], "broken"),
    Case("one attack alone", one("thin", share=0.6), "broken", attacks=("jaccard",)),
    Case("rows in fives", one("mondrian", k=5, l=2), "proved", table=True),
    Case("rows in twos", one("mondrian", k=2), "broken", table=True),
    Case("rows in fives, illness told", one("mondrian", k=5), "broken", table=True),
    Case("columns in fives", one("hierarchy", k=5, quasi=["age"], suppression=0.5), "proved", table=True),
    Case("noise of fives", one("retention", k=5, **QUASI), "proved", table=True),
    Case("noise of twos", one("retention", k=2, **QUASI), "withstands", table=True),
    Case("noise of twos, nobody attacks", one("retention", k=2, **QUASI), "untried", attacks=(), table=True),
)

THROUGH_EVERY_DOOR = {
    "pseudonyms alone": ("public", "too-many-named"),
    "pseudonyms, nobody attacks": ("partner", "not-tried"),
    "threes, nobody attacks": ("public", "class-too-small"),
    "noise, nobody named": ("partner", "nobody-named"),
    "fives by count": ("pwscup2018", "guarantee"),
    "fives, then left out": ("inside", "attacks-failed"),
    "rows in fives": ("partner", "guarantee"),
    "rows in twos": ("sensitive", "sensitive-disclosed"),
    "columns in fives": ("partner", "guarantee"),
    "noise of fives": ("sensitive", "not-inferred"),
    "noise of twos, nobody attacks": ("pwscup2018", "proof-too-weak"),
}
"""The rule by which a case goes through the doors, and the reason of its verdict."""
OF_THE_DOORS = [case for case in CASES if case.name in THROUGH_EVERY_DOOR]


@cache
def folder() -> Path:
    """A folder for the files that every door reads."""
    made = Path(tempfile.mkdtemp(prefix="noren-agreement-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def file_of(*, table: bool) -> Path:
    if table:
        write(sample_people(rows=160, seed=3), folder() / "people.csv")
        return folder() / "people.csv"
    write_rows(api.sample(customers=36, rows=400, items=40, seed=5, schema="pwscup2018"), folder() / "T.csv")
    return folder() / "T.csv"


@cache
def records(*, table: bool) -> Records:
    return read(file_of(table=table), "people" if table else "pwscup2018").data


@cache
def hierarchies() -> Path:
    """Write how ages are generalised; the studio keeps such files with the project."""
    there = folder() / "hierarchies"
    there.mkdir()
    write_hierarchy(interval_hierarchy("age", range(130), [10, 30]), there / "age.csv")
    return there


def data_of(case: Case) -> Records:
    return records(table=case.table)


@cache
def outcome_of(case: Case) -> Outcome:
    """What Python finds; every other door must find the same."""
    original = data_of(case)
    release = api.protect(original, case.method, seed=SEED)
    return examine(original, release, attacks=case.tried, measures=measures_of(case), label=case.name)


def measures_of(case: Case) -> list[str]:
    if not case.table:
        return MEASURES["history"]
    noise = case.steps[-1]["method"] == "retention"
    return [name for name in MEASURES["table"] if noise or name != "l1-precision"]


def rule_of(case: Case) -> str:
    return THROUGH_EVERY_DOOR[case.name][0]


def verdict_of(case: Case) -> Verdict:
    return judge(outcome_of(case), rule_of(case))


def said(verdict: Verdict) -> dict[str, Any]:
    return json.loads(json.dumps(verdict.as_dict()))


through_every_door = pytest.mark.parametrize("case", OF_THE_DOORS, ids=[case.name for case in OF_THE_DOORS])


class Door(Quiet):
    """A studio in this process that does runs at once, too."""

    def _do(self, job: Job) -> None:
        folder = self.studio.job_folder(job)
        folder.mkdir(parents=True, exist_ok=True)
        with mock.patch("noren.i18n._remembering", new=True):
            summary = (running if job.kind == "run" else reading).do(job.order, folder, silent)
        if job.kind == "read":
            self.studio.store.change_project(job.project, facts=summary)
        self.studio.store.change_job(job.id, state=State.DONE, done=1.0, summary=summary)


Done = tuple[Door, dict[str, tuple[str, str]]]
"""A studio, and the project and the run of each case."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """A studio that did every case of the doors: its project and its run."""
    root = tmp_path_factory.mktemp("studio")
    door = Door(root)
    projects = {}
    for table, preset in ((False, "pwscup2018"), (True, "people")):
        here: Any = SimpleNamespace(folder=root)
        projects[table] = laid_project(here, preset, file=file_of(table=table), preset=preset)
        own = door.studio.folders.project(projects[table]) / "hierarchies"
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(hierarchies(), own)
    runs = {}
    for case in OF_THE_DOORS:
        order = {"steps": case.steps, "seed": SEED, "attacks": case.tried, "measures": measures_of(case)}
        asked = door.client.post(f"/api/v1/projects/{projects[case.table]}/runs", json=order)
        assert asked.status_code == 202, (case.name, asked.text)
        runs[case.name] = projects[case.table], asked.json()["id"]
    yield door, runs
    door.studio.close()


def test_there_are_enough_cases_and_each_word_is_among_them() -> None:
    assert len(CASES) >= 24
    assert {judge(outcome_of(case), "partner").status for case in CASES} == set(VerdictStatus)


def test_every_reason_and_every_rule_goes_through_the_doors() -> None:
    reasons = {case.name: (rule_of(case), verdict_of(case).reason) for case in OF_THE_DOORS}
    assert reasons == THROUGH_EVERY_DOOR
    known = {judge(outcome_of(case), rule).reason for case in CASES for rule in RULES}
    assert known == {reason for _rule, reason in reasons.values()}
    assert {rule for rule, _reason in reasons.values()} == set(RULES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_is_said_by_the_default(case: Case) -> None:
    verdict = judge(outcome_of(case))
    assert (str(verdict.status), verdict.rule.name) == (case.word, "partner")
    for name in RULES:
        under = judge(outcome_of(case), name)
        assert not (under.status.is_safe and (under.risk or 0.0) > float(RULES[name].tolerance) + 1e-9)


@through_every_door
def test_the_command_line(case: Case, noren: Any, tmp_path: Path) -> None:
    outcome_of(case).release.save(tmp_path / "release")
    schema = ("--schema", "people" if case.table else "pwscup2018")
    names = ",".join(case.tried) or "none"
    answer = noren(
        "judge",
        file_of(table=case.table),
        tmp_path / "release",
        *schema,
        "--rule",
        rule_of(case),
        "--attacks",
        names,
        "--json",
    )
    assert {key: answer.json[key] for key in said(verdict_of(case))} == said(verdict_of(case))
    assert answer.code == {"proved": 0, "withstands": 0, "broken": 1, "untried": 3}[answer.json["verdict"]]


@through_every_door
def test_the_report(case: Case) -> None:
    verdict = verdict_of(case)
    page = html.unescape(report_html(data_of(case), [outcome_of(case)], rule=rule_of(case)))
    assert verdict.sentence in page
    assert verdict_label(verdict.status) in page
    assert f"Rule {rule_of(case)} (" in page


@through_every_door
def test_the_studio(case: Case, studio: Done) -> None:
    door, runs = studio
    project, run = runs[case.name]
    assert door.client.patch(f"/api/v1/projects/{project}", json={"rule": rule_of(case)}).status_code == 200
    answer = door.client.get(f"/api/v1/runs/{run}/result").json()
    assert answer["verdict"] == said(verdict_of(case))
    page = html.unescape(door.client.get(f"/projects/{project}/results/{run}").text)
    assert verdict_of(case).sentence in page
    assert verdict_label(verdict_of(case).status) in page


@through_every_door
def test_a_sweep(case: Case, studio: Done, tmp_path: Path) -> None:
    door, runs = studio
    cache_folder = door.studio.folders.project(runs[case.name][0])
    found = sweep(
        data_of(case),
        [case.method],
        attacks=case.tried,
        measures=measures_of(case),
        seeds=[SEED],
        rule=rule_of(case),
        cache=cache_folder,
        workers=1,
    )
    verdict = found.settings[0].verdict
    assert verdict is not None
    assert said(verdict) == said(verdict_of(case))
    if case.steps[0]["method"] not in ("hierarchy", "mondrian"):  # whose files lie elsewhere
        assert found.computed == 0  # the studio did it all


@pytest.mark.parametrize("table", [False, True])
def test_one_frontier(table: bool, studio: Done) -> None:
    cases = [case for case in OF_THE_DOORS if case.table == table]
    outcomes = [outcome_of(case) for case in cases]
    door, runs = studio
    project = runs[cases[0].name][0]
    for name in RULES:
        places = [
            risk_utility_point(case.name, judge(o, name), o.scores) for case, o in zip(cases, outcomes, strict=True)
        ]
        best = {cases[i].name for i in frontier(places)}
        door.client.patch(f"/api/v1/projects/{project}", json={"rule": name})
        points = {one["run"]: one for one in door.client.get(f"/api/v1/projects/{project}/map").json()["points"]}
        assert {case.name for case in cases if points[runs[case.name][1]]["on_frontier"]} == best
        for case, place in zip(cases, places, strict=True):
            drawn = RiskUtilityPoint.model_validate(
                {key: points[runs[case.name][1]][key] for key in RiskUtilityPoint.model_fields}
            )
            assert drawn.model_copy(update={"label": ""}) == place.model_copy(update={"label": ""})
    page = html.unescape(report_html(data_of(cases[0]), outcomes, rule=name))
    assert frontier_sentence([place for place in places if place.is_placed]) in page


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("partner", [*one("thin", share=0.2), MONTHLY]),
        ("public", one("generalize-by-count", k=5)),
        ("inside", one("generalize-by-count", k=5)),
        ("sensitive", one("pseudonymize")),
        ("pwscup2018", one("pseudonymize")),
    ],
)
def test_the_ledger(name: str, steps: list[dict[str, Any]], tmp_path: Path) -> None:
    chain = Case("", steps, "").method
    asked: dict[str, Any] = {"schema": "pwscup2018", "period": "month", "attacks": ATTACKS}
    book = Ledger.create(tmp_path / "book", chain=chain, rule=name, **asked)
    month = busiest_month(records(table=False))
    entry = book.add(month, seed=SEED)
    [there] = (tmp_path / "book" / "releases").iterdir()
    release = Release.load(there)
    own = judge(examine(month, release, attacks=ATTACKS, measures=[]), name)
    kept = book.verdicts()[entry.period]
    assert kept is not None
    assert said(kept) == said(own)
    assert said(kept) == json.loads(json.dumps(book.as_dict()["entries"][0]["verdict"]))
    assert get_rule(name) == book.settings.rule


def busiest_month(history: Records) -> History:
    month = pl.col(history.schema.role("date").name).dt.truncate("1mo")
    most = history.frame.select(month.alias("month"))["month"].value_counts(sort=True)["month"][0]
    return History(history.frame.filter(month == most), history.schema)
